"""`bumpbot rehearse`: the real bot, its real adapters over HTTP and git, in a world on loopback with a virtual clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import typer

from bot import __version__
from bot.adapters.addresses import is_loopback_name
from bot.adapters.assets import PackagedAssets
from bot.adapters.commits import GitHubCommits
from bot.adapters.folder_archive import FolderArchive
from bot.adapters.git import CommandGit, init_bare
from bot.adapters.github import GitHubForge
from bot.adapters.github.settings import GitHubSettings
from bot.adapters.process import LocalProcess
from bot.adapters.published import ApiSource
from bot.adapters.registry import OciRegistry
from bot.adapters.surveyor import ChildSurveyor
from bot.adapters.tree import CommitTree
from bot.cli import around, measured, rehearsal, stage
from bot.cli.output import as_json, note
from bot.cli.packaged import LAYOUT_FILE, limits
from bot.cli.payload import event_of
from bot.cli.place import folder
from bot.cli.sound import guest_layout, prove
from bot.cli.wiring import generator, knowledge, published, renderer
from bot.cli.writing import scratch
from bot.errors import BadArguments, BumpbotError, Refusal
from bot.layout import Layout, Smoke
from bot.layout.upstream import Preflight
from bot.ledger import BRANCH, Ledger, wake_id
from bot.ports import Published
from bot.rehearse import policy as policies
from bot.rehearse import scenario as scenarios
from bot.rehearse import sharing
from bot.rehearse.scenario import Scenario
from bot.rehearse.world import World
from bot.render import Renderer
from bot.wake.context import Context
from bot.wake.loop import wake

SCENARIOS = "rehearse/scenarios"
SEED = 2956


def run(name: str | None, directory: Path | None, *, past: bool, copying: bool, schema: bool, keep: Path | None,
        format_: str, measure: str | None = None) -> None:
    """Rehearses a scenario, or copies it, or prints the schema; exit 0 when it ends as the scenario expects."""
    assets = PackagedAssets()
    if schema:
        as_json(scenarios.schema())
        return
    if not name:
        raise BadArguments("no scenario is named", f"shipped: {', '.join(assets.names(SCENARIOS))}; or give a folder of your own")
    source = _folder(assets, name)
    if copying:
        _copy(source, name, directory)
        return
    if directory is not None:
        raise BadArguments(f"`{directory}` is one word too many", "a second folder is only given with --copy")
    story = scenarios.load(source, "as-it-happened" if past else None)
    prove(story, assets)
    began = time.monotonic()
    result = _played(story, _fresh(keep), measure)
    stage.show(result, format_, time.monotonic() - began)
    if keep is not None:
        note(f"kept: bumpbot --repo {keep / 'ledger.git'} ledger show; the guest's repository is {keep / 'guest.git'}")
    if not result["as_expected"]:
        raise typer.Exit(1)


def _played(story: Scenario, keep: Path | None, measure: str | None) -> dict[str, Any]:
    """The scenario played for a person who watches; what is measured stays in the folder that is kept."""
    with ExitStack() as stack:
        work = keep or stack.enter_context(scratch())
        runner = measured.runner(story, measure, work, note)
        result = play(story, work, narrate=True, runner=runner)
        if keep is not None:
            rehearsal.written(result, keep)
        return result


def play(story: Scenario, keep: Path | None, *, narrate: bool, observer: Any = None, after: Any = None,
         runner: measured.Bench | None = None) -> dict[str, Any]:
    """Plays a scenario to its end; the JSON of CONTRACTS section 2, and `as_expected`. `runner` measures what the story leaves to
    be measured, in the same folder.

    `observer` is given the world once it stands (the tests listen to each HTTP exchange there), `after` the world and
    the bot when all is over and both still stand.
    """
    with ExitStack() as stack:
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
        work = keep or stack.enter_context(scratch())
        world = stack.enter_context(World(story, work, runner))
        if observer is not None:
            observer(world)
        progress = stack.enter_context(stage.Progress(story, world, shown=narrate))
        bot = RehearsedBot(world, story, work, say=progress.say, narrate=lambda line: progress.at(line.partition(": ")[2] or line))
        stack.callback(bot.close)
        if runner is not None and story.story.baseline is not None:
            runner.published(story, work / "ledger.git")
        troubles: list[str] = []
        for event, payload in world.deliveries():
            progress.at(event)
            reports = bot.woken(event, payload)
            troubles += [report.trouble for report in reports if report.trouble]
            if reports and reports[-1].ended and not world.awaited:
                world.stop()
        if after is not None:
            after(world, bot)
        return rehearsal.result(story, world, bot.ledger, [*bot.refused, *troubles])


class RehearsedBot:
    """The bot as a workflow would run it: a new context at each wake, with the layout that the default branch then states.

    `refused` are the requests of people that it turned down, each with its moment.
    """

    def __init__(self, world: World, story: Scenario, work: Path, *, name: str = "bot", say: Callable[[str], None] = note,
                 narrate: Callable[[str], None] = lambda line: None) -> None:
        """`name` keeps the caches of two bots in one world apart, as those of two workflow runs are."""
        self._world, self._story, self._assets, self._say, self._narrate = world, story, PackagedAssets(), say, narrate
        self._random = Random(f"{SEED}{name}")
        process, account = LocalProcess(), story.declared.accounts.bot
        email = f"{account}@users.noreply.github.com"
        self._git = CommandGit(process, world.git_url, work / f"{name}-cache.git", name=account, email=email)
        store = init_bare(process, work / "ledger.git")
        books = CommandGit(process, str(store), work / f"{name}-ledger.git", name=account, email=email, shallow=(BRANCH,))
        self.ledger, self.refused = Ledger(books, clock=world.clock, random=self._random), []
        self.archive, token = FolderArchive(work / "archive"), world.tokens["bot"]
        self._forge = GitHubForge(world.github_url, world.repository, token, world.clock, login=account)
        self._registry = OciRegistry(world.clock, override=world.endpoints, trust_declared=story.declared.registry.declared_digests,
                                     resolve=_nowhere)
        self._settings = GitHubSettings(world.github_url, world.repository, token, world.clock)
        self._surveyor = ChildSurveyor(work / "surveys")
        self._commits = GitHubCommits(world.clock, base_url=world.github_url, token=token)
        self._knowledge = knowledge(self._assets)
        self._held: dict[bytes | None, tuple[Layout, Renderer]] = {}

    def close(self) -> None:
        """Ends the child processes that read sources."""
        self._surveyor.close()

    def woken(self, name: str, payload: dict[str, Any]) -> list[Any]:
        """One wake. What a person's request is refused for is told and does not end the rehearsal."""
        clock = self._world.clock
        try:
            return list(wake(self.context(), event_of(name, payload, clock.now())))
        except BumpbotError as error:
            self.refused.append(f"{clock.now():%H:%M} refused: {error}")
            self._say(self.refused[-1])
            return []

    def context(self) -> Context:
        """What one wake may reach."""
        layout, render = self._stated()
        policy = self._story.story.policy
        known = policy.repairs.known
        return Context(
            forge=self._forge, git=self._git, registry=self._registry, commits=self._commits,
            published=self._published(layout), clock=self._world.clock, ledger=self.ledger,
            tree=lambda oid: CommitTree(self._git, oid), layout=layout,
            limits=limits(layout, repairs=policy.repairs.max, infrastructure_retries=policy.infra_retries,
                          gpu_hours=policy.caps.gpu_hours, gpu_hours_per_day=policy.caps.gpu_hours_per_day,
                          approve_above=policy.caps.approve_above),
            knowledge=self._knowledge, render=render, mode=lambda: "act",
            wake=wake_id(self._random), version=__version__, known_repairs=None if known is None else frozenset(known),
            narrate=self._narrate, generator=generator(layout), archive=self.archive,
            upstreams=self._world.upstreams, surveyor=self._surveyor, settings=self._settings,
            fleet=around.fleet(self._world, layout, lambda: self._stands(layout)),
            neighbours=around.neighbours(self._world, layout, self._git, lambda: self._stands(layout)),
        )

    def _published(self, layout: Layout) -> Published:
        """What the layout says of baselines, the world's own API in place of any other."""
        source = ApiSource(self._world.clock, base_url=self._world.published_url, companion_url=self._world.companion_url)
        return published(self._world.clock, layout, self._knowledge,
                         lambda: self._stands(layout), self.ledger,
                         api=None if layout.baselines.folder else source)

    def _stands(self, layout: Layout) -> CommitTree:
        """The files of the default branch as it stands now."""
        return CommitTree(self._git, self._git.tip(layout.base) or "")

    def _stated(self) -> tuple[Layout, Renderer]:
        """The layout that the default branch states now, and its renderer; read once for each text that it had."""
        data = self._git.read(self._git.tip(self._story.declared.repository.branch) or "", LAYOUT_FILE)
        if data not in self._held:
            layout, policy = guest_layout(self._story, data, self._assets, file=LAYOUT_FILE), self._story.story.policy
            layout = msgspec.structs.replace(layout, style=policy.style, repository=self._world.repository,
                                             smoke=_staged(layout.smoke, policy.smoke),
                                             preflight=_checked(layout.preflight, policy.checks))
            self._held[data] = layout, renderer(self._assets, layout, self._knowledge)
        return self._held[data]


