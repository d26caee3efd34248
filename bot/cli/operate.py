"""Commands that act on a repository through its forge: wake, bump."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import SystemRandom
from typing import Any

import msgspec
import typer

from bot import __version__
from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.commits import GitHubCommits
from bot.adapters.fleet import LayoutFleet
from bot.adapters.folder_archive import FolderArchive
from bot.adapters.git import CommandGit
from bot.adapters.github import GitHubForge
from bot.adapters.github.archive import GitHubArchive
from bot.adapters.github.settings import GitHubSettings
from bot.adapters.neighbours import GitHubNeighbours
from bot.adapters.tree import CommitTree
from bot.cli import environment, summary
from bot.cli.layouts import named
from bot.cli.output import note
from bot.cli.packaged import LAYOUT_FILE, layout_from, limits
from bot.cli.payload import event_of
from bot.cli.place import Place, content, parsed
from bot.cli.remote import books, opened, registry
from bot.cli.upstream import upstreams
from bot.cli.wiring import generator, knowledge, published, renderer
from bot.errors import BadArguments, BadInput, BumpbotError, Refusal, Unreachable
from bot.images import reference
from bot.layout import Layout
from bot.ledger import Ledger, wake_id
from bot.model.event import Event, Requested, Scheduled
from bot.ports import Archive, Clock
from bot.strict import json_value
from bot.wake.context import Context
from bot.wake.loop import Report
from bot.wake.loop import wake as run_wake

PAYLOAD_LIMIT = 25_000_000
"""GitHub sends no payload larger than this many bytes."""


def wake(place: Place, name: str | None, file: Path | None) -> None:
    """One wake of the event that the workflow names; what was done on stderr, exit 1 when a bump is frozen."""
    name = name or environment.word("GITHUB_EVENT_NAME")
    if not name:
        raise BadArguments("no event is named", "set GITHUB_EVENT_NAME, or: bumpbot wake --event schedule")
    place_of = file or (Path(path) if (path := environment.word("GITHUB_EVENT_PATH")) else None)
    payload = _payload(place_of) if place_of else {}
    event = event_of(name, payload, datetime.now(UTC), file=str(place_of or ""))
    if environment.checked_mode() == "off":
        note("BUMPBOT_MODE is off: nothing was looked at and nothing done")
        return
    _woken(place, event, payload)


def bump(place: Place, recipe: str, image: str | None) -> None:
    """One wake that first opens the bump that a person asks for."""
    if image is not None:
        parsed(reference.parse, image)
    mode = environment.checked_mode()
    if mode in ("off", "observe"):
        raise Refusal(f"BUMPBOT_MODE is {mode}: no bump is begun", "set it to propose or act")
    _woken(place, event_of("workflow_dispatch", {"inputs": {"recipe": recipe, "image": image or ""}}, datetime.now(UTC)), {})


def _woken(place: Place, event: Event, payload: Mapping[str, Any]) -> None:
    if place.offline:
        raise Refusal("a wake asks the forge", "leave --offline out, or rehearse: bumpbot rehearse")
    with ExitStack() as stack:
        context = _context(place, event, payload, stack)
        try:
            reports = run_wake(context, event)
        except KeyboardInterrupt:
            note("what this wake began and did not finish, a later wake finishes")
            raise
        except BumpbotError as error:
            summary.write(context, (), refusal=str(error))
            raise
        summary.write(context, reports)
    for report in reports:
        note(_told(report))
    if not reports:
        note("no bump is open")
    stopped = next((report for report in reports if report.why), None) if isinstance(event, Requested) else None
    if stopped is not None:  # somebody asked for it by name: what files say against it is their answer
        raise Refusal(stopped.why or "", stopped.next or "")
    if any(report.frozen for report in reports):
        raise typer.Exit(1)
    if any(report.unreachable for report in reports):
        raise typer.Exit(Unreachable.exit_code)


def _told(report: Report) -> str:
    withheld = f"withheld by the mode: {', '.join(dict.fromkeys(report.withheld))}" if report.withheld else None
    parts = [f"{report.steps} {'step' if report.steps == 1 else 'steps'}", withheld, report.trouble,
             report.ended and f"ended {report.ended}"]
    return f"{report.bump}: {', '.join(part for part in parts if part)}"


def _context(place: Place, event: Event, payload: Mapping[str, Any], stack: ExitStack) -> Context:
    """The context of a workflow run: everything from its environment, the layout from the default branch alone, or from
    the operator's --layout."""
    repository, token, api = environment.repository(), environment.needed("BUMPBOT_TOKEN", "GITHUB_TOKEN"), environment.api()
    clock, random, assets, login = SystemClock(), SystemRandom(), PackagedAssets(), environment.login()
    known = knowledge(assets)
    remote = environment.word("BUMPBOT_GIT_URL") or environment.remote(repository)
    git = opened(remote, stack, name=login, token=token)
    layout = msgspec.structs.replace(_layout(place, git, _base(event, payload), assets), repository=repository)
    ledger = Ledger(books(layout, remote, stack) or git, clock=clock, random=random)
    github = GitHubCommits(clock, base_url=api, token=token)
    sources, surveyor, commits = upstreams(github, layout, stack, token=token, cached=False)

    def tree() -> CommitTree:
        return CommitTree(git, git.tip(layout.base) or "")

    return Context(
        forge=GitHubForge(api, repository, token, clock, login=login), git=git, registry=registry(clock, cached=False),
        commits=commits, clock=clock, published=published(clock, layout, known, tree, ledger),
        upstreams=sources, surveyor=surveyor, fleet=LayoutFleet(layout.preflight, tree, clock),
        settings=GitHubSettings(api, repository, token, clock),
        neighbours=GitHubNeighbours(api, repository, token, clock, git=git, tree=tree, layout=layout, me=login),
        ledger=ledger, tree=lambda oid: CommitTree(git, oid), layout=layout,
        limits=limits(layout), knowledge=known, render=renderer(assets, layout, known), mode=environment.mode,
        archive=_archive(layout, api, repository, clock), wake=wake_id(random),
        version=__version__, run=environment.run(), narrate=note, generator=generator(layout),
    )


