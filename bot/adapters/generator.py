"""A guest's own generator of matrix rows, run on data files that may be anybody's: no code of theirs, no secret in its reach.

SECURITY.md rule 1: the code comes from one given tree (the default branch) and is laid out beside the data in a folder that is
gone afterwards. The program gets PATH and nothing else of our environment, which is shut to it from then on
(`bot.adapters.environment` says what stays open), and limits of time, output and memory.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bot.adapters.environment import shut
from bot.adapters.gitcli import check_path
from bot.adapters.process import LocalProcess
from bot.errors import BadInput, Missing, Unreachable
from bot.ports import Process, Tree
from bot.recipe.shelf import matches
from bot.recipe.words import options
from bot.strict import json_value

Row = Mapping[str, Any]
LIMIT_S, HELP_LIMIT_S = 120.0, 20.0
OUT_LIMIT, ERR_LIMIT, MEMORY = 64_000_000, 1_000_000, 4_000_000_000
_CODE_FILES, _CODE_BYTES = 500, 16_000_000
_AT_ONCE = 4
_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "120",
                "NO_COLOR": "1"}
_RAISED = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Exit|Interrupt)\b|\S+: error: ")
_TOLD = 160
_WITHOUT = "name a layout with generator-files: [], and bumpbot's own rows prove the scope"
_MEND = f"install what it imports, or {_WITHOUT}"


class _Late(BadInput):
    """It hung, and is not asked anything else."""


class GuestGenerator:
    """Satisfies the Generator port: `command` (a program and its first words) with the files of `code` that `globs` name.

    A command that begins with python runs on the one of PATH, or, where that one lacks what the generator imports, on the one
    that runs us. Answers are remembered by the bytes of their data: a scope's first side is asked once.
    """

    def __init__(self, command: str, globs: Sequence[str], code: Tree, *, process: Process | None = None,
                 limit_s: float = LIMIT_S) -> None:
        self._command, self._globs, self._tree, self._limit_s = shlex.split(command), globs, code, limit_s
        self._process = process or LocalProcess(out_limit=OUT_LIMIT, err_limit=ERR_LIMIT, memory=MEMORY)
        self._code: dict[str, bytes] | None = None
        self._start: list[str] | None = None
        self._known: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
        self._helps: dict[tuple[str, ...], frozenset[str]] = {}

    def options(self, words: Sequence[str]) -> frozenset[str]:
        """The options that `... WORDS --help` lists. Missing when there is no such code, or when it knows no such command;
        BadInput with its last words when it is there and cannot be asked."""
        if tuple(words) not in self._helps:
            with self._laid({}) as folder:
                self._helps[tuple(words)] = options(self._command_help(folder, words))
        return self._helps[tuple(words)]

    def rows(self, files: Mapping[str, bytes], asked: Sequence[Sequence[str]]) -> list[list[Row]]:
        """The rows of each command line over `files`. BadInput with the generator's last words when it cannot be
        asked, fails, or prints anything but one JSON array of objects."""
        digest, lines = _digest(files), [tuple(words) for words in asked]
        missing = [words for words in dict.fromkeys(lines) if (digest, words) not in self._known]
        if missing:
            with self._laid(files) as folder:
                if self._start is None:
                    self._help(folder, ())
                with ThreadPoolExecutor(max_workers=min(_AT_ONCE, len(missing))) as pool:
                    answers = list(pool.map(lambda words: self._answer(folder, words), missing))
            self._known.update(zip(((digest, words) for words in missing), answers, strict=True))
        return [self._known[digest, words] for words in lines]

    def _answer(self, folder: Path, words: Sequence[str]) -> list[Row]:
        code, out, err = self._run(folder, self._start or self._command, words, self._limit_s)
        if code:
            raise BadInput(f"the guest's generator ended with {code}: {told(err)}", f"ask it the same by hand, or {_WITHOUT}")
        return _rows(out)

    def _command_help(self, folder: Path, words: Sequence[str]) -> str:
        """What the help of a command says. One that fails is missing where the program's own help names no such command."""
        try:
            return self._help(folder, words)
        except _Late:
            raise
        except BadInput:
            known = self._help(folder, ())
            unknown = next((word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", known)), None)
            if unknown is None:
                raise
            raise Missing(f"the guest's generator knows no command {unknown}", "a newer one may") from None

    def _help(self, folder: Path, words: Sequence[str]) -> str:
        """What --help prints, by the first interpreter with which it prints anything."""
        last: BadInput | None = None
        for start in [self._start] if self._start else _starts(self._command):
            try:
                code, out, err = self._run(folder, start, (*words, "--help"), min(HELP_LIMIT_S, self._limit_s))
            except Missing as error:
                last = last or BadInput(f"the guest's generator does not start: {error.reason}", _MEND)
                continue
            if code == 0:
                self._start = start
                return out.decode("utf-8", "replace")
            last = last or BadInput(f"the guest's generator does not start: {told(err)}", _MEND)
        raise last or BadInput("the layout names no generator-command", f"name it, or {_WITHOUT}")

    def _run(self, folder: Path, start: Sequence[str], words: Sequence[str], limit_s: float) -> tuple[int, bytes, bytes]:
        home = str(folder / "home")
        try:
            return self._process.run([*start, *words], cwd=folder / "repository", limit_s=limit_s,
                                     env={**_ENVIRONMENT, "HOME": home, "TMPDIR": home})
        except Unreachable:  # no outage that a later wake may find over: code that hangs hangs again
            raise _Late(f"the guest's generator did not end within {limit_s:g} s", _MEND) from None

    @contextmanager
    def _laid(self, files: Mapping[str, bytes]) -> Iterator[Path]:
        """A folder that holds the data and then, over whatever that may have named alike, the code."""
        data = {path: content for path, content in files.items() if not self._is_code(path)}
        code = self._files()
        with TemporaryDirectory(prefix="bumpbot-generator-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            (folder / "home").mkdir()
            for path, content in (*data.items(), *code.items()):
                file = folder / "repository" / check_path(path)
                try:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(content)
                except OSError as error:
                    raise BadInput(f"cannot be laid out: {error.strerror}", "no file may stand where a folder must",
                                   file=path) from None
            shut()
            yield folder

    def _files(self) -> dict[str, bytes]:
        if self._code is None:
            found: dict[str, bytes] = {}
            fixed = {re.split(r"[*?{\[]", glob, maxsplit=1)[0].rpartition("/")[0] for glob in self._globs}
            listed = {path for folder in fixed for path in self._tree.paths(folder and f"{folder}/")}
            for path in sorted(filter(self._is_code, listed)):
                found[path] = self._tree.read(path) or b""
                if len(found) > _CODE_FILES or sum(map(len, found.values())) > _CODE_BYTES:
                    raise BadInput("the generator's code is too much", "name fewer files in generator-files", file=path)
            if not found:
                why = "is not there" if self._globs else "is not asked: the layout's generator-files name none"
                raise Missing(f"the guest's generator {why}", "name its code in the layout's generator-files")
            self._code = found
        return self._code

    def _is_code(self, path: str) -> bool:
        return any(matches(glob, path) for glob in self._globs)


def told(err: bytes) -> str:
    """What a program said last, as words that are fit to be shown: the exception of a traceback with what it goes on to say,
    or else the last line. Letters that could mean something to a reader of comments are blanks."""
    lines = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    at = next((at for at in range(len(lines) - 1, -1, -1) if _RAISED.match(lines[at])), len(lines) - 1)
    text = re.sub(r"[^A-Za-z0-9_.:/+-]+", " ", " ".join(lines[max(at, 0) :])).strip()
    return f"{text[:_TOLD]}..." if len(text) > _TOLD else text or "it said nothing"


def _starts(command: Sequence[str]) -> list[list[str]]:
    if command and re.fullmatch(r"python[0-9.]*", command[0]):
        return [list(command), [sys.executable, *command[1:]]]
    return [list(command)] if command else []


def _rows(out: bytes) -> list[Row]:
    name, hint = "the guest's generator", "it must print one JSON array of rows and nothing else"
    try:
        found = json_value(out.decode("utf-8"), file=name)
    except UnicodeDecodeError:
        raise BadInput(f"{name} printed no UTF-8", hint) from None
    except BadInput as error:
        raise BadInput(f"{error.reason}, in what it printed: {told(out[:400])}", hint) from None  # the place is in its reason
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise BadInput(f"{name} printed no list of rows: {told(out[:400])}", hint)
    nameless = next((at for at, row in enumerate(found) if not isinstance(row.get("image"), str)), None)
    if nameless is not None:
        raise BadInput(f"a row names no image: row {nameless} of those that {name} printed", hint)
    return found


def _digest(files: Mapping[str, bytes]) -> str:
    made = hashlib.sha256()
    for path, content in sorted(files.items()):
        made.update(f"{path}\0{len(content)}\0".encode() + content)
    return made.hexdigest()
