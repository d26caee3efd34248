"""Evals against the baseline's: question by question where both sides kept them, else two shares with their n.

The gate is another question: one at 0.90 with 1319 questions cannot see a fall from 0.973 to 0.92, and a score below it may
be no fall at all. Neutral must be shown, by what the questions carry and no further.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import structs

from bot.model.result import Cell, Finding, Judgement, Rerun, Row, Samples
from bot.verdict.canary import LEVEL
from bot.verdict.paired import Paired, paired, samples_of
from bot.verdict.pairs import identity, order
from bot.verdict.statistics import Z_FAMILY, Z_ONE_SIDED, at_most, homogeneous, newcombe, newcombe_paired

MARGIN = 0.02
QUESTIONS = 20
"""Fewer carry no verdict: one right answer of two says that the share lies between 0.09 and 0.91. They can still gate."""
SAME_SUITE = 0.01
"""Questions asked may differ by this share and still be the suite."""
MOST = 20
"""More runs of one eval than this are no plan."""
AGREE = 0.05
"""Scores at several concurrencies whose spread has at least this p have one cause, and are looked at as one."""
STATS = {
    "em_strict": "strict",
    "strict-match": "strict",
    "exact_match,strict-match": "strict",
    "em_flexible": "flexible",
    "flexible-extract": "flexible",
    "exact_match,flexible-extract": "flexible",
}


def normal(row: Row) -> Row:
    """`gsm8k/em_strict` and the filters' long names in one spelling; a score without a filter is the strict one."""
    task, _, filtered = (row.task or "").partition("/")
    stat = row.stat or filtered or None
    return structs.replace(row, task=task or None, stat=STATS.get(stat or "strict", stat or "strict"))


