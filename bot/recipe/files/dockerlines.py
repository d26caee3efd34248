"""The instructions of a Dockerfile as its builder reads them: continued lines joined, comments and heredocs left out.

Every character keeps its place in the file, since a word may go on in the next line. Rules: BuildKit's parser. Only
the lines at the top may be directives, and of these `escape` changes how all the others are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from bot.errors import BadInput

KNOWN = frozenset("ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER "
                  "VOLUME WORKDIR".split())
_WITH_HEREDOC = frozenset({"ADD", "COPY", "RUN"})
_DIRECTIVE = re.compile(r"#[ \t]*([A-Za-z][A-Za-z0-9]*)[ \t]*=[ \t]*(\S.*)")
_HEREDOC = re.compile(r"""[0-9]*<<(-?)(["']?)([^<"'\s]+)\2""")
_BLANKS = " \t\v\f\r"


class Word(Struct, frozen=True):
    """A word as it is written, and the place of each of its characters."""

    text: str
    at: tuple[int, ...]

    def cut(self, start: int, end: int) -> Word:
        return Word(self.text[start:end], self.at[start:end])

    @property
    def joined(self) -> bool:
        """Whether it stands in one piece in the file."""
        return not self.at or self.at[-1] - self.at[0] == len(self.at) - 1


class Instruction(Struct, frozen=True):
    """One instruction: its name in capitals, its words (an ARG's may hold blanks in quotes), and the line it begins on."""

    name: str
    words: tuple[Word, ...]
    line: int


class Lines(Struct, frozen=True):
    """The instructions of a file and its escape character."""

    escape: str
    instructions: tuple[Instruction, ...]


def read(text: str, file: str) -> Lines:
    """All instructions in order. BadInput with file and line for what no builder would take."""
    places, at = [], 0
    for raw in text.split("\n"):
        places.append((raw.rstrip("\r"), at))
        at += len(raw) + 1
    escape = _escape(places, file)
    return Lines(escape, tuple(_instructions(places, escape, file)))


def _escape(lines: list[tuple[str, int]], file: str) -> str:
    for number, (line, _) in enumerate(lines, start=1):
        found = _DIRECTIVE.fullmatch(line.strip(_BLANKS))
        if found is None or found[1].lower() not in ("escape", "syntax", "check"):
            break
        if found[1].lower() == "escape":
            if found[2] not in ("\\", "`"):
                raise BadInput(f"the escape character {found[2]!r}", "it is \\ or `", file=file, line=number)
            return found[2]
    return "\\"


def _instructions(lines: list[tuple[str, int]], escape: str, file: str) -> Iterator[Instruction]:
    number = 0
    while number < len(lines):
        first = number
        joined, number = _joined(lines, first, escape)
        if not joined.text.strip(_BLANKS):
            continue
        words = _words(joined, escape, quotes=False)
        name = words[0].text.upper()
        if name not in KNOWN:
            raise BadInput(f"{words[0].text[:40]!r} is no instruction of a Dockerfile", "mend the line", file=file, line=first + 1)
        rest = joined.cut(joined.text.index(words[0].text) + len(name), len(joined.text))
        yield Instruction(name, tuple(_words(rest, escape, quotes=name == "ARG")), first + 1)
        inner = words[1].text.upper() if name == "ONBUILD" and len(words) > 1 else name
        if inner in _WITH_HEREDOC:
            for dash, end in _heredocs(rest, escape):
                number = _after(lines, number, dash, end, file, first + 1)


def _joined(lines: list[tuple[str, int]], number: int, escape: str) -> tuple[Word, int]:
    """The line at `number` with all that continue it, and the number of the next one."""
    chars: list[str] = []
    places: list[int] = []
    began = False
    while number < len(lines):
        line, at = lines[number]
        number += 1
        bare = line.strip(_BLANKS)
        if bare.startswith("#") or (began and not bare):
            if began:
                continue
            return Word("", ()), number
        end = _continued(line, escape)
        chars.append(line if end is None else line[:end])
        places += range(at, at + len(chars[-1]))
        if end is None:
            break
        began = True
    return Word("".join(chars), tuple(places)), number


def _continued(line: str, escape: str) -> int | None:
    """Where the escape character stands that joins the next line; None where none does (a doubled one is itself)."""
    bare = line.rstrip(" \t")
    if not bare.endswith(escape) or bare.endswith(escape * 2):
        return None
    return len(bare) - 1


def _words(line: Word, escape: str, *, quotes: bool) -> list[Word]:
    """The words between blanks; with `quotes`, blanks in quotes and behind the escape character are part of a word. An open
    quote makes all the rest one word."""
    found: list[Word] = []
    start, quote, at = None, "", 0
    while at < len(line.text):
        char = line.text[at]
        if not quote and char in _BLANKS:
            found += [line.cut(start, at)] if start is not None else []
            start = None
        else:
            start = at if start is None else start
            if quotes and char == escape and quote != "'":
                at += 1
            elif quotes and char in "\"'" and quote in ("", char):
                quote = "" if quote else char
        at += 1
    return [*found, line.cut(start, len(line.text))] if start is not None else found


def _heredocs(line: Word, escape: str) -> Iterator[tuple[bool, str]]:
    """(whether tabs in front are cut off, the line that ends it) of each text that begins behind this line."""
    for word in _words(line, escape, quotes=True):
        if found := _HEREDOC.fullmatch(word.text):
            yield bool(found[1]), found[3]


def _after(lines: list[tuple[str, int]], number: int, dash: bool, end: str, file: str, began: int) -> int:
    """The number of the line behind a heredoc's end."""
    for at in range(number, len(lines)):
        line = lines[at][0]
        if (line.lstrip("\t") if dash else line) == end:
            return at + 1
    raise BadInput(f"the text that <<{end} begins has no end", f"a line {end} alone ends it", file=file, line=began)
