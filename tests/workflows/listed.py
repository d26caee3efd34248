"""A run of act's own as the loopback GitHub lists it, which did not start it: its jobs, and what the stand-ins have uploaded so far."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.rehearse.github.declare import Cause, JobScript
from bot.rehearse.github.hub import LoopbackGitHub
from bot.rehearse.github.state import Artifact, Job, Run

RUN = 1
"""The id that act gives to every run."""


class Uploaded(dict[int, Artifact]):
    """The hub's artifacts, and one for each folder below `folder`, uploaded when that was last written."""

    def __init__(self, held: dict[int, Artifact], run: Run, folder: Path) -> None:
        super().__init__(held)
        self._run, self._folder = run, folder

    def values(self) -> Any:
        places = sorted(self._folder.iterdir()) if self._folder.is_dir() else []
        return [*super().values(), *(self._of(number, place) for number, place in enumerate(places, 1))]

    def _of(self, number: int, place: Path) -> Artifact:
        created = datetime.fromtimestamp(place.stat().st_mtime, UTC)
        return Artifact(id=number, run=self._run, attempt=1, name=place.name, path=place, size=1, digest="0" * 64, created=created)


def listed(hub: LoopbackGitHub, workflow: str, jobs: Sequence[str], artifacts: Path) -> None:
    """The hub tells of the run from now on. A called workflow's jobs have the caller's name before their own."""
    file, now = next(one for one in hub.workflows if one.file == workflow), datetime.now(UTC).replace(microsecond=0)
    run = Run(id=RUN, number=1, workflow=file, cause=Cause(event="workflow_dispatch", action=None, actor="", ref="refs/heads/main", title=workflow), head=hub.git.resolve("main") or "", branch="main",
              title=workflow, actor=next(iter(hub.store.accounts.values())), script=None, group=None, created=now, begun=now, updated=now,
              status="in_progress")
    run.jobs = [Job(id=number, name=f"{file.file.removesuffix('.yml')} / {name}", attempt=1, script=JobScript(name=name), queued=now, ready=now,
                    started=now, runner="act") for number, name in enumerate(jobs, 1)]
    hub.store.runs[RUN], hub.store.artifacts = run, Uploaded(hub.store.artifacts, run, artifacts)
