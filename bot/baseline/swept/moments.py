"""Whether artifacts were uploaded by the jobs that their names say, as the forge tells the times of both (SECURITY.md 5).

The folder that a hosted machine downloads tells names alone, and a machine that measures may upload under any of them, at any
time, in any attempt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from bot.baseline.swept.artifacts import PLAN, Shelved, Upload
from bot.model.forge import Artifact, Job, in_time
from bot.model.swept import Fault, Planned


class Moments(Struct, frozen=True, kw_only=True):
    """What the forge lists of the run: the artifacts, and the jobs of all its attempts."""

    artifacts: tuple[Artifact, ...]
    jobs: tuple[Job, ...]


def timely(planned: Sequence[Planned], found: Shelved, told: Moments) -> tuple[Shelved, tuple[Fault, ...]]:
    """The artifacts that their jobs uploaded, and a fault for each other one. Where one does not count, those of the job's earlier
    attempts do not either: the job ran again, and what it then measured is not known. The plan is known by its sum."""
    names = {stem: job.name for job in planned for stem in (job.results, job.logs)}
    kept: dict[str, dict[int, Upload]] = {}
    faults: list[Fault] = []
    for stem, attempts in found.items():
        last = 0
        for attempt, upload in attempts.items() if stem != PLAN else ():
            for why, said in _wrong(names[stem], attempt, upload.name, told):
                faults.append(Fault(job=names[stem], why=why, said=f"{upload.name}: {said}"))
                last = max(last, attempt)
        kept[stem] = {attempt: upload for attempt, upload in attempts.items() if attempt > last}
    return kept, tuple(faults)


def _wrong(job: str, attempt: int, name: str, told: Moments) -> Iterator[tuple[str, str]]:
    """Why the artifact is not the job's of this attempt; a word of the glossary and a line."""
    listed = [one for one in told.artifacts if one.name == name]
    if len(listed) != 1:
        yield "unlisted", f"GitHub lists {'none' if not listed else len(listed)} of this name in the run"
        return
    own = [one for one in told.jobs if one.attempt == attempt and (one.name == job or one.name.endswith(f" / {job}"))]
    if not any(one.started for one in own):
        yield "attempt", f"this job did not run in attempt {attempt}"
    elif not any(in_time(listed[0].created, one.started, one.completed) for one in own):
        spans = "; ".join(f"from {_moment(one.started)} to {_moment(one.completed)}" for one in own)
        yield "time", f"uploaded {_moment(listed[0].created)}, and its job ran {spans}"


def _moment(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}Z" if at else "now"
