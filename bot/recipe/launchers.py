"""What a fleet's launcher tells of what must lie there: whether it fetches the image for a recipe, and which checkpoints it lists.

The lesson of #2919 was in the script: it imports for one model alone, and 80 jobs of another died. The script is read and never
run: its if, elif and case blocks are followed, and a command counts as made unless its conditions are known not to hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from bot.layout.upstream import Launchers
from bot.recipe.conditions import Truth, both, truth

MOST = 1_000_000
_HEREDOC = re.compile(r"<<-?\s*(?:\\?(?P<bare>\w+)|'(?P<single>\w+)'|\"(?P<double>\w+)\")")
_BLOCK = re.compile(r"^(?P<word>if|elif|else|fi|case|esac)\b(?P<rest>.*)$", re.DOTALL)
# Another script of the repository that is run from here. One that is sourced brings functions.
_HANDED = re.compile(r"(?:^|[\s(\"'`])(?:bash|sh|sbatch|exec)\s+[\"']?[\w$./][^\s;|&)]*[\w}]|(?:^|[\s;&|(])\./\S+")


class Line(Struct, frozen=True):
    """A line of the script, and whether it is reached: True, False, or None where that depends on what nobody knows."""

    number: int
    text: str
    reached: Truth


class Said(Struct, frozen=True):
    """What a launcher says of one recipe. `fetches`: a command that fetches the image is made, or may be; False: each of them is
    known not to be; None: it cannot be told. `at` is its line. `models` None: no list is reached; `listed_at` is its line."""

    fetches: Truth
    at: int | None = None
    models: tuple[str, ...] | None = None
    listed_at: int | None = None


def said(script: bytes, launchers: Launchers, known: Mapping[str, str]) -> Said:
    """Reads one launcher for a recipe whose variables have these values."""
    text = script[:MOST].decode("utf-8", "replace")
    lines = followed(text, known)
    if lines is None:
        return Said(fetches=None)
    made = [line for line in lines if any(word in line.text for word in launchers.fetches)]
    fetches = _fetches(made, handed=any(_HANDED.search(line.text) for line in lines if line.reached is not False))
    at = next((line.number for line in made if line.reached is not False), made[0].number if made else None)
    models, listed_at = _models(lines, launchers.models) if launchers.models else (None, None)
    return Said(fetches=fetches, at=at, models=models, listed_at=listed_at)


def _fetches(made: Sequence[Line], *, handed: bool) -> Truth:
    """Whether one of these may be made; where the work is handed to another script, that one may do it."""
    if any(line.reached is not False for line in made):
        return True
    return None if not made or handed else False


def followed(text: str, known: Mapping[str, str]) -> list[Line] | None:
    """The script's lines with whether each is reached; None where its blocks cannot be followed."""
    stack: list[list[Truth]] = []  # of each open block: what each branch so far was, the present one last
    found: list[Line] = []
    for number, line in _joined(text):
        for part in _commands(line):
            block = _BLOCK.match(part)
            if block and not _moved(stack, block["word"], block["rest"], known):
                return None
            found.append(Line(number, part, both(_branch(frame) for frame in stack)))
    return None if stack else found


def _branch(frame: Sequence[Truth]) -> Truth:
    """The present branch is reached where its condition holds and none before it did."""
    *before, now = frame
    return both([now, *(None if one is None else not one for one in before)])


def _moved(stack: list[list[Truth]], word: str, rest: str, known: Mapping[str, str]) -> bool:
    """Enters or leaves a block; False where it cannot be one."""
    if word in ("if", "case"):
        stack.append([truth(rest, known) if word == "if" else None])
        return True
    if not stack:
        return False
    if word in ("fi", "esac"):
        stack.pop()
    else:
        stack[-1].append(truth(rest, known) if word == "elif" else True)
    return True


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those that a backslash continues, without comments and the texts of here-documents."""
    until, held, start = "", "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        if until:
            until = "" if line.strip() == until else until
            continue
        bare = line.strip()
        if bare.startswith("#"):
            continue
        held, start = (f"{held} {bare}", start) if held else (bare, number)
        if held.endswith("\\") and not held.endswith("\\\\"):
            held = held[:-1].rstrip()
            continue
        if begun := _HEREDOC.search(held):
            until = begun["bare"] or begun["single"] or begun["double"]
        yield start, held
        held = ""


def _commands(line: str) -> Iterator[str]:
    """The commands of a line, apart at `;` outside quotes and brackets, each without a `then` or `do` before it."""
    start, quote, depth = 0, "", 0
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote and line[at - 1] != "\\" else quote
        elif char in "\"'" and (at == 0 or line[at - 1] != "\\"):
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == ";" and depth <= 0:
            yield from _command(line[start:at])
            start = at + 1
    yield from _command(line[start:])


def _command(text: str) -> Iterator[str]:
    bare = text.strip()
    while bare and (taken := re.match(r"(?:then|do)\b\s*", bare)):
        bare = bare[taken.end():]
    if bare:
        yield bare


def _models(lines: Sequence[Line], name: str) -> tuple[tuple[str, ...] | None, int | None]:
    """The words of an array that is set where this recipe comes by."""
    start = re.compile(rf"^(?:declare\s+-a\s+|readonly\s+|local\s+-a\s+)?{re.escape(name)}=\((?P<rest>.*)$")
    for at, line in enumerate(lines):
        begun = start.match(line.text)
        if begun is None or line.reached is False:
            continue
        words: list[str] = []
        for text in (begun["rest"], *(later.text for later in lines[at + 1:])):
            inside, closed, _ = text.partition(")")
            words += [word.strip("\"'") for word in inside.partition(" #")[0].split()]
            if closed:
                return tuple(word for word in words if word and "$" not in word), line.number
    return None, None
