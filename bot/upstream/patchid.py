"""`git patch-id --stable` of a diff: an id of a change that stays when it is applied elsewhere, line numbers and blanks aside."""

from __future__ import annotations

import hashlib
import re

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_SPACE = re.compile(rb"[ \t\n\v\f\r]+")


class _Sum:
    """The sum of the files' hashes, byte by byte with carry: their order does not count."""

    def __init__(self) -> None:
        self.total, self.hash, self.length = 0, hashlib.sha1(usedforsecurity=False), 0

    def add(self, line: bytes) -> None:
        squeezed = _SPACE.sub(b"", line)
        self.length += len(squeezed)
        self.hash.update(squeezed)

    def flush(self) -> None:
        self.total = (self.total + int.from_bytes(self.hash.digest(), "little")) % (1 << 160)
        self.hash = hashlib.sha1(usedforsecurity=False)


def patch_id(diff: bytes) -> str | None:
    """The id in 40 digits of a diff as git writes it; None for a text that holds no diff, and for one of binary files."""
    told, before, after = _Sum(), -1, -1
    for line in diff.removesuffix(b"\n").split(b"\n"):
        if line.startswith(b"\\ ") and len(line) > 11:
            continue
        if not told.length and not line.startswith(b"diff "):
            continue
        if before == -1:
            if line.startswith((b"GIT binary patch", b"Binary files")):
                return None
            if line.startswith(b"index "):
                continue
            if line.startswith(b"--- "):
                before = after = 1
            elif not line[:1].isalpha():
                break
        if before == 0 and after == 0:
            if hunk := _HUNK.match(line):
                before, after = (1 if count is None else int(count) for count in hunk.groups())
                continue
            if not line.startswith(b"diff "):
                break
            told.flush()
            before = after = -1
        before -= line[:1] in (b"-", b" ")
        after -= line[:1] in (b"+", b" ")
        told.add(line)
    told.flush()
    return told.total.to_bytes(20, "little").hex() if told.length else None
