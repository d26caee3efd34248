"""`ledger publish`: what a run uploaded, held against its plan; what holds is in the ledger, everything else is one line."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from bot.cli.collected import HEADS
from bot.ledger import LedgerBaselines, publish, wake_id
from bot.model.baseline import Configuration, Question
from bot.model.bench import Gate
from bot.model.ledger import Measured
from tests.cli.publishing import HEAD, RUN, Runs
from tests.fakes.uploads import DIGEST, Uploads, folders, packed, report


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
        assert 'x-axis "concurrency" ["1", "16"]' in page and "line [900.00, 14400.00]" in page
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
