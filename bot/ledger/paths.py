"""Where things lie on the ledger's branch."""

from __future__ import annotations

import hashlib
import re
from datetime import date
from urllib.parse import quote

from bot.errors import BadInput
from bot.model.ledger import Snapshot

BRANCH = "bumpbot/ledger"
OPEN_BUMPS = "caps/open.json"
NEXT = "next"
SEEN = "seen"
LAST_SCAN = "scans/last.json"
ONCE = ("bumps/", "ended/", "memory/", "results/")
_LONGEST = 200
_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,119}")
_ENTRY = re.compile(r"(?:bumps|ended/\d{4})/(?P<bump>[^/]+)/(?P<n>[1-9]\d{0,8})\.json")


def _named(folder: str, name: str) -> str:
    """A file for any name: recipe keys of guests may hold slashes, spaces, other scripts, start with a dot, or be longer than a
    file's name may be; then a sum of the whole name ends it, behind letters that `quote` never writes side by side."""
    safe = quote(name, safe="")
    if not name:
        raise BadInput("a name that is a file's is empty", "name it")
    if len(safe) > _LONGEST:
        safe = f"{safe[:_LONGEST - 20]}%~{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return f"{folder}/{'%2E' + safe[1:] if safe[0] == '.' else safe}.json"


def claim_path(recipe: str) -> str:
    """The file that says which bump may move a recipe (`Held`)."""
    return _named("claims", recipe)


def next_path(recipe: str) -> str:
    """The file that names a recipe's next candidate, left by the bump that it superseded (`Successor`)."""
    return _named(NEXT, recipe)


def moved_path(recipe: str) -> str:
    """The file that says when a bump last proved a new image for a recipe (`Moved`)."""
    return _named("moved", recipe)


def day_path(cluster: str, day: date) -> str:
    """The file of a cluster's GPU-hours on one day (`DaySpent`)."""
    return _named(_named("caps", cluster).removesuffix(".json"), day.isoformat())


def seen_path(registry: str, repository: str) -> str:
    """The file that says what a repository's tags held when we looked (`Seen`)."""
    return _named(_named(SEEN, registry).removesuffix(".json"), repository)


def memory_path(name: str) -> str:
    """A fact remembered across bumps, written once."""
    return _named("memory", name)


def lessons_folder(bump: str) -> str:
    """Where what a bump's ending taught lies, one file a lesson (`Lesson`)."""
    return f"memory/{check_id(bump)}/"


def lesson_path(bump: str, n: int) -> str:
    """The n-th lesson of a bump, written once."""
    return f"{lessons_folder(bump)}{n}.json"


def results_folder(recipe: str) -> str:
    """Where what was measured of a recipe lies, one file a run (`Measured`)."""
    return _named("results", recipe).removesuffix(".json") + "/"


def result_path(recipe: str, run: int) -> str:
    """What one run measured of one recipe, written once (`Measured`)."""
    return f"{results_folder(recipe)}{run}.json"


def bump_folder(bump: str) -> str:
    """Where the entries of an open bump lie."""
    return f"bumps/{check_id(bump)}/"


def ended_folder(bump: str, year: int) -> str:
    """Where they lie once it has ended."""
    return f"ended/{year:04d}/{check_id(bump)}/"


def check_id(bump: str) -> str:
    """The id as it is, a folder's name; BadInput for any other text."""
    if not _ID.fullmatch(bump):
        raise BadInput(f"not the id of a bump: {bump[:60]!r}", "use letters, digits, and . _ - between them")
    return bump


def number(path: str) -> int:
    """The number of an entry by its file's name; BadInput when the file is none."""
    found = _ENTRY.fullmatch(path)
    if not found:
        raise BadInput("not the name of an entry", "an operator must look who wrote this file", file=path)
    return int(found["n"])


def folder_of(snapshot: Snapshot, bump: str) -> str:
    """Where a bump's entries lie: among the open ones, else among the ended ones, else where its first will be."""
    home = bump_folder(bump)
    if any(path.startswith(home) for path in snapshot.paths):
        return home
    steps = (path.split("/") for path in snapshot.paths if path.startswith("ended/"))
    years = sorted(int(year) for _, year, name, *_ in steps if name == bump)
    return ended_folder(bump, years[-1]) if years else home
