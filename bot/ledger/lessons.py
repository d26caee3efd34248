"""What endings taught, as it lies in memory/: read for the next plan, and made ready to be written with the last record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from bot.errors import BadInput
from bot.ledger.chain import canonical
from bot.ledger.paths import lesson_path, lessons_folder
from bot.ledger.store import Ledger
from bot.model.ledger import Snapshot
from bot.model.memory import Lesson

_LESSON = re.compile(r"memory/[^/]+/[1-9][0-9]*\.json")


def lessons(ledger: Ledger, snapshot: Snapshot, say: Callable[[str], None] = lambda line: None, *,
            of: str | None = None) -> tuple[Lesson, ...]:
    """Every lesson of the ledger, or those of one bump, by path. One that cannot be read is told and takes no other's word away."""
    folder, found = "memory/" if of is None else lessons_folder(of), list[Lesson]()
    for path in sorted(path for path in snapshot.paths if path.startswith(folder) and _LESSON.fullmatch(path)):
        try:
            one = ledger.load(snapshot, path, Lesson)
        except BadInput as error:
            say(f"not taken for a lesson: {error}")
            continue
        found += [one] if one is not None else []
    return tuple(found)


def kept(snapshot: Snapshot, bump: str, learnt: Iterable[Lesson]) -> Mapping[str, bytes | None]:
    """The files of a bump's lessons, behind those that an earlier ending of the same bump left."""
    folder = lessons_folder(bump)
    first = 1 + sum(path.startswith(folder) for path in snapshot.paths)
    return {lesson_path(bump, n): canonical(lesson) for n, lesson in enumerate(learnt, first)}
