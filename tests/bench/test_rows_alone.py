"""`rows.jsonl` without the report beside it: it says of its run what the whole folder says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.model.bench import Counts, Gate
from tests.cli.shell import bumpbot
from tests.fakes.benches import Bench, Took


def measured(root: Path, monkeypatch: pytest.MonkeyPatch, run: int, *, after: bool = True, **took: Any) -> Bench:
    """A whole run; `after`: whether its last gate holds."""
    bench = Bench(root, env={"GITHUB_RUN_ID": str(run)}).put_on(monkeypatch)
    whole, probes = bench._load, bench._probes
    bench.instead["load"] = lambda *given: Took(**{**vars(whole(*given)), **took})
    bench.instead["probes"] = lambda *given: (
        probes(*given) if after or given[3] == "before" else (Gate(name="stream", passed=False, phase="after"),))
    bench.measure()
    return bench


def both(new: Bench, old: Bench) -> Any:
    """What `compare` says of the folders, which must be what it says of their rows alone."""
    told = [bumpbot("compare", new.root / "results" / part, "--baseline", old.root / "results" / part, "--format", "json")
            for part in ("", "rows.jsonl")]
    assert told[0].json == told[1].json
    assert told[0] == told[1]
    return told[0].json


class TestRowsAlone:
    @pytest.fixture
    def old(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
        return measured(tmp_path / "old", monkeypatch, 1, counts=Counts(warmup=2, profiled=200))

    def test_count_the_requests_that_failed(self, old: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        bad = {"gates": (Gate(name="failed-requests", passed=False),), "counts": Counts(profiled=150, failed=20, invalid=30)}
        told = both(measured(tmp_path / "new", monkeypatch, 2, **bad), old)
        found = {one["metric"]: one for one in told["findings"]}
        assert (told["verdict"], found["invalid_requests"]["finding"], found["gates"]["finding"]) == (
            "regressed", "regressed", "inconclusive")
        assert (found["invalid_requests"]["new"], found["invalid_requests"]["n"]) == (0.25, 200)

    def test_name_a_gate_that_failed_after_the_load(self, old: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        new = measured(tmp_path / "new", monkeypatch, 2, after=False, counts=Counts(profiled=200))
        assert {flag for row in new.rows for flag in row["flags"]} == {"gate-failed:stream"}
        assert (told := both(new, old))["verdict"] == "regressed"
        assert [one["how"] for one in told["findings"] if one["metric"] == "gates"] == ["gates:stream"]
        shown = bumpbot("compare", new.root / "results", "--baseline", old.root / "results").out
        assert next(line.split() for line in shown.splitlines() if " gates " in line)[-4:] == ["0", "1", "+1", "gates:stream"]

    def test_of_a_good_run_say_so(self, old: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        told = both(measured(tmp_path / "new", monkeypatch, 2, counts=Counts(profiled=199, failed=1)), old)
        assert [one["finding"] for one in told["findings"] if one["metric"] in ("gates", "invalid_requests")] == ["neutral"]

    @pytest.mark.parametrize("part", [{"value": 1.5}, {"value": -0.1}, {"n": 0.5}])
    def test_that_count_more_than_there_are_are_refused(self, old: Bench, tmp_path: Path, part: dict[str, Any]) -> None:
        row = next(one for one in old.rows if one["metric"] == "invalid_requests")
        (tmp_path / "rows.jsonl").write_text(json.dumps({**row, **part}) + "\n")
        done = bumpbot("compare", tmp_path / "rows.jsonl", "--baseline", tmp_path / "rows.jsonl")
        assert done.code == 1 and f"rows.jsonl:1: {next(iter(part))}" in done.line
