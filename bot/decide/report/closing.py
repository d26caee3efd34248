"""The comments at the end, and the short answers in between."""

from __future__ import annotations

from math import fsum

from bot import budget
from bot.decide.report.parts import refused, regressions, run_line, scores, spent, state, void
from bot.decide.report.unsettled import again, lacking, reasons
from bot.model.bump import Bump, Ended, Evidence
from bot.model.lines import Follow, LackLine, Unpaid
from bot.model.outcome import ENDINGS, Cause, Outcome
from bot.model.record import Finishing, LastWords, Status, Stop

# Outcomes that a run or a file has proven: under these nothing may say that the image was not judged.
PROVEN = frozenset({Outcome.VALIDATED, Outcome.REGRESSED, Outcome.FAILED, Outcome.INCOMPATIBLE})

# Outcomes that rest on figures, or on a gate beside them.
JUDGED = frozenset({Outcome.REGRESSED, Outcome.FAILED, Outcome.UNCERTAIN})


def stop(bump: Bump, ended: Ended) -> Stop:
    """Why it stops, with the figures that decided it and what would have been next."""
    judged = bump.judged(ended.run) if ended.run else None
    limits = bump.subject.limits
    unpaid = ("budget-spent",) if ended.cause is Cause.VERDICT and ended.forecast is not None else ()
    return Stop(
        outcome=ended.outcome,
        cause=ended.cause,
        head=bump.head or "",
        why=ended.why,
        scores=scores(bump, [score for score in (judged.scores if judged else ()) if score.passed is False]),
        repairs=bump.memory.repairs_used,
        repairs_max=limits.repairs,
        gpu_hours=bump.gpu_hours,
        cap=limits.gpu_hours,
        follow=_follow(bump, ended),
        unpaid=_unpaid(bump, ended),
        successor=ended.successor,
        void=ended.outcome in JUDGED and void(judged),
        regressions=regressions(bump, judged) if ended.outcome is Outcome.REGRESSED else (),
        reasons=(*reasons(bump, judged), *unpaid) if judged and ended.outcome is Outcome.UNCERTAIN else (),
        again=again(bump, judged) if ended.outcome is Outcome.UNCERTAIN else (),
        lacking=_lacking(bump, ended),
        refused=refused(bump, [judged]) if ended.outcome in (Outcome.UNCERTAIN, Outcome.FAILED) else (),
    )


def finishing(bump: Bump, ended: Ended) -> Finishing:
    """Which runs are being stopped, as they were when cleaning up began."""
    return Finishing(outcome=ended.outcome, runs=tuple(run.id for run in bump.world.runs if not run.terminal))


def last_words(bump: Bump, ended: Ended, *, theirs: bool = False) -> LastWords:
    """Every run of ours with its reason, in the order they began; `theirs`: a person has the pull request, we leave it."""
    ending = ENDINGS[ended.outcome]
    return LastWords(
        outcome=ended.outcome,
        cause=ended.cause,
        proven=ended.outcome in PROVEN,
        why=ended.why,
        repairs=bump.memory.repairs_used,
        repairs_max=bump.subject.limits.repairs,
        gpu_hours=fsum(spent(run) for run in bump.world.runs),
        runs=tuple(run_line(bump, run) for run in sorted(bump.world.runs, key=lambda run: (run.created, run.id))),
        branch=bump.subject.rules.branch,
        branch_kept=ending.branch == "kept",
        next=ending.next,
        retry=ending.retry,
        closed=ending.pull == "close" and not theirs,
        successor=ended.successor,
        lacking=_lacking(bump, ended),
        unpaid=_unpaid(bump, ended),
        evidence=bump.memory.evidence or Evidence(why="unreachable"),
    )


def _lacking(bump: Bump, ended: Ended) -> tuple[LackLine, ...]:
    """That there was nothing to compare with, where a sweep ended open."""
    judged = bump.judged(ended.run) if ended.run else None
    if ended.outcome is not Outcome.UNCERTAIN or ended.cause is not Cause.VERDICT or (judged and judged.control):
        return ()
    return lacking(bump)


def status(bump: Bump, *, about: str, by: str | None) -> Status:
    """A short answer with the state line; `about` is a word of the glossary."""
    return Status(about=about, by=by, state=state(bump, bump.memory.ended))


def _unpaid(bump: Bump, ended: Ended) -> Unpaid | None:
    """The step that the budget did not hold; a repair's price stands with the repair."""
    if ended.step is None or ended.forecast is None:
        return None
    day = bump.subject.limits.gpu_hours_per_day
    return Unpaid(step=ended.step, forecast=ended.forecast, left=budget.left(bump), cap=bump.subject.limits.gpu_hours,
                  day=day if day is not None and ended.forecast > day else None)


def _follow(bump: Bump, ended: Ended) -> Follow | None:
    wanted = ended.wanted
    if wanted is None:
        return None
    return Follow(
        repair=wanted.id, why=wanted.why, changes=wanted.changes, files=wanted.files,
        forecast=ended.forecast, left=budget.left(bump), obstacle=wanted.obstacle,
    )
