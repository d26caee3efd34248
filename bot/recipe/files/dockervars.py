"""The ARGs before the first FROM, and the words that are made of them: which text stands where, and which is only read."""

from __future__ import annotations

import re

from msgspec import Struct

from bot.errors import BadInput
from bot.layout.paths import Path
from bot.recipe.files.dockerlines import Instruction, Word

MAX_PIECES = 64
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?-)([^{}]*))?\})", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Leaf(Struct, frozen=True):
    """A text that an edit may change: where it stands, and its path in the document's tree."""

    steps: Path
    text: str
    start: int
    end: int


Pieces = tuple[str | Leaf, ...]


class Args:
    """What each global ARG says, by name, in the order of the file; a later one sees the earlier."""

    def __init__(self, escape: str, file: str) -> None:
        self._escape, self._file = escape, file
        self._known: dict[str, Pieces | BadInput] = {}
        self.leaves: list[Leaf] = []

    def declare(self, instruction: Instruction) -> None:
        """Takes an ARG's names and defaults."""
        for word in instruction.words:
            name, equals, _ = word.text.partition("=")
            if not _NAME.fullmatch(name):
                raise BadInput(f"an ARG that no builder takes: {word.text[:60]!r}", "write ARG NAME=value", file=self._file,
                               line=instruction.line)
            if name in self._known:
                self._known[name] = self._fault(f"ARG {name} stands twice", "keep one", instruction.line)
            elif not equals:
                self._known[name] = self._fault(f"ARG {name} has no default", "give it one, or name the image elsewhere",
                                                instruction.line)
            else:
                self._default(name, word.cut(len(name) + 1, len(word.text)), instruction.line)

    def word(self, word: Word, at: Path, line: int) -> Pieces:
        """A word with its variables filled in. BadInput where one has no value here, or where the text is no plain one."""
        bare = self._bare(word, line)
        variables = list(_VARIABLE.finditer(bare.text))
        if "$" in _VARIABLE.sub("", bare.text):
            raise self._fault(f"{bare.text} is filled in by other rules than are read here", "write ${NAME}", line)
        if not variables:
            return (self._leaf(bare, at, line),)
        if len(variables) == 1 and variables[0].span() == (0, len(bare.text)):
            return self._variable(variables[0], bare, at, line)
        pieces: list[str | Leaf] = []
        end = 0
        for found in variables:
            pieces += [bare.text[end:found.start()], *self._variable(found, bare, None, line)]
            end = found.end()
        pieces.append(bare.text[end:])
        if len(pieces) > MAX_PIECES:
            raise self._fault("an image made of too many parts", "write it in fewer", line)
        return tuple(piece for piece in pieces if piece != "")

    def _default(self, name: str, value: Word, line: int) -> None:
        """Reads a default now, as the builder does: only what stands above it counts. An empty one is kept as such."""
        at: Path = ("ARG", name)
        try:
            self._known[name] = self.word(value, at, line) if value.text.strip("\"'") else ()
        except BadInput as fault:
            self._known[name] = fault
        said = self._known[name]
        if isinstance(said, tuple):
            self.leaves += [piece for piece in said if isinstance(piece, Leaf) and piece.steps == at]

    def _variable(self, found: re.Match[str], word: Word, at: Path | None, line: int) -> Pieces:
        """A variable's pieces; the text behind `:-` where it has none, which is a place of its own only if it is all there is."""
        name, otherwise = found[1] or found[2], found[4]
        known = self._known.get(name)
        if isinstance(known, tuple) and (known or found[3] != ":-"):
            return known
        if otherwise is None:
            raise known if isinstance(known, BadInput) else self._fault(
                f"{name} has no value in this file", "declare it above: ARG NAME=value", line)
        return (self._leaf(word.cut(*found.span(4)), at, line),) if at else (otherwise,)

    def _leaf(self, word: Word, at: Path, line: int) -> Leaf:
        if not word.joined:
            raise self._fault(f"{word.text} is broken over two lines", "write it on one", line)
        return Leaf(at, word.text, word.at[0], word.at[-1] + 1)

    def _bare(self, word: Word, line: int) -> Word:
        """The word without the quotes around it; in single ones nothing is filled in."""
        quote = word.text[0] if len(word.text) > 1 and word.text[0] == word.text[-1] and word.text[0] in "\"'" else ""
        bare = word.cut(1, len(word.text) - 1) if quote else word
        if quote == "'" and "$" in bare.text:
            raise self._fault(f"{word.text} is filled in nowhere, for its quotes", "use double quotes", line)
        if not bare.text or any(mark in bare.text for mark in ("\"", "'", self._escape)):
            raise self._fault(f"{word.text} is no plain text", "write it without quotes and escapes inside", line)
        return bare

    def _fault(self, reason: str, hint: str, line: int) -> BadInput:
        return BadInput(reason, hint, file=self._file, line=line)
