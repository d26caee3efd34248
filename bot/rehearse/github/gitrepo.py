"""The bare repository on disk, read and written with the git command line only."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from bot.rehearse.github.reffiles import refs_of

T = TypeVar("T")
ZERO = "0" * 40


class GitFailed(Exception):
    """git said no; the text is its last line."""


@dataclass(frozen=True, kw_only=True)
class CommitFacts:
    sha: str
    tree: str
    parents: tuple[str, ...]
    author: tuple[str, str, str]
    committer: tuple[str, str, str]
    message: str


@dataclass(frozen=True, kw_only=True)
class FileChange:
    path: str
    status: str
    previous: str | None
    additions: int
    deletions: int
    blob: str


_STATUS = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}


@cache
def _version() -> tuple[int, ...]:
    words = subprocess.run(["git", "--version"], capture_output=True, check=True).stdout.decode().split()[2].split(".")
    return tuple(int(word) for word in words[:2])


class GitRepo:
    """One bare repository. Object ids in, facts out; a name that does not resolve is None, never an exception."""

    def __init__(self, path: Path, *, merge_tree: bool | None = None) -> None:
        self.path = Path(path)
        self._env = {"PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_GLOBAL": os.devnull,
                     "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        self._facts: dict[str, CommitFacts] = {}
        self._trees: dict[tuple[str, str], str | None] = {}
        self._kept: dict[tuple[str, ...], Any] = {}
        self._merge_tree = _version() >= (2, 38) if merge_tree is None else merge_tree

    def git(self, *args: str, data: bytes | None = None, env: dict[str, str] | None = None,
            fine: tuple[int, ...] = (0,)) -> tuple[int, bytes]:
        made = subprocess.run(["git", "-C", str(self.path), *args], input=data, capture_output=True, check=False,
                              env={**self._env, **(env or {})})
        if made.returncode not in fine:
            raise GitFailed(f"git {args[0]}: {made.stderr.decode(errors='replace').strip()[-300:]}")
        return made.returncode, made.stdout

    def text(self, *args: str) -> str:
        return self.git(*args)[1].decode(errors="replace").strip()

    def refs(self, *prefixes: str) -> dict[str, str]:
        """Ref -> object id, of all refs or those below the prefixes (folders, or whole names)."""
        if (read := refs_of(self.path, prefixes or ("refs/",))) is not None:
            return read
        out = self.text("for-each-ref", "--format=%(refname) %(objectname)", *prefixes)
        return dict(line.split(" ") for line in out.splitlines())

    def resolve(self, name: str) -> str | None:
        """The commit of a branch, tag, full ref or (short) id."""
        if not name or name.startswith("-") or ".." in name:
            return None
        for candidate in (f"refs/heads/{name}", f"refs/tags/{name}", name):
            code, out = self.git(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}", fine=(0, 1, 128)
            )
            if code == 0:
                return out.decode().strip()
        return None

    def commit(self, sha: str) -> CommitFacts:
        if sha not in self._facts:
            form = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
            parts = self.git("show", "-s", f"--format={form}", sha)[1].decode(errors="replace").split("\0")
            self._facts[sha] = CommitFacts(
                sha=parts[0], tree=parts[1], parents=tuple(parts[2].split()), message=parts[9].rstrip("\n"),
                author=(parts[3], parts[4], parts[5]), committer=(parts[6], parts[7], parts[8]))
        return self._facts[sha]

    def _once(self, *key: str, ask: Callable[[], T]) -> T:
        """An answer about object ids, which never changes: git is asked once."""
        if key not in self._kept:
            self._kept[key] = ask()
        return cast(T, self._kept[key])

    def between(self, base: str, head: str) -> list[str]:
        """Commits (object ids) of `head` that `base` lacks, oldest first."""
        args = ("rev-list", "--reverse", "--topo-order", f"{base}..{head}")
        return self._once(*args, ask=lambda: self.text(*args).split())

    def log(self, head: str, path: str | None = None, count: int = 1000) -> list[str]:
        return self.text("rev-list", f"--max-count={count}", head, "--", *([path] if path else [])).split()

    def merge_base(self, one: str, two: str) -> str | None:
        """The best common ancestor of two object ids."""
        return self._once("merge-base", one, two, ask=lambda: self._merge_base(one, two))

    def _merge_base(self, one: str, two: str) -> str | None:
        code, out = self.git("merge-base", one, two, fine=(0, 1))
        return out.decode().strip() if code == 0 else None

    def contains(self, tip: str, ancestor: str) -> bool:
        args = ("merge-base", "--is-ancestor", ancestor, tip)
        return self._once(*args, ask=lambda: self.git(*args, fine=(0, 1))[0] == 0)

    def changes(self, base: str, head: str, *, dots: int = 2) -> list[FileChange]:
        """Files that differ; three dots: from the merge base, as GitHub reads a pull request."""
        start = (self.merge_base(base, head) or base) if dots == 3 else base
        return self._once("changes", start, head, ask=lambda: self._changes(start, head))

    def _changes(self, start: str, head: str) -> list[FileChange]:
        raw = self.git("diff", "--raw", "--no-abbrev", "-M", "-z", start, head)[1].decode(errors="replace").split("\0")
        counts = self._counts(start, head)
        found, at = [], 0
        while at < len(raw) - 1:
            fields = raw[at].split()
            moved = fields[4][0] in "RC"
            previous, path = (raw[at + 1], raw[at + 2]) if moved else (None, raw[at + 1])
            plus, minus = counts.get(path, (0, 0))
            blob = fields[2] if fields[4][0] == "D" else fields[3]
            found.append(FileChange(path=path, status=_STATUS[fields[4][0]], previous=previous, additions=plus,
                                    deletions=minus, blob=blob))
            at += 3 if moved else 2
        return found

    def _counts(self, base: str, head: str) -> dict[str, tuple[int, int]]:
        parts = self.git("diff", "--numstat", "-M", "-z", base, head)[1].decode(errors="replace").split("\0")
        found, at = {}, 0
        while at < len(parts) - 1:
            plus, minus, path = parts[at].split("\t", 2)
            path, step = (path, 1) if path else (parts[at + 2], 3)
            found[path] = tuple(0 if word == "-" else int(word) for word in (plus, minus))
            at += step
        return found

    def patch(self, base: str, head: str, path: str) -> str:
        out = self.git("diff", base, head, "--", path)[1].decode(errors="replace")
        return out[out.index("@@"):].rstrip("\n") if "@@" in out else ""

    def entry(self, commit: str, path: str) -> tuple[str, str] | None:
        """(kind, object id) of a path: blob, tree or commit; None when absent."""
        if not path:
            return "tree", self.commit(commit).tree
        line = self.git("ls-tree", "-z", commit, "--", path)[1].decode(errors="replace").rstrip("\0")
        return (line.split()[1], line.split()[2]) if line and "\0" not in line else None

    def children(self, tree: str) -> list[tuple[str, str, str, int]]:
        """(kind, object id, name, size) of each entry of a tree."""
        rows = self.git("ls-tree", "-z", "-l", tree)[1].decode(errors="replace").split("\0")
        split = [(row.split("\t", 1)[0].split(), row.split("\t", 1)[1]) for row in rows if row]
        return [(kind, oid, name, 0 if size == "-" else int(size)) for (_, kind, oid, size), name in split]

    def blob(self, oid: str) -> bytes:
        return self.git("cat-file", "blob", oid)[1]

    def merged_tree(self, base: str, head: str) -> str | None:
        """The tree of merging two commits; None when they conflict (or share no history)."""
        if (base, head) not in self._trees:
            self._trees[base, head] = (
                self._by_merge_tree(base, head) if self._merge_tree else self._by_index(base, head)
            )
        return self._trees[base, head]

    def _by_merge_tree(self, base: str, head: str) -> str | None:
        code, out = self.git("merge-tree", "--write-tree", base, head, fine=(0, 1, 128))
        return out.decode().split()[0] if code == 0 else None

    def _by_index(self, base: str, head: str) -> str | None:
        """The same for git before 2.38: three-way read-tree, then git's own one-file merge in a scratch folder."""
        start = self.merge_base(base, head)
        if start is None:
            return None
        with tempfile.TemporaryDirectory() as scratch:
            env = {"GIT_INDEX_FILE": f"{scratch}/index", "GIT_WORK_TREE": scratch, "GIT_DIR": str(self.path.resolve())}
            self.git("read-tree", "-i", "-m", "--aggressive", start, base, head, env=env)
            code, _ = self.git("-C", scratch, "merge-index", "git-merge-one-file", "-a", env=env, fine=(0, 1, 128))
            return self.git("write-tree", env=env)[1].decode().strip() if code == 0 else None

    def make_commit(
        self, tree: str, parents: tuple[str, ...], message: str, who: tuple[str, str], when: datetime
    ) -> str:
        stamp = f"{int(when.timestamp())} +0000"
        env = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER")
               for part, value in (("NAME", who[0]), ("EMAIL", who[1]), ("DATE", stamp))}
        args = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", tree, *args, "-F", "-", data=message.encode(), env=env)[1].decode().strip()

    def tree_with(self, commit: str | None, files: dict[str, bytes | None]) -> str:
        """A commit's tree with files written (None removes)."""
        with tempfile.TemporaryDirectory() as scratch:
            env = {"GIT_INDEX_FILE": f"{scratch}/index"}
            self.git("read-tree", *([commit] if commit else ["--empty"]), env=env)
            new = {path: Path(scratch, str(at)) for at, (path, data) in enumerate(files.items()) if data is not None}
            for path, file in new.items():
                file.write_bytes(files[path] or b"")
            names = "".join(f"{file}\n" for file in new.values()).encode()
            told = self.git("hash-object", "-w", "--no-filters", "--stdin-paths", data=names)[1] if new else b""
            lines = [f"100644 {oid}\t{path}" for path, oid in zip(new, told.decode().split(), strict=True)]
            lines += [f"0 {ZERO}\t{path}" for path, data in files.items() if data is None]
            self.git("update-index", "--index-info", data="".join(f"{line}\n" for line in lines).encode(), env=env)
            return self.git("write-tree", env=env)[1].decode().strip()

    def update_ref(self, ref: str, new: str, old: str = ZERO) -> bool:
        """Moves a ref only from where it was seen; 40 zeros: it must not exist, or (as `new`) it goes."""
        args = ["-d", ref, old] if new == ZERO else [ref, new, old]
        return self.git("update-ref", *args, fine=(0, 1, 128))[0] == 0
