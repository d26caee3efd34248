"""The commands of a shell script, each with the branches in which it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from bot.recipe.uses.shell.lexer import Token, lex
from bot.recipe.uses.shell.words import Word

_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\+?)=")
_ENDS = frozenset({"\n", ";", "&", "&&", "||", "|", "|&", ";;", ";&", ";;&", "(", ")"})
MAX_DEPTH = 60


class Branch(Struct, frozen=True, kw_only=True):
    """One arm of a choice: the arms of one `number` exclude each other. `tests` are the texts of its conditions, the last its own
    (none for `else`); a loop, a function or a `&&` has arms too."""

    number: int
    arm: int
    tests: tuple[str, ...] = ()


class Setting(Struct, frozen=True, kw_only=True):
    """`NAME=value`, `NAME+=value` or `NAME=(items)`."""

    name: str
    words: tuple[Word, ...]
    many: bool = False
    append: bool = False
    line: int = 0


class Command(Struct, frozen=True, kw_only=True):
    """One simple command: its settings (`A=1 B=2 run`), its words, where its output goes, and its here-document."""

    line: int
    branches: tuple[Branch, ...]
    settings: tuple[Setting, ...] = ()
    words: tuple[Word, ...] = ()
    targets: tuple[tuple[str, Word], ...] = ()
    body: str | None = None
    body_line: int = 0
    body_literal: bool = False


def read(text: str) -> list[Command]:
    """Every command in the order of the file. ValueError for what is no script that can be read."""
    return list(_Reader(text).run())


class _Open(Struct):
    """A construct that is open: `then` its condition is over."""

    kind: str
    number: int
    arm: int = 0
    tests: list[str] = []
    since: int = 0

    def branch(self) -> Branch | None:
        return Branch(number=self.number, arm=self.arm, tests=tuple(self.tests)) if self.kind not in ("group", "waits") else None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.at = text, lex(text), 0
        self.stack: list[_Open] = []
        self.numbers = 0
        self.listed: Branch | None = None
        self.last = ""

    def run(self) -> Iterator[Command]:
        while self.at < len(self.tokens):
            if len(self.stack) > MAX_DEPTH:
                raise ValueError("the script is nested too deeply")
            token = self.tokens[self.at]
            if token.kind == "operator":
                self._operator(token)
            elif not (token.kind == "word" and self._keyword(token)):
                command = self._command()
                if not self._waits():
                    yield command

    def _operator(self, token: Token) -> None:
        self.at += 1
        if token.text in ("&&", "||"):
            self.listed = self.listed or Branch(number=self._number(), arm=0, tests=(f"{token.text} {self.last}",))
        elif token.text in ("\n", ";", "&"):
            self.listed = None
        elif token.text == "(":
            self._parenthesis()
        elif token.text == ")" and self.stack and self.stack[-1].kind == "group":
            self.stack.pop()
        elif token.text == ")" and self.stack and self.stack[-1].kind == "case":
            self.stack[-1].arm += 1
        elif token.text.startswith(";;") and self.stack and self.stack[-1].kind == "case":
            self._pattern()

    def _parenthesis(self) -> None:
        if self._is("operator", "(") and self.tokens[self.at].at == self.tokens[self.at - 1].at + 1:
            self._skip_arithmetic()
        elif not (self.stack and self.stack[-1].kind == "case" and self.stack[-1].since == self.at - 1):
            self._open("group")

    def _skip_arithmetic(self) -> None:
        end = self.text.find("))", self.tokens[self.at].at)
        while self.at < len(self.tokens) and (end < 0 or self.tokens[self.at].at < end + 2):
            self.at += 1

    def _keyword(self, token: Token) -> bool:
        """Whether the word is one of the shell's own; then it is taken in."""
        assert token.word is not None
        if token.text in ("if", "while", "until"):
            self._open("waits", token)
            self.stack[-1].tests = [token.text]
        elif token.text in ("for", "select"):
            self._open("waits", token)
            self.stack[-1].tests = ["for"]
        elif token.text in ("then", "do"):
            self._begins(token)
        elif token.text in ("elif", "else") and self.stack and self.stack[-1].kind == "if":
            self._arm(token)
        elif token.text in ("fi", "done", "esac", "}"):
            if self.stack:
                self.stack.pop()
        elif token.text == "{":
            self._open("group")
        elif token.text == "case":
            self._case()
            return True
        elif token.text == "function" or self._defines():
            self._function()
            return True
        elif token.text == "!":
            pass
        else:
            return False
        self.at += 1
        return True

    def _begins(self, token: Token) -> None:
        """The condition is over: what follows stands in a branch."""
        if not self.stack or self.stack[-1].kind != "waits":
            return
        now = self.stack[-1]
        test = self.text[now.since:token.at].strip().rstrip(";").strip()
        kind = now.tests[0]
        now.kind = "if" if kind == "if" else "loop"
        now.tests = [*now.tests[1:], test if kind != "for" else "for"]

    def _arm(self, token: Token) -> None:
        now = self.stack[-1]
        now.arm += 1
        if token.text == "elif":
            now.kind, now.since = "waits", token.at + len("elif")
            now.tests = ["if", *now.tests]
        else:
            now.tests = [*now.tests, ""]

    def _case(self) -> None:
        start = self.tokens[self.at].at
        while self.at < len(self.tokens) and not self._is("word", "in"):
            self.at += 1
        self._open("case")
        self.stack[-1].tests = [self.text[start:self.tokens[self.at].at].strip()] if self.at < len(self.tokens) else [""]
        self.at += 1
        self._pattern()

    def _pattern(self) -> None:
        """Skips what stands before a `)` of a case; its text is the arm's test."""
        while self.at < len(self.tokens) and self._is("operator", "\n"):
            self.at += 1
        if self.at >= len(self.tokens) or self._is("word", "esac"):
            return
        start = self.tokens[self.at].at
        self.at += 1 if self._is("operator", "(") else 0
        while self.at < len(self.tokens) and not self._is("operator", ")"):
            self.at += 1
        if self.at < len(self.tokens):
            now = self.stack[-1]
            now.arm += 1
            now.tests = [now.tests[0], self.text[start:self.tokens[self.at].at].strip()]
            self.at += 1

    def _defines(self) -> bool:
        after = self.tokens[self.at + 1:self.at + 3]
        return [token.text for token in after if token.kind == "operator"] == ["(", ")"]

    def _function(self) -> None:
        while self.at < len(self.tokens) and not self._is("word", "{"):
            if self._is("operator", "\n") and not self._is("word", "{", 1):
                break
            self.at += 1
        self._open("function")
        self.at += 1

    def _command(self) -> Command:
        """The simple command that begins here."""
        start, line = self.tokens[self.at].at, self.tokens[self.at].line
        settings: list[Setting] = []
        words: list[Word] = []
        targets: list[tuple[str, Word]] = []
        body: Token | None = None
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "operator" and token.text in _ENDS:
                break
            self.at += 1
            if token.kind == "redirect" and token.word is not None:
                targets.append((token.text, token.word))
                body = token if token.text in ("<<", "<<-") else body
            elif setting := None if words and not _declares(words) else _setting(token):
                settings.append(setting)
            elif token.word is not None:
                words.append(token.word)
        end = self.tokens[self.at].at if self.at < len(self.tokens) else len(self.text)
        self.last = self.text[start:end].strip()
        branches = [branch for opened in self.stack if (branch := opened.branch())]
        return Command(line=line, branches=(*branches, *([self.listed] if self.listed else [])), settings=tuple(settings),
                       words=tuple(words), targets=tuple(targets), body=body.body if body else None,
                       body_line=body.body_line if body else 0, body_literal=bool(body and body.literal))

    def _waits(self) -> bool:
        return any(opened.kind == "waits" for opened in self.stack)

    def _is(self, kind: str, text: str, ahead: int = 0) -> bool:
        at = self.at + ahead
        return at < len(self.tokens) and self.tokens[at].kind == kind and self.tokens[at].text == text

    def _open(self, kind: str, token: Token | None = None) -> None:
        self.stack.append(_Open(kind, self._number(), since=token.at + len(token.text) if token else self.at))
        self.listed = None

    def _number(self) -> int:
        self.numbers += 1
        return self.numbers


def _declares(words: list[Word]) -> bool:
    """`export X=1`, `local X=1`: its words are settings too."""
    return words[0].plain in ("export", "local", "declare", "readonly", "typeset", "env") and all(
        word.plain.startswith("-") for word in words[1:])


def _setting(token: Token) -> Setting | None:
    if token.kind == "array":
        return Setting(name=token.text.rstrip("=").rstrip("+"), words=token.items, many=True, append="+=" in token.text,
                       line=token.line)
    found = _ASSIGN.match(token.text) if token.kind == "word" else None
    if not found or token.word is None:
        return None
    first, *rest = token.word.pieces
    first = type(first)(kind=first.kind, text=first.text[found.end():], name=first.name, quoted=first.quoted)
    word = Word(pieces=(first, *rest) if first.text or not rest else tuple(rest), line=token.line, raw=token.text[found.end():])
    return Setting(name=found[1], words=(word,), append=bool(found[2]), line=token.line)
