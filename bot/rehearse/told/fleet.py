"""The machines of a rehearsal: which runners are registered, what lies ready on each fleet, how busy it is, moment by moment.

Words and meanings are those of `model.preflight`. An entry without `at` holds from the start; a later one takes the place of the
earlier ones of the same runner, fleet or cluster. A list that is not told at all is unknown; one that is told is all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Protocol, TypeVar

from msgspec import Meta, Struct

from bot.model import preflight
from bot.model.settings import Runner
from bot.rehearse.policy import Count, Text

Moment = Annotated[datetime, Meta(tz=True)]
FROM = "from when this holds; from the start where it is left out"
Since = Annotated[Moment | None, Meta(description=FROM)]


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, aware."""
        ...


class Registered(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A self-hosted runner as the forge lists it. `gone`: it is registered no longer."""

    name: Text
    labels: Annotated[tuple[Text, ...], Meta(min_length=1)]
    online: bool = True
    busy: bool = False
    gone: bool = False
    at: Since = None


class Ready(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What lies ready on the fleet behind one runner label: names of images and models as its launcher looks for them. `images` or
    `models` left out: nobody tells. `imports` are globs (of a model's prefix, a model or an image; `*`: every one) for which the
    launcher fetches the image by itself, `downloads` the same for models, and `locked` says that two jobs that fetch one model wait
    for each other.
    `by_hand`: what the launcher does not fetch must be put there by people. `source` is where it says so."""

    runner: Text
    images: tuple[Text, ...] | None = None
    models: tuple[Text, ...] | None = None
    imports: tuple[Text, ...] = ()
    downloads: tuple[Text, ...] = ()
    locked: bool = False
    by_hand: bool = False
    source: str = ""
    at: Since = None


class Busy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How busy one cluster is: `nodes` in all, `idle` of them; `queued` jobs wait."""

    cluster: Text
    nodes: Count
    idle: Count
    queued: Count = 0
    source: str = ""
    at: Since = None


class Fleet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The machines, over the rehearsal's clock. A list that is left out is unknown; an empty one says that there is nothing."""

    runners: tuple[Registered, ...] | None = None
    staged: tuple[Ready, ...] | None = None
    loads: tuple[Busy, ...] | None = None


T = TypeVar("T", Registered, Ready, Busy)


class FleetTold:
    """Satisfies the Fleet port by what was told and the clock's present moment; and says which runners the forge would list."""

    def __init__(self, told: Fleet, clock: Clock) -> None:
        self._told, self._clock = told, clock

    def staged(self) -> Sequence[preflight.Staged] | None:
        """What lies ready now, fleet by fleet; `at` is since when. None: nobody says."""
        held = self._now(self._told.staged, lambda one: one.runner)
        return None if held is None else tuple(
            preflight.Staged(runner=one.runner, images=one.images, models=one.models, imports=one.imports, downloads=one.downloads,
                             locked=one.locked, by_hand=one.by_hand, source=one.source, at=one.at) for one in held)

    def loads(self) -> Sequence[preflight.Load] | None:
        """How busy each cluster is now. None: nobody says."""
        held = self._now(self._told.loads, lambda one: one.cluster)
        return None if held is None else tuple(
            preflight.Load(cluster=one.cluster, nodes=one.nodes, idle=one.idle, queued=one.queued, source=one.source)
            for one in held)

    def registered(self) -> Sequence[Registered] | None:
        """The runners that are registered now. None: nobody says."""
        held = self._now(self._told.runners, lambda one: one.name)
        return None if held is None else tuple(one for one in held if not one.gone)

    def runners(self) -> Sequence[Runner] | None:
        """The same, as the forge's list tells them."""
        held = self.registered()
        return None if held is None else tuple(
            Runner(name=one.name, labels=one.labels, online=one.online, busy=one.busy) for one in held)

    def _now(self, told: Sequence[T] | None, name: Callable[[T], str]) -> Sequence[T] | None:
        """Of each name the entry that holds now: the newest that is not still to come."""
        if told is None:
            return None
        held: dict[str, T] = {}
        for one in sorted(told, key=lambda one: (one.at is not None, one.at or self._clock.now())):
            if one.at is None or one.at <= self._clock.now():
                held[name(one)] = one
        return tuple(held.values())
