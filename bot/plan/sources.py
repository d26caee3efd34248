"""Where a plan's facts come from: the ports, and what is known without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.images.tags import Scheme
from bot.model.image import Resolved, Sight
from bot.model.memory import Lesson
from bot.ports import Commits, Fleet, Generator, Neighbours, Published, Registry, Settings, Surveyor, Tree, Upstreams
from bot.upstream.engines import Engine


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a plan's facts come from. `tree` is the default branch's files at its tip; `seen` are our own sights of the tag
    that an image was resolved by, the present one included, where there is a ledger. `generator` is the guest's own, with the
    code of the same tip; `say` tells why it could not be asked.

    What follows is asked for the checks before a GPU, and each may be left out: that check is unknown then. `now` is the wake's
    moment, `me` the login that acts, `tip` the commit that `tree` is of, `head` the bump's own and `branch` its branch, once
    there is one. `lessons` are all that the ledger remembers; the plan picks those that concern it.
    """

    tree: Tree
    registry: Registry
    commits: Commits
    published: Published
    schemes: tuple[Scheme, ...]
    seen: Callable[[Resolved], Sequence[Sight]] = lambda image: ()
    generator: Generator | None = None
    say: Callable[[str], None] = lambda line: None
    now: datetime | None = None
    engines: Mapping[str, Engine] = field(default_factory=dict)
    upstreams: Upstreams | None = None
    surveyor: Surveyor | None = None
    fleet: Fleet | None = None
    settings: Settings | None = None
    neighbours: Neighbours | None = None
    lessons: Callable[[], Sequence[Lesson]] | None = None
    me: str = ""
    tip: str | None = None
    head: str | None = None
    branch: str | None = None
