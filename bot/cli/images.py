"""Commands over image references: image, tags compare."""

from __future__ import annotations

import msgspec
import typer

from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.registry import OciRegistry
from bot.cli import environment
from bot.cli.output import as_json, facts, note, working
from bot.cli.place import Place, parsed
from bot.cli.wiring import schemes
from bot.errors import BadArguments, Refusal
from bot.images import provenance, reference, tags

SHOWN = ("reference", "kind", "digest", "created", "pushed", "provenance", "identity")


def show(place: Place, text: str, format_: str) -> None:
    """Resolves a reference at its registry and prints what it is."""
    wanted = parsed(reference.parse, text)
    if place.offline:
        raise Refusal("resolving asks the registry", "leave --offline out")
    registry = OciRegistry(SystemClock(), credentials=environment.docker_login())
    with working(f"asking {wanted.registry}"):
        found = provenance.settle(registry.resolve(wanted), schemes(PackagedAssets()))
    told = {**msgspec.to_builtins(found), "reference": text}
    if format_ == "json":
        as_json(told)
        return
    platforms = [("platform", f"{one.os}/{one.architecture} {one.digest} ({one.size} bytes)") for one in found.platforms]
    facts(format_, [*((name, told[name]) for name in SHOWN), *platforms, *told["facts"].items()])


def compare(a: str, b: str, format_: str) -> None:
    """Prints older, newer, same or incomparable, and why on stderr. Commits have no order without their repository."""
    for tag in (a, b):
        if not reference.valid_tag(tag):
            raise BadArguments(f"{tag!r} is not a tag", "give the part after the colon of a reference")
    order, why = tags.explain(a, b, schemes(PackagedAssets()))
    if format_ == "json":
        as_json({"a": a, "b": b, "order": order, "why": why})
        return
    typer.echo(order)
    note(why)
