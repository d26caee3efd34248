"""Whether a branch of a script is taken, as far as known variables decide it: yes, no, or nobody can tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.layout.globs import matches
from bot.recipe.uses.shell.lexer import lex
from bot.recipe.uses.shell.script import Branch
from bot.recipe.uses.shell.words import Word

_TOKENS = re.compile(r"\(|\)|&&|\|\|")
_COMPARES = {"==": True, "=": True, "!=": False, "-eq": True, "-ne": False}


def taken(branches: Iterable[Branch], known: Mapping[str, str]) -> bool | None:
    """Whether a command on these branches runs."""
    said = [_arm(branch, known) for branch in branches]
    return False if False in said else None if None in said else True


def _arm(branch: Branch, known: Mapping[str, str]) -> bool | None:
    """An arm runs where its own test holds and none before it did; `""` is the test of `else`."""
    if not branch.tests or branch.tests[0].startswith(("case", "for", "&&", "||")):
        return None
    before = [holds(test, known) for test in branch.tests[:-1]]
    own = True if branch.tests[-1] == "" else holds(branch.tests[-1], known)
    if own is False or True in before:
        return False
    return None if own is None or None in before else True


def holds(test: str, known: Mapping[str, str]) -> bool | None:
    """One condition (`[[ $A == "x" && $B != y ]]`); None for what is not understood."""
    inner = test.strip()
    negated = inner.startswith("! ")
    inner = inner.removeprefix("! ").strip()
    for start, end in (("[[", "]]"), ("[", "]")):
        if inner.startswith(start) and inner.endswith(end) and inner.count(start + " ") <= 1:
            found = _any(_split(inner[len(start):-len(end)], "||"), known)
            return None if found is None else found is not negated
    return None


def _any(parts: list[str], known: Mapping[str, str]) -> bool | None:
    said = [_all(_split(part, "&&"), known) for part in parts]
    return True if True in said else None if None in said else False


def _all(parts: list[str], known: Mapping[str, str]) -> bool | None:
    said = [_one(part.strip(), known) for part in parts]
    return False if False in said else None if None in said else True


def _one(text: str, known: Mapping[str, str]) -> bool | None:
    while text.startswith("(") and text.endswith(")") and _closes(text):
        return _any(_split(text[1:-1], "||"), known)
    try:
        words = [token.word for token in lex(text) if token.word is not None]
    except ValueError:
        return None
    if len(words) != 3 or words[1].plain not in _COMPARES:
        return None
    left, right = _value(words[0], known), _value(words[2], known)
    if left is None or right is None:
        return None
    same = matches(right, left, "\0") if "*" in right and not words[2].quoted else left == right
    return same is _COMPARES[words[1].plain]


def _value(word: Word, known: Mapping[str, str]) -> str | None:
    parts = [piece.text if piece.kind == "text" else known.get(piece.name) if piece.kind == "variable" else None
             for piece in word.pieces]
    return None if None in parts else "".join(part for part in parts if part is not None)


def _split(text: str, sign: str) -> list[str]:
    """The parts between the signs that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for found in _TOKENS.finditer(text):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth and found[0] == sign:
            parts.append(text[start:found.start()])
            start = found.end()
    return [*parts, text[start:]]


def _closes(text: str) -> bool:
    """Whether the first bracket closes at the text's end."""
    depth = 0
    for at, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if not depth:
            return at == len(text) - 1
    return False
