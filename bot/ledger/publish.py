"""Results into the ledger by whoever collected them: one commit, each file written once, and content with finding it there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bot.errors import BumpbotError, Unreachable
from bot.ledger.chain import canonical
from bot.ledger.paths import result_path
from bot.ledger.results import sound
from bot.ledger.store import Ledger
from bot.model.ledger import Lost, Measured, Snapshot, Step
from bot.strict import load_json


class Published(Struct, frozen=True, kw_only=True):
    """What became of one recipe's results: `written` now; `there` already, the same or as a bump that ended left them."""

    recipe: str
    path: str
    state: Literal["written", "there"]


def publish(ledger: Ledger, found: Sequence[Measured], *, wake: str) -> tuple[Published, ...]:
    """The files of one run, recipe by recipe. What a wake wrote first stays as it is: it measured the same run (a run that was
    begun again keeps what its first whole attempt measured). BadInput for values that cannot be one; Unreachable when the ledger
    cannot be written, and then nothing was."""
    for one in found:
        path = result_path(one.recipe, one.run)
        sound(load_json(Measured, canonical(one), file=path), path)
    snapshot = ledger.tip()
    there = {one.recipe: "there" for one in found if result_path(one.recipe, one.run) in snapshot.paths}
    made = ledger.record(snapshot, [_step(one) for one in found if one.recipe not in there], wake=wake)
    tip = ledger.tip() if isinstance(made, Lost) or made.dropped else made.snapshot
    missing = [one.recipe for one in found if result_path(one.recipe, one.run) not in tip.paths]
    if missing:
        raise Unreachable(f"the ledger took no results of {', '.join(missing)}: others wrote at every try", "run the job again")
    won = set() if isinstance(made, Lost) else set(made.bumps)
    paths = {one.recipe: result_path(one.recipe, one.run) for one in found}
    return tuple(Published(recipe=key, path=path, state="written" if path in won else "there") for key, path in paths.items())


def asked_by(ledger: Ledger, head: str) -> dict[str, tuple[str, int | None]]:
    """Recipe -> the open bump whose head this commit is, and its pull request. A bump that cannot be read is none's."""
    snapshot, found = ledger.tip(), dict[str, tuple[str, int | None]]()
    ledger.prepare(snapshot)
    for bump in ledger.open_bumps(snapshot):
        for key, number in _of(ledger, snapshot, bump, head):
            found.setdefault(key, (bump, number))
    return found


def _of(ledger: Ledger, snapshot: Snapshot, bump: str, head: str) -> list[tuple[str, int | None]]:
    try:
        entries = ledger.entries(snapshot, bump)
    except BumpbotError:
        return []
    facts = next((one.entry.facts for one in reversed(entries) if one.entry.facts is not None), None)
    if facts is None or facts.head != head:
        return []
    pull = facts.world.pull
    return [(recipe.key, pull.number if pull else None) for recipe in facts.subject.family]


def _step(measured: Measured) -> Step:
    path = result_path(measured.recipe, measured.run)
    return Step(bump=path, kind="record", entry=path, writes={path: canonical(measured)})
