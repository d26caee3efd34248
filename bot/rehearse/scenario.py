"""A rehearsal's scenario: one folder, read whole and checked before anything starts.

`load` proves that everything the folder names is there (files, artifacts, people, workflows, pools, references), so
that a rehearsal never stops half way for a missing file. Every fault is one BadInput with file, line and key where
there is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bot import strict
from bot.errors import BadInput, Missing, Refusal
from bot.images import reference
from bot.rehearse import sharing
from bot.rehearse import upstream as upstream_words
from bot.rehearse.declaration import OWN, PAST, Declaration, Job, Run, Variant, Workflow
from bot.rehearse.happenings import Change, Dispatch, Neighbour, Open, Push, Repush
from bot.rehearse.measuring import INPUTS
from bot.rehearse.published import PublishedData
from bot.rehearse.reading import Lines, read
from bot.rehearse.registry import Catalogue, ImageData
from bot.rehearse.upstream import Upstream, upstreams

FILE = sharing.FILE
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+#@=,-]{0,199}")
_NEVER = re.compile(r"\.\.|//|/\.|\.lock(?:/|$)|[/.]$")
ABOUT = ("scenario.yaml of a rehearsal. Beside it lie repo/ (the guest repository's files), registry.yaml, baseline.json, "
         "upstream/ and artifacts/<run>/<attempt>/<artifact name>/; `$defs` describes upstream/*.yaml as `upstream`, registry.yaml "
         "as `registry` and baseline.json as `baseline`.")
HOSTED = "hosted"
DISPATCH = "workflow_dispatch"


class Scenario(Struct, frozen=True, kw_only=True):
    """A scenario that can be played: the declaration, one variant of it, and the data beside it."""

    folder: Path
    repo: Path
    declared: Declaration
    variant: str
    story: Variant
    registry: Catalogue
    published: PublishedData
    upstream: tuple[Upstream, ...] = ()

    def artifact(self, run: int, attempt: int, name: str) -> Path:
        """The folder whose files an artifact holds."""
        return self.folder / "artifacts" / str(run) / str(attempt) / name


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of scenario.yaml. Beside its own parts, `$defs` holds the other files: `upstream` is one file of
    upstream/, `registry` is registry.yaml, `baseline` is baseline.json."""
    (top, upstream, catalogue, published), parts = msgspec.json.schema_components(
        (Declaration, Upstream, Catalogue, PublishedData), ref_template="#/$defs/{name}")
    files = {"upstream": {"description": upstream_words.__doc__, **upstream},
             "registry": {"description": "registry.yaml: registry -> repository -> tag -> image.", **catalogue},
             "baseline": published}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "description": ABOUT, **top, "$defs": {**parts, **files}}


def load(folder: Path, variant: str | None = None) -> Scenario:
    """The scenario in a folder, in one of its variants. None is `own`, the bot with its own policy.

    BadInput for what does not hold, Missing when there is no scenario at all, Refusal for a variant it does not have.
    """
    if not folder.is_dir():
        raise Missing(f"{folder} is no folder", "name a shipped scenario or a folder with a scenario.yaml")
    lines = Lines(folder / FILE)
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
        published=read(PublishedData, parts["baseline.json"]),
        upstream=upstreams(parts["upstream"]),
    )
    _check_places(found, lines)
    _check_registry(found, str(parts["registry.yaml"]))
    _check_branch(declared.repository.branch, ("repository", "branch"), lines)
    _check_neighbours(found, lines)
    for index, load in enumerate(declared.fleet.loads or ()):
        if load.idle > load.nodes:
            lines.refuse(("fleet", "loads", index, "idle"), f"{load.idle} of {load.nodes} nodes cannot be idle", "count again")
    for name, told in declared.variants.told().items():
        _check_story(found, name, told, lines)
    _check_owners(found)
    return found


def _variant(declared: Declaration, wanted: str, lines: Lines) -> Variant:
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
    lines = Lines(file)
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


def _check_places(found: Scenario, lines: Lines) -> None:
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


def _check_story(found: Scenario, name: str, told: Variant, lines: Lines) -> None:
    place: tuple[str | int, ...] = ("variants", name)
    if told.until <= found.declared.clock.start:
        lines.refuse((*place, "until"), "not after clock.start", "end the story after it begins")
    people = _people(found)
    for index, event in enumerate(told.events):
        at = (*place, "events", index)
        if not isinstance(event, Repush) and event.by not in people:
            lines.refuse((*at, "by"), f"`{event.by}` is nobody of accounts.people", "add them or name another")
        if isinstance(event, Push) and event.branch is not None:
            _check_branch(event.branch, (*at, "branch"), lines)
        if isinstance(event, Push) and event.branch is not None and event.pull is not None:
            lines.refuse((*at, "pull"), "`branch` and `pull` both say where to push", "keep one")
        if isinstance(event, Open):
            _check_change(event, at, lines)
        if isinstance(event, (Dispatch, Repush)) and event.image is not None:
            _check_reference(found, event, at, lines)
    ids: set[int] = {told.baseline} if told.baseline else set()
    for index, run in enumerate(told.runs):
        at = (*place, "runs", index)
        if run.id in ids:
            lines.refuse((*at, "id"), f"run {run.id} stands twice", "give each run its own id")
        ids.add(run.id)
        _check_run(found, run, at, lines)


