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
    if not (git_dir / "HEAD").is_file() or (git_dir / "reftable").exists():
        return None
    found: dict[str, str] = {}
    for folder in folders:  # before what is packed: a ref that is packed meanwhile is then seen there
        for ref in _files(git_dir, folder.rstrip("/")):
            try:
                text = (git_dir / ref).read_text().strip()
            except FileNotFoundError:
                continue
            if not _ID.fullmatch(text):
                return None
            found[ref] = text
    packed = _packed(git_dir)
    below = tuple(f"{folder.rstrip('/')}/" for folder in folders)
    return dict(sorted(({ref: oid for ref, oid in packed.items() if f"{ref}/".startswith(below)} | found).items()))


def _files(git_dir: Path, folder: str) -> Iterator[str]:
    try:
        with os.scandir(git_dir / folder) as entries:
            there = list(entries)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        yield folder
        return
    for entry in there:
        if entry.is_dir():
            yield from _files(git_dir, f"{folder}/{entry.name}")
        elif not entry.name.endswith(".lock"):  # a ref on its way
            yield f"{folder}/{entry.name}"


def _packed(git_dir: Path) -> dict[str, str]:
    try:
        lines = (git_dir / "packed-refs").read_text().splitlines()
    except FileNotFoundError:
        return {}
    return {ref: oid for oid, _, ref in (line.partition(" ") for line in lines) if _ID.fullmatch(oid)}
