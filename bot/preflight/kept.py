"""Facts that people keep in a file or answer over HTTP, read strictly: what is staged, how busy the fleets are, what certifies.

The words are those of `model.preflight`, and a rehearsal's scenario tells them in the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from bot import strict
from bot.errors import BadInput
from bot.layout.globs import matches
from bot.model.preflight import Certified, Load, Staged

MOST = 2_000_000
"""Bytes of such a file or answer."""
_Text = Annotated[str, Meta(min_length=1, max_length=300)]
_Names = Annotated[tuple[_Text, ...], Meta(max_length=20_000)]
_Count = Annotated[int, Meta(ge=0, le=1_000_000)]


class _Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class _Staged(_Record):
    runner: _Text
    images: _Names | None = None
    models: _Names | None = None
    imports: _Names = ()
    downloads: _Names = ()
    locked: bool = False
    source: str = ""
    at: Annotated[datetime, Meta(tz=True)] | None = None


class _StagedFile(_Record):
    staged: Annotated[tuple[_Staged, ...], Meta(max_length=500)]


class _Load(_Record):
    cluster: _Text
    nodes: _Count
    idle: _Count
    queued: _Count = 0


class _LoadFile(_Record):
    loads: Annotated[tuple[_Load, ...], Meta(max_length=500)]


class _Certified(_Record):
    recipe: _Text
    task: _Text
    framework: str = ""
    points: Annotated[int, Meta(ge=1, le=100_000)] | None = None


class _CertifiedFile(_Record):
    certified: Annotated[tuple[_Certified, ...], Meta(max_length=10_000)]


T = TypeVar("T")


def staged(data: bytes, file: str) -> tuple[Staged, ...]:
    """What lies ready on the fleets. BadInput names file, line and key."""
    return tuple(Staged(runner=one.runner, images=one.images, models=one.models, imports=one.imports, downloads=one.downloads,
                        locked=one.locked, source=one.source or file, at=one.at) for one in _read(_StagedFile, data, file).staged)


def loads(data: bytes, file: str) -> tuple[Load, ...]:
    """How busy the fleets are. BadInput also where more nodes are idle than there are."""
    found = _read(_LoadFile, data, file).loads
    for at, one in enumerate(found):
        if one.idle > one.nodes:
            raise BadInput(f"{one.idle} of {one.nodes} nodes are idle", "correct the source", file=file, key=f"loads.{at}.idle")
    return tuple(Load(cluster=one.cluster, nodes=one.nodes, idle=one.idle, queued=one.queued, source=file) for one in found)


def certified(data: bytes, file: str, keys: Sequence[str]) -> tuple[Certified, ...]:
    """The evals that the rules expect of these recipes; a rule may name several by a glob."""
    return tuple(Certified(recipe=key, task=one.task, framework=one.framework, points=one.points, at=file)
                 for one in _read(_CertifiedFile, data, file).certified for key in keys if matches(one.recipe, key))


def _read(kind: type[T], data: bytes, file: str) -> T:
    if len(data) > MOST:
        raise BadInput(f"{len(data)} bytes, and at most {MOST} are read", "keep only what is asked for", file=file)
    return (strict.load_json if data.lstrip()[:1] == b"{" else strict.load)(kind, data, file=file)
