"""Which events start which workflows, and how runs of one concurrency group treat each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.rehearse.github import Concurrency, Trigger, Workflow
from bot.rehearse.github.triggers import selected
from tests.rehearse.github_world import APP, JOB, SMOKE, SWEEP, World, attempts, checked, one_job


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with checked(tmp_path) as made:
        yield made


def told(world: World, file: str = "run-sweep.yml") -> list[tuple[str, str | None, str, str | None]]:
    return [(run.cause.event, run.cause.action, run.status, run.conclusion) for run in world.runs(file)]


class TestWhatStarts:
    def test_a_label_on_a_draft_does_start_the_sweep(self, world: World) -> None:
        number = world.pull(draft=True)
        world.ask("POST", f"issues/{number}/labels", ["full-sweep"])
        (run,) = world.runs()
        assert (run.cause.action, run.status, run.title) == ("labeled", "in_progress", "Run Sweep - Bump bump/1")
        assert run.head == world.hub.store.pulls[number].head and run.branch == "bump/1"

    def test_a_pull_that_conflicts_starts_no_pull_request_workflow_at_all(self, world: World) -> None:
        number = world.pull()
        world.human.push("main", {"perf-changelog.yaml": b"- first\n- other\n"}, "another entry")
        world.hub.drain()
        world.ask("POST", f"issues/{number}/labels", ["full-sweep"])
        assert world.runs() == []
        assert world.events() == ["pull_request_target labeled"], "the bot, on the base branch, still hears of it"

    def test_a_merge_of_main_into_the_branch_wakes_it_again(self, world: World) -> None:
        number = world.pull()
        world.human.push("main", {"perf-changelog.yaml": b"- first\n- other\n"}, "another entry")
        world.human.label(number, "full-sweep")
        git, pull = world.hub.git, world.hub.store.pulls[number]
        tree = git.tree_with(pull.head, {"perf-changelog.yaml": b"- first\n- other\n- second\n"})
        merge = git.make_commit(
            tree, (pull.head, pull.base_sha), "merge main", ("b", "bumpbot@example.com"), world.clock.now()
        )
        assert git.update_ref("refs/heads/bump/1", merge, pull.head)
        world.human.unlabel(number, "full-sweep")
        world.human.label(number, "full-sweep")
        assert [row[1] for row in told(world)] == ["synchronize", "unlabeled", "labeled"]

    def test_without_the_watched_path_nothing_starts_though_main_changed_it(self, world: World) -> None:
        number = world.pull(changelog=False)
        world.human.push("main", {"perf-changelog.yaml": b"- first\n- other\n"}, "another entry")
        world.human.label(number, "full-sweep")
        assert world.runs() == [], "the diff has three dots: what main did does not count"

    def test_jobs_are_skipped_without_the_label(self, world: World) -> None:
        number = world.pull()
        world.human.label(number, "all-evals")
        assert told(world) == [("pull_request", "labeled", "completed", "skipped")]
        assert world.get(f"actions/runs/{world.runs()[0].id}/jobs")["jobs"] == []

    def test_a_job_without_a_condition_runs_where_the_others_are_skipped(self, tmp_path: Path) -> None:
        workflow = Workflow(file="w.yml", name="W", triggers=SWEEP.triggers, labels=SWEEP.labels, unconditional=True)
        with checked(tmp_path, workflows=(workflow,)) as world:
            world.plays("w.yml", one_job(1), attempts([]))
            number = world.pull()
            for name in ("x", "y"):
                world.human.label(number, name)
            world.clock.forward(1)
            assert [row[3] for row in told(world, "w.yml")] == ["success", "skipped"]

    def test_a_workflow_may_skip_drafts(self, tmp_path: Path) -> None:
        workflow = Workflow(file="w.yml", name="W", triggers=SWEEP.triggers, labels=SWEEP.labels, drafts=False)
        with checked(tmp_path, workflows=(workflow,)) as world:
            number = world.pull(draft=True)
            world.human.label(number, "full-sweep")
            world.human.draft(number, False)
            assert [(row[1], row[3]) for row in told(world, "w.yml")] == [
                ("labeled", "skipped"),
                ("ready_for_review", None),
            ]

    def test_opened_is_not_among_the_types_the_sweep_names(self, world: World) -> None:
        world.pull()
        assert world.runs() == []

    def test_pushes_are_filtered_by_branch_and_path(self, tmp_path: Path) -> None:
        workflow = Workflow(
            file="w.yml", name="W", triggers={"push": Trigger(branches=("main", "release/**"), paths=("docs/**",))}
        )
        with checked(tmp_path, workflows=(workflow,)) as world:
            world.human.push("main", {"recipe.yaml": b"x\n"}, "no docs")
            world.human.push("main", {"docs/x/y.md": b"x\n"}, "docs\n\nmore")
            world.human.push("feature", {"docs/z.md": b"x\n"}, "elsewhere")
            (run,) = world.runs()
            assert (run.cause.event, run.branch, run.title) == ("push", "main", "docs")

    @pytest.mark.parametrize(
        ("patterns", "name", "chosen"),
        [
            ((), "anything", True),
            (("*.md",), "a.md", True),
            (("*.md",), "docs/a.md", False),
            (("**.md",), "docs/a.md", True),
            (("docs/**",), "docs/a/b.md", True),
            (("**/a.md",), "a.md", True),
            (("**", "!docs/**"), "docs/a.md", False),
            (("docs/**", "!docs/x/**", "docs/x/y"), "docs/x/y", True),
            (("v[12].*",), "v2.0", True),
            (("v[12].*",), "v3.0", False),
            (("a.b",), "aXb", False),
        ],
    )
    def test_patterns_read_as_github_reads_them(self, patterns: tuple[str, ...], name: str, chosen: bool) -> None:
        assert selected(patterns, name) is chosen


class TestTheDefaultToken:
    def test_its_labels_and_comments_start_and_deliver_nothing(self, world: World) -> None:
        number = world.pull()
        world.hub.drain()
        assert world.ask("POST", f"issues/{number}/labels", ["full-sweep"], token=JOB).status == 200
        assert world.ask("POST", f"issues/{number}/comments", {"body": "hi"}, token=JOB).status == 201
        assert world.runs() == [] and world.hub.drain() == []

    def test_its_push_starts_nothing(self, world: World) -> None:
        number = world.pull()
        world.human.label(number, "full-sweep")
        git, pull = world.hub.git, world.hub.store.pulls[number]
        tree = git.tree_with(pull.head, {"x": b"x"})
        made = git.make_commit(tree, (pull.head,), "by the job", ("actions", "actions@example.com"), world.clock.now())
        git.update_ref("refs/heads/bump/1", made, pull.head)
        assert [run.cause.action for run in world.runs()] == ["labeled"]
        assert world.get(f"pulls/{number}")["head"]["sha"] == made

    @pytest.mark.parametrize("token", [JOB, APP])
    def test_dispatch_is_the_exception(self, world: World, token: str) -> None:
        path = "actions/workflows/smoke.yml/dispatches"
        assert world.ask("POST", path, {"ref": "main", "inputs": {"recipe": "r"}}, token=token).status == 204
        assert told(world, "smoke.yml") == [("workflow_dispatch", None, "in_progress", None)]

    def test_repository_dispatch_too(self, tmp_path: Path) -> None:
        workflow = Workflow(file="w.yml", name="W", triggers={"repository_dispatch": Trigger(types=("ingest",))})
        with checked(tmp_path, workflows=(workflow,)) as world:
            for kind in ("ingest", "other"):
                sent = {"event_type": kind, "client_payload": {"run": "1"}}
                assert world.ask("POST", "dispatches", sent, token=JOB).status == 204
            assert len(world.runs()) == 1
            assert world.events() == [
                "repository_dispatch ingest",
                "workflow_run requested",
                "repository_dispatch other",
            ]


class TestGroups:
    def test_push_then_label_gives_two_runs_and_the_newer_cancels_the_older(self, world: World) -> None:
        """Two runs for one head: the seed's 34461597759 (synchronize) and 34461599480 (labeled)."""
        world.plays("run-sweep.yml", attempts(list(one_job().attempts[0].jobs), id=34461597759),
                    attempts(list(one_job().attempts[0].jobs), id=34461599480))
        number = world.pull()
        world.human.label(number, "full-sweep")
        world.scripts["run-sweep.yml"].append(one_job())
        world.clock.forward(1)
        world.human.push("bump/1", {"x": b"x"}, "one more")
        world.ask("POST", f"issues/{number}/labels", ["all-evals"])
        world.clock.forward(2)
        assert [(run.id, run.cause.action, run.conclusion) for run in world.runs()] == [
            (34461597759, "labeled", "cancelled"), (34461599480, "synchronize", "cancelled"),
            (world.runs()[2].id, "labeled", None)]

    def test_the_newer_waits_until_the_older_has_let_go(self, world: World) -> None:
        number = world.pull()
        world.human.label(number, "full-sweep")
        world.human.push("bump/1", {"x": b"x"}, "one more")
        assert [run.status for run in world.runs()] == ["in_progress", "pending"]
        world.clock.forward(seconds=39)
        assert [run.status for run in world.runs()] == ["in_progress", "pending"]
        world.clock.forward(seconds=1)
        assert [run.status for run in world.runs()] == ["completed", "in_progress"]

    def test_a_pending_one_is_cancelled_by_a_newer_also_without_cancel_in_progress(self, tmp_path: Path) -> None:
        queue = Workflow(
            file="smoke.yml", name="Smoke", triggers=SMOKE.triggers, concurrency=Concurrency(group="gpu-{branch}")
        )
        with checked(tmp_path, workflows=(queue,)) as world:
            for name in "abc":
                world.human.dispatch("smoke.yml", inputs={"recipe": name})
            assert [(run.status, run.conclusion) for run in world.runs()] == [
                ("in_progress", None), ("completed", "cancelled"), ("pending", None)]
            world.clock.forward(30)
            assert [run.status for run in world.runs()] == ["completed", "completed", "in_progress"]

    def test_taking_the_label_off_ends_the_sweep(self, world: World) -> None:
        number = world.pull()
        world.human.label(number, "full-sweep")
        world.human.unlabel(number, "full-sweep")
        world.clock.forward(1)
        assert [(run.cause.action, run.conclusion) for run in world.runs()] == [
            ("labeled", "cancelled"),
            ("unlabeled", "skipped"),
        ]

    def test_a_label_the_workflow_does_not_know_leaves_the_sweep_alone(self, world: World) -> None:
        number = world.pull()
        world.human.label(number, "full-sweep")
        world.human.label(number, "documentation")
        assert [(run.status, run.conclusion) for run in world.runs()] == [
            ("in_progress", None),
            ("completed", "skipped"),
        ]

    def test_two_pulls_do_not_share_one(self, world: World) -> None:
        for branch in ("bump/1", "bump/2"):
            world.human.label(world.pull(branch), "full-sweep")
        assert [run.status for run in world.runs()] == ["in_progress", "in_progress"]


