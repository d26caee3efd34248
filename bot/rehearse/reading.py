"""Files of a scenario, read strictly: each fault is one BadInput with file, line and key where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn, TypeVar

from bot import strict
from bot.errors import BadInput

T = TypeVar("T")


class Lines:
    """Where each key of scenario.yaml stands, for faults that only show when the folder is read as a whole."""

    def __init__(self, file: Path) -> None:
        self.file, self.text = file, text_of(file)
        _, self._at = strict.parse(self.text, file=str(file))

    def refuse(self, path: tuple[str | int, ...], reason: str, hint: str) -> NoReturn:
        """BadInput with the line on which this key, or what holds it, stands."""
        line = next((self._at[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self._at), None)
        raise BadInput(reason, hint, file=str(self.file), line=line, key=".".join(map(str, path)))


def text_of(file: Path) -> str:
    """A UTF-8 file whole; BadInput for what is not there or is none."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise BadInput(
            "this file is missing",
            "a scenario has scenario.yaml, repo/, registry.yaml and baseline.json",
            file=str(file),
        ) from None
    except (UnicodeDecodeError, OSError) as fault:
        raise BadInput(f"cannot be read: {fault}", "make it a UTF-8 text file", file=str(file)) from None


def read(kind: type[T], file: Path) -> T:
    """A file of YAML, or of JSON by its ending, as a record."""
    text = text_of(file)
    return strict.load_json(kind, text, file=str(file)) if file.suffix == ".json" else strict.load(kind, text, file=str(file))