def _nowhere(host: str, port: int) -> Sequence[str]:
    """A rehearsal reaches nothing beyond this machine, whatever images its recipes name."""
    if is_loopback_name(host):
        return [host]
    raise Refusal(f"{host} is not in this rehearsal", "add it to the scenario's registry.yaml")


def _checked(preflight: Preflight, told: policies.Checks) -> Preflight:
    """The layout's checks without those that the policy of the story leaves out."""
    return msgspec.structs.replace(preflight, off={**preflight.off, **dict.fromkeys(sorted(told.off), "left out in this story")})


def _staged(smoke: Smoke | None, told: policies.Smoke) -> Smoke | None:
    """The layout's smoke in the stages of the policy; arguments without stages are those of a guest that trims itself."""
    if smoke is None:
        return None
    stages = told.stages or (smoke.stages if told.arguments is None else ("trim",))
    own = {} if told.arguments is None else dict.fromkeys(stages, told.arguments)
    return msgspec.structs.replace(smoke, stages=stages, arguments={**smoke.arguments, **own})


def _folder(assets: PackagedAssets, name: str) -> Path:
    place, shipped = Path(name), assets.names(SCENARIOS)
    if place.is_dir():
        return place
    if name in shipped:
        return assets.folder(f"{SCENARIOS}/{name}")
    return folder(place, f"shipped: {', '.join(shipped)}; or give a scenario's folder")


