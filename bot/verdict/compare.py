"""Rows of a candidate against the baseline's: findings, one verdict, its reasons, and what is worth running again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from msgspec import structs

from bot.model.result import Accounting, Cell, Finding, Judgement, Row, Samples, Score, Verdict
from bot.results.metrics import Metric, Metrics
from bot.verdict import answers, doubts, errors, evals
from bot.verdict.judge import Judged, Noise, judge
from bot.verdict.pairs import Index, Key, Pair, canonical, counterpart, identity, index, once, pairs, split
from bot.verdict.reruns import Costs, reruns
from bot.verdict.words import known, word, worst

SATURATED = 5.0
"""A point whose baseline TTFT is this many times the lowest of its curve waits in a queue, not in the engine."""


def compare(
    new: Sequence[Row],
    baseline: Sequence[Row],
    *,
    repeat: Sequence[Row] = (),
    metrics: Metrics,
    noise: Mapping[str, Noise] | None = None,
    scores: Sequence[Score] = (),
    accounting: Sequence[Accounting] = (),
    baseline_accounting: Sequence[Accounting] = (),
    samples: Sequence[Samples] = (),
    baseline_samples: Sequence[Samples] = (),
    gpu_hours: Costs | None = None,
    reasons: Iterable[str] = (),
) -> Verdict:
    """The verdict of `new` (one head) over `baseline` (one image, one or more runs).

    `repeat` are second measurements of the same head, and so are earlier runs of it among `new`. `noise` is what A/A
    pairs have shown by metric, never taken below the floors of metrics.yaml. `scores` are gated evals: one that failed
    voids the performance findings. `samples` are the answers of evals, told apart: where both sides have them they are
    compared question by question. `gpu_hours` is what one more run costs, by cell (without its fingerprint) or else by
    concurrency. `reasons` are facts known from outside (`serving-path-changed`, `baseline-unverifiable`, `image-not-proven`).

    Raises BadInput when a point stands twice in one run, on two heads, or in a unit that is not its metric's.
    """
    latest, earlier = split(canonical(new, metrics))
    old = once(canonical(baseline, metrics), "the baseline")
    second = once((*canonical(repeat, metrics), *earlier), "the repeat", latest)
    outside = known(reasons)
    scored, not_comparable = evals.findings(latest, old, metrics["eval"].margin or evals.MARGIN, samples, baseline_samples)
    cut = answers.findings(samples, baseline_samples)
    failed = any(score.passed is False for score in scores) or any(found.finding == "regressed" for found in (*scored, *cut))
    latest, second = doubts.doubted(latest, old), doubts.doubted(second, old)
    curves = [_performance(*part, metrics, noise or {}, outside) for part in _recipes(latest, old, second)]
    judged = [each for found, _, _ in curves for each in found]
    broken = errors.findings(latest[0].point.recipe if latest else "", accounting, baseline_accounting)
    unseen = any(blind for *_, blind in curves)
    verdict = _join(judged, (*scored, *cut, *broken), failed=failed, unseen=unseen)
    performance = [structs.replace(found, void=failed, stat=each.stat) for each in judged for found in each.findings]
    beside = (*answers.told(samples, baseline_samples, old), *doubts.findings(latest, old, metrics))
    told = [*outside, *not_comparable, *(reason for _, lacking, _ in curves for reason in lacking),
            *_reasons((*scored, *cut, *broken, *beside)), *(reason for each in judged for reason in each.reasons)]  # fmt: skip
    told += ["too-few-points"] if unseen or not judged and not scored else []
    settled = verdict == "regressed"
    reasons = known(reason for reason in told if not (settled and word(reason) == "not-confirmed"))
    again = () if failed or settled else reruns(judged, outside, gpu_hours or {})
    return Verdict(verdict=verdict, findings=(*scored, *cut, *broken, *beside, *performance), reasons=reasons, rerun=again)


def _reasons(findings: Iterable[Finding]) -> list[str]:
    return [reason for found in findings for reason in found.reasons]


def _join(judged: Sequence[Judged], others: Sequence[Finding], *, failed: bool, unseen: bool) -> Judgement:
    """The worst of all kinds. Void performance joins nothing: without a regression elsewhere nothing is known then."""
    pooled: list[Judgement] = ["inconclusive"] if failed or unseen else []
    pooled += [] if failed else [each.findings[0].finding for each in judged]
    return worst([*pooled, *(found.finding for found in others)]) or "inconclusive"


def _recipes(new: Sequence[Row], *others: Sequence[Row]) -> list[tuple[Sequence[Row], ...]]:
    """The rows recipe by recipe, where there are several: a family moves together, but each is a curve of its own, and in
    one pool a recipe that fell hides behind one that did not."""
    recipes = tuple(dict.fromkeys(row.point.recipe for row in (*new, *(row for rows in others for row in rows))))
    if len(recipes) < 2 or len({row.point.recipe for row in new}) < 2:
        return [(new, *others)]
    return [tuple([row for row in rows if row.point.recipe == recipe] for rows in (new, *others)) for recipe in recipes]


def _performance(
    new: Sequence[Row],
    old: Sequence[Row],
    again: Sequence[Row],
    metrics: Metrics,
    noise: Mapping[str, Noise],
    reasons: Sequence[str],
) -> tuple[list[Judged], list[str], bool]:
    """The primaries of one recipe that both sides have, judged; the points that one side lacks; whether nothing was seen."""
    saturated = saturation(old, metrics)
    sides = index(new), index(old), index(again)
    judged: list[Judged] = []
    covered: set[Cell] = set()
    for primary in metrics.primaries:
        metric, stat, found, stand_in = choose(metrics.group(primary), *sides)
        if metric is None:
            continue
        stands = {counterpart(pair.point, saturated) for pair in found} - {None}
        points = frozenset(pair.point for pair in found if counterpart(pair.point, saturated) in stands)
        covered |= {pair.point for pair in found}
        judged.append(judge(metric, stat, found, points, noise.get(metric.id), (*reasons, *([stand_in] if stand_in else []))))
    unseen = not judged and any(row.metric in metrics and metrics[row.metric].primary for row in (new or old))
    return judged, _missing(new, old, covered, metrics, blind=not judged), unseen


def choose(
    group: Sequence[Metric], new: Index, old: Index, again: Index
) -> tuple[Metric | None, str | None, tuple[Pair, ...], str | None]:
    """The metric and statistic that speak for a primary: of those with the most points the first choice.

    The last value is the reason when it is not the very first choice: `stand-in:ttft-mean`.
    """
    keys: list[tuple[Metric, Key]] = [
        (metric, (metric.id, stat)) for metric in group for stat in ((metric.stat, "mean") if metric.stat else (None,))
    ]
    best: tuple[Metric | None, str | None, tuple[Pair, ...], str | None] = (None, None, (), None)
    for place, (metric, key) in enumerate(keys):
        if len(new.get(key, ())) <= len(best[2]):
            continue
        found = pairs(key, new, old, again)
        if len(found) > len(best[2]):
            name = f"{metric.id}-{key[1]}" if key[1] and key[1] != metric.stat else metric.id
            best = metric, key[1], found, f"stand-in:{name}" if place else None
    return best


def saturation(old: Sequence[Row], metrics: Metrics) -> frozenset[Cell]:
    """Baseline points whose TTFT is at least five times the lowest of their curve (same recipe, workload, topology)."""
    held = index(old)
    for metric in metrics.group("first-token"):
        for stat in (metric.stat, "mean"):
            curves: dict[tuple[object, ...], dict[Cell, float]] = {}
            for point, rows in held.get((metric.id, stat), {}).items():
                values = [row.value for row in rows if 0 < row.value < math.inf]
                if values:
                    curves.setdefault((point.recipe, point.workload, point.topology), {})[point] = median(values)
            if curves:
                return frozenset(
                    point for curve in curves.values() for point, value in curve.items() if value >= SATURATED * min(curve.values())
                )
    return frozenset()


def _missing(new: Sequence[Row], old: Sequence[Row], covered: set[Cell], metrics: Metrics, *, blind: bool) -> list[str]:
    """Points that one side has and the other lacks. With no match at all the topologies differ."""
    primary = {metric.id for metric in metrics.values() if metric.primary}
    mine, theirs = ({identity(row.point) for row in rows if row.metric in primary} for rows in (new, old))
    if blind and mine and {cell.concurrency for cell in mine} & {cell.concurrency for cell in theirs}:
        return ["workload-mismatch"]
    lacking = [cell for cell in theirs if counterpart(cell, covered) is None] + [cell for cell in mine - covered]
    return [f"partial-sweep:c{conc}" for conc in sorted({cell.concurrency for cell in lacking})] if mine or not new else []
