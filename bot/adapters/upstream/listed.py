"""The files of one commit, listed by their blobs and kept by content: what a clone and GitHub's API have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from bot.adapters.gitcli import check_path
from bot.adapters.tree import GIT
from bot.errors import BadInput

# No file of sources is larger; one that is stays unread.
MAX_FILE = 16_000_000
PLAIN = ("100644", "100755")


class ListedTree(ABC):
    """Satisfies the Tree port. Contents are kept up to `most` bytes, those read last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def paths(self, prefix: str = "") -> Sequence[str]:
        """Plain files whose path starts so, sorted."""
        return sorted(path for path in self._blobs if path.startswith(prefix))

    def read(self, path: str) -> bytes | None:
        """A plain file's content; None when there is none (links are not followed)."""
        blob = self._blobs.get(check_path(path))
        if blob is None:
            return None
        if blob not in self._kept:
            self._had(path, blob)
        if blob not in self._kept:
            raise BadInput(f"larger than {MAX_FILE} bytes", "leave it out", file=path)
        self._kept.move_to_end(blob)
        return self._kept[blob]

    def contents(self, paths: Collection[str]) -> Mapping[str, str]:
        """The ids of these files' contents, which need not be here for it."""
        return {path: f"{GIT}{blob}" for path in paths if (blob := self._blobs.get(path))}

    @cached_property
    def _blobs(self) -> Mapping[str, str]:
        return self._list()

    def _keep(self, contents: Mapping[str, bytes]) -> None:
        self._kept.update(contents)
        total = sum(map(len, self._kept.values()))
        while total > self._most and len(self._kept) > 1:
            total -= len(self._kept.popitem(last=False)[1])

    @abstractmethod
    def _list(self) -> Mapping[str, str]:
        """Path -> blob of every plain file."""

    @abstractmethod
    def _had(self, path: str, blob: str) -> None:
        """Has one content kept, and others that may be wanted soon."""
