"""Two measurements of one image, kept for later verdicts: what a repeat that confirmed nothing shows is the room's own noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from bot.errors import BadInput
from bot.ledger import canonical, memory_path
from bot.model.action import Action, Remember
from bot.model.bump import Bump, Ended, Judged
from bot.model.ledger import Snapshot
from bot.model.result import Row
from bot.results.metrics import Metrics
from bot.verdict.noise import Noise, NoiseSeen, noise, seen
from bot.wake import proofs
from bot.wake.context import Context

Writes = Mapping[str, bytes | None]


class Pairs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`memory/noise/<hardware>/<engine>/<run>`: what the repeat `run` of a sweep differed by, metric by metric."""

    seen: tuple[NoiseSeen, ...]


def known(context: Context, bump: Bump, rows: Sequence[Row]) -> Mapping[str, Noise]:
    """What earlier repeats on this hardware and engine have shown, by metric; nothing before the first one. A file that cannot
    be read is left out: without it the floors hold."""
    snapshot = context.ledger.tip()
    hardware, engine = _kind(bump)
    prefix = _path(hardware, engine, "").removesuffix(".json")
    records: list[NoiseSeen] = []
    for path in sorted(path for path in snapshot.paths if path.startswith(prefix)):
        try:
            held = context.ledger.load(snapshot, path, Pairs)
        except BadInput as error:
            context.narrate(f"{bump.id}: {path} is left out: {error}")
            continue
        records += held.seen if held else ()
    workloads = {row.point.workload for row in rows}
    return noise(records, context.knowledge.metrics, workload=workloads.pop() if len(workloads) == 1 else None) if records else {}


def kept(context: Context, snapshot: Snapshot, bump: Bump, actions: Sequence[Action]) -> tuple[Writes, tuple[str, ...]]:
    """(writes, reads) of a claim that ends a bump: a file for each repeat that did not confirm its sweep's suspicion."""
    if not any(isinstance(action, Remember) and isinstance(action.fact, Ended) for action in actions):
        return {}, ()
    writes: dict[str, bytes | None] = {}
    for again, first in _pairs(bump):
        found = _shown(bump, again, first, context.knowledge.metrics)
        path = _path(*_kind(bump), str(again.run))
        if found and path not in snapshot.paths:
            writes[path] = canonical(Pairs(seen=found))
    return writes, tuple(writes)


def _pairs(bump: Bump) -> list[tuple[Judged, Judged]]:
    """Repeats with the sweep they repeat, where the sweep's verdict is that nothing got worse. A cold run differs by something
    else than noise, and is no pair."""
    stages = {run.id: (run.stage, run.head) for run in bump.world.runs}
    sweeps = [one for one in bump.memory.judged if stages.get(one.run, ("", ""))[0] == "sweep" and one.verdict is not None
              and one.verdict.verdict != "regressed" and "cold-run" not in one.verdict.reasons]
    return [(again, first) for first in sweeps for again in bump.memory.judged
            if stages.get(again.run) == ("repeat", stages[first.run][1])]


def _shown(bump: Bump, again: Judged, first: Judged, metrics: Metrics) -> tuple[NoiseSeen, ...]:
    hardware, engine = _kind(bump)
    try:
        return seen(proofs.second(first), proofs.second(again), metrics=metrics, hardware=hardware, engine=engine,
                    source=f"{bump.id}:{first.run}/{again.run}")
    except BadInput:  # rows that contradict each other gave no verdict either
        return ()


def _kind(bump: Bump) -> tuple[str, str]:
    recipe = bump.subject.family[0]
    return recipe.hardware, recipe.framework


def _path(hardware: str, engine: str, run: str) -> str:
    return memory_path(f"noise/{hardware}/{engine}/{run}")
