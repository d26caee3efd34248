"""Commands that act on a repository or its ledger: wake, bump, plan, replay, ledger show."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from typing import Any

import msgspec
import typer

from bot import __version__
from bot import ledger as chains
from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.commits import GitHubCommits
from bot.adapters.git import CommandGit
from bot.adapters.github import GitHubForge
from bot.adapters.process import LocalProcess
from bot.adapters.published import ApiSource, PublishedBaselines
from bot.adapters.registry import OciRegistry
from bot.adapters.tree import CommitTree
from bot.cli.app import Place
from bot.cli.files import layout_of, tree_of
from bot.cli.payload import event_of
from bot.cli.wiring import LAYOUT_FILE, knowledge, layout_from, limits, renderer
from bot.decide import decide
from bot.decide.report import proposal
from bot.errors import BadArguments, BadInput, Missing, Refusal
from bot.ledger import BRANCH, Ledger, wake_id
from bot.model.bump import Bump
from bot.plan import Sources, bump_id
from bot.plan import plan as gather
from bot.strict import json_value
from bot.wake.context import Context, Mode
from bot.wake.loop import Report
from bot.wake.loop import wake as run_wake

MODES: tuple[Mode, ...] = ("off", "observe", "propose", "act")
PAYLOAD_LIMIT = 25_000_000


def wake(place: Place, name: str | None, file: Path | None) -> None:
    """One wake of the event that the workflow names; the reports on stderr, exit 1 when a bump is frozen."""
    name = name or os.environ.get("GITHUB_EVENT_NAME") or ""
    if not name:
        raise BadArguments("no event is named", "set GITHUB_EVENT_NAME, or: bumpbot wake --event schedule")
    event = event_of(name, _payload(file), datetime.now(UTC))
    with ExitStack() as stack:
        _told(run_wake(_context(place, stack), event))


def bump(place: Place, recipe: str, image: str | None) -> None:
    """One wake that first opens the bump that a person asks for."""
    inputs = {"recipe": recipe, "image": image or ""}
    with ExitStack() as stack:
        _told(run_wake(_context(place, stack), event_of("workflow_dispatch", {"inputs": inputs}, datetime.now(UTC))))


def plan(place: Place, recipe: str, image: str | None, format_: str) -> None:
    """What a bump would change and say; touches nothing and needs no account."""
    if image is None:
        raise BadArguments("no image is named", f"bumpbot plan {recipe} --image REF")
    if place.offline:
        raise Refusal("a plan asks the registry what the image is", "leave --offline out, or use: bumpbot edit")
    assets, clock = PackagedAssets(), SystemClock()
    known, layout = knowledge(assets), layout_of(place, assets)
    sources = Sources(
        tree=tree_of(place), registry=OciRegistry(clock, credentials=_docker_login()), schemes=known.schemes,
        commits=GitHubCommits(clock, token=os.environ.get("GITHUB_TOKEN")), published=_published(clock, layout, known),
    )
    subject = gather(sources, layout, recipe, image, limits(layout))
    facts = Bump(id=bump_id(recipe, subject.candidate.new), now=clock.now(), subject=subject)
    text = renderer(assets, layout, known).parts(proposal(facts, ended=None))[0]
    found = {
        "recipe": recipe, "old": subject.candidate.old.reference.text, "new": subject.candidate.text,
        "sites": [{"file": site.file, "line": site.line, "path": site.path} for site in subject.plan.sites],
        "diff": subject.plan.diff, "matrix": msgspec.to_builtins(subject.plan.scope), "findings": [], "proposal": text,
    }
    typer.echo(json.dumps(found, ensure_ascii=False, indent=2) if format_ == "json" else f"{text}\n```diff\n{subject.plan.diff}```")


def replay(place: Place, bump_name: str) -> None:
    """Decides again from stored facts; the first difference and exit 1, or exit 0."""
    with ExitStack() as stack:
        ledger, _ = _ledger(place, stack)
        entries = _entries(ledger, bump_name)
        difference = chains.replay(entries, decide)
    if difference is None:
        typer.echo(f"{bump_name}: {sum(stored.entry.kind == 'claim' for stored in entries)} decisions, all the same")
        return
    typer.echo(f"{bump_name}: entry {difference.n} (bumpbot {difference.version}) decides otherwise at action {difference.index}\n"
               f"  stored:  {difference.stored}\n  decided: {difference.decided}")
    raise typer.Exit(1)


def show(place: Place, bump_name: str | None, format_: str) -> None:
    """The bumps of a ledger, or one bump's entries line by line."""
    with ExitStack() as stack:
        ledger, _ = _ledger(place, stack)
        snapshot = ledger.tip()
        if bump_name is None:
            _list(ledger, snapshot, format_)
            return
        entries = _entries(ledger, bump_name)
    lines = chains.show(entries)
    if format_ == "json":
        typer.echo(json.dumps(msgspec.to_builtins(lines), ensure_ascii=False, indent=2))
    else:
        typer.echo(chains.text(lines), nl=False)


def _list(ledger: Ledger, snapshot: Any, format_: str) -> None:
    rows = [{"bump": name, "state": "open"} for name in ledger.open_bumps(snapshot)]
    rows += [{"bump": name, "state": f"ended {year}"} for year, name in ledger.ended_bumps(snapshot)]
    if format_ == "json":
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(f"{row['state']:<11} {row['bump']}")
    if not rows:
        typer.echo("no bump yet", err=True)


