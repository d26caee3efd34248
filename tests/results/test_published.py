"""The public API's answer as a result file: which rows, of which runs, and what is refused."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.results import collect
from tests.results.made import encoded, stream
from tests.results.made_tools import published


def read(*rows, name="answer.json", recipe=""):
    return collect([(name, stream(encoded(list(rows))))], recipe=recipe)


class TestAnAnswer:
    def test_gives_every_declared_value_with_its_run(self) -> None:
        told = read(published())
        assert {(row.metric, row.stat, row.value, row.run, row.attempt) for row in told.rows} == {
            ("tput_per_gpu", None, 1449.6, 33, 2), ("ttft", "p50", 0.6, 33, 2), ("itl", "p99", 0.05, 33, 2)}
        (point,) = {row.point for row in told.rows}
        assert (point.topology, point.workload, point.concurrency) == ("TP8/DCP2/EP8/DPA", "8k1k", 64)

    def test_under_the_name_of_its_route_is_the_same(self) -> None:
        whole = collect([("a.json", stream(encoded({"benchmarks": [published()]})))], recipe="")
        assert whole == read(published(), name="a.json")

    def test_keeps_older_runs_of_a_point(self) -> None:
        assert {row.run for row in read(published(run=33), published(run=21)).rows} == {33, 21}

    def test_of_several_lines_names_each(self) -> None:
        told = read(published(), published(hardware="h200", spec_method="mtp"))
        assert {row.point.recipe for row in told.rows} == {"dsv4-fp4-b200-vllm", "dsv4-fp4-h200-vllm-mtp"}
        assert {row.point.recipe for row in read(published()).rows} == {"dsv4-fp4-b200-vllm"}

    def test_with_a_point_twice_in_one_run_is_refused(self) -> None:
        with pytest.raises(BadInput, match=r"answer.json: \[1\]: concurrency 64 stands twice: the other is \[0\]"):
            read(published(), published())

    @pytest.mark.parametrize("other, key", [({"metrics": {}}, "metrics"), ({"conc": None}, "conc"), ({"metrics": None}, "metrics"),
                                            ({"image": 3}, "image")])
    def test_without_what_it_must_have_is_refused(self, other, key) -> None:
        with pytest.raises(BadInput) as raised:
            read(published(**other))
        assert raised.value.key == f"[0].{key}"
