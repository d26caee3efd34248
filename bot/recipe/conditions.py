"""Conditions of a shell script, as far as they can be told from a few known variables: true, false, or nobody can say (None).

Understood are `[[ ... ]]` and `[ ... ]` with ==, =, !=, -z and -n of one variable against a plain text, joined by &&, || and !.
Everything else is None: what is not understood is never false.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

Truth = bool | None
_VARIABLE = r"\$(?:\{(?P<braced>\w+)(?::-[^}]*)?\}|(?P<bare>\w+))"
_SIDE = re.compile(rf'^(?:"{_VARIABLE}"|{_VARIABLE.replace("braced", "b2").replace("bare", "n2")})$')
_COMPARED = re.compile(r"^(?P<left>\S+|\"[^\"]*\")\s+(?P<sign>==|=|!=)\s+(?P<right>.+)$")
_EMPTY = re.compile(r"^-(?P<sign>[zn])\s+(?P<side>.+)$")
_LITERAL = re.compile(r"^(?:\"(?P<double>[^\"$`\\]*)\"|'(?P<single>[^']*)'|(?P<plain>[^\"'$`\\\s]+))$")
_DEEPEST = 20


def truth(text: str, known: Mapping[str, str], depth: int = 0) -> Truth:
    """What a condition is with these values of variables."""
    text = text.strip()
    if depth > _DEEPEST or not text:
        return None
    for sign, join in (("||", _any), ("&&", _all)):
        parts = _split(text, sign)
        if len(parts) > 1:
            return join(truth(part, known, depth + 1) for part in parts)
    if text.startswith("!") and text[1:2].isspace():
        found = truth(text[1:], known, depth + 1)
        return None if found is None else not found
    for start, end in (("[[", "]]"), ("[", "]"), ("(", ")")):
        if text.startswith(start) and text.endswith(end) and len(text) > len(start) + len(end):
            return truth(text[len(start):-len(end)], known, depth + 1)
    return _atom(text, known)


def both(truths: Iterable[Truth]) -> Truth:
    """All of them."""
    return _all(truths)


def _all(truths: Iterable[Truth]) -> Truth:
    found = list(truths)
    return False if False in found else None if None in found else True


def _any(truths: Iterable[Truth]) -> Truth:
    found = list(truths)
    return True if True in found else None if None in found else False


def _atom(text: str, known: Mapping[str, str]) -> Truth:
    if empty := _EMPTY.match(text):
        value = _value(empty["side"], known)
        return None if value is None else (value == "") == (empty["sign"] == "z")
    compared = _COMPARED.match(text)
    if compared is None:
        return None
    value, literal = _value(compared["left"], known), _LITERAL.match(compared["right"].strip())
    if value is None or literal is None:
        return None
    quoted = literal["double"] if literal["double"] is not None else literal["single"]
    if quoted is None and set("{}()[]|+@") & set(literal["plain"]):
        return None  # a pattern of a kind that is not read here
    same = value == quoted if quoted is not None else fnmatchcase(value, literal["plain"])
    return same == (compared["sign"] != "!=")


def _value(side: str, known: Mapping[str, str]) -> str | None:
    found = _SIDE.match(side.strip())
    if found is None:
        return None
    return known.get(found["braced"] or found["bare"] or found["b2"] or found["n2"])


def _split(text: str, sign: str) -> list[str]:
    """At a sign that stands outside brackets and quotes."""
    parts, start, depth, quote, at = list[str](), 0, 0, "", 0
    while at < len(text):
        char = text[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[({":
            depth += 1
        elif char in "])}":
            depth -= 1
        elif depth == 0 and text.startswith(sign, at):
            parts.append(text[start:at])
            start = at = at + len(sign)
            continue
        at += 1
    return [*parts, text[start:]]
