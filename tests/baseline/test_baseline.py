"""Which published points are the baseline, and what is said of them when they are frozen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bot.baseline import freeze, join, match
from bot.baseline.match import same_image
from bot.model.result import Accounting, Baseline, Cell, Row

OLD = "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef"
PRINT = "a295bb2c32"


def rows(concs=(1, 2, 4, 8, 16), task="gsm8k"):
    made = [Row(point=Cell(recipe="r", concurrency=conc), metric="tput_per_gpu", value=900.0, unit="tok/s/GPU") for conc in concs]
    return (*made, Row(point=Cell(recipe="r", concurrency=16), metric="eval", task=task, value=0.97, unit="share", n=1319))


def published(date="2026-08-21", image=OLD, fingerprint=PRINT, run=32424103771, **other):
    return Baseline(
        date=date, image=image, run=run, attempt=2, head=None, pull=2700, fingerprint=fingerprint, **{"rows": rows(), **other}
    )


class TestMatching:
    def test_finds_the_newest_of_the_same_identity(self) -> None:
        found = match([published("2026-08-01", run=1), published(), published("2026-08-10", run=2)], OLD, PRINT)
        assert found.baseline == published() and [one.date for one in found.history] == ["2026-08-10", "2026-08-01"]

    def test_takes_no_newer_image_for_ours(self) -> None:
        found = match([published("2026-09-04", image="vllm/vllm-openai:v0.29.0")], OLD, PRINT)
        assert found.baseline is None and (found.missing, found.seen) == ("other-image", ("vllm/vllm-openai:v0.29.0",))

    def test_takes_no_other_topology_for_ours(self) -> None:
        found = match([published(fingerprint="ffff")], OLD, PRINT)
        assert found.baseline is None and found.missing == "other-configuration"

    def test_prefers_a_known_fingerprint_to_a_newer_date(self) -> None:
        found = match([published("2026-08-30", fingerprint=None, run=5), published()], OLD, PRINT)
        assert found.baseline == published() and found.notes == ()

    def test_by_image_alone_says_so(self) -> None:
        assert match([published(fingerprint=None)], OLD, PRINT).notes == ("fingerprint-unknown",)

    def test_looks_no_later_than_the_day_asked_for(self) -> None:
        both = [published("2026-08-21"), published("2026-08-28", run=9)]
        assert match(both, OLD, PRINT, "2026-08-22").baseline.date == "2026-08-21"
        assert match(both, OLD, PRINT, "2026-08-01").missing == "newer-only"

    def test_needs_points(self) -> None:
        assert match([published(rows=())], OLD, PRINT).missing == match([], OLD, PRINT).missing == "nothing-published"

    @given(st.permutations([published(f"2026-08-{day:02}", run=day, fingerprint=PRINT if day % 2 else "x") for day in range(1, 9)]))
    def test_does_not_depend_on_the_order_of_the_answer(self, order) -> None:
        found = match(order, OLD, PRINT)
        assert found.baseline.date == "2026-08-07" and [one.date[-2:] for one in found.history] == ["05", "03", "01"]

    @pytest.mark.parametrize(
        "one, other, equal",
        [
            ("nvcr.io#nvidia/x:1", "nvcr.io/nvidia/x:1", True),
            ("docker.io/vllm/vllm-openai:v1", "vllm/vllm-openai:v1", True),
            ("a/b:1@sha256:aa", "a/b:1", True),
            ("a/b:1@sha256:aa", "a/b:1@sha256:bb", False),
            ("a/b:1", "a/b:2", False),
        ],
    )
    def test_knows_an_image_in_other_spellings(self, one, other, equal) -> None:
        assert same_image(one, other) is same_image(other, one) is equal


class TestFreezing:
    def test_says_what_can_no_longer_be_checked(self) -> None:
        kept = freeze(
            match([published()], OLD, PRINT),
            repushed=datetime(2026, 9, 3, tzinfo=UTC),
            tasks=["kimi_tool_call_schema"],
            concurrencies=[1, 2, 4, 8, 32],
        )
        assert kept.notes == (
            "baseline-unverifiable:2026-09-03",
            "eval-not-comparable:gsm8k",
            "points-gone:16",
            "points-new:32",
            "baseline-single",
        )

    def test_trusts_a_tag_that_was_pushed_before(self) -> None:
        kept = freeze(match([published()], OLD, PRINT), repushed=datetime(2026, 8, 17, tzinfo=UTC), tasks=["gsm8k"])
        assert kept.notes == ("baseline-single",)

    def test_keeps_older_runs_of_the_same_for_the_median(self) -> None:
        kept = freeze(match([published(), published("2026-08-01", run=1)], OLD, PRINT))
        assert kept.notes == () and sum(row.metric == "tput_per_gpu" for row in kept.rows) == 10
        assert sum(row.metric == "eval" for row in kept.rows) == 1

    def test_adds_what_only_the_producing_run_knew(self) -> None:
        counted = Accounting(concurrency=1, total=252, profiled=232, warmup_invalid=10, profiling_invalid=1)
        assert freeze(match([published()], OLD, PRINT), accounting=[counted]).accounting == (counted,)

    def test_of_nothing_is_nothing(self) -> None:
        assert freeze(match([], OLD, PRINT)) is None


class TestAFamily:
    def test_is_one_baseline_in_which_each_recipes_rows_and_counts_stay_its_own(self) -> None:
        counted = Accounting(concurrency=1, total=9, profiled=9, warmup_invalid=0, profiling_invalid=0)
        lead, other = (structs.replace(published(), accounting=(counted,), notes=notes) for notes in (("a",), ("a", "b")))
        other = structs.replace(other, run=7)
        joined = join({"x": lead, "x-mtp": other})
        assert (joined.run, joined.notes) == (lead.run, ("a", "b"))
        assert joined.rows == (*lead.rows, *other.rows)
        assert [one.recipe for one in joined.accounting] == ["x", "x-mtp"]

    def test_of_which_nothing_is_published_has_none(self) -> None:
        assert join({}) is None
