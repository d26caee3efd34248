"""Real exports of AIPerf as `bot.results` reads them: each request once, whatever lies beside its record."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from bot.errors import BadInput
from bot.results import Collected, collect
from tests.bench.load.room import RECORDED


def collected(case: str, *, without: Iterable[str] = ()) -> Collected:
    """All files of a recorded case, as they lie below a run's results."""
    root = RECORDED / case / "out"
    files = sorted(path for path in root.rglob("*") if path.is_file() and path.name not in without)
    return collect([(f"aiperf/profile_runs/run_0001/{path.relative_to(root).as_posix()}", path.open("rb")) for path in files],
                   recipe="own")


def rows(made: Collected) -> dict[tuple[str, str | None], float]:
    return {(row.metric, row.stat): row.value for row in made.rows}


class TestARealExport:
    def test_with_a_warm_up_tells_of_the_measured_requests_alone(self) -> None:
        made = collected("whole")
        assert rows(made)["profiled_requests", None] == 6
        assert rows(made)["output_tokens", "mean"] == 8
        assert rows(made)["ttft", "mean"] == pytest.approx(0.035667792)
        assert [(one.concurrency, one.total, one.profiled, one.invalid) for one in made.accounting] == [(2, 8, 6, 0)]

    def test_passes_over_phases_and_the_raw_export(self) -> None:
        skipped = {one.name.removeprefix("aiperf/profile_runs/run_0001/"): one.why for one in collected("whole").skipped}
        for name in ("phases/warmup/profile_export_aiperf.json", "phases/profiling/profile_export_aiperf.json",
                     "profile_export_raw.jsonl", "phase_manifest.json", "inputs.json"):
            assert skipped[name] == "not-a-result"

    def test_counts_failures_by_kind(self) -> None:
        (told,) = collected("faults").accounting
        assert (told.total, told.profiled, told.profiling_invalid) == (14, 10, 2)
        assert told.kinds == {"Internal Server Error": 2}

    def test_of_answers_in_one_piece_has_no_first_token(self) -> None:
        made = rows(collected("plain"))
        assert made["profiled_requests", None] == 5 and not any(metric == "ttft" for metric, _ in made)

    def test_of_a_run_that_was_stopped_is_refused_as_a_whole_and_read_by_its_requests(self) -> None:
        with pytest.raises(BadInput, match="did not complete"):
            collected("stopped")
        made = collected("stopped", without=["profile_export_aiperf.json"])
        assert made.skipped and made.rows == ()  # nothing beside them tells the concurrency

    def test_of_a_server_that_was_down_tells_its_failures(self) -> None:
        made = collected("down")
        assert made.rows == () and [one.kinds for one in made.unplaced] == [{"ClientConnectorError": 6}]


def test_recordings_hold_no_name_of_the_machine_that_made_them() -> None:
    for path in sorted(RECORDED.rglob("*")):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not any(word in text for word in ("/root/", "/home/runner", "/tmp/bumpbot", "site-packages/bot")), path
