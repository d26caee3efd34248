"""How commits of a repository on this machine stand to each other. Read only; nothing is fetched."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from bot.adapters.gitcli import meaning
from bot.errors import Missing
from bot.images.tags import Order
from bot.ports import Process

_ID = re.compile(r"[0-9a-f]{7,40}")
_ENV = {"LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


class LocalHistory:
    """Answers what `images.tags` asks as `Ancestry`."""

    def __init__(self, process: Process, folder: Path) -> None:
        self._process, self._folder = process, folder
        if self._git("rev-parse", "--git-dir")[0]:
            raise Missing(f"{folder} is no git repository", "name a clone of the engine's repository")
        self.order = lru_cache(maxsize=4096)(self._order)

    def _order(self, one: str, other: str) -> Order | None:
        """How commit `one` stands to `other`; None when one is not known, or a short id fits several commits.

        Two branches are incomparable, and so is what a shallow clone does not hold together.
        """
        left, right = self._commit(one), self._commit(other)
        if left is None or right is None:
            return None
        if left == right:
            return "same"
        if self._ancestor(left, right):
            return "older"
        return "newer" if self._ancestor(right, left) else "incomparable"

    def _commit(self, text: str) -> str | None:
        """The one commit that an id means. Asked of the object store: a branch may bear a name of hexadecimal digits."""
        if not _ID.fullmatch(text):
            return None
        objects = self._git("rev-parse", f"--disambiguate={text}")[1]
        told = self._git("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=objects)[1].decode().splitlines()
        found = [line.partition(" ")[0] for line in told if line.endswith(" commit")]
        return found[0] if len(found) == 1 else None

    def _ancestor(self, one: str, other: str) -> bool:
        code, _, err = self._git("merge-base", "--is-ancestor", one, other)
        if code not in (0, 1):
            raise meaning("merge-base", err)
        return code == 0

    def _git(self, *argv: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        return self._process.run(["git", *argv], cwd=self._folder, env=_ENV, stdin=stdin)
