"""Quotes and expansions inside one word of a shell script."""

from __future__ import annotations

import re

from bot.recipe.uses.shell.words import Piece

_ENDS = " \t\r\n;&|<>()"
_NAME = re.compile(r"[A-Za-z_]\w*")
_BRACED = re.compile(r"(?s)(?P<name>[A-Za-z_]\w*)(?P<all>\[[@*]\])?(?:(?P<sign>:?[-=+?])(?P<word>.*))?")
_PAIRS = {"(": ")", "{": "}"}
MAX_PIECES = 4000


def pieces(text: str, at: int) -> tuple[tuple[Piece, ...], int]:
    """The pieces of the word that begins there, and where it ends. ValueError for a quote that never ends."""
    found: list[Piece] = []
    plain: list[str] = []
    while at < len(text) and text[at] not in _ENDS:
        if len(found) + len(plain) > MAX_PIECES * 10:
            raise ValueError("a word is too long to be read")
        char = text[at]
        if char == "\\":
            plain.append("" if text[at + 1:at + 2] == "\n" else text[at + 1:at + 2])
            at += 2
        elif char == "'":
            end = _until(text, "'", at + 1)
            _flush(found, plain)
            found.append(Piece(kind="text", text=text[at + 1:end], quoted=True))
            at = end + 1
        elif char == '"':
            _flush(found, plain)
            inner, at = inside(text, at + 1, '"')
            found += inner or [Piece(kind="text", quoted=True)]
        elif char in "$`":
            piece, end = _expansion(text, at, quoted=False)
            if piece is None:
                plain.append(char)
            else:
                _flush(found, plain)
                found.append(piece)
            at = end
        else:
            plain.append(char)
            at += 1
    _flush(found, plain)
    return tuple(found), at


def inside(text: str, at: int, end: str) -> tuple[list[Piece], int]:
    """The pieces of a text in double quotes (or, with `end` "", of a here-document), and where it ends."""
    found: list[Piece] = []
    plain: list[str] = []
    while at < len(text) and (not end or text[at] != end):
        char = text[at]
        if char == "\\" and text[at + 1:at + 2] in ('$', '`', '"', "\\", "\n"):
            plain.append("" if text[at + 1] == "\n" else text[at + 1])
            at += 2
        elif char in "$`":
            piece, stop = _expansion(text, at, quoted=True)
            if piece is None:
                plain.append(char)
            else:
                _flush(found, plain, quoted=True)
                found.append(piece)
            at = stop
        else:
            plain.append(char)
            at += 1
    if end and at >= len(text):
        raise ValueError("a double quote never ends")
    _flush(found, plain, quoted=True)
    return found, at + len(end)


def _expansion(text: str, at: int, *, quoted: bool) -> tuple[Piece | None, int]:
    """What stands behind a `$` or a back quote; None for a `$` that means itself."""
    if text[at] == "`":
        return Piece(kind="run", quoted=quoted), _until(text, "`", at + 1) + 1
    follows = text[at + 1:at + 2]
    if follows == "'" and not quoted:
        end = _until(text, "'", at + 2)
        return Piece(kind="text", text=text[at + 2:end], quoted=True), end + 1
    if follows in _PAIRS:
        end = _closing(text, at + 1)
        piece = _braced(text[at + 2:end], quoted) if follows == "{" else Piece(kind="run", quoted=quoted)
        return piece, end + 1
    if name := _NAME.match(text, at + 1):
        return Piece(kind="variable", name=name[0], quoted=quoted), name.end()
    if follows and follows in "@*":
        return Piece(kind="list", name=follows, quoted=quoted), at + 2
    if follows and follows in "0123456789#?$!-":
        return Piece(kind="run", quoted=quoted), at + 2
    return None, at + 1


def _braced(inner: str, quoted: bool) -> Piece:
    found = _BRACED.fullmatch(inner)
    if not found:
        return Piece(kind="run", quoted=quoted)
    if found["all"]:
        return Piece(kind="list", name=found["name"], quoted=quoted)
    sign = (found["sign"] or "")[-1:]
    if sign == "+":
        return Piece(kind="instead", name=found["name"], text=found["word"], quoted=quoted)
    return Piece(kind="variable", name=found["name"], text=found["word"] or "" if sign in ("-", "=") else "", quoted=quoted)


def _closing(text: str, at: int) -> int:
    """Where the bracket at `at` closes; quotes inside are skipped."""
    opened, closes, depth = text[at], _PAIRS[text[at]], 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "'" and opened == "(":
            at = _until(text, "'", at + 1)
        elif char == opened:
            depth += 1
        elif char == closes:
            depth -= 1
            if not depth:
                return at
        at += 1
    raise ValueError("a bracket never ends")


def _until(text: str, end: str, at: int) -> int:
    found = text.find(end, at)
    if found < 0:
        raise ValueError("a quote never ends")
    return found


def _flush(found: list[Piece], plain: list[str], *, quoted: bool = False) -> None:
    if plain:
        found.append(Piece(kind="text", text="".join(plain), quoted=quoted))
        plain.clear()
