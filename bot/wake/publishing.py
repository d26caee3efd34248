"""What a bump that ended measured, left in the ledger for the next one: the baseline that the recipe has once it moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from bot import ledger as chains
from bot.baseline.identity import plain
from bot.decide.runs import gates_hold, passed
from bot.errors import BumpbotError
from bot.images.reference import parse, same
from bot.model.bump import Bump, Judged
from bot.model.ledger import Measured, Snapshot
from bot.model.outcome import Outcome
from bot.model.recipe import Point
from bot.model.result import Row
from bot.model.run import Run
from bot.recipe import matrix
from bot.recipe.shelf import Shelf
from bot.wake.context import Context

# A sweep that these leave behind is whole and its gates hold. Whether its image is taken is a maintainer's word, which is not
# waited for: a result is found by its image and fingerprint, so one whose image no recipe took is nobody's baseline.
KEPT = (Outcome.VALIDATED, Outcome.REGRESSED, Outcome.UNCERTAIN, Outcome.MERGED)
STAGES = ("sweep", "repeat")


def results(context: Context, snapshot: Snapshot, bump: Bump) -> Mapping[str, bytes | None]:
    """The files of a last record: each finished sweep or repeat of the head, recipe by recipe. What is there already stays as it
    is, and of an image that was not proven to have run nothing is left."""
    ended = bump.memory.ended
    if ended is None or ended.outcome not in KEPT or bump.head is None:
        return {}
    found = [(run, judged) for run in bump.world.runs if run.stage in STAGES and run.head == bump.head
             and (judged := bump.judged(run.id)) is not None and passed(run) and gates_hold(bump, run) and _proven(bump, judged)]
    if not any(run.stage == "sweep" for run, _ in found):
        return {}
    points = _points(context, bump)
    writes: dict[str, bytes | None] = {}
    for run, judged in found:
        for recipe in bump.subject.family:
            made, path = _measured(bump, run, judged, recipe.key, points), chains.result_path(recipe.key, run.id)
            if made.rows and path not in snapshot.paths:
                writes[path] = chains.canonical(made)
    return writes


def _measured(bump: Bump, run: Run, judged: Judged, recipe: str, points: Sequence[Point]) -> Measured:
    new, alone = bump.subject.candidate.new, len(bump.subject.family) == 1
    rows = [row for row in judged.rows if row.point.recipe == recipe or (alone and not row.point.recipe)]
    pull = bump.world.pull
    return Measured(
        recipe=recipe, date=run.created.date().isoformat(), image=bump.subject.candidate.text, digest=new.digest, run=run.id,
        attempt=run.attempt, head=run.head, pull=pull.number if pull else None, of=bump.id,
        rows=_once(_placed(row, recipe, points) for row in rows),
        accounting=tuple(one for one in judged.accounting if one.recipe in ("", recipe)),
        samples=tuple(one for one in judged.samples if one.recipe in ("", recipe)),
        thresholds=bump.subject.plan.thresholds,
    )


def _placed(row: Row, recipe: str, points: Sequence[Point]) -> Row:
    """The row with the fingerprint of its point at the head: a dispatched run does not always know it. A point that two
    topologies have at that concurrency needs a row that says which; without one it stays without a fingerprint."""
    fitting = {point.fingerprint for point in points if point.recipe == recipe and point.concurrency == row.point.concurrency
               and _alike(plain(row.point.topology or ""), plain(point.topology)) and _alike(row.point.workload, point.workload)}
    mine = row.point.fingerprint or (next(iter(fitting)) if len(fitting) == 1 else None)
    return replace(row, point=replace(row.point, recipe=recipe, fingerprint=mine))


def _alike(told: str | None, wanted: str) -> bool:
    return not told or not wanted or told == wanted


def _once(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Every value once, that of the newest attempt: a job that ran again measured its point again. Repeats of one attempt are
    values of their own."""
    kept: dict[object, Row] = {}
    for row in rows:
        key = (row.point, row.metric, row.stat, row.task, row.repeat)
        if key not in kept or (row.attempt or 0) >= (kept[key].attempt or 0):
            kept[key] = row
    return tuple(kept.values())


def _proven(bump: Bump, judged: Judged) -> bool:
    """Whether every result names the candidate, no server said otherwise or nothing, and no verdict does."""
    named = [row.image for row in judged.rows if row.image]
    doubted = judged.verdict is not None and any(reason.startswith("image-not-proven") for reason in judged.verdict.reasons)
    served = all(proof.holds for proof in judged.proofs)
    return bool(named) and served and not doubted and all(_same(image, bump.subject.candidate.text) for image in named)


def _same(one: str, other: str) -> bool:
    try:
        return same(parse(one), parse(other))
    except BumpbotError:
        return False


def _points(context: Context, bump: Bump) -> tuple[Point, ...]:
    """The family's points on the head, with the fingerprints that they have with the new image."""
    keys = [recipe.key for recipe in bump.subject.family]
    try:
        return matrix.together(Shelf.of(context.tree(bump.head or "")), context.layout, keys)
    except BumpbotError as error:
        context.narrate(f"{bump.id}: what its points are with the new image is not known: {error}")
        return ()
