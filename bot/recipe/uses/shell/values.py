"""What the variables of a script may hold at a command, as far as the script itself says it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from bot.recipe.uses.shell import quotes
from bot.recipe.uses.shell.lexer import lex
from bot.recipe.uses.shell.script import Branch, Setting
from bot.recipe.uses.shell.words import Piece, Word

MAX_DEPTH = 12
MAX_WORDS = 4000


class Said(Struct, frozen=True, kw_only=True):
    """A word as a program would get it. What only the run knows stands as `$NAME` in it, and `known` is False. `conditional`: it is
    there only on a branch that the command itself is not on."""

    text: str
    line: int
    known: bool = True
    conditional: bool = False


class _Held(Struct, frozen=True):
    setting: Setting
    branches: tuple[Branch, ...]


class Values:
    """The settings seen so far, by name. A later one hides an earlier one on the same branch or below it."""

    def __init__(self) -> None:
        self._held: dict[str, list[_Held]] = {}

    def take(self, setting: Setting, branches: tuple[Branch, ...]) -> None:
        """Remembers a setting where it stands. `X="$X more"` adds to X."""
        setting = _adds(setting)
        before = self._held.get(setting.name, [])
        if not setting.append:
            before = [held for held in before if held.branches[:len(branches)] != branches]
        self._held[setting.name] = [*before, _Held(setting, branches)]

    def words(self, words: Iterable[Word], branches: tuple[Branch, ...]) -> list[Said]:
        """All words as a command on these branches gets them. ValueError where that would be too many."""
        found: list[Said] = []
        for word in words:
            found += self._word(word, branches, 0, frozenset())
            if len(found) > MAX_WORDS:
                raise ValueError("a command has too many words")
        return found

    def text(self, word: Word, branches: tuple[Branch, ...]) -> Said:
        """One word as a single text: variables with one sure value are filled in."""
        parts = [self._piece(piece, branches, 0, frozenset()) for piece in word.pieces]
        return Said(text="".join(part.text for part in parts), line=word.line, known=all(part.known for part in parts))

    def _word(self, word: Word, branches: tuple[Branch, ...], depth: int, busy: frozenset[str]) -> list[Said]:
        pieces = [piece for piece in word.pieces if piece.kind != "text" or piece.text]
        if len(pieces) == 1 and depth < MAX_DEPTH and (split := self._split(pieces[0], word, branches, depth, busy)) is not None:
            return split
        parts = [self._piece(piece, branches, depth, busy) for piece in word.pieces]
        return [Said(text="".join(part.text for part in parts), line=word.line, known=all(part.known for part in parts))]

    def _split(self, piece: Piece, word: Word, branches: tuple[Branch, ...], depth: int, busy: frozenset[str]) -> list[Said] | None:
        """The words that an unquoted variable, or a list, stands for; None where it is one word."""
        if piece.name in busy:
            return [Said(text=f"${piece.name}", line=word.line, known=False)]
        if piece.kind == "instead":
            inner = _lexed(piece.text, word.line, split=not piece.quoted)
            return [_maybe(said) for one in inner for said in self._word(one, branches, depth + 1, busy | {piece.name})]
        held = self._seen(piece.name, branches)
        if piece.kind == "list" and not held:
            return [] if piece.name in self._held else [Said(text=f"${piece.name}", line=word.line, known=False)]
        if piece.kind != "list" and (piece.kind != "variable" or piece.quoted or not held):
            return None
        found: list[Said] = []
        sure = [one for one in held if not one.setting.append]
        for one in held:
            maybe = not _within(one.branches, branches) or (not one.setting.append and len(sure) > 1)
            for inner in one.setting.words:
                pieces = [inner] if one.setting.many else _resplit(inner)
                for part in pieces:
                    for said in self._word(part, branches, depth + 1, busy | {piece.name}):
                        found.append(_maybe(said) if maybe else said)
        if piece.kind == "variable" and len(held) > 1 and len(found) == len(held) and not any(
                said.text.startswith("-") for said in found):
            return [Said(text=f"${piece.name}", line=word.line, known=False)]  # one of several values
        return found

    def _piece(self, piece: Piece, branches: tuple[Branch, ...], depth: int, busy: frozenset[str]) -> Said:
        if piece.kind == "text":
            return Said(text=piece.text, line=0)
        held = self._seen(piece.name, branches) if piece.kind in ("variable", "list") and piece.name not in busy else []
        one = held[0] if len(held) == 1 and not held[0].setting.append else None
        if one and _within(one.branches, branches) and len(one.setting.words) == 1 and depth < MAX_DEPTH:
            parts = [self._piece(part, branches, depth + 1, busy | {piece.name}) for part in one.setting.words[0].pieces]
            if all(part.known for part in parts):
                return Said(text="".join(part.text for part in parts), line=0)
        return Said(text=f"${piece.name or '?'}", line=0, known=False)

    def _seen(self, name: str, branches: tuple[Branch, ...]) -> list[_Held]:
        """The settings that may hold there: none of an arm that excludes the one the command is on."""
        arms = {branch.number: branch.arm for branch in branches}
        return [held for held in self._held.get(name, [])
                if all(arms.get(branch.number, branch.arm) == branch.arm for branch in held.branches)]


def _within(inner: Sequence[Branch], outer: Sequence[Branch]) -> bool:
    there = {(branch.number, branch.arm) for branch in outer}
    return all((branch.number, branch.arm) in there for branch in inner)


def _maybe(said: Said) -> Said:
    return Said(text=said.text, line=said.line, known=said.known, conditional=True)


def _adds(setting: Setting) -> Setting:
    """`X="$X --more"` and `X=("${X[@]}" more)` say what `X+=` says."""
    if setting.append or not setting.words:
        return setting
    first = setting.words[0]
    if setting.many and [(piece.kind, piece.name) for piece in first.pieces] == [("list", setting.name)]:
        return Setting(name=setting.name, words=setting.words[1:], many=True, append=True, line=setting.line)
    rest = tuple(piece for piece in first.pieces if not (piece.kind in ("variable", "list") and piece.name == setting.name
                                                       and not piece.text))
    if not setting.many and len(rest) < len(first.pieces) and len(first.pieces) > 1:
        word = Word(pieces=rest, line=first.line, raw=first.raw)
        return Setting(name=setting.name, words=(word,), append=True, line=setting.line)
    return setting


def _resplit(word: Word) -> list[Word]:
    """The words that the value of a variable falls into where it is used without quotes: quotes in it mean nothing any more."""
    found: list[Word] = []
    pieces: list[Piece] = []
    for piece in word.pieces:
        if piece.kind != "text":
            pieces.append(piece)
            continue
        parts = piece.text.replace("\n", " ").replace("\t", " ").split(" ")
        for index, part in enumerate(parts):
            if index and pieces:
                found.append(Word(pieces=tuple(pieces), line=word.line))
                pieces = []
            if part:
                pieces.append(Piece(kind="text", text=part))
    if pieces:
        found.append(Word(pieces=tuple(pieces), line=word.line))
    # A variable in the value is unquoted again when the value is used.
    return [Word(pieces=tuple(Piece(kind=piece.kind, text=piece.text, name=piece.name) for piece in one.pieces), line=one.line)
            for one in found]


def _lexed(text: str, line: int, *, split: bool) -> list[Word]:
    if not split:
        inner, _ = quotes.inside(text, 0, "")
        return [Word(pieces=tuple(inner), line=line)]
    return [Word(pieces=token.word.pieces, line=line) for token in lex(text) if token.word is not None and token.kind == "word"]
