"""What every archive does alike: names that any of them can keep, and bytes measured as they pass."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import BinaryIO

from bot.errors import BadInput
from bot.model.result import Filed

CHUNK = 1 << 20
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
BUMP = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,119}")


def checked(bump: str, name: str = "x") -> None:
    """BadInput for a name that some archive would change or take for a path."""
    if not BUMP.fullmatch(bump):
        raise BadInput(f"not the id of a bump: {bump[:60]!r}", "use letters, digits, and . _ - between them")
    if not NAME.fullmatch(name) or ".." in name:
        raise BadInput(f"not a name that can be archived: {name[:60]!r}", "use letters, digits, and . _ - between them")


def chunks(data: BinaryIO) -> Iterator[bytes]:
    """What a stream still holds, a megabyte at a time."""
    while chunk := data.read(CHUNK):
        yield chunk


def measured(name: str, data: BinaryIO) -> Filed:
    """Name, size and hash of what a stream still holds."""
    digest, size = hashlib.sha256(), 0
    for chunk in chunks(data):
        digest.update(chunk)
        size += len(chunk)
    return Filed(name=name, size=size, sha256=digest.hexdigest())


def same(filed: Filed, found: Filed) -> None:
    """BadInput when what arrived is not what was announced."""
    if (filed.size, filed.sha256) != (found.size, found.sha256):
        raise BadInput(f"{filed.name} is {found.size} bytes of {found.sha256[:12]}, not {filed.size} of {filed.sha256[:12]}",
                       "it changed since it was first read")
