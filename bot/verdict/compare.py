"""Rows of a candidate against the baseline's: findings, one verdict, its reasons, and what is worth running again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from bot.model.result import Accounting, Cell, Finding, Judgement, Rerun, Row, Score, Verdict
from bot.results.metrics import Metric, Metrics
from bot.verdict import errors, evals
from bot.verdict.judge import Judged, Noise, judge
from bot.verdict.pairs import Key, Pair, canonical, counterpart, identity, order, pairs, split
from bot.verdict.words import known, worst

SATURATED = 5.0
"""A point whose baseline TTFT is this many times the lowest of its curve waits in a queue, not in the engine."""
COLD_TAIL = 2.0


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
    gpu_hours: Mapping[int, float] | None = None,
    reasons: Iterable[str] = (),
) -> Verdict:
    """The verdict of `new` (one head) over `baseline` (one image, one or more runs).

    `repeat` are second measurements of the same head, and so are earlier runs of it among `new`. `noise` is what A/A
    pairs have shown by metric, never taken below the floors of metrics.yaml. `scores` are gated evals: one that failed
    voids the performance findings. `gpu_hours` is what one more run of a concurrency costs. `reasons` are facts known
    from outside (`serving-path-changed`, `baseline-unverifiable`, `image-not-proven`).

    Raises BadInput when a point stands twice in one run, on two heads, or in a unit that is not its metric's.
    """
    latest, earlier = split(canonical(new, metrics))
    old, again = canonical(baseline, metrics), (*canonical(repeat, metrics), *earlier)
    outside = known(reasons)
    scored, not_comparable = evals.findings(latest, old, metrics["eval"].margin or evals.MARGIN)
    failed = any(score.passed is False for score in scores) or any(found.finding == "regressed" for found in scored)
    curves = [_performance(*part, metrics, noise or {}, outside) for part in _recipes(latest, old, again)]
    judged = [each for found, _, _ in curves for each in found]
    missing = [reason for _, lacking, _ in curves for reason in lacking]
    broken = errors.findings(latest[0].point.recipe if latest else "", accounting, baseline_accounting)
    unseen = any(blind for *_, blind in curves)
    verdict = _join(judged, (*scored, *broken), failed=failed, unseen=unseen)
    performance = [structs.replace(found, void=failed) for each in judged for found in each.findings]
    findings = (*scored, *broken, *performance)
    told = [*outside, *not_comparable, *missing, *(reason for found in findings for reason in found.reasons)]
    told += ["too-few-points"] if unseen or not judged and not scored else []
    settled = verdict == "regressed"
    return Verdict(
        verdict=verdict,
        findings=findings,
        reasons=known(reason for reason in told if not (settled and reason == "not-confirmed")),
        rerun=() if failed or settled else _rerun(judged, gpu_hours or {}),
    )


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
    cold = _cold_starts(new, old)
    judged: list[Judged] = []
    covered: set[Cell] = set()
    for primary in metrics.primaries:
        metric, stat, found, stand_in = choose(metrics.group(primary), new, old, again)
        if metric is None:
            continue
        found = tuple(_flagged(pair, cold) for pair in found)
        stands = {counterpart(pair.point, saturated) for pair in found} - {None}
        points = frozenset(pair.point for pair in found if counterpart(pair.point, saturated) in stands)
        covered |= {pair.point for pair in found}
        judged.append(judge(metric, stat, found, points, noise.get(metric.id), (*reasons, *([stand_in] if stand_in else []))))
    unseen = not judged and any(row.metric in metrics and metrics[row.metric].primary for row in (new or old))
    return judged, _missing(new, old, covered, metrics, blind=not judged), unseen


def choose(
    group: Sequence[Metric], new: Sequence[Row], old: Sequence[Row], again: Sequence[Row]
) -> tuple[Metric | None, str | None, tuple[Pair, ...], str | None]:
    """The metric and statistic that speak for a primary: of those with the most points the first choice.

    The last value is the reason when it is not the very first choice: `stand-in:ttft-mean`.
    """
    keys: list[tuple[Metric, Key]] = [
        (metric, (metric.id, stat)) for metric in group for stat in ((metric.stat, "mean") if metric.stat else (None,))
    ]
    best: tuple[Metric | None, str | None, tuple[Pair, ...], str | None] = (None, None, (), None)
    for index, (metric, key) in enumerate(keys):
        found = pairs(key, new, old, again)
        if len(found) > len(best[2]):
            name = f"{metric.id}-{key[1]}" if key[1] and key[1] != metric.stat else metric.id
            best = metric, key[1], found, f"stand-in:{name}" if index else None
    return best


def saturation(old: Sequence[Row], metrics: Metrics) -> frozenset[Cell]:
    """Baseline points whose TTFT is at least five times the lowest of their curve (same recipe, workload, topology)."""
    for metric in metrics.group("first-token"):
        for stat in (metric.stat, "mean"):
            curves: dict[tuple[object, ...], dict[Cell, float]] = {}
            for row in old:
                if (row.metric, row.stat) == (metric.id, stat) and row.value > 0:
                    point = identity(row.point)
                    curves.setdefault((point.recipe, point.workload, point.topology), {})[point] = row.value
            if curves:
                return frozenset(
                    point for curve in curves.values() for point, value in curve.items() if value >= SATURATED * min(curve.values())
                )
    return frozenset()


def _cold_starts(new: Sequence[Row], old: Sequence[Row]) -> frozenset[Cell]:
    """Single-user points with a TTFT tail the baseline does not have: the first met a server still compiling."""
    tails = [
        {identity(row.point): row.value for row in rows if (row.metric, row.stat) == ("ttft", stat)}
        for rows in (new, old)
        for stat in ("p99", "p50")
    ]
    mine = {point: tails[0][point] / tails[1][point] for point in tails[0] if tails[1].get(point)}
    theirs = {point: tails[2][point] / tails[3][point] for point in tails[2] if tails[3].get(point)}
    return frozenset(
        point
        for point, tail in mine.items()
        if point.concurrency == 1
        and tail > COLD_TAIL
        and (found := counterpart(point, theirs)) is not None
        and theirs[found] <= COLD_TAIL
    )


def _flagged(pair: Pair, cold: frozenset[Cell]) -> Pair:
    return structs.replace(pair, flags=(*pair.flags, "cold-run")) if pair.point in cold else pair


def _missing(new: Sequence[Row], old: Sequence[Row], covered: set[Cell], metrics: Metrics, *, blind: bool) -> list[str]:
    """Points that one side has and the other lacks. With no match at all the topologies differ."""
    primary = {metric.id for metric in metrics.values() if metric.primary}
    mine, theirs = ({identity(row.point) for row in rows if row.metric in primary} for rows in (new, old))
    if blind and mine and {cell.concurrency for cell in mine} & {cell.concurrency for cell in theirs}:
        return ["workload-mismatch"]
    lacking = [cell for cell in theirs if counterpart(cell, covered) is None] + [cell for cell in mine - covered]
    return [f"partial-sweep:c{conc}" for conc in sorted({cell.concurrency for cell in lacking})] if mine or not new else []


def _rerun(judged: Sequence[Judged], gpu_hours: Mapping[int, float]) -> tuple[Rerun, ...]:
    why: dict[Cell, list[str]] = {}
    for each in judged:
        for point in each.suspects:
            why.setdefault(point, []).append(each.findings[0].metric)
    return tuple(
        Rerun(point=point, why="suspect:" + ",".join(why[point]), gpu_hours=gpu_hours.get(point.concurrency))
        for point in sorted(why, key=order)
    )
