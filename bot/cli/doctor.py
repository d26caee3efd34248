"""bumpbot doctor: gathers what the checks look at, and prints what they find."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import typer

from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.github.settings import GitHubSettings
from bot.adapters.http import plain as address
from bot.adapters.tree import CommitTree
from bot.cli import environment
from bot.cli.layouts import layout_of, named, tree_of
from bot.cli.output import WIDE, as_json, note, plain, table, working
from bot.cli.packaged import LAYOUT_FILE, layout_from
from bot.cli.place import Place
from bot.cli.remote import opened, registry
from bot.doctor.checks import examine
from bot.doctor.facts import ENVIRONMENT, LEDGER, MODE, Facts, Files, Forge, Guards
from bot.doctor.finding import Finding
from bot.doctor.reading import files
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.images import reference
from bot.layout import Layout
from bot.model.settings import ActionsPolicy, Environment, Repository, Seen, Unseen
from bot.ports import Registry, Settings, Tree

COUNTED = ("wrong", "unknown", "good", "not needed")


def doctor(place: Place, format_: str) -> None:
    """Every check's finding on stdout, how many of each on stderr; exit 1 when something is wrong."""
    if place.offline:
        facts = _offline(place)
    else:
        repository, token = environment.repository(), environment.needed("BUMPBOT_TOKEN", "GITHUB_TOKEN")
        with ExitStack() as stack, working(f"asking about {repository}"):
            facts = _online(place, repository, token, stack)
    found = examine(facts)
    _print(found, format_)
    counts = [(sum(one.state == state for one in found), state) for state in COUNTED]
    note(", ".join(f"{count} {state}" for count, state in counts if count))
    if any(one.state == "wrong" for one in found):
        raise typer.Exit(1)


def _print(found: tuple[Finding, ...], format_: str) -> None:
    if format_ == "json":
        as_json([{name: getattr(one, name) or None for name in ("check", "title", "state", "seen", "mend", "at")} for one in found])
        return
    if format_ == "markdown":
        rows = [(one.state, one.title, one.seen, " ".join(part for part in (one.mend, one.at and f"`{one.at}`") if part))
                for one in found]
        table(format_, ("state", "check", "seen", "how to mend it"), rows)
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE
    column = max(len(one.state) for one in found) + 2
    for one in found:
        _lines(f"{one.state:<{column}}", f"{one.title}: {one.seen}", width)
        if one.mend:
            _lines(" " * column, f"-> {one.mend}{':' if one.at else ''}", width)
        if one.at:  # never broken, so that it can be copied whole
            typer.echo(f"{' ' * column}{plain(one.at)}")


def _lines(first: str, text: str, width: int) -> None:
    """A text behind its first column, folded to the terminal."""
    typer.echo(textwrap.fill(plain(text), max(width, 40), initial_indent=first, subsequent_indent=" " * len(first),
                             break_long_words=False, break_on_hyphens=False))


def _offline(place: Place) -> Facts:
    """What files alone tell: the layout of the local default branch, the files of the working tree."""
    fault, layout = "", None
    try:
        layout = layout_of(place, PackagedAssets())
    except BadInput as error:
        fault = str(error)
    given = environment.word("GITHUB_REPOSITORY")
    name = given or (layout.repository if layout else "") or "OWNER/NAME"
    return Facts(page=environment.remote(name).removesuffix(".git"), ours=False, files=files(tree_of(place), layout),
                 layout=layout, layout_fault=fault, layout_source=place.layout or "the layout of the local default branch",
                 mode=environment.word(MODE), ledger_place=_elsewhere(layout))


def _elsewhere(layout: Layout | None) -> str:
    """Where the ledger lies, empty for the repository itself; an address without the credentials that it may hold."""
    given = environment.word("BUMPBOT_LEDGER")
    if given is None:
        return layout.ledger if layout else ""
    return address(given) if "://" in given else given


