"""The first hundred shuffled questions: when they stop a sweep, and how little they say when they do not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.verdict.canary import bound, canary, sequential
from tests.verdict.test_answers import answered

PUBLISHED = (1283, 1319)


class TestTheBound:
    @pytest.mark.parametrize("asked, limit, seed, tenth", [(100, 92, 0.999, 0.79), (50, 44, 0.93, 0.38), (200, 188, 1.0, 0.98)])
    def test_follows_from_the_baseline_and_the_number_of_questions(self, asked, limit, seed, tenth) -> None:
        """Below one percent if nothing changed; power against the seed's .812 and against .90."""
        told = canary((limit, asked), PUBLISHED)
        assert told.bound == bound(asked, 1283 / 1319) == limit
        assert (round(told.power(0.812), 3), round(told.power(0.9), 2)) == (pytest.approx(seed, abs=0.005), tenth)
        assert told.chance < 0.01

    def test_lies_below_nothing_where_so_few_cannot_alarm(self) -> None:
        told = canary((0, 1), (1, 2))
        assert (told.bound, told.decision, told.power(0.0), told.chance) == (-1, "go-on", 0.0, 0.0)

    @settings(max_examples=40)
    @given(st.integers(1, 120), st.integers(0, 120), st.integers(1, 1319))
    def test_keeps_its_level_and_alarms_at_less_whenever_at_more(self, asked, right, published) -> None:
        right = min(right, asked)
        told = canary((right, asked), (published, 1319))
        assert told.chance < 0.01
        if told.decision == "stop" and right:
            assert canary((right - 1, asked), (published, 1319)).decision == "stop"


class TestASample:
    @pytest.mark.parametrize("right, decision", [(81, "stop"), (92, "stop"), (93, "go-on"), (100, "go-on")])
    def test_stops_the_sweep_or_lets_it_go_on(self, right, decision) -> None:
        assert canary((right, 100), PUBLISHED).decision == decision

    @pytest.mark.parametrize("right", [93, 97, 100])
    def test_that_goes_on_is_no_verdict(self, right) -> None:
        told = canary((right, 100), PUBLISHED)
        assert told.finding == "inconclusive" and told.power(0.9327) < 0.5, "a fall by four points would mostly have passed"

    def test_of_questions_the_baseline_answered_is_judged_by_them(self) -> None:
        """Eleven of a hundred lost and none gained is no luck, though 88 right of a weak baseline's would be."""
        old = answered("r" * 95 + "w" * 5)
        told = canary((84, 100), (1140, 1319), samples=answered("r" * 84 + "w" * 16), baseline_samples=old)
        assert (told.decision, told.paired) == ("stop", True)
        assert canary((84, 100), (1140, 1319)).decision == "go-on"

    def test_of_no_questions_is_none(self) -> None:
        with pytest.raises(ValueError, match="no questions"):
            canary((0, 0), PUBLISHED)


class TestOneAnswerAfterTheOther:
    @pytest.mark.parametrize(("share", "least", "most", "decision"), [(0.812, 40, 70, "bad"), (0.90, 90, 170, "bad")])
    def test_needs_few_when_it_is_bad(self, share, least, most, decision) -> None:
        generator = random.Random(5)
        told = [sequential("".join("r" if generator.random() < share else "w" for _ in range(1319)), 0.9727) for _ in range(300)]
        assert {one for one, _ in told} == {decision}
        assert least < sorted(after for _, after in told)[150] < most

    def test_rarely_calls_an_unchanged_model_bad(self) -> None:
        generator = random.Random(5)
        told = [sequential("".join("r" if generator.random() < 0.9727 else "w" for _ in range(1319)), 0.9727)[0] for _ in range(400)]
        assert told.count("bad") < 12 and told.count("good") > 340

    def test_is_open_while_the_answers_are_few(self) -> None:
        assert sequential("rrwr", 0.9727) == ("open", 4) and sequential("", 0.9727) == ("open", 0)
