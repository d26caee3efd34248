"""A folder that `bumpbot bench` filled: its report speaks for the exports below it, and one that did not end for nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.errors import BadInput
from bot.results import collect
from tests.results.made import encoded, lm_results, request, sample, stream, summary
from tests.results.made_tools import counter, own_row, report, server
from tests.results.test_strict import METRICS

PARTIAL = own_row(flags=["partial-run"])


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def folder(told: dict[str, Any], rows: bytes = b"", **others: bytes) -> list[tuple[str, Any]]:
    """The files of one results artifact."""
    files = {"bench.json": encoded(told), "rows.jsonl": rows, "SHA256SUMS": b"",
             "aiperf/profile_runs/run_0001/profile_export_aiperf.json": encoded(summary(4)),
             "aiperf/profile_runs/run_0001/profile_export.jsonl": lines(request(0), request(1, error="TimeoutError")),
             "aiperf/profile_runs/run_0001/inputs.json": b"{}", **others}
    return [(f"bench_own_conc4_attempt1/{name}", stream(data)) for name, data in files.items()]


def read(files: list[tuple[str, Any]], **told: Any):
    return collect(files, recipe=told.pop("recipe", "own"), metrics=METRICS, **told)


class TestARunThatEnded:
    def test_counts_once_whatever_lies_beside_its_rows(self) -> None:
        told = read(folder(report(), lines(own_row())))
        assert [(row.metric, row.value, row.point.workload, row.image[:25]) for row in told.rows] == [
            ("output_tput", 917.3, "chat", "vllm/vllm-openai:v0.25.1@")]
        assert told.skipped == ()

    def test_is_judged_by_its_own_count_of_requests(self) -> None:
        (counted,) = read(folder(report(), lines(own_row()))).accounting
        assert (counted.concurrency, counted.total, counted.profiled, counted.profiling_invalid, counted.kinds) == (
            4, 36, 29, 3, {"no-finish-reason": 2})

    def test_says_what_server_and_launcher_said(self) -> None:
        told = {(one.kind, one.value, one.engine, one.concurrency) for one in read(folder(report())).reported}
        assert told == {("version", "0.25.1", "vllm", 4), ("digest", f"sha256:{'a' * 64}", "", 4),
                        ("image", "vllm/vllm-openai:v0.25.1", "", 4)}

    def test_of_a_command_launched_no_image(self) -> None:
        told = report(launched={"launcher": "process", "image": "vllm/vllm-openai:v0.25.1", "digest": None})
        assert {one.kind for one in read(folder(told)).reported} == {"version"}

    def test_keeps_what_only_an_export_tells(self) -> None:
        told = read(folder(report(), **{"aiperf/server_metrics_export.json": encoded(server(**{"vllm:prefix_cache_hits": counter(1.0)}))}))
        assert {row.metric for row in told.rows} == {"output_tput"} and len(told.reported) >= 3

    def test_of_an_eval_has_its_answers_held_against_its_score(self) -> None:
        score = own_row(metric="eval", value=1.0, unit="share", task="gsm8k", stat="strict", n=1, correct=1)
        told = report(rows=[score], order=report()["order"] | {"kind": "eval"}, counts={"profiled": 1})
        answers = {"lm_eval/whole/results_2026.json": encoded(lm_results(1.0, 1)),
                   "lm_eval/whole/samples_gsm8k_2026-09-10T11.jsonl": lines(sample(0, "so 7\n#### 7", True))}
        good = read(folder(told, **answers))
        assert [(row.task, row.value) for row in good.rows] == [("gsm8k", 1.0)] and good.accounting == ()
        assert [(one.concurrency, one.correct) for one in good.samples] == [(4, 1)]
        answers["lm_eval/whole/samples_gsm8k_2026-09-10T11.jsonl"] = lines(sample(0, "no", False))
        with pytest.raises(BadInput, match="the answers to gsm8k score 0"):
            read(folder(told, **answers))

    def test_speaks_for_its_own_folder_alone(self) -> None:
        other = [("other_conc8/profile_export_aiperf.json", stream(summary(8)))]
        assert {row.point.concurrency for row in read([*folder(report()), *other]).rows} == {4, 8}

    @pytest.mark.parametrize("nested", [True, False])
    def test_may_lie_at_any_depth(self, nested: bool) -> None:
        files = [(f"up/{name}" if nested else name.partition("/")[2], data) for name, data in folder(report(), lines(own_row()))]
        assert len(read(files, recipe="").rows) == 1


class TestARunThatDidNot:
    @pytest.mark.parametrize("state", ["running", "partial", "refused"])
    def test_counts_for_nothing_and_says_so(self, state: str) -> None:
        told = read(folder(report(state=state, rows=[PARTIAL]), lines(PARTIAL)))
        assert told.rows == () and told.accounting == () and told.scores == () and told.unplaced == ()
        assert [(skip.name, skip.why) for skip in told.skipped] == [("bench_own_conc4_attempt1/bench.json", "partial-run")]
        assert told.reported

    def test_may_have_left_broken_exports(self) -> None:
        broken = {"aiperf/profile_runs/run_0002/profile_export.jsonl": b"", "aiperf/profile_runs/run_0003/profile_export.jsonl": b"{"}
        assert read(folder(report(state="partial"), **broken)).rows == ()
        with pytest.raises(BadInput, match="run_0002"):
            read(folder(report(), **broken))

    def test_counts_for_nothing_either_where_its_rows_are_all_that_is_left(self) -> None:
        told = read([("x/rows.jsonl", stream(lines(PARTIAL, PARTIAL | {"metric": "input_tput"})))])
        assert told.rows == () and [skip.why for skip in told.skipped] == ["partial-run"]


class TestAChangedReport:
    @pytest.mark.parametrize(("changed", "key"), [
        ({"rows": [own_row(8)]}, "rows[0].point.concurrency"), ({"rows": {}}, "rows"), ({"rows": [own_row(value=-1)]}, "rows[0].value"),
        ({"state": "done"}, "state"), ({"counts": {"failed": -1}}, "counts.failed"), ({"counts": {"kinds": {"x": -1}}}, "counts.kinds.x"),
        ({"said": {"version": 3}}, "said.version"), ({"rows": [own_row(run=6)]}, "rows[0].run"),
        ({"rows": [own_row(head="d" * 40)]}, "rows[0].head")])
    def test_is_refused_with_its_key(self, changed: dict[str, Any], key: str) -> None:
        with pytest.raises(BadInput) as raised:
            read(folder(report(**changed)), run=7, head="e" * 40)
        assert raised.value.key == key and raised.value.file.endswith("bench.json")

    def test_whose_rows_say_otherwise_than_the_file_beside_it_is_refused(self) -> None:
        with pytest.raises(BadInput, match="917.3"):
            read(folder(report(), lines(own_row(value=920.0))))
