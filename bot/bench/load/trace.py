"""The recorded requests that a recipe names: a file of the working repository, the very one that was meant."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath

from bot.errors import Missing, Refusal
from bot.model.bench import Trace
from bot.strict.words import one_line


def path(trace: Trace | None, repository: Path) -> Path | None:
    """The file of a trace; None where it is a public dataset or there is no trace. Refusal for a path that leads out of the
    repository (as it is written or by a link), and for a file with another SHA-256; Missing where there is none."""
    if trace is None or not trace.file:
        return None
    said, written = one_line(trace.file, 120), PurePosixPath(trace.file)
    root = repository.resolve()
    found = root / written
    if written.is_absolute() or ".." in written.parts or "\\" in trace.file or not found.resolve().is_relative_to(root):
        raise Refusal(f"the trace {said} lies outside the repository", "name a file below it")
    if not found.is_file():
        raise Missing(f"there is no trace {said} in {root}", "run in the repository that the recipe is of, or correct the name")
    with found.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != trace.sha256.lower():
        raise Refusal(f"the trace {said} has the SHA-256 {digest}, not {one_line(trace.sha256, 80)}",
                      "check out the commit that the recipe is of, or correct sha256")
    return found.resolve()
