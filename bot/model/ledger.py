"""Nouns for the ledger: an entry as it is stored, what a step reads and writes, what came of the swap."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from bot.model.action import Action, Result
from bot.model.bump import Bump
from bot.model.event import Event
from bot.model.image import Sight
from bot.model.result import Accounting, Row, Samples

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
WakeId = Annotated[str, Meta(pattern="^[0-9A-Za-z][0-9A-Za-z._-]{0,79}$")]


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file `bumps/<id>/<n>.json`. A claim says what will be done, the record `of` it what came of that.

    `prev` is the SHA-256 of the bytes of entry n-1, None for the first. `run` names the workflow run that made the
    entry ("id/attempt"), None where there is none. A claim always holds event and facts: replay needs nothing else.
    """

    n: Annotated[int, Meta(ge=1)]
    kind: Literal["claim", "record"]
    of: int | None = None
    wake: WakeId
    run: str | None = None
    version: str
    at: datetime
    prev: Sha256 | None
    event: Event | None = None
    facts: Bump | None = None
    actions: tuple[Action, ...] = ()
    results: tuple[Result, ...] = ()


class Stored(Struct, frozen=True, kw_only=True):
    """An entry as the ledger holds it: where, and the SHA-256 of its very bytes (another schema encodes otherwise)."""

    entry: Entry
    path: str
    sha256: str
    canonical: bool = True


class Receipt(Struct, frozen=True, kw_only=True):
    """What the pull request says of its chain: number and hash of the last entry when it was written."""

    n: int
    sha256: str


class Snapshot(Struct, frozen=True, kw_only=True):
    """The ledger's branch at one commit: path -> object id. `oid` None: the branch does not exist yet."""

    oid: str | None
    paths: Mapping[str, str]


class Step(Struct, frozen=True, kw_only=True):
    """What one bump changes in one swap: `entry` is its new entry's path; `writes` maps paths to bytes, None removes.

    `reads` are the paths the decision rested on; one that ends with `/` is a whole folder.
    """

    bump: str
    kind: Literal["claim", "record"]
    entry: str
    writes: Mapping[str, bytes | None]
    reads: frozenset[str] = frozenset()


class Taken(Struct, frozen=True, kw_only=True):
    """The swap went through for these bumps; `dropped` are those whose paths had changed: they look again."""

    snapshot: Snapshot
    bumps: tuple[str, ...]
    dropped: tuple[str, ...] = ()


class Lost(Struct, frozen=True, kw_only=True):
    """Nothing was written. `changed` are the paths somebody else moved; none: every try met another push."""

    changed: tuple[str, ...]
    tries: int


class Held(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`claims/<recipe>.json`: the one bump that may move this recipe."""

    recipe: str
    bump: str
    at: datetime


class Successor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`next/<recipe>.json`: the image that is to be tried next, because the tag under test was pushed again."""

    recipe: str
    image: str
    of: str
    at: datetime


class Moved(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`moved/<recipe>.json`: the last image of ours that a recipe was brought to, proven and handed to its maintainers."""

    recipe: str
    image: str
    of: str
    at: datetime


class Measured(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`results/<recipe>/<run>.json`: what one run measured of one recipe with one image, written once and by whoever ran it:
    a bump that ended, or a sweep of the default branch. This is the next bump's baseline, so the shape is public.

    `date` is the day on which the run began (UTC), `image` the reference as the recipe has it, `digest` what it named. Every
    row that is to count carries the fingerprint of its point with this image; evals are rows too, and `thresholds` what each
    had to reach. `of` is the bump, None for a sweep without one.
    """

    version: Literal[1] = 1
    recipe: str
    date: Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    image: str
    digest: Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")] | None = None
    run: Annotated[int, Meta(ge=1)]
    attempt: Annotated[int, Meta(ge=1)]
    head: str | None = None
    pull: int | None = None
    of: str | None = None
    rows: tuple[Row, ...]
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()
    thresholds: dict[str, float] = {}


class LastScan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`scans/last.json`: when a wake last looked for newer images of every recipe."""

    at: datetime


class OpenBumps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`caps/open.json`: the bumps that count against the cap on open ones, sorted."""

    bumps: tuple[str, ...] = ()


class DaySpent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`caps/<cluster>/<day>.json`: GPU-hours promised or spent on that day, by bump."""

    gpu_hours: dict[str, Annotated[float, Meta(ge=0)]] = {}


class Seen(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`seen/<registry>/<repository>.json`: what each tag held at our own looks, oldest first; the last is what it holds now."""

    tags: dict[str, tuple[Sight, ...]] = {}


class Difference(Struct, frozen=True, kw_only=True):
    """Where a replay first decides otherwise: entry, index of the action, both sides as JSON (None: no action)."""

    n: int
    version: str
    index: int
    stored: str | None
    decided: str | None


class Line(Struct, frozen=True, kw_only=True):
    """One entry as a person reads it."""

    n: int
    kind: Literal["claim", "record"]
    of: int | None
    at: datetime
    wake: str
    version: str
    event: str | None
    actions: tuple[str, ...]
    results: tuple[str, ...]
