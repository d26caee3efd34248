"""The plan that results are held against: the one that the hosted machine made, known by its SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from bot.baseline.swept.archive import PACKED, Archive
from bot.baseline.swept.artifacts import PLAN, Upload
from bot.errors import BadInput, Missing
from bot.model.swept import Planned
from bot.strict import load_json

FILE, LARGEST = "jobs.json", 8_000_000


def named(uploads: Sequence[Upload], sha256: str) -> bytes:
    """The plan's bytes among the artifacts, whatever its artifact is called: a run that was begun again may hold several, and a
    machine that measures could have uploaded one, so that its name says nothing. Missing when none has this sum."""
    for upload in uploads:
        if not upload.name.startswith(f"{PLAN}_") or upload.size > PACKED:
            continue
        try:
            with upload.open() as stream:
                data = Archive(upload.name, stream).read(FILE, LARGEST)
        except BadInput:
            continue
        if data is not None and hashlib.sha256(data).hexdigest() == sha256:
            return data
    raise Missing("the plan is not among the artifacts", "run all jobs again: what was measured cannot be held against anything")


def planned(data: bytes, file: str) -> tuple[Planned, ...]:
    """The jobs of a plan; BadInput where it is none."""
    jobs = load_json(tuple[Planned, ...], data, file=file)
    if not jobs:
        raise BadInput("a plan of no job", "make it with: bumpbot matrix RECIPE --jobs", file=file)
    return jobs
