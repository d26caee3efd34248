"""Commands over image references: image, tags compare."""

from __future__ import annotations

import json

import msgspec
import typer

from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.registry import OciRegistry
from bot.cli.app import Place
from bot.cli.operate import _docker_login
from bot.errors import BadArguments, Refusal
from bot.images import provenance, reference, schemes, tags


def show(place: Place, text: str, format_: str) -> None:
    """Resolves a reference at its registry and prints what it is."""
    parsed = reference.parse(text)
    if place.offline:
        raise Refusal("resolving asks the registry", "leave --offline out")
    found = provenance.settle(OciRegistry(SystemClock(), credentials=_docker_login()).resolve(parsed), _schemes())
    told = {**msgspec.to_builtins(found), "reference": text}
    if format_ == "json":
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    for key in ("reference", "kind", "digest", "created", "pushed", "provenance", "identity"):
        typer.echo(f"{key:<11} {told.get(key) or '-'}")
    for platform in told["platforms"]:
        typer.echo(f"platform    {platform['os']}/{platform['architecture']} {platform['digest']} ({platform['size']} bytes)")
    for name, value in told["facts"].items():
        typer.echo(f"{name:<11} {value or '-'}")


def compare(a: str, b: str) -> None:
    """Prints older, newer, same or incomparable, and why on stderr. Commits have no order without their repository."""
    for tag in (a, b):
        if not reference.valid_tag(tag):
            raise BadArguments(f"{tag!r} is not a tag", "give the part after the colon of a reference")
    order, why = tags.explain(a, b, _schemes())
    typer.echo(order)
    typer.echo(why, err=True)


def _schemes() -> tuple[schemes.Scheme, ...]:
    return schemes.read(PackagedAssets().text("knowledge/tags.yaml"), file="knowledge/tags.yaml")
