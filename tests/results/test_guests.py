"""A guest's row beside the requests that it was made of: its counts are theirs, or one of the two is of another run."""

from __future__ import annotations

import io
import json

import pytest

from bot.errors import BadInput
from bot.results import collect
from tests.results.exports import export, line
from tests.results.made import agentic

ROW, EXPORT = "bmk_agentic_r_conc1/r_conc1.json", "agentic_r_conc{}/aiperf_artifacts/profile_export.jsonl"


def requests(good: int, failed: int = 0, cancelled: int = 0, warm: int = 2) -> bytes:
    lines = [line(n, phase="warmup") for n in range(warm)] + [line(1000 + n) for n in range(good)]
    lines += [line(2000 + n, error="E") for n in range(failed)] + [line(3000 + n, was_cancelled=True) for n in range(cancelled)]
    return export(lines)


def beside(row: dict, *exports: bytes, conc: int = 1):
    files = [(ROW, io.BytesIO(json.dumps(row).encode()))]
    names = [EXPORT.format(conc)] if len(exports) == 1 else [
        EXPORT.format(conc).replace("aiperf_artifacts", f"run_{n}") for n in range(1, len(exports) + 1)]
    return collect([*files, *((name, io.BytesIO(data)) for name, data in zip(names, exports, strict=True))], recipe="r")


def counted(good: int, failed: int | None = 0, total: int = 0) -> dict:
    made = {"records_total": total or good, "records_profiled": good, "records_warmup_dropped": 0, "records_error_dropped": failed}
    return agentic(num_requests_successful=good, request_accounting=made if failed is not None else None)


class TestAGuestsCounts:
    def test_that_its_requests_give_are_taken_with_what_these_tell_besides(self) -> None:
        (told,) = beside(counted(20), requests(20)).accounting
        assert (told.profiled, told.profiling_invalid) == (20, 0) and told.conversations

    def test_of_no_failure_are_refused_beside_requests_that_failed(self) -> None:
        """An export with nine errors beside a row that says none of 237: the rosier of the two was told."""
        with pytest.raises(BadInput, match="0 measured requests failed at concurrency 1") as raised:
            beside(counted(237), requests(228, failed=9))
        assert raised.value.file == ROW and "profile_export.jsonl has 9" in raised.value.reason

    @pytest.mark.parametrize("said", [19, 31])
    def test_of_what_went_well_are_refused_where_no_reading_of_the_requests_gives_them(self, said) -> None:
        with pytest.raises(BadInput, match=f"{said} requests went well"):
            beside(counted(said, None), requests(20, failed=3, cancelled=2, warm=0))

    @pytest.mark.parametrize("said", [20, 22])
    def test_may_count_requests_that_the_client_ended_itself(self, said) -> None:
        assert beside(counted(said, None), requests(20, failed=3, cancelled=2)).accounting[0].profiled == 20

    def test_may_be_of_one_repetition_or_of_all(self) -> None:
        for said in (20, 40):
            assert beside(counted(said, None), requests(20), requests(20)).accounting[0].profiled == 40

    def test_are_not_held_against_requests_of_another_concurrency(self) -> None:
        assert beside(counted(237), requests(20, failed=3), conc=8).rows
