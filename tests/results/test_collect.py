"""Many files into one set of rows: who claims what, where a point's concurrency comes from, what two files may say."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.results import collect
from bot.results.places import Beside, of_name, resolve
from tests.results.made import EXAMPLES, agentic, eval_row, jsonl, lm_results, request, stream, summary


class OneWay(io.RawIOBase):
    """A stream that cannot go back, as a member of an archive may be."""

    def __init__(self, data: bytes) -> None:
        self._inner = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._inner.read(size)


class TestCollecting:
    @given(st.permutations(sorted(EXAMPLES)))
    def test_does_not_depend_on_the_order_of_files(self, order) -> None:
        together = collect([(EXAMPLES[key][0], stream(EXAMPLES[key][1])) for key in order], recipe="")
        assert together == collect([(EXAMPLES[key][0], stream(EXAMPLES[key][1])) for key in sorted(EXAMPLES)], recipe="")

    def test_reads_streams_that_cannot_go_back(self) -> None:
        data = jsonl([request(number) for number in range(2000)])
        name = "agentic_conc1_/profile_export.jsonl"
        assert collect([(name, OneWay(data))], recipe="r") == collect([(name, stream(data))], recipe="r")

    def test_names_what_it_skipped(self) -> None:
        told = collect([("logs/server.log", stream(b"INFO started")), ("bmk_conc1_/r.json", stream(agentic()))], recipe="r")
        assert [(s.name, s.why) for s in told.skipped] == [("logs/server.log", "not-a-result")] and told.rows

    def test_counts_a_value_once_that_two_files_tell(self) -> None:
        row, gathered = agentic(), [agentic()]
        told = collect([("bmk_agentic_conc1_/r.json", stream(row)), ("results_bmk/agg.json", stream(gathered))], recipe="r")
        assert told.rows == collect([("b/r.json", stream(row))], recipe="r").rows

    def test_keeps_the_more_exact_of_two_spellings_of_a_score(self) -> None:
        files = [
            ("eval_results_all/agg_eval_all.json", [eval_row(strict=0.8333, flexible=1.0, n_eff=30)]),
            ("eval_conc16_/results.json", lm_results(25 / 30, 30)),
        ]
        for order in (files, files[::-1]):
            told = collect([(name, stream(data)) for name, data in order], recipe="r")
            assert [r.value for r in told.rows if r.stat == "strict"] == [25 / 30]

    def test_prefers_the_guests_row_to_the_load_generators_own(self) -> None:
        files = [("agentic_conc1_/profile_export_aiperf.json", summary(1)), ("bmk_agentic_conc1_/r.json", agentic())]
        told = collect([(name, stream(data)) for name, data in files], recipe="r")
        assert told.rows == collect([("b/r.json", stream(agentic()))], recipe="r").rows

    def test_refuses_two_different_values_for_one_point(self) -> None:
        files = [("bmk_conc1_a/r.json", stream(agentic())), ("bmk_conc1_b/r.json", stream(agentic(tput=980.0)))]
        with pytest.raises(BadInput, match="bmk_conc1_a/r.json"):
            collect(files, recipe="r")


class TestThePlaceOfAFile:
    @pytest.mark.parametrize(
        "part, conc",
        [
            ("rf_conc16_runner-3", 16),
            ("samples_gsm8k_conc8.jsonl", 8),
            ("conc4", 4),
            ("eval_conc1x2x4_n0", None),
            ("aconc4", None),
            ("results.json", None),
            ("rf_concurrent16", None),
            ("x_conc0_", None),
        ],
    )
    def test_is_read_from_names_that_say_one_concurrency(self, part, conc) -> None:
        assert of_name(part) == conc

    def test_is_what_is_nearest(self) -> None:
        beside, nothing = Beside(), Beside()
        beside.tell("art_conc1_/a/x", 2)
        beside.tell("art_conc1_/x", 8)
        assert resolve("art_conc1_/a/results_conc4.json", beside) == 4
        assert resolve("art_conc1_/a/results.json", beside) == 2
        assert resolve("art_conc1_/b/results.json", beside) == 8
        assert resolve("art_conc1_/b/results.json", nothing) == 1
        assert resolve("art/b/results.json", nothing) is None
