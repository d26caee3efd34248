"""Which published points are the baseline, point by point, and what is said of them when they are frozen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from bot.baseline import freeze, join, match, medians
from bot.baseline.match import same_image
from bot.model.baseline import Aside, Configuration, Offer, Question
from bot.model.recipe import EvalSpec
from bot.model.result import Absent, Accounting, Baseline, Cell, Row

OLD = "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef"
PRINT, OTHER = "a295bb2c32", "ffff"
WHAT = "gb200|dynamo-vllm|fp4|mtp|TP16/DCP16|agentic-coding|on"
GSM8K = EvalSpec(task="gsm8k", threshold=0.9)


def rows(concs=(1, 2, 4, 8, 16), value=900.0, run=32424103771, fingerprint=PRINT, topology="TP16/DCP16"):
    def cell(conc):
        return Cell(recipe="r", concurrency=conc, fingerprint=fingerprint, topology=topology)

    made = [Row(point=cell(conc), metric="tput_per_gpu", value=value, unit="tok/s/GPU", run=run) for conc in concs]
    return (*made, Row(point=cell(max(concs)), metric="eval", task="gsm8k", stat="strict", value=0.97, unit="share", n=1319))


def published(date="2026-08-21", run=32424103771, image=OLD, fingerprint=PRINT, concs=(1, 2, 4, 8, 16), value=900.0, **other):
    return Baseline(date=date, image=image, run=run, **{
        "attempt": 2, "head": None, "pull": 2700, "fingerprint": fingerprint, "identity": WHAT,
        "rows": rows(concs, value, run, fingerprint), **other})


def asked(*concs, image=OLD, evals=(GSM8K,), more=()):
    first = Configuration(fingerprint=PRINT, concurrencies=concs or (1, 2, 4, 8, 16), identity=WHAT, topology="TP16/DCP16")
    return Question(recipe="r", model="kimik3", image=image, configurations=(first, *more), evals=evals)


def found(*sets, question=None, asides=(), date=None):
    return match(Offer(sets=sets, asides=asides), question or asked(), date)


class TestMatching:
    def test_takes_the_newest_run_at_every_point_and_older_runs_of_the_same_behind_it(self) -> None:
        made = found(published("2026-08-01", 1, value=880.0), published(), published("2026-08-10", 2, value=890.0))
        assert (made.baseline.date, made.baseline.run, made.runs, made.absent) == ("2026-08-21", 32424103771, 3, ())
        assert [row.value for row in made.baseline.rows if row.point.concurrency == 4] == [900.0, 890.0, 880.0]
        assert made.notes == ("earlier-runs:2, 1",)
        assert sum(row.metric == "eval" for row in made.baseline.rows) == 1, "an older score is another test of another day"

    def test_takes_from_an_older_run_what_a_partial_sweep_did_not_repeat(self) -> None:
        made = found(published(concs=(16,)), published("2026-08-01", 1))
        at = {row.point.concurrency: row.run for row in reversed(made.baseline.rows) if row.metric != "eval"}
        assert at == {1: 1, 2: 1, 4: 1, 8: 1, 16: 32424103771} and "points-from-runs:1, 32424103771" in made.notes

    def test_takes_no_newer_image_for_ours(self) -> None:
        made = found(asides=[Aside(image="vllm/vllm-openai:v0.29.0", fingerprint="e0", identity=WHAT, date="2026-09-04")])
        assert made.baseline is None and made.missing == "other-image:vllm/vllm-openai:v0.29.0"
        assert {one.why for one in made.absent} == {made.missing} and len(made.absent) == 5

    def test_takes_no_other_topology_for_ours(self) -> None:
        made = found(asides=[Aside(image=OLD, fingerprint=OTHER, identity=WHAT.replace("16/D", "8/D"), date="2026-09-04")])
        assert (made.baseline, made.missing) == (None, "other-configuration")

    @pytest.mark.parametrize("topology", ["TP8/DCP16", "TP16/DCP8", "TP16/DCP16/EP4", "TP16/DCP16/DPA", "2P(TP16/DCP16)",
                                          "1P(TP16/DCP16) x 1D(TP16)"])
    def test_takes_no_other_topology_under_our_own_fingerprint(self, topology) -> None:
        made = found(published(rows=rows(topology=topology)))
        assert made.baseline is None and made.missing == "other-configuration"
        aside = Aside(image=OLD, fingerprint=PRINT, identity="", date="2026-09-04", topology=topology)
        assert found(asides=[aside]).missing == f"other-topology:{topology}"

    @pytest.mark.parametrize("topology", ["TP16", "TP16/PCP2", None, "1P(TP16/DCP16)"])
    def test_misses_no_size_that_rows_did_not_name(self, topology) -> None:
        assert found(published(rows=rows(topology=topology))).baseline is not None

    def test_takes_no_other_workload_under_our_own_fingerprint(self) -> None:
        fixed = [structs.replace(row, point=structs.replace(row.point, workload="8k1k")) for row in rows()]
        wanted = asked()
        wanted = structs.replace(wanted, configurations=(structs.replace(wanted.configurations[0], workload="agentic-coding"),))
        assert found(published(rows=tuple(fixed)), question=wanted).baseline is None

    def test_published_for_another_configuration_alone_a_point_is_not_called_never_published(self) -> None:
        aside = Aside(image=OLD, fingerprint=OTHER, identity="", date="2026-09-04", concurrency=32)
        why = [(one.point.concurrency, one.why) for one in found(published(), question=asked(1, 32, 64), asides=[aside]).absent]
        assert why == [(32, "other-configuration"), (64, "not-published")]

    def test_published_of_our_image_under_another_fingerprint_is_not_called_another_image(self) -> None:
        made = found(asides=[Aside(image=image, fingerprint=OTHER, identity=WHAT, date="2026-09-04")
                             for image in (OLD, "vllm/vllm-openai:v0.29.0")])
        assert made.missing == "other-configuration"

    def test_takes_every_topology_of_a_recipe_that_has_several_and_says_which_has_none(self) -> None:
        more = (Configuration(fingerprint=OTHER, concurrencies=(32,), topology="TP8"),
                Configuration(fingerprint="0e", concurrencies=(64, 128), topology="TP4"))
        eight = published("2026-08-20", 9, fingerprint=OTHER, rows=rows((32,), run=9, fingerprint=OTHER, topology="TP8"))
        made = found(published(), eight, question=asked(more=more))
        assert {row.point.fingerprint for row in made.baseline.rows} == {PRINT, OTHER}
        assert [(one.point.topology, one.point.concurrency, one.why) for one in made.absent] == [
            ("TP4", 64, "other-configuration"), ("TP4", 128, "other-configuration")]

    def test_a_concurrency_that_no_run_of_the_configuration_has_was_not_published(self) -> None:
        made = found(published(), question=asked(1, 32))
        assert [(one.point.concurrency, one.why) for one in made.absent] == [(32, "not-published")] and made.gone == (2, 4, 8, 16)

    @pytest.mark.parametrize(("changed", "gone"), [
        ({}, ("TP16/DCP16 8k1k",)), ({"run": 9}, ()), ({"image": "a/b:1"}, ()), ({"identity": WHAT}, ()),
        ({"identity": "gb200|dynamo-vllm|fp4|none|TP16/DCP16|8k1k|off"}, ()),
        ({"identity": "gb200|dynamo-vllm|fp4|mtp|TP16/DCP16|agentic-coding|off"}, ()), ({"identity": ""}, ())])
    def test_what_the_same_run_measured_and_the_recipe_cannot_generate_is_told(self, changed, gone) -> None:
        fixed = WHAT.replace("agentic-coding", "1k1k")
        wanted = asked()
        wanted = structs.replace(wanted, configurations=(structs.replace(wanted.configurations[0], identity=fixed),))
        aside = structs.replace(Aside(image=OLD, fingerprint="e0", date="2026-08-21", run=32424103771,
                                      identity=WHAT.replace("agentic-coding", "8k1k")),
                                **{**changed, **({"identity": fixed} if changed == {"identity": WHAT} else {})})
        assert found(published(identity=fixed), question=wanted, asides=[aside]).retired == gone

    def test_without_a_fingerprint_needs_everything_else_to_be_equal_and_says_so(self) -> None:
        assert found(published(fingerprint=None)).notes == ("fingerprint-unknown",)
        assert found(published(fingerprint=None, identity=WHAT.replace("mtp", "none"))).baseline is None
        assert found(published(fingerprint=None, identity="")).baseline is None

    def test_prefers_a_known_fingerprint_to_a_newer_date_and_never_mixes_them(self) -> None:
        made = found(published("2026-08-30", 5, fingerprint=None), published())
        assert (made.baseline.run, made.runs, made.notes) == (32424103771, 1, ())

    def test_of_a_runs_attempts_the_last_counts_and_a_run_counts_once(self) -> None:
        made = found(published(value=1.0, attempt=1), published(concs=(16,), attempt=3))
        assert (made.runs, made.baseline.attempt) == (1, 3)
        assert [row.value for row in made.baseline.rows if row.point.concurrency == 16 and row.metric != "eval"] == [900.0]

    def test_counts_at_most_ten_runs_of_a_point(self) -> None:
        assert found(*(published(f"2026-08-{day:02}", day) for day in range(1, 20))).runs == 10

    def test_looks_no_later_than_the_day_asked_for(self) -> None:
        both = published("2026-08-21"), published("2026-08-28", run=9)
        assert found(*both, date="2026-08-22").baseline.date == "2026-08-21"
        assert found(*both, date="2026-08-01").missing == "newer-only"

    def test_of_nothing_says_so_or_why_nobody_could_be_asked(self) -> None:
        assert found().missing == "nothing-published"
        assert match(Offer(notes=("model-unknown:Larch",)), asked()).missing == "model-unknown:Larch"

    def test_older_rows_that_named_fewer_sizes_are_of_the_topology_that_the_fingerprint_proves(self) -> None:
        older = published("2026-08-01", 1, rows=rows(run=1, topology="TP16"))
        assert {row.point.topology for row in found(published(), older).baseline.rows} == {"TP16/DCP16"}

    def test_an_image_whose_digest_was_not_published_is_a_note(self) -> None:
        assert "digest-unknown" in found(published(), question=asked(image=f"{OLD}@sha256:{'a' * 64}")).notes

    @given(st.permutations([published(f"2026-08-{day:02}", day, fingerprint=PRINT if day % 2 else "x") for day in range(1, 9)]))
    def test_does_not_depend_on_the_order_of_the_answer(self, order) -> None:
        made = found(*order)
        assert (made.baseline.date, made.notes) == ("2026-08-07", ("earlier-runs:5, 3, 1",))

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


def frozen(*sets, question=None, **more):
    question = question or asked()
    return freeze(found(*sets, question=question), question, **more)


class TestFreezing:
    def test_says_what_can_no_longer_be_checked_or_compared(self) -> None:
        wanted = asked(1, 2, 4, 8, 32, evals=(EvalSpec(task="kimi_tool_call_schema", threshold=0.9),))
        kept = frozen(published(), question=wanted, repushed=datetime(2026, 9, 3, tzinfo=UTC))
        assert kept.notes == ("baseline-unverifiable:2026-09-03", "eval-not-comparable:gsm8k:gone", "eval-new:kimi_tool_call_schema",
                              "points-gone:16", "points-new:32", "baseline-single")

    def test_trusts_a_tag_that_was_pushed_before(self) -> None:
        assert frozen(published(), repushed=datetime(2026, 8, 17, tzinfo=UTC)).notes == ("baseline-single",)

    def test_a_gate_of_one_question_is_not_the_eval_of_1319(self) -> None:
        one = asked(evals=(EvalSpec(task="gsm8k", threshold=0.9, limit=1),))
        assert "eval-size-changed:gsm8k:1319:1" in frozen(published(), question=one).notes
        whole = asked(evals=(EvalSpec(task="gsm8k", threshold=0.9, limit=2000),))
        assert frozen(published(), question=whole).notes == ("baseline-single",)

    @pytest.mark.parametrize(("task", "limit", "n", "note"), [
        ("gsm8k", None, 1000, "eval-size-changed:gsm8k:1000:1319"), ("gsm8k", 500, 200, "eval-size-changed:gsm8k:200:500"),
        ("gsm8k", None, 1319, None), ("a_suite_of_theirs", None, 1000, None), ("gpqa_diamond_cot_n_shot", None, 100,
                                                                              "eval-size-changed:gpqa_diamond_cot_n_shot:100:198")])
    def test_a_suite_that_was_published_over_other_questions_is_a_note(self, task, limit, n, note) -> None:
        made = tuple(structs.replace(row, task=task, n=n) if row.metric == "eval" else row for row in rows())
        told = frozen(published(rows=made), question=asked(evals=(EvalSpec(task=task, threshold=0.9, limit=limit),))).notes
        assert told == (*([note] if note else []), "baseline-single")

    def test_a_threshold_that_was_another_is_a_note_where_it_is_known(self) -> None:
        kept = frozen(published(thresholds={"gsm8k": 0.95}))
        assert kept.notes == ("eval-threshold-changed:gsm8k:0.95:0.9", "baseline-single")

    def test_is_single_only_while_no_point_has_an_older_run(self) -> None:
        assert "baseline-single" not in frozen(published(), published("2026-08-01", 1, concs=(1,))).notes

    def test_holds_what_the_producing_run_counted(self) -> None:
        counted = Accounting(concurrency=1, total=252, profiled=232, warmup_invalid=10, profiling_invalid=1)
        assert frozen(published(accounting=(counted,)), published("2026-08-01", 1, accounting=(counted,))).accounting == (counted,)

    def test_of_nothing_is_nothing(self) -> None:
        assert frozen() is None


class TestMedians:
    def test_are_what_a_point_measured_over_its_runs_told_by_its_newest_row(self) -> None:
        made = found(published(value=900.0), published("2026-08-02", 2, value=880.0), published("2026-08-01", 1, value=870.0))
        first = next(row for row in medians(made.baseline.rows) if row.point.concurrency == 1)
        assert (first.value, first.run) == (880.0, 32424103771)

    def test_leave_evals_alone(self) -> None:
        assert [row.value for row in medians(rows()) if row.metric == "eval"] == [0.97]


class TestAFamily:
    def test_is_one_baseline_in_which_each_recipes_rows_and_counts_stay_its_own(self) -> None:
        counted = Accounting(concurrency=1, total=9, profiled=9, warmup_invalid=0, profiling_invalid=0)
        lead, other = (structs.replace(published(), accounting=(counted,), notes=notes) for notes in (("a",), ("a", "b")))
        other = structs.replace(other, run=7)
        joined = join({"x": lead, "x-mtp": other})
        assert (joined.run, joined.notes) == (lead.run, ("a", "b"))
        assert joined.rows == (*lead.rows, *other.rows)
        assert [one.recipe for one in joined.accounting] == ["x", "x-mtp"]

    def test_keeps_the_points_of_a_member_that_has_none(self) -> None:
        lacking = Absent(point=Cell(recipe="x-mtp", concurrency=1), why="nothing-published")
        assert join({"x": published()}, [lacking]).absent == (lacking,)

    def test_of_which_nothing_is_published_has_none(self) -> None:
        assert join({}) is None