class TestDispatch:
    PATH = "actions/workflows/smoke.yml/dispatches"

    def test_it_tells_the_run_where_asked(self, world: World) -> None:
        sent = {"ref": "main", "inputs": {"recipe": "r", "nonce": "bump-7f3a"}, "return_run_details": True}
        answer = world.ask("POST", self.PATH, sent)
        run = world.get(f"actions/runs/{answer.value['workflow_run_id']}")
        assert answer.status == 200 and run["url"] == answer.value["run_url"]
        assert (run["display_title"], run["event"], run["path"]) == (
            "Smoke bump-7f3a", "workflow_dispatch", ".github/workflows/smoke.yml")
        assert world.runs()[0].cause.inputs == {"recipe": "r", "nonce": "bump-7f3a", "mode": "quick"}

    def test_an_older_server_refuses_the_question_and_starts_nothing(self, tmp_path: Path) -> None:
        with checked(tmp_path, run_details=False) as world:
            sent = {"ref": "main", "inputs": {"recipe": "r"}}
            assert world.ask("POST", self.PATH, {**sent, "return_run_details": True}).status == 422
            assert world.runs() == []
            assert world.ask("POST", self.PATH, sent).status == 204

    @pytest.mark.parametrize(("change", "word"), [
        ({"inputs": {"recipe": "r", "nonse": "x"}}, "Unexpected inputs"), ({"inputs": {}}, "Required input 'recipe'"),
        ({"inputs": {"recipe": "r", "mode": "warp"}}, "not in the list"), ({"ref": "nowhere"}, "No ref found"),
        ({"inputs": {f"i{n}": "x" for n in range(26)}}, "up to 25"), ({"inputz": {}}, "not a permitted key"),
        ({"ref": None}, "wasn't supplied")])
    def test_what_does_not_fit_is_refused_and_starts_nothing(
        self, world: World, change: dict[str, object], word: str
    ) -> None:
        answer = world.ask("POST", self.PATH, {"ref": "main", "inputs": {"recipe": "r"}, **change})
        assert answer.status == 422 and word in answer.value["message"]
        assert world.runs() == []

    def test_an_unknown_workflow_is_404_and_one_without_the_trigger_422(self, world: World) -> None:
        assert world.ask("POST", "actions/workflows/none.yml/dispatches", {"ref": "main"}).status == 404
        assert world.ask("POST", "actions/workflows/run-sweep.yml/dispatches", {"ref": "main"}).status == 422

    def test_a_commit_is_no_ref(self, world: World) -> None:
        head = world.get("git/ref/heads/main")["object"]["sha"]
        assert world.ask("POST", self.PATH, {"ref": head, "inputs": {"recipe": "r"}}).status == 422

    def test_workflows_are_found_by_file_and_number(self, world: World) -> None:
        known = world.get("actions/workflows")
        assert known["total_count"] == 2
        number = known["workflows"][1]["id"]
        assert world.get(f"actions/workflows/{number}") == world.get("actions/workflows/smoke.yml")
