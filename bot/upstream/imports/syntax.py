"""Text of a newer Python than this one, made plain enough for its parser: type parameters are dropped, `type X = ...` becomes an
assignment, f-strings become plain ones. Lines stay where they are. Wheels for Python 3.12 run on it, whatever the bot runs on."""

from __future__ import annotations

import re
from collections.abc import Iterator

_STRING = re.compile(r"""(?P<prefix>[A-Za-z]{0,3})(?P<quote>\"\"\"|'''|"|')""")
_WORD = re.compile(r"\w+")
_TYPE = re.compile(r"(?m)(?P<before>(?:^|;)[ \t]*)type(?P<space>[ \t]+)(?P<name>[^\W\d]\w*)(?=[ \t]*[\[=])")
_NAMED = re.compile(r"(?m)^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+[^\W\d]\w*[ \t]*(?=\[)")
_EXCEPT = re.compile(r"(?m)^(?P<head>[ \t]*except\*?[ \t]+)(?P<kinds>[\w. \t]+(?:,[\w. \t]+)+)(?=:)")
MAX_DEPTH = 40


def plain(text: str) -> str:
    """The text for an older parser. ValueError where its strings do not end."""
    code: list[str] = []
    shown: list[str] = []  # the same, with strings and comments blanked, for what is looked for
    for piece, kind in _pieces(text):
        lines = piece.count("\n")
        if kind == "format":
            piece = '"""' + "\n" * lines + '"""' if lines else '""'
        code.append(piece)
        shown.append(piece if kind == "code" else re.sub(r"[^\n]", "_" if kind != "comment" else " ", piece))
    return _rewritten("".join(code), "".join(shown))


def _rewritten(code: str, shown: str) -> str:
    edits: list[tuple[int, int, str]] = []
    for found in _TYPE.finditer(shown):
        edits.append((found.end("before"), found.start("name"), ""))
        edits += _dropped(shown, found.end())
    for found in _NAMED.finditer(shown):
        edits += _dropped(shown, found.end())
    for found in _EXCEPT.finditer(shown):
        edits += [(found.start("kinds"), found.start("kinds"), "("), (found.end("kinds"), found.end("kinds"), ")")]
    for start, end, instead in sorted(edits, reverse=True):
        code = code[:start] + instead + code[end:]
    return code


def _dropped(shown: str, start: int) -> list[tuple[int, int, str]]:
    """The type parameters that begin there, up to their bracket; the lines they take are kept by a continuation."""
    if shown[start:start + 1] != "[":
        return []
    depth = 0
    for place in range(start, len(shown)):
        depth += {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}.get(shown[place], 0)
        if depth == 0:
            return [(start, place + 1, "\\\n" * shown.count("\n", start, place))]
    return []


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """The text in order: code, plain strings, `format` strings and comments."""
    place = begun = 0
    while place < len(text):
        if text[place] == "#":
            end = text.find("\n", place)
            end, kind = len(text) if end < 0 else end, "comment"
        elif found := _STRING.match(text, place):
            mark = found["prefix"].lower()
            formats = "f" in mark or "t" in mark
            end, kind = _end(text, found.end(), found["quote"], formats, 0), "format" if formats else "string"
        else:
            word = _WORD.match(text, place)
            place = word.end() if word else place + 1
            continue
        yield text[begun:place], "code"
        yield text[place:end], kind
        place = begun = end
    yield text[begun:], "code"


def _end(text: str, place: int, quote: str, formats: bool, depth: int) -> int:
    """Where a string ends; the expressions in a format string may hold the same quotes."""
    if depth > MAX_DEPTH:
        raise ValueError("strings nested too deeply")
    while place < len(text):
        if text.startswith(quote, place):
            return place + len(quote)
        if text[place] == "\\":
            place += 2
        elif formats and text.startswith("{{", place):
            place += 2
        elif formats and text[place] == "{":
            place = _hole(text, place + 1, depth + 1)
        elif len(quote) == 1 and text[place] == "\n":
            break
        else:
            place += 1
    raise ValueError("a string does not end")


def _hole(text: str, place: int, depth: int) -> int:
    """The end of an expression in a format string."""
    if depth > MAX_DEPTH:
        raise ValueError("strings nested too deeply")
    while place < len(text):
        if text[place] == "}":
            return place + 1
        if text[place] == "{":
            place = _hole(text, place + 1, depth + 1)
        elif text[place] == "#":
            place = max(text.find("\n", place), place + 1)
        elif found := _STRING.match(text, place):
            mark = found["prefix"].lower()
            place = _end(text, found.end(), found["quote"], "f" in mark or "t" in mark, depth + 1)
        else:
            word = _WORD.match(text, place)
            place = word.end() if word else place + 1
    raise ValueError("an expression does not end")
