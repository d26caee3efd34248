"""What types cannot say of the `preflight` keys: places outside the repository, addresses, holes that nothing fills, checks that
there are not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from bot.errors import BadInput
from bot.layout import globs
from bot.layout.paths import steps
from bot.layout.records import Layout
from bot.layout.schema import ARTIFACT_HOLES, LOGIN, URL, VARIABLE
from bot.layout.upstream import Coupled, Preflight
from bot.model.finding import Check

Place = tuple[str | int, ...]
Fault = tuple[Place, str, str]
CHECKS: tuple[str, ...] = get_args(Check)
_HOLE = re.compile(r"\{([^{}]*)\}")


def faults(layout: Layout) -> Iterator[Fault]:
    """Every key that does not hold: where, what is wrong, what to do."""
    told = layout.preflight
    for place, reason, hint in _faults(told):
        yield ("preflight", *place), reason, hint


def _faults(told: Preflight) -> Iterator[Fault]:
    if told.identity and not re.fullmatch(LOGIN, told.identity):
        yield ("identity",), f"{told.identity!r} is no login", "like octocat, or bumpbot[bot] for an App"
    for place, name in ((("staging", "file"), told.staging.file), (("certify", "file"), told.certify.file)):
        yield from _file(place, name)
    for place, url in ((("staging", "url"), told.staging.url), (("capacity", "url"), told.capacity.url)):
        if url and not re.fullmatch(URL, url):
            yield place, "not an https address without user, password or query", "http is for loopback only"
    yield from _capacity(told)
    yield from _launchers(told)
    yield from _filled(("artifact-name",), told.artifact_name, ARTIFACT_HOLES)
    for name in told.off:
        if name not in CHECKS:
            yield ("skip", name), "is no check", f"known: {', '.join(CHECKS)}"
    for at, part in enumerate(told.coupled):
        yield from _coupled(("coupled", at), part)
    for key, listed in (("scripts", told.scripts), ("patches", told.patches)):
        yield from _globs((key,), listed)


def _capacity(told: Preflight) -> Iterator[Fault]:
    if told.capacity.source == "http" and not told.capacity.url:
        yield ("capacity", "url"), "no address is named", "say where it is asked, or write `source: runners`"
    if told.capacity.source != "http" and told.capacity.url:
        yield ("capacity", "url"), f"is asked by nobody: `source` is {told.capacity.source}", "write `source: http`, or remove it"


def _launchers(told: Preflight) -> Iterator[Fault]:
    launchers, at = told.staging.launchers, ("staging", "launchers")
    yield from _file((*at, "files"), launchers.files.replace("{fleet}", "x"))
    if launchers.files and "{fleet}" not in launchers.files:
        yield (*at, "files"), "has no {fleet}", "write where the fleet's name goes, like runners/launch_{fleet}.sh"
    for name, path in launchers.facts.items():
        if not re.fullmatch(VARIABLE, name):
            yield (*at, "facts", name), "is no variable of a shell", "like MODEL_PREFIX"
        yield from _path((*at, "facts", name), path)
    if launchers.models and not re.fullmatch(VARIABLE, launchers.models):
        yield (*at, "models"), "is no variable of a shell", "like STAGED_MODELS"


def _coupled(at: Place, part: Coupled) -> Iterator[Fault]:
    for name in ("version", "commit", "wheel", "ref"):
        for number, path in enumerate(getattr(part, name)):
            yield from _path((*at, name, number), path)
    if part.source and not re.fullmatch(URL, part.source):
        yield (*at, "source"), "not an https address without user, password or query", "like https://github.com/owner/name"
    for number, glob in enumerate(part.images):
        if found := globs.fault(glob):
            yield (*at, "images", number), *found


def _globs(at: Place, listed: Sequence[str]) -> Iterator[Fault]:
    for number, glob in enumerate(listed):
        if found := globs.astray(glob) or globs.fault(glob):
            yield (*at, number), *found


def _file(place: Place, name: str) -> Iterator[Fault]:
    if not name:
        return
    if set("*?{}[]") & set(name) or not name.isprintable():
        yield place, "is no glob", "name one file"
    elif found := globs.astray(name):
        yield place, *found


def _path(place: Place, path: str) -> Iterator[Fault]:
    try:
        steps(path)
    except BadInput as fault:
        yield place, fault.reason.removeprefix(f"{path}: "), fault.hint


def _filled(place: Place, template: str, known: frozenset[str]) -> Iterator[Fault]:
    for hole in _HOLE.findall(template):
        if hole not in known:
            yield place, f"{{{hole}}} is not known", "known: " + " ".join(f"{{{word}}}" for word in sorted(known))
