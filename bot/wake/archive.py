"""The producing run's own files, while they exist: what they count is taken into the baseline when a bump begins, and their
bytes are kept beside the ledger once its pull request is open (artifacts live for about 90 days, a baseline for longer)."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from bot.diagnose.logs import Opened
from bot.errors import BadInput, BumpbotError, Missing
from bot.model.bump import Bump
from bot.model.forge import Artifact
from bot.model.result import Accounting, Baseline, Filed, Samples
from bot.results import collect
from bot.wake.context import Context

# Bytes of one file and of all files of a bump: a run that served other recipes too is not copied whole.
LARGEST, MOST = 128 << 20, 512 << 20
_RECIPE = re.compile(r"_recipe-([0-9a-f]{16})(?:_|$)")


def archived(context: Context, bump: Bump) -> Bump:
    """The bump with what its baseline's run still has: requests and answers where the source told none, and the names, sizes
    and hashes of its files. What cannot be had is a note; nothing is written anywhere."""
    baseline = bump.subject.plan.baseline
    if baseline is None or baseline.run is None:
        return bump
    files, counted, notes = list[Filed](), list[Any](), list[str]()
    try:
        for artifact, data in _fetched(context, bump, baseline, notes):
            files.append(Filed(name=kept_name(artifact), size=len(data), sha256=hashlib.sha256(data).hexdigest()))
            counted += _counted(artifact, data, bump, notes)
    except Missing:
        notes.append(f"artifacts-gone:{baseline.run}")
    except BumpbotError as error:
        context.narrate(f"{bump.id}: the files of run {baseline.run} cannot be asked for: {error}")
        notes.append(f"artifacts-unread:{baseline.run}")
    known = {(row.point.recipe, row.point.concurrency) for row in baseline.rows}
    accounting = baseline.accounting or _best(one for one in counted if isinstance(one, Accounting) and _at(one) in known)
    samples = baseline.samples or _best(one for one in counted if isinstance(one, Samples) and _at(one) in known)
    said = [note for note in baseline.notes if not (note == "requests-unpublished" and accounting)]
    made = replace(baseline, files=tuple(files), accounting=tuple(accounting), samples=tuple(samples),
                   notes=tuple(dict.fromkeys((*said, *notes))))
    return replace(bump, subject=replace(bump.subject, plan=replace(bump.subject.plan, baseline=made)))


def keep(context: Context, bump: Bump) -> None:
    """The bytes of the baseline's files into the archive, those that are not there yet. A file that is another by now, or
    gone, stays out; nothing of this stops a bump."""
    baseline = bump.subject.plan.baseline
    if context.archive is None or baseline is None or not baseline.files or baseline.run is None:
        return
    try:
        held = context.archive.held(bump.id)
        wanted = {one.name: one for one in baseline.files if held.get(one.name) != one}
        if not wanted:
            return
        for artifact, data in _fetched(context, bump, baseline, []):
            if (filed := wanted.get(kept_name(artifact))) is not None:
                context.archive.put(bump.id, filed, io.BytesIO(data))
    except BumpbotError as error:
        context.narrate(f"{bump.id}: not all files of the baseline's run are archived: {error}")


def _fetched(context: Context, bump: Bump, baseline: Baseline, notes: list[str]) -> Iterator[tuple[Artifact, bytes]]:
    """The family's artifacts of the producing run with their bytes, the newest of each name; Missing when the run is not of
    this repository."""
    room = MOST
    for artifact in _mine(context, bump, baseline, context.forge.artifacts(baseline.run or 0)):
        if artifact.expired:
            notes.append("artifacts-expired")
            continue
        into = io.BytesIO()
        try:
            if min(LARGEST, room) <= 0:
                raise BadInput("no room is left")
            context.forge.download(artifact.id, into, min(LARGEST, room))
        except BadInput:
            notes.append(f"artifact-too-large:{kept_name(artifact)}")
            continue
        room -= len(into.getvalue())
        yield artifact, into.getvalue()


def _mine(context: Context, bump: Bump, baseline: Baseline, listed: Sequence[Artifact]) -> list[Artifact]:
    """Artifacts that the layout expects: those whose name holds a fingerprint of ours, or, where names hold none, the name of
    a recipe of the family."""
    newest = {one.name: one for one in sorted(listed, key=lambda one: one.created) if expected(context, one)}
    prints = {row.point.fingerprint[:16] for row in baseline.rows if row.point.fingerprint}
    keys = [recipe.key for recipe in bump.subject.family]
    told = [one for one in newest.values() if (found := _RECIPE.search(one.name)) and found[1] in prints]
    return told or [one for one in newest.values() if any(f"_{key}_conc" in one.name for key in keys)]


def _counted(artifact: Artifact, data: bytes, bump: Bump, notes: list[str]) -> list[Any]:
    """Requests and answers that an artifact tells; one that does not hold is a note. Its values are not taken: they were
    published, and are the baseline as they stand there."""
    keys = [recipe.key for recipe in bump.subject.family]
    owner = next((key for key in keys if f"_{key}_conc" in artifact.name), keys[0])
    archive = f"{artifact.name}.zip"
    files = ((f"{artifact.name}/{name.removeprefix(archive).lstrip('/')}", stream)
             for name, stream in Opened([(archive, io.BytesIO(data))], everything=True))
    try:
        found = collect(files, recipe=owner)
    except (BumpbotError, ValueError, OverflowError, OSError):
        notes.append(f"artifact-unreadable:{kept_name(artifact)}")
        return []
    return [replace(one, recipe=owner) for one in (*found.accounting, *found.samples)]


def _best(found: Iterable[Any]) -> tuple[Any, ...]:
    """One count a point and task: the one that tells conversations, or questions, apart before the one that does not."""
    kept: dict[object, Any] = {}
    for one in found:
        key = (one.recipe, one.concurrency, getattr(one, "task", ""))
        if key not in kept or _rich(one) > _rich(kept[key]):
            kept[key] = one
    return tuple(kept.values())


def _rich(one: Any) -> bool:
    return getattr(one, "conversations", None) is not None or bool(getattr(one, "marks", ""))


def expected(context: Context, artifact: Artifact) -> bool:
    """Whether the layout expects an artifact of this name."""
    names = context.layout.artifacts
    return any(fnmatchcase(artifact.name, glob) for glob in (*names.results, *names.logs))


def _at(one: Any) -> tuple[str, int]:
    return one.recipe, one.concurrency


def kept_name(artifact: Artifact) -> str:
    """A name that any archive takes as it is."""
    plain = re.sub(r"[^A-Za-z0-9._-]+|\.{2,}", "-", artifact.name).lstrip("._-")[:180]
    return f"{plain or artifact.id}.zip"
