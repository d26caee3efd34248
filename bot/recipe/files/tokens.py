"""How a value can be spelled in YAML: in the quotes that stand there first, in others only where those cannot hold it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_WORDS = {True: "true", False: "false", None: "null"}
# What some reader takes for something else than text: YAML 1.1 (PyYAML, Ruby) and 1.2 (Go, JavaScript) differ, and a tag may be
# made of digits and an `e` by chance: 12e5678 is the short name of a commit, and infinite to a chart.
_OTHERWISE = re.compile(
    r"|~|null|true|false|yes|no|on|off|y|n|=|<<|\.nan|[-+]?\.inf"
    r"|[-+]?(?:0[box][0-9a-f]+|(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:e[-+]?[0-9]+)?)"
    r"|[-+]?[0-9]+(?::[0-9]{1,2})+(?:\.[0-9]*)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t \t].*)?", re.IGNORECASE)


def spellings(raw: str, style: str | None, new: Any) -> Iterator[str]:
    """Texts for `new` in place of the token `raw` (anchor and tag kept), likeliest first; the caller proves which one holds."""
    lead = _PROPERTIES.match(raw)
    prefix = lead[0] if lead else ""
    if not isinstance(new, str):
        yield prefix + written(new)
        return
    if style in ("|", ">"):
        return
    quoted = (_double,) if not new.isprintable() else (_double, _single) if style == '"' else (_single, _double)
    for spell in quoted if style or not calm(new) else (_plain, *quoted):
        yield prefix + spell(new)


def calm(text: str, style: str | None = None) -> bool:
    """Whether every reader takes the text as it stands, without quotes or in those of a `style`: PyYAML's two readers think
    differently of `{a: 0?}`, and a guest's programs use the slower one."""
    return text.isprintable() and "?" not in text and bool(style or not otherwise(text))


def otherwise(text: str) -> bool:
    """Whether a reader of YAML 1.1 or 1.2 takes the plain text for a number, a truth value, a date, a sign or nothing."""
    return _OTHERWISE.fullmatch(text.replace("_", "")) is not None


def written(new: Any) -> str:
    """A number, truth value or null as YAML 1.1 reads it back."""
    return _WORDS[new] if isinstance(new, bool) or new is None else _number(new) if isinstance(new, float) else str(new)


def _number(new: float) -> str:
    text = repr(new)
    return re.sub(r"^(-?\d+)e", r"\1.0e", text).replace("inf", ".inf").replace("nan", ".nan")


def _plain(text: str) -> str:
    return text


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
