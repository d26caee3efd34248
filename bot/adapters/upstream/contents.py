"""The files of a commit by GitHub's API: one request for the list, one for each file, every content checked against its id."""

from __future__ import annotations

import base64
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

from bot.adapters.gitcli import check_path
from bot.adapters.upstream.api import SHA, GitHubApi, mapping, sequence
from bot.errors import BadInput, Unreachable

MAX_FILE, KEPT, MOST = 16_000_000, 64_000_000, 400
_PLAIN = ("100644", "100755")


class GitHubTree:
    """Satisfies the Tree port over one commit. After `MOST` files it says that a clone is wanted: a stranger has sixty requests an
    hour, and somebody's imports are thousands of files."""

    def __init__(self, api: GitHubApi, repository: str, oid: str) -> None:
        self._api, self._repository, self._oid = api, repository, oid
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._asked = 0

    def paths(self, prefix: str = "") -> Sequence[str]:
        """Plain files whose path starts so, sorted."""
        return sorted(path for path in self._blobs if path.startswith(prefix))

    def read(self, path: str) -> bytes | None:
        """A plain file's content; None when there is none (links are not followed)."""
        blob = self._blobs.get(check_path(path))
        if blob is None:
            return None
        if blob not in self._kept:
            self._kept[blob] = self._fetched(path, blob)
            total = sum(map(len, self._kept.values()))
            while total > KEPT and len(self._kept) > 1:
                total -= len(self._kept.popitem(last=False)[1])
        self._kept.move_to_end(blob)
        return self._kept[blob]

    @cached_property
    def _blobs(self) -> dict[str, str]:
        what = f"the files of {self._repository} at {self._oid[:12]}"
        told = self._api.mapping(f"/repos/{self._repository}/git/trees/{self._oid}?recursive=1", what)
        if told.get("truncated"):
            raise Unreachable(f"{what} are more than GitHub lists", "a clone reads them")
        rows = [mapping(row) for row in sequence(told.get("tree"))]
        return {str(row.get("path")): str(row.get("sha")) for row in rows
                if row.get("mode") in _PLAIN and SHA.fullmatch(str(row.get("sha"))) and (row.get("size") or 0) <= MAX_FILE}

    def _fetched(self, path: str, blob: str) -> bytes:
        self._asked += 1
        if self._asked > MOST:
            raise Unreachable(f"more than {MOST} files of {self._repository} were asked of GitHub", "a clone reads them")
        told = self._api.mapping(f"/repos/{self._repository}/git/blobs/{blob}", f"{self._repository} {path}")
        try:
            data = base64.b64decode(str(told.get("content", "")))
        except ValueError:
            raise BadInput("its content is not base64", "the server's answer is broken", file=path) from None
        if hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() != blob:
            raise BadInput(f"is not the content of {blob}", "the server's answer is broken", file=path)
        return data