def _people(found: Scenario) -> set[str]:
    return {person.login for person in found.declared.accounts.people}


def _check_neighbours(found: Scenario, lines: Lines) -> None:
    """Branches and pull requests of before the story: they stand on repo/, so that their changes can be proved."""
    seen: dict[str, set[str]] = {"branch": {found.declared.repository.branch}, "number": set()}
    for index, work in enumerate(found.declared.neighbours):
        at: tuple[str | int, ...] = ("neighbours", index)
        if work.by not in _people(found):
            lines.refuse((*at, "by"), f"`{work.by}` is nobody of accounts.people", "add them or name another")
        for key, value in (("branch", work.branch), ("number", str(work.number or ""))):
            if value and value in seen[key]:
                lines.refuse((*at, key), f"`{value}` is taken", "give each its own")
            seen[key].add(value)
        _check_change(work, at, lines)
        for file, texts in work.replace.items():
            _check_texts(found, file, texts, (*at, "replace", file), lines)


def _check_branch(name: str, at: tuple[str | int, ...], lines: Lines) -> None:
    """As git has it (git-check-ref-format): what is none is refused here, and not by the forge in the middle of a story."""
    if not _BRANCH.fullmatch(name) or _NEVER.search(name):
        lines.refuse(at, f"`{name}` is no name of a branch", "use letters, digits, and . _ - / between them")


def _check_change(change: Change, at: tuple[str | int, ...], lines: Lines) -> None:
    if isinstance(change, Neighbour):
        _check_branch(change.branch, (*at, "branch"), lines)
    if change.empty and (not isinstance(change, Neighbour) or change.title is not None):
        lines.refuse(at, "it changes nothing, and no pull request can be opened for it", "say what it writes, appends or replaces")


def _check_texts(found: Scenario, file: str, texts: Mapping[str, str], at: tuple[str | int, ...], lines: Lines) -> None:
    place = found.repo / file
    if not place.is_file():
        lines.refuse(at, f"repo/ has no file {file}", "name one of its files")
    text = place.read_bytes()
    for old in texts:
        if (times := text.count(old.encode())) != 1:
            lines.refuse(at, f"{file} holds {old!r} {times} times, and once is meant", "give enough of the text to tell one place")


def _check_reference(found: Scenario, event: Dispatch | Repush, at: tuple[str | int, ...], lines: Lines) -> None:
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


def _check_run(found: Scenario, run: Run, at: tuple[str | int, ...], lines: Lines) -> None:
    workflows = {workflow.file: workflow for workflow in found.declared.workflows}
    if run.workflow not in workflows:
        lines.refuse((*at, "workflow"), f"`{run.workflow}` is none of the workflows", "name one of them or add it")
    if run.event not in workflows[run.workflow].triggers:
        lines.refuse((*at, "event"), f"`{run.workflow}` has no trigger `{run.event}`", "add the trigger or name another event")
    _check_played(run, workflows[run.workflow], at, lines)
    for number, attempt in enumerate(run.attempts, 1):
        for index, job in enumerate(attempt.jobs):
            _check_job(found, run, number, job, (*at, "attempts", number - 1, "jobs", index), lines)


def _check_played(run: Run, workflow: Workflow, at: tuple[str | int, ...], lines: Lines) -> None:
    """A run is told, or it is measured; one that is measured is dispatched with what says which points."""
    if run.measure and run.attempts:
        lines.refuse((*at, "measure"), "a run is told by `attempts`, or measured", "keep one")
    if not run.measure and not run.attempts:
        lines.refuse((*at, "attempts"), "the run has no attempt", "tell its jobs, or say `measure: true`")
    if run.measure and (run.event != DISPATCH or (lacking := [name for name in INPUTS if name not in
                                                              workflow.triggers[DISPATCH].inputs])):
        said = f"has no inputs {', '.join(lacking)}" if run.event == DISPATCH else "is not dispatched"
        lines.refuse((*at, "measure"), f"what it measures stands in a dispatch's inputs, and this run {said}",
                     f"measure a {DISPATCH} of a workflow with the inputs {', '.join(INPUTS)}")


def _check_job(found: Scenario, run: Run, attempt: int, job: Job, at: tuple[str | int, ...], lines: Lines) -> None:
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
