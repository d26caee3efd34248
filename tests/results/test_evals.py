"""Scores of evals and the answers they are made of: what became of each question, and that both tell of one run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.results import collect
from bot.results.shares import correct_of
from tests.results.made import RECIPE, agentic, eval_row, jsonl, lm_results, sample, stream


def read(value, name="a/agg.json"):
    return collect([(name, stream(value))], recipe=RECIPE, run=7, attempt=2, head="f" * 40)


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

    def test_results_of_a_group_count_the_questions_of_its_tasks(self) -> None:
        made = lm_results() | {"group_subtasks": {"all": ["some", "b"], "some": ["a", "b"], "a": [], "b": []}}
        made["results"] = {task: {"acc,none": 0.5, "acc_stderr,none": 0.1, "alias": task} for task in ("all", "a", "b")}
        made["results"]["all"]["acc_norm,none"] = 0.25
        made["n-samples"] = {task: {"original": 9, "effective": n} for task, n in (("a", 4), ("b", 6))}
        told = {(r.task, r.stat): (r.value, r.n, r.correct) for r in read(made, self.NAME).rows}
        assert told["all", "acc"] == (0.5, 10, 5) and told["all", "acc_norm"] == (0.25, 10, None) and told["b", "acc"] == (0.5, 6, 3)

    def test_results_tell_two_metrics_of_one_filter_apart(self) -> None:
        made = lm_results()
        made["results"]["gsm8k"] |= {"acc,strict-match": 0.25}
        assert {(r.stat, r.value) for r in read(made, self.NAME).rows} == {
            ("strict", 0.75), ("flexible", 1.0), ("acc,strict-match", 0.25)}

    def test_samples_and_results_of_ifeval_agree_though_half_of_its_scores_are_lists(self) -> None:
        told = [("prompt_level_strict_acc", True, 0.75), ("inst_level_strict_acc", [True, False], 0.8), ("prompt_level_loose_acc", True, 1.0)]
        made = lm_results(task="ifeval") | {"results": {"ifeval": {f"{name},none": value for name, _, value in told}}}
        made["n-samples"] = {"ifeval": {"original": 541, "effective": 4}}
        answers = [{**sample(n, "so", True, "none"), "target": "0", "metrics": [name for name, _, _ in told],
                    **{name: value for name, value, _ in told}, "prompt_level_strict_acc": n > 0} for n in range(4)]
        found = collect([("e_conc4/results.json", stream(made)), ("e_conc4/samples_ifeval_2026-09-10.jsonl", stream(jsonl(answers)))], recipe="r")
        assert {(row.stat, row.value, row.n) for row in found.rows} == {
            ("prompt_level_strict_acc", 0.75, 4), ("inst_level_strict_acc", 0.8, 4), ("prompt_level_loose_acc", 1.0, 4)}
        assert [(one.task, one.correct, one.wrong) for one in found.samples] == [("ifeval", 3, 1)]

    @pytest.mark.parametrize("arguments", [{"num_concurrent": 4}, "model=m,num_concurrent=4,base_url=http://x"])
    def test_results_have_the_clients_concurrency_where_nothing_says_another(self, arguments) -> None:
        made = lm_results() | {"config": {"model_args": arguments}}
        answers = jsonl([sample(n, "#### 7", n > 0) for n in range(4)])
        told = collect([("e/samples_gsm8k_x.jsonl", stream(answers)), ("e/results.json", stream(made))], recipe="r")
        assert {r.point.concurrency for r in told.rows} == {4} == {one.concurrency for one in told.samples}
        for beside in ({"conc": "8"}, {"eval_concs": [8]}):
            told = collect([("e/results.json", stream(made)), ("e/meta_env.json", stream(beside))], recipe="r")
            assert {r.point.concurrency for r in told.rows} == {8}
        assert {r.point.concurrency for r in read(made, "e_conc2_x/results.json").rows} == {2}

    @given(st.permutations(range(12)))
    def test_samples_do_not_depend_on_their_order(self, order) -> None:
        answers = [sample(n, "#### 7" if n % 3 else "so", n % 2 == 1) for n in range(12)]
        name = "e_conc4/samples_gsm8k_2026-09-10.jsonl"
        assert read(jsonl([answers[n] for n in order]), name) == read(jsonl(answers), name)


class TestQuestionsToldApart:
    NAME = "e_conc4/samples_gsm8k_2026-09-10.jsonl"

    def asked(self, doc: int, answer: str, right: bool, **other):
        return sample(doc, answer, right) | {"doc_hash": f"{doc:04x}" + "a" * 60} | other

    def test_have_a_letter_and_a_print_each_in_the_order_of_the_suite(self) -> None:
        answers = [self.asked(4, "so it", False), self.asked(0, "#### 7", True), self.asked(1, "#### 8", False)]
        (told,) = read(jsonl(answers), self.NAME).samples
        assert (told.marks, told.prints) == ("rw--c", "00000001--------0004")

    def test_without_a_hash_have_one_of_themselves(self) -> None:
        (one,) = read(jsonl([sample(0, "#### 7", True) | {"doc": {"q": "1 + 1"}}]), self.NAME).samples
        (other,) = read(jsonl([sample(0, "#### 7", True) | {"doc": {"q": "1 + 2"}}]), self.NAME).samples
        assert len(one.prints) == 4 and one.prints != other.prints and one.marks == "r"

    @pytest.mark.parametrize("answers", [
        [{"doc_id": 0}, {"doc_id": 1, "doc_hash": None}],
        [{"doc_id": 0}, {"doc_id": 10**9}],
    ], ids=["one-without", "no-place-in-a-suite"])
    def test_have_none_where_they_cannot_be_known_again(self, answers) -> None:
        (told,) = read(jsonl([self.asked(0, "#### 7", True) | one for one in answers]), self.NAME).samples
        assert (told.n, told.marks, told.prints) == (2, "", "")

    def test_answered_several_times_count_by_their_score(self) -> None:
        answers = [self.asked(n, "#### 7", False) | {"resps": [["#### 7", "#### 8"]], "exact_match": score}
                   for n, score in enumerate((1.0, 0.5))]
        (told,) = read(jsonl(answers), self.NAME).samples
        assert (told.correct, told.marks) == (1, "rw")

    def test_must_be_the_same_under_every_filter(self) -> None:
        answers = [self.asked(0, "#### 7", True), self.asked(1, "#### 7", True),
                   self.asked(0, "#### 7", True, filter="flexible-extract")]
        with pytest.raises(BadInput, match="2 answers under strict-match, 1 under flexible-extract"):
            read(jsonl(answers), self.NAME)


class TestAScoreAndItsAnswers:
    ANSWERS = jsonl([sample(n, "#### 7", n > 0) for n in range(4)])

    def both(self, results, answers=ANSWERS, name="agg/results_conc8.json"):
        files = [("e_conc8/samples_gsm8k_2026-09-10.jsonl", answers), (name, results)]
        told = [collect([(name, stream(data)) for name, data in order], recipe="r") for order in (files, files[::-1])]
        assert told[0] == told[1]
        return told[0]

    @pytest.mark.parametrize("results", [lm_results(0.75), [eval_row(8, 0.75, 1.0, n_eff=4)]])
    def test_that_agree_are_read_together(self, results) -> None:
        told = self.both(results)
        assert {(r.stat, r.correct) for r in told.rows} == {("strict", 3), ("flexible", 4)} and told.samples[0].correct == 3

    @pytest.mark.parametrize("results, why", [
        (lm_results(1.0), "score 0.7500 .strict., but agg/results_conc8.json says 1.0000"),
        (lm_results(0.75, n=5), "4 answers to gsm8k, but agg/results_conc8.json tells of 5"),
        ([eval_row(8, 0.5, 1.0, n_eff=4)], "says 0.5000"),
    ])
    def test_that_contradict_each_other_are_refused_with_both_names(self, results, why) -> None:
        with pytest.raises(BadInput, match=why) as raised:
            self.both(results)
        assert raised.value.file.startswith("e_conc8/samples_")

    def test_of_another_concurrency_or_task_are_not_each_others(self) -> None:
        assert self.both(lm_results(1.0), name="agg/results_conc4.json").samples
        assert self.both(lm_results(1.0, task="gpqa")).samples


class TestJobsOfAClusterCounted:
    def test_are_told_by_cluster(self) -> None:
        told = read({"gb200-nv": {"n_success": 9, "total": 10}, "b200-dgxc": {"n_success": 4, "total": 4}}, "run-stats/run_stats.json")
        assert [(one.cluster, one.succeeded, one.total) for one in told.reliability] == [("b200-dgxc", 4, 4), ("gb200-nv", 9, 10)]

    @pytest.mark.parametrize("data", [b"null", b"null\n", b"{}"])
    def test_that_nobody_could_count_are_said_and_no_error(self, data) -> None:
        told = read(data, "run-stats/run_stats.json")
        assert told.reliability == () and [skip.why for skip in told.skipped] == ["says-nothing"]

    @pytest.mark.parametrize("told", [{"n_success": 3, "total": 2}, {"n_success": 3}, {"n_success": 1.5, "total": 2}, [3, 2], None])
    def test_that_cannot_be_are_refused(self, told) -> None:
        with pytest.raises(BadInput, match="gb200-nv"):
            read({"gb200-nv": told}, "run_stats.json")
