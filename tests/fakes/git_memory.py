"""A Git port in memory with git's manners: content-addressed commits, pushes that must fast-forward, `=` is no win."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from bot.adapters.gitcli import check_branch, check_oid, check_path
from bot.errors import BadInput, Missing


class Commit(Struct, frozen=True):
    parents: tuple[str, ...]
    files: dict[str, bytes]
    email: str


class MemoryRemote:
    """The shared repository: branches and the commits they reach."""

    def __init__(self) -> None:
        self.branches: dict[str, str] = {}
        self.commits: dict[str, Commit] = {}
        self.lock = threading.Lock()


class MemoryGit:
    """One writer beside a remote; its own commits stay with it until they are pushed."""

    def __init__(self, remote: MemoryRemote, *, name: str = "bumpbot", email: str = "bumpbot@example.org") -> None:
        self._remote, self._name, self._email = remote, name, email
        self._own: dict[str, Commit] = {}

    def tip(self, branch: str) -> str | None:
        return self._remote.branches.get(check_branch(branch))

    def tips(self, branches: Collection[str]) -> Mapping[str, str | None]:
        return {branch: self.tip(branch) for branch in branches}

    def read(self, oid: str, path: str) -> bytes | None:
        return self._commit(oid).files.get(check_path(path))

    def entries(self, oid: str, folder: str = "") -> Mapping[str, str]:
        below = f"{check_path(folder.rstrip('/'))}/" if folder else ""
        return {path: _sha1(b"blob", data) for path, data in self._commit(oid).files.items() if path.startswith(below)}

    def commit(self, parents: Sequence[str], changes: Mapping[str, bytes | None], message: str, *,
               when: datetime) -> str:
        if "\0" in message or not message.strip():
            raise BadInput("not a commit message", "write a line of text")
        for parent in parents:
            self._commit(parent)
        files = dict(self._commit(parents[0]).files) if parents else {}
        for path, data in changes.items():
            if data is None:
                files.pop(check_path(path), None)
        files |= {check_path(path): data for path, data in changes.items() if data is not None}
        if any(other.startswith(f"{path}/") for path in files for other in files):
            raise BadInput("this is a file and a folder at once", "choose another path")
        tree = repr(sorted((path, _sha1(b"blob", data)) for path, data in files.items()))
        facts = repr((tree, tuple(parents), self._name, self._email, int(when.timestamp()), message))
        oid = _sha1(b"commit", facts.encode())
        self._own[oid] = Commit(tuple(parents), files, self._email)
        return oid

    def push(self, branch: str, oid: str) -> bool:
        check_branch(branch), self._commit(oid)
        with self._remote.lock:
            there = self._remote.branches.get(branch)
            if there == oid or (there is not None and not self.contains(oid, there)):
                return False
            self._remote.commits |= {known: self._commit(known) for known in self._ancestry(oid)}
            self._remote.branches[branch] = oid
            return True

    def contains(self, oid: str, ancestor: str) -> bool:
        return check_oid(ancestor) in self._ancestry(oid)

    def author(self, oid: str) -> str:
        return self._commit(oid).email

    def _ancestry(self, oid: str) -> set[str]:
        seen, todo = set(), [oid]
        while todo:
            if (at := todo.pop()) not in seen:
                seen.add(at)
                todo += self._commit(at).parents
        return seen

    def _commit(self, oid: str) -> Commit:
        found = self._own.get(check_oid(oid)) or self._remote.commits.get(oid)
        if found is None:
            raise Missing(f"no commit {oid}", "fetch the branch that holds it")
        return found


def _sha1(kind: bytes, data: bytes) -> str:
    return hashlib.sha1(kind + b" %d\0" % len(data) + data).hexdigest()
