"""The baseline as it is kept: once per bump, with everything said that can no longer be checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import structs

from bot.baseline.match import Match
from bot.model.baseline import Question
from bot.model.recipe import EvalSpec
from bot.model.result import Baseline, Row


def freeze(found: Match, question: Question, *, repushed: datetime | None = None) -> Baseline | None:
    """The matched baseline with its notes; None when nothing matched.

    `repushed` is when the tag was last pushed: after the day of a run the bytes that ran then cannot be verified. What the
    recipe selects now and what was measured then may differ in points and in evals: each difference is a note, for nothing
    is compared there.

    Notes are words, values after colons: `baseline-unverifiable:2026-09-03`, `points-gone:32`, `points-new:16`,
    `configuration-gone:TP8 1k1k`,
    `eval-not-comparable:gsm8k:gone` (published, not selected now), `eval-new:gsm8k` (the reverse),
    `eval-size-changed:gsm8k:1319:50`, `eval-threshold-changed:gsm8k:0.9:0.85`, `baseline-single`.
    """
    if found.baseline is None:
        return None
    frozen = found.baseline
    notes = [*found.notes, *_pushed(frozen, question, repushed), *_evals(frozen, question.evals),
             *(f"points-gone:{conc}" for conc in found.gone),
             *(f"configuration-gone:{told}" for told in found.retired),
             *(f"points-new:{conc}" for conc in sorted({one.point.concurrency for one in found.absent
                                                        if one.why == "not-published"})),
             *(["baseline-single"] if found.runs == 1 else [])]
    return structs.replace(frozen, notes=tuple(dict.fromkeys((*frozen.notes, *notes))))


def _pushed(frozen: Baseline, question: Question, repushed: datetime | None) -> list[str]:
    if repushed is None or "@" in question.image or repushed.date().isoformat() <= frozen.date:
        return []
    return [f"baseline-unverifiable:{repushed.date().isoformat()}"]


def _evals(frozen: Baseline, evals: Sequence[EvalSpec]) -> list[str]:
    """How the suite changed since: tasks, the number of questions, thresholds. A guest's gate once went from 1319 questions
    to a single one, and its score stood beside the old one as if it were the same test (#3063)."""
    selected: dict[str, EvalSpec] = {spec.task: spec for spec in evals}
    published = _tasks(frozen.rows)
    if not selected:
        return [f"eval-not-comparable:{task}:gone" for task in sorted(published)]
    notes = [f"eval-not-comparable:{task}:gone" for task in sorted(set(published) - set(selected))]
    notes += [f"eval-new:{task}" for task in sorted(set(selected) - set(published))] if published else []
    for task in sorted(set(published) & set(selected)):
        asked, limit = published[task], _asks(selected[task])
        then, now = frozen.thresholds.get(task), selected[task].threshold
        notes += [f"eval-size-changed:{task}:{asked}:{limit}"] if asked and limit and asked != limit else []
        notes += [f"eval-threshold-changed:{task}:{then:g}:{now:g}"] if then is not None and then != now else []
    return notes


# Questions of public suites as lm-eval asks them when nothing limits it: without a limit the recipe's own file does not tell.
_SUITES = {"gsm8k": 1319, "gsm8k_platinum": 1209, "gpqa_diamond": 198, "math500": 500, "aime24": 30, "aime25": 30,
           "ifeval": 541, "humaneval": 164, "mbpp": 500, "mbpp_plus": 378, "arc_challenge": 1172, "hellaswag": 10_042,
           "winogrande": 1267}


def _asks(spec: EvalSpec) -> int | None:
    """How many questions the eval asks now, as far as files tell: no more than its suite has."""
    found = [suite for suite in _SUITES if spec.task == suite or spec.task.startswith(f"{suite}_")]
    whole = _SUITES[max(found, key=len)] if found else None
    return min(spec.limit, whole) if spec.limit and whole else spec.limit or whole


def _tasks(rows: Sequence[Row]) -> Mapping[str, int]:
    """Task -> questions asked, 0 where that is not told; the filter that some files write behind it is no part of it."""
    found: dict[str, int] = {}
    for row in rows:
        if row.metric == "eval" and row.task:
            task = row.task.partition("/")[0]
            found[task] = max(found.get(task, 0), row.n or 0)
    return found
