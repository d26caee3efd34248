"""The command `scan`: every recipe, the image it runs, and what may take its place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import msgspec

from bot import scan as scans
from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.cli import environment
from bot.cli.layouts import layout_of, tree_of
from bot.cli.output import as_json, entries, note, table, working
from bot.cli.packaged import schemes
from bot.cli.place import Place
from bot.cli.remote import commits, registry
from bot.cli.seen import ledger_of
from bot.cli.upstream import upstreams
from bot.errors import Refusal, Unreachable
from bot.images.schemes import CUSTOM
from bot.layout import Layout
from bot.model.scan import Scanned
from bot.ports import Clock
from bot.recipe.shelf import Shelf
from bot.wake import sights

HEADS = ("recipe", "image", "scheme", "candidate", "why")
LOST = ("tag", "why it lost")


def scan(place: Place, recipes: Sequence[str], format_: str) -> None:
    """Reads every recipe, or those named, then asks each registry once for what it holds."""
    assets, clock = PackagedAssets(), SystemClock()
    layout, tree, known = layout_of(place, assets), Shelf(tree_of(place)), schemes(assets)
    for recipe in recipes:
        tree.home(layout, recipe)
    with working("reading the recipes" if place.offline else "asking the registries"), ExitStack() as stack:
        books = ledger_of(place, stack)
        asked = {} if place.offline else _asked(clock, layout, stack, anew=bool(recipes))
        past = sights.known(*books) if books else {}
        sources = scans.Sources(schemes=known, now=clock.now(), **asked, **past)
        scanned = scans.scan(tree, layout, sources, recipes or None)
    found = scanned.lines
    if format_ == "json":
        as_json([msgspec.to_builtins(one) | {"lost": one.lost if recipes else None} for one in found])
    elif format_ == "table" and sys.stdout.isatty():
        entries([(f"{one.recipe}  {one.image or ''}", _told(one, bool(recipes))) for one in found])
    else:
        table(format_, HEADS, [_row(one) for one in found])
        for one in found if recipes else ():
            table(format_, LOST, list(one.lost.items()), title=f"\n{one.recipe}:" if format_ == "table" else f"\n{one.recipe}:\n")
    note(_counted(found))
    for line in tree.empty(layout):
        note(f"note: {line}")
    faults = tree.faults(layout)
    for fault in faults:
        note(f"not read: {fault}")
    if not scanned.reached:
        raise Unreachable("no registry answered", "the reasons stand beside each recipe")
    if not scanned.answered:
        raise Refusal("no registry told what was asked of it", "the reasons stand beside each recipe")
    if faults:
        raise Refusal("not every recipe could be read", "the lines above say where")


def _asked(clock: Clock, layout: Layout, stack: ExitStack, *, anew: bool) -> dict[str, Any]:
    read, _, upstream = upstreams(commits(clock), layout, stack, token=environment.word("GITHUB_TOKEN"))
    return {"registry": registry(clock, anew=anew), "commits": upstream, "histories": scans.histories(read, layout)}


def _told(one: Scanned, fully: bool) -> list[str]:
    lost = [f"{tag}: {why}" for tag, why in one.lost.items()] if fully else []
    arrow = [f"-> {one.candidate}"] if one.candidate else [one.disposition.value] if one.disposition else []
    return [*arrow, *one.reasons, *(f"unknown: {what}" for what in one.unknown), *lost]


def _row(one: Scanned) -> tuple[str | None, ...]:
    why = one.disposition.value if one.disposition else ""
    told = "; ".join(part for part in (why, *one.reasons, *one.unknown) if part)
    return one.recipe, one.image, one.scheme, one.candidate, told


def _counted(found: Sequence[Scanned]) -> str:
    images = len({one.image for one in found if one.image})
    custom = sum(one.scheme == CUSTOM for one in found)
    candidates = sum(one.candidate is not None for one in found)
    return f"recipes: {len(found)}; distinct images: {images}; candidates: {candidates}; tags that no scheme reads: {custom}"
