"""What a caller says before the loopback GitHub starts: who exists, which workflows, and what their runs will play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

Kind = Literal["user", "app", "default"]
Conclusion = Literal["success", "failure", "timed_out", "skipped", "neutral"]


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, aware, UTC; it never goes back."""
        ...


class Account(Struct, frozen=True, kw_only=True):
    """Somebody who can act. `token` empty: acts only through `person()` and git. `kind` default is the workflow's own
    token, whose events start no workflow. Pushes are told apart by the committer's address (`emails`). `scopes` are a classic
    token's; None where the token is of another kind."""

    login: str
    token: str = ""
    kind: Kind = "user"
    permission: Literal["admin", "maintain", "write", "triage", "read", "none"] = "write"
    id: int | None = None
    emails: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None

    @property
    def bot(self) -> bool:
        return self.kind != "user"


class Input(Struct, frozen=True, kw_only=True):
    """One input of workflow_dispatch; `options` empty: free text."""

    required: bool = False
    default: str | None = None
    options: tuple[str, ...] = ()


class Trigger(Struct, frozen=True, kw_only=True):
    """The filters below one event of `on:`. Empty `types` means GitHub's default types of that event."""

    types: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    inputs: Mapping[str, Input] = {}


class Concurrency(Struct, frozen=True, kw_only=True):
    """`group` is filled with {number} {ref} {branch} {sha} {workflow} {event} {action} {run_id}."""

    group: str
    cancel_in_progress: bool = False


class Workflow(Struct, frozen=True, kw_only=True):
    """One file under .github/workflows. With `labels`, a pull request's jobs run only while it carries one of them.

    A label event about a label in neither `labels` nor `modifiers` skips its jobs and stays out of the concurrency
    group. `drafts` False: jobs of a draft are skipped. `run_name` is filled with {title}, {inputs.NAME} and the words
    of `Concurrency.group`. `unconditional`: some jobs have no `if:`, so the script is asked for every run, and gives
    only these for one whose other jobs would be skipped (`triggers.runs_jobs`).
    """

    file: str
    name: str
    triggers: Mapping[str, Trigger]
    labels: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    drafts: bool = True
    concurrency: Concurrency | None = None
    run_name: str = ""
    unconditional: bool = False


class Upload(Struct, frozen=True, kw_only=True):
    """An artifact: a folder's files, zipped when the job ends."""

    name: str
    folder: Path


class JobScript(Struct, frozen=True, kw_only=True):
    """What one job does: waits for a runner of `pool`, holds `gpus` for `minutes`, uploads, concludes.

    `starts_after_minutes` counts from the start of the attempt (a job that needs another one's end).
    """

    name: str
    pool: str = "hosted"
    gpus: int = 0
    minutes: float = 1.0
    conclusion: Conclusion = "success"
    runner: str | None = None
    artifacts: tuple[Upload, ...] = ()
    starts_after_minutes: float = 0.0
    log: str = ""


class AttemptScript(Struct, frozen=True, kw_only=True):
    jobs: tuple[JobScript, ...]


class RunScript(Struct, frozen=True, kw_only=True):
    """What a run plays, attempt by attempt. A job of a later attempt that is not named repeats what it did before."""

    attempts: tuple[AttemptScript, ...]
    id: int | None = None


class Cause(Struct, frozen=True, kw_only=True):
    """What started a run. `number` and `labels` are a pull request's; `label` the one just added or removed."""

    event: str
    action: str | None
    actor: str
    ref: str
    title: str
    number: int | None = None
    label: str | None = None
    labels: tuple[str, ...] = ()
    draft: bool = False
    inputs: Mapping[str, str] = {}


Script = Callable[[Workflow, Cause, str], RunScript]
