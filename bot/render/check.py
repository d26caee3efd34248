"""The last look at finished bytes, after NFKC: what must never reach the forge, whoever wrote the template.

Other people's bots with write tokens read these comments; `@claude` in one starts a job with a token (SECURITY.md 8).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

_SPAN = re.compile(r"(?<![`\\])`(?!`)[^`\n]*`(?!`)")
# As the forge reads it: any character that is no ASCII letter, digit or underscore may stand before the @.
_MENTION = re.compile(r"(?<![A-Za-z0-9_])@(?!sha256:)[A-Za-z0-9][A-Za-z0-9-]*")
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_RULE = re.compile(r"\|(?: :?-{3,}:? \|)+")
_PIPE = re.compile(r"(?<!\\)\|")


def check(text: str, forbidden: Sequence[str]) -> str:
    """The text unchanged; RuntimeError names what it holds that must not be posted."""
    if (found := fault(text, forbidden)) is not None:
        raise RuntimeError(f"a comment holds {found}: nothing was posted")
    return text


def fault(text: str, forbidden: Sequence[str]) -> str | None:
    """What a text holds that must not be posted, in words; None when nothing."""
    unescaped = html.unescape(text)
    for form in dict.fromkeys((text, unicodedata.normalize("NFKC", text), unicodedata.normalize("NFKC", unescaped))):
        squeezed = _squeezed(form)
        for phrase in forbidden:
            if _wanted(phrase) in squeezed:
                return f"the trigger phrase {phrase!r}"
        if found := _MENTION.search(_SPAN.sub("``", form)):
            return f"a mention, {found.group()}"
        if "<!--" in form:
            return "a hidden marker, which is for its writer to add"
    for letter in dict.fromkeys(text):  # each once, in the order they stand in
        if unicodedata.category(letter) in _INVISIBLE and letter != "\n":
            return f"the control character U+{ord(letter):04X}"
    return next((f"a table that breaks at its line {number}" for number in _broken(text)), None)


@lru_cache(maxsize=256)
def _wanted(phrase: str) -> str:
    return _squeezed(unicodedata.normalize("NFKC", phrase))


def _squeezed(text: str) -> str:
    """Without a difference of case, or of how words are spaced and wrapped."""
    return " ".join(text.casefold().split())


def _broken(text: str) -> Iterator[int]:
    """Lines where a table is none: without its rule, with a cell too many or too few, with a line between its rows."""
    block: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.startswith("|") or (block and line.strip()):
            block.append(line)
            continue
        yield from (number - len(block) + index for index in _broken_rows(block))
        block = []


def _broken_rows(block: Sequence[str]) -> Iterator[int]:
    if not block:
        return
    width = len(_PIPE.findall(block[0]))
    if len(block) < 2 or not _RULE.fullmatch(block[1]):
        yield 0
    for index, line in enumerate(block):
        if not line.startswith("| ") or not line.endswith(" |") or len(_PIPE.findall(line)) != width:
            yield index
