"""The Forge port over HTTP against the loopback GitHub: workflows, runs, jobs, artifacts. Each exchange is checked."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from bot.errors import BadInput, Missing, Refusal
from bot.rehearse.github import JobScript, Upload
from tests.adapters.githubs import LOGIN, MOMENT, Asked, Reply, Sent, always, forge_of, job_json, odd, run_json
from tests.rehearse.github_world import READER, START, SWEEP, World, attempts, one_job, served

SEGMENT = "smoke.yml"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with served(tmp_path) as made:
        yield made


class TestDispatch:
    def test_a_newer_server_tells_the_run(self, world: World) -> None:
        made = forge_of(world).dispatch(SEGMENT, ref="main", inputs={"recipe": "r", "nonce": "n-1"})
        (run,) = world.runs()
        assert made == run.id and run.cause.inputs == {"recipe": "r", "nonce": "n-1", "mode": "quick"}

    def test_an_older_one_is_asked_plainly_and_from_then_on_only_so(self, tmp_path: Path) -> None:
        with served(tmp_path, run_details=False) as world:
            forge, sent = forge_of(world), Sent(world)
            assert [forge.dispatch(SEGMENT, ref="main", inputs={"recipe": f"{n}"}) for n in range(2)] == [None, None]
            assert [run.cause.inputs["recipe"] for run in world.runs()] == ["0", "1"] and sent.writes() == 3

    @pytest.mark.parametrize("details", [True, False])
    @pytest.mark.parametrize(("inputs", "said"), [
        ({"recipe": "r", "colour": "red"}, "Unexpected inputs.*colour"), ({}, "Required input 'recipe'"),
        ({"recipe": "r", "mode": "fast"}, "fast.*not in the list"), ({"recipe": "r", **{f"i{n}": "" for n in range(25)}}, "25")])
    def test_inputs_that_do_not_fit_are_bad_input_and_start_nothing(
        self, tmp_path: Path, details: bool, inputs: dict[str, str], said: str
    ) -> None:
        with served(tmp_path, run_details=details) as world:
            with pytest.raises(BadInput, match=f"422.*{said}"):
                forge_of(world).dispatch(SEGMENT, ref="main", inputs=inputs)
            assert world.runs() == []

    def test_a_branch_that_is_not_there_is_bad_input(self, world: World) -> None:
        with pytest.raises(BadInput, match="No ref found"):
            forge_of(world).dispatch(SEGMENT, ref="nowhere", inputs={"recipe": "r"})

    def test_a_workflow_without_that_trigger_is_bad_input(self, world: World) -> None:
        with pytest.raises(BadInput, match="workflow_dispatch"):
            forge_of(world).dispatch("run-sweep.yml", ref="main", inputs={})

    @pytest.mark.parametrize("workflow", ["absent.yml", "../smoke.yml", "smoke.yml/runs", "a b?.yml"])
    def test_a_workflow_that_is_not_there_is_missing(self, world: World, workflow: str) -> None:
        forge = forge_of(world)
        for act in (lambda: forge.dispatch(workflow, ref="main", inputs={}), lambda: forge.runs(workflow)):
            with pytest.raises(Missing):
                act()

    def test_a_reader_may_not(self, world: World) -> None:
        with pytest.raises(Refusal, match="403"):
            forge_of(world, READER).dispatch(SEGMENT, ref="main", inputs={"recipe": "r"})


class TestRuns:
    def test_a_run_is_told_as_it_is(self, world: World) -> None:
        forge = forge_of(world)
        number = forge.dispatch(SEGMENT, ref="main", inputs={"recipe": "r", "nonce": "n-1"})
        run = forge.run(number)
        assert (run.id, run.attempt, run.workflow, run.event, run.branch) == (number, 1, SEGMENT, "workflow_dispatch", "main")
        assert (run.title, run.status, run.conclusion, run.actor, run.fork) == ("Smoke n-1", "in_progress", None, LOGIN, False)
        assert run.created == START and run.created.tzinfo is not None

    def test_newest_first_by_event_head_and_time(self, world: World) -> None:
        forge, number = forge_of(world), world.pull(draft=False)
        first = forge.dispatch(SEGMENT, ref="main", inputs={"recipe": "1"})
        at = world.clock.forward(10)
        second = forge.dispatch(SEGMENT, ref="main", inputs={"recipe": "2"})
        world.human.label(number, "full-sweep")
        head = forge.pull(number).head
        assert [run.id for run in forge.runs(SEGMENT)] == [second, first]
        assert [run.id for run in forge.runs(SEGMENT, since=at)] == [second]
        assert [run.id for run in forge.runs(SEGMENT, since=at.astimezone(timezone(timedelta(hours=-7))))] == [second]
        assert [run.id for run in forge.runs(SEGMENT, event="push")] == []
        assert {run.head for run in forge.runs(SWEEP.file, event="pull_request", head=head)} == {head}
        assert forge.runs(SWEEP.file, head="0" * 40) == []

    def test_more_than_a_page_of_them(self, world: World) -> None:
        for n in range(120):
            world.human.dispatch(SEGMENT, inputs={"recipe": f"{n}"})
        assert len({run.id for run in forge_of(world).runs(SEGMENT)}) == 120

    def test_one_that_is_not_there_is_missing(self, world: World) -> None:
        forge = forge_of(world)
        for act in (forge.run, forge.jobs, forge.artifacts, forge.cancel, forge.rerun_failed):
            with pytest.raises(Missing):
                act(5)

    @pytest.mark.parametrize("word", ["queued", "pending", "waiting", "requested", "something-new"])
    def test_whatever_waits_is_queued(self, word: str) -> None:
        with odd(always(200, run_json(status=word))) as server:
            assert server.forge().run(1).status == "queued"

    def test_it_stays_with_whom_it_began_when_others_run_it_again(self) -> None:
        told = run_json(actor={"login": "bumpbot[bot]", "type": "Bot"}, triggering_actor={"login": "maintainer", "type": "User"})
        with odd(always(200, told)) as server:
            assert server.forge().run(1).actor == "bumpbot[bot]"

    def test_one_of_a_fork_says_so(self) -> None:
        with odd(always(200, run_json(head_repository={"full_name": "mallory/recipes"}))) as server:
            assert server.forge().run(1).fork is True

    @pytest.mark.parametrize(("path", "name"), [
        (".github/workflows/smoke.yml", "smoke.yml"), (".github/workflows/smoke.yml@refs/heads/main", "smoke.yml"),
        ("dynamic/smoke.yml", "dynamic/smoke.yml")])
    def test_its_workflow_is_a_file_of_the_folder_or_its_whole_path(self, path: str, name: str) -> None:
        with odd(always(200, run_json(path=path))) as server:
            assert server.forge().run(1).workflow == name

    def test_what_may_be_absent_may_be(self) -> None:
        told = run_json(actor=None, head_branch=None, display_title=None, run_attempt=None, head_repository=None)
        with odd(always(200, told)) as server:
            run = server.forge().run(1)
        assert (run.actor, run.branch, run.title, run.attempt, run.fork) == ("", "", "", 1, False)

    def test_one_that_comes_twice_because_the_pages_moved_is_told_once(self) -> None:
        def moving(asked: Asked) -> Reply:
            if "page=2" in asked.path:
                return Reply(value={"workflow_runs": [run_json(2), run_json(1)]})
            link = f'<http://{asked.headers["host"]}/x?page=2>; rel="next"'
            return Reply(value={"workflow_runs": [run_json(3), run_json(2)]}, headers={"Link": link})

        with odd(moving) as server:
            assert [run.id for run in server.forge().runs("smoke.yml")] == [3, 2, 1]


class TestJobs:
    def test_a_hundred_and_thirty_of_two_attempts_are_read(self, world: World) -> None:
        failing = [JobScript(name=f"bench c{n}", minutes=1, conclusion="failure") for n in range(65)]
        world.plays(SEGMENT, attempts(failing, [JobScript(name=job.name, minutes=1) for job in failing]))
        forge, sent = forge_of(world), Sent(world)
        run = forge.dispatch(SEGMENT, ref="main", inputs={"recipe": "r"})
        world.clock.forward(2)
        forge.rerun_failed(run)
        world.clock.forward(2)
        jobs = forge.jobs(run)
        assert len({job.id for job in jobs}) == 130 and sent.reads() == 2
        assert {(job.attempt, job.conclusion) for job in jobs} == {(1, "failure"), (2, "success")}
        assert {job.run for job in jobs} == {run}

    def test_one_that_waits_for_a_runner_has_not_begun(self, tmp_path: Path) -> None:
        with served(tmp_path, pools={"gpu": 0}) as world:
            forge = forge_of(world)
            run = forge.dispatch(SEGMENT, ref="main", inputs={"recipe": "r"})
            (job,) = forge.jobs(run)
            assert (job.status, job.started, job.runner) == ("queued", None, None)
            world.clock.forward(60)
            forge.cancel(run)
            (job,) = forge.jobs(run)
            assert (job.status, job.conclusion, job.started) == ("completed", "cancelled", None)

    def test_one_that_runs_has_its_runner_and_its_moments(self, world: World) -> None:
        world.plays(SEGMENT, one_job(30))
        forge = forge_of(world)
        run = forge.dispatch(SEGMENT, ref="main", inputs={"recipe": "r"})
        assert forge.jobs(run)[0].started == START and forge.jobs(run)[0].completed is None
        world.clock.forward(31)
        (job,) = forge.jobs(run)
        assert (job.completed, job.runner, job.labels) == (START + timedelta(minutes=30), "gpu-00", ("gpu",))

    @pytest.mark.parametrize("word", ["queued", "pending", "waiting", "requested"])
    def test_whatever_waits_is_queued_and_has_not_begun(self, word: str) -> None:
        with odd(always(200, {"jobs": [job_json(status=word, runner_id=7)]})) as server:
            (job,) = server.forge().jobs(1)
        assert (job.status, job.started) == ("queued", None)

    @pytest.mark.parametrize(("runner", "began"), [
        ({"runner_id": 0, "runner_name": ""}, False), ({"runner_id": None, "runner_name": None}, False),
        ({"runner_id": 9, "runner_name": None}, True), ({"runner_id": 0, "runner_name": "gpu-1"}, True), ({}, False)])
    def test_one_that_no_runner_took_held_nothing(self, runner: dict, began: bool) -> None:
        told = {**job_json(status="completed", conclusion="cancelled", completed_at=MOMENT), **runner}
        with odd(always(200, {"jobs": [told]})) as server:
            assert (server.forge().jobs(1)[0].started is not None) is began

    def test_one_that_ended_before_it_began_took_no_time(self) -> None:
        told = job_json(status="completed", conclusion="skipped", completed_at="2026-09-10T05:59:59Z", runner_id=1)
        with odd(always(200, {"jobs": [told]})) as server:
            (job,) = server.forge().jobs(1)
        assert job.started == job.completed == datetime(2026, 9, 10, 6, tzinfo=UTC)


class TestStoppingAndStartingAgain:
    def test_a_run_that_is_over_stays_as_it_is(self, world: World) -> None:
        forge = forge_of(world)
        run = forge.dispatch(SEGMENT, ref="main", inputs={"recipe": "r"})
        for _ in range(2):
            forge.cancel(run)
            world.clock.forward(1)
        forge.cancel(run)
        assert (forge.run(run).status, forge.run(run).conclusion) == ("completed", "cancelled")

    def test_one_that_goes_on_is_not_started_again(self, world: World) -> None:
        world.plays(SEGMENT, one_job(10, "failure"))
        forge = forge_of(world)
        run = forge.dispatch(SEGMENT, ref="main", inputs={"recipe": "r"})
        forge.rerun_failed(run)
        assert forge.run(run).attempt == 1
        world.clock.forward(11)
        forge.rerun_failed(run)
        forge.rerun_failed(run)
        assert forge.run(run).attempt == 2

    def test_one_without_a_failed_job_is_refused(self, world: World) -> None:
        forge = forge_of(world)
        run = forge.dispatch(SEGMENT, ref="main", inputs={"recipe": "r"})
        world.clock.forward(31)
        with pytest.raises(Refusal, match="cannot be retried"):
            forge.rerun_failed(run)

    def test_a_reader_may_do_neither(self, world: World) -> None:
        run = world.human.dispatch(SEGMENT, inputs={"recipe": "r"})
        for act in (forge_of(world, READER).cancel, forge_of(world, READER).rerun_failed):
            with pytest.raises(Refusal, match="403"):
                act(run)


class TestArtifacts:
    @pytest.fixture
    def uploaded(self, world: World, tmp_path: Path) -> int:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "big.bin").write_bytes(bytes(range(256)) * 4000)
        world.plays(SEGMENT, one_job(1, artifacts=(Upload(name="results", folder=tmp_path / "out"),)))
        run = world.human.dispatch(SEGMENT, inputs={"recipe": "r"})
        world.clock.forward(1)
        return run

    def test_they_are_listed_and_fetched_whole(self, world: World, uploaded: int) -> None:
        forge, into = forge_of(world), io.BytesIO()
        (artifact,) = forge.artifacts(uploaded)
        assert (artifact.name, artifact.expired, artifact.created) == ("results", False, START + timedelta(minutes=1))
        assert forge.download(artifact.id, into, 1 << 20) == artifact.size == len(into.getvalue())
        assert zipfile.ZipFile(into).read("big.bin") == bytes(range(256)) * 4000

    def test_they_go_behind_what_the_file_holds_already(self, world: World, uploaded: int) -> None:
        forge, into = forge_of(world), io.BytesIO()
        (artifact,) = forge.artifacts(uploaded)
        into.write(b"before")
        forge.download(artifact.id, into, 1 << 20)
        assert into.getvalue()[:8] == b"beforePK"

    def test_more_than_the_limit_is_bad_input(self, world: World, uploaded: int) -> None:
        forge = forge_of(world)
        (artifact,) = forge.artifacts(uploaded)
        assert forge.download(artifact.id, io.BytesIO(), artifact.size) == artifact.size
        with pytest.raises(BadInput, match="bytes"):
            forge.download(artifact.id, io.BytesIO(), artifact.size - 1)

    def test_one_that_is_not_there_is_missing(self, world: World) -> None:
        with pytest.raises(Missing):
            forge_of(world).download(5, io.BytesIO(), 100)
