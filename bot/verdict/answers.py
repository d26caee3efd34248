"""Answers told apart: those without a final answer, and the right ones among those that have one.

A server that drops the tail of its streams is fast, and its score falls though the model has not changed: 219 of 1319
answers had no final line, and of the other 1100 as many were right as ever. Counting the right thing needs no statistics.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.result import Cell, Finding, Judgement, Row, Samples
from bot.verdict.evals import QUESTIONS, counts, nearest, normal
from bot.verdict.paired import Paired, paired
from bot.verdict.statistics import Z_ONE_SIDED, fisher, mcnemar, newcombe, newcombe_paired

MARGIN = 0.02
LEVEL = 0.01


def findings(new: Sequence[Samples], baseline: Sequence[Samples]) -> tuple[Finding, ...]:
    """Whether more answers have no final answer than before, for each eval of which both sides kept the answers."""
    made = []
    for mine, theirs in _matched(new, baseline):
        if theirs is not None and min(mine.n, theirs.n) >= QUESTIONS:
            made.append(_cut(mine, theirs))
    return tuple(made)


def told(new: Sequence[Samples], baseline: Sequence[Samples], old_rows: Sequence[Row] = ()) -> tuple[Finding, ...]:
    """What is worth telling beside the judged findings, and joins no verdict: cut answers that nothing can be compared
    with, and the share of right ones among the answers that were finished."""
    made: list[Finding] = []
    for mine, theirs in _matched(new, baseline):
        if mine.cut and theirs is None:
            why = f"eval-not-comparable:{mine.task}:answers" if mine.task else "eval-not-comparable"
            made.append(_made("cut_answers", mine, None, mine.cut / mine.n, "inconclusive", None, mine.n, (why,)))
        if mine.cut and mine.n > mine.cut:
            made.append(_uncut(mine, theirs, old_rows))
    return tuple(made)


def uncut(samples: Samples) -> tuple[int, int]:
    """(right, asked) of the questions that got a final answer."""
    return samples.correct, samples.n - samples.cut


def closes(samples: Samples) -> bool:
    """Whether the account closes: right, wrong and cut answers are all there are."""
    return samples.correct + samples.wrong + samples.cut == samples.n


def judgement(mine: Samples, theirs: Samples, both: Paired | None) -> tuple[Judgement, tuple[str, ...]]:
    """Regressed: more cut by the margin and beyond chance. Some more are neutral when that is shown to be less than the
    margin. No more than before are neutral (how much so few questions can show is the score's own finding), and no merit."""
    cut, cut_old = (mine.cut, mine.n), (theirs.cut, theirs.n)
    grown = (both.only_new - both.only_old) / both.n if both else cut[0] / cut[1] - cut_old[0] / cut_old[1]
    chance = mcnemar(both.only_new, both.only_old) if both else fisher(cut, cut_old)
    if grown >= MARGIN and chance < LEVEL:
        return "regressed", ()
    if grown <= 0:
        return "neutral", ()
    high = (newcombe_paired(*both, Z_ONE_SIDED) if both else newcombe(cut, cut_old, Z_ONE_SIDED))[1]
    return ("neutral", ()) if high < MARGIN else ("inconclusive", ("wide-interval",))


def _cut(mine: Samples, theirs: Samples) -> Finding:
    both = paired(mine, theirs, "c")
    finding, reasons = judgement(mine, theirs, both)
    if both:
        then, now, n = (both.both + both.only_old) / both.n, (both.both + both.only_new) / both.n, both.n
        return _made("cut_answers", mine, then, now, finding, newcombe_paired(*both), n, reasons, how="paired")
    interval = newcombe((mine.cut, mine.n), (theirs.cut, theirs.n))
    return _made("cut_answers", mine, theirs.cut / theirs.n, mine.cut / mine.n, finding, interval, mine.n, reasons, how="unpaired")


def _uncut(mine: Samples, theirs: Samples | None, old_rows: Sequence[Row]) -> Finding:
    """Compared with the baseline's finished answers, else with its whole score: with nothing cut they are the same."""
    right, of = uncut(mine)
    old = uncut(theirs) if theirs is not None and theirs.n > theirs.cut else _scored(mine, old_rows)
    interval = newcombe((right, of), old) if old and old[1] else None
    return _made("uncut_answers", mine, old[0] / old[1] if old and old[1] else None, right / of,
                 "neutral" if interval and interval[0] > -MARGIN else "inconclusive", interval, of, (), how="unpaired")  # fmt: skip


def _scored(mine: Samples, rows: Sequence[Row]) -> tuple[int, int] | None:
    cell = Cell(recipe=mine.recipe, concurrency=mine.concurrency)
    row = normal(Row(point=cell, metric="eval", value=mine.correct / mine.n, unit="share", task=mine.task, stat="strict"))
    old = nearest(row, [normal(other) for other in rows if other.metric == "eval"])
    return counts(old) if old is not None else None


def _matched(new: Sequence[Samples], baseline: Sequence[Samples]) -> list[tuple[Samples, Samples | None]]:
    """Each eval's answers and the baseline's of the same task and recipe, at the nearest concurrency."""
    made: list[tuple[Samples, Samples | None]] = []
    for mine in sorted((part for part in new if part.n), key=lambda part: (part.recipe, part.task, part.concurrency)):
        fitting = [
            other for other in baseline
            if other.n and other.task == mine.task and (not other.recipe or not mine.recipe or other.recipe == mine.recipe)
        ]  # fmt: skip
        near = min(fitting, default=None, key=lambda other: (abs(other.concurrency - mine.concurrency), -other.concurrency))
        made.append((mine, near))
    return made


def _made(
    metric: str,
    mine: Samples,
    old: float | None,
    new: float,
    finding: Judgement,
    interval: tuple[float, float] | None,
    n: int,
    reasons: tuple[str, ...],
    how: str | None = None,
) -> Finding:
    return Finding(
        metric=metric,
        point=Cell(recipe=mine.recipe, concurrency=mine.concurrency),
        baseline=old,
        new=new,
        delta=None if old is None else new - old,
        unit="share",
        finding=finding,
        interval=interval,
        n=n,
        reasons=reasons,
        recipe=mine.recipe,
        how=how,
        task=mine.task or None,
    )
