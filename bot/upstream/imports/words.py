"""The words of one source file: one that does not name a package asks for nothing of it, and need not be parsed to know that."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bot.ports import Tree
from bot.upstream.imports.surveyed import Survey

NAME, VERSION = "words", 1
MAX_BYTES = 2_000_000
_WORD = re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*")


def survey(data: bytes, path: str) -> bytes:
    """Each word once, in lines. ValueError for what is longer than any source."""
    if len(data) > MAX_BYTES:
        raise ValueError("too long to be read")
    return b"\n".join(sorted(set(_WORD.findall(data))))


def naming(tree: Tree, paths: Sequence[str], tops: Collection[str], survey: Survey) -> frozenset[str]:
    """The files in which one of these names stands, be it as a part of a word; those that could not be read among them."""
    told: Mapping[str, Any] = survey(NAME, tree, paths)
    wanted = [top.encode() for top in tops]
    return frozenset(path for path in paths if (text := told.get(path)) is None or any(top in text for top in wanted))
