"""`triage` over the logs that jobs leave behind, and the files that a command over such things is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from bot.adapters.assets import PackagedAssets
from bot.cli.output import as_json, facts, working
from bot.cli.place import existing
from bot.cli.wiring import knowledge
from bot.diagnose.triage import triage as diagnose
from bot.errors import BadInput
from bot.model.run import Triage

FILES_HINT = "name logs, results or a folder of them"


def triage(paths: list[Path], format_: str) -> None:
    """The first server-side error of these logs; exit 0 when it answered, also with "unknown"."""
    with working("reading the logs"):
        found = diagnose(streams(paths), knowledge(PackagedAssets()).signatures)
    told = _told(found)
    if format_ == "json":
        as_json(told)
        return
    names = ("class", "signature", "first_error", "file", "line", "node", "confidence", "repair")
    cause = [("cause", found.cause.en)] if found.cause else []
    others = [("also", other) for other in found.others]
    warnings = [("warning", f"{name} x {count}") for name, count in found.warnings.items()]
    facts(format_, [*((name, told[name]) for name in names), *cause, *others, *warnings])


def _told(found: Triage) -> dict[str, Any]:
    """The JSON of CONTRACTS section 2 `triage`: its keys are words, `class` among them."""
    told = {name.rstrip("_"): value for name, value in msgspec.to_builtins(found).items()}
    return {"class": told.pop("class"), **told}


def streams(paths: Iterable[Path]) -> Iterator[tuple[str, BinaryIO]]:
    """Each file with its name below the argument; links inside a folder are not followed."""
    for path in paths:
        existing(path, FILES_HINT)
        if not (path.is_dir() or path.is_file()):
            raise BadInput("neither a file nor a folder", FILES_HINT, file=str(path))  # a pipe may never end
        below = sorted(found for found in path.rglob("*") if found.is_file() and not found.is_symlink())
        for file in below if path.is_dir() else [path]:
            try:
                stream = file.open("rb")
            except OSError as error:
                raise BadInput(f"cannot be read: {error.strerror}", FILES_HINT, file=str(file)) from None
            with stream:
                yield file.relative_to(path.parent).as_posix(), stream
