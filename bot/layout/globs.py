"""The one kind of glob that a layout knows, for paths of files, names of recipes and key paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache


def matches(glob: str, text: str, separator: str = "/") -> bool:
    """Whether a text fits: `*` and `?` within one step, `**` across steps, `{a,b}` either."""
    return _pattern(glob, separator).fullmatch(text) is not None


def fitting(globs: Sequence[str], paths: Callable[[str], Sequence[str]]) -> list[str]:
    """The files that fit, glob by glob. What keeps files out of an image is no recipe, though it is named like one."""
    found: dict[str, None] = {}
    for glob in globs:
        fixed = re.split(r"[*?{\[]", glob, maxsplit=1)[0].rpartition("/")[0]
        found |= dict.fromkeys(path for path in sorted(paths(fixed)) if matches(glob, path) and not path.endswith(".dockerignore"))
    return list(found)


@lru_cache(maxsize=1024)
def _pattern(glob: str, separator: str) -> re.Pattern[str]:
    parts = re.split(rf"(\*\*{re.escape(separator)}?|\*|\?|\{{[^{{}}]*\}})", glob)
    return re.compile("".join(_piece(part, re.escape(separator)) for part in parts), re.DOTALL)


def _piece(part: str, separator: str) -> str:
    step = f"[^{separator}]"
    fixed = {"**": r".*", "*": f"{step}*", "?": step}
    if part in fixed:
        return fixed[part]
    if part.startswith("**"):
        return f"(?:{step}+{separator})*"
    if part.startswith("{") and part.endswith("}"):
        return "(?:" + "|".join(re.escape(word) for word in part[1:-1].split(",")) + ")"
    return re.escape(part)
