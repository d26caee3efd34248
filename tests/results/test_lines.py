"""Which line a row is of: lines never match each other, and one line matches itself however it is spelled."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.results import collect
from bot.results.lines import Line, line, renamed
from tests.results.made import agentic, encoded, eval_row, fixed, stream
from tests.results.made_tools import published, vllm_run

B200 = {"hw": "cluster:b200-dgxc", "infmax_model_prefix": "dsv4", "framework": "vllm", "precision": "fp4", "spec_decoding": "none",
        "disagg": False}


def names(*rows, recipe: str = "") -> set[str]:
    return {row.point.recipe for row in collect([("agg_bmk.json", stream(encoded(list(rows))))], recipe=recipe).rows}


class TestALine:
    def test_is_the_same_in_an_artifact_and_in_the_api(self) -> None:
        assert names(fixed(**B200)) == names(published()) == {"dsv4-fp4-b200-vllm"}

    @pytest.mark.parametrize("other", [
        {"infmax_model_prefix": "glm5"}, {"hw": "h200"}, {"precision": "fp8"}, {"framework": "sglang"}, {"spec_decoding": "mtp"},
        {"disagg": True}, {"kv_offloading": "dram"}, {"kv_offloading": "dram", "kv_offload_backend": {"name": "mooncake"}}])
    @pytest.mark.parametrize("made", [fixed, agentic])
    def test_is_another_with_any_part_of_it(self, other, made) -> None:
        assert not line({**made(**B200), **other}).name == line(made(**B200)).name
        if "kv_offloading" not in other:
            assert not line({**made(**B200), **other}).fits(line(made(**B200)))

    def test_that_names_no_backend_is_not_one_that_does(self) -> None:
        assert not line({**B200, "kv_offload_backend": None}).fits(line({**B200, "kv_offload_backend": {"name": "mooncake"}}))

    def test_of_an_eval_is_another_with_another_model(self) -> None:
        assert line(eval_row()).name != line(eval_row(model_prefix="glm5")).name

    @pytest.mark.parametrize("one, other", [({"framework": "trtllm"}, {"framework": "trt"}), ({"precision": "nvfp4"}, {}),
                                            ({"hw": "B200"}, {"hw": "CLUSTER:B200-NV"}), ({"spec_decoding": ""}, {})])
    def test_is_one_in_every_spelling(self, one, other) -> None:
        assert line({**fixed(**B200), **one}) == line({**fixed(**B200), **other})

    def test_by_less_than_another_tells_goes_by_the_others_name(self) -> None:
        told, api = (line({**B200, "kv_offloading": "dram", "kv_offload_backend": {"name": "mooncake"}}),
                     line({**B200, "kv_offloading": "on"}))
        assert renamed([told, api]) == {"dsv4-fp4-b200-vllm-kv-on": "dsv4-fp4-b200-vllm-kv-dram-mooncake"}
        assert renamed([told, line({**B200, "kv_offloading": "none"})]) == {}

    def test_goes_by_a_recipes_name_where_one_is_given(self) -> None:
        assert renamed([line(B200)], ["mine"]) == {"dsv4-fp4-b200-vllm": "mine"}
        assert renamed([line(B200), line({**B200, "hw": "h200"})], ["mine"]) == {}

    def test_of_a_served_model_is_its_name_without_the_folder(self) -> None:
        assert names(vllm_run(model_id="/weights/some/M-1")) == names(vllm_run(model_id="some/m-1")) == {"m-1"}
        assert Line(served="m-1").fits(line(B200)) and not Line(served="m-1").fits(Line(served="m-2"))


class TestResultsOfSeveralLines:
    def test_in_one_list_are_told_apart_at_one_point(self) -> None:
        assert names(fixed(**B200), fixed(**{**B200, "hw": "h200"})) == {"dsv4-fp4-b200-vllm", "dsv4-fp4-h200-vllm"}

    def test_under_one_recipes_name_contradict_each_other(self) -> None:
        with pytest.raises(BadInput, match="rows of dsv4-fp4-h200-vllm stand beside rows of dsv4-fp4-b200-vllm, all as mine"):
            names(fixed(**B200), fixed(16, **{**B200, "hw": "h200"}), recipe="mine")

    def test_count_their_requests_apart(self) -> None:
        made = {"request_accounting": {"records_total": 252, "records_profiled": 234, "records_warmup_dropped": 11,
                                       "records_error_dropped": 17}}
        both = [agentic(**B200, **made), agentic(**{**B200, "hw": "h200"}, **made)]
        told = collect([("a.json", stream(encoded(both)))], recipe="")
        assert [one.recipe for one in told.accounting] == ["dsv4-fp4-b200-vllm", "dsv4-fp4-h200-vllm"]


class TestARun:
    @pytest.mark.parametrize("run", [34422803079, "34422803079"])
    def test_may_be_named_by_digits_in_quotes(self, run) -> None:
        made = {"point": {"concurrency": 1}, "metric": "tput_per_gpu", "value": 1.0, "unit": "tok/s/GPU", "run": run, "attempt": "2"}
        (row,) = collect([("rows.json", stream(encoded([made])))], recipe="").rows
        assert (row.run, row.attempt) == (34422803079, 2)

    @pytest.mark.parametrize("run", ["", "main", "-1", "1" * 40])
    def test_may_be_named_by_nothing_else(self, run) -> None:
        made = {"point": {"concurrency": 1}, "metric": "tput_per_gpu", "value": 1.0, "unit": "tok/s/GPU", "run": run}
        with pytest.raises(BadInput, match=r"rows.json: \[0\].run"):
            collect([("rows.json", stream(encoded([made])))], recipe="")
