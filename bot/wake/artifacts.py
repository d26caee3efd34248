"""Which artifacts a job may have uploaded, and their files. What does not fit is not read; what cannot be read is noted.

An artifact counts for a job if the layout expects its name, the name fits the job's kind and concurrency and stands once,
and it was uploaded in the job's time and, where its name tells one, in that attempt (SECURITY.md rule 5).
"""

from __future__ import annotations

import io
import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Any, BinaryIO

from msgspec import Struct

from bot.diagnose.logs import Opened
from bot.errors import BadInput, BumpbotError, Missing, Refusal
from bot.layout.records import Artifacts as Names
from bot.model.forge import Artifact, in_time
from bot.model.run import Job
from bot.ports import Forge
from bot.strict.words import one_line

LIMIT = 512 << 20
_CONCURRENCY = re.compile(r"_conc([0-9]{1,7}(?:x[0-9]{1,7})*)(?:_|$)")
# How our own workflow ends a name. Another's names say nothing of attempts.
_ATTEMPT = re.compile(r"_attempt([1-9][0-9]{0,5})$")
# zipfile has more ways to stumble over a damaged archive than it documents.
_STUMBLES = (ValueError, OverflowError, OSError, struct.error)


class Fitting(Struct, frozen=True, kw_only=True):
    """The artifacts of one job, logs and results apart, and why others of its kind were left out; `lost` are the notes on
    results."""

    logs: tuple[Artifact, ...] = ()
    results: tuple[Artifact, ...] = ()
    notes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def fitting(names: Names, artifacts: Iterable[Artifact], jobs: Sequence[Job], job: Job) -> Fitting:
    """What `job` may have uploaded, of all that its run holds; `jobs` are the run's, of every attempt."""
    owned = [(one, _owners(names, one, jobs)) for one in artifacts if _expected(names, one)]
    mine = [one for one, owners in owned if job in owners]
    often = Counter(one.name for one in mine)
    kept, notes = [], dict[str, bool]()
    for one, owners in owned:
        if not owners and job.started is not None and _alike(names, one, job):
            outside = note(one.name, f"uploaded {one.created:%Y-%m-%d %H:%M:%S}Z, outside its job's time")
            notes[outside] = _globbed(one.name, names.logs)
    for one in mine:
        of_log = _globbed(one.name, names.logs)
        if one.expired:
            notes[note(one.name, "expired")] = of_log
        elif often[one.name] > 1:
            notes[note(one.name, f"{often[one.name]} artifacts of this name in the job's time, none counts")] = of_log
        else:
            kept.append(one)
    logs = tuple(one for one in kept if _globbed(one.name, names.logs))
    results = tuple(one for one in kept if one not in logs)
    lost = tuple(told for told, of_log in notes.items() if not of_log)
    return Fitting(logs=logs, results=results, notes=tuple(notes), lost=lost)


def points_of(name: str) -> frozenset[int]:
    """The concurrencies that an artifact's name lists (`_conc1x2x4_`); none where it lists none."""
    found = _CONCURRENCY.search(name)
    return frozenset(int(text) for text in found.group(1).split("x")) if found else frozenset()


def note(name: str, why: str) -> str:
    """One line about an artifact: its name is whatever a job's author wanted. What names a file in it already begins with it."""
    return one_line(why, 300) if why.startswith(f"{name}/") else f"{one_line(name, 120)}: {one_line(why)}"


class Shelf:
    """The artifacts of one job, each fetched once. `notes` say what could not be fetched; Unreachable passes through,
    for a later look finds it."""

    def __init__(self, forge: Forge) -> None:
        self._forge = forge
        self._held: dict[int, bytes] = {}
        self.notes: list[str] = []

    def fetched(self, artifacts: Iterable[Artifact]) -> list[Artifact]:
        """Those that are here now."""
        return [one for one in artifacts if self._fetch(one)]

    def files(self, artifacts: Iterable[Artifact]) -> Iterator[tuple[str, BinaryIO]]:
        """Every file of these artifacts, as `<artifact>/<path in it>`. BadInput for an archive that does not hold."""
        for one in artifacts:
            archive = f"{one.name}.zip"
            opened = iter(Opened([(archive, io.BytesIO(self._held[one.id]))], everything=True))
            while (found := _next(opened, archive)) is not None:
                name, stream = found
                yield f"{one.name}/{name.removeprefix(archive).lstrip('/')}", io.BufferedReader(_Guarded(stream, archive))

    def left_out(self, name: str, error: BumpbotError) -> None:
        self.notes.append(note(name, str(error)))

    def _fetch(self, artifact: Artifact) -> bool:
        if artifact.id not in self._held:
            into = io.BytesIO()
            try:
                self._forge.download(artifact.id, into, LIMIT)
            except (BadInput, Missing, Refusal) as error:
                self.left_out(artifact.name, error)
                return False
            self._held[artifact.id] = into.getvalue()
        return True


class _Guarded(io.RawIOBase):
    """A member of an archive as a stream that is only read forwards and stumbles in our words."""

    def __init__(self, inner: BinaryIO, archive: str) -> None:
        self._inner, self._archive = inner, archive

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read(len(buffer))
        except _STUMBLES as error:
            raise _damaged(self._archive, error) from None
        buffer[: len(data)] = data
        return len(data)


def _next(opened: Iterator[tuple[str, BinaryIO]], archive: str) -> tuple[str, BinaryIO] | None:
    """The next file, or None behind the last."""
    try:
        return next(opened, None)
    except _STUMBLES as error:
        raise _damaged(archive, error) from None


def _damaged(archive: str, error: Exception) -> BadInput:
    return BadInput(f"not a whole archive: {error}", "fetch it again", file=archive)


def _owners(names: Names, artifact: Artifact, jobs: Sequence[Job]) -> list[Job]:
    """The jobs in whose time it was uploaded, those before whose end before those just after it; of a job's attempts the
    last that had begun."""
    alike = [job for job in jobs if _alike(names, artifact, job)]
    inside = [job for job in alike if in_time(artifact.created, job.started, job.completed, late=timedelta())]
    late = [job for job in alike if in_time(artifact.created, job.started, job.completed)]
    newest = {job.name: job for job in sorted(inside or late, key=lambda job: job.attempt)}
    return list(newest.values())


def _alike(names: Names, artifact: Artifact, job: Job) -> bool:
    """Whether kind and concurrency fit and, where the job or the name tells them, recipe and attempt."""
    points, attempt = points_of(artifact.name), _ATTEMPT.search(artifact.name)
    of_eval = _globbed(artifact.name, names.evals)
    return (
        job.role != "other" and of_eval == (job.role == "eval") and (not points or job.concurrency in points)
        and (not job.recipe or f"_{job.recipe}_conc" in artifact.name) and (attempt is None or int(attempt[1]) == job.attempt)
    )


def _expected(names: Names, artifact: Artifact) -> bool:
    return _globbed(artifact.name, (*names.logs, *names.results))


def _globbed(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
