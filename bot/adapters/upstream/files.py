"""The files of an upstream at one commit, from a clone: read by cat-file, fetched in batches."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.listed import MAX_FILE, PLAIN, ListedTree
from bot.errors import Missing

KEPT = 96_000_000
_BATCH = 6000


class CloneTree(ListedTree):
    """Satisfies the Tree port. `want` tells which files will be read; without it the first read of a file fetches what lies below
    the same top folder and ends as it does: one request in place of thousands."""

    def __init__(self, clone: Clone, oid: str) -> None:
        super().__init__(2 * KEPT)
        self._clone, self._oid = clone, oid

    def want(self, paths: Collection[str]) -> None:
        """Fetches these at once."""
        self._load([path for path in paths if path in self._blobs and self._blobs[path] not in self._kept])

    def _list(self) -> dict[str, str]:
        out = self._clone.run("ls-tree", "-r", "-z", "--full-tree", self._oid).decode("utf-8", "replace")
        rows = (row.partition("\t") for row in out.split("\0")[:-1])
        return {path: facts.split(" ")[2] for facts, _, path in rows if facts[:6] in PLAIN}

    def _had(self, path: str, blob: str) -> None:
        self._load([path, *self._beside(path)])

    def _beside(self, path: str) -> list[str]:
        top, inside, _ = path.partition("/")
        ends = f".{path.rpartition('.')[2]}"
        return [other for other in self._blobs if other.startswith(f"{top}/") and other.endswith(ends)][:_BATCH] if inside else []

    def _load(self, paths: Sequence[str]) -> None:
        blobs = list(dict.fromkeys(self._blobs[path] for path in paths if self._blobs[path] not in self._kept))
        if not blobs:
            return
        self._clone.complete(blobs, [self._oid])
        given = "".join(f"{blob}\n" for blob in blobs).encode()
        sizes = self._clone.run("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=given).decode().split("\n")
        room, chosen = KEPT, list[str]()
        for line in sizes:
            blob, _, size = line.partition(" ")
            if size.isdigit() and int(size) <= MAX_FILE and (room := room - int(size)) > 0:
                chosen.append(blob)
            elif blob == blobs[0] and size and not size.isdigit():
                raise Missing(f"{paths[0]} could not be had at {self._oid[:12]}", "the repository does not serve its content")
        self._take(chosen)

    def _take(self, blobs: Sequence[str]) -> None:
        out = self._clone.run("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in blobs).encode())
        at, found = 0, dict[str, bytes]()
        for blob in blobs:
            end = out.index(b"\n", at)
            size = int(out[at:end].split(b" ")[2])
            found[blob] = out[end + 1:end + 1 + size]
            at = end + size + 2
        self._keep(found)
