"""Gates of the smoke against gates of the sweep. A smoke that asks another eval proves nothing about the gate: a real one ran two
questions of one eval, and the sweep failed on another after some 120 GPU-hours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.model.finding import Act, Checked, PlanFinding
from bot.model.preflight import Facts
from bot.model.recipe import Point
from bot.model.text import Text
from bot.preflight.words import count, joined, listed, safe, shape, unknown

_WHERE = "smoke.stages"


def check(facts: Facts) -> Checked:
    """Asks where a gating eval is not sampled, or with another threshold; the ends of a curve that are left out are a note."""
    sweep = [point for recipe in facts.family for point in recipe.points]
    if not sweep:
        return unknown(facts, "parity", "no-points")
    if not facts.smoke:
        return unknown(facts, "parity", "no-smoke")
    found = [*_gates(sweep, facts.smoke), *_ends(sweep, facts.smoke)]
    gates = {(point.recipe, point.eval.task) for point in sweep if point.eval}
    return Checked(check="parity", findings=tuple(found), about=Text(
        f"{count(len(gates), 'gating eval')} and the ends of each curve in {count(len(facts.smoke), 'point')} of the smoke",
        f"核对冒烟测试的 {len(facts.smoke)} 个测点是否覆盖 {len(gates)} 项评测门槛及各曲线两端"))


def _gates(sweep: Sequence[Point], smoke: Sequence[Point]) -> Iterable[PlanFinding]:
    wanted = {(point.recipe, point.eval.task): point.eval for point in sweep if point.eval}
    asked = {(point.recipe, point.eval.task): point.eval for point in smoke if point.eval}
    lost = [f"{recipe}:{task}" for recipe, task in wanted if (recipe, task) not in asked]
    other = [f"{recipe}:{task}:{asked[recipe, task].threshold:g}/{gate.threshold:g}" for (recipe, task), gate in wanted.items()
             if (recipe, task) in asked and asked[recipe, task].threshold != gate.threshold]
    if lost:
        yield _finding("ask", f"not in the smoke: {listed(lost)}", Text(
            f"the sweep is gated by evals that the smoke does not ask: {listed(lost)}",
            f"扫描的部分评测门槛未在冒烟测试中抽样：{listed(lost)}"))
    if other:
        yield _finding("ask", f"threshold smoke/sweep: {listed(other)}", Text(
            f"the smoke holds evals to another threshold than the sweep: {listed(other)}",
            f"冒烟测试与扫描的评测门槛不一致：{listed(other)}"))


def _ends(sweep: Sequence[Point], smoke: Sequence[Point]) -> Iterable[PlanFinding]:
    curves: dict[tuple[str, str, str], list[int]] = {}
    for point in sweep:
        if point.kind == "throughput":
            curves.setdefault((point.recipe, point.topology, point.workload), []).append(point.concurrency)
    ran = {(point.recipe, point.topology, point.workload, point.concurrency) for point in smoke if point.kind == "throughput"}
    lost = [f"{shape(topology)} {safe(workload)} c{end}" for (recipe, topology, workload), found in curves.items()
            for end in dict.fromkeys((min(found), max(found))) if (recipe, topology, workload, end) not in ran]
    if lost:
        yield _finding("note", f"not in the smoke: {joined(lost)}", Text(
            f"the smoke leaves out ends of curves: {joined(lost)}", f"冒烟测试未覆盖部分曲线的端点：{joined(lost)}"))


def _finding(action: Act, evidence: str, what: Text) -> PlanFinding:
    todo = Text("say whether the sweep may start all the same, or let the smoke run it (`smoke.stages` of the layout)",
                "请确认是否仍可启动扫描，或让冒烟测试包含该项（布局的 `smoke.stages`）")
    told = Text("nothing: the sweep measures it first", "无需处理：将首次由扫描测得")
    return PlanFinding(check="parity", class_=None, action=action, evidence=evidence, where=_WHERE, what=what,
                       next=todo if action == "ask" else told, who="maintainer" if action == "ask" else "bot")
