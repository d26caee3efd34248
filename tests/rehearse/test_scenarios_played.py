"""The scenarios on bumpbot's own layout, played by the real bot: how each ends, what it started and spent, what people read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.cli.rehearse import play
from bot.rehearse import scenario
from tests.rehearse.make_own_scenarios import SCENARIOS, STORIES
from tests.rehearse.openapi.check import Checker
from tests.rehearse.own_scenarios import numbers, stories, world
from tests.rehearse.own_scenarios.world import KEY, NEW, REBUILT, SIBLING

GPUS = numbers.GPUS
STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\]", re.MULTILINE)


class Told:
    """One scenario that is over: the result, and the world as it was left."""

    def __init__(self, name: str) -> None:
        self.story = scenario.load(SCENARIOS / name)
        self.result = play(self.story, None, narrate=False, observer=self._listen, after=self._look)

    def _listen(self, world: Any) -> None:
        world.hub.exchanges.append(Checker())

    def _look(self, world: Any, bot: Any) -> None:
        (self.pull,), self.runs, self.unforeseen = world.hub.pulls(), {run.id: run for run in world.hub.runs()}, world.unforeseen
        self.files = {path: world.hub.git.blob(world.hub.git.entry(self.pull.head, path)[1]).decode()
                      for path in (f"recipes/{KEY}.yaml", "perf-changelog.yaml")}
        self.main = world.hub.git.text("rev-parse", "main").strip()
        self.pushed = world.hub.git.text("log", "--format=%ae", f"main..{self.pull.branch}").split()

    @property
    def ours(self) -> list[tuple[str, int, str, str]]:
        return [(run["workflow"], run["attempt"], run["reason"], run["conclusion"]) for run in self.result["runs"]]

    @property
    def asked(self) -> list[dict[str, str]]:
        """The inputs of each dispatch, in order."""
        return [dict(run.cause.inputs) for run in sorted(self.runs.values(), key=lambda run: run.created)]

    def comment(self, kind: str) -> str:
        return "\n".join(one["body"] for one in self.result["comments"] if one["kind"] == kind)

    def kinds(self) -> set[str]:
        return {one["kind"] for one in self.result["comments"]}


@pytest.fixture(scope="module")
def played() -> Iterator[dict[str, Told]]:
    yield {}


@pytest.fixture
def told(request: pytest.FixtureRequest, played: dict[str, Told]) -> Told:
    """The scenario that the class is about, played once for all its tests."""
    name = request.param if hasattr(request, "param") else request.cls.NAME
    if name not in played:
        played[name] = Told(name)
    return played[name]


# Those whose plan finds something have a file of their own.
@pytest.mark.parametrize("told", [name for name in STORIES if name not in (stories.LATER, stories.FULL)], indirect=True)
class TestEach:
    def test_ends_as_it_says_and_nothing_troubled_the_bot(self, told: Told) -> None:
        assert told.result["as_expected"], (told.result["outcome"], told.result["cause"])
        assert (told.result["troubles"], told.unforeseen) == ([], ())

    def test_spends_no_repair_and_counts_every_attempt(self, told: Told) -> None:
        held = sum((job.completed - job.started).total_seconds() / 3600 * GPUS
                   for run in told.runs.values() for job in run.jobs if job.script.gpus and job.started)
        assert told.result["repairs_used"] == 0
        assert told.result["gpu_hours"] == pytest.approx(held) == pytest.approx(sum(run["gpu_hours"] for run in told.result["runs"]))

    def test_dispatches_from_main_for_one_exact_commit(self, told: Told) -> None:
        for run, inputs in zip(sorted(told.runs.values(), key=lambda run: run.created), told.asked, strict=True):
            assert (run.branch, run.cause.event) == ("main", "workflow_dispatch")
            assert re.fullmatch(r"[0-9a-f]{40}", inputs["commit"])
            assert re.fullmatch(rf"bumpbot-{told.pull.branch.partition('/')[2]}-(smoke[123]|sweep|repeat|control)-\d+-{inputs['commit'][:12]}",
                                inputs["nonce"])
            assert inputs["nonce"] in run.title

    def test_every_line_of_a_log_is_of_its_jobs_time(self, told: Told) -> None:
        checked = 0
        for run in told.runs.values():
            for job in run.jobs:
                for upload in job.script.artifacts:
                    log = upload.folder / "server.log"
                    moments = [datetime.fromisoformat(text).replace(tzinfo=UTC) for text in STAMP.findall(log.read_text())] if log.is_file() else []
                    checked += bool(moments)
                    assert all(job.started <= moment <= job.completed for moment in moments), (run.id, job.name)
        assert checked == sum("logs_" in upload.name for run in told.runs.values() for job in run.jobs for upload in job.script.artifacts) > 0

    def test_every_comment_says_the_same_in_both_languages(self, told: Told) -> None:
        for one in told.result["comments"]:
            assert "<summary>中文</summary>" in one["body"], one["kind"]


class TestGreen:
    NAME = "green"

    def test_is_left_open_and_ready_for_review(self, told: Told) -> None:
        assert (told.result["outcome"], told.result["cause"]) == ("validated", "verdict")
        assert (told.pull.open, told.pull.draft) == (True, False)
        assert f"image: {world.reference(NEW)}\n" in told.files[f"recipes/{KEY}.yaml"]

    def test_one_job_was_run_again_for_a_package_that_its_node_could_not_fetch(self, told: Told) -> None:
        assert told.ours == [("smoke.yml", 1, "dispatch", "success"), ("smoke.yml", 2, "dispatch", "success"),
                             ("smoke.yml", 1, "dispatch", "success"), ("sweep.yml", 1, "dispatch", "success")]
        assert "package-fetch" in told.comment("initial") and "costs no repair" in told.comment("initial")

    def test_the_smoke_asked_for_the_cheapest_information_first(self, told: Told) -> None:
        stages = [(one["recipe"], one["points"], one["eval-limit"]) for one in told.asked[:3]]
        assert stages == [(KEY, world.id_of(KEY, 128, "gsm8k"), "100"), (KEY, world.id_of(KEY, 1), ""), (KEY, world.id_of(KEY, 128), "")]

    def test_the_sweep_waited_for_the_maintainers_label(self, told: Told) -> None:
        sweep = told.runs[7300418874]
        assert f"{sweep.created:%H:%M:%S}" == "09:20:00"
        assert (told.asked[3]["points"], told.asked[3]["eval-limit"]) == ("", "")
        assert told.comment("status").startswith("Nothing is waited for any more.")

    def test_the_changelog_says_what_moved(self, told: Told) -> None:
        entry = told.files["perf-changelog.yaml"].split("\n\n")[-1]
        assert KEY in entry and world.reference(NEW) in entry and entry.endswith("/northwind-bench/recipes/pull/58\n")

    def test_it_cost_less_than_six_gpu_hours(self, told: Told) -> None:
        assert 5.5 < told.result["gpu_hours"] < 6
        assert told.kinds() >= {"proposal", "initial", "status", "sweep", "final"}


class TestMovedTag:
    NAME = "moved-tag"

    def test_no_sweep_is_dispatched(self, told: Told) -> None:
        assert told.ours == [("smoke.yml", 1, "dispatch", "success")] * 3
        assert {run.workflow.file for run in told.runs.values()} == {"smoke.yml"}

    def test_it_is_superseded_and_put_away(self, told: Told) -> None:
        assert told.result["outcome"] == "superseded"
        assert (told.pull.open, told.pull.draft) == (False, True)

    def test_the_last_report_names_the_new_digest_as_the_next_candidate(self, told: Told) -> None:
        last = told.result["comments"][-1]
        assert last["kind"] == "final"
        assert f"lmsysorg/sglang:{NEW}@{world.digest_of(REBUILT)}" in last["body"]
        assert world.digest_of(NEW) in last["body"], "what was tested, beside what the tag holds now"

    def test_only_the_smoke_was_paid(self, told: Told) -> None:
        assert told.result["gpu_hours"] == pytest.approx(GPUS * (7.4 + 8.3 + 12.8) / 60)


class TestTakeover:
    NAME = "takeover"

    def test_the_run_that_was_ours_is_cancelled(self, told: Told) -> None:
        assert told.ours == [("smoke.yml", 1, "dispatch", "success"), ("smoke.yml", 1, "dispatch", "cancelled")]
        assert all(run.status == "completed" for run in told.runs.values())

    def test_the_pull_request_stays_as_the_person_made_it(self, told: Told) -> None:
        assert (told.result["outcome"], told.result["cause"]) == ("handed-off", "person")
        assert told.pull.open and told.pull.labels == ["bumpbot-handoff"]
        assert "max-running-requests: 192" in told.files[f"recipes/{KEY}.yaml"]

    def test_the_persons_commit_is_the_last(self, told: Told) -> None:
        assert told.pushed[0] == "engineer-b@example.com" and len(told.pushed) == 2

    def test_the_last_report_says_who_moves(self, told: Told) -> None:
        assert told.result["comments"][-1]["kind"] == "final"
        assert "handed-off" in told.comment("final") and "Next: maintainer" in told.comment("final")
        assert told.result["gpu_hours"] < 1


class TestStaleCache:
    NAME = "stale-cache"

    def test_ends_at_the_first_stage_before_a_sweep_is_paid_for(self, told: Told) -> None:
        assert told.ours == [("smoke.yml", 1, "dispatch", "success")] and told.result["gpu_hours"] < 1
        assert (told.result["outcome"], told.result["cause"]) == ("uncertain", "none")
        assert (told.pull.open, told.pull.draft) == (False, True)

    @pytest.mark.parametrize("kind", ["initial", "final"])
    def test_what_ran_and_the_file_to_delete_are_named_in_both_languages(self, told: Told, kind: str) -> None:
        for half in told.comment(kind).split("<summary>中文</summary>"):
            assert "0.5.21" in half and "0.5.22" in half and "lmsysorg_sglang_v0.5.22.sqsh" in half


class TestControlArm:
    NAME = "control-arm"

    def test_the_old_image_runs_once_beside_the_sweep_for_the_commit_that_the_bump_was_made_from(self, told: Told) -> None:
        assert told.ours == [*[("smoke.yml", 1, "dispatch", "success")] * 3, ("sweep.yml", 1, "dispatch", "success"),
                             ("smoke.yml", 1, "dispatch", "success")]
        (arm,) = [one for one in told.asked if "-control-" in one["nonce"]]
        assert sorted(arm["points"].split()) == sorted(world.id_of(KEY, conc) for conc in numbers.LEVELS)
        assert arm["commit"] == told.main and arm["commit"] != told.asked[3]["commit"]

    def test_is_the_baseline_of_a_day_on_which_both_are_slower(self, told: Told) -> None:
        """Against the published points each is 8 to 11 % worse, and a repeat would have found the same."""
        assert (told.result["outcome"], told.result["cause"]) == ("validated", "verdict")
        english, _, chinese = told.comment("sweep").partition("<summary>")
        assert "verdict: neutral" in english and "against the old image beside it (run 7300914102)" in english
        assert "the baseline of this sweep" in english and "7300914102" in chinese and "基线" in chinese
        assert not re.search(r"\((?:-|\+)[5-9]\.\d%\)", english)

    def test_is_counted_and_told_before(self, told: Told) -> None:
        assert 8.5 < told.result["gpu_hours"] < 9
        assert "**Control arm:** the old image is measured beside the sweep" in told.pull.body


class TestFamily:
    NAME = "family"

    def test_one_of_two_is_slower_and_neither_moves(self, told: Told) -> None:
        assert (told.result["outcome"], told.result["cause"]) == ("regressed", "verdict")
        assert (told.pull.open, told.pull.draft) == (False, True)

    def test_five_runs_each_for_both_recipes_but_the_last(self, told: Told) -> None:
        assert told.ours == [*[("smoke.yml", 1, "dispatch", "success")] * 3, ("sweep.yml", 1, "dispatch", "success"),
                             ("smoke.yml", 1, "dispatch", "success")]
        assert [sorted(one["recipe"].split()) for one in told.asked[:4]] == [[KEY, SIBLING]] * 4
        assert sorted(told.asked[0]["points"].split()) == sorted(world.id_of(key, 128, "gsm8k") for key in (KEY, SIBLING))

    def test_the_repeat_asks_for_exactly_the_suspect_point(self, told: Told) -> None:
        assert told.asked[4]["points"] == world.id_of(SIBLING, 64)
        assert "-repeat-" in told.asked[4]["nonce"] and told.asked[4]["commit"] == told.asked[3]["commit"]

    def test_the_report_shows_the_point_twice(self, told: Told) -> None:
        english = told.comment("sweep").partition("<summary>")[0]
        assert len(re.findall(rf"\| `{SIBLING}` \| 64 \| [^|]*\(-1[56]\.\d%\)", english)) == 2
        assert "verdict: regressed" in english

    def test_it_cost_twelve_gpu_hours(self, told: Told) -> None:
        assert 11.5 < told.result["gpu_hours"] < 12

