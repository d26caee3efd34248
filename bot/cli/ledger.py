"""Commands over what the bot remembers: ledger show, replay."""

from __future__ import annotations

from contextlib import ExitStack
from random import SystemRandom

import msgspec
import typer

from bot import ledger as chains
from bot.adapters.clock import SystemClock
from bot.cli.output import as_json, note, table
from bot.cli.place import Place, folder, parsed
from bot.cli.remote import opened
from bot.decide import decide
from bot.errors import Missing
from bot.ledger import BRANCH, Ledger
from bot.ledger.paths import check_id
from bot.model.ledger import Difference, Line, Snapshot, Stored

Chain = tuple[Stored, ...]


def show(place: Place, bump: str | None, format_: str) -> None:
    """The bumps of a ledger, or one bump's entries line by line and what its ending taught."""
    with ExitStack() as stack:
        ledger, snapshot = _opened(place, stack)
        if bump is None:
            _list(ledger, snapshot, format_)
            return
        lines = chains.show(_entries(ledger, snapshot, bump))
        lessons = chains.lessons(ledger, snapshot, note, of=bump)
    if format_ == "json":
        told = [msgspec.to_builtins(line) for line in lines]
        as_json([*told[:-1], *({**line, "lessons": msgspec.to_builtins(lessons)} for line in told[-1:])])
    elif format_ == "markdown":
        rows = [_row(line) for line in lines]
        table(format_, ("entry", "at", "kind", "event", "actions and results"),
              [*rows, *(("memory", f"{one.at:%Y-%m-%d %H:%M:%S}Z", "lesson", "", line)
                        for one, line in zip(lessons, chains.learnt(lessons), strict=True))])
    else:
        typer.echo(chains.text(lines), nl=False)
        for line in chains.learnt(lessons):
            typer.echo(f"      learnt: {line}")


def replay(place: Place, bump: str, format_: str) -> None:
    """Decides again from stored facts; the first difference and exit 1, or exit 0."""
    with ExitStack() as stack:
        ledger, snapshot = _opened(place, stack)
        entries = _entries(ledger, snapshot, bump)
        difference = chains.replay(entries, decide)
    claims = sum(stored.entry.kind == "claim" for stored in entries)
    if format_ == "json":
        as_json({"bump": bump, "decisions": claims, "difference": msgspec.to_builtins(difference)})
    elif difference is None:
        typer.echo(f"{bump}: {claims} decisions, all the same")
    else:
        typer.echo(_told(bump, difference))
    if difference is not None:
        raise typer.Exit(1)


def _opened(place: Place, stack: ExitStack) -> tuple[Ledger, Snapshot]:
    """The ledger branch of the repository at --repo."""
    root = folder(place.repo, "name a repository with --repo").absolute()
    ledger = Ledger(opened(str(root), stack), clock=SystemClock(), random=SystemRandom())
    snapshot = ledger.tip()
    if snapshot.oid is None:
        raise Missing(f"{root} has no branch {BRANCH}", f"in a clone: git fetch origin {BRANCH}:{BRANCH}; "
                      "where the layout names another repository for the ledger, clone that one and name it with --repo")
    return ledger, snapshot


def _list(ledger: Ledger, snapshot: Snapshot, format_: str) -> None:
    ended = ledger.ended_bumps(snapshot)
    rows = [{"bump": bump, "state": "open", "ended": None} for bump in ledger.open_bumps(snapshot)]
    rows += [{"bump": bump, "state": "ended", "ended": year} for year, bump in ended]
    if format_ == "json":
        as_json(rows)
        return
    if not rows:
        note("no bump yet")
    table(format_, ("state", "bump"), [(f"{row['state']} {row['ended'] or ''}".strip(), row["bump"]) for row in rows])


def _entries(ledger: Ledger, snapshot: Snapshot, bump: str) -> Chain:
    parsed(check_id, bump)
    entries = ledger.entries(snapshot, bump)
    if not entries:
        raise Missing(f"the ledger holds no bump {bump}", "see: bumpbot ledger show")
    broken = chains.verify(entries)
    if broken is not None:
        raise broken
    return entries


def _row(line: Line) -> tuple[object, ...]:
    about = line.event or (f"of claim {line.of}" if line.of else "")
    return line.n, f"{line.at:%Y-%m-%d %H:%M:%S}Z", line.kind, about, "; ".join((*line.actions, *line.results))


def _told(bump: str, found: Difference) -> str:
    return (f"{bump}: entry {found.n} (bumpbot {found.version}) decides otherwise at action {found.index}\n"
            f"  stored:  {found.stored}\n  decided: {found.decided}")
