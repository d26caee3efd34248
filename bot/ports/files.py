"""One repository's branches and files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol


class Git(Protocol):
    """Writes to one repository through its branches. `oid` is a 40-hex object id; paths use `/`."""

    def tip(self, branch: str) -> str | None:
        """Fetches a branch and tells its commit; None when it does not exist."""
        ...

    def tips(self, branches: Collection[str]) -> Mapping[str, str | None]:
        """As `tip` of each, at one moment: the remote is asked once."""
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
