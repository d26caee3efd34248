"""A text over the forge's limit becomes numbered parts; lines are never cut and a table's head goes with its rows."""

from __future__ import annotations

_MARK = 40


def split(text: str, limit: int) -> tuple[str, ...]:
    """Parts of at most `limit` characters, each numbered `(k/n)` when there is more than one."""
    if len(text) <= limit:
        return (text,)
    parts: list[list[str]] = [[]]
    size, head = 0, []
    for line in text.splitlines(keepends=True):
        head = _head(head, line)
        if size + len(line) > limit - _MARK and parts[-1]:
            repeated = head[:2] if len(head) >= 2 and line.startswith("|") else []
            parts.append(list(repeated))
            size = sum(map(len, repeated))
        parts[-1].append(line)
        size += len(line)
    return tuple(f"({number}/{len(parts)})\n\n{''.join(part)}" for number, part in enumerate(parts, start=1))


def _head(head: list[str], line: str) -> list[str]:
    """The first two lines of the table we are in."""
    if not line.startswith("|"):
        return []
    return head if len(head) >= 2 else [*head, line]
