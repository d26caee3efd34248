"""The last look at finished bytes, after NFKC: what must never reach the forge, whoever wrote the template.

Other people's bots with write tokens read these comments; `@claude` in one starts a job with a token (SECURITY.md 8).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_FENCE = re.compile(r"(?ms)^```.*?^```\s*$")
_SPAN = re.compile(r"`[^`\n]*`")
_MENTION = re.compile(r"(?<![A-Za-z0-9_./@-])@(?!sha256:)[A-Za-z0-9][A-Za-z0-9-]{0,38}(?![A-Za-z0-9-])")
_CONTROL = re.compile(r"[\u0000-\u0008\u000b-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_PIPE = re.compile(r"(?<!\\)\|")


def check(text: str, forbidden: Sequence[str]) -> str:
    """The text unchanged; RuntimeError names what it holds that must not be posted."""
    for form in (text, unicodedata.normalize("NFKC", text)):
        lowered = form.lower()
        for phrase in forbidden:
            if phrase.lower() in lowered:
                raise RuntimeError(f"a comment holds the trigger phrase {phrase!r}: nothing was posted")
        found = _MENTION.search(_SPAN.sub("``", _FENCE.sub("", form)))
        if found:
            raise RuntimeError(f"a comment would mention {found.group(0)}: nothing was posted")
    control = _CONTROL.search(text)
    if control:
        raise RuntimeError(f"a comment holds the control character U+{ord(control.group(0)):04X}: nothing was posted")
    _tables(text)
    return text


def _tables(text: str) -> None:
    """Every line of a table has as many cells as its head, so no value slides under another column."""
    width = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not _TABLE.match(line):
            width = None
            continue
        cells = len(_PIPE.findall(line)) - 1
        width = cells if width is None else width
        if cells != width:
            raise RuntimeError(f"a table of a comment breaks at its line {number}: nothing was posted")
