"""What the numbers are of: requests or conversations, one image or two, a warm server or one that was not."""

from __future__ import annotations

import pytest
from msgspec import structs

from bot.model.result import Accounting, Row
from bot.verdict.compare import compare
from tests.verdict.made import METRICS, curve, row


def verdict(new: list[Row], old: list[Row] | None = None, **other):
    return compare(new, curve() if old is None else old, metrics=METRICS, **other)


def loaded(workload: str | None) -> list[Row]:
    return [structs.replace(one, point=structs.replace(one.point, workload=workload)) for one in curve()]


def counted(failed: int, of: int, talks: int | None = None, bad: int | None = None) -> Accounting:
    return Accounting(concurrency=4, total=of, profiled=of - failed, warmup_invalid=0, profiling_invalid=failed,
                      conversations=talks, conversations_invalid=bad)


def failing(new: Accounting, old: Accounting, workload: str | None = None):
    told = verdict(loaded(workload), loaded(workload), accounting=[new], baseline_accounting=[old])
    return next(found for found in told.findings if found.metric == "invalid_requests")


class TestFailedRequests:
    @pytest.mark.parametrize("workload", [None, "1024/1024"])
    def test_of_a_load_without_conversations_are_units_themselves(self, workload) -> None:
        """40 of 100 against none was "clustered", for ever, since nobody had counted conversations."""
        assert failing(counted(40, 100), counted(0, 100), workload).finding == "regressed"

    def test_of_sessions_that_nobody_counted_are_a_flag(self) -> None:
        found = failing(counted(40, 100), counted(0, 100), "agentic-coding")
        assert (found.finding, found.reasons) == ("inconclusive", ("clustered",))

    def test_of_a_load_that_nobody_names_must_be_more_than_one_conversation_may_hold(self) -> None:
        one = counted(12, 240), counted(0, 240)
        assert failing(*one).finding == "inconclusive" and failing(*one, "1024/1024").finding == "regressed"

    def test_that_chance_explains_are_too_few_and_not_clustered(self) -> None:
        found = failing(counted(3, 100), counted(0, 100), "1024/1024")
        assert (found.finding, found.reasons) == ("inconclusive", ("wide-interval",))

    @pytest.mark.parametrize("bad, why", [(7, "wide-interval"), (2, "clustered")])
    def test_are_clustered_only_where_one_conversation_has_several(self, bad, why) -> None:
        found = failing(counted(7, 241, 241, bad), counted(1, 233, 241, 1))
        assert (found.finding, found.reasons) == ("inconclusive", (why,))


class TestTheImage:
    def named(self, *images: str) -> list[Row]:
        return [structs.replace(one, image=images[place % len(images)]) for place, one in enumerate(sorted(
            curve(), key=lambda one: one.point.concurrency))]

    def test_of_one_sweep_must_be_one(self) -> None:
        rows = [structs.replace(one, image="x/a:1" if one.point.concurrency > 2 else "x/a:2") for one in curve()]
        told = verdict(rows)
        assert told.verdict == "inconclusive" and "image-not-proven:x/a:2" in told.reasons and told.rerun == ()

    def test_may_be_written_with_its_digest_and_its_registry(self) -> None:
        assert verdict(self.named("x/a:1", "docker.io/x/a:1", "x/a:1@sha256:ab")).verdict == "neutral"

    def test_of_an_earlier_run_of_the_sweep_is_no_second_image(self) -> None:
        old = [structs.replace(one, image="x/a:0") for one in curve()]
        assert verdict(self.named("x/a:1"), old).verdict == "neutral"


class TestARepeatThatStandsIn:
    @pytest.mark.parametrize("flag", ["image-not-proven", "cold-run"])
    def test_for_a_doubtful_run_does_not_confirm_and_the_doubt_is_told(self, flag) -> None:
        told = verdict([structs.replace(one, flags=(flag,)) for one in curve(0.7)], repeat=curve(0.7))
        assert told.verdict == "inconclusive" and {"not-confirmed", flag} <= set(told.reasons)

    def test_and_is_as_good_as_the_baseline_leaves_no_doubt(self) -> None:
        told = verdict([structs.replace(one, flags=("cold-run",)) for one in curve(0.7)], repeat=curve())
        assert told.verdict == "neutral" and "cold-run" not in told.reasons


class TestAColdBaseline:
    def tailed(self, tail: float) -> list[Row]:
        return [*curve(), row(1, "ttft", 1.1 * tail, "p99")]

    def test_is_seen_as_a_cold_candidate_is(self) -> None:
        told = verdict(self.tailed(1.1), self.tailed(4.0))
        assert told.verdict == "inconclusive" and "cold-run:baseline" in told.reasons

    def test_is_none_where_the_candidate_has_the_same_tail(self) -> None:
        assert verdict(self.tailed(4.0), self.tailed(4.0)).verdict == "neutral"

    def test_gives_way_to_a_warm_run_of_the_same_point(self) -> None:
        warm, cold = ([structs.replace(one, run=run) for one in self.tailed(tail)] for run, tail in ((1, 1.1), (2, 4.0)))
        assert verdict(self.tailed(1.1), [*warm, *cold]).verdict == "neutral"
