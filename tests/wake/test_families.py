"""Two recipes in one sweep share concurrencies, times and runners: whose result is whose stands in names, and is checked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from bot.layout import Artifacts, Layout
from bot.model.bump import Bump, Judged
from bot.model.recipe import EvalSpec, Recipe
from bot.model.result import Baseline, Cell, Row
from bot.model.run import Job
from bot.wake.evidence import judge_all
from tests.fakes.facts import PROPOSAL, bump, point, run, subject
from tests.wake.made import KNOWN, Forge, Shelf, artifact, job, zipped

IMAGE = "vllm/vllm-openai:new"
LEVELS = (1, 4)


def member(key: str) -> Recipe:
    return replace(subject().family[0], key=key, points=tuple(replace(point("throughput", level), recipe=key) for level in LEVELS))


def family() -> Bump:
    """`x` and `x-mtp`, each published with 100 tok/s/GPU at every point."""
    rows = tuple(Row(point=Cell(recipe=key, concurrency=level), metric="tput_per_gpu", value=100.0, unit="tok/s/GPU")
                 for key in ("x", "x-mtp") for level in LEVELS)
    baseline = Baseline(date="2026-08-21", image="old", run=1, attempt=1, head=None, pull=None, fingerprint=None, rows=rows)
    return bump("proposal", family=(member("x"), member("x-mtp")), plan=replace(subject().plan, baseline=baseline))


def of(recipe: str, level: int, number: int) -> Job:
    return replace(job(number, concurrency=level, name=f"sweep / {recipe} c{level}"), recipe=recipe)


def measured(recipe: str, level: int, number: int, value: float = 100.0, *, told: str | None = None, name: str | None = None) -> Any:
    row = {"point": {"recipe": told or recipe, "concurrency": level}, "metric": "tput_per_gpu", "value": value, "unit": "tok/s/GPU",
           "image": IMAGE}
    return artifact(number, name or f"bench_{recipe}_conc{level}_attempt1"), zipped({"rows.json": [row]})


def scored(recipe: str) -> dict[str, Any]:
    return {"point": {"recipe": recipe, "concurrency": 4}, "metric": "eval", "task": "gsm8k", "stat": "strict", "value": 0.93,
            "unit": "share", "image": IMAGE}


def gated(recipe: str, least: float) -> Any:
    return replace(point("eval", 4), recipe=recipe, eval=EvalSpec(task="gsm8k", threshold=least))


def own(held: Any) -> Any:
    """A context with these artifacts, under the names that our own workflows give them."""
    names = Artifacts(results=("bench_*", "eval_*"), logs=("logs_*",), evals=("eval_*",))
    return SimpleNamespace(forge=Forge(held), layout=Layout(artifacts=names), knowledge=KNOWN, ledger=Shelf())


def look(facts: Bump, *held: Any, jobs: list[Job] | None = None, stage: str = "sweep") -> Judged:
    context = own(held)
    jobs = jobs or [of(key, level, 10 * at + level) for at, key in enumerate(("x", "x-mtp"), 1) for level in LEVELS]
    made = run(9, stage, PROPOSAL, *jobs)
    return judge_all(context, replace(facts, world=replace(facts.world, runs=(made,))), [made], ())[0]


def every(slow: float = 100.0) -> list[Any]:
    return [measured(key, level, 10 * at + level, slow if (key, level) == ("x-mtp", 4) else 100.0)
            for at, key in enumerate(("x", "x-mtp"), 1) for level in LEVELS]


class TestWhoseResultItIs:
    def test_stands_in_the_artifacts_name_even_where_one_is_the_others_beginning(self) -> None:
        found = look(family(), *every(90.0))
        assert {(row.point.recipe, row.point.concurrency): row.value for row in found.rows} == {
            ("x", 1): 100.0, ("x", 4): 100.0, ("x-mtp", 1): 100.0, ("x-mtp", 4): 90.0}
        assert found.gates == () and found.notes == ()

    def test_a_row_that_tells_another_recipe_does_not_count(self) -> None:
        wrong = [*every()[:3], measured("x-mtp", 4, 24, told="x")]
        found = look(family(), *wrong)
        assert found.gates == ("coverage:x-mtp c4",)
        assert any("a result says recipe x, which is not this job's" in note for note in found.notes)

    def test_an_artifact_that_names_no_recipe_of_the_run_is_nobodys(self) -> None:
        found = look(family(), *every()[:3], measured("x-mtp", 4, 24, name="bench_y_conc4_attempt1"))
        assert found.gates == ("coverage:x-mtp c4",)

    def test_a_point_that_one_recipe_lacks_is_not_covered_by_the_others(self) -> None:
        assert look(family(), *every()[1:]).gates == ("coverage:x c1",)


class TestTheGate:
    def test_is_the_one_of_the_recipe_that_the_job_measures(self) -> None:
        """Of two recipes with the same eval, one asks for 0.90 and one for 0.97: 0.93 is enough for the first alone."""
        asked = {"x": 0.90, "x-mtp": 0.97}
        members = tuple(replace(member(key), points=(*member(key).points, gated(key, least))) for key, least in asked.items())
        held = [(artifact(number, f"eval_{key}_conc4_attempt1"), zipped({"rows.json": [scored(key)]})) for number, key in enumerate(asked, 70)]
        jobs = [replace(of(key, 4, number), role="eval") for number, key in enumerate(asked, 70)]
        facts = bump("proposal", family=members, plan=replace(subject().plan, thresholds={"gsm8k": 0.90}))
        found = look(facts, *held, jobs=jobs)
        assert [(score.threshold, score.passed) for score in found.scores] == [(0.90, True), (0.97, False)]


class TestTheVerdict:
    def test_judges_each_recipe_by_its_own_curve(self) -> None:
        verdict = look(family(), *every(60.0)).verdict
        assert verdict is not None and verdict.verdict == "inconclusive" and "not-confirmed" in verdict.reasons
        assert [(again.point.recipe, again.point.concurrency) for again in verdict.rerun if again.point.concurrency == 4] == [("x-mtp", 4)]
        pooled = {found.recipe: found.finding for found in verdict.findings if found.point is None and found.metric == "tput_per_gpu"}
        assert set(pooled) == {"x", "x-mtp"}

    @pytest.mark.parametrize(("again", "verdict"), [(60.0, "regressed"), (100.0, "inconclusive")])
    def test_rests_on_the_repeat_too(self, again: float, verdict: str) -> None:
        """The repeat is read after the sweep, in the same look or a later one, and the sweep's verdict follows it."""
        facts = family()
        suspects = [measured("x-mtp", level, 50 + level, again if level == 4 else 100.0) for level in LEVELS]
        jobs = [of(key, level, 10 * at + level) for at, key in enumerate(("x", "x-mtp"), 1) for level in LEVELS]
        sweep = run(9, "sweep", PROPOSAL, *jobs)
        repeat = run(11, "repeat", PROPOSAL, *(of("x-mtp", level, 50 + level) for level in LEVELS))
        first = look(facts, *every(60.0))
        seen = replace(facts, world=replace(facts.world, runs=(sweep, repeat)))
        context = own(suspects)
        swept, repeated = judge_all(context, seen, [sweep, repeat], [first])
        assert repeated.verdict is None and swept.beside == repeated.seen == (51, 54)
        assert swept.verdict is not None and (swept.verdict.verdict == "regressed") is (verdict == "regressed")
        assert judge_all(context, seen, [sweep, repeat], [swept, repeated])[0] is not None
