"""The files of a commit by GitHub's API: one request for the list, one for each file, every content checked against its id."""

from __future__ import annotations

import base64
import hashlib

from bot.adapters.upstream.api import SHA, GitHubApi, mapping, sequence
from bot.adapters.upstream.listed import MAX_FILE, PLAIN, ListedTree
from bot.errors import BadInput, Unreachable

KEPT, MOST = 64_000_000, 400


class GitHubTree(ListedTree):
    """Satisfies the Tree port over one commit. After `MOST` files it says that a clone is wanted: a stranger has sixty requests an
    hour, and somebody's imports are thousands of files."""

    def __init__(self, api: GitHubApi, repository: str, oid: str) -> None:
        super().__init__(KEPT)
        self._api, self._repository, self._oid, self._asked = api, repository, oid, 0

    def _list(self) -> dict[str, str]:
        what = f"the files of {self._repository} at {self._oid[:12]}"
        told = self._api.mapping(f"/repos/{self._repository}/git/trees/{self._oid}?recursive=1", what)
        if told.get("truncated"):
            raise Unreachable(f"{what} are more than GitHub lists", "a clone reads them")
        rows = [mapping(row) for row in sequence(told.get("tree"))]
        return {str(row.get("path")): str(row.get("sha")) for row in rows
                if row.get("mode") in PLAIN and SHA.fullmatch(str(row.get("sha"))) and (row.get("size") or 0) <= MAX_FILE}

    def _had(self, path: str, blob: str) -> None:
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
        self._keep({blob: data})
