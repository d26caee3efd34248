"""The end of a run as a person reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.bench import told
from bot.model.bench import Gate, Report, Setting
from tests.fakes.benches import METRICS, Bench, eval_order


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    return Bench(tmp_path).put_on(monkeypatch).measure()


def table(report: Report, head: str) -> list[tuple[object, ...]]:
    """The rows of the table whose first column is called so."""
    return next((list(part.rows) for part in told.tables(report, METRICS) if part.heads[0] == head), [])


class TestTheEnd:
    def test_is_one_line_first(self, report: Report) -> None:
        assert told.line(report) == "own c2: complete, every gate holds"
        assert told.line(replace(report, state="refused")) == "own c2: refused"
        failed = replace(report, gates=(Gate(name="windows", passed=False), Gate(name="eval", passed=False)), order=eval_order())
        assert told.line(failed) == "own c2 eval gsm8k: complete, gates that do not hold: windows, eval"

    def test_says_of_how_many_gates_nobody_knows_and_of_which(self, report: Report) -> None:
        open_ = (Gate(name="image", passed=None), *(Gate(name="json", passed=None, stream=stream) for stream in (False, True)))
        assert told.line(replace(report, gates=(*report.gates, *open_))) == "own c2: complete, 3 of 6 gates unknown: image, json"
        failed = (*open_, Gate(name="stream", passed=False))
        assert told.line(replace(report, gates=failed)).endswith("gates that do not hold: stream; 3 of 4 gates unknown: image, json")

    def test_tells_the_median_of_repeats_and_how_far_they_lie_apart(self, report: Report) -> None:
        row = next(row for row in table(report, "metric") if row[0] == "output_tput")
        assert row == ("output_tput", "", "321.50", "tok/s", "321.00 to 322.00", "")

    def test_tells_counts_gates_and_seconds(self, report: Report) -> None:
        assert table(report, "requests") == [("warmup", 2), ("profiled", 8)]
        assert [row[3] for row in table(report, "gate")] == ["holds"] * 3 and ("harness", "1.0") in table(report, "spent")

    def test_tells_only_settings_that_are_not_as_asked(self, report: Report) -> None:
        seen = [Setting(name=name, asked=8, effective=4, state=state)
                for name, state in (("a", "same"), ("b", "lowered"), ("c", "unknown"), ("d", "unknown"))]
        assert table(replace(report, settings=tuple(seen)), "setting") == [("b", 8, 4, "lowered"), ("2 more", "", "", "unknown")]

    def test_names_files_and_cuts_a_long_list(self, report: Report) -> None:
        assert len(table(report, "file")) == len(report.files)
        assert table(replace(report, files=report.files * 20), "file")[-1][0] == f"{len(report.files) * 20 - told.SHOWN} more"