def _online(place: Place, repository: str, token: str, stack: ExitStack) -> Facts:
    settings = GitHubSettings(environment.api(), repository, token, SystemClock())
    page, ours = environment.remote(repository).removesuffix(".git"), environment.word("BUMPBOT_TOKEN") is not None
    try:
        found = settings.repository()
    except Missing:
        return Facts(page=page, ours=ours, files=Files(), layout=None, layout_fault="the repository could not be read",
                     absent=f"{repository} is not there, or the token may not see it", mode=environment.word(MODE))
    remote = environment.word("BUMPBOT_GIT_URL") or environment.remote(repository)
    git = opened(remote, stack, name=environment.login(), token=token)
    tip = git.tip(found.default_branch)
    if tip is None:
        raise Refusal(f"{repository} has no commit on {found.default_branch}", "push a first one")
    tree = CommitTree(git, tip)
    layout, source, fault = _layout(place, tree, found)
    ledger_place, ledger_fault, ledger = _ledger(layout, settings, found, token)
    held = files(tree, layout)
    images, unanswered = _images(held, registry(SystemClock(), cached=False))
    return Facts(
        page=page, ours=ours, files=held, layout=layout, layout_source=source, layout_fault=fault,
        forge=_forge(settings, found, layout, ledger), mode=environment.word(MODE), ledger_place=ledger_place,
        base_exists=None if layout is None else layout.base == found.default_branch or git.tip(layout.base) is not None,
        ledger_fault=ledger_fault, images=images, unanswered=unanswered)


def _layout(place: Place, tree: Tree, found: Repository) -> tuple[Layout | None, str, str]:
    """The layout, where it comes from, and what is wrong with it."""
    assets = PackagedAssets()
    if place.layout is not None:
        return named(place.layout, assets), place.layout, ""
    data, file = tree.read(LAYOUT_FILE), f"{LAYOUT_FILE} of {found.default_branch}"
    try:
        return layout_from(assets, data, file=file), file if data is not None else "the preset own", ""
    except BadInput as error:
        return None, file, str(error)


def _ledger(layout: Layout | None, settings: GitHubSettings, found: Repository, token: str) -> tuple[str, str, Guards | None]:
    """Where the ledger lies, what is wrong there, and what guards its branch where the forge does."""
    place = _elsewhere(layout)
    if not place:
        return "", "", _guards(settings, LEDGER)
    if environment.word("BUMPBOT_LEDGER"):
        return place, "", None
    other = GitHubSettings(environment.api(), place, environment.word("BUMPBOT_LEDGER_TOKEN") or token, SystemClock())
    try:
        other.repository()
    except (Missing, Refusal) as error:
        return place, error.reason, None
    return place, "", _guards(other, LEDGER)


def _guards(settings: Settings, branch: str) -> Guards:
    rules = settings.rules(branch)
    numbers = {rule.ruleset for rule in rules} if not isinstance(rules, Unseen) else set()
    return Guards(branch=branch, rules=rules, protection=settings.protection(branch),
                  rulesets={number: settings.ruleset(number) for number in sorted(numbers)})


def _forge(settings: Settings, found: Repository, layout: Layout | None, ledger: Guards | None) -> Forge:
    holder, actions, kept = settings.holder(), settings.actions(), settings.environment(ENVIRONMENT)
    login = environment.word("BUMPBOT_LOGIN") or (holder.login if holder.kind == "app" else "")
    selects = isinstance(actions, ActionsPolicy) and actions.allowed == "selected"
    base, bumps = (_guards(settings, branch) for branch in (found.default_branch, f"{layout.branch if layout else ''}bump"))
    return Forge(
        repository=found, holder=holder, app=settings.app(login.removesuffix("[bot]")) if login.endswith("[bot]") else None,
        workflows=settings.workflows(), actions=actions, selected=settings.selected_actions() if selects else None,
        defaults=settings.token_defaults(), approval=None if found.private else settings.fork_approval(), environment=kept,
        held=_within(kept, settings.secrets), own_variables=_within(kept, settings.variables), secrets=settings.secrets(),
        variables=settings.variables(), labels=settings.labels(), runners=settings.runners(), groups=settings.runner_groups(),
        base=base, bumps=bumps, ledger=ledger)


def _within(kept: Seen[Environment | None], ask: Callable[[str], Any]) -> Any:
    """What lies in the environment, where there is one."""
    return ask(ENVIRONMENT) if isinstance(kept, Environment) else None


def _images(found: Files, registry: Registry) -> tuple[dict[str, str], tuple[str, ...]]:
    """Each image that own recipes name and why it does not resolve (nothing for one that does), and those without an answer."""
    told: dict[str, str] = {}
    silent: list[str] = []
    for image in dict.fromkeys(one.image for one in found.wanted):
        try:
            registry.resolve(reference.parse(image))
            told[image] = ""
        except Unreachable as error:
            silent.append(error.reason)
        except BumpbotError as error:
            told[image] = error.reason
    return told, tuple(silent)
