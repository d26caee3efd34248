"""Files of one revision, read only: of a commit through the Git port, or of a commit or a folder on this machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from bot.adapters.gitcli import check_path, meaning
from bot.errors import BadInput, Missing
from bot.ports import Git, Process, Tree

MAX_FILE = 64_000_000
GIT = "git:"
_NEVER = frozenset({".git"})
_PLAIN_MODES = ("100644", "100755")


class CommitTree:
    """Satisfies the Tree port over one commit. `paths` takes a prefix of the path's text, a folder being `a/b/`."""

    def __init__(self, git: Git, oid: str) -> None:
        self._git, self._oid = git, oid

    def read(self, path: str) -> bytes | None:
        return self._git.read(self._oid, path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        folder = prefix.rpartition("/")[0]
        return sorted(path for path in self._git.entries(self._oid, folder) if path.startswith(prefix))


class LocalCommit:
    """Satisfies the Tree port over one commit of a repository on this machine. Nothing is fetched and nothing checked out."""

    def __init__(self, process: Process, root: Path, oid: str) -> None:
        self._process, self._root, self._oid = process, root, oid
        self._blobs: dict[str, str] | None = None
        self._kept: dict[str, bytes] = {}

    @classmethod
    def of(cls, process: Process, root: Path, ref: str) -> LocalCommit | None:
        """The commit that a ref names now; None where it names none."""
        code, out, err = _git(process, root, "rev-parse", "--quiet", "--verify", "--end-of-options", f"{ref}^{{commit}}")
        if code == 128 and err:
            raise meaning("rev-parse", err)
        return cls(process, root, out.decode().strip()) if code == 0 else None

    def read(self, path: str) -> bytes | None:
        """A plain file's content; None when there is none (symbolic links are not followed)."""
        if check_path(path) not in self._listing():
            return None
        if path in self._kept:
            return self._kept[path]
        code, out, err = _git(self._process, self._root, "cat-file", "blob", f"{self._oid}:{path}")
        if code:
            raise meaning("cat-file", err)
        return out

    def paths(self, prefix: str = "") -> Sequence[str]:
        return sorted(path for path in self._listing() if path.startswith(prefix))

    def want(self, paths: Collection[str]) -> None:
        """Reads all of these at once, and keeps them: a process for each of 4,000 files took 20 s."""
        asked = [path for path in dict.fromkeys(paths) if path in self._listing() and path not in self._kept and "\n" not in path]
        given = "".join(f"{self._oid}:{path}\n" for path in asked).encode("utf-8", "surrogateescape")
        code, out, err = _git(self._process, self._root, "cat-file", "--batch", stdin=given) if asked else (0, b"", b"")
        if code:
            raise meaning("cat-file", err)
        at = 0
        for path in asked:
            end = out.index(b"\n", at)
            size = out[at:end].rpartition(b" ")[2]
            if not size.isdigit():  # a blob that this clone lacks: `read` says so
                at = end + 1
                continue
            self._kept[path] = out[end + 1:end + 1 + int(size)]
            at = end + int(size) + 2

    def contents(self, paths: Collection[str]) -> Mapping[str, str]:
        """The ids of these files' contents, as `contents` below says."""
        return {path: f"{GIT}{blob}" for path in paths if (blob := self._listing().get(path))}

    def _listing(self) -> dict[str, str]:
        if self._blobs is None:
            code, out, err = _git(self._process, self._root, "ls-tree", "-r", "-z", "--full-tree", self._oid)
            if code:
                raise meaning("ls-tree", err)
            rows = (row.partition("\t") for row in out.decode("utf-8", "surrogateescape").split("\0")[:-1])
            self._blobs = {path: facts.split(" ")[2] for facts, _, path in rows if facts[:6] in _PLAIN_MODES}
        return self._blobs


class SubTree:
    """Satisfies the Tree port over one folder of another tree."""

    def __init__(self, tree: Tree, folder: str) -> None:
        self._tree, self._below = tree, f"{folder.strip('/')}/"

    def read(self, path: str) -> bytes | None:
        return self._tree.read(self._below + path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        return [path[len(self._below):] for path in self._tree.paths(self._below + prefix)]

    def want(self, paths: Collection[str]) -> None:
        """Says which files will be read, to a tree that can make use of it."""
        if (want := getattr(self._tree, "want", None)) is not None:
            want([self._below + path for path in paths])

    def contents(self, paths: Collection[str]) -> Mapping[str, str]:
        """The ids of these files' contents, where the tree around knows them."""
        told = contents(self._tree, [self._below + path for path in paths])
        return {path[len(self._below):]: one for path, one in told.items()}


def contents(tree: Tree, paths: Collection[str]) -> Mapping[str, str]:
    """Ids of the contents of those files that a tree can tell of without reading them, none where it cannot: `git:` and the id of
    the blob, which `git_id` can check, or another kind of id. Two files of one id are one content, in whatever tree."""
    told = getattr(tree, "contents", None)
    return told(paths) if told is not None else {}


def git_id(data: bytes, like: str) -> str:
    """The id of a content in git, by the kind of sum that another id is."""
    digest = hashlib.sha256 if len(like) > 60 else hashlib.sha1
    return GIT + digest(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _git(process: Process, root: Path, *argv: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    env = {"LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1"}
    return process.run(["git", *argv], cwd=root, env=env, stdin=stdin)


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
