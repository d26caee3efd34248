"""Each format as its tool writes it, and each way in which a file can be broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import BadInput
from bot.results import collect
from tests.results.made import (
    RECIPE,
    agentic,
    fixed,
    jsonl,
    request,
    row,
    stream,
    summary,
)

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded files are not beside the project")


def read(value, name="a/agg.json"):
    return collect([(name, stream(value))], recipe=RECIPE, run=7, attempt=2, head="f" * 40)


def value(collected, metric, stat=None, conc=None):
    found = [r.value for r in collected.rows if (r.metric, r.stat) == (metric, stat) and conc in (None, r.point.concurrency)]
    assert len(found) == 1
    return found[0]


class TestAnAgenticRow:
    def test_tells_what_people_compare(self) -> None:
        told = read(agentic())
        assert value(told, "tput_per_gpu") == 917.3
        assert value(told, "output_tput") == 112.26
        assert value(told, "ttft", "p50") == 2.158
        assert value(told, "itl", "p50") == 0.00448
        assert value(told, "intvty", "p50") == 223.2
        assert value(told, "profiled_requests") == 234
        assert value(told, "gpu_cache_hit_rate") == 0.871

    def test_carries_its_identity(self) -> None:
        first = read(agentic()).rows[0]
        assert (first.run, first.attempt, first.head, first.n, first.image) == (7, 2, "f" * 40, 234, "vllm/vllm-openai:x")
        assert (first.point.concurrency, first.point.topology, first.point.workload) == (1, "TP16/DCP16", "agentic-coding")
        assert first.point.fingerprint == "a295"

    def test_tells_errors_of_both_phases_apart_by_its_records(self) -> None:
        (counted,) = read(agentic()).accounting
        assert (counted.profiled, counted.warmup_invalid, counted.profiling_invalid) == (234, 10, 7)

    def test_tells_errors_that_the_warmup_cannot_hold_where_records_do_not_close(self) -> None:
        made = {"records_total": 250, "records_profiled": 100, "records_warmup_dropped": 10, "records_error_dropped": 60}
        assert read(agentic(request_accounting=made)).accounting[0].profiling_invalid == 50

    def test_of_which_no_request_counts_measured_nothing(self) -> None:
        failed = {"records_total": 70, "records_profiled": 0, "records_warmup_dropped": 10, "records_error_dropped": 60}
        told = read(agentic(num_requests_successful=0, request_accounting=failed))
        assert told.rows == () and told.accounting[0].profiling_invalid == 60
        assert [skip.why for skip in told.skipped] == ["nothing-measured"]
        assert {row.point.concurrency for row in read([agentic(num_requests_successful=0), agentic(2)]).rows} == {2}

    @pytest.mark.parametrize("warmup, errors, split", [(11, 0, (0, 0)), (0, 7, (0, 7))])
    def test_tells_the_split_where_only_one_is_possible(self, warmup, errors, split) -> None:
        made = {"records_total": 252, "records_profiled": 234, "records_warmup_dropped": warmup, "records_error_dropped": errors}
        (counted,) = read(agentic(request_accounting=made)).accounting
        assert (counted.total, counted.profiled, counted.warmup_invalid, counted.profiling_invalid) == (252, 234, *split)

    def test_without_a_fingerprint_has_none(self) -> None:
        assert read(agentic(recipe_fingerprint="")).rows[0].point.fingerprint is None


class TestFixedSequenceRows:
    def test_are_read_with_every_statistic_but_the_deviation(self) -> None:
        told = read([fixed(), fixed(128, 2185.4)])
        assert value(told, "tput_per_gpu", conc=128) == 2185.4
        assert value(told, "ttft", "p50", 64) == 0.5964
        assert value(told, "ttft", "p99.9", 64) == 8.0
        assert {r.stat for r in told.rows if r.metric == "ttft"} == {"p50", "mean", "p99.9"}
        assert {(r.point.topology, r.point.workload) for r in told.rows} == {("TP8/EP8/DPA", "8k1k")}

    def test_of_a_disaggregated_run_name_both_sides(self) -> None:
        made = fixed(
            disagg=True,
            is_multinode=True,
            prefill_tp=4,
            prefill_num_workers=2,
            decode_tp=16,
            decode_ep=16,
            decode_dp_attention="true",
            decode_num_workers=1,
        )
        assert read([made]).rows[0].point.topology == "2P(TP4) x 1D(TP16/EP16/DPA)"

    def test_may_stand_in_one_list_with_agentic_ones(self) -> None:
        told = read([agentic(), fixed(hw="gb200")], "results_bmk/agg_bmk.json")
        assert {r.point.concurrency for r in told.rows if r.metric == "tput_per_gpu"} == {1, 64}


class TestTheRequestExport:
    NAME = "agentic_rf_conc1_n0/aiperf_artifacts/profile_export.jsonl"

    def test_tells_warm_up_errors_from_profiling_ones(self) -> None:
        lost = "InvalidInferenceResultError"
        made = [request(n, phase="warmup", error=lost if n < 10 else None) for n in range(11)]
        made += [request(100 + n, talk=f"t{n % 5}") for n in range(234)]
        made += [request(500 + n, talk="t0" if n < 6 else "t1", error=lost) for n in range(7)]
        (counted,) = read(jsonl(made), self.NAME).accounting
        assert (counted.concurrency, counted.total, counted.profiled) == (1, 252, 234)
        assert (counted.warmup_invalid, counted.profiling_invalid, counted.invalid) == (10, 7, 17)
        assert (counted.conversations, counted.conversations_invalid) == (5, 2)
        assert counted.kinds == {lost: 7}

    def test_does_not_blame_the_server_for_requests_that_the_client_ended(self) -> None:
        made = [request(0), request(1, was_cancelled=True, error="RequestCancellationError")]
        (counted,) = read(jsonl(made), self.NAME).accounting
        assert (counted.total, counted.profiled, counted.invalid) == (2, 1, 0)

    def test_outweighs_what_the_row_can_prove(self) -> None:
        made = {"records_total": 9, "records_profiled": 1, "records_warmup_dropped": 1, "records_error_dropped": 1}
        row = agentic(request_accounting=made, num_requests_successful=1)
        files = [("b_conc1_/r.json", row), (self.NAME, jsonl([request(0), request(1, error="E")]))]
        for order in (files, files[::-1]):
            (counted,) = collect([(name, stream(data)) for name, data in order], recipe="r").accounting
            assert (counted.profiling_invalid, counted.conversations) == (1, 1)


class TestTheAggregate:
    def test_is_in_seconds_and_knows_its_concurrency(self) -> None:
        told = read(summary(), "run/profile_export_aiperf.json")
        assert value(told, "ttft", "p50") == pytest.approx(0.0268)
        assert {r.point.concurrency for r in told.rows} == {2} and told.rows[0].n == 30

    def test_places_the_requests_beside_it(self) -> None:
        told = collect(
            [("run/profile_export.jsonl", stream(jsonl([request(0)]))),
             ("run/profile_export_aiperf.json", stream({"aiperf_version": "0.13.0", "request_count": {"unit": "requests", "avg": 1.0}} | {"input_config": summary(4)["input_config"]}))],
            recipe="r",
        )
        assert told.accounting[0].concurrency == 4

    @pytest.mark.parametrize("broken", [{"was_cancelled": True}, {"is_complete": False}])
    def test_of_an_unfinished_run_is_refused(self, broken) -> None:
        with pytest.raises(BadInput, match="did not complete"):
            read(summary() | broken, "run/profile_export_aiperf.json")

    def test_in_another_unit_is_refused(self) -> None:
        with pytest.raises(BadInput, match=r"time_to_first_token\.unit"):
            read(summary(time_to_first_token={"unit": "furlongs", "avg": 1.0}), "run/profile_export_aiperf.json")


class TestRowsInTheNormalForm:
    def test_come_as_a_list_an_object_or_lines(self) -> None:
        made = [row(1), row(2)]
        told = [read(made, "r.json"), read({"rows": made}, "r.json"), read(jsonl(made), "r.jsonl")]
        assert told[0] == told[1] == told[2] and len(told[0].rows) == 2

    def test_keep_the_run_they_name(self) -> None:
        assert [r.run for r in read([row(run=1), row(run=2)], "r.json").rows] == [1, 2]

    def test_may_carry_keys_of_a_later_version(self) -> None:
        assert read([row() | {"later": 1}], "r.json").rows

    @pytest.mark.parametrize(
        "broken, why",
        [
            ({"value": "3"}, "value"),
            ({"value": -1}, "negative"),
            ({"value": None}, "value"),
            ({"metric": "eval", "value": 81.2}, "more than 1"),
            ({"n": -2}, "negative"),
            ({"point": {"recipe": "r", "concurrency": 0, "workload": None}}, "concurrency"),
            ({"metric": "eval", "value": 0.5, "n": 2, "correct": 3}, "right of"),
        ],
    )
    def test_that_do_not_hold_are_refused_with_their_place(self, broken, why) -> None:
        with pytest.raises(BadInput, match=why) as raised:
            read([row(), row(2) | broken], "r.json")
        assert raised.value.file == "r.json" and raised.value.key.startswith("[1]")


@needs_shared
class TestRecordedFiles:
    def files(self, folder: str):
        return [(str(path.relative_to(SHARED)), path.open("rb")) for path in sorted((SHARED / folder).rglob("*")) if path.is_file()]

    def test_of_aiperf_are_read_at_three_concurrencies(self) -> None:
        told = collect([pair for conc in ("c1", "c2", "c4") for pair in self.files(f"aiperf/{conc}")], recipe="r")
        assert {r.point.concurrency: r.value for r in told.rows if (r.metric, r.stat) == ("ttft", "p50")} == pytest.approx(
            {1: 0.027140102, 2: 0.02675813, 4: 0.027733724}
        )
        assert [(a.concurrency, a.total, a.profiled, a.invalid) for a in told.accounting] == [
            (1, 15, 15, 0),
            (2, 30, 30, 0),
            (4, 60, 60, 0),
        ]
        assert {s.name.rsplit("/", 1)[1] for s in told.skipped} == {"server_metrics_export.json"}

    def test_of_a_server_that_was_down_count_every_request_as_invalid(self) -> None:
        ((name, opened),) = self.files("aiperf/refused")
        (counted,) = collect([(f"agentic_conc2_/{name}", opened)], recipe="r").accounting
        assert (counted.profiled, counted.profiling_invalid, counted.kinds) == (0, 6, {"ClientConnectorError": 6})

    def test_of_lm_eval_are_read_with_their_planted_wrong_answers(self) -> None:
        told = collect([(f"eval_conc16_/{name}", opened) for name, opened in self.files("lm_eval")], recipe="r")
        assert {(r.stat, r.correct, r.n) for r in told.rows} == {("strict", 25, 30), ("flexible", 25, 30)}
        (counted,) = told.samples
        assert (counted.task, counted.correct, counted.cut, counted.wrong) == ("toy_gsm8k", 25, 0, 5)

    def test_of_the_published_api_are_points_of_one_curve(self) -> None:
        told = collect(self.files("inferencex-api"), recipe="r")
        assert {row.point.topology for row in told.rows} == {"TP8/EP8/DPA"} and {row.run for row in told.rows} == {33554397154}
        assert {(row.stat, round(row.value, 4)) for row in told.rows if row.metric == "ttft" and row.point.concurrency == 64} >= {
            ("p50", 0.5964), ("p99", 6.3963)}
