"""`ledger publish`: what a run of benchmark.yml measured, checked against its plan; what holds goes into the ledger."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from random import SystemRandom

import msgspec
import typer

from bot import ledger as chains
from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.github import GitHubForge
from bot.baseline import swept
from bot.baseline.swept import Known, Moments, Upload
from bot.cli import collected, environment
from bot.cli.layouts import is_repository, layout_of, tree_of
from bot.cli.output import as_json, note
from bot.cli.place import Place, content, folder
from bot.cli.remote import books, opened
from bot.cli.wiring import knowledge, renderer
from bot.decide.report.collected import swept as report
from bot.errors import BadArguments, BumpbotError, Refusal, Unreachable
from bot.layout import Layout
from bot.ledger import Ledger, Published, wake_id
from bot.model.ledger import Measured
from bot.model.swept import Fault, Gathered, Planned, Told
from bot.model.sweptlines import State
from bot.recipe.read import outline
from bot.recipe.shelf import Shelf

HINT = "download the run's artifacts as they are, without unpacking them"


def publish(place: Place, artifacts: Path, plan: str, commit: str, *, date: str | None, dry: bool, format_: str) -> None:
    """Checks every job of the plan and publishes the recipes that hold; exit 1 and a line each for what does not."""
    assets, run = PackagedAssets(), _told(commit, date)
    uploads = uploaded(folder(artifacts, HINT))
    jobs = _plan(plan, uploads)
    layout = layout_of(place, assets)
    known = knowledge(assets)
    reading = Known(metrics=known.metrics, schemes=known.schemes, engines=known.reported.images, name=known.reported.name,
                    trusted=layout.artifacts.proof == "harness", before=_before(place, layout, jobs))
    found, faults = swept.shelved(jobs, uploads, run.attempt)
    moments, unasked = _moments(place, run)
    if moments is not None:
        found, late = swept.timely(jobs, found, moments)
        faults = (*faults, *late)
    gathered = [swept.gather(job, found, run, reading) for job in jobs]
    ready, more = _ready(gathered)
    faults = (*faults, *(fault for job in gathered for fault in job.faults), *more)
    done, failed = ((), unasked) if unasked else _written(layout, ready, run, dry)
    states: dict[str, State] = {one.recipe: one.state for one in done}
    if failed is not None:
        states |= {jobs[0].planned.point.recipe: "unwritten" for jobs in ready}
    collected.summarise(report(run, gathered, faults, states), renderer(assets, layout, known))
    if format_ == "json":
        as_json({"run": run.run, "attempt": run.attempt, "published": msgspec.to_builtins(done),
                 "jobs": [_plain(job) for job in gathered], "faults": [msgspec.to_builtins(fault) for fault in faults]})
    else:
        collected.draw(format_, gathered, known.metrics)
    for one in done:
        note(f"{one.recipe}: {one.path} {'is written' if one.state == 'written' else 'is there already'}")
    for fault in faults:
        note(f"refused: {fault.line}")
    if failed is not None:
        raise failed
    if faults:
        raise typer.Exit(1)


def uploaded(place: Path) -> tuple[Upload, ...]:
    """The archives in a folder: `NAME.zip`, or `NAME/` with archives in it, as actions/download-artifact leaves them when it does
    not unpack. A link is followed nowhere."""
    found = []
    for one in sorted(place.iterdir()):
        inside = sorted(one.iterdir()) if one.is_dir() and not one.is_symlink() else [one]
        found += [(one.name if one.is_dir() else one.name.removesuffix(".zip"), file) for file in inside]
    for name, file in found:
        if file.is_symlink() or not file.is_file() or not file.name.endswith(".zip"):
            raise BadArguments(f"{file}: not an archive of {name[:120]}", HINT)
    return tuple(Upload(name=name, size=file.stat().st_size, open=partial(file.open, "rb")) for name, file in found)


def _moments(place: Place, run: Told) -> tuple[Moments | None, BumpbotError | None]:
    """When the run's artifacts were uploaded and its jobs ran. Without a token, as when a person tries it at home, nobody is asked,
    and that is said; with one, what keeps the forge from telling keeps everything from being published."""
    token = None if place.offline else environment.word("GITHUB_TOKEN")
    if token is None:
        note(f"upload times were not held against the jobs': {'--offline' if place.offline else 'GITHUB_TOKEN is not set'}")
        return None, None
    forge = GitHubForge(environment.api(), environment.repository(), token, SystemClock(), login=environment.login())
    try:
        return Moments(artifacts=tuple(forge.artifacts(run.run)), jobs=tuple(forge.jobs(run.run))), None
    except BumpbotError as error:
        kind = Unreachable if isinstance(error, Unreachable) else Refusal
        return None, kind(f"GitHub does not tell when the artifacts were uploaded, and nothing is published: {error.reason}",
                          "give the job `permissions: actions: read`, and run it again")


def _told(commit: str, day: str | None) -> Told:
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise BadArguments(f"{commit[:60]!r} is no full commit id", "give its 40 hexadecimal digits")
    try:
        began = date.fromisoformat(day) if day else datetime.now(UTC).date()
    except ValueError:
        raise BadArguments(f"{(day or '')[:40]!r} is no day", "write it as 2026-01-31") from None
    number, attempt = environment.needed("GITHUB_RUN_ID"), environment.word("GITHUB_RUN_ATTEMPT") or "1"
    if not re.fullmatch(r"[1-9][0-9]{0,17}", number) or not re.fullmatch(r"[1-9][0-9]{0,5}", attempt):
        raise BadArguments("GITHUB_RUN_ID or GITHUB_RUN_ATTEMPT is no number", "a workflow sets them; by hand, export them first")
    return Told(run=int(number), attempt=int(attempt), head=commit, date=began.isoformat())


def _plan(plan: str, uploads: Sequence[Upload]) -> tuple[Planned, ...]:
    """The plan by its sum among the artifacts, or from a file."""
    if (found := re.fullmatch(r"sha256:([0-9a-f]{64})", plan)) is not None:
        return swept.planned(swept.named(uploads, found[1]), "the plan")
    data = content(Path(plan), "name the file that `matrix --jobs` printed, or its sum")
    return swept.planned(data, plan)


def _before(place: Place, layout: Layout, jobs: Sequence[Planned]) -> dict[str, str]:
    """Recipe -> the image that stands in the files at --repo: what else a server might have been started with."""
    if not is_repository(place.repo) and not (place.repo / "recipes").is_dir():
        return {}
    shelf, made = Shelf(tree_of(place)), dict[str, str]()
    for key in dict.fromkeys(job.point.recipe for job in jobs):
        try:
            made[key] = outline(shelf, layout, key).image
        except BumpbotError:  # a recipe that only the commit has
            continue
    return made


def _ready(gathered: Sequence[Gathered]) -> tuple[list[list[Gathered]], tuple[Fault, ...]]:
    """The recipes that may be published, each with its jobs."""
    recipes: dict[str, list[Gathered]] = {}
    for job in gathered:
        recipes.setdefault(job.planned.point.recipe, []).append(job)
    told = {key: swept.open_to(jobs) for key, jobs in recipes.items()}
    return [jobs for key, jobs in recipes.items() if told[key][0]], tuple(fault for _, faults in told.values() for fault in faults)


def _written(layout: Layout, ready: Sequence[Sequence[Gathered]], run: Told, dry: bool) -> tuple[tuple[Published, ...],
                                                                                                   BumpbotError | None]:
    """What the ledger took. What kept it from taking anything is told after all else: the results hold all the same."""
    if not ready or dry:
        return (), None
    try:
        with ExitStack() as stack:
            random = SystemRandom()
            remote = environment.word("BUMPBOT_GIT_URL") or environment.remote(environment.repository())
            git = books(layout, remote, stack) or opened(remote, stack, name=environment.login())
            ledger = Ledger(git, clock=SystemClock(), random=random)
            asked = chains.asked_by(ledger, run.head)
            made: list[Measured] = []
            for jobs in ready:
                of, pull = asked.get(jobs[0].planned.point.recipe, (None, None))
                made.append(swept.measured(jobs, run, of=of, pull=pull))
            return chains.publish(ledger, made, wake=wake_id(random)), None
    except BumpbotError as error:
        return (), error


def _plain(job: Gathered) -> dict[str, object]:
    point = job.planned.point
    return {"job": job.planned.name, "point": point.id, "attempt": job.attempt, "whole": job.planned.whole, "good": job.good,
            "digest": job.digest, "rows": msgspec.to_builtins(job.rows), "proof": msgspec.to_builtins(job.proof),
            "faults": [msgspec.to_builtins(fault) for fault in job.faults]}

