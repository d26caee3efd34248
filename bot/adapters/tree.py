"""Files of one revision, read only: of a commit through the Git port, or of a folder on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bot.errors import BadInput, Missing
from bot.ports import Git

MAX_FILE = 64_000_000
_NEVER = frozenset({".git"})


class CommitTree:
    """Satisfies the Tree port over one commit. `paths` takes a prefix of the path's text, a folder being `a/b/`."""

    def __init__(self, git: Git, oid: str) -> None:
        self._git, self._oid = git, oid

    def read(self, path: str) -> bytes | None:
        return self._git.read(self._oid, path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        folder = prefix.rpartition("/")[0]
        return sorted(path for path in self._git.entries(self._oid, folder) if path.startswith(prefix))


class FolderTree:
    """Satisfies the Tree port over a folder. Links are not followed, `.git` is not seen: neither is of the revision."""

    def __init__(self, root: Path) -> None:
        self._root = Path(root)
        if not self._root.is_dir():
            raise Missing(f"no such folder: {root}", "correct the path")

    def read(self, path: str) -> bytes | None:
        """A plain file's content; None when there is none; BadInput for a path that leaves the folder, or too large."""
        steps = path.split("/")
        if "\0" in path or any(step in ("", ".", "..") for step in steps):
            raise BadInput(f"not a path inside the folder: {path!r}", "use a/b/c, without . and ..")
        at = self._root
        for step in steps:
            at = at / step
            if step in _NEVER or at.is_symlink():
                return None
        if not at.is_file():
            return None
        if at.stat().st_size > MAX_FILE:
            raise BadInput(f"larger than {MAX_FILE} bytes", "leave it out", file=path)
        return at.read_bytes()

    def paths(self, prefix: str = "") -> Sequence[str]:
        """Plain files whose path starts with `prefix`, sorted."""
        if ".." in prefix.split("/"):
            raise BadInput(f"not a path inside the folder: {prefix!r}", "use a/b/, without ..")
        start = self._root / prefix.rpartition("/")[0]
        found: list[str] = []
        for folder, folders, files in os.walk(start):
            folders[:] = sorted(name for name in folders if name not in _NEVER)
            for name in files:
                at = Path(folder, name)
                path = at.relative_to(self._root).as_posix()
                if path.startswith(prefix) and not at.is_symlink() and at.is_file():
                    found.append(path)
        return sorted(found)
