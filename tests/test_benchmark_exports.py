"""The benchmark of large request exports: its export is one, and its three readings of it agree. How long they take is no test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import exports
from benchmarks.requests import write
from bot.adapters.processes import Processes
from bot.strict import json_value

ENTRIES = 3000


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("export") / "profile_export.jsonl"
    write(made, ENTRIES)
    return made


class TestTheExport:
    def test_is_the_same_at_each_run(self, file, tmp_path) -> None:
        write(tmp_path / "again.jsonl", ENTRIES)
        assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()

    def test_is_of_real_size_and_of_each_kind_of_line(self, file) -> None:
        lines = [json_value(line, file="x") for line in file.read_text().splitlines()]
        assert 2600 < file.stat().st_size / len(lines) < 3000
        phases = [line["metadata"]["benchmark_phase"] for line in lines]
        assert 0 < phases.count("warmup") < 100 and any("error" in line for line in lines)
        assert any(line["metrics"] and "inter_token_latency" not in line["metrics"] for line in lines)
        talks = [line["metadata"]["conversation_id"] for line in lines]
        assert max(map(talks.count, set(talks))) == 6


class TestTheReadings:
    def test_agree(self, file) -> None:
        told = exports.reference(file)
        assert exports.apart(exports.bumpbot(file), told) <= exports.CLOSE
        assert exports.apart(exports.bumpbot(file, Processes(2, least=1_000_000)), told) <= exports.CLOSE
        assert told["total"] == ENTRIES and told["profiling_invalid"] > 0 and told["ttft p50"] == pytest.approx(0.027, rel=0.05)

    def test_that_differ_are_told(self, file) -> None:
        assert exports.apart({"a": 1.0}, {"a": 1.1}) == pytest.approx(1 / 11) and exports.apart({}, {"a": 1.0}) == float("inf")

    @pytest.mark.parametrize("way", exports.WAYS)
    def test_are_measured(self, file, way) -> None:
        told = json.loads(json.dumps(exports.measured(way, file)))
        assert told["seconds"] > 0 and told["memory"] > 1 and bool(told["numbers"]) == (way != "loads")