def _base(event: Event, payload: Mapping[str, Any]) -> str:
    """The default branch: as the operator says, else the payload. A schedule's names no repository, but runs on that branch
    alone."""
    told = payload.get("repository")
    default = told.get("default_branch") if isinstance(told, Mapping) else None
    if not isinstance(default, str) or not default:
        default = environment.word("GITHUB_REF_NAME") if isinstance(event, Scheduled) else None
    return environment.word("BUMPBOT_BASE") or default or "main"


def _layout(place: Place, git: CommandGit, base: str, assets: PackagedAssets) -> Layout:
    if place.layout is not None:
        return named(place.layout, assets)
    tip = git.tip(base)
    if tip is None:
        raise Refusal(f"the repository has no branch {base}", "name its default branch in BUMPBOT_BASE")
    return layout_from(assets, git.read(tip, LAYOUT_FILE), file=f"{LAYOUT_FILE} of {base}")


def _archive(layout: Layout, api: str, repository: str, clock: Clock) -> Archive | None:
    """Where a bump's files are kept: beside the ledger, with the token that is meant for it; None beside a ledger on a server
    of which nothing but its git address is known."""
    given = environment.word("BUMPBOT_LEDGER")
    if given is not None:
        elsewhere = "://" in given or ":" in given.partition("/")[0]
        return None if elsewhere else FolderArchive(Path(f"{given.rstrip('/')}-archive"))
    token = environment.word("BUMPBOT_LEDGER_TOKEN") if layout.ledger else environment.word("GITHUB_TOKEN")
    return GitHubArchive(api, layout.ledger or repository, token or environment.needed("BUMPBOT_TOKEN", "GITHUB_TOKEN"), clock)


def _payload(file: Path) -> dict[str, Any]:
    data = content(file, "name the payload's file")
    if len(data) > PAYLOAD_LIMIT:
        raise BadInput(f"larger than {PAYLOAD_LIMIT} bytes", "no payload is; name the payload's file", file=str(file))
    try:
        found = json_value(data.decode("utf-8"), file=str(file))
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", f"look at byte {error.start}", file=str(file)) from None
    except ValueError as error:
        raise BadInput(f"not JSON that can be read: {error}", "give the payload that the forge wrote", file=str(file)) from None
    if not isinstance(found, dict):
        raise BadInput("no JSON object", "give the payload that the forge wrote", file=str(file))
    return found
