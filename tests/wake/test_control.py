"""The old image beside the sweep, as the artifacts tell it: proven to be the old one and whole, it is the verdict's baseline."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from bot.layout import Layout
from bot.model.bump import Bump, Judged
from bot.model.forge import Artifact
from bot.model.image import Candidate
from bot.model.result import Baseline, Cell, Row
from bot.model.run import Run
from bot.wake.evidence import judge_all
from tests.fakes.facts import BASE, PROPOSAL, bump, resolved, run, subject
from tests.wake.made import KNOWN, NAMES, Forge, Shelf, job, log, result

OLD, NEW = "v0.27.1", "v0.29.0"
POINTS = (1, 2, 4)
SAYS = "(EngineCore pid=8) INFO 09-10 07:00:00 [core.py:97] Initializing a V1 LLM engine (v{}) with config: model='m'\n"
EVAL = Row(point=Cell(recipe="r", concurrency=4), metric="eval", value=0.95, unit="share", task="gsm8k", stat="strict", n=1319)


class ByRun(Forge):
    """Each run's artifacts stand by themselves."""

    def __init__(self, **runs: list[Any]) -> None:
        super().__init__([one for held in runs.values() for one in held])
        self.runs = {int(name[1:]): [artifact for artifact, _ in held] for name, held in runs.items()}

    def artifacts(self, run: int) -> list[Artifact]:
        return self.runs[run]


def facts(*, published: float | None = 900.0, asked: bool = True) -> Bump:
    rows = tuple(Row(point=Cell(recipe="r", concurrency=conc), metric="tput_per_gpu", value=published or 0.0, unit="tok/s/GPU")
                 for conc in POINTS)
    baseline = Baseline(date="2026-08-21", image="old", run=1, attempt=1, head=None, pull=None, fingerprint=None, rows=(*rows, EVAL),
                        notes=("baseline-unverifiable:2026-09-03", "eval-new:aime25"))
    plan = replace(subject().plan, baseline=baseline if published else None, control=asked)
    recipe = replace(subject().family[0], image=f"vllm/vllm-openai:{OLD}",
                     points=tuple(one for one in subject().family[0].points if one.kind == "throughput"))
    return bump("proposal", family=(recipe,), plan=plan,
                candidate=Candidate(old=resolved(OLD), new=resolved(NEW), text=f"vllm/vllm-openai:{NEW}"))


def measured(first: int, version: str, tput: float, points: tuple[int, ...] = POINTS, *, silent: bool = False) -> list[Any]:
    image = f"vllm/vllm-openai:v{version}"
    held = [result(first + conc, conc, tput, image=image) for conc in points]
    return held + ([] if silent else [log(first + 100 + conc, conc, SAYS.format(version)) for conc in points])


def arm(**changed: Any) -> Run:
    return replace(run(30, "control", BASE, *(job(30 + conc, concurrency=conc) for conc in POINTS)), **changed)


def look(of: Bump, *, control: list[Any], beside: Run | None = None, swept: float = 800.0, known: tuple[Judged, ...] = ()) -> Judged:
    """The sweep's evidence: every point is at 800 where 900 was published, and the old image is as it is today."""
    sweep = run(20, "sweep", PROPOSAL, *(job(20 + conc, concurrency=conc) for conc in POINTS))
    runs = (sweep, beside or arm())
    context: Any = SimpleNamespace(forge=ByRun(r20=measured(1000, NEW[1:], swept), r30=control), layout=Layout(artifacts=NAMES),
                                   knowledge=KNOWN, ledger=Shelf(), narrate=lambda line: None)
    made = judge_all(context, replace(of, world=replace(of.world, runs=runs)), runs, known)
    look.control = made[1] if len(made) > 1 else None  # type: ignore[attr-defined]
    return made[0]


def bases(found: Judged) -> set[float | None]:
    assert found.verdict is not None
    return {one.baseline for one in found.verdict.findings if one.metric == "tput_per_gpu" and one.point}


