"""Each format as its tool writes it, and each way in which a file can be broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.results import collect
from bot.results.shares import correct_of
from bot.results.topology import topology
from tests.results.made import (
    RECIPE,
    agentic,
    eval_row,
    fixed,
    jsonl,
    lm_results,
    request,
    row,
    sample,
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

    def test_does_not_invent_the_split_of_its_errors(self) -> None:
        assert read(agentic()).accounting == ()

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
        assert read([made]).rows[0].point.topology == "2P TP4 x 1D TP16/EP16/DPA"

    def test_may_stand_in_one_list_with_agentic_ones(self) -> None:
        told = read([agentic(), fixed()], "results_bmk/agg_bmk.json")
        assert {r.point.concurrency for r in told.rows if r.metric == "tput_per_gpu"} == {1, 64}


class TestTopology:
    def test_is_the_same_from_a_file_and_from_the_published_row(self) -> None:
        published = {
            "disagg": False,
            "prefill_tp": 16,
            "decode_tp": 16,
            "prefill_ep": 1,
            "prefill_dp_attention": False,
            "prefill_num_workers": 1,
            "prefill_dcp_size": 16,
        }
        assert topology(published) == topology(agentic()) == "TP16/DCP16"

    def test_is_unknown_without_sizes(self) -> None:
        assert topology({"conc": 1}) is None


class TestEvalRows:
    def test_have_strict_and_flexible_scores_with_their_counts(self) -> None:
        strict, flexible = sorted(read([eval_row(strict=0.8120, flexible=0.9067)]).rows, key=lambda r: r.stat, reverse=True)
        assert (strict.stat, strict.value, strict.n, strict.correct) == ("strict", 0.8120, 1319, 1071)
        assert (flexible.stat, flexible.correct, flexible.task) == ("flexible", 1196, "gsm8k")

    def test_of_another_suite_have_its_own_score(self) -> None:
        made = eval_row(em_strict=None, em_flexible=None, task="kimi_tool_call_schema", score=0.5, n_eff=2, score_name="pass")
        (only,) = read([made]).rows
        assert (only.stat, only.value, only.n, only.correct) == ("pass", 0.5, 2, 1)

    def test_without_any_score_are_refused(self) -> None:
        with pytest.raises(BadInput, match="has no score"):
            read([eval_row(em_strict=None, em_flexible=None, score=None)])

    @given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
    def test_give_back_the_count_behind_a_rounded_share(self, counted) -> None:
        right, n = counted
        assert correct_of(right / n, n) == right
        if n < 5000:
            assert correct_of(round(right / n, 4), n) == right


class TestLmEval:
    NAME = "eval_rf_conc1x2_n1/results_2026_conc16.json"

    def test_results_take_their_concurrency_from_their_name(self) -> None:
        told = read(lm_results(), self.NAME)
        assert {(r.point.concurrency, r.stat, r.value, r.n, r.correct) for r in told.rows} == {
            (16, "strict", 0.75, 4, 3),
            (16, "flexible", 1.0, 4, 4),
        }

    def test_results_take_it_from_the_environment_file_beside_them(self) -> None:
        told = collect(
            [("e/results.json", stream(lm_results())), ("e/meta_env.json", stream({"conc": "8", "hw": "x"}))], recipe="r"
        )
        assert {r.point.concurrency for r in told.rows} == {8}

    @pytest.mark.parametrize(("told", "image"), [({"image": "acme/engine:2"}, "acme/engine:2"), ({"image": ""}, None), ({}, None), ({"image": 2}, None)])
    def test_results_take_the_image_that_ran_from_there_too(self, told: dict[str, object], image: str | None) -> None:
        found = collect([("e/results.json", stream(lm_results())), ("e/meta_env.json", stream({"conc": 8, **told})),
                         ("other_conc1_/r.json", stream(agentic()))], recipe="r")
        assert {r.image for r in found.rows if r.metric == "eval"} == {image}
        assert {r.image for r in found.rows if r.metric != "eval"}.isdisjoint({image} - {None})

    def test_results_that_nobody_can_place_are_named_and_not_guessed(self) -> None:
        told = read(lm_results(), "e/results.json")
        assert told.rows == () and [(s.name, s.why) for s in told.skipped] == [("e/results.json", "no-concurrency")]

    def test_samples_tell_cut_from_wrong(self) -> None:
        answers = [
            sample(0, "so it is 7\n#### 7", True),
            sample(1, "so it is 8\n#### 8", False),
            sample(2, "so it", False),
            sample(3, "#### ", False),
            sample(4, "then\n#### $1,007", False),
        ]
        (counted,) = read(jsonl(answers), "e_conc16/samples_gsm8k_2026-09-10T11-40.jsonl").samples
        assert (counted.task, counted.concurrency, counted.n, counted.correct) == ("gsm8k", 16, 5, 1)
        assert (counted.cut, counted.wrong, counted.median_length) == (2, 2, 16.0)

    def test_samples_of_two_filters_are_counted_under_the_strict_one(self) -> None:
        answers = [sample(0, "it is 7", False), sample(0, "it is 7", True, "flexible-extract")]
        (counted,) = read(jsonl(answers), "e_conc4/samples_gsm8k_2026-09-10.jsonl").samples
        assert (counted.n, counted.correct, counted.cut) == (1, 0, 1)

    def test_samples_without_a_final_line_by_design_are_judged_by_their_filter(self) -> None:
        answers = [
            sample(n, "B", n == 0) | {"target": "B", "filtered_resps": [found]} for n, found in enumerate(["B", "[invalid]", "C"])
        ]
        (counted,) = read(jsonl(answers), "e_conc4/samples_gpqa_2026-09-10.jsonl").samples
        assert (counted.correct, counted.cut, counted.wrong) == (1, 1, 1)

    @given(st.permutations(range(12)))
    def test_samples_do_not_depend_on_their_order(self, order) -> None:
        answers = [sample(n, "#### 7" if n % 3 else "so", n % 2 == 1) for n in range(12)]
        name = "e_conc4/samples_gsm8k_2026-09-10.jsonl"
        assert read(jsonl([answers[n] for n in order]), name) == read(jsonl(answers), name)


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
        made = {"records_total": 2, "records_profiled": 1, "records_warmup_dropped": 0, "records_error_dropped": 0}
        files = [("b_conc1_/r.json", agentic(request_accounting=made)), (self.NAME, jsonl([request(0), request(1, error="E")]))]
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

    def test_of_the_published_api_are_claimed_by_no_parser_of_artifacts(self) -> None:
        assert not collect(self.files("inferencex-api"), recipe="r").rows
