"""The starts of a server in a script: the words it is started with, its environment, and the files it is given."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from bot.recipe.uses.shell import quotes
from bot.recipe.uses.shell.script import Branch, Command, Setting, read
from bot.recipe.uses.shell.values import Said, Values
from bot.recipe.uses.shell.words import Piece, Word

_PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
_EXPORTS = ("export", "declare", "typeset", "env")
_SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da)?sh")
# They show a command and start none.
_SHOWS = ("printf", "echo", "tee", "cat", "grep", "pgrep", "pkill", "which", "command")
_INNER = re.compile(r"-[a-z]*c")


class Start(Struct, frozen=True, kw_only=True):
    """One start of a server: `command` as it is known (`vllm serve`), the words behind it, and the variables set for it alone."""

    command: str
    line: int
    words: tuple[Said, ...]
    environment: tuple[tuple[str, Said], ...] = ()
    branches: tuple[Branch, ...] = ()


class Written(Struct, frozen=True, kw_only=True):
    """A file that the script writes from a here-document. `text` has what is known filled in; the rest stands as `$NAME`."""

    target: str
    text: str
    line: int
    conditional: bool


class Script(Struct, frozen=True, kw_only=True):
    """What a script starts. `environment` are its exports, each with whether it is on a branch."""

    starts: tuple[Start, ...] = ()
    environment: tuple[tuple[str, Said], ...] = ()
    files: tuple[Written, ...] = ()


def starts(text: str, commands: Sequence[str]) -> Script:
    """Every start of one of these commands. ValueError for a script that cannot be read."""
    return _Walk(commands).run(read(text))


class _Walk:
    def __init__(self, commands: Sequence[str]) -> None:
        self.commands = [(command, command.split()) for command in commands]
        self.values = Values()
        self.starts: list[Start] = []
        self.environment: list[tuple[str, Said]] = []
        self.files: list[Written] = []

    def run(self, commands: Sequence[Command], depth: int = 0) -> Script:
        for command in commands:
            self._one(command, depth)
        return Script(starts=tuple(self.starts), environment=tuple(self.environment), files=tuple(self.files))

    def _one(self, command: Command, depth: int) -> None:
        head = command.words[0].plain if command.words else ""
        alone = not command.words or (head in ("export", "local", "declare", "readonly", "typeset") and command.settings)
        if alone or head in _EXPORTS:
            self._set(command, head)
        said = self.values.words(command.words, command.branches) if command.words and not alone else []
        if command.body is not None:
            self._file(command, said)
        if said and not self._start(command, said) and depth < 3:
            self._inner(command, said, depth)

    def _set(self, command: Command, head: str) -> None:
        maybe = bool(command.branches)
        for setting in command.settings:
            exports = head in _EXPORTS and not (head != "export" and not any(
                "x" in word.plain for word in command.words if word.plain.startswith("-")))
            if exports:
                self._export(setting, command, maybe)
            if head != "env":
                self.values.take(setting, command.branches)
        if head == "export":
            for word in command.words[1:]:
                if word.fixed and word.plain.isidentifier():
                    pieces = (Piece(kind="variable", name=word.plain, quoted=True),)
                    said = self.values.text(Word(pieces=pieces, line=word.line), command.branches)
                    self.environment.append((word.plain, Said(text=said.text, line=command.line, known=said.known,
                                                              conditional=maybe)))

    def _export(self, setting: Setting, command: Command, maybe: bool) -> None:
        said = self.values.text(setting.words[0], command.branches) if setting.words else Said(text="", line=setting.line)
        self.environment.append((setting.name, Said(text=said.text, line=setting.line, known=said.known, conditional=maybe)))

    def _start(self, command: Command, said: Sequence[Said]) -> bool:
        if said[0].text in _SHOWS:
            return False
        for name, words in self.commands:
            end = _found(said, words)
            if end is None:
                continue
            own = [(setting.name, self._said(setting, command)) for setting in command.settings]
            own += [(one.text.partition("=")[0], Said(text=one.text.partition("=")[2], line=one.line, known=one.known))
                    for one in said[:end] if re.fullmatch(r"[A-Za-z_]\w*=.*", one.text, re.DOTALL)]
            self.starts.append(Start(command=name, line=said[end - 1].line or command.line, words=tuple(said[end:]),
                                     environment=tuple(own), branches=command.branches))
            return True
        return False

    def _said(self, setting: Setting, command: Command) -> Said:
        said = self.values.text(setting.words[0], command.branches) if setting.words else Said(text="", line=0)
        return Said(text=said.text, line=setting.line, known=said.known)

    def _inner(self, command: Command, said: Sequence[Said], depth: int) -> None:
        """`bash -c "..."` starts what its text says."""
        for index, one in enumerate(said[:-1]):
            if _SHELLS.fullmatch(one.text) and _INNER.fullmatch(said[index + 1].text) and index + 2 < len(said):
                try:
                    inner = read(said[index + 2].text)
                except ValueError:
                    return
                for part in inner:
                    self._one(Command(line=command.line, branches=(*command.branches, *part.branches), settings=part.settings,
                                      words=part.words, targets=part.targets), depth + 1)
                return

    def _file(self, command: Command, said: Sequence[Said]) -> None:
        targets = [self.values.text(word, command.branches).text for sign, word in command.targets if sign in (">", ">>", ">|")]
        if said and said[0].text.rsplit("/", 1)[-1] == "tee":
            targets += [one.text for one in said[1:] if not one.text.startswith("-")]
        body = command.body or ""
        if not command.body_literal:
            inner, _ = quotes.inside(body, 0, "")
            body = self.values.text(Word(pieces=tuple(inner), line=command.line), command.branches).text
        for target in targets:
            self.files.append(Written(target=target, text=body, line=command.body_line, conditional=bool(command.branches)))


def _found(said: Sequence[Said], words: Sequence[str]) -> int | None:
    """Where the words of a command end. Of `python3 -m module` the module counts: a script may keep the interpreter in a variable,
    or hand it options."""
    words = words[1:] if _PYTHON.fullmatch(words[0]) and len(words) > 1 else words
    for at in range(len(said) - len(words) + 1):
        if all(said[at + index].text == word or (not index and said[at].text.rsplit("/", 1)[-1] == word)
               for index, word in enumerate(words)):
            return at + len(words)
    return None
