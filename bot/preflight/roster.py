"""The frozen baseline against the generated matrix: points that were published and cannot be generated any more (#3313 kept a
retired 1k/1k roster), evals that are another test by now."""

from __future__ import annotations

from bot.baseline import findings
from bot.baseline.identity import agrees
from bot.model.baseline import Configuration
from bot.model.finding import Checked, PlanFinding
from bot.model.preflight import Facts
from bot.model.recipe import Point
from bot.model.result import Cell
from bot.model.text import Text
from bot.preflight.words import count, joined, safe, shape, unknown

# Why there may be no baseline though nothing is wrong with the roster: then nothing can be said of it.
_UNASKED = {"baseline-unreachable": "unreachable", "source-refused": "refused", "answer-unreadable": "unreadable",
            "points-unknown": "no-points", "no-source": "not-told", "model-unknown": "missing"}


def check(facts: Facts) -> Checked:
    """The baseline's own findings, and what of its rows no point of the matrix is."""
    missing = (facts.missing_baseline or "").partition(":")[0]
    found = findings(facts.baseline, facts.missing_baseline)
    if facts.baseline is None and not found and (missing in _UNASKED or "roster" in facts.unknown):
        return unknown(facts, "roster", _UNASKED.get(missing, "not-asked"))
    gone = _gone(facts)
    points = [point for recipe in facts.family for point in recipe.points if point.kind == "throughput"]
    return Checked(check="roster", findings=(*found, *((gone,) if gone else ())),
                   about=Text(f"{count(len(points), 'point')} of the matrix against the frozen baseline",
                              f"将矩阵的 {len(points)} 个测点与已冻结的基线核对"))


def _gone(facts: Facts) -> PlanFinding | None:
    """Rows that the freezing did not tell of: a baseline that was frozen with an earlier matrix, or by hand."""
    points = [point for recipe in facts.family for point in recipe.points if point.kind == "throughput"]
    if facts.baseline is None or not points:
        return None
    cells = dict.fromkeys(row.point for row in facts.baseline.rows if row.metric != "eval")
    lost = [cell for cell in cells if not any(_same(cell, point, facts) for point in points)]
    if not lost:
        return None
    names = joined(f"{shape(cell.topology or cell.recipe or '') or '?'} {safe(cell.workload or '') or '?'} c{cell.concurrency}"
                   for cell in lost)
    where = f"{facts.baseline.source} {facts.baseline.date}".strip()
    return PlanFinding(
        check="roster", class_="baseline-gap", action="ask", who="maintainer", where=where,
        evidence=f"baseline minus matrix: {names}",
        what=Text(f"the baseline holds points that the recipe does not generate any more: {names}",
                  f"基线中有该配置已不再生成的测点：{names}"),
        next=Text("say whether these points were dropped on purpose: nothing is compared there",
                  "请确认这些测点是否有意移除：这些测点不作任何比较"))


def _same(cell: Cell, point: Point, facts: Facts) -> bool:
    """Whether a baseline's cell can be this point; what one side does not tell contradicts nothing."""
    ours = {recipe.key for recipe in facts.family}
    if point.concurrency != cell.concurrency or (cell.recipe in ours and cell.recipe != point.recipe):
        return False
    wanted = Configuration(fingerprint="", concurrencies=(), topology=point.topology, workload=point.workload)
    return agrees(cell.topology, cell.workload, wanted)
