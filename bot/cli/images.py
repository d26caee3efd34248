"""Commands over image references: image, tags compare."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import msgspec
import typer

from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.process import LocalProcess
from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.told import CloneHistory
from bot.cli.layouts import is_repository
from bot.cli.output import as_json, facts, note, working
from bot.cli.packaged import schemes
from bot.cli.place import Place, folder, parsed
from bot.cli.remote import registry
from bot.cli.seen import ledger_of
from bot.errors import BadArguments, Refusal
from bot.images import provenance, reference, sights, tags
from bot.wake import sights as seen_before

SHOWN = ("reference", "kind", "digest", "created", "pushed", "first_seen", "provenance", "identity")


def show(place: Place, text: str, format_: str) -> None:
    """Resolves a reference at its registry and prints what it is."""
    wanted = parsed(reference.parse, text)
    if place.offline:
        raise Refusal("resolving asks the registry", "leave --offline out")
    clock, known = SystemClock(), schemes(PackagedAssets())
    with working(f"asking {wanted.registry}"):
        found = provenance.settle(registry(clock).resolve(wanted), known)
    with ExitStack() as stack:
        books = ledger_of(place, stack)
        before = seen_before.seen(*books, wanted) if books else ()
        now = seen_before.asked(*books, clock)(found) if books else ()
    # This look is not written down, so that it is nobody's first.
    found = msgspec.structs.replace(found, first_seen=sights.first_seen(before, found.digest))
    for said in filter(None, (provenance.contradiction(found, known), sights.retold(text, now))):
        note(said)
    told = {**msgspec.to_builtins(found), "reference": text}
    if format_ == "json":
        as_json(told)
        return
    platforms = [("platform", f"{one.os}/{one.architecture} {one.digest} ({one.size} bytes)") for one in found.platforms]
    facts(format_, [*((name, told[name]) for name in SHOWN), *platforms, *told["facts"].items()])


def _history(place: Place) -> tags.Ancestry | None:
    """The history at --repo; None where nobody named a repository and the current folder is none."""
    if place.repo == Path() and not is_repository(place.repo):
        return None
    where = folder(place.repo, "name a clone of the engine's repository")
    return CloneHistory(Clone(LocalProcess(), str(where.absolute()), where)).order


def compare(place: Place, a: str, b: str, format_: str) -> None:
    """Prints older, newer, same or incomparable, and why on stderr. Commits are ordered by the history of the repository at
    --repo, and without one by nothing."""
    for tag in (a, b):
        if not reference.valid_tag(tag):
            raise BadArguments(f"{tag[:200]!r} is not a tag", "give the part after the colon of a reference")
    order, why = tags.explain(a, b, schemes(PackagedAssets()), _history(place))
    if format_ == "json":
        as_json({"a": a, "b": b, "order": order, "why": why})
        return
    typer.echo(order)
    note(why)
