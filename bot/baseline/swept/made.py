"""What a baseline may be made of, and the file of it that the ledger keeps.

Every point and every eval of a recipe at one commit, with all requests and questions that the recipe asks for, in one run; each
measured whole, every gate holding, the planned image proven to have answered, from one digest throughout. A smoke, a repeat, a
sampled eval or a sweep that lacks a job is looked at and shown, and is nobody's baseline.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from bot.images.reference import parse
from bot.model.ledger import Measured
from bot.model.swept import Fault, Gathered, Told


def open_to(jobs: Sequence[Gathered]) -> tuple[bool, tuple[Fault, ...]]:
    """Whether these jobs, all of one recipe, may be published, and what speaks against it beside the jobs' own faults. A part of a
    sweep is no fault: it was asked for."""
    if not all(job.planned.whole for job in jobs):
        return False, ()
    digests = {job.digest for job in jobs if job.good}
    if len(digests) > 1:
        recipe = jobs[0].planned.point.recipe
        told = ", ".join(sorted(digest or "none told" for digest in digests))
        return False, (Fault(why="digests", said=f"{recipe}: its jobs ran different images under one name: {told}"),)
    return all(job.good for job in jobs), ()


def measured(jobs: Sequence[Gathered], run: Told, *, of: str | None = None, pull: int | None = None) -> Measured:
    """The results of one recipe, all of whose jobs hold; `of` and `pull` are those of the bump that asked, where one did. An image
    that the recipe pins by its digest is what ran, whoever launched it."""
    order = jobs[0].planned.point
    return Measured(
        recipe=order.recipe, date=run.date, image=order.image, digest=jobs[0].digest or parse(order.image).digest, run=run.run,
        attempt=run.attempt, head=run.head, pull=pull, of=of,
        rows=tuple(replace(row, head=run.head, run=run.run) for job in jobs for row in job.rows),
        accounting=tuple(one for job in jobs for one in job.accounting),
        samples=tuple(one for job in jobs for one in job.samples),
        thresholds={job.planned.point.eval.task: job.planned.point.eval.threshold for job in jobs if job.planned.point.eval})
