"""A whole world on loopback for one rehearsal: GitHub over a git repository, registries, baselines, one virtual clock.

It is a witness: it knows the scenario and GitHub's manners, and nothing of how a bump is decided. Time moves only in
`deliveries`, from one thing that happens to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from bot.errors import BumpbotError
from bot.rehearse import happenings
from bot.rehearse.clock import VirtualClock
from bot.rehearse.github import LoopbackGitHub, Trigger
from bot.rehearse.github.settings_state import Machine
from bot.rehearse.measured import Measuring
from bot.rehearse.measuring import Runner
from bot.rehearse.planting import plant
from bot.rehearse.player import People, Script, accounts, workflows
from bot.rehearse.published import LoopbackPublished
from bot.rehearse.registry import LoopbackRegistry
from bot.rehearse.scenario import Scenario
from bot.rehearse.told.fleet import FleetTold
from bot.rehearse.told.upstreams import UpstreamsTold
from bot.rehearse.upstream import comparisons
from bot.rehearse.upstream import told as told_upstream

Delivery = tuple[str, dict[str, Any]]
# What the wake workflow listens to (SECURITY.md rule 2); a schedule and a dispatch by hand come from the world itself.
LISTENS = {
    "pull_request_target": Trigger(
        types=(
            "opened",
            "reopened",
            "synchronize",
            "labeled",
            "unlabeled",
            "closed",
            "ready_for_review",
            "converted_to_draft",
        )
    ),
    "issue_comment": Trigger(types=("created",)),
    "workflow_run": Trigger(types=("completed",)),
}
# What an App is granted that opens pull requests and starts workflows.
GRANTED, WRITES = ("contents", "pull_requests", "issues", "actions"), ("admin", "maintain", "write")
# A story that tells of runners tells of all: hidden groups of the organisation would leave every label that is gone unknown.
LISTS = dict.fromkeys(("administration", "organization_self_hosted_runners"), "read")
TOKENS = {"bot": "loopback-bot-token", "default": "loopback-default-token"}


class World:
    """Use as a context manager; the addresses are good inside it.

    `workdir` must exist; the repository is made in it as `guest.git`. `declared` are the digests that the registries
    show as the scenario states them: content cannot be verified against these, and against no others.
    """

    def __init__(self, scenario: Scenario, workdir: Path, runner: Runner | None = None) -> None:
        """`runner` stands for the machines of the runs that the story measures."""
        self.scenario, self.clock = scenario, VirtualClock(scenario.declared.clock.start)
        self.repository = f"{scenario.declared.repository.owner}/{scenario.declared.repository.name}"
        self.tokens: Mapping[str, str] = TOKENS
        self._workdir, self._stack, self._stopped = workdir, ExitStack(), False
        pools = frozenset(pool.label for pool in scenario.declared.pools)
        self._measuring = Measuring(runner, pools) if runner is not None else None
        self._script = Script(scenario, self._measuring)
        self._events = sorted(scenario.story.events, key=lambda event: event.at)
        self.registries = {name: LoopbackRegistry(repositories) for name, repositories in scenario.registry.items()}
        self.published = LoopbackPublished(scenario.published)
        self.upstreams = UpstreamsTold([told_upstream(one) for one in scenario.upstream])
        self.fleet = FleetTold(scenario.declared.fleet, self.clock)

    def __enter__(self) -> World:
        declared = self.scenario.declared
        git_dir = plant(self.scenario, self._workdir / "guest.git")
        self.git_url = str(git_dir)
        listens = {**LISTENS, "push": Trigger(branches=(declared.repository.branch,))}
        self.hub = LoopbackGitHub(
            repository=self.repository,
            git_dir=git_dir,
            clock=self.clock,
            accounts=accounts(declared, self.tokens),
            workflows=workflows(declared),
            script=self._script,
            pools={pool.label: pool.capacity for pool in declared.pools},
            upstream=comparisons(self.scenario.upstream),
            default_branch=declared.repository.branch,
            listens=listens,
            pusher=declared.accounts.bot,
            first_pull=declared.repository.first_number,
        )
        self.hub.histories = self.upstreams.histories
        self._people = People(self.scenario, self.hub, self.registries)
        try:
            self._people.before(declared.neighbours)
        except BumpbotError:
            self.hub.stop()
            raise
        self._granted()
        for server in (self.hub, self.published, *self.registries.values()):
            self._stack.callback(server.stop)
            try:
                server.start()
            except OSError:
                self._stack.close()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _granted(self) -> None:
        """What the bot's App may see, and the runners as they are registered now."""
        who = self.scenario.declared.accounts
        if (machines := self.fleet.registered()) is not None:
            self.hub.settings.machines[:] = [Machine(name=one.name, labels=one.labels, online=one.online, busy=one.busy)
                                             for one in machines]
        level = "write" if who.permission in WRITES else "read"
        usual = {**dict.fromkeys(GRANTED, level), **({} if machines is None else LISTS)}
        self.hub.settings.apps[who.bot.removesuffix("[bot]")] = usual if who.grants is None else dict(who.grants)

    @property
    def github_url(self) -> str:
        """The API's address."""
        return self.hub.url

    @property
    def published_url(self) -> str:
        return f"{self.published.url}/api/v1"

    @property
    def companion_url(self) -> str:
        """What the producing run's artifacts tell beside the API; takes ?run=."""
        return f"{self.published.url}/companion"

    @property
    def endpoints(self) -> dict[str, str]:
        """Registry name -> the loopback address that answers for it."""
        return {name: registry.url for name, registry in self.registries.items()}

    @property
    def declared(self) -> frozenset[str]:
        return frozenset().union(*(registry.declared for registry in self.registries.values()))

    @property
    def unforeseen(self) -> tuple[tuple[str, str, str | None], ...]:
        """Runs that were started and that the story does not hold: (workflow, event, action)."""
        return tuple(self._script.unforeseen)

    def stop(self) -> None:
        """Ends `deliveries` after the present one."""
        self._stopped = True

    @property
    def awaited(self) -> bool:
        """Whether somebody will still ask for a bump: the story is not over when one has ended."""
        return any(isinstance(event, happenings.Dispatch) for event in self._events)

    def deliveries(self) -> Iterator[Delivery]:
        """(event name, payload) for the bot, one after another, the clock at the moment of each.

        Ends at the story's `until`, or when `stop` was called, or when nothing can happen any more. Whatever the bot
        does between two deliveries happens at one moment, unless it sleeps on the clock.
        """
        events = self._events
        wake = self.scenario.declared.schedule.first if self.scenario.declared.schedule else None
        while not self._stopped:
            if self._measuring is not None:
                self._measuring.measure(self.hub)
            if queued := self.hub.drain():
                yield from self._each(queued)
                continue
            moments = [
                moment
                for moment in (wake, self.hub.next_change(), events[0].at if events else None)
                if moment is not None
            ]
            if not moments or max(min(moments), self.clock.now()) >= self.scenario.story.until:
                return
            self.clock.advance_to(min(moments))
            self.hub.tick()
            self._granted()
            if events and events[0].at <= self.clock.now():
                yield from self._play(events.pop(0))
            elif wake is not None and wake <= self.clock.now():
                wake = self._after(wake)
                yield from self._each([*self.hub.drain(), ("schedule", self._schedule())])

    def _each(self, queued: list[Delivery]) -> Iterator[Delivery]:
        for delivery in queued:
            if self._stopped:
                return
            yield delivery

    def _play(self, event: happenings.Event) -> Iterator[Delivery]:
        if isinstance(event, happenings.Dispatch):
            inputs = {"recipe": event.recipe, **({"image": event.image} if event.image else {})}
            yield (
                "workflow_dispatch",
                {
                    "inputs": inputs,
                    "ref": f"refs/heads/{self.scenario.declared.repository.branch}",
                    "repository": self._repository(),
                    "sender": {"login": event.by, "type": "User"},
                },
            )
        else:
            self._people.act(event)

    def _after(self, wake: datetime) -> datetime:
        """The next moment of the schedule that lies ahead: wakes missed while somebody slept are not made up for."""
        assert self.scenario.declared.schedule is not None
        step = timedelta(minutes=self.scenario.declared.schedule.minutes)
        while wake <= self.clock.now():
            wake += step
        return wake

    def _schedule(self) -> dict[str, Any]:
        assert self.scenario.declared.schedule is not None
        return {
            "schedule": f"*/{self.scenario.declared.schedule.minutes} * * * *",
            "repository": self._repository(),
            "sender": {"login": self.scenario.declared.accounts.default, "type": "Bot"},
        }

    def _repository(self) -> dict[str, Any]:
        owner, _, name = self.repository.partition("/")
        return {
            "full_name": self.repository,
            "name": name,
            "owner": {"login": owner},
            "default_branch": self.scenario.declared.repository.branch,
        }

    def report(self) -> dict[str, Any]:
        """What happened, in the shape of CONTRACTS section 2 `rehearse` without what only the bot can say.

        Pull requests are the bot's. Runs are those of the bot's pull requests and dispatches; others' runs are not. GPU-hours
        are GPUs times hours held, every attempt, cancelled jobs too.
        """
        bot = self.scenario.declared.accounts.bot
        runs = [run for run in self.hub.runs_made() if run.actor == bot or run.event.startswith("pull_request")]
        return {
            "gpu_hours": sum(run.gpu_hours for run in runs),
            "runs": [
                {
                    "id": run.id,
                    "attempt": run.attempt,
                    "workflow": run.workflow,
                    "event": run.event,
                    "action": run.action,
                    "conclusion": run.conclusion,
                    "gpu_hours": run.gpu_hours,
                }
                for run in runs
            ],
            "comments": [
                {"id": made.id, "body": made.body, "edits": made.edits, "author": made.author}
                for made in self.hub.comments_made()
            ],
            "pulls": [
                {
                    "number": pull.number,
                    "title": pull.title,
                    "body": pull.body,
                    "branch": pull.branch,
                    "head": pull.head,
                    "labels": list(pull.labels),
                    "draft": pull.draft,
                    "open": pull.open,
                }
                for pull in self.hub.pulls()
                if pull.author.login == bot
            ],
        }
