"""A small registry on loopback whose every manner a test can change: what it serves, how it asks, where it sends people."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
LABELS = {"org.opencontainers.image.revision": "75c2eef" + "0" * 33, "org.opencontainers.image.version": "0.25.1"}
ENV = ["PATH=/bin", "CUDA_VERSION=13.0.1", "TORCH_CUDA_ARCH_LIST=9.0 10.0a", "broken"]
CREATED = "2026-08-17T09:30:00.123456789Z"

Reply = tuple[int, Mapping[str, str], bytes]
Answer = Callable[["Asked"], Reply | None]


class FakeClock:
    """Time that moves when somebody waits."""

    def __init__(self) -> None:
        self.moment, self.waits = datetime(2026, 9, 10, tzinfo=UTC), []

    def now(self) -> datetime:
        return self.moment

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.moment += timedelta(seconds=seconds)


class Asked:
    def __init__(self, method: str, path: str, headers: Mapping[str, str]) -> None:
        self.method, self.headers = method, {name.lower(): value for name, value in headers.items()}
        self.path, _, self.query = path.partition("?")

    @property
    def login(self) -> str | None:
        return self.headers.get("authorization")

    def __repr__(self) -> str:
        return f"{self.method} {self.path}"


def sha(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def document(value: Any) -> bytes:
    return json.dumps(value).encode()


class FakeRegistry:
    """`manifests` and `blobs` by digest, `names` a tag's digest. `before` may answer any request first."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.manifests: dict[str, tuple[str, bytes]] = {}
        self.blobs: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        self.before: Answer | None = None
        self.url = self.netloc = ""

    def put(self, kind: str, value: Any) -> str:
        body = document(value)
        self.manifests[sha(body)] = (kind, body)
        return sha(body)

    def image(self, architecture: str = "amd64", *, labels: Mapping[str, str] = LABELS, env: Any = ENV) -> str:
        config = document({"created": CREATED, "os": "linux", "architecture": architecture,
                           "config": {"Env": env, "Labels": dict(labels)}})
        self.blobs[sha(config)] = config
        return self.put(MANIFEST, {"schemaVersion": 2, "mediaType": MANIFEST, "layers": [],
                                   "config": {"mediaType": "x", "digest": sha(config), "size": len(config)}})

    def index(self, tag: str, architectures: tuple[str, ...] = ("amd64", "arm64"), *, extra: tuple[Any, ...] = ()) -> str:
        listed = [self.child(self.image(arch), arch) for arch in architectures]
        self.names[tag] = self.put(INDEX, {"schemaVersion": 2, "mediaType": INDEX, "manifests": [*listed, *extra]})
        return self.names[tag]

    def child(self, digest: str, architecture: str, system: str = "linux") -> dict[str, Any]:
        size = len(self.manifests[digest][1]) if digest in self.manifests else 7
        return {"mediaType": MANIFEST, "digest": digest, "size": size,
                "platform": {"os": system, "architecture": architecture}}

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if self.before and (reply := self.before(asked)):
            return reply
        kind, _, name = asked.path.rpartition("/")
        if kind.endswith("/manifests"):
            digest = self.names.get(name, name)
            if digest not in self.manifests or "index.v1+json" not in asked.headers.get("accept", ""):
                return 404, {}, b"{}"
            if asked.headers.get("if-none-match") in (digest, f'"{digest}"'):
                return 304, {}, b""
            media, body = self.manifests[digest]
            return 200, {"Content-Type": media, "Docker-Content-Digest": digest, "ETag": f'"{digest}"'}, body
        if kind.endswith("/blobs") and name in self.blobs:
            return 200, {"Content-Type": "application/octet-stream"}, self.blobs[name]
        if asked.path.endswith("/tags/list"):
            return 200, {}, document({"name": "x", "tags": list(self.names)})
        return 404, {}, b"{}"


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def bearer(registry: FakeRegistry, *, realm: str = "", tokens: Mapping[str, str] | None = None, life: int = 300) -> None:
    """Makes a registry ask for a token of each repository; `tokens` maps the login sent to the realm to what the token begins
    with. A token is good for the scope it was asked for; those of a foreign realm are good for all."""
    known = tokens if tokens is not None else {"": "for-anyone"}
    place = realm or f"{registry.url}/token"

    def before(asked: Asked) -> Reply | None:
        if asked.path == "/token":
            token, scope = known.get(asked.login or ""), parse_qs(asked.query).get("scope", [""])[0]
            return (200, {}, document({"token": f"{token}~{scope}", "expires_in": life})) if token else (401, {}, b"{}")
        name = asked.path.removeprefix("/v2/").rpartition("/tags/" if asked.path.endswith("/list") else "/")[0]
        scope = f"repository:{re.sub('/(manifests|blobs)$', '', name)}:pull"
        if asked.login in {f"Bearer {token}{end}" for token in known.values() for end in (f"~{scope}", "" if realm else f"~{scope}")}:
            return None
        return 401, {"WWW-Authenticate": f'Bearer realm="{place}",service="s",scope="{scope}"'}, b"{}"

    registry.before = before


@contextmanager
def serving(registry: FakeRegistry) -> Iterator[FakeRegistry]:
    """The registry on a free loopback port; `url` and `netloc` say which."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm, wbufsize = True, -1  # one packet an answer; two wait 40 ms for each other

        def handle_any(self) -> None:
            status, headers, body = registry.answer(Asked(self.command, self.path, self.headers))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "Content-Length" not in headers:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = handle_any

        def log_message(self, *_: Any) -> None:
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            return  # a client that stops reading is what half of the tests are about

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    registry.netloc = f"127.0.0.1:{server.server_port}"
    registry.url = f"http://{registry.netloc}"
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