class TestAWholeRunOfTheOldImage:
    def test_is_the_baseline_in_place_of_the_published_one(self) -> None:
        """All are 11 % below what was published in August; so is the old image today, and nothing got worse."""
        found = look(facts(), control=measured(2000, OLD[1:], 800.0))
        assert found.control == 30 and bases(found) == {800.0}
        assert found.verdict.verdict == "neutral"
        alone = look(facts(asked=False), control=[], beside=arm(status="in_progress", jobs=()))
        assert alone.control is None and bases(alone) == {900.0} and alone.verdict.verdict != "neutral"

    def test_is_one_where_nothing_was_published(self) -> None:
        found = look(facts(published=None), control=measured(2000, OLD[1:], 800.0))
        assert found.control == 30 and bases(found) == {800.0}

    def test_leaves_the_evals_and_what_was_said_of_them_as_they_were_published(self) -> None:
        found = look(facts(), control=measured(2000, OLD[1:], 800.0))
        assert not any(reason.startswith("baseline-unverifiable") for reason in found.verdict.reasons)

    def test_has_its_own_proof_that_the_old_image_ran(self) -> None:
        look(facts(), control=measured(2000, OLD[1:], 800.0))
        assert {one.state for one in look.control.proofs} == {"proven"} and look.control.verdict is None

    def test_makes_a_verdict_anew_once_it_is_there_and_stays(self) -> None:
        first = look(facts(), control=[], beside=arm(status="in_progress", jobs=()))
        assert first.control is None and bases(first) == {900.0}
        second = look(facts(), control=measured(2000, OLD[1:], 800.0), known=(first,))
        assert second.control == 30
        assert look(facts(), control=measured(2000, OLD[1:], 800.0), known=(second, look.control)) == second


class TestARunThatIsNoControl:
    """Then the published points are the baseline, and the gate says why."""

    @pytest.mark.parametrize(("control", "gates"), [
        (measured(2000, NEW[1:], 800.0), ("image:c1", "image:c2", "image:c4")),
        ([*measured(2000, OLD[1:], 800.0, (1, 2)), *measured(2000, NEW[1:], 800.0, (4,))], ("image:c4",)),
        (measured(2000, OLD[1:], 800.0, silent=True), ("unproven:c1", "unproven:c2", "unproven:c4")),
        (measured(2000, OLD[1:], 800.0, (1, 2)), ("coverage:c4",)),
        ([], ("coverage:c1", "coverage:c2", "coverage:c4")),
    ], ids=["the candidate ran", "at one point it did", "nobody says what ran", "a point is missing", "nothing was uploaded"])
    def test_by_what_it_measured(self, control: list[Any], gates: tuple[str, ...]) -> None:
        found = look(facts(), control=control)
        assert look.control.gates == gates
        assert found.control is None and bases(found) == {900.0}

    @pytest.mark.parametrize("beside", [
        arm(jobs=(*arm().jobs[:2], replace(arm().jobs[2], conclusion="failure")), conclusion="failure"),
        arm(status="in_progress", conclusion=None),
        arm(created=arm().created.replace(day=8)),
    ], ids=["a job failed", "it still runs", "it began two days before"])
    def test_by_how_it_stands(self, beside: Run) -> None:
        found = look(facts(), control=measured(2000, OLD[1:], 800.0), beside=beside)
        assert found.control is None and bases(found) == {900.0}

    def test_leaves_no_verdict_where_nothing_was_published(self) -> None:
        assert look(facts(published=None), control=measured(2000, NEW[1:], 800.0)).verdict is None

    def test_takes_its_verdict_back_where_it_is_run_again(self) -> None:
        whole = look(facts(published=None), control=measured(2000, OLD[1:], 800.0))
        again = look(facts(published=None), control=measured(2000, OLD[1:], 800.0), known=(whole, look.control),
                     beside=arm(status="in_progress", conclusion=None, attempt=2))
        assert (again.verdict, again.control) == (None, None)
