"""Whether the machines have room now: below the limit of use, and as many nodes idle as are needed. It flips within minutes
(#2908), so that the moment and the figures are told, and the pull request is opened only after this."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.finding import Checked, PlanFinding, Release
from bot.model.preflight import Facts, Load
from bot.model.text import Text
from bot.preflight.fleets import asked, fleets, serves
from bot.preflight.words import count, listed, safe, unknown

_NEARLY = 1e-9


def check(facts: Facts) -> Checked:
    """For each label one fleet with room is enough, since a job may land on any of them."""
    if facts.loads is None:
        return unknown(facts, "capacity", "not-told")
    wanted = asked(facts)
    told = {name: _loads(facts, words) for name, words in wanted.items()}
    full = {name: loads for name, loads in told.items() if loads and not any(_room(facts, one) for one in loads)}
    open_ = [name for name, loads in told.items() if not loads]
    if not wanted:
        return unknown(facts, "capacity", "no-points")
    figures = listed(f"{one.cluster}:{one.nodes - one.idle}/{one.nodes}" for loads in told.values() for one in loads)
    return Checked(
        check="capacity", findings=tuple(_full(facts, name, loads) for name, loads in full.items()),
        unknown=unknown(facts, "capacity", "no-load").unknown if open_ else None,
        about=Text(f"nodes in use: {figures or '?'}", f"使用中的节点：{figures or '?'}"))


def _loads(facts: Facts, words: Sequence[str]) -> list[Load]:
    """What is said of these machines; of no node at all nothing is."""
    behind = fleets(facts, words)
    return [one for one in facts.loads or () if one.nodes and any(serves(one.cluster, words, fleet) for fleet in behind)]


def _room(facts: Facts, load: Load) -> bool:
    return load.used < facts.capacity_limit - _NEARLY and load.idle >= facts.idle_needed


def _full(facts: Facts, name: str, loads: Sequence[Load]) -> PlanFinding:
    best = max(loads, key=lambda one: (one.idle, -one.used))
    used, limit, at = f"{best.used:.0%}", f"{facts.capacity_limit:.0%}", f"{facts.now:%Y-%m-%d %H:%M}Z"
    cluster, need, free = safe(best.cluster), facts.idle_needed, count(facts.idle_needed, "node")
    few = Text(f"{best.idle} of {count(best.nodes, 'node')} idle", f"{best.nodes} 个节点中有 {best.idle} 个空闲")
    return PlanFinding(
        check="capacity", class_="capacity", action="stop", who="bot", where=best.source or "preflight.capacity",
        evidence=f"{cluster}: {used} used, {few.en}, {best.queued} queued, {at}",
        what=Text(f"{cluster} has no room: {used} in use at {at} ({few.en}); a bump starts below {limit} with {free} idle",
                  f"{cluster} 没有余量：{at} 时占用 {used}（{few.zh}）；占用低于 {limit} 且至少 {need} 个节点空闲时才会开始更新"),
        next=Text("nothing: the bot looks again and starts once there is room", "无需处理：机器人会再次查看，有余量后自动开始"),
        release=Release(of="capacity", subject=name, says=Text(
            f"{cluster} is below {limit} with {free} idle", f"{cluster} 占用低于 {limit} 且有 {need} 个节点空闲")))
