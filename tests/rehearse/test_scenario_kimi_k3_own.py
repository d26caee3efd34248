"""The bump under the bot's own policy, as data: what its runs upload says what the story needs it to say, and no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pytest

from bot.adapters.published import ApiSource, PublishedBaselines
from bot.diagnose import signatures
from bot.diagnose.eval_cause import gate_cause
from bot.diagnose.triage import triage
from bot.model.result import Baseline
from bot.rehearse import scenario
from bot.rehearse.clock import VirtualClock
from bot.rehearse.published import LoopbackPublished, PublishedData
from bot.results import Collected, collect, load_metrics
from bot.verdict.compare import compare
from bot.verdict.gates import failed_requests, scores
from tests.fakes import asked
from tests.rehearse import make_kimi_k3_gb200
from tests.rehearse.kimi_k3_gb200 import numbers, own, uncapped

BOT = Path(scenario.__file__).parents[1]
CAPPED, UNCAPPED = (BOT / "rehearse/scenarios" / name for name in (make_kimi_k3_gb200.NAME, make_kimi_k3_gb200.UNCAPPED))
BOTH = pytest.mark.parametrize("folder", [CAPPED, UNCAPPED], ids=lambda folder: folder.name)
KNOWN = signatures.load((BOT / "knowledge/signatures.yaml").read_text(), "signatures.yaml")
METRICS = load_metrics((BOT / "knowledge/metrics.yaml").read_text(), file="metrics.yaml")
FIXED = (uncapped.SAMPLE, uncapped.LOWEST, uncapped.HIGHEST, uncapped.SWEEP)


@contextmanager
def files(folder: Path, run: int, *, logs: bool) -> Iterator[list[tuple[str, BinaryIO]]]:
    """The files of a run's logs, or of its results, as the bot reads them."""
    here = folder / f"artifacts/{run}/1"
    found = [file for file in sorted(here.rglob("*")) if file.is_file() and ("server_logs" in file.parts[-2]) == logs]
    with ExitStack() as stack:
        yield [(str(file.relative_to(here)), stack.enter_context(file.open("rb"))) for file in found]


def diagnosed(folder: Path, run: int) -> Any:
    with files(folder, run, logs=True) as streams:
        return triage(streams, KNOWN)


def results(folder: Path, run: int) -> Collected:
    with files(folder, run, logs=False) as streams:
        return collect(streams, recipe=numbers.RECIPE, run=run, attempt=1, head="0" * 40)


@pytest.fixture(scope="module")
def baseline() -> Iterator[Baseline]:
    """What the world publishes of the old image."""
    server = LoopbackPublished(msgspec.json.decode((CAPPED / "baseline.json").read_bytes(), type=PublishedData))
    server.start()
    try:
        clock = VirtualClock(datetime(2026, 9, 10, tzinfo=UTC))
        source = ApiSource(clock, base_url=f"{server.url}/api/v1", companion_url=f"{server.url}/companion")
        found = asked.baseline(
            PublishedBaselines(source, METRICS), numbers.RECIPE, model="kimik3", image=numbers.OLD, fingerprint=numbers.FINGERPRINT
        )
        assert found is not None
        yield found
    finally:
        server.stop()


class TestTheTwoFailedStages:
    @BOTH
    def test_the_first_ends_as_the_record_did_before_a_question_was_asked(self, folder: Path) -> None:
        told = diagnosed(folder, own.FIRST)
        assert (told.signature, told.confidence, told.repair) == ("vllm-cli-args-moved", "sure", "native-chat-processor")
        assert results(folder, own.FIRST) == Collected()

    @BOTH
    def test_of_the_seconds_50_answers_nine_are_cut_and_the_whole_ones_would_pass(self, folder: Path) -> None:
        (told,) = results(folder, own.SECOND).samples
        assert (told.n, told.correct, told.cut, told.wrong) == (100, 78, 18, 4)
        assert told.correct / (told.n - told.cut) > 0.9

    @BOTH
    def test_so_its_gate_fails_by_the_tool_parser_and_the_repair_moves_the_coupled_pin(self, folder: Path) -> None:
        found, warned = results(folder, own.SECOND), diagnosed(folder, own.SECOND).warnings
        gated = scores(found.rows, {"gsm8k": 0.9}, (), samples=found.samples)
        assert [(score.metric, score.value, score.passed) for score in gated] == [("strict", 0.78, False), ("flexible", 0.88, False)]
        told = gate_cause(gated, warned, KNOWN)
        assert (told.signature, told.class_, told.confidence) == ("kimi-k3-incomplete-call", "tool-parser", "sure")
        assert told.repair == "dynamo-scoped-tool-parsing"

    def test_both_stories_tell_them_alike(self) -> None:
        for run in (own.FIRST, own.SECOND):
            one, other = (
                {file.relative_to(folder): file.read_bytes() for file in (folder / f"artifacts/{run}").rglob("*") if file.is_file()}
                for folder in (CAPPED, UNCAPPED)
            )
            assert one == other and one


