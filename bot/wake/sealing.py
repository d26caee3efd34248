"""The evidence of a bump that is over, in one archive beside the ledger: what was measured, what it was compared with, what came
of it, and every file's hash.

It is written under the claim whose hash it holds, before the record that names it. The same facts and files give the same bytes, so
a wake that finishes another's claim finds what is there already. Nothing of it stops a bump: what cannot be had is said.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import msgspec

from bot import ledger as chains
from bot.errors import BadInput, BumpbotError, Conflict, Missing, Refusal, Unreachable
from bot.model.bump import Bump, Evidence, Lacking
from bot.model.forge import Artifact
from bot.model.ledger import Receipt
from bot.model.lines import FolderLine
from bot.model.record import Contents
from bot.model.run import Run
from bot.wake.archive import LARGEST, expected, kept_name
from bot.wake.context import Context
from bot.wake.zipped import Full, Zipped

NAME = "evidence.zip"
MOST, ENTRIES = 1 << 30, 50_000
"""Bytes, unpacked, and files that one archive may hold; what finds no room is said to be missing."""
TOLD = 100
"""Of what is missing so much is told by name."""
BASELINE, RUNS = "baseline", "runs"
# What planning could not have of the baseline's run, in the words of its notes -> the glossary's.
_NOTES = {"artifacts-gone": "run-gone", "artifacts-unread": "run-unread", "artifacts-expired": "run-expired",
          "artifact-too-large": "too-large", "requests-unpublished": "requests-unpublished"}


def sealed(context: Context, bump: Bump, receipt: Receipt) -> Evidence:
    """What was kept of the bump, or why nothing was. `receipt` is the claim's. Unreachable where the archive or the forge does
    not answer: a later wake tries again."""
    archive = context.archive
    if archive is None:
        return Evidence(why="no-archive")
    try:
        for name in (NAME, f"evidence-{receipt.n}.zip"):
            made = _Made(context, bump, receipt)
            try:
                filed = archive.make(bump.id, name, made.fill)
            except Conflict:  # of an end before this one, or of this one while more of it was to be had
                continue
            return Evidence(filed=filed, files=made.files, lacking=tuple(made.lacking[:TOLD]))
        return Evidence(why="taken")
    except Unreachable:
        raise
    except BumpbotError as error:
        context.narrate(f"{bump.id}: no evidence is kept: {error}")
        return Evidence(why="refused")


class _Made:
    """One try at the archive's content."""

    def __init__(self, context: Context, bump: Bump, receipt: Receipt) -> None:
        self._context, self._bump, self._receipt = context, bump, receipt
        self.lacking: list[Lacking] = []
        self.files = 0

    def fill(self, into: BinaryIO) -> None:
        zipped = Zipped(into, most=MOST, entries=ENTRIES)
        try:
            self._filled(zipped)
        except BaseException:
            zipped.abandon()
            raise
        self.files = zipped.files

    def _filled(self, zipped: Zipped) -> None:
        bump = self._bump
        zipped.add("chain.json", chains.canonical({"bump": bump.id, "n": self._receipt.n, "sha256": self._receipt.sha256}))
        zipped.add("facts.json", chains.canonical(bump))
        zipped.add("verdict.json", chains.canonical(_verdict(bump)))
        folders = [*self._baseline(zipped), *self._runs(zipped)]
        lines = [FolderLine(folder=name, what=what, run=run, files=files, size=size) for name, what, run in folders
                 for files, size in [zipped.under(name)]]
        zipped.add("README.md", self._readme(lines))
        zipped.close()

    def _baseline(self, zipped: Zipped) -> Iterator[tuple[str, str, int | None]]:
        """What the candidate was compared with, as it was frozen, and the files of its run that were archived then."""
        baseline, archive = self._bump.subject.plan.baseline, self._context.archive
        if baseline is None:
            self._lacks(BASELINE, "no-baseline")
            return
        zipped.add(f"{BASELINE}/baseline.json", chains.canonical(baseline))
        zipped.add(f"{BASELINE}/rows.jsonl", _lines(baseline.rows))
        for note in baseline.notes:
            head, _, value = note.partition(":")
            if head in _NOTES:
                self._lacks(value if head == "artifact-too-large" else BASELINE, _NOTES[head])
        if baseline.run is None and not baseline.files:
            self._lacks(BASELINE, "figures-only")
        for filed in baseline.files:
            into = io.BytesIO()
            try:
                assert archive is not None
                archive.read(self._bump.id, filed.name, into, LARGEST)
            except (Missing, BadInput):
                self._lacks(filed.name, "not-archived")
                continue
            self._unpack(zipped, f"{BASELINE}/{filed.name.removesuffix('.zip')}", filed.name, into)
        yield BASELINE, "baseline", baseline.run

    def _runs(self, zipped: Zipped) -> Iterator[tuple[str, str, int | None]]:
        """Every run of the bump: its jobs, what was read out of it, and what it uploaded."""
        for number, run in enumerate(sorted(self._bump.world.runs, key=lambda run: (run.created, run.id)), 1):
            folder = f"{RUNS}/{number:02d}-{run.stage}-{run.id}"
            zipped.add(f"{folder}/run.json", chains.canonical(run))
            if (judged := self._bump.judged(run.id)) is not None:
                zipped.add(f"{folder}/judged.json", chains.canonical(judged))
                zipped.add(f"{folder}/rows.jsonl", _lines(judged.rows))
            for artifact in self._artifacts(run):
                self._artifact(zipped, folder, artifact)
            yield folder, run.stage, run.id

    def _artifacts(self, run: Run) -> list[Artifact]:
        try:
            listed = self._context.forge.artifacts(run.id)
        except (Missing, Refusal, BadInput):
            self._lacks(f"{run.stage}-{run.id}", "gone")
            return []
        mine = [one for one in listed if expected(self._context, one)]
        if not mine:
            self._lacks(f"{run.stage}-{run.id}", "nothing-uploaded")
        return sorted(mine, key=lambda one: (one.name, one.created, one.id))

    def _artifact(self, zipped: Zipped, folder: str, artifact: Artifact) -> None:
        name, into = kept_name(artifact), io.BytesIO()
        if artifact.expired:
            self._lacks(name, "expired")
            return
        try:
            self._context.forge.download(artifact.id, into, LARGEST)
        except BadInput:
            self._lacks(name, "too-large")
            return
        except (Missing, Refusal):
            self._lacks(name, "gone")
            return
        self._unpack(zipped, f"{folder}/{name.removesuffix('.zip')}", name, into)

    def _unpack(self, zipped: Zipped, folder: str, name: str, data: io.BytesIO) -> None:
        """An artifact's files; one that is no whole archive is kept as it came."""
        data.seek(0)
        try:
            try:
                if left := zipped.unpack(folder, data):
                    self._lacks(name, f"links:{left}")
            except BadInput:
                zipped.add(f"{folder}.zip", data.getvalue(), limited=True)
        except Full:
            self._lacks(name, "no-room")

    def _readme(self, folders: Sequence[FolderLine]) -> bytes:
        bump = self._bump
        assert bump.memory.ended is not None
        candidate = bump.subject.candidate
        record = Contents(bump=bump.id, outcome=bump.memory.ended.outcome, old=candidate.old.reference.text, new=candidate.text,
                          n=self._receipt.n, sha256=self._receipt.sha256, folders=tuple(folders),
                          lacking=tuple(self.lacking[:TOLD]))
        return "\n".join(self._context.render.parts(record)).encode()

    def _lacks(self, what: str, why: str) -> None:
        found = Lacking(what=what, why=why)
        if found not in self.lacking:
            self.lacking.append(found)


def _verdict(bump: Bump) -> dict[str, Any]:
    """How it ended and why: the outcome, the verdict of each run that has one, what files said before and at the end."""
    plan = bump.subject.plan
    return {
        "bump": bump.id, "recipes": [recipe.key for recipe in bump.subject.family], "old": bump.subject.candidate.old,
        "new": bump.subject.candidate.new, "ended": bump.memory.ended, "gpu_hours": bump.gpu_hours,
        "repairs": bump.memory.repairs_used, "checks": plan.checks,
        "runs": [{"run": run.id, "stage": run.stage, "conclusion": run.conclusion, "verdict": judged.verdict,
                  "scores": judged.scores, "proofs": judged.proofs, "gates": judged.gates}
                 for run in bump.world.runs if (judged := bump.judged(run.id)) is not None],
    }


def _lines(rows: Sequence[Any]) -> bytes:
    """Rows as `bumpbot compare` takes them, one a line."""
    return b"".join(msgspec.json.encode(row, order="deterministic") + b"\n" for row in rows)
