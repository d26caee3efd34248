"""PyGithub and httpx against the loopback GitHub over HTTP, each exchange held against GitHub's description."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import github
import httpx
import pytest
from github import Auth, Github, GithubException

from bot.rehearse.github import Upload
from tests.rehearse.github_world import APP, World, address, one_job, served


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with served(tmp_path) as made:
        yield made


def client(world: World, token: str = APP) -> Github:
    """As the project uses it: lazy, no retries, no waits of its own."""
    return Github(auth=Auth.Token(token), base_url=world.hub.url, lazy=True, retry=None, seconds_between_requests=None,
                  seconds_between_writes=None, per_page=100, api_version="2022-11-28", timeout=10)


class TestPyGithub:
    def test_a_bump_s_life_in_its_calls(self, world: World) -> None:
        repo = client(world).get_repo("acme/recipes")
        head = world.branch()
        pull = repo.create_pull(base="main", head="bump/1", title="Bump", body="why", draft=True)
        assert (pull.head.sha, pull.draft, pull.mergeable) == (head, True, None)
        assert repo.get_pull(1).mergeable is True
        issue = repo.get_issue(1)
        comment = issue.create_comment("proposal")
        comment.edit("proposal, edited")
        comment.create_reaction("eyes")
        issue.add_to_labels("full-sweep")
        assert [label.name for label in issue.get_labels()] == ["full-sweep"]
        issue.remove_from_labels("full-sweep")
        with pytest.raises(GithubException) as absent:
            issue.remove_from_labels("full-sweep")
        assert absent.value.status == 404
        assert [found.number for found in repo.get_pulls(head="acme:bump/1", state="all")] == [1]
        pull.mark_ready_for_review()
        assert repo.get_pull(1).draft is False
        pull.convert_to_draft()
        pull.edit(state="closed")
        assert repo.get_pull(1).state == "closed"
        assert [event.event for event in issue.get_events()] == [
            "labeled", "unlabeled", "ready_for_review", "convert_to_draft", "closed"]
        assert [made.edits for made in world.hub.comments_made()] == [1]

    def test_runs_are_dispatched_watched_cancelled_and_rerun(self, world: World) -> None:
        repo = client(world).get_repo("acme/recipes")
        world.plays("smoke.yml", one_job(10, "failure"))
        run = repo.get_workflow("smoke.yml").create_dispatch(
            "main", {"recipe": "r"}, throw=True, return_run_details=True
        )
        assert isinstance(run, github.WorkflowRun.WorkflowRun)
        assert [job.status for job in run.jobs("all")] == ["in_progress"]
        assert run.rerun_failed_jobs() is False
        world.clock.forward(10)
        assert run.cancel() is False
        assert run.rerun_failed_jobs() is True
        assert [job.conclusion for job in run.jobs("all")] == ["failure", None]
        assert repo.get_workflow_run(run.id).run_attempt == 2

    def test_the_older_server_is_told_apart_by_its_422(self, tmp_path: Path) -> None:
        with served(tmp_path, run_details=False) as world:
            workflow = client(world).get_repo("acme/recipes").get_workflow("smoke.yml")
            with pytest.raises(GithubException) as refused:
                workflow.create_dispatch("main", {"recipe": "r"}, throw=True, return_run_details=True)
            assert refused.value.status == 422
            assert workflow.create_dispatch("main", {"recipe": "r"}, throw=True) is True

    def test_the_repository_is_read(self, world: World) -> None:
        repo = client(world).get_repo("acme/recipes")
        world.branch()
        found = repo.get_contents("recipe.yaml", ref="bump/1")
        assert not isinstance(found, list) and found.decoded_content == b"image: new\nlines: 1\n"
        assert repo.get_git_ref("heads/main").object.sha == repo.get_branch("main").commit.sha
        assert [ref.ref for ref in repo.get_git_matching_refs("heads/bump/")] == ["refs/heads/bump/1"]
        assert repo.compare("main", "bump/1").ahead_by == 1
        assert repo.get_collaborator_permission("maintainer") == "write"

    def test_many_threads_lose_nothing(self, world: World) -> None:
        number = world.pull()
        issue = client(world).get_repo("acme/recipes").get_issue(number)

        def speak(who: int) -> None:
            for n in range(10):
                issue.create_comment(f"{who}.{n}")

        threads = [threading.Thread(target=speak, args=(who,)) for who in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {c.body for c in issue.get_comments()} == {f"{who}.{n}" for who in range(6) for n in range(10)}


class TestHttpx:
    def test_an_artifact_is_followed_without_the_token_and_streamed(self, world: World, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "big.bin").write_bytes(bytes(range(256)) * 4000)
        world.plays("smoke.yml", one_job(1, artifacts=(Upload(name="results", folder=tmp_path / "out"),)))
        run = world.human.dispatch("smoke.yml", inputs={"recipe": "r"})
        world.clock.forward(1)
        with httpx.Client(headers={"Authorization": f"Bearer {APP}"}) as asking:
            (artifact,) = asking.get(address(world, f"actions/runs/{run}/artifacts")).json()["artifacts"]
            moved = asking.get(artifact["archive_download_url"])
        assert moved.status_code == 302
        with httpx.stream("GET", moved.headers["Location"]) as answer:
            data = b"".join(answer.iter_bytes())
        assert len(data) == artifact["size_in_bytes"]
        assert zipfile.ZipFile(io.BytesIO(data)).read("big.bin") == bytes(range(256)) * 4000

    def test_conditional_reads_and_kept_connections(self, world: World) -> None:
        world.pull()
        with httpx.Client(headers={"Authorization": f"Bearer {APP}"}) as asking:
            first = asking.get(address(world, "pulls", state="open"))
            again = asking.get(address(world, "pulls", state="open"), headers={"If-None-Match": first.headers["ETag"]})
            assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
            assert asking.post(address(world, "actions/workflows/smoke.yml/dispatches"),
                               json={"ref": "main", "inputs": {"recipe": "r"}}).status_code == 204
            assert asking.get(address(world, "pulls/1")).json()["number"] == 1

    def test_a_broken_body_is_400_and_a_fault_of_ours_500(self, world: World) -> None:
        world.pull()
        with httpx.Client(headers={"Authorization": f"Bearer {APP}"}) as asking:
            assert asking.post(address(world, "issues/1/comments"), content=b"{").status_code == 400
            world.scripts["smoke.yml"] = [one_job(artifacts=(Upload(name="r", folder=Path("/nowhere")),))]
            broken = asking.post(address(world, "actions/workflows/smoke.yml/dispatches"),
                                 json={"ref": "main", "inputs": {"recipe": "r"}})
        assert broken.status_code == 500 and "no such folder" in broken.json()["message"]
