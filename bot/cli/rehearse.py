"""`bumpbot rehearse`: the real bot, its real adapters over HTTP and git, in a world on loopback with a virtual clock."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import typer

from bot import __version__
from bot.adapters.assets import PackagedAssets
from bot.adapters.commits import GitHubCommits
from bot.adapters.git import CommandGit, init_bare
from bot.adapters.github import GitHubForge
from bot.adapters.process import LocalProcess
from bot.adapters.published import ApiSource, PublishedBaselines
from bot.adapters.registry import OciRegistry
from bot.adapters.tree import CommitTree
from bot.cli import rehearsal
from bot.cli.payload import event_of
from bot.cli.wiring import LAYOUT_FILE, knowledge, layout_from, limits, renderer
from bot.errors import BadArguments, BumpbotError, Missing
from bot.ledger import BRANCH, Ledger, wake_id
from bot.rehearse import scenario as scenarios
from bot.rehearse.scenario import Scenario
from bot.rehearse.world import World
from bot.wake.context import Context
from bot.wake.loop import wake

SCENARIOS = "rehearse/scenarios"
SEED = 2956


def run(name: str | None, directory: Path | None, *, past: bool, copying: bool, schema: bool, keep: Path | None, format_: str) -> None:
    """Rehearses a scenario, or copies it, or prints the schema; exit 0 when it ends as the scenario expects."""
    assets = PackagedAssets()
    if schema:
        typer.echo(json.dumps(scenarios.schema(), indent=2))
        return
    if name is None:
        raise BadArguments("name a scenario", f"shipped: {', '.join(assets.names(SCENARIOS))}; or give a folder")
    folder = _folder(assets, name)
    if copying:
        if directory is None:
            raise BadArguments("--copy needs a folder to write to", f"bumpbot rehearse --copy {name} DIR")
        scenarios.copy(folder, directory)
        typer.echo(f"{directory} holds {name}; play it with: bumpbot rehearse {directory} --as-it-happened", err=True)
        return
    if directory is not None:
        raise BadArguments(f"`{directory}` is one word too many", "a folder is only given with --copy")
    story = scenarios.load(folder, "as-it-happened" if past else None)
    result = play(story, keep, narrate=format_ == "table")
    rehearsal.show(result, format_)
    if not result["as_expected"]:
        raise typer.Exit(1)


def play(story: Scenario, keep: Path | None, *, narrate: bool, observer: Any = None, after: Any = None) -> dict[str, Any]:
    """Plays a scenario to its end; the JSON of CONTRACTS section 2, and `as_expected`.

    `observer` is given the world once it stands (the tests listen to each HTTP exchange there), `after` the world and
    the bot when all is over and both still stand.
    """
    with ExitStack() as stack:
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
        work = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bumpbot-")))
        world = stack.enter_context(World(story, work))
        if observer is not None:
            observer(world)
        bot = RehearsedBot(world, story, work)
        progress = stack.enter_context(rehearsal.Progress(story, world, shown=narrate))
        reports: list[Any] = []
        for event, payload in world.deliveries():
            progress.at(event)
            reports += bot.woken(event, payload)
            if reports and reports[-1].ended:
                world.stop()
        if after is not None:
            after(world, bot)
        return rehearsal.result(story, world, bot.ledger, reports)


class RehearsedBot:
    """The bot as a workflow would run it: a new context at each wake, with the layout that the default branch then states."""

    def __init__(self, world: World, story: Scenario, work: Path, *, name: str = "bot") -> None:
        """`name` keeps the caches of two bots in one world apart, as those of two workflow runs are."""
        self._world, self._story, self._assets = world, story, PackagedAssets()
        self._random = Random(f"{SEED}{name}")
        process, account = LocalProcess(), story.declared.accounts.bot
        email = f"{account}@users.noreply.github.com"
        self._git = CommandGit(process, world.git_url, work / f"{name}-cache.git", name=account, email=email)
        store = init_bare(process, work / "ledger.git")
        books = CommandGit(process, str(store), work / f"{name}-ledger.git", name=account, email=email, shallow=(BRANCH,))
        self.ledger = Ledger(books, clock=world.clock, random=self._random)
        token = world.tokens["bot"]
        self._forge = GitHubForge(world.github_url, world.repository, token, world.clock, login=account)
        self._registry = OciRegistry(world.clock, override=world.endpoints, trust_declared=story.declared.registry.declared_digests)
        self._commits = GitHubCommits(world.clock, base_url=world.github_url, token=token)
        self._knowledge = knowledge(self._assets)

    def woken(self, name: str, payload: dict[str, Any]) -> list[Any]:
        """One wake. What a person's request is refused for is told and does not end the rehearsal."""
        clock = self._world.clock
        try:
            return list(wake(self.context(), event_of(name, payload, clock.now())))
        except BumpbotError as error:
            typer.echo(f"{clock.now():%H:%M} refused: {error}", err=True)
            return []

    def context(self) -> Context:
        """What one wake may reach."""
        layout = self._layout()
        policy = self._story.story.policy
        source = ApiSource(self._world.clock, base_url=self._world.published_url, companion_url=self._world.companion_url)
        known = policy.repairs.known
        return Context(
            forge=self._forge, git=self._git, registry=self._registry, commits=self._commits,
            published=PublishedBaselines(source, self._knowledge.metrics), clock=self._world.clock, ledger=self.ledger,
            tree=lambda oid: CommitTree(self._git, oid), layout=layout,
            limits=limits(layout, repairs=policy.repairs.max, infrastructure_retries=policy.infra_retries,
                          gpu_hours=policy.caps.gpu_hours),
            knowledge=self._knowledge, render=renderer(self._assets, layout, self._knowledge), mode=lambda: "act",
            wake=wake_id(self._random), version=__version__, known_repairs=None if known is None else frozenset(known),
        )

    def _layout(self) -> Any:
        import msgspec

        tip = self._git.tip(self._story.declared.repository.branch) or ""
        data = self._git.read(tip, LAYOUT_FILE) or f"version: 1\npreset: {self._story.declared.layout}\n".encode()
        layout = layout_from(self._assets, data, file=LAYOUT_FILE)
        return msgspec.structs.replace(layout, style=self._story.story.policy.style, repository=self._world.repository)


def _folder(assets: PackagedAssets, name: str) -> Path:
    place = Path(name)
    if place.is_dir():
        return place
    shipped = assets.names(SCENARIOS)
    if name in shipped:
        return assets.folder(f"{SCENARIOS}/{name}")
    raise Missing(f"there is no scenario {name}", f"shipped: {', '.join(shipped)}; or give a folder that exists")
