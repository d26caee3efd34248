"""Runs of a story that are measured: planned from the commit's files when they are dispatched, measured before time goes on."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.cli import measured
from bot.cli.rehearse import play
from bot.errors import BadInput, Missing, Refusal
from bot.rehearse import scenario
from bot.rehearse.declaration import Run
from bot.rehearse.github.declare import Cause, Workflow
from bot.rehearse.measured import Measuring
from bot.rehearse.measuring import Ask, Done, Planned, asked
from bot.rehearse.scenario import Scenario
from tests.rehearse.quick_bench import TTFT, Quick, Server

SHIPPED = Path(scenario.__file__).parent / "scenarios"
REALLY = SHIPPED / "really"
BEFORE = "    baseline: {run: 7400910001, workflow: sweep.yml}\n"


def story(folder: Path, change: Callable[[str], str] = lambda text: text) -> Scenario:
    """The scenario `really`, changed."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("repo", "registry.yaml", "baseline.json", "upstream", "machine.yaml"):
        (folder / part).symlink_to(REALLY / part)
    (folder / "scenario.yaml").write_text(change((REALLY / "scenario.yaml").read_text()))
    return scenario.load(folder)


def played(tmp_path: Path, change: Callable[[str], str] = lambda text: text, **servers: Server) -> tuple[dict[str, Any], Quick]:
    work = tmp_path / "work"
    work.mkdir()
    quick = Quick(work, **servers)
    return play(story(tmp_path / "story", change), work, narrate=False, runner=quick), quick


def without_baseline(text: str) -> str:
    return text.replace(BEFORE, "")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Quick, Path]:
    """Kept in a folder that is named from here, as `make demo-real` names it: its baseline once went into a ledger of its own."""
    place = tmp_path_factory.mktemp("whole")
    with chdir(place):
        return *played(Path()), place / "work"


class TestAWholeBump:
    def test_is_measured_before_it_begins_at_each_stage_and_in_the_sweep_and_ends_validated(self, whole: Any) -> None:
        told, quick, _ = whole
        assert told["as_expected"] and told["outcome"] == "validated"
        sums = "bumpbot_arithmetic"
        assert quick.asked == [
            *((7400910001, point, 1) for point in ("c1", "c4", "c8", sums)), (7400910011, sums, 1), (7400910012, "c1", 1),
            (7400910013, "c8", 1), *((7400910021, point, 1) for point in ("c1", "c4", "c8", sums))]

    def test_tells_a_line_before_and_after_each_point(self, whole: Any) -> None:
        lines = whole[1].lines
        assert len(lines) == 22 and lines[2] == "run 7400910001: sums-cpu-vllm c4 (2 of 4)"
        assert re.fullmatch(r"run 7400910001: sums-cpu-vllm c4: good, TTFT p50 0\.15 s, ITL p50 0\.008 s, \d s", lines[3])

    def test_holds_its_machine_for_whole_minutes_and_uploads_under_the_names_of_the_benchmark(self, whole: Any) -> None:
        told, _, work = whole
        assert [run["conclusion"] for run in told["runs"]] == ["success"] * 4
        assert [round(run["gpu_hours"] * 60) for run in told["runs"]] == [1, 1, 1, 4]
        assert sorted(file.name for file in (work / "runs/7400910001/artifacts").iterdir())[0] == "bench_sums-cpu-vllm_conc1_attempt1.zip"

    def test_compares_with_what_the_ledger_got_of_the_run_before(self, whole: Any) -> None:
        sweep = next(one["body"] for one in whole[0]["comments"] if one["kind"] == "sweep")
        assert "baseline (run 7400910001)" in sweep and "proven; the server reported `vLLM 0.29.0`" in sweep

    def test_leaves_evidence_with_the_files_of_the_run_before_and_of_every_run(self, whole: Any) -> None:
        told, _, work = whole
        archive = next((work / "archive").glob("*/evidence.zip"))
        names = zipfile.ZipFile(archive).namelist()
        for folder in ("baseline", "runs/01-smoke-7400910011", "runs/04-sweep-7400910021"):
            assert any(re.match(rf"{folder}/eval_logs_sums-cpu-vllm_conc8_bumpbot_arithmetic_attempt1/server\.log", name) for name in names)
        assert "`evidence.zip`" in told["comments"][-1]["body"] and "Not in it" not in told["comments"][-1]["body"]


