"""What the tests of the Forge adapter talk to: the loopback GitHub, and a server that answers whatever a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bot.adapters.github import GitHubForge
from tests.rehearse.github_world import APP, START, World

LOGIN = "bumpbot[bot]"
REPOSITORY = "acme/recipes"
MOMENT = "2026-09-10T06:00:00Z"


class Patience:
    """A clock on which waiting takes no time and is remembered."""

    def __init__(self) -> None:
        self.at, self.slept = START, []

    def now(self) -> datetime:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += timedelta(seconds=seconds)


def forge_of(world: World, token: str = APP, login: str = LOGIN) -> GitHubForge:
    return GitHubForge(world.hub.url, REPOSITORY, token, Patience(), login=login)


class Sent:
    """The requests that a world's GitHub saw."""

    def __init__(self, world: World) -> None:
        self._seen: list[tuple[str, str]] = []
        world.hub.exchanges.append(lambda exchange: self._seen.append((exchange.method, exchange.path)))

    def writes(self) -> int:
        return sum(method != "GET" for method, _ in self._seen)

    def reads(self) -> int:
        return sum(method == "GET" for method, _ in self._seen)


@dataclass
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Reply:
    """`cut`: the line breaks before the last bytes."""

    status: int = 200
    value: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    data: bytes | None = None
    cut: bool = False


Answers = Callable[[Asked], Reply]


@dataclass
class Odd:
    """A server of a test's own: `asked` are the requests it saw."""

    url: str
    asked: list[Asked]

    def forge(self, clock: Patience | None = None) -> GitHubForge:
        return GitHubForge(self.url, REPOSITORY, "secret-token", clock or Patience(), login=LOGIN)


@contextmanager
def odd(answer: Answers) -> Iterator[Odd]:
    """Serves on loopback until the block ends."""
    seen: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version, disable_nagle_algorithm, wbufsize = "HTTP/1.1", True, 65536

        def serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            request = Asked(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, self.rfile.read(length))
            seen.append(request)
            reply = answer(request)
            data = reply.data if reply.data is not None else b"" if reply.value is None else json.dumps(reply.value).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data) + (10 if reply.cut else 0)))
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()
            self.close_connection = reply.cut

        do_GET = do_POST = do_PATCH = do_DELETE = serve

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield Odd(f"http://127.0.0.1:{server.server_address[1]}", seen)
    finally:
        server.shutdown()
        server.server_close()


def always(status: int, value: Any = None, **more: Any) -> Answers:
    return lambda asked: Reply(status, value, **more)


def in_turn(*replies: Reply) -> Answers:
    """One reply after another; the last one again and again."""
    left = list(replies)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


def user(login: str = "someone", kind: str = "User") -> dict[str, Any]:
    return {"login": login, "type": kind}


def pull_json(**changed: Any) -> dict[str, Any]:
    repo = {"full_name": REPOSITORY}
    made = {
        "number": 1, "html_url": "u", "node_id": "PR_1", "title": "t", "body": None, "state": "open", "draft": False, "labels": [],
        "user": user(), "head": {"ref": "b", "sha": "a" * 40, "repo": repo}, "base": {"ref": "main", "sha": "b" * 40, "repo": repo},
    }
    return {**made, **changed}


def comment_json(number: int = 1, **changed: Any) -> dict[str, Any]:
    return {"id": number, "user": user(), "body": "x", "created_at": MOMENT, "updated_at": MOMENT, **changed}


def run_json(number: int = 1, **changed: Any) -> dict[str, Any]:
    repo = {"full_name": REPOSITORY}
    made = {
        "id": number, "path": ".github/workflows/smoke.yml", "event": "workflow_dispatch", "head_sha": "a" * 40,
        "head_branch": "main", "created_at": MOMENT, "status": "queued", "conclusion": None, "run_attempt": 1,
        "display_title": "t", "actor": user(), "triggering_actor": user(), "repository": repo, "head_repository": repo,
    }
    return {**made, **changed}


def job_json(number: int = 1, **changed: Any) -> dict[str, Any]:
    made = {
        "id": number, "run_id": 1, "name": "bench", "status": "queued", "conclusion": None, "started_at": MOMENT,
        "completed_at": None, "run_attempt": 1, "labels": ["gpu"], "runner_id": None, "runner_name": None,
    }
    return {**made, **changed}
