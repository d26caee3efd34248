"""Which questions are asked, which score is meant, and why lm-eval ended: the parts that need no server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.bench.evals import Suite, draw, failures, score
from bot.bench.evals.metric import chosen
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.model.recipe import EvalSpec
from bot.rehearse.engine.tasks import questions
from bot.verdict.statistics import wilson


def suite(**sizes: int) -> Suite:
    return Suite(task="t", sizes=sizes, scores=("exact_match,strict-match",))


def spec(limit: int | None = None, *, shuffled: bool = False) -> EvalSpec:
    return EvalSpec(task="t", threshold=0.9, limit=limit, shuffled=shuffled)


class TestTheQuestions:
    def test_of_a_shuffled_sample_are_the_same_for_ever(self) -> None:
        # Written down once: a baseline that was asked by an older bumpbot is paired with these.
        (ask,) = draw.asks(spec(6, shuffled=True), suite(gsm8k=1319))
        assert ask.picked == {"gsm8k": (107, 264, 318, 428, 456, 515)}

    def test_of_a_smaller_sample_lie_within_a_larger_one(self) -> None:
        small, large = (draw.asks(spec(n, shuffled=True), suite(t=400))[0].picked for n in (20, 90))
        assert set(small["t"]) < set(large["t"])  # type: ignore[index]

    def test_not_shuffled_are_the_suites_first(self) -> None:
        assert draw.asks(spec(3), suite(t=400))[0].picked == {"t": (0, 1, 2)}

    @pytest.mark.parametrize(("limit", "size", "names"), [
        (None, 499, ["whole"]), (None, 500, ["sample", "whole"]), (10, 10, ["whole"]), (11, 10, ["whole"]), (9, 10, ["sample"])])
    def test_are_all_of_them_where_the_limit_takes_none_away(self, limit: int | None, size: int, names: list[str]) -> None:
        assert [ask.name for ask in draw.asks(spec(limit), suite(t=size))] == names

    @given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(1, 400), min_size=1, max_size=8), st.integers(1, 300))
    def test_of_a_group_are_as_many_as_asked_and_some_of_each_task(self, sizes: dict[str, int], limit: int) -> None:
        for ask in draw.asks(spec(limit, shuffled=True), suite(**sizes)):
            if ask.picked is None:
                continue
            assert set(ask.picked) == set(sizes)
            # lm-eval asks the whole of a task for which it is given no question.
            assert all(1 <= len(places) <= sizes[name] and list(places) == sorted(set(places)) and places[-1] < sizes[name]
                       for name, places in ask.picked.items())
            assert ask.asked == sum(map(len, ask.picked.values())) and abs(ask.asked - limit) <= len(sizes)

    def test_are_written_in_rising_order(self) -> None:
        # lm-eval 0.4.13 asks in the suite's order and names the answers in the given one.
        assert json.loads(draw.written({"t": (9, 1, 5)})) == {"t": [1, 5, 9]}


class TestTheScore:
    SCORES = ("exact_match,flexible-extract", "exact_match,strict-match", "acc,none", "bleu,none")

    @pytest.mark.parametrize(("metric", "meant"), [
        ("exact_match,strict-match", "exact_match,strict-match"), ("exact_match,flexible-extract", "exact_match,flexible-extract"),
        ("exact_match", "exact_match,strict-match"), ("acc", "acc,none"), ("bleu", "bleu,none"), ("", "exact_match,strict-match")])
    def test_meant_is_the_recipes_own_or_the_chief_one(self, metric: str, meant: str) -> None:
        assert chosen(metric, self.SCORES, "t") == meant

    def test_that_is_not_there_is_told(self) -> None:
        with pytest.raises(BadInput, match="no score that is a share"):
            chosen("", ("bleu,none",), "t")

    @given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
    def test_has_the_interval_that_the_verdict_computes(self, counted: tuple[int, int]) -> None:
        right, n = counted
        assert score.interval(right / n, n) == pytest.approx(wilson(right, n), abs=1e-9)


class TestWhyItEnded:
    # Last lines as lm-eval 0.4.13 printed them.
    STRAY = ("Task exception was never retrieved", "Traceback (most recent call last):", "RuntimeError: Session is closed")

    @pytest.mark.parametrize(("last", "kind", "words"), [
        ("ValueError: Tasks not found: nosuch", BadInput, "knows no task gsm8k"),
        ("ConnectionError: Couldn't reach 'openai/gsm8k' on the Hub (OfflineModeIsEnabled)", Unreachable, "cannot be reached from this machine"),
        ("aiohttp.client_exceptions.ClientResponseError: 500, message='Internal Server Error', url='http://x'", Refusal, "status 500"),
        ("requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: http://x", Refusal, "status 503"),
        ("aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host 127.0.0.1:9 ssl:True", Refusal, "broke off"),
        ("aiohttp.client_exceptions.ServerDisconnectedError: Server disconnected", Refusal, "broke off"),
        ("TimeoutError", Refusal, "did not answer a question of gsm8k in time"),
        ("ModuleNotFoundError: Attempted to use an API model, but the required packages ['tenacity'] are not installed.", Missing, "tenacity"),
        ("OSError: [Errno 28] No space left on device", Refusal, "disk is full"),
        ("ZeroDivisionError: \x1b[31m division", Refusal, "lm_eval ended with code 1: ZeroDivisionError")])
    def test_is_its_own_last_exception_and_not_of_the_requests_given_up_with_it(self, last: str, kind: type[BumpbotError], words: str) -> None:
        error = failures.why(("Traceback (most recent call last):", "KeyError: 'x'", last, *self.STRAY), 1, "gsm8k")
        assert type(error) is kind and words in error.reason and error.reason.isprintable()

    def test_is_its_last_line_where_it_is_no_exception(self) -> None:
        assert "killed (-9): by signal" not in (said := str(failures.why(("out of luck",), -9, "t"))) and "by signal 9: out of luck" in said
        assert "it said nothing" in str(failures.why((), 0, "t"))

    def test_counts_requests_that_were_made_again_behind_what_stood_there(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        again = "2026 ERROR [x] Exception:ClientResponseError(500), (no outputs), retrying.\n"
        log.write_text(again)
        before = log.stat().st_size
        log.write_text(again + "WARNING API request failed! Status code: 500\n" + again + "\r 3%| API request failed with error message: x\n")
        assert failures.retried(log, before) == 2 and failures.tail(log, before)[0].startswith("WARNING")


class TestTheOwnTask:
    FOLDER = Path(questions.__file__).parent

    def test_has_the_questions_that_its_rule_makes(self) -> None:
        kept = (self.FOLDER / "questions.jsonl").read_text(encoding="utf-8")
        assert kept == "".join(json.dumps(one) + "\n" for one in questions.made())
        assert len(set(kept.splitlines())) == questions.COUNT == 60

    def test_has_right_answers(self) -> None:
        for line in (self.FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            a, sign, b = told["question"].rpartition("Compute ")[2].rstrip(".").split()
            assert told["answer"].endswith(f"#### {({'+': int(a) + int(b), '-': int(a) - int(b), '*': int(a) * int(b)})[sign]}")
