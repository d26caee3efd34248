"""The loopback GitHub: one object that answers requests in process, and over HTTP once started."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from bot.errors import Missing
from bot.model.upstream import Comparison
from bot.rehearse.github import (  # noqa: F401  (they register their routes)
    history,
    issues,
    pulls,
    releases,
    repos,
    rulesets,
    runs,
)
from bot.rehearse.github.actions import Engine
from bot.rehearse.github.archive import Shelf
from bot.rehearse.github.declare import Account, Cause, Clock, Kind, RunScript, Script, Trigger, Workflow
from bot.rehearse.github.events import Events
from bot.rehearse.github.gitrepo import GitRepo
from bot.rehearse.github.limits import Limits
from bot.rehearse.github.objects import Json, Render
from bot.rehearse.github.people import Person
from bot.rehearse.github.refs import RefWatch
from bot.rehearse.github.report import CommentMade, RunMade, comments_made, runs_made
from bot.rehearse.github.server import Server
from bot.rehearse.github.settings_state import Settings
from bot.rehearse.github.state import Pull, Run, Store
from bot.rehearse.github.verbs import Refused, Verbs
from bot.rehearse.github.wire import DOCS, LEVELS, Page, Request, Response, conditional, error, find, paged
from bot.rehearse.told.history import HistoryTold


class Exchange(Struct, frozen=True, kw_only=True):
    """One request and its answer, for whoever checks them. `sent` and `value` are JSON, None where there was none."""

    method: str
    path: str
    query: Mapping[str, str]
    sent: Any
    status: int
    headers: Mapping[str, str]
    value: Any


def _no_script(workflow: Workflow, cause: Cause, head: str) -> RunScript:
    raise ValueError(f"{workflow.file} was started by {cause.event}, but no script was given")


class LoopbackGitHub:
    """A stateful GitHub for one repository over a bare git repository on disk. Safe to use from several threads.

    `script` says what a run plays; `pools` how many runners each pool has (a pool not named has no limit);
    `cancel_seconds` how long a running job takes to stop; `run_details` False is a server of before 2026-02-19;
    `listens` limits `drain()` to the events of the bot's own workflow; `pusher` owns pushes by unknown committers;
    `upstream` are facts about foreign repositories for `compare`; `first_pull` is the next pull request's number.
    """

    def __init__(
        self,
        *,
        repository: str,
        git_dir: Path,
        clock: Clock,
        accounts: Sequence[Account],
        workflows: Sequence[Workflow] = (),
        script: Script = _no_script,
        pools: Mapping[str, int] | None = None,
        upstream: Sequence[Comparison] = (),
        default_branch: str = "main",
        run_details: bool = True,
        cancel_seconds: float = 40,
        listens: Mapping[str, Trigger] | None = None,
        pusher: str | None = None,
        first_pull: int = 1,
        limits: Mapping[Kind, int] | None = None,
    ) -> None:
        self.repository, self.clock, self.run_details = repository, clock, run_details
        self.workflows, self.upstream = tuple(workflows), tuple(upstream)
        self.histories: Mapping[str, HistoryTold] = {}  # of foreign repositories, by owner/name in lower case
        self.exchanges: list[Callable[[Exchange], None]] = []
        self._lock = threading.RLock()
        self._server = Server(self.handle)
        self.url = self._server.url
        self.store, self.settings = Store(tuple(accounts)), Settings()
        self.store.start_pulls_at(first_pull)
        self.git = GitRepo(git_dir)
        self.render = Render(self.url, repository, default_branch, self.store, self.git)
        self.events = Events(self.render, self.workflows, listens)
        self.shelf = Shelf(self.store)
        self.engine = Engine(self.store, self.shelf, script=script, pools=pools or {}, cancel_seconds=cancel_seconds,
                             told=self.events.run)
        self.events.engine = self.engine
        self.verbs = Verbs(self.store, self.git, self.events)
        fallback = next((who for who in accounts if who.kind != "default"), Account(login=repository.split("/")[0]))
        self.watch = RefWatch(self.store, self.git, self.verbs, self._account(pusher) if pusher else fallback)
        self.limits = Limits(limits or {})

    def __enter__(self) -> LoopbackGitHub:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> str:
        """Serves HTTP on 127.0.0.1; the address."""
        self._server.start()
        return self.url

    def stop(self) -> None:
        """Ends the server and removes the artifacts' files."""
        self._server.stop()
        self.shelf.close()

    # -- time and events ------------------------------------------------------------------------------------------

    @contextmanager
    def moment(self) -> Iterator[datetime]:
        """The lock, with everything due played and every push noticed first: what follows happens after these."""
        with self._lock:
            now = self.clock.now().astimezone(UTC)
            self.engine.settle(now)
            self.watch.look(now)
            yield now
            self.engine.settle(now)

    def tick(self) -> None:
        """Plays what is due by the clock and notices pushes."""
        with self.moment():
            return

    def settle(self, now: datetime) -> None:
        """Plays every transition up to `now`, in order; for a player that moves its clock in one leap."""
        with self._lock:
            self.watch.look(min(now, self.clock.now().astimezone(UTC)))
            self.engine.settle(now.astimezone(UTC))

    def next_change(self) -> datetime | None:
        """When a job starts or ends next if nobody acts; None when all is quiet."""
        with self._lock:
            return self.engine.next_change()

    def drain(self) -> list[tuple[str, Json]]:
        """Webhooks since the last call, oldest first: (event name, payload)."""
        with self.moment():
            queue = self.events.queue[:]
            self.events.queue.clear()
            return queue

    # -- people, reports ------------------------------------------------------------------------------------------

    def _account(self, login: str) -> Account:
        if login not in self.store.accounts:
            raise Missing(f"nobody is called {login}", "declare the account first")
        return self.store.accounts[login]

    def person(self, login: str) -> Person:
        return Person(self, self._account(login))

    def mergeable(self, pull: Pull) -> bool | None:
        """None on the first look after a change of head or base, as GitHub computes it then; then the truth."""
        key = (pull.base_sha, pull.head)
        if not pull.open:
            return None
        if pull.asked != key:
            pull.asked = key
            return None
        return self.git.merged_tree(*key) is not None

    def comments_made(self, number: int | None = None) -> list[CommentMade]:
        with self._lock:
            return comments_made(self.store, number)

    def runs_made(self) -> list[RunMade]:
        with self.moment() as now:
            return runs_made(self.store, now)

    def pulls(self) -> list[Pull]:
        with self.moment():
            return list(self.store.pulls.values())

    def runs(self) -> list[Run]:
        with self.moment():
            return list(self.store.runs.values())

    # -- requests -------------------------------------------------------------------------------------------------

    def handle(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Response:
        """Answers one request; `path` as on the wire, percent-encoded."""
        request = Request(method=method, path=path, query=dict(query or {}), body=body,
                          headers={name.lower(): value for name, value in (headers or {}).items()})
        with self._lock:
            response = self._answer(request)
        self._observe(request, response)
        return response

    def _answer(self, request: Request) -> Response:
        found = find(request.method, request.path)
        try:
            with self.moment() as now:
                request.now = now
                if found is None:
                    raise Refused("Not Found", status=404)
                if status := self.settings.hides(request.path):
                    raise Refused("Not Found" if status == 404 else "Resource not accessible", status=status)
                route, request.args = found
                if not route.anonymous:
                    request.actor = self._authenticate(request)
                    if over := self._over_limit(request):
                        return over
                    self._permit(request, route.needs)
                made = route.handler(self, request)
        except Refused as refused:
            return self._finish(request, error(refused))
        if isinstance(made, Page):
            made = paged(made, request, self.url)
        return self._finish(request, made if isinstance(made, Response) else Response(value=made))

    def _authenticate(self, request: Request) -> Account:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        who = self.store.tokens.get(token.strip()) if scheme.lower() in ("bearer", "token") else None
        if who is None:
            raise Refused("Bad credentials" if scheme else "Requires authentication", status=401)
        return who

    def _permit(self, request: Request, needs: str) -> None:
        owner = "owner" in request.args and f"{request.args['owner']}/{request.args['repo']}".lower()
        if owner and owner != self.repository.lower() and "basehead" not in request.args:
            raise Refused("Not Found", status=404)
        if LEVELS.index(request.who.permission) < LEVELS.index(needs) and needs != "read":
            message = (
                "Resource not accessible by integration"
                if request.who.bot
                else "Must have write access to the repository."
            )
            raise Refused(message, status=403)

    def _over_limit(self, request: Request) -> Response | None:
        if request.path == "/rate_limit" or self.limits.count(request.who, request.now):
            return None
        value = {
            "message": f"API rate limit exceeded for {request.who.login}.",
            "documentation_url": DOCS,
            "status": "403",
        }
        return self._finish(request, Response(status=403, value=value))

    def _finish(self, request: Request, response: Response) -> Response:
        response = conditional(request, response)
        if request.actor is not None:
            if response.status == 304:
                self.limits.give_back(request.actor, request.now)
            response.headers |= self.limits.headers(request.actor, request.now)
            if request.actor.scopes is not None:
                response.headers["X-OAuth-Scopes"] = ", ".join(request.actor.scopes)
        response.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        response.headers["Date"] = request.now.strftime("%a, %d %b %Y %H:%M:%S GMT")
        return response

    def _observe(self, request: Request, response: Response) -> None:
        if not self.exchanges:
            return
        try:
            sent = request.json if request.body else None
        except Refused:
            sent = None
        made = Exchange(
            method=request.method,
            path=request.path,
            query=request.query,
            sent=sent,
            status=response.status,
            headers=response.headers,
            value=response.value,
        )
        for tell in self.exchanges:
            tell(made)
