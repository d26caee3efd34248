"""The page of a run whose results were collected, as a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from bot.model.lines import Cell
from bot.model.record import Swept
from bot.model.result import Row, Score
from bot.model.swept import Fault, Gathered, Told
from bot.model.sweptlines import Curve, FaultLine, GateLine, PointLine, RecipeLine, State
from bot.verdict.gates import scores

# Each column's metric, the one that is looked for first in front; what stands in for it is named in the head.
COLUMNS = (("tput_per_gpu", "output_tput_per_gpu"), ("output_tput",), ("ttft", "ttft:mean"),
           ("itl", "itl:mean", "tpot", "tpot:mean"))
_P50 = {"ttft": "p50", "itl": "p50", "tpot": "p50"}


def swept(run: Told, gathered: Sequence[Gathered], faults: Iterable[Fault], published: Mapping[str, State]) -> Swept:
    """What was measured and what became of it; `published` holds the recipes that the ledger was asked to take."""
    rows = {job.planned.name: values(job.rows) for job in gathered if job.planned.point.eval is None and job.rows}
    metrics = tuple(next((name for name in names if any(name in told for told in rows.values())), names[0]) for names in COLUMNS)
    points = tuple(_point(job, rows[job.planned.name], metrics) for job in gathered if job.planned.name in rows)
    return Swept(
        run=run.run, attempt=run.attempt, head=run.head, metrics=metrics, points=points,
        evals=tuple(GateLine(score=score, proof=_proof(job)) for job in gathered for score in asked(job)),
        curves=tuple(_curves(points, metrics[0])), recipes=tuple(_recipes(gathered, published)),
        faults=tuple(dict.fromkeys(FaultLine(job=fault.job, why=fault.why) for fault in faults)))


def asked(job: Gathered) -> tuple[Score, ...]:
    """An eval's scores against its threshold."""
    gate = job.planned.point.eval
    return scores(job.rows, {gate.task: gate.threshold}, (), samples=job.samples) if gate else ()


def values(rows: Iterable[Row]) -> dict[str, float]:
    """Metric (with its statistic where that is not the usual one) -> the median over the repeats."""
    told: dict[str, list[float]] = {}
    for row in rows:
        usual = row.stat in (None, _P50.get(row.metric))
        told.setdefault(row.metric if usual else f"{row.metric}:{row.stat}", []).append(row.value)
    return {name: median(found) for name, found in told.items()}


def _point(job: Gathered, told: Mapping[str, float], metrics: Sequence[str]) -> PointLine:
    point = job.planned.point
    counted = [one for one in job.accounting if one.concurrency == point.concurrency]
    failed = sum(one.profiling_invalid for one in counted)
    return PointLine(
        recipe=point.recipe, concurrency=point.concurrency, cells=tuple(Cell(metric=name, new=told.get(name)) for name in metrics),
        failed=failed if counted else None, of=failed + sum(one.profiled for one in counted) if counted else None,
        proof=_proof(job))


def _curves(points: Sequence[PointLine], metric: str) -> Iterable[Curve]:
    for recipe in dict.fromkeys(point.recipe for point in points):
        curve = sorted((point.concurrency, cell.new) for point in points if point.recipe == recipe for cell in point.cells
                       if cell.metric == metric and cell.new is not None)
        if len(curve) > 1:
            yield Curve(recipe=recipe, metric=metric, points=tuple(curve))


def _recipes(gathered: Sequence[Gathered], published: Mapping[str, State]) -> Iterable[RecipeLine]:
    for recipe in dict.fromkeys(job.planned.point.recipe for job in gathered):
        jobs = [job for job in gathered if job.planned.point.recipe == recipe]
        good = sum(job.good for job in jobs)
        part: State = "part" if good == len(jobs) and not all(job.planned.whole for job in jobs) else "refused"
        yield RecipeLine(recipe=recipe, state=published.get(recipe, part), jobs=len(jobs), good=good)


def _proof(job: Gathered) -> str | None:
    return job.proof.state if job.proof else None
