"""What the loopback GitHub remembers. Plain mutable records, changed by verbs, engine and refs under one lock."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.rehearse.github.declare import Account, Cause, JobScript, RunScript, Workflow


def id_of(text: str) -> int:
    """A stable positive number for a name, so that ids do not depend on the order of things."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") | 1 << 24


@dataclass(kw_only=True)
class Comment:
    id: int
    number: int
    author: Account
    body: str
    created: datetime
    updated: datetime
    edits: int = 0
    deleted: bool = False


@dataclass(kw_only=True)
class Reaction:
    id: int
    subject: tuple[str, int]
    author: Account
    content: str
    created: datetime


@dataclass(kw_only=True)
class Event:
    """One line of a pull request's history: labeled, unlabeled, closed, reopened, merged, convert_to_draft..."""

    id: int
    number: int
    event: str
    actor: Account
    created: datetime
    label: str | None = None
    commit: str | None = None


@dataclass(kw_only=True)
class Pull:
    id: int
    number: int
    title: str
    body: str
    branch: str
    head: str
    base: str
    base_sha: str
    author: Account
    created: datetime
    updated: datetime
    draft: bool = False
    open: bool = True
    merged: datetime | None = None
    merged_by: Account | None = None
    merge_commit: str | None = None
    closed: datetime | None = None
    closed_by: Account | None = None
    labels: list[str] = field(default_factory=list)
    asked: tuple[str, str] | None = None


@dataclass(kw_only=True)
class Job:
    id: int
    name: str
    attempt: int
    script: JobScript
    queued: datetime
    ready: datetime
    started: datetime | None = None
    ends: datetime | None = None
    completed: datetime | None = None
    conclusion: str | None = None
    runner: str | None = None
    cancelled: bool = False
    note: str = ""

    @property
    def status(self) -> str:
        return "completed" if self.completed else "in_progress" if self.started else "queued"


@dataclass(kw_only=True)
class Run:
    """A workflow run, jobs of all attempts. `begun` is the current attempt's start, `kept` how earlier ones ended."""

    id: int
    number: int
    workflow: Workflow
    cause: Cause
    head: str
    branch: str
    title: str
    actor: Account
    script: RunScript | None
    group: str | None
    created: datetime
    begun: datetime
    updated: datetime
    attempt: int = 1
    status: str = "queued"
    conclusion: str | None = None
    cancelled: bool = False
    jobs: list[Job] = field(default_factory=list)
    kept: dict[int, dict[str, Any]] = field(default_factory=dict)
    rerunner: Account | None = None

    def latest(self, attempt: int | None = None) -> list[Job]:
        """The newest job of each name up to an attempt: a rerun of the failed ones keeps the others."""
        newest = {job.name: job for job in self.jobs if attempt is None or job.attempt <= attempt}
        return list(newest.values())


@dataclass(kw_only=True)
class Artifact:
    id: int
    run: Run
    attempt: int
    name: str
    path: Path
    size: int
    digest: str
    created: datetime


@dataclass(kw_only=True)
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = ""


class Store:
    """Every record by its id, and the counters that give ids."""

    def __init__(self, accounts: tuple[Account, ...]) -> None:
        self.accounts = {account.login: account for account in accounts}
        self.tokens = {account.token: account for account in accounts if account.token}
        self.pulls: dict[int, Pull] = {}
        self.comments: dict[int, Comment] = {}
        self.reactions: list[Reaction] = []
        self.events: list[Event] = []
        self.labels: dict[str, Label] = {}
        self.runs: dict[int, Run] = {}
        self.artifacts: dict[int, Artifact] = {}
        self.releases: dict[int, Any] = {}
        self._next = {"pull": 0, "comment": 2_400_000_000, "run": 34_000_000_000, "job": 100_000_000_000,
                      "artifact": 7_000_000_000, "event": 19_000_000_000, "reaction": 300_000_000,
                      "release": 250_000_000, "asset": 310_000_000, "seq": 0}

    def next(self, kind: str) -> int:
        """The next number of a kind; of pull requests the next that is not taken."""
        self._next[kind] += 1
        while kind == "pull" and self._next[kind] in self.pulls:
            self._next[kind] += 1
        return self._next[kind]

    def next_run(self) -> int:
        """The next run id that no script has taken."""
        while (number := self.next("run")) in self.runs:
            continue
        return number

    def start_pulls_at(self, number: int) -> None:
        self._next["pull"] = number - 1

    @contextmanager
    def numbered(self, number: int | None) -> Iterator[None]:
        """Inside, the next pull request gets this number; afterwards they go on from where they were."""
        before = self._next["pull"]
        if number is not None:
            self.start_pulls_at(number)
        yield
        if number is not None:
            self._next["pull"] = before

    def jobs(self) -> Iterator[tuple[Run, Job]]:
        for run in self.runs.values():
            for job in run.jobs:
                yield run, job

    def comments_of(self, number: int | None = None) -> list[Comment]:
        found = [c for c in self.comments.values() if not c.deleted and (number is None or c.number == number)]
        return sorted(found, key=lambda comment: comment.id)

    def label(self, name: str) -> Label:
        """The repository's label of that name, made when new: GitHub makes it on first use."""
        known = self.labels.get(name.lower())
        return known or self.labels.setdefault(name.lower(), Label(id=id_of(f"label {name}"), name=name))
