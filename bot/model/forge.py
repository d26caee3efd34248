"""Nouns for what the forge says, as its adapter reads it; ownership and meaning are settled by `wake.observe`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

Permission = Literal["admin", "maintain", "write", "triage", "read", "none"]
WRITERS: tuple[Permission, ...] = ("admin", "maintain", "write")


class Pull(Struct, frozen=True, kw_only=True):
    """A pull request now. `mergeable` None: the forge is still computing it."""

    number: int
    url: str
    title: str
    body: str
    head: str
    branch: str
    base: str
    author: str
    draft: bool
    open: bool
    merged: bool
    mergeable: bool | None
    labels: tuple[str, ...]
    closed_by: str | None = None


class Comment(Struct, frozen=True, kw_only=True):
    id: int
    author: str
    bot: bool
    body: str
    created: datetime
    updated: datetime


class RunInfo(Struct, frozen=True, kw_only=True):
    """A workflow run as the forge lists it. `title` is its display title, where our nonce stands; `actor` began it.

    `fork`: its head lies in another repository, so it is nobody's here, whatever its branch is called.
    """

    id: int
    attempt: int
    workflow: str
    event: str
    head: str
    branch: str
    title: str
    status: Literal["queued", "in_progress", "completed"]
    conclusion: str | None
    created: datetime
    actor: str
    fork: bool = False


class Job(Struct, frozen=True, kw_only=True):
    id: int
    run: int
    attempt: int
    name: str
    status: Literal["queued", "in_progress", "completed"]
    conclusion: str | None
    started: datetime | None
    completed: datetime | None
    labels: tuple[str, ...] = ()
    runner: str | None = None


class Artifact(Struct, frozen=True, kw_only=True):
    id: int
    name: str
    size: int
    created: datetime
    expired: bool


LATE = timedelta(minutes=2)
"""How long after its job's end an upload may be told: the ends of jobs on machines of one's own are told by those machines' clocks,
uploads by the forge's."""


def in_time(created: datetime, started: datetime | None, completed: datetime | None, *, late: timedelta = LATE) -> bool:
    """Whether an artifact was uploaded while a job ran (SECURITY.md 5). No clock helps one that was there before its job began: a
    job uploads last, after minutes."""
    return started is not None and started <= created and (completed is None or created <= completed + late)


class Labelling(Struct, frozen=True, kw_only=True):
    """A label put on (`added`) or taken off, by whom, when; with `ready`, and no label, the mark as ready for review.

    `write`: whether whoever did it had write access when we first saw it; triage alone may label, and spends nothing.
    """

    label: str
    by: str
    at: datetime
    added: bool
    ready: bool = False
    write: bool = True
