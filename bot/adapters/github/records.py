"""GitHub's JSON in, our nouns out. The wire records name what is read of an answer and nothing else; what must be there
and is not is BadInput, which names the request and the key."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct

from bot import strict
from bot.model.forge import Artifact, Comment, Job, Labelling, Permission, Pull, RunInfo

N = TypeVar("N")
Moment = Annotated[datetime, Meta(tz=True)]
FOLDER = ".github/workflows/"
# GitHub has more words for "not yet running" than anybody needs: queued, waiting, requested, pending.
STATUS = {"completed": "completed", "in_progress": "in_progress"}
ROLES: tuple[Permission, ...] = ("admin", "maintain", "write", "triage", "read", "none")


class _Wire(Struct, frozen=True, kw_only=True):
    pass


class _User(_Wire):
    login: str
    type: str = "User"


class _Repository(_Wire):
    full_name: str


class _Side(_Wire):
    """One end of a pull request; a fork that was deleted leaves no repository."""

    ref: str
    sha: str
    repo: _Repository | None = None


class _Label(_Wire):
    name: str


class PullWire(_Wire):
    number: int
    html_url: str
    node_id: str
    title: str
    state: str
    head: _Side
    base: _Side
    labels: tuple[_Label, ...]
    body: str | None = None
    user: _User | None = None
    draft: bool | None = None
    merged: bool | None = None
    merged_at: str | None = None
    mergeable: bool | None = None

    @property
    def foreign(self) -> bool:
        """Whether the head lies in another repository: a fork may call its branch like ours."""
        return self.head.repo is None or self.base.repo is None or self.head.repo != self.base.repo


class CommentWire(_Wire):
    id: int
    created_at: Moment
    updated_at: Moment
    body: str | None = None
    user: _User | None = None


class RunWire(_Wire):
    id: int
    path: str
    event: str
    head_sha: str
    created_at: Moment
    status: str | None
    conclusion: str | None
    head_branch: str | None = None
    run_attempt: int | None = None
    display_title: str | None = None
    actor: _User | None = None
    repository: _Repository | None = None
    head_repository: _Repository | None = None


class JobWire(_Wire):
    id: int
    run_id: int
    name: str
    status: str
    conclusion: str | None
    started_at: Moment | None = None
    completed_at: Moment | None = None
    run_attempt: int | None = None
    labels: tuple[str, ...] = ()
    runner_id: int | None = None
    runner_name: str | None = None


class ArtifactWire(_Wire):
    id: int
    name: str
    size_in_bytes: int
    created_at: Moment
    expired: bool


class EventWire(_Wire):
    """One line of a pull request's history; most kinds of it say nothing to us."""

    event: str
    created_at: Moment
    actor: _User | None = None
    label: _Label | None = None


class PermissionWire(_Wire):
    permission: str
    role_name: str | None = None


class DispatchWire(_Wire):
    workflow_run_id: int | None = None


def reader(kind: type[N], where: str) -> Callable[[Any], N]:
    """A check for answers to the request `where`."""
    return lambda data: strict.convert(kind, data, file=where)


def pull(wire: PullWire) -> Pull:
    """A pull request; a listed one has `mergeable` None."""
    return Pull(
        number=wire.number, url=wire.html_url, title=wire.title, body=wire.body or "", head=wire.head.sha, branch=wire.head.ref,
        base=wire.base.ref, author=_login(wire.user), draft=bool(wire.draft), open=wire.state == "open",
        merged=bool(wire.merged or wire.merged_at), mergeable=wire.mergeable, labels=tuple(label.name for label in wire.labels),
    )


def comment(wire: CommentWire) -> Comment:
    """A comment; one by a deleted account has no author."""
    return Comment(id=wire.id, author=_login(wire.user), bot=wire.user is not None and wire.user.type == "Bot",
                   body=wire.body or "", created=wire.created_at, updated=wire.updated_at)


def run(wire: RunWire) -> RunInfo:
    """A run. `actor` is who began it: a person who runs its failed jobs again does not make it theirs.

    A workflow outside the folder (a `dynamic/` one of GitHub's own) keeps its whole path, and so is no file of that name.
    """
    return RunInfo(
        id=wire.id, attempt=wire.run_attempt or 1, workflow=wire.path.partition("@")[0].removeprefix(FOLDER), event=wire.event,
        head=wire.head_sha, branch=wire.head_branch or "", title=wire.display_title or "", status=_status(wire.status),
        conclusion=wire.conclusion, created=wire.created_at, actor=_login(wire.actor),
        fork=wire.head_repository is not None and wire.head_repository != wire.repository,
    )


def job(wire: JobWire) -> Job:
    """A job. One that no runner took has a `started_at` on GitHub too (when it was queued); it held no GPU, so it did not
    start. GitHub dates the end of some jobs a second before their beginning; no job holds GPUs for less than no time."""
    status = _status(wire.status)
    taken = status != "queued" and bool(wire.runner_id or wire.runner_name)
    started = wire.started_at if taken else None
    completed = wire.completed_at if status == "completed" else None
    return Job(
        id=wire.id, run=wire.run_id, attempt=wire.run_attempt or 1, name=wire.name, status=status, conclusion=wire.conclusion,
        started=started, completed=max(completed, started) if completed and started else completed, labels=wire.labels,
        runner=wire.runner_name or None,
    )


def artifact(wire: ArtifactWire) -> Artifact:
    """An artifact as it is listed; `size` in bytes of its zip."""
    return Artifact(id=wire.id, name=wire.name, size=wire.size_in_bytes, created=wire.created_at, expired=wire.expired)


def labelling(wire: EventWire) -> Labelling | None:
    """A label put on or taken off, or the mark as ready for review; None for every other line of the history."""
    if wire.event == "ready_for_review":
        return Labelling(label="", by=_login(wire.actor), at=wire.created_at, added=True, ready=True)
    if wire.event not in ("labeled", "unlabeled") or wire.label is None:
        return None
    return Labelling(label=wire.label.name, by=_login(wire.actor), at=wire.created_at, added=wire.event == "labeled")


def permission(wire: PermissionWire) -> Permission:
    """The role where it is one of GitHub's own, else the permission that a custom role amounts to; none when unknown."""
    return next((role for told in (wire.role_name, wire.permission) for role in ROLES if role == told), "none")


def _login(user: _User | None) -> str:
    return user.login if user else ""


def _status(word: str | None) -> Any:
    return STATUS.get(word or "", "queued")
