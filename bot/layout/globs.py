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


def fault(glob: str) -> tuple[str, str] | None:
    """What of a glob means nothing here, though it does elsewhere, and what to write; it would silently find nothing."""
    if set("[]") & set(glob):
        return "holds brackets, which are no pattern here", "write {a,b}"
    if set("{}") & set(re.sub(r"\{[^{}]*\}", "", glob)):
        return "has a brace without its partner, or one in another", "write {a,b}"
    return None


def astray(glob: str) -> tuple[str, str] | None:
    """As `fault`, of a glob that can find no file of a repository."""
    return ("leaves the repository", "start at the repository's root") if glob.startswith("/") or ".." in glob.split("/") else None


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