def _copy(source: Path, name: str, target: Path | None) -> None:
    if target is None:
        raise BadArguments("--copy needs a folder to write to", f"bumpbot rehearse --copy {name} DIR")
    if any(target.resolve().is_relative_to(part.resolve()) for part in sharing.sources(source)):
        raise BadArguments(f"{target} lies in what is copied", "name a folder outside it")
    try:
        sharing.copy(source, target)
    except OSError as error:
        raise Refusal(f"{target} cannot be written: {error.strerror or error}", "name a folder where you may write") from None
    note(f"{target} holds {name}; play it with: bumpbot rehearse {target}{_flag(target)}")


def _flag(scenario: Path) -> str:
    """The option without which a scenario that tells only the past cannot be played."""
    try:
        scenarios.load(scenario)
    except Refusal:
        return " --as-it-happened"
    except BumpbotError:
        return ""  # playing it will say what does not hold
    return ""


def _fresh(keep: Path | None) -> Path | None:
    """The folder of --keep, made when absent: what an earlier rehearsal left would be taken for this one's."""
    if keep is None:
        return None
    try:
        keep.mkdir(parents=True, exist_ok=True)
        held = next(keep.iterdir(), None)
    except OSError as error:
        raise BadArguments(f"--keep {keep}: {error.strerror}", "name a new or empty folder where you may write") from None
    if held is not None:
        raise Refusal(f"--keep: {keep} is not empty", "name a new or empty folder; nothing was written")
    return keep
