"""The one kind of glob that a layout knows, for paths of files, names of recipes and key paths."""

from __future__ import annotations

import re
from functools import lru_cache


def matches(glob: str, text: str, separator: str = "/") -> bool:
    """Whether a text fits: `*` and `?` within one step, `**` across steps, `{a,b}` either."""
    return _pattern(glob, separator).fullmatch(text) is not None


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
