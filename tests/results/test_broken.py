"""Files that do not hold are refused with file and position, and nothing of them is used."""

from __future__ import annotations

import json

import pytest

from bot.errors import BadInput
from bot.results import collect
from tests.results.made import EXAMPLES, RECIPE, agentic, fixed, jsonl, request, sample, stream


def read(value, name="a/agg.json"):
    return collect([(name, stream(value))], recipe=RECIPE, run=7, attempt=2, head="f" * 40)


class TestABrokenFile:
    @pytest.mark.parametrize("format, example", EXAMPLES.items(), ids=list(EXAMPLES))
    def test_cut_anywhere_is_refused_or_not_claimed_but_never_half_read(self, format, example) -> None:
        name, data = example
        whole = collect([(name, stream(data))], recipe="r")
        for end in range(1, len(data.rstrip()), max(1, len(data) // 40)):
            try:
                told = collect([(name, stream(data[:end]))], recipe="r")
            except BadInput as error:
                assert error.file == name
            else:
                assert not told.rows and not told.accounting and not told.samples and not told.reliability
        assert whole.rows or whole.accounting or whole.samples or whole.reliability

    @pytest.mark.parametrize(
        "text, why",
        [
            (b'"total_tput_tps": NaN', "NaN"),
            (b'"total_tput_tps": Infinity', "Infinity"),
            (b'"total_tput_tps": 1e999', "finite"),
            (b'"total_tput_tps": -3.5', "negative"),
            (b'"total_tput_tps": "917"', "number is expected"),
            (b'"total_tput_tps": true', "number is expected"),
            (b'"total_tput_tps": 1, "total_tput_tps": 2', "twice"),
            (b'"total_tput_tps": null', "no throughput"),
        ],
    )
    def test_with_a_value_that_is_none_is_refused_with_file_and_key(self, text, why) -> None:
        data = json.dumps(agentic()).encode().replace(b'"total_tput_tps": 917.3', text)
        with pytest.raises(BadInput, match=why) as raised:
            read(data, "b/row_conc1.json")
        assert raised.value.file == "b/row_conc1.json" and ("tput" in str(raised.value) or "not a JSON number" in str(raised.value))

    @pytest.mark.parametrize("rows", [[agentic(), agentic()], [fixed(), fixed(tput=9.0)]])
    def test_with_a_point_twice_is_refused(self, rows) -> None:
        with pytest.raises(BadInput, match="stands twice"):
            read(rows)

    @pytest.mark.parametrize("conc", [0, -1, 1.5, "16", None, True])
    def test_with_a_concurrency_that_is_none_is_refused(self, conc) -> None:
        with pytest.raises(BadInput, match="conc"):
            read(agentic(conc))

    @pytest.mark.parametrize(
        "broken, why",
        [
            (jsonl([request(0), request(0)]), "stands twice"),
            (jsonl([request(0), request(1, request_end_ns=5)]), "before it starts"),
            (jsonl([request(0), request(1, phase="later")]), "unknown phase"),
            (jsonl([request(0)]) + b'{"metadata": {', "not JSON"),
            (jsonl([request(0)]) + b'{"a": 1, "a": 2}', "twice"),
            (jsonl([request(0)]) + b"[]", "object is expected"),
            (jsonl([request(0)]) + b"\xff\n", "UTF-8"),
        ],
    )
    def test_of_lines_names_the_line(self, broken, why) -> None:
        with pytest.raises(BadInput, match=why) as raised:
            read(broken, "a_conc1_/profile_export.jsonl")
        assert raised.value.line == 2 and "profile_export.jsonl:2:" in str(raised.value)

    def test_of_answers_with_a_question_twice_is_refused(self) -> None:
        with pytest.raises(BadInput, match="question 0 stands twice"):
            read(jsonl([sample(0, "#### 7", True), sample(0, "#### 7", True)]), "e_conc4/samples_gsm8k.jsonl")
