"""One deployment has one topology and one workload, whoever names it: the recipe, a result file, the published row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.recipe import matrix, rows
from bot.results.topology import topology, workload
from tests.results.made import agentic

SIZES = {"pp": "pp", "dcp-size": "dcp_size", "pcp-size": "pcp_size", "ep": "ep"}
sides = st.fixed_dictionaries({"tp": st.sampled_from([1, 4, 8, 16]), "dp-attn": st.booleans()},
                              optional={name: st.sampled_from([1, 2, 8]) for name in SIZES})


def measured(side: dict, prefix: str = "", text: bool = True) -> dict:
    """The sizes of one role as a result row has them: every size, and the switch as text; the published row has a boolean."""
    told = {f"{prefix}{written}": side.get(name, 1) for name, written in SIZES.items()}
    switch = str(side["dp-attn"]).lower() if text else side["dp-attn"]
    return told | {f"{prefix}tp": side["tp"], f"{prefix}dp_attention": switch}


class TestATopology:
    @given(sides)
    def test_of_one_node_is_the_recipes(self, side) -> None:
        assert topology(measured(side) | {"disagg": False}) == matrix.topology(side)

    @given(sides, st.integers(1, 3))
    def test_of_aggregated_workers_is_the_recipes_in_the_file_and_as_published(self, side, workers) -> None:
        point = matrix.topology({"prefill": side | {"num-worker": workers}, "decode": side | {"num-worker": 0}})
        file = {"disagg": False, **measured(side, "prefill_"), "prefill_num_workers": workers, "decode_tp": 0, "decode_ep": 0,
                "decode_num_workers": 0, "decode_dp_attention": "false"}
        published = {"disagg": False, **measured(side, "prefill_", text=False), **measured(side, "decode_", text=False),
                     "prefill_num_workers": workers, "decode_num_workers": workers}
        assert topology(file) == topology(published) == point

    @given(sides, sides, st.integers(1, 9), st.integers(1, 9))
    def test_of_two_roles_is_the_recipes(self, prefill, decode, one, other) -> None:
        point = matrix.topology({"prefill": prefill | {"num-worker": one}, "decode": decode | {"num-worker": other}})
        row = {**measured(prefill, "prefill_"), **measured(decode, "decode_"), "prefill_num_workers": one, "decode_num_workers": other}
        assert topology(row | {"disagg": True}) == topology(row) == point

    def test_is_written_so(self) -> None:
        assert topology(agentic()) == "TP16/DCP16"
        two = {"disagg": "true", "prefill_tp": 4, "prefill_num_workers": 2, "decode_tp": 8, "decode_ep": 8,
               "decode_dp_attention": True, "decode_num_workers": 1}
        assert topology(two) == "2P(TP4) x 1D(TP8/EP8/DPA)"

    @pytest.mark.parametrize("row", [{"conc": 1}, {"tp": 0}, {"tp": None}, {"tp": True}, {"prefill_tp": 0}, {"tp": "8"},
                                     {"disagg": True, "prefill_tp": 8, "decode_tp": 0}])
    def test_is_unknown_without_sizes(self, row) -> None:
        assert topology(row) is None


class TestAWorkload:
    @given(st.sampled_from([1024, 8192, 512, 1000]), st.sampled_from([1024, 8192, 128]))
    def test_is_the_recipes(self, isl, osl) -> None:
        assert workload({"isl": isl, "osl": osl}) == rows.workload({"isl": isl, "osl": osl})

    def test_of_agents_has_no_lengths(self) -> None:
        named = {"scenario-type": "agentic-coding"}
        assert workload({"scenario_type": "agentic-coding"}) == workload({"benchmark_type": "agentic_traces"}) == rows.workload(named)
        assert workload({"isl": 0, "osl": 0}) is None
