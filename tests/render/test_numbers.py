"""Numbers as people read them: rounded once, from unrounded values, half away from zero."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render.filters import change, counted, digest, fixed, percent, ref, sha, signed, threshold, value
from tests.render.catalogue import METRICS


class TestRounding:
    @pytest.mark.parametrize(("number", "places", "text"), [
        (0.125, 2, "0.13"), (-0.125, 2, "-0.13"), (2.675, 2, "2.68"), (0.5, 0, "1"), (1.5, 0, "2"), (-0.04, 1, "0.0"),
        (917.3021, 2, "917.30"),
        (1e-9, 5, "0.00000"), (1e22, 1, "10000000000000000000000.0"),
    ])
    def test_is_as_a_person_rounds(self, number: float, places: int, text: str) -> None:
        assert fixed(number, places) == text

    @given(st.floats(min_value=-1e9, max_value=1e9), st.integers(min_value=0, max_value=6))
    def test_is_never_off_by_more_than_half_a_step(self, number: float, places: int) -> None:
        assert abs(float(fixed(number, places)) - number) <= 0.5 * 10**-places * (1 + 1e-6) + abs(number) * 1e-12
        assert not fixed(number, places).startswith("-0") or float(fixed(number, places)) != 0

    def test_a_sign_stands_where_there_is_a_change(self) -> None:
        assert [signed(number, 1) for number in (4.25, -4.25, 0.04, -0.04)] == ["+4.3", "-4.3", "0.0", "0.0"]


class TestDeltas:
    def test_are_computed_from_unrounded_values(self) -> None:
        assert change(METRICS["tput_per_gpu"], 917.3021, 970.9582) == "+5.8%"
        assert change(METRICS["tput_per_gpu"], 917.3, 971.0) == "+5.9%"

    def test_of_counts_are_differences_and_of_shares_points(self) -> None:
        assert change(METRICS["profiled_requests"], 232, 234) == "+2"
        assert change(METRICS["gpu_cache_hit_rate"], 0.871, 0.961) == "+9.0 pp"

    def test_of_nothing_there_is_none(self) -> None:
        assert change(METRICS["ttft"], 0.0, 1.0) is None

    def test_a_value_has_its_metrics_precision(self) -> None:
        assert value(METRICS["tput_per_gpu"], 917.3021) == "917.30"
        assert value(METRICS["tput_per_gpu"], 917.3021, brief=True) == "917.3"
        assert value(METRICS["ttft"], 2.1583, brief=True) == "2.158"


class TestShortForms:
    def test_of_shares_thresholds_commits_and_digests(self) -> None:
        assert [percent(part, whole) for part, whole in ((1, 233), (7, 241), (0, 9), (9, 9), (0, 0))] == ["0.43%", "2.9%", "0.0%",
            "100.0%", "0.0%"]
        assert [threshold(number) for number in (0.9, 0.905, 0.925, 1.0, 0.9375)] == ["0.90", "0.905", "0.925", "1.00", "0.9375"]
        assert sha("a" * 40) == "`aaaaaaaaa`"
        assert [ref(text) for text in ("main", "75c2eef", "a" * 40)] == ["`main`", "`75c2eef`", "`aaaaaaaaa`"]
        assert digest("sha256:42e17a3c600c") == "`sha256:42e17a3c…`"
        assert [counted(number, "line") for number in (0, 1, 3)] == ["0 lines", "1 line", "3 lines"]
