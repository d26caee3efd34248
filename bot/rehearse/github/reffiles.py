"""The refs of a bare repository, read from its files: a rehearsal looks at them before each of a thousand answers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_ID = re.compile(r"[0-9a-f]{40}")


def refs_of(git_dir: Path, folders: Sequence[str]) -> dict[str, str] | None:
    """Ref -> object id, of the refs below these folders (or of these names), sorted; None where the files do not say it all, and
    git must be asked: a symbolic ref, another way of keeping refs, a repository with a checkout."""
    root = str(git_dir)
    if not os.path.isfile(f"{root}/HEAD") or os.path.exists(f"{root}/reftable"):
        return None
    found: dict[str, str] = {}
    for folder in folders:  # before what is packed: a ref that is packed meanwhile is then seen there
        for ref in _files(root, folder.rstrip("/")):
            try:
                with open(f"{root}/{ref}", encoding="utf-8") as file:
                    text = file.read().strip()
            except FileNotFoundError:
                continue
            if not _ID.fullmatch(text):
                return None
            found[ref] = text
    every = _packed(root) | found
    return {ref: every[ref] for ref in sorted(every) if any(_below(ref, folder) for folder in folders)}


def _below(ref: str, folder: str) -> bool:
    return ref.startswith(folder) if folder.endswith("/") else f"{ref}/".startswith(f"{folder}/")


def _files(root: str, folder: str) -> Iterator[str]:
    try:
        with os.scandir(f"{root}/{folder}") as entries:
            there = list(entries)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        yield folder
        return
    for entry in there:
        if entry.is_dir():
            yield from _files(root, f"{folder}/{entry.name}")
        elif not entry.name.endswith(".lock"):  # a ref on its way
            yield f"{folder}/{entry.name}"


def _packed(root: str) -> dict[str, str]:
    try:
        with open(f"{root}/packed-refs", encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return {}
    return {ref: oid for oid, _, ref in (line.partition(" ") for line in lines) if _ID.fullmatch(oid)}
