"""The code forge of one repository: what is done there, how it is set up, who else works there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import BinaryIO, Protocol

from bot.model.forge import Artifact, Comment, Job, Labelling, Permission, Pull, RunInfo
from bot.model.preflight import Merge, Work
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


class Neighbours(Protocol):
    """Other people's open work in the same repository, and how a head would merge."""

    def work(self) -> Sequence[Work]:
        """Open pull requests and branches, each with the recipes whose files it changes."""
        ...

    def merge(self, head: str, base: str) -> Merge:
        """What merging `head` into `base` would give, by `git merge-tree`; nothing is written."""
        ...