def findings(
    new: Sequence[Row],
    baseline: Sequence[Row],
    margin: float = MARGIN,
    samples: Sequence[Samples] = (),
    baseline_samples: Sequence[Samples] = (),
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """A finding for each eval with a comparable baseline, and one for all points of a task that agree; for the others a
    reason, because nothing can be found. So too for a suite that was published and is not measured any more.

    The reason says what kept them apart: `eval-not-comparable:gsm8k` was not published, `...:gsm8k/flexible` not by that filter,
    `...:gsm8k:gone` is not measured any more, `...:gsm8k:1000:1319` was asked other questions then. A suite of another size is
    a finding only where it fell beyond chance.
    """
    theirs = [normal(row) for row in baseline if row.metric == "eval" and math.isfinite(row.value)]
    mine = sorted((normal(row) for row in new if row.metric == "eval" and math.isfinite(row.value)), key=_order)
    made: list[Finding] = []
    compared: dict[tuple[str, str, str], list[tuple[Row, Row]]] = {}
    reasons: list[str] = []
    for row in mine:
        old = nearest(row, theirs)
        named = f":{row.task}" if row.task else ""
        if old is None:
            known = any(other.task == row.task for other in theirs)
            reasons.append(f"eval-not-comparable{named}" + (f"/{row.stat}" if known and named else ""))
        elif min(row.n or QUESTIONS, old.n or QUESTIONS) < QUESTIONS:
            reasons.append(f"too-few-points{named}")
        else:
            both = paired(samples_of(row, samples), samples_of(old, baseline_samples)) if row.stat == "strict" else None
            found = _finding(row, old, margin, both)
            changed = _resized(row, old)
            if both is None and changed:
                reasons.append(changed)
                if found.finding != "regressed" or _chosen(row, samples, baseline_samples) or not _alarming(row, old):
                    continue
            made.append(found)
            if changed:
                continue  # a selection of the suite speaks for itself: it is no share of the whole that could be added up
            compared.setdefault((row.point.recipe, row.task or "", row.stat or ""), []).append((row, old))
    asked = {row.task for row in mine}
    gone = sorted({old.task for old in theirs if old.task and old.task not in asked}) if new else []
    reasons += [f"eval-not-comparable:{task}:gone" for task in gone]
    pooled = [found for _, found in sorted(compared.items()) for found in _together(found, margin)]
    return (*made, *pooled), tuple(dict.fromkeys(reasons))


def nearest(row: Row, baseline: Sequence[Row]) -> Row | None:
    """The baseline's score of the same recipe, task and filter, at the same concurrency or else the nearest.

    A score does not depend on concurrency (three points of the seed agree, p = 0.50), and often only one was published.
    """
    fitting = [old for old in baseline if (old.task, old.stat) == (row.task, row.stat)
               and (not old.point.recipe or not row.point.recipe or old.point.recipe == row.point.recipe)]
    return min(
        fitting,
        default=None,
        key=lambda old: (
            abs(math.log(max(old.point.concurrency, 1) / max(row.point.concurrency, 1))),
            -old.point.concurrency,
            -(old.run or 0),
            old.value,
        ),
    )


def _alarming(row: Row, old: Row) -> bool:
    """Whether a smaller suite is so far below the whole one's share that a first sample of it would be an alarm (canary): 93
    of a hundred happen in two of a hundred, and 92 in less than one."""
    mine = counts(row)
    return mine is None or mine[1] >= (old.n or 0) or at_most(*mine, old.value) < LEVEL


def _chosen(row: Row, samples: Sequence[Samples], baseline_samples: Sequence[Samples]) -> bool:
    """Whether both sides kept their answers, so that it is known that one asked a selection of the other's questions: the
    first hundred of a suite were harder than the rest, and the same answers under another filter looked like a fall."""
    def kept(side: Sequence[Samples]) -> list[Samples]:
        return [part for part in side if part.task == row.task and part.marks
                and (not part.recipe or not row.point.recipe or part.recipe == row.point.recipe)]

    return any(paired(mine, theirs) for mine in kept(samples) if mine.concurrency == row.point.concurrency
               for theirs in kept(baseline_samples))


def _finding(row: Row, old: Row, margin: float, both: Paired | None) -> Finding:
    """In pairs the scores are those of the questions that both sides were asked: 92 of the first hundred, of which the
    baseline had 64, are no fall from the 97 % of its whole suite."""
    mine, theirs = counts(row), counts(old)
    interval, finding, reasons = None, "inconclusive", ("noise-unknown",)
    now, then, n = row.value, old.value, row.n
    if both:
        if not both.n == row.n == old.n:
            now, then, n = (both.both + both.only_new) / both.n, (both.both + both.only_old) / both.n, both.n
        interval, finding = newcombe_paired(*both), judgement_paired(both, margin)
        reasons = ("wide-interval",) if finding == "inconclusive" else ()
    elif mine and theirs:
        interval, finding = newcombe(mine, theirs), judgement(mine, theirs, margin)
        reasons = ("wide-interval",) if finding == "inconclusive" else ()
    return Finding(
        metric="eval",
        point=identity(row.point),
        baseline=then,
        new=now,
        delta=now - then,
        unit="share",
        finding=finding,
        interval=interval,
        n=n,
        reasons=reasons,
        how="paired" if both else "unpaired" if interval else None,
        task=row.task,
        stat=row.stat,
    )


def _resized(row: Row, old: Row) -> str | None:
    """The reason where the suite has another size than it had: the scores are of two tests."""
    now, then = row.n or 0, old.n or 0
    if not now or not then or abs(now - then) <= SAME_SUITE * max(now, then):
        return None
    return f"eval-not-comparable:{row.task}:{then}:{now}" if row.task else "eval-not-comparable"


def _together(compared: Sequence[tuple[Row, Row]], margin: float) -> list[Finding]:
    """One look at a task over all its points, where they agree: three points with one score have one cause, and it is not
    concurrency. A published score that several points were compared with counts once."""
    mine = [counted for row, _ in compared if (counted := counts(row))]
    theirs = [counted for old in dict.fromkeys(old for _, old in compared) if (counted := counts(old))]
    if len(mine) < 2 or not theirs or homogeneous(mine) < AGREE or homogeneous(theirs) < AGREE:
        return []
    (first, _), one, other = compared[0], _summed(mine), _summed(theirs)
    finding = judgement(one, other, margin)
    share, share_old = one[0] / one[1], other[0] / other[1]
    return [
        Finding(metric="eval", point=None, baseline=share_old, new=share, delta=share - share_old, unit="share",
                finding=finding, interval=newcombe(one, other), n=one[1], how="pooled", recipe=first.point.recipe, task=first.task,
                stat=first.stat,
                reasons=("wide-interval",) if finding == "inconclusive" else ())
    ]  # fmt: skip


def _summed(counted: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(right for right, _ in counted), sum(of for _, of in counted)


def judgement_paired(both: Paired, margin: float) -> Judgement:
    """The same rule on the same questions: what both images answered alike says nothing, and its noise is gone."""
    difference = (both.only_new - both.only_old) / both.n
    low, high = newcombe_paired(*both, Z_FAMILY)
    if difference <= -margin and high < 0:
        return "regressed"
    if difference >= margin and low > 0:
        return "improved"
    return "neutral" if newcombe_paired(*both, Z_ONE_SIDED)[0] > -margin else "inconclusive"


def judgement(mine: tuple[int, int], theirs: tuple[int, int], margin: float) -> Judgement:
    """Regressed: down by the margin and surely down. Neutral must be shown: surely not down by the margin."""
    difference = mine[0] / mine[1] - theirs[0] / theirs[1]
    low, high = newcombe(mine, theirs, Z_FAMILY)
    if difference <= -margin and high < 0:
        return "regressed"
    if difference >= margin and low > 0:
        return "improved"
    return "neutral" if newcombe(mine, theirs, Z_ONE_SIDED)[0] > -margin else "inconclusive"


def counts(row: Row) -> tuple[int, int] | None:
    """(right, asked); the nearest whole number where only the share is known; None without n."""
    if not row.n or row.n < 1:
        return None
    correct = row.correct if row.correct is not None else math.floor(row.value * row.n + 0.5)
    return min(max(correct, 0), row.n), row.n


def asked_again(scored: Sequence[Finding], baseline: Sequence[Row], margin: float = MARGIN) -> tuple[Rerun, ...]:
    """Evals whose own questions leave them open, and how many more runs of as many would decide if they came out as those so
    far; None where none would, since what the baseline was asked leaves it open. What one costs is not known here."""
    theirs = [normal(row) for row in baseline if row.metric == "eval"]
    made: dict[Cell, int | None] = {}
    for found in scored:
        if found.point is None or found.new is None or found.finding != "inconclusive" or "wide-interval" not in found.reasons:
            continue
        row = Row(point=found.point, metric="eval", value=found.new, unit="share", n=found.n, task=found.task, stat=found.stat)
        mine, old = counts(row), nearest(row, theirs)
        more = _more(mine, counts(old), margin) if mine and old else None
        made[found.point] = more if found.point not in made or made[found.point] is None else max(made[found.point] or 0, more or 0)
    return tuple(Rerun(point=point, why="questions:eval", gpu_hours=None, runs=more) for point, more in made.items())


def _more(mine: tuple[int, int], theirs: tuple[int, int] | None, margin: float) -> int | None:
    if theirs is None:
        return None
    right, asked = mine
    return next((more for more in range(1, MOST + 1)
                 if judgement((right * (more + 1), asked * (more + 1)), theirs, margin) != "inconclusive"), None)


def _order(row: Row) -> tuple[object, ...]:
    return (row.task or "", row.stat or "", order(row.point), row.value)