class TestOtherImages:
    def test_one_that_is_slower_ends_regressed(self, tmp_path: Path) -> None:
        told, _ = played(tmp_path, v0_29_0=Server(ttft=3 * TTFT))
        assert told["outcome"] == "regressed" and "TTFT" in told["comments"][-2]["body"]

    @pytest.mark.parametrize(("server", "outcome", "said"), [
        (Server(version="0.28.1"), "uncertain", ("The old image ran, not the candidate",)),
        (Server(lowers=True), "incompatible", ("does not give what the recipe asks for and lowered it at its start",
                                               "该镜像的引擎无法满足配方要求的设置，在启动时将其调低"))])
    def test_one_that_lies_or_lowers_a_limit_is_refused_before_any_load(self, tmp_path: Path, server: Server, outcome: str,
                                                                        said: tuple[str, ...]) -> None:
        told, quick = played(tmp_path, without_baseline, v0_29_0=server)
        assert told["outcome"] == outcome and len(quick.asked) == 1
        bodies = " ".join(one["body"] for one in told["comments"] if one["kind"] in ("stop", "final"))
        assert all(words in bodies for words in said)

    def test_a_baseline_that_does_not_hold_is_told_before_the_story_begins(self, tmp_path: Path) -> None:
        with pytest.raises(Refusal, match="the baseline of run 7400910001 cannot be published"):
            played(tmp_path, v0_28_1=Server(version="0.27.0"))


class Told:
    """A runner that plans these jobs, or cannot plan, and measures none that it was not asked for."""

    def __init__(self, *jobs: Planned, good: bool = True) -> None:
        self.jobs, self.good, self.measured = jobs, good, list[tuple[str, int]]()

    def plan(self, ask: Ask) -> tuple[Planned, ...]:
        if not self.jobs:
            raise BadInput("no point here", "name another")
        return self.jobs

    def measure(self, ask: Ask, attempt: int, job: Planned) -> Done:
        self.measured.append((job.name, attempt))
        return Done(good=self.good, seconds=61.0, log="what it printed")


JOBS = tuple(Planned(name=f"r c{number}", results=f"bench_r_conc{number}", logs=f"logs_r_conc{number}",
                     labels=("self-hosted", "gpu"), gpus=4) for number in (1, 4))


def begun(runner: Told, **inputs: str) -> tuple[Measuring, Any, Any]:
    """A run of the story that was dispatched a moment ago, and a forge that holds it."""
    measuring, workflow = Measuring(runner, frozenset({"gpu"})), Workflow(file="smoke.yml", name="Smoke", triggers={})
    cause = Cause(event="workflow_dispatch", action=None, actor="bot", ref="refs/heads/main", title="", inputs=inputs)
    script = measuring.script(Run(id=7, workflow="smoke.yml", event="workflow_dispatch", measure=True), workflow, cause)
    jobs = [SimpleNamespace(id=number, name=job.name, attempt=1, script=job, completed=None, cancelled=False)
            for number, job in enumerate(script.attempts[0].jobs)]
    run = SimpleNamespace(id=7, cause=cause, jobs=jobs)
    return measuring, SimpleNamespace(store=SimpleNamespace(runs={7: run})), run


