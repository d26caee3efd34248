"""A rehearsal's scenario: one folder, read whole and checked before anything starts.

`load` proves that everything the folder names is there (files, artifacts, people, workflows, pools, references), so
that a rehearsal never stops half way for a missing file. Every fault is one BadInput with file, line and key where
there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec
from msgspec import Struct

from bot import strict
from bot.errors import BadInput, Missing, Refusal
from bot.images import reference
from bot.rehearse import sharing
from bot.rehearse.declaration import OWN, PAST, Declaration, Job, Run, Variant
from bot.rehearse.happenings import Dispatch, Push, Repush
from bot.rehearse.published import PublishedData
from bot.rehearse.registry import Catalogue, ImageData
from bot.rehearse.upstream import Upstream

T = TypeVar("T")
FILE = sharing.FILE
HOSTED = "hosted"


class Scenario(Struct, frozen=True, kw_only=True):
    """A scenario that can be played: the declaration, one variant of it, and the data beside it."""

    folder: Path
    repo: Path
    declared: Declaration
    variant: str
    story: Variant
    registry: Catalogue
    published: PublishedData
    upstream: tuple[...] = ()

    def artifact(self, run: int, attempt: int, name: str) -> Path:
        """The folder whose files an artifact holds."""
        return self.folder / "artifacts" / str(run) / str(attempt) / name


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of scenario.yaml."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Declaration)}


def load(folder: Path, variant: str | None = None) -> Scenario:
    """The scenario in a folder, in one of its variants. None is `own`, the bot with its own policy.

    BadInput for what does not hold, Missing when there is no scenario at all, Refusal for a variant it does not have.
    """
    if not folder.is_dir():
        raise Missing(f"{folder} is no folder", "name a shipped scenario or a folder with a scenario.yaml")
    lines = _Lines(folder / FILE)
    declared = strict.load(Declaration, lines.text, file=str(folder / FILE))
    story = _variant(declared, variant or OWN, lines)
    try:
        parts = sharing.parts(folder, declared.shares)
    except BadInput as fault:
        lines.refuse(("shares",), fault.reason, fault.hint)
    found = Scenario(
        folder=folder,
        repo=parts["repo"],
        declared=declared,
        variant=variant or OWN,
        story=story,
        registry=_catalogue(parts["registry.yaml"]),
        published=_read(PublishedData, parts["baseline.json"]),
        upstream=tuple(_upstream(parts["upstream"])),
    )
    _check_places(found, lines)
    _check_registry(found, str(parts["registry.yaml"]))
    for name, told in declared.variants.told().items():
        _check_story(found, name, told, lines)
    _check_owners(found)
    return found


class _Lines:
    """Where each key of scenario.yaml stands, for faults that only show when the folder is read as a whole."""

    def __init__(self, file: Path) -> None:
        self.file, self.text = file, _text(file)
        _, self._at = strict.parse(self.text, file=str(file))

    def refuse(self, path: tuple[str | int, ...], reason: str, hint: str) -> NoReturn:
        line = next((self._at[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self._at), None)
        raise BadInput(reason, hint, file=str(self.file), line=line, key=".".join(map(str, path)))


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise BadInput(
            "this file is missing",
            "a scenario has scenario.yaml, repo/, registry.yaml and baseline.json",
            file=str(file),
        ) from None
    except (UnicodeDecodeError, OSError) as fault:
        raise BadInput(f"cannot be read: {fault}", "make it a UTF-8 text file", file=str(file)) from None


def _read(kind: type[T], file: Path) -> T:
    text = _text(file)
    return strict.load_json(kind, text, file=str(file)) if file.suffix == ".json" else strict.load(kind, text, file=str(file))


def _upstream(folder: Path) -> Iterator[Upstream]:
    for file in sorted(folder.glob("*.yaml")):
        yield _read(Upstream, file)


def _variant(declared: Declaration, wanted: str, lines: _Lines) -> Variant:
    told = declared.variants.told()
    if not told:
        lines.refuse(("variants",), "no variant", f"tell `{OWN}` or `{PAST}`")
    if wanted in told:
        return told[wanted]
    if wanted == OWN:
        raise Refusal(f"scenario {declared.name} has only the variant {PAST}", f"add --{PAST}")
    raise Refusal(f"scenario {declared.name} has no variant {wanted}", f"it has: {', '.join(told)}")


def _catalogue(file: Path) -> Catalogue:
    """registry.yaml, image by image: a fault is told with the line on which its tag stands."""
    lines = _Lines(file)
    raw = strict.load(dict[str, dict[str, dict[str, Any]]], lines.text, file=str(file))
    made: Catalogue = {}
    for registry, repositories in raw.items():
        for repository, tags in repositories.items():
            for tag, value in tags.items():
                try:
                    image = msgspec.convert(value, ImageData, strict=True)
                except msgspec.ValidationError as fault:
                    lines.refuse((registry, repository, tag), str(fault), "describe the image as the shipped scenario does")
                made.setdefault(registry, {}).setdefault(repository, {})[tag] = image
    return made


def _check_places(found: Scenario, lines: _Lines) -> None:
    if not found.repo.is_dir() or not any(file.is_file() for file in found.repo.rglob("*")):
        raise BadInput("this folder is missing or empty", "put the guest repository's files there", file=str(found.repo))
    for place, names in (
        ("workflows", [one.file for one in found.declared.workflows]),
        ("pools", [one.label for one in found.declared.pools]),
    ):
        for index, name in enumerate(names):
            if name in names[:index]:
                lines.refuse((place, index), f"`{name}` stands twice", "keep one")


def _check_registry(found: Scenario, file: str) -> None:
    for registry, repositories in found.registry.items():
        for repository, tags in repositories.items():
            for tag, image in tags.items():
                _check_image(found, file, f"{registry}/{repository}:{tag}", f"{registry}.{repository}.{tag}", image)


def _check_image(found: Scenario, file: str, text: str, key: str, image: ImageData) -> None:
    try:
        reference.parse(text)
    except BadInput as fault:
        raise BadInput(fault.reason, fault.hint, file=file, key=key) from None
    if image.digest and not found.declared.registry.declared_digests:
        raise BadInput(
            "a declared digest cannot be that of made-up bytes",
            "remove it, or set registry.declared_digests: true in scenario.yaml",
            file=file,
            key=f"{key}.digest",
        )
    if image.kind == "manifest" and len(image.platforms) != 1:
        raise BadInput("a manifest is for one platform", "write kind: index", file=file, key=f"{key}.platforms")


def _check_story(found: Scenario, name: str, told: Variant, lines: _Lines) -> None:
    place: tuple[str | int, ...] = ("variants", name)
    if told.until <= found.declared.clock.start:
        lines.refuse((*place, "until"), "not after clock.start", "end the story after it begins")
    people = {person.login for person in found.declared.accounts.people}
    for index, event in enumerate(told.events):
        at = (*place, "events", index)
        if not isinstance(event, Repush) and event.by not in people:
            lines.refuse((*at, "by"), f"`{event.by}` is nobody of accounts.people", "add them or name another")
        if isinstance(event, Push) and event.branch is not None and event.pull is not None:
            lines.refuse((*at, "pull"), "`branch` and `pull` both say where to push", "keep one")
        if isinstance(event, (Dispatch, Repush)) and event.image is not None:
            _check_reference(found, event, at, lines)
    ids: set[int] = set()
    for index, run in enumerate(told.runs):
        at = (*place, "runs", index)
        if run.id in ids:
            lines.refuse((*at, "id"), f"run {run.id} stands twice", "give each run its own id")
        ids.add(run.id)
        _check_run(found, run, at, lines)


def _check_reference(found: Scenario, event: Dispatch | Repush, at: tuple[str | int, ...], lines: _Lines) -> None:
    try:
        parsed = reference.parse(event.image or "")
    except BadInput as fault:
        lines.refuse((*at, "image"), fault.reason, fault.hint)
    if isinstance(event, Dispatch):
        return
    tags = found.registry.get(parsed.registry, {}).get(parsed.repository, {})
    for key, tag in (("image", parsed.tag), ("to", event.to)):
        if tag not in tags:
            lines.refuse((*at, key), f"registry.yaml has no tag `{tag}` in {parsed.name}", "describe that image there")


def _check_run(found: Scenario, run: Run, at: tuple[str | int, ...], lines: _Lines) -> None:
    workflows = {workflow.file: workflow for workflow in found.declared.workflows}
    if run.workflow not in workflows:
        lines.refuse((*at, "workflow"), f"`{run.workflow}` is none of the workflows", "name one of them or add it")
    if run.event not in workflows[run.workflow].triggers:
        lines.refuse((*at, "event"), f"`{run.workflow}` has no trigger `{run.event}`", "add the trigger or name another event")
    for number, attempt in enumerate(run.attempts, 1):
        for index, job in enumerate(attempt.jobs):
            _check_job(found, run, number, job, (*at, "attempts", number - 1, "jobs", index), lines)


def _check_job(found: Scenario, run: Run, attempt: int, job: Job, at: tuple[str | int, ...], lines: _Lines) -> None:
    if job.pool not in {HOSTED, *(pool.label for pool in found.declared.pools)}:
        lines.refuse((*at, "pool"), f"`{job.pool}` is none of the pools", f"name one of them, or `{HOSTED}`")
    for index, name in enumerate(job.artifacts):
        if not found.artifact(run.id, attempt, name).is_dir():
            lines.refuse(
                (*at, "artifacts", index),
                f"no folder artifacts/{run.id}/{attempt}/{name}",
                "put the artifact's files there or drop the name",
            )


def _check_owners(found: Scenario) -> None:
    """An artifact that no job uploads is a misspelt name: the story would go on without it and nobody would see why."""
    named = {
        found.artifact(run.id, number, name)
        for told in found.declared.variants.told().values()
        for run in told.runs
        for number, attempt in enumerate(run.attempts, 1)
        for job in attempt.jobs
        for name in job.artifacts
    }
    for folder in sorted((found.folder / "artifacts").glob("*/*/*")):
        if folder not in named:
            raise BadInput("no job uploads this artifact", "name it under a job's artifacts or remove it", file=str(folder))
