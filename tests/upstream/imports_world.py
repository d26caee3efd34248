"""A small engine and a small consumer, as files in memory, and what `check-imports` says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent
from typing import Any

from bot.model.upstream import ImportsChecked, MissingImport
from bot.upstream import imports
from bot.upstream.engines import Engine
from bot.upstream.surveys import SURVEYS

ENGINE = Engine(repositories=(), module="engine", package="engine", called=("eng",))
PART = {"part/engine/__init__.py": "", "part/engine/__main__.py": "from part.engine.main import main\n"}


class Files:
    """A tree of one revision, told as texts."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self._files = {path: text if isinstance(text, bytes) else dedent(text).encode() for path, text in files.items()}

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        return sorted(path for path in self._files if path.startswith(prefix))


def surveyed(name: str, tree: Files, paths: Sequence[str]) -> Mapping[str, Any]:
    """The survey without a child process; what cannot be parsed is unknown."""
    read = SURVEYS[name].read
    told: dict[str, Any] = {}
    for path in paths:
        try:
            told[path] = read(tree.read(path) or b"", path)
        except (SyntaxError, ValueError, RecursionError):
            told[path] = None
    return told


def told(engine: Mapping[str, str | bytes], consumer: Mapping[str, str | bytes], **said: Any) -> ImportsChecked:
    """The whole answer."""
    return imports.checked(ENGINE, Files(engine), Files(consumer), surveyed, known=said.pop("known", {"engine": ENGINE}),
                           names=("part 1", "engine 2"), **said)


def missing(engine: Mapping[str, str | bytes], main: str, **more: str | bytes) -> dict[str, MissingImport]:
    """What a consumer with this `part/engine/main.py` lacks: `module` or `module.name` -> row. `more` are further files, `__` for /
    and without `.py`."""
    files = {f"{name.replace('__', '/')}.py": text for name, text in more.items()}
    rows = told(engine, {**PART, "part/engine/main.py": main, **files}).missing
    return {f"{row.module}.{row.name}" if row.name else row.module: row for row in rows}


def flags(row: MissingImport) -> set[str]:
    """The marks of a row that are set."""
    return {name for name in ("guarded", "lazy", "typing", "on_start_path") if getattr(row, name)}