def _entries(ledger: Ledger, bump_name: str) -> Any:
    entries = ledger.entries(ledger.tip(), bump_name)
    if not entries:
        raise Missing(f"the ledger holds no bump {bump_name}", "see: bumpbot ledger show")
    broken = chains.verify(entries)
    if broken is not None:
        raise broken
    return entries


def _ledger(place: Place, stack: ExitStack) -> tuple[Ledger, CommandGit]:
    """The ledger branch of the repository at --repo, read through a private cache."""
    git = _git(place, stack, str(place.repo.absolute()))
    return Ledger(git, clock=SystemClock(), random=SystemRandom()), git


def _git(place: Place, stack: ExitStack, remote: str, token: str | None = None) -> CommandGit:
    if "://" not in remote and not Path(remote).is_dir():
        raise Missing(f"{remote} is no folder", "name a repository with --repo")
    cache = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bumpbot-"))) / "cache.git"
    login = os.environ.get("BUMPBOT_LOGIN", "bumpbot[bot]")
    return CommandGit(LocalProcess(), remote, cache, name=login, email=f"{login}@users.noreply.github.com", token=token,
                      shallow=(BRANCH,))


def _context(place: Place, stack: ExitStack) -> Context:
    """The context of a workflow run: everything from its environment, the layout from the default branch alone."""
    repository, token = _needed("GITHUB_REPOSITORY"), _needed("BUMPBOT_TOKEN", "GITHUB_TOKEN")
    server, api = os.environ.get("GITHUB_SERVER_URL", "https://github.com"), os.environ.get("GITHUB_API_URL", "https://api.github.com")
    clock, random, assets, login = SystemClock(), SystemRandom(), PackagedAssets(), os.environ.get("BUMPBOT_LOGIN", "bumpbot[bot]")
    git = _git(place, stack, os.environ.get("BUMPBOT_GIT_URL") or f"{server}/{repository}.git", token)
    known = knowledge(assets)
    base = git.tip(os.environ.get("BUMPBOT_BASE", "main")) or ""
    layout = layout_from(assets, git.read(base, LAYOUT_FILE) if base else None, file=LAYOUT_FILE)
    layout = msgspec.structs.replace(layout, repository=repository)
    number, attempt = os.environ.get("GITHUB_RUN_ID"), os.environ.get("GITHUB_RUN_ATTEMPT", "1")
    return Context(
        forge=GitHubForge(api, repository, token, clock, login=login), git=git,
        registry=OciRegistry(clock, credentials=_docker_login()), commits=GitHubCommits(clock, base_url=api, token=token),
        published=_published(clock, layout, known), clock=clock, ledger=Ledger(git, clock=clock, random=random),
        tree=lambda oid: CommitTree(git, oid), layout=layout, limits=limits(layout), knowledge=known,
        render=renderer(assets, layout, known), mode=_mode, wake=wake_id(random), version=__version__,
        run=f"{number}/{attempt}" if number else None, narrate=lambda line: typer.echo(line, err=True),
    )


def _published(clock: SystemClock, layout: Any, known: Any) -> PublishedBaselines:
    if not layout.baselines.url:
        raise Refusal("the layout names no source of baselines", "set baselines.url in the layout")
    return PublishedBaselines(ApiSource(clock, base_url=layout.baselines.url), known.metrics)


def _mode() -> Mode:
    """BUMPBOT_MODE, read before each effect; a word that is none of the modes stops everything."""
    mode = os.environ.get("BUMPBOT_MODE", "act")
    return next((known for known in MODES if known == mode), "off")


def _needed(*names: str) -> str:
    for name in names:
        if os.environ.get(name):
            return os.environ[name]
    raise BadArguments(f"{' or '.join(names)} is not set", "a workflow sets it; by hand, export it first")


def _payload(file: Path | None) -> dict[str, Any]:
    place = file or (Path(os.environ["GITHUB_EVENT_PATH"]) if os.environ.get("GITHUB_EVENT_PATH") else None)
    if place is None:
        return {}
    try:
        data = place.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", "name the payload's file", file=str(place)) from None
    if len(data) > PAYLOAD_LIMIT:
        raise BadInput("larger than any payload the forge writes", "name the payload's file", file=str(place))
    found = json_value(data.decode("utf-8", "replace"), file=str(place))
    if not isinstance(found, dict):
        raise BadInput("a payload is a JSON object", "name the payload's file", file=str(place))
    return found


def _docker_login() -> dict[str, Any] | None:
    """Docker's own config file, if there is one: registry credentials go only to the host that asks for them."""
    place = Path(os.environ.get("DOCKER_CONFIG", Path.home() / ".docker")) / "config.json"
    if not place.is_file():
        return None
    found = json_value(place.read_text(encoding="utf-8", errors="replace"), file=str(place))
    return found if isinstance(found, dict) else None


def _told(reports: tuple[Report, ...]) -> None:
    say: Callable[[str], None] = lambda line: typer.echo(line, err=True)  # noqa: E731
    for report in reports:
        say(f"{report.bump}: {report.steps} steps" + (f", {report.trouble}" if report.trouble else "")
            + (f", ended {report.ended}" if report.ended else ""))
    if any(report.frozen for report in reports):
        raise typer.Exit(1)