class TestARunThatIsMeasured:
    def test_waits_for_its_plan_in_the_pool_of_its_labels_and_holds_its_gpus(self) -> None:
        _, _, run = begun(Told(*JOBS))
        plan, first, _ = (job.script for job in run.jobs)
        assert (plan.name, first.name, first.pool, first.gpus) == ("smoke / plan", "smoke / r c1", "gpu", 4)
        assert first.starts_after_minutes == plan.minutes

    def test_is_measured_once_and_takes_begun_minutes(self) -> None:
        runner = Told(*JOBS)
        measuring, hub, run = begun(runner)
        measuring.measure(hub)
        measuring.measure(hub)
        assert runner.measured == [("r c1", 1), ("r c4", 1)]
        assert {(job.script.minutes, job.script.conclusion, job.script.log) for job in run.jobs[1:]} == {(2.0, "success", "what it printed")}

    def test_is_measured_again_where_it_is_run_again(self) -> None:
        runner = Told(*JOBS)
        measuring, hub, run = begun(runner)
        measuring.measure(hub)
        run.jobs.append(SimpleNamespace(id=9, name="smoke / r c4", attempt=2, script=run.jobs[2].script, completed=None, cancelled=False))
        measuring.measure(hub)
        assert runner.measured[2:] == [("r c4", 2)]

    def test_measures_nothing_more_after_a_failure_where_it_is_to_stop_there(self) -> None:
        for word, count in (("true", 1), ("false", 2)):
            runner = Told(*JOBS, good=False)
            measuring, hub, run = begun(runner, **{"fail-fast": word})
            measuring.measure(hub)
            assert len(runner.measured) == count and run.jobs[1].script.conclusion == "failure"

    def test_is_measured_no_more_once_it_is_cancelled(self) -> None:
        runner = Told(*JOBS)
        measuring, hub, run = begun(runner)
        run.jobs[1].cancelled = True
        measuring.measure(hub)
        assert runner.measured == [("r c4", 1)]

    def test_that_cannot_be_planned_fails_in_its_first_job(self) -> None:
        _, _, run = begun(Told())
        assert [(job.name, job.script.conclusion, job.script.log) for job in run.jobs] == [
            ("smoke / plan", "failure", "no point here: name another")]


class TestTheInputsOfADispatch:
    def test_are_read_as_the_workflow_reads_them(self) -> None:
        found = asked(7, {"recipe": "a  b", "commit": "c" * 40, "points": "p/1\nq/2", "eval-limit": "100", "nonce": "n"})
        assert (found.recipes, found.points, found.eval_limit) == (("a", "b"), ("p/1", "q/2"), 100)
        assert asked(7, {"recipe": "a"}).points == () and asked(7, {}).eval_limit is None

    @pytest.mark.parametrize(("seconds", "minutes"), [(0.2, 1), (60, 1), (60.1, 2), (599, 10)])
    def test_a_machine_is_paid_by_begun_minutes(self, seconds: float, minutes: float) -> None:
        assert Done(good=True, seconds=seconds).minutes == minutes


class TestWhatAScenarioMaySay:
    @pytest.mark.parametrize(("old", "new", "said"), [
        ("event: workflow_dispatch, measure: true", "event: workflow_dispatch", "the run has no attempt"),
        ("measure: true", "measure: true, attempts: [{jobs: [{name: a, minutes: 1}]}]", "told by `attempts`, or measured"),
        ("commit, nonce, points, eval-limit", "nonce", "no inputs commit, points, eval-limit"),
        ("baseline: {run: 7400910001, workflow: sweep.yml}", "baseline: {run: 7400910001, workflow: x.yml}", "none of the workflows"),
        ("baseline: {run: 7400910001,", "baseline: {run: 7400910011,", "stands twice")])
    def test_is_checked_before_it_begins(self, tmp_path: Path, old: str, new: str, said: str) -> None:
        with pytest.raises(BadInput, match=re.escape(said)):
            story(tmp_path, lambda text: text.replace(old, new, 1))

    def test_a_story_that_is_measured_is_not_played_without_a_machine(self, tmp_path: Path) -> None:
        found = scenario.load(REALLY)
        with pytest.raises(Refusal, match="is measured on this machine"):
            measured.runner(found, None, tmp_path, print)

    def test_a_machine_for_a_story_that_measures_nothing_is_one_too_many(self, tmp_path: Path) -> None:
        with pytest.raises(Refusal, match="measures nothing"):
            measured.runner(scenario.load(SHIPPED / "green"), measured.STAND_IN, tmp_path, print)

    def test_a_machine_without_the_tools_is_told_which(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(Missing, match="aiperf is not on the PATH"):
            measured.runner(scenario.load(REALLY), measured.STAND_IN, tmp_path, print)


class TestTheShortOne:
    def test_shares_everything_but_its_story_and_ends_as_it_says(self, tmp_path: Path) -> None:
        found, quick = scenario.load(SHIPPED / "really-short"), Quick(tmp_path)
        assert found.machine == REALLY / "machine.yaml" and found.repo == REALLY / "repo"
        told = play(found, tmp_path, narrate=False, runner=quick)
        assert told["as_expected"] and not told["troubles"], told["outcome"]
        assert [point for _, point, _ in quick.asked] == ["bumpbot_arithmetic", "c1"]
        assert "`evidence.zip`" in told["comments"][-1]["body"]
