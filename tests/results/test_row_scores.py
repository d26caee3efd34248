"""Scores in row files: the share and the counts behind it are two ways to say one thing."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.model.result import Row
from bot.results import rowfile
from bot.results.parsed import Context


def read(*rows: dict[str, object], name: str = "rows.jsonl") -> tuple[Row, ...]:
    data = "".join(json.dumps({"point": {"concurrency": place}, "metric": "eval", "task": "gsm8k", **one}) + "\n"
                   for place, one in enumerate(rows, start=1))
    return rowfile.parse(io.BytesIO(data.encode()), name, Context(recipe="r")).rows


class TestAScoreAndItsCounts:
    @pytest.mark.parametrize("value", [1271 / 1319, 0.96361, 0.9636, 0.963, 0.96])
    def test_agree_however_the_share_is_rounded_or_cut(self, value) -> None:
        assert read({"value": value, "correct": 1271, "n": 1319})[0].correct == 1271

    @pytest.mark.parametrize("value, correct, n", [(0.5, 1271, 1319), (0.80, 1300, 1319), (0.9736, 1271, 1319), (1.0, 0, 10)])
    def test_that_contradict_each_other_are_refused_with_file_and_line(self, value, correct, n) -> None:
        """A baseline of "0.5000" with 1271 of 1319 right turned any fall into a gain of 46 points."""
        with pytest.raises(BadInput, match=f"{correct} right of {n}") as raised:
            read({"value": 0.5, "n": 10, "correct": 5}, {"value": value, "correct": correct, "n": n})
        assert (raised.value.file, raised.value.line, raised.value.key) == ("rows.jsonl", 2, "value")

    def test_of_no_question_are_refused(self) -> None:
        with pytest.raises(BadInput, match="not a whole number from 1 up"):
            read({"value": 0.9, "n": 0})

    def test_without_counts_stand_alone(self) -> None:
        assert [one.value for one in read({"value": 0.9}, {"value": 0.8, "n": 100})] == [0.9, 0.8]

    @given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(2, 17))
    def test_agree_at_every_rounding_from_the_percent_on(self, counted, places) -> None:
        correct, n = counted
        assert read({"value": round(correct / n, places), "correct": correct, "n": n})[0].n == n
