"""Rows of a candidate against the baseline's: findings, one verdict, its reasons, and what is worth running again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from bot.baseline.match import same_image
from bot.model.result import Accounting, Cell, Finding, Judgement, Row, Samples, Score, Verdict
from bot.results.metrics import Metrics
from bot.verdict import answers, doubts, errors, evals, held
from bot.verdict.curves import performance
from bot.verdict.judge import Judged, Noise
from bot.verdict.pairs import canonical, once, split
from bot.verdict.reruns import Costs, reruns
from bot.verdict.words import known, word, worst


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
    samples: Sequence[Samples] = (), baseline_samples: Sequence[Samples] = (),
    gpu_hours: Costs | None = None,
    reasons: Iterable[str] = (),
) -> Verdict:
    """The verdict of `new` (one head) over `baseline` (one image, one or more runs).

    `repeat` are second measurements of the same head, and so are earlier runs of it among `new`. `noise` is what A/A
    pairs have shown by metric, never taken below the floors of metrics.yaml. `scores` are gated evals: one that failed
    voids the performance findings, as does a gate that the rows themselves say did not hold. `samples` are the answers of evals,
    told apart: where both sides have them they are compared question by question. `gpu_hours` is what one more run costs, by
    cell (without its fingerprint) or else by concurrency. `reasons` are facts known from outside (`baseline-unverifiable`).

    Raises BadInput when a point stands twice in one run, on two heads, or in a unit that is not its metric's.
    """
    latest, earlier = split(canonical(new, metrics))
    old = once(canonical(baseline, metrics), "the baseline")
    second = _of_its_image(once((*canonical(repeat, metrics), *earlier), "the repeat", latest), latest)
    outside = known((*reasons, *_mixed(latest)))
    margin = metrics["eval"].margin or evals.MARGIN
    scored, not_comparable = evals.findings(latest, old, margin, samples, baseline_samples)
    cut = answers.findings(samples, baseline_samples)
    gates = held.findings(latest, second, old)
    failed = bool(gates) or _failed(scores, (*scored, *cut))
    latest, second, old = doubts.doubted(latest, old), doubts.doubted(second, old), doubts.chilled(old, latest)
    curves = [performance(*part, metrics, noise or {}, outside) for part in _recipes(latest, old, second)]
    judged = [each for curve in curves for each in curve.judged]
    lost = [gone for curve in curves for gone in curve.lost]
    broken = (*gates, *errors.findings(latest[0].point.recipe if latest else "", accounting, baseline_accounting, (*latest, *old)))
    unseen = any(curve.unseen for curve in curves)
    verdict = _join(judged, (*scored, *cut, *broken), failed=failed, unseen=unseen or any(curve.open for curve in curves))
    told_of = [structs.replace(found, void=failed, stat=each.stat) for each in judged for found in each.findings]
    beside = (*answers.told(samples, baseline_samples, old), *doubts.findings(latest, old, metrics))
    told = [*outside, *not_comparable, *(reason for curve in curves for reason in curve.reasons),
            *_reasons((*scored, *cut, *broken, *beside)), *(reason for each in judged for reason in each.reasons)]  # fmt: skip
    told += ["too-few-points"] if unseen or not judged and not scored else []
    settled = verdict == "regressed"
    reasons = known(reason for reason in told if not (settled and word(reason) == "not-confirmed"))
    again = () if failed or settled else reruns(judged, outside, gpu_hours or {}, lost) or evals.asked_again(scored, old, margin)
    return Verdict(verdict=verdict, findings=(*scored, *cut, *broken, *beside, *told_of), reasons=reasons, rerun=again)


def _failed(scores: Iterable[Score], found: Iterable[Finding]) -> bool:
    return any(score.passed is False for score in scores) or any(one.finding == "regressed" for one in found)


def _mixed(rows: Sequence[Row]) -> tuple[str, ...]:
    """The reason where rows of one sweep name several images: what is pooled then is no image's. Told is the rarer one."""
    points: dict[str, set[Cell]] = {}
    for row in rows:
        if row.image and row.metric != "eval":
            points.setdefault(next((one for one in points if same_image(one, row.image)), row.image), set()).add(row.point)
    rare = min(points, key=lambda name: (len(points[name]), name), default="")
    return (f"image-not-proven:{rare}",) if len(points) > 1 else ()


def _of_its_image(second: Sequence[Row], latest: Sequence[Row]) -> tuple[Row, ...]:
    """Second measurements, those flagged that name another image than the first: they repeat nothing. Had the old image
    answered a repeat as slowly, a loss that the room made would have been confirmed."""
    ours = {row.image for row in latest if row.image}
    return tuple(
        structs.replace(row, flags=(*row.flags, f"image-not-proven:{row.image}"))
        if ours and row.image and not any(same_image(row.image, one) for one in ours) else row for row in second
    )  # fmt: skip


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


