"""Files of one commit of a repository on this machine, read from its objects: no checkout, nothing fetched, nothing run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.adapters.gitcli import check_path, meaning
from bot.errors import Missing
from bot.ports import Process

_ENV = {"LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
_FILE_MODES = ("100644", "100755")


class RevisionTree:
    """Satisfies the Tree port over what `revision` (branch, tag, commit) names in the repository at `folder`, or at a folder
    inside it, from which paths then start.

    Missing when there is no such repository or commit. Links and submodules are no files.
    """

    def __init__(self, process: Process, folder: Path, revision: str) -> None:
        self._process, self._folder = process, folder
        if self._git("rev-parse", "--git-dir")[0]:
            raise Missing(f"{folder} is no git repository", "name a clone with --repo")
        code, out, err = self._git("rev-parse", "--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        if code == 128 and err:
            raise meaning("rev-parse", err)
        if code:
            raise Missing(f"{revision} is no commit of {folder}", "name a branch, tag or commit that was fetched")
        self.oid = out.decode().strip()
        self._blobs = self._listed()

    def read(self, path: str) -> bytes | None:
        """A plain file's content; None when there is none."""
        blob = self._blobs.get(check_path(path))
        if blob is None:
            return None
        code, out, err = self._git("cat-file", "blob", blob)
        if code:
            raise meaning("cat-file", err)
        return out

    def paths(self, prefix: str = "") -> Sequence[str]:
        """Plain files whose path starts with `prefix`, sorted."""
        return [path for path in self._blobs if path.startswith(prefix)]

    def _listed(self) -> Mapping[str, str]:
        code, out, err = self._git("ls-tree", "-r", "-z", self.oid)
        if code:
            raise meaning("ls-tree", err)
        made: dict[str, str] = {}
        for row in out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            facts, _, path = row.partition("\t")
            mode, _, blob = facts.split(" ")
            if mode in _FILE_MODES:
                made[path] = blob
        return dict(sorted(made.items()))

    def _git(self, *argv: str) -> tuple[int, bytes, bytes]:
        return self._process.run(["git", *argv], cwd=self._folder, env=_ENV)
