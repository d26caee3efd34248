"""Where a command acts, and arguments that do not parse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bot.errors import BadArguments, BadInput

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """The global options. `layout` None: the repository's own, else the preset `own`."""

    repo: Path
    layout: str | None
    offline: bool


def parsed(parse: Callable[[str], T], text: str) -> T:
    """An argument read by its grammar; what does not parse is a fault of the command line and not of a file."""
    try:
        return parse(text)
    except BadInput as error:
        raise BadArguments(error.reason, error.hint) from None


LARGEST = 64_000_000
"""Bytes of a file that an argument names: what is larger is none that anybody wrote, or a device that never ends."""


def existing(path: Path, hint: str) -> Path:
    """A file or folder that an argument names; BadArguments when there is none."""
    try:
        path.stat()
    except OSError as error:
        raise BadArguments(f"{path}: {error.strerror}", hint) from None
    return path


def folder(path: Path, hint: str) -> Path:
    """A folder that an argument names."""
    if not existing(path, hint).is_dir():
        raise BadArguments(f"{path}: not a folder", hint)
    return path


def content(path: Path, hint: str) -> bytes:
    """What a file named by an argument holds. A file that is there and cannot be read is bad content."""
    if existing(path, hint).is_dir():
        raise BadArguments(f"{path}: a folder", hint)
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", hint, file=str(path)) from None
    if len(data) > LARGEST:
        raise BadInput(f"larger than {LARGEST} bytes", hint, file=str(path))
    return data
