"""The words of a shell script with their places and quotes. Nothing is executed, and nothing expanded here."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from bot.recipe.uses.shell import quotes
from bot.recipe.uses.shell.words import Word

_REDIRECT = re.compile(r"[0-9]*(?:<<<|<<-?|>>|>&|<&|&>>|&>|<>|>\||<|>)")
_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;&|()]")
_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=\(")
_BLANK = " \t\r"
MAX_BYTES = 2_000_000
MAX_TOKENS = 60_000


class Unclosed(ValueError):
    """A quote, a bracket or a here-document that does not end."""


class Token(Struct, kw_only=True):
    """A word, an operator (a line's end is `\\n`), a redirection with its target, or an array (`X=(...)`, `items` its words).
    `body` is a here-document's text, and `body_line` the line on which it begins."""

    kind: Literal["word", "operator", "redirect", "array"]
    text: str
    at: int
    line: int
    word: Word | None = None
    items: tuple[Word, ...] = ()
    body: str | None = None
    body_line: int = 0
    literal: bool = False


def lex(text: str) -> list[Token]:
    """All tokens. ValueError for what never ends and for what is too long."""
    if len(text) > MAX_BYTES:
        raise ValueError("the script is too long to be read")
    return _Lexer(text).run()


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.line = text, 0, 1
        self.tokens: list[Token] = []
        self.waiting: list[Token] = []

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            if len(self.tokens) > MAX_TOKENS:
                raise ValueError("the script is too long to be read")
            self._next()
        return self.tokens

    def _next(self) -> None:
        char = self.text[self.at]
        if char in _BLANK:
            self._go(1)
        elif self.text.startswith(("\\\n", "\\\r\n"), self.at):
            self._go(2 if self.text[self.at + 1] == "\n" else 3)
        elif char == "#":
            self._go(len(self._rest_of_line()))
        elif char == "\n":
            self._newline()
        elif found := _REDIRECT.match(self.text, self.at):
            self._redirect(found[0])
        elif found := _ARRAY.match(self.text, self.at):
            self._array(found[0])
        elif found := _OPERATOR.match(self.text, self.at):
            self._add("operator", found[0])
            self._go(len(found[0]))
        else:
            self._word()

    def _newline(self) -> None:
        self._add("operator", "\n")
        self._go(1)
        for token in self.waiting:
            self._body(token)
        self.waiting = []

    def _body(self, token: Token) -> None:
        """A here-document: the lines up to the one that is its delimiter."""
        assert token.word is not None
        end, start, lines = token.word.plain, self.line, []
        while self.at < len(self.text):
            line = self._rest_of_line()
            self._go(min(len(line) + 1, len(self.text) - self.at))
            said = line.rstrip("\r")
            if (said.lstrip("\t") if token.text.endswith("-") else said) == end:
                token.body, token.body_line = "\n".join(lines) + "\n", start
                return
            lines.append(said.lstrip("\t") if token.text.endswith("-") else said)
        raise Unclosed(f"the here-document of line {token.line} never ends")

    def _redirect(self, sign: str) -> None:
        line, at = self.line, self.at
        self._go(len(sign))
        while self.at < len(self.text) and self.text[self.at] in _BLANK:
            self._go(1)
        word = self._read_word()
        token = Token(kind="redirect", text=sign.lstrip("0123456789"), at=at, line=line, word=word, literal=word.quoted)
        self.tokens.append(token)
        if token.text in ("<<", "<<-"):
            self.waiting.append(token)

    def _array(self, head: str) -> None:
        line, at, items = self.line, self.at, []
        self._go(len(head))
        while True:
            if self.at >= len(self.text):
                raise Unclosed(f"the list of line {line} never ends")
            char = self.text[self.at]
            if char == ")":
                break
            if char in _BLANK + "\n":
                self._go(1)
            elif self.text.startswith("\\\n", self.at):
                self._go(2)
            elif char == "#":
                self._go(len(self._rest_of_line()))
            elif char in "(;&|<>":
                raise Unclosed(f"line {self.line} holds what is no list")
            else:
                items.append(self._read_word())
        self._go(1)
        self.tokens.append(Token(kind="array", text=head[:-1], at=at, line=line, items=tuple(items)))

    def _word(self) -> None:
        line, at = self.line, self.at
        word = self._read_word()
        self.tokens.append(Token(kind="word", text=self.text[at:self.at], at=at, line=line, word=word))

    def _read_word(self) -> Word:
        pieces, end = quotes.pieces(self.text, self.at)
        word = Word(pieces=pieces, line=self.line, raw=self.text[self.at:end])
        self._go(max(end - self.at, 1))
        return word

    def _add(self, kind: Literal["operator"], text: str) -> None:
        self.tokens.append(Token(kind=kind, text=text, at=self.at, line=self.line))

    def _go(self, count: int) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        self.at += count

    def _rest_of_line(self) -> str:
        end = self.text.find("\n", self.at)
        return self.text[self.at:] if end < 0 else self.text[self.at:end]
