"""`ledger publish`: what a run uploaded, held against its plan; what holds is in the ledger, everything else is one line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bot.adapters.clock import SystemClock
from bot.adapters.git import CommandGit
from bot.adapters.process import LocalProcess
from bot.cli.collected import HEADS
from bot.ledger import Ledger, LedgerBaselines, publish, wake_id
from bot.model.baseline import Configuration, Question
from bot.model.bench import Gate, Launched, Report, Said
from bot.model.ledger import Measured
from tests.cli.shell import Done, bumpbot
from tests.fakes.uploads import DIGEST, Uploads, folders, packed, plan, report, sealed

HEAD = "8" * 40
RUN = 34461599480


class Runs:
    """One run's artifacts, a ledger in a folder, and the page of the workflow."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.page = folder, folder / "page.md"
        self.env = {"GITHUB_RUN_ID": str(RUN), "GITHUB_RUN_ATTEMPT": "1", "GITHUB_REPOSITORY": "acme/recipes",
                    "BUMPBOT_LEDGER": str(folder / "ledger"), "GITHUB_STEP_SUMMARY": str(self.page)}

    def uploads(self, *names: str, whole: tuple[str, ...] | None = None, honest: bool = True) -> Uploads:
        made = Uploads(self.folder, plan(*names, whole=whole))
        if honest:
            made.everything()
        return made

    def publish(self, made: Uploads, *more: str, env: Mapping[str, str] | None = None) -> Done:
        return bumpbot("--layout", "own", "ledger", "publish", made.folder, "--plan", made.plan, "--commit", HEAD, "--date", "2026-09-01",
                       *more, env={**self.env, **(env or {})}, cwd=self.folder)

    def refused(self, made: Uploads) -> list[str]:
        """The faults of a run of which nothing may be published."""
        done = self.publish(made)
        assert done.code == 1 and "Traceback" not in done.err, done.err
        assert self.held("toy") is None and "not published" in self.page.read_text()
        return [line.removeprefix("refused: ") for line in done.err.splitlines() if line.startswith("refused: ")]

    @property
    def ledger(self) -> Ledger:
        git = CommandGit(LocalProcess(), str(self.folder / "ledger"), self.folder / "cache.git", name="a", email="a@example.com")
        return Ledger(git, clock=SystemClock(), random=Random(1))

    def held(self, recipe: str) -> Measured | None:
        if not (self.folder / "ledger").exists():
            return None
        return self.ledger.load(self.ledger.tip(), f"results/{recipe}/{RUN}.json", Measured)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def offered(runs: Runs, made: Uploads) -> Any:
    """What the next bump of this recipe finds as its baseline."""
    order = made.jobs[0].point
    wanted = Configuration(fingerprint=order.fingerprint, topology=order.topology, workload=order.workload,
                           concurrencies=(1, 16))
    return LedgerBaselines(runs.ledger).offer(Question(recipe="toy", model=order.model, image=f"{order.image}@{DIGEST}", configurations=(wanted,)))


