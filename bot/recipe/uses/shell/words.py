"""A word of a shell script in its pieces: fixed text, variables, lists, and what only a run could tell."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Piece(Struct, frozen=True, kw_only=True):
    """`text`: as it stands; `variable`: its value, or `text` where it has none (`${X:-text}`); `list`: all items of an array;
    `instead`: `text` where the variable `name` has a value (`${X:+text}`); `run`: known to a run alone."""

    kind: Literal["text", "variable", "list", "instead", "run"]
    text: str = ""
    name: str = ""
    quoted: bool = False


class Word(Struct, frozen=True, kw_only=True):
    """One word with the line on which it begins. `raw` is its text in the script."""

    pieces: tuple[Piece, ...]
    line: int
    raw: str = ""

    @property
    def plain(self) -> str:
        """Its fixed text; the other pieces are left out."""
        return "".join(piece.text for piece in self.pieces if piece.kind == "text")

    @property
    def fixed(self) -> bool:
        """Whether nothing in it depends on a variable."""
        return all(piece.kind == "text" for piece in self.pieces)

    @property
    def quoted(self) -> bool:
        return any(piece.quoted for piece in self.pieces)