class TestWhatTheSecondRepairMeasures:
    @pytest.mark.parametrize("run", FIXED)
    def test_no_log_warns_or_fails_and_each_server_runs_the_new_pin(self, run: int) -> None:
        told = diagnosed(UNCAPPED, run)
        assert (told.first_error, told.class_, told.warnings) == (None, None, {})
        with files(UNCAPPED, run, logs=True) as streams:
            texts = [stream.read().decode() for name, stream in streams if not name.endswith("benchmark.out")]
        assert texts and all("source at 5d0c41e" in text and "ba83080" not in text for text in texts)

    def test_the_sampled_eval_passes_with_whole_answers(self) -> None:
        found = results(UNCAPPED, uncapped.SAMPLE)
        (told,) = found.samples
        assert (told.n, told.correct, told.cut) == (100, 98, 0)
        assert all(score.passed for score in scores(found.rows, {"gsm8k": 0.9}, (), samples=found.samples))

    def test_every_point_is_there_under_the_candidates_image_and_its_fingerprint(self) -> None:
        rows = [row for row in results(UNCAPPED, uncapped.SWEEP).rows if row.metric == "tput_per_gpu"]
        assert [row.point.concurrency for row in rows] == [1, 2, 4, 8, 16]
        assert {row.image for row in rows} == {numbers.NEW}
        assert {row.point.fingerprint for row in rows} == {numbers.fingerprint(numbers.NEW)}

    def test_the_smokes_points_are_of_that_image_too(self) -> None:
        for run, conc in ((uncapped.LOWEST, 1), (uncapped.HIGHEST, 16)):
            rows = results(UNCAPPED, run).rows
            assert {(row.point.concurrency, row.image) for row in rows} == {(conc, numbers.NEW)}

    def test_no_request_failed_at_any_point(self) -> None:
        gates = failed_requests(results(UNCAPPED, uncapped.SWEEP).accounting)
        assert [(gate.concurrency, gate.invalid, gate.passed) for gate in gates] == [(conc, 0, True) for conc in (1, 2, 4, 8, 16)]

    def test_the_requests_of_c1_give_its_aggregate(self) -> None:
        for run in (uncapped.LOWEST, uncapped.SWEEP):
            here = UNCAPPED / f"artifacts/{run}/1"
            lines = next(here.glob("agentic_*/aiperf_artifacts/profile_export.jsonl")).read_text().splitlines()
            told = json.loads(next(here.glob("bmk_agentic_*_conc1_*/*.json")).read_text())
            kept = [row for row in map(json.loads, lines) if row["metadata"]["benchmark_phase"] == "profiling"]
            assert (len(lines), len(kept)) == (told["num_requests_total"], told["num_requests_successful"])
            tokens = sum(row["metrics"]["output_sequence_length"]["value"] for row in kept)
            measured = told["request_metrics"]["throughput"]
            assert tokens / measured["duration_seconds"] == pytest.approx(measured["output"]["tokens_per_second"])

    def test_against_the_published_baseline_they_are_neutral_and_every_eval_passes(self, baseline: Baseline) -> None:
        found = results(UNCAPPED, uncapped.SWEEP)
        again = [row for run in (uncapped.LOWEST, uncapped.HIGHEST) for row in results(UNCAPPED, run).rows]
        gated = scores(found.rows, {"gsm8k": 0.9}, baseline.rows)
        assert {(score.concurrency, score.passed) for score in gated} == {(conc, True) for conc in (1, 2, 4, 8, 16)}
        told = compare(
            found.rows, baseline.rows, repeat=again, metrics=METRICS, scores=gated, accounting=found.accounting,
            baseline_accounting=baseline.accounting, reasons=("serving-path-changed",),
        )  # fmt: skip
        assert (told.verdict, told.rerun) == ("neutral", ())
        pooled = {finding.metric: finding.finding for finding in told.findings if finding.point is None and finding.metric != "eval"}
        assert pooled == {"tput_per_gpu": "neutral", "ttft": "improved", "itl": "improved"}


class TestTheFolder:
    def test_the_script_makes_these_bytes_again_and_nothing_else_lies_here(self, tmp_path: Path) -> None:
        make_kimi_k3_gb200.make_uncapped(tmp_path)
        made = {file.relative_to(tmp_path): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
        held = {file.relative_to(UNCAPPED): file.read_bytes() for file in UNCAPPED.rglob("*") if file.is_file()}
        assert made == held

    def test_it_is_small_and_shares_the_rest(self) -> None:
        assert sum(file.stat().st_size for file in UNCAPPED.rglob("*") if file.is_file()) < 1_500_000
        assert {place.name for place in UNCAPPED.iterdir()} == {"scenario.yaml", "artifacts"}
        told = scenario.load(UNCAPPED)
        assert told.repo == CAPPED / "repo" and told.declared.shares == CAPPED.name

    @BOTH
    def test_it_says_what_of_it_nobody_ran(self, folder: Path) -> None:
        told = scenario.load(folder, "own").declared
        assert "invented" in told.about and "invented" in told.attribution

    def test_that_its_sweep_is_invented_stands_in_the_first_words(self) -> None:
        assert "its sweep above all" in scenario.load(UNCAPPED).declared.about

    def test_only_the_cap_tells_both_policies_apart(self) -> None:
        one, other = (scenario.load(folder, "own").story.policy for folder in (CAPPED, UNCAPPED))
        assert msgspec.structs.replace(one, caps=other.caps) == other and one.caps.gpu_hours < other.caps.gpu_hours
