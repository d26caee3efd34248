"""What bumpbot asks of the world, one protocol a part of it. Adapters satisfy them; rehearsals and tests put fakes behind.

Every method raises `Unreachable` when the world does not answer, `Missing` for a 404, `Conflict` when somebody moved
first. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from bot.errors import BumpbotError
from bot.model.baseline import Offer, Question
from bot.model.forge import Artifact, Comment, Job, Labelling, Permission, Pull, RunInfo
from bot.model.image import Held, Reference, Resolved
from bot.model.result import Filed
from bot.model.settings import (
    ActionsPolicy,
    App,
    BranchRule,
    Environment,
    Holder,
    Protection,
    Repository,
    Ruleset,
    Runner,
    RunnerGroup,
    Seen,
    SelectedActions,
    TokenDefaults,
)
from bot.model.upstream import Commit, Comparison


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, aware, UTC."""
        ...

    def sleep(self, seconds: float) -> None: ...


class Forge(Protocol):
    """The code forge of one repository. Mutations are idempotent or carry what must still hold."""

    def me(self) -> str:
        """The login under which comments and pull requests of ours appear."""
        ...

    def pull(self, number: int) -> Pull: ...

    def pull_of_branch(self, branch: str) -> Pull | None:
        """The newest pull request whose head is `branch` of this repository, open or not."""
        ...

    def open_pull(self, *, branch: str, base: str, title: str, body: str, draft: bool) -> Pull: ...

    def edit_pull(self, number: int, *, title: str | None = None, body: str | None = None, open: bool | None = None) -> Pull: ...

    def set_draft(self, number: int, draft: bool) -> None: ...

    def label(self, number: int, name: str) -> None:
        """Adds a label; nothing happens when it is there."""
        ...

    def unlabel(self, number: int, name: str) -> None:
        """Removes a label; nothing happens when it is absent."""
        ...

    def labellings(self, number: int) -> Sequence[Labelling]:
        """Every label put on or taken off, oldest first, with who did it."""
        ...

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]: ...

    def comment(self, number: int, body: str) -> Comment: ...

    def edit_comment(self, comment: int, body: str) -> Comment: ...

    def react(self, comment: int, content: str) -> None: ...

    def permission(self, login: str) -> Permission: ...

    def dispatch(self, workflow: str, *, ref: str, inputs: Mapping[str, str]) -> int | None:
        """Starts a workflow; the run's id where the server tells it. Never retried: look for the nonce instead."""
        ...

    def runs(self, workflow: str, *, event: str | None = None, head: str | None = None,
             since: datetime | None = None) -> Sequence[RunInfo]:
        """Runs of one workflow file, newest first."""
        ...

    def run(self, run: int) -> RunInfo: ...

    def jobs(self, run: int) -> Sequence[Job]:
        """Jobs of all attempts of a run."""
        ...

    def cancel(self, run: int) -> None:
        """Asks for cancellation; a run that is over stays as it is."""
        ...

    def rerun_failed(self, run: int) -> None: ...

    def artifacts(self, run: int) -> Sequence[Artifact]: ...

    def download(self, artifact: int, into: BinaryIO, limit: int) -> int:
        """Streams an artifact's zip into a file; bytes written. More than `limit` bytes is a BadInput."""
        ...


class Settings(Protocol):
    """How a repository is set up, read and never changed. What the token may not look at is `Unseen`; what is not there is
    None; names of secrets, never values. `environment` None means the repository's own secrets and variables."""

    def repository(self) -> Repository: ...

    def holder(self) -> Holder:
        """Whose token this is."""
        ...

    def app(self, slug: str) -> Seen[App]: ...

    def workflows(self) -> Seen[Mapping[str, str]]:
        """File path -> state, `active` for those that can start."""
        ...

    def actions(self) -> Seen[ActionsPolicy]: ...

    def selected_actions(self) -> Seen[SelectedActions]: ...

    def token_defaults(self) -> Seen[TokenDefaults]: ...

    def fork_approval(self) -> Seen[str]:
        """Whose pull requests from a fork wait for a maintainer's approval before anything of them runs."""
        ...

    def environment(self, name: str) -> Seen[Environment | None]: ...

    def secrets(self, environment: str | None = None) -> Seen[tuple[str, ...]]:
        """Names; those that the organisation shares with the repository included."""
        ...

    def variables(self, environment: str | None = None) -> Seen[Mapping[str, str]]: ...

    def labels(self) -> Seen[tuple[str, ...]]: ...

    def runners(self) -> Seen[tuple[Runner, ...]]:
        """Self-hosted runners of the repository itself."""
        ...

    def runner_groups(self) -> Seen[tuple[RunnerGroup, ...]]: ...

    def rules(self, branch: str) -> Seen[tuple[BranchRule, ...]]:
        """Active rules that hold for a branch of that name, whether or not it exists."""
        ...

    def ruleset(self, number: int) -> Seen[Ruleset]: ...

    def protection(self, branch: str) -> Seen[Protection | None]:
        """The classic protection; None where the branch has none."""
        ...


