"""A recipe's point and a published row in one spelling: what stands in for a fingerprint where none was published."""

from __future__ import annotations

import pytest

from bot.baseline.identity import of_row, plain, question
from bot.model.recipe import EvalSpec, Point, Recipe
from bot.results.lines import hardware

ROW = {"hardware": "gb200", "framework": "mori-sglang", "model": "dsr1", "precision": "fp4", "spec_method": "none", "disagg": True,
       "prefill_tp": 4, "prefill_ep": 4, "prefill_dp_attention": True, "prefill_num_workers": 2, "decode_tp": 8, "decode_ep": 1,
       "decode_dp_attention": False, "decode_num_workers": 1, "benchmark_type": "single_turn", "isl": 1024, "osl": 8192, "conc": 64}


def point(conc=64, fingerprint="a1", kind="throughput", **more):
    return Point(**{"id": f"r/{conc}", "recipe": "r", "kind": kind, "image": "x/y:1", "hardware": "gb200", "gpus": 16,
                    "topology": "2P(TP4/EP4/DPA) x 1D(TP8)", "workload": "1024_8192", "concurrency": conc, "runner": "cluster:gb200-nv",
                    "fingerprint": fingerprint, "speculation": "none", "offload": "none", **more})


def recipe(*points, **more):
    return Recipe(**{"key": "r", "file": "f", "image": "x/y:1", "sites": (), "model": "deepseek-ai/DeepSeek-R1", "hardware": "gb200",
                     "framework": "sglang-disagg", "precision": "nvfp4", "prefix": "dsr1", "points": points, **more})


class TestOneConfiguration:
    def test_of_a_recipe_and_of_what_was_published_of_it_is_spelt_alike(self):
        (one,) = question(recipe(point())).configurations
        assert one.identity == of_row(ROW) == "gb200|mori-sglang|fp4|none|2P TP4/EP4/DPA x 1D TP8|1024_8192|off"

    @pytest.mark.parametrize("other", [{"disagg": False}, {"decode_num_workers": 2}, {"prefill_dp_attention": False}, {"isl": 1000},
                                       {"spec_method": "mtp"}, {"offload_mode": "on"}, {"precision": "fp8"}, {"hardware": "gb300"}])
    def test_is_another_where_one_word_differs(self, other):
        (one,) = question(recipe(point())).configurations
        assert of_row({**ROW, **other}) != one.identity

    @pytest.mark.parametrize("lacking", [{"isl": None}, {"spec_method": 7}, {"prefill_tp": None, "decode_tp": None, "disagg": False,
                                                                            "prefill_ep": None, "prefill_dp_attention": False}])
    def test_is_none_where_a_row_does_not_tell(self, lacking):
        assert of_row({**ROW, **lacking}) == ""

    def test_mirrored_into_both_roles_is_one_aggregated_worker(self):
        assert "|TP4/EP4/DPA|" in of_row({**ROW, "disagg": False, "prefill_num_workers": 0, "decode_tp": 4, "decode_num_workers": 0})


class TestTheQuestion:
    def test_has_one_configuration_a_fingerprint_and_its_concurrencies(self):
        gate = EvalSpec(task="gsm8k", threshold=0.9)
        asked = question(recipe(point(64), point(8), point(32, "b2", topology="TP8"), point(8, kind="eval", eval=gate)))
        assert [(one.fingerprint, one.concurrencies, one.topology) for one in asked.configurations] == [
            ("a1", (8, 64), "2P(TP4/EP4/DPA) x 1D(TP8)"), ("b2", (32,), "TP8")]
        assert (asked.model, asked.hardware, asked.framework, asked.precision, asked.evals) == (
            "dsr1", "gb200", "mori-sglang", "fp4", (gate,))

    def test_of_a_recipe_of_our_own_can_be_answered_by_fingerprint_alone(self):
        (one,) = question(recipe(point(speculation="", offload=""))).configurations
        assert one.identity == ""


@pytest.mark.parametrize(("label", "machine"), [("cluster:gb200-nv", "gb200"), ("b200", "b200"), ("H200-dgxc", "h200")])
def test_a_runner_label_names_a_machine(label, machine):
    assert hardware(label) == machine


def test_spellings_of_one_topology_are_one():
    assert plain("1P(TP8/EP8) x 4D(TP4)") == "1P TP8/EP8 x 4D TP4"
