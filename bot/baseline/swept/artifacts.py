"""Which artifacts of a run are those of its plan: the newest attempt of each, once, and nothing that nobody planned."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO

from msgspec import Struct

from bot.model.swept import Fault, Planned

PLAN = "plan"
_NAMED = re.compile(r"(?P<stem>[A-Za-z0-9_.-]{1,255})_attempt(?P<attempt>[1-9][0-9]{0,5})")
_ODD = re.compile(r"[^A-Za-z0-9_.-]")


class Upload(Struct, frozen=True, kw_only=True):
    """One artifact: its name, its size in bytes, and its archive, opened as often as it is asked for."""

    name: str
    size: int
    open: Callable[[], AbstractContextManager[BinaryIO]]


Shelved = Mapping[str, Mapping[int, Upload]]
"""Name without the attempt -> attempt -> the artifact."""


def shelved(jobs: Sequence[Planned], uploads: Sequence[Upload], attempt: int) -> tuple[Shelved, tuple[Fault, ...]]:
    """The artifacts that the plan expects, and a fault for each other one. Of a name that stands twice none counts: one of the two
    is not what the job uploaded, and nobody knows which."""
    owner = {stem: job.name for job in jobs for stem in (job.results, job.logs)} | {PLAN: ""}
    often = Counter(upload.name for upload in uploads)
    found: dict[str, dict[int, Upload]] = {}
    faults: dict[str, Fault] = {}
    for upload in uploads:
        named, shown = _NAMED.fullmatch(upload.name), _ODD.sub("?", upload.name[:160])
        if named is None or named["stem"] not in owner:
            faults[upload.name] = Fault(why="not-planned", said=f"an artifact that no job of the plan uploads: {shown}")
        elif int(named["attempt"]) > attempt:
            faults[upload.name] = Fault(job=owner[named["stem"]], why="attempt", said=f"{shown}: this is attempt {attempt}")
        elif often[upload.name] > 1:
            faults[upload.name] = Fault(job=owner[named["stem"]], why="twice",
                                        said=f"{often[upload.name]} artifacts are called {shown}, none counts")
        else:
            found.setdefault(named["stem"], {})[int(named["attempt"])] = upload
    return found, tuple(faults.values())
