"""Where a value is told by an alias (`image: *img`): the value stands elsewhere, and its other users must not move with it."""

from __future__ import annotations

import re

from bot.recipe.files.document import Document, Hit

_ALIAS = re.compile(r"\s*:\s*(\*[^\s,\[\]{}]+)")


def alias(source: Document, hit: Hit) -> tuple[int, int] | None:
    """The place of the alias that stands as a key's value, in code points; None where the value stands there itself."""
    if hit.key is None or hit.node.start_mark.index > hit.key.start_mark.index:
        return None
    found = _ALIAS.match(source.text, hit.key.end_mark.index)
    return found.span(1) if found else None


def own(source: Document, hit: Hit) -> tuple[int, int]:
    """The place that is this path's alone: its alias, or the value itself."""
    return alias(source, hit) or source.span(hit.node)