class TestAWholeSweep:
    def test_is_the_next_bumps_baseline(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        done = runs.publish(made)
        assert done.code == 0 and f"toy: results/toy/{RUN}.json is written" in done.err, done.err
        held = runs.held("toy")
        assert held and (held.image, held.digest, held.head, held.date, held.attempt) == (
            "vllm/vllm-openai:v0.25.1", DIGEST, HEAD, "2026-09-01", 1)
        assert held.thresholds == {"gsm8k": 0.9} and {one.concurrency for one in held.accounting} == {1, 16}
        assert {row.point.fingerprint for row in held.rows} == {made.jobs[0].point.fingerprint}
        assert {row.metric for row in held.rows} == {"tput_per_gpu", "output_tput", "ttft", "itl", "eval"}
        found, = offered(runs, made).sets
        assert found.run == RUN and {row.point.concurrency for row in found.rows} == {1, 16}

    def test_is_content_with_finding_itself_there(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        assert runs.publish(made).code == 0
        tip = runs.ledger.tip().oid
        again = runs.publish(made)
        assert again.code == 0 and "is there already" in again.err and runs.ledger.tip().oid == tip

    def test_leaves_what_a_wake_wrote_first_as_it_is(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        runs.publish(made)
        held = runs.held("toy")
        assert held is not None
        theirs = replace(held, run=RUN + 1, of="toy-1", pull=7)
        publish(runs.ledger, [theirs], wake=wake_id(Random(2)))
        done = runs.publish(made, env={"GITHUB_RUN_ID": str(RUN + 1)})
        assert done.code == 0 and "is there already" in done.err
        assert runs.ledger.load(runs.ledger.tip(), f"results/toy/{RUN + 1}.json", Measured) == theirs

    def test_shows_table_and_curve_in_both_languages(self, runs: Runs) -> None:
        runs.publish(runs.uploads("toy"))
        page = runs.page.read_text()
        assert "| `toy` | 16 | 14400.00 | 19200.00 | 0.200 | 0.00900 | 0 / 8 (0.0%) | proven |" in page
        assert '  x-axis "concurrency" ["1", "16"]' in page and "  line [900.00, 14400.00]" in page
        assert "published into the ledger" in page and "已发布到账本" in page
        assert "`gsm8k strict` | 16 | 0.9500 | 0.90 | passed | 100 | proven |" in page

    def test_of_two_recipes_is_published_for_the_one_that_holds(self, runs: Runs) -> None:
        made = runs.uploads("toy", "other")
        bad = made.jobs[-1]
        results, logs = folders(runs.folder / "bad", report(bad, gates=(Gate(name="eval", passed=False, said="0.71 < 0.9"),)))
        made.put(f"{bad.results}_attempt1", packed(results))
        made.put(f"{bad.logs}_attempt1", packed(logs))
        done = runs.publish(made)
        assert done.code == 1 and "refused: other c16 eval gsm8k: the gate eval does not hold: 0.71 < 0.9" in done.err
        assert runs.held("toy") is not None and runs.held("other") is None

    def test_keeps_the_repeats_of_a_point_apart(self, runs: Runs) -> None:
        made = runs.uploads("toy", honest=False)
        for job in made.jobs:
            rows = report(job).rows
            made.measured(job, rows=tuple(replace(row, repeat=number, value=row.value * number) for row in rows for number in (1, 2))
                          if job.point.eval is None else rows)
        assert runs.publish(made).code == 0
        held = runs.held("toy")
        assert held and [row.value for row in held.rows if (row.metric, row.point.concurrency) == ("output_tput", 1)] == [1200.0, 2400.0]


class TestAPart:
    def test_of_a_sweep_is_checked_and_shown_and_is_nobodys_baseline(self, runs: Runs) -> None:
        done = runs.publish(runs.uploads("toy", whole=()))
        assert done.code == 0 and runs.held("toy") is None and "nobody's baseline" in runs.page.read_text()

    def test_that_does_not_hold_fails_all_the_same(self, runs: Runs) -> None:
        made = runs.uploads("toy", whole=(), honest=False)
        assert runs.publish(made).code == 1

    def test_nothing_is_written_where_nobody_asked_for_it(self, runs: Runs) -> None:
        done = runs.publish(runs.uploads("toy"), "--dry-run", "--format", "json")
        assert done.code == 0 and runs.held("toy") is None
        assert [job["good"] for job in done.json["jobs"]] == [True, True, True]


class TestTheNewestAttempt:
    def test_counts(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        made.measured(made.jobs[0], attempt=2)
        done = runs.publish(made, "--format", "json", env={"GITHUB_RUN_ATTEMPT": "2"})
        assert done.code == 0 and [job["attempt"] for job in done.json["jobs"]] == [2, 1, 1]

    def test_is_none_that_has_not_run(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        made.measured(made.jobs[0], attempt=2)
        done = runs.publish(made)
        assert done.code == 1 and "refused: toy c1: bench_toy_conc1_attempt2: this is attempt 1" in done.err
        held = runs.held("toy")
        assert held and held.attempt == 1

    def test_that_failed_is_not_saved_by_an_older_one(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        made.measured(made.jobs[0], attempt=2, state="partial", reason="the server ended")
        done = runs.publish(made, env={"GITHUB_RUN_ATTEMPT": "2"})
        assert done.code == 1 and "toy c1: the measurement is partial: the server ended" in done.err and runs.held("toy") is None


SAID, OTHER = Said(version="0.24.0"), f"sha256:{'e' * 64}"
CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "partial": ({"state": "partial", "reason": "out of time"}, "the measurement is partial: out of time"),
    "running": ({"state": "running"}, "the measurement is running: nobody says why"),
    "gate": ({"gates": (Gate(name="stream", passed=False, said="no finish reason"),)}, "the gate stream does not hold: no finish reason"),
    "digest": ({"launched": Launched(launcher="docker", image="vllm/vllm-openai:v0.25.1", digest=OTHER)}, "the image is not proven to have run"),
    "version": ({"said": SAID, "launched": Launched(launcher="process", image="vllm/vllm-openai:v0.25.1")}, "the image is not proven to have run"),
    "nothing": ({"rows": ()}, "no speed was measured"),
}


class TestAJobThatDoesNotHold:
    @pytest.mark.parametrize("name", CHANGED)
    def test_is_one_line_and_keeps_its_recipe_out_of_the_ledger(self, runs: Runs, name: str) -> None:
        changed, said = CHANGED[name]
        made = runs.uploads("toy", honest=False)
        for job in made.jobs:
            made.measured(job, **(changed if job is made.jobs[0] else {}))
        lines = runs.refused(made)
        assert len(lines) == 1 and said in lines[0], lines

    def test_that_ran_from_another_digest_than_its_neighbours_is_refused_with_them(self, runs: Runs) -> None:
        made = runs.uploads("toy", honest=False)
        for job in made.jobs:
            other = {"launched": Launched(launcher="docker", image=job.point.image, digest=OTHER),
                     "rows": tuple(replace(row, image=f"{job.point.image}@{OTHER}") for row in report(job).rows)}
            made.measured(job, **(other if job is made.jobs[0] else {}))
        line, = runs.refused(made)
        assert line.startswith("toy: its jobs ran different images under one name: sha256:ddd")

    def test_that_uploaded_nothing_is_told_as_that(self, runs: Runs) -> None:
        made = runs.uploads("toy", honest=False)
        for job in made.jobs[1:]:
            made.measured(job)
        assert runs.refused(made) == ["toy c1: no results were uploaded"]

    def test_with_a_value_that_is_no_number_is_refused(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        job = made.jobs[0]
        results, logs = folders(runs.folder / "nan", report(job))
        results["bench.json"] = results["bench.json"].replace(b"900.0", b"NaN")
        results.pop("rows.jsonl")
        made.put(f"{job.results}_attempt1", packed(sealed(results, logs)))
        made.put(f"{job.logs}_attempt1", packed(logs))
        line, = runs.refused(made)
        assert "NaN" in line


def _value(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return {**results, "bench.json": results["bench.json"].replace(b"900.0", b"999.0")}


def _other(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return sealed({"bench.json": msgspec.json.encode(other)}, logs)


def _more(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return {**results, "extra.json": b"{}"}


def _less(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return {path: data for path, data in results.items() if path != "rows.jsonl"}


def _unsealed(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return {path: data for path, data in results.items() if path != "SHA256SUMS"}


TAMPERED = {_value: "results/bench.json has another SHA-256", _other: "these are results of another point: id is not as planned",
            _more: "results/extra.json is not in SHA256SUMS", _less: "results/rows.jsonl is missing", _unsealed: "SHA256SUMS is missing"}


class TestAnArtifact:
    @pytest.mark.parametrize("change", TAMPERED, ids=lambda change: change.__name__.strip("_"))
    def test_that_was_tampered_with_is_refused(self, runs: Runs, change: Any) -> None:
        made = runs.uploads("toy")
        job, next_ = made.jobs[0], made.jobs[1]
        results, logs = folders(runs.folder / "mine", report(job))
        made.put(f"{job.results}_attempt1", packed(change(results, logs, report(next_))))
        made.put(f"{job.logs}_attempt1", packed(logs))
        assert f"toy c1: {TAMPERED[change]}" in runs.refused(made)

    @pytest.mark.parametrize("data", [b"no archive", packed({"bench.json": b"{}"})[:60], packed({"../bench.json": b"{}"}), packed({"/etc/x": b""}),
                                      packed({}, links={"bench.json": "/etc/passwd"}), packed({"a.gz": b"x" * 99}), b""])
    def test_that_is_no_honest_archive_is_refused(self, runs: Runs, data: bytes) -> None:
        made = runs.uploads("toy")
        made.put(f"{made.jobs[0].results}_attempt1", data)
        line, = runs.refused(made)
        assert line.startswith("toy c1: ") and "root:" not in line

    def test_of_a_name_that_stands_twice_counts_neither_time(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        made.put("bench_toy_conc1_attempt1", packed({"bench.json": b"{}"}), again="-2")
        assert runs.refused(made) == ["toy c1: 2 artifacts are called bench_toy_conc1_attempt1, none counts", "toy c1: no results were uploaded"]

    @pytest.mark.parametrize("name", ["bench_other_conc1_attempt1", "eval_toy_conc1_attempt1", "bench_toy_conc1", "bench_toy_conc1_attempt1x", "x`$(touch y)",
                                      "bench_toy_conc1_attempt0"])
    def test_that_nobody_planned_fails_the_run_and_takes_nothing_from_what_holds(self, runs: Runs, name: str) -> None:
        made = runs.uploads("toy")
        made.put(name, packed({}))
        done = runs.publish(made)
        assert done.code == 1 and "an artifact that no job of the plan uploads: " in done.err and "`" not in done.err
        assert runs.held("toy") is not None

    def test_with_another_plan_in_it_is_not_taken_for_the_plan(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        made.put("plan_attempt1", packed({"jobs.json": made.data.replace(b'"threshold": 0.9', b'"threshold": 0.1')}))
        done = runs.publish(made)
        assert done.code == 1 and "the plan is not among the artifacts" in done.line


class TestAnArgument:
    @pytest.mark.parametrize(("option", "value"), [("--commit", "main"), ("--date", "tomorrow"), ("--plan", "nowhere.json")])
    def test_that_does_not_hold_is_one_line(self, runs: Runs, option: str, value: str) -> None:
        done = runs.publish(runs.uploads("toy", honest=False), option, value)
        assert done.code == 2 and value in done.line

    def test_for_a_folder_of_unpacked_artifacts_says_what_to_do(self, runs: Runs) -> None:
        made = runs.uploads("toy", honest=False)
        (made.folder / "bench_toy_conc1_attempt1").mkdir()
        (made.folder / "bench_toy_conc1_attempt1" / "bench.json").write_text("{}")
        assert "without unpacking" in runs.publish(made).line

    def test_a_single_archive_lies_without_a_folder(self, runs: Runs) -> None:
        """So it is downloaded when every job died before it could upload anything."""
        made = runs.uploads("toy", honest=False)
        (made.folder / "plan_attempt1" / "plan_attempt1.zip").rename(made.folder / "plan_attempt1.zip")
        (made.folder / "plan_attempt1").rmdir()
        assert runs.refused(made) == [f"toy {job}: no results were uploaded" for job in ("c1", "c16", "c16 eval gsm8k")]

    def test_the_table_has_a_column_for_each_thing_told(self, runs: Runs) -> None:
        done = runs.publish(runs.uploads("toy"), "--dry-run", "--format", "markdown")
        assert done.out.splitlines()[0].count("|") == len(HEADS) + 1
