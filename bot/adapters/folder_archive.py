"""Archives beside a ledger on this machine: one folder a bump."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from bot.adapters.filing import checked, chunks, measured, same
from bot.errors import BadInput, Conflict, Missing, Refusal
from bot.model.result import Filed


class FolderArchive:
    """Satisfies the Archive port over a folder, which is made when the first file comes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, bump: str, filed: Filed, data: BinaryIO) -> None:
        checked(bump, filed.name)
        if (place := self._root / bump / filed.name).is_file():
            self._unchanged(bump, place, filed)
            return

        def copied(stream: BinaryIO) -> None:
            for chunk in chunks(data):
                stream.write(chunk)

        self._kept(bump, filed.name, copied, filed)

    def make(self, bump: str, name: str, fill: Callable[[BinaryIO], None]) -> Filed:
        checked(bump, name)
        return self._kept(bump, name, fill)

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

    def _kept(self, bump: str, name: str, fill: Callable[[BinaryIO], None], wanted: Filed | None = None) -> Filed:
        """What `fill` wrote, under its name once it is whole."""
        place = self._root / bump / name
        half = place.with_name(f".{name}.{os.getpid()}")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with half.open("wb") as stream:
                fill(stream)
            made = self._measured(half, name)
            if wanted is not None:
                same(wanted, made)
            if place.is_file():
                self._unchanged(bump, place, made)
            else:
                half.replace(place)
            return made
        except OSError as error:
            raise Refusal(f"{name} cannot be kept: {error.strerror or error}", f"make room in {self._root}") from None
        finally:
            half.unlink(missing_ok=True)

    def _unchanged(self, bump: str, place: Path, filed: Filed) -> None:
        if self._measured(place) != filed:
            raise Conflict(f"{filed.name} is kept for {bump} with other bytes", "look at who wrote it")

    def _measured(self, path: Path, name: str | None = None) -> Filed:
        with path.open("rb") as stream:
            return measured(name or path.name, stream)
