"""Everything a wake may reach: the ports, the layout of the default branch, and the knowledge, all handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from bot.diagnose.known import Repair
from bot.diagnose.reported import Words
from bot.diagnose.signatures import Signature
from bot.images.tags import Scheme
from bot.layout import Layout
from bot.ledger import Ledger
from bot.model.action import (
    Action,
    Cancel,
    ClosePull,
    Dispatch,
    Keep,
    Label,
    OpenPull,
    Push,
    React,
    Remember,
    Reopen,
    Rerun,
    Say,
    SetDraft,
    Unlabel,
)
from bot.model.mode import Mode
from bot.model.record import Record
from bot.model.rules import Limits
from bot.ports import (
    Archive,
    Clock,
    Commits,
    Fleet,
    Forge,
    Generator,
    Git,
    Neighbours,
    Published,
    Registry,
    Settings,
    Surveyor,
    Tree,
    Upstreams,
)
from bot.results.metrics import Metrics
from bot.upstream.engines import Engine

# What each mode lets through. Ending and cleaning up belong to `propose`: a bot that may not spend may still stop.
ALLOWED: dict[Mode, tuple[type[Action], ...]] = {
    "off": (),
    "observe": (Remember,),
    "propose": (Remember, Push, OpenPull, Say, Unlabel, Cancel, SetDraft, ClosePull, Keep, React),
    "act": (Remember, Push, OpenPull, Say, Unlabel, Cancel, SetDraft, ClosePull, Keep, React, Dispatch, Rerun, Label,
            Reopen),
}


class Renderer(Protocol):
    def title(self, record: Record) -> str: ...

    def parts(self, record: Record) -> tuple[str, ...]:
        """The finished text in the layout's style, checked byte by byte; several parts when it is over the forge's limit."""
        ...


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Packaged data, already parsed."""

    schemes: tuple[Scheme, ...]
    signatures: tuple[Signature, ...]
    repairs: tuple[Repair, ...]
    metrics: Metrics
    reported: Words
    engines: Mapping[str, Engine] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """`known_repairs` None is all of them; `run` names the workflow run this wake is, as id/attempt; `generator` makes the
    guest's own with the code of a tree, which is always one of the default branch. What stands behind it is asked for the checks
    before a GPU; without one, its checks are unknown."""

    forge: Forge
    git: Git
    registry: Registry
    commits: Commits
    published: Published
    clock: Clock
    ledger: Ledger
    tree: Callable[[str], Tree]
    layout: Layout
    limits: Limits
    knowledge: Knowledge
    render: Renderer
    mode: Callable[[], Mode]
    wake: str
    version: str
    run: str | None = None
    archive: Archive | None = None
    known_repairs: frozenset[str] | None = None
    narrate: Callable[[str], None] = lambda line: None
    generator: Callable[[Tree], Generator | None] = lambda code: None
    upstreams: Upstreams | None = None
    surveyor: Surveyor | None = None
    fleet: Fleet | None = None
    settings: Settings | None = None
    neighbours: Neighbours | None = None