class Registry(Protocol):
    def resolve(self, reference: Reference) -> Resolved:
        """What the registry holds under a reference now: digest, platforms, labels, environment facts."""
        ...

    def digest(self, reference: Reference) -> str:
        """The digest alone of what a reference names now; the cheapest question there is."""
        ...

    def tags(self, reference: Reference) -> Sequence[str]: ...

    def listings(self, references: Sequence[Reference]) -> Mapping[str, Sequence[str] | BumpbotError]:
        """All tags of each repository named, by `Reference.name`; one that fails has its error and takes no other with it."""
        ...

    def held(self, references: Sequence[Reference]) -> Mapping[str, Held | BumpbotError]:
        """What each reference names now, by `Reference.text`; errors as `listings`. Platforms are None also for a single
        manifest, which names its own only in its config: `resolve` reads that."""
        ...


class Git(Protocol):
    """Writes to one repository through its branches. `oid` is a 40-hex object id; paths use `/`."""

    def tip(self, branch: str) -> str | None:
        """Fetches a branch and tells its commit; None when it does not exist."""
        ...

    def read(self, oid: str, path: str) -> bytes | None: ...

    def entries(self, oid: str, folder: str = "") -> Mapping[str, str]:
        """Every file below a folder of a commit: path -> object id."""
        ...

    def commit(self, parents: Sequence[str], changes: Mapping[str, bytes | None], message: str, *, when: datetime) -> str:
        """A commit on the first parent's tree with these files written (None removes); nothing is pushed.

        No parents makes a root commit. The tree is the first parent's plus the changes, also for a merge.
        """
        ...

    def push(self, branch: str, oid: str) -> bool:
        """Fast-forward only. True when this push moved the branch; False when refused or already there."""
        ...

    def contains(self, oid: str, ancestor: str) -> bool:
        """Whether `ancestor` is reachable from `oid`."""
        ...

    def author(self, oid: str) -> str:
        """The e-mail address of a commit's committer."""
        ...


class Tree(Protocol):
    """Files of one revision, read only."""

    def read(self, path: str) -> bytes | None: ...

    def paths(self, prefix: str = "") -> Sequence[str]: ...


class Commits(Protocol):
    """History of an upstream repository (`owner/name`)."""

    def compare(self, repository: str, base: str, head: str) -> Comparison: ...

    def history(self, repository: str, until: Collection[str]) -> Sequence[Commit]:
        """The default branch's commits with their parents, newest first, until those named have all been met (short ids will
        do) or a limit is reached: a commit that is not among them may still be older."""
        ...

    def contains(self, repository: str, commit: str, head: str) -> bool:
        """Whether `commit` is `head` or lies behind it."""
        ...


class Published(Protocol):
    def offer(self, question: Question) -> Offer:
        """What is published of a recipe with its present image, run by run, and what is published in its place. Nothing is
        chosen here. `BadInput` for a file of ours that does not hold."""
        ...


class Archive(Protocol):
    """Files kept for a bump where the ledger is, by name. The ledger itself holds their names, sizes and hashes."""

    def put(self, bump: str, filed: Filed, data: BinaryIO) -> None:
        """Keeps a file; nothing happens when it is there with the same bytes. `Conflict` when others are there under its name,
        `BadInput` when `data` is not what `filed` says."""
        ...

    def held(self, bump: str) -> Mapping[str, Filed]:
        """What is kept of a bump, by name."""
        ...

    def read(self, bump: str, name: str, into: BinaryIO, limit: int) -> int:
        """Writes a kept file into another; bytes written. More than `limit` is a BadInput."""
        ...


class Process(Protocol):
    def run(self, argv: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None,
            limit_s: float = 60.0, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Exit code, stdout, stderr. The environment is exactly `env` plus PATH."""
        ...


class Generator(Protocol):
    """A guest's own generator of its matrix. Its code is of one revision and given where this is made; data files are handed
    over with each question, and no code is ever taken from them."""

    def options(self, words: Sequence[str]) -> frozenset[str]:
        """The options (`--conc`) that `... WORDS --help` names. `Missing` when there is no such generator or command,
        `BadInput` when it is there and cannot be asked."""
        ...

    def rows(self, files: Mapping[str, bytes], asked: Sequence[Sequence[str]]) -> Sequence[Sequence[Mapping[str, Any]]]:
        """The rows of each command line over these data files. `BadInput` when it cannot be asked,
        refuses them, or prints no rows."""
        ...
