"""Archives beside a ledger on this machine: one folder a bump."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from bot.adapters.filing import checked, chunks, measured, same
from bot.errors import BadInput, Conflict, Missing
from bot.model.result import Filed


class FolderArchive:
    """Satisfies the Archive port over a folder, which is made when the first file comes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, bump: str, filed: Filed, data: BinaryIO) -> None:
        checked(bump, filed.name)
        place = self._root / bump / filed.name
        if place.is_file():
            if self._measured(place) != filed:
                raise Conflict(f"{filed.name} is kept for {bump} with other bytes", "look at who wrote it")
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        half = place.with_name(f".{filed.name}.{os.getpid()}")
        try:
            with half.open("wb") as stream:
                for chunk in chunks(data):
                    stream.write(chunk)
            same(filed, self._measured(half, filed.name))
            half.replace(place)
        finally:
            half.unlink(missing_ok=True)

    def held(self, bump: str) -> Mapping[str, Filed]:
        checked(bump)
        home = self._root / bump
        found = sorted(path for path in home.iterdir() if path.is_file()) if home.is_dir() else []
        return {path.name: self._measured(path) for path in found if not path.name.startswith(".")}

    def read(self, bump: str, name: str, into: BinaryIO, limit: int) -> int:
        checked(bump, name)
        place = self._root / bump / name
        if not place.is_file():
            raise Missing(f"{name} is not kept for {bump}", "see what is: its bump's baseline names its files")
        if place.stat().st_size > limit:
            raise BadInput(f"larger than {limit} bytes", "raise the limit", file=name)
        with place.open("rb") as stream:
            return sum(into.write(chunk) for chunk in chunks(stream))

    def _measured(self, path: Path, name: str | None = None) -> Filed:
        with path.open("rb") as stream:
            return measured(name or path.name, stream)
