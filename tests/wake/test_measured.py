"""Results that `bumpbot bench` left: evidence where a run ended, and none where it did not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.results.made import summary
from tests.results.made_tools import own_row, report
from tests.wake.made import artifact, job, judged, log, zipped


def held(told: dict[str, Any]) -> Any:
    """The results artifact of a run: report, rows, and the tool's own files."""
    rows = "".join(f"{json.dumps(row)}\n" for row in told["rows"])
    return artifact(1, "bmk_r_conc4_attempt1"), zipped({
        "bench.json": told, "rows.jsonl": rows, "SHA256SUMS": "", "aiperf/profile_runs/run_0001/inputs.json": "{}",
        "aiperf/profile_runs/run_0001/profile_export_aiperf.json": summary(4)})


class TestARun:
    def test_that_ended_is_evidence_once(self) -> None:
        found = judged([job()], held(report()))
        assert found is not None and [(row.metric, row.value) for row in found.rows] == [("output_tput", 917.3)]
        assert [(one.profiled, one.profiling_invalid) for one in found.accounting] == [(29, 3)] and found.notes == ()
        assert {one.kind for one in found.reported} == {"version", "digest", "image"} and found.proofs

    @pytest.mark.parametrize("state", ["running", "partial", "refused"])
    def test_that_did_not_is_none_and_says_so(self, state: str) -> None:
        found = judged([job(conclusion="failure")], held(report(state=state, rows=[own_row(flags=["partial-run"])])), log())
        assert found is not None and found.rows == () and found.accounting == ()
        assert [one.why for one in found.refused] == ["bmk_r_conc4_attempt1/bench.json: partial-run"] and found.failures
