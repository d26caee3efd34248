"""Repositories for the tests of git: in memory, over a folder, over file:// without filters, over http with a token."""

from __future__ import annotations

import base64
import os
import subprocess
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bot.adapters.git import CommandGit, init_bare
from bot.adapters.process import LocalProcess
from tests.fakes.git_memory import MemoryGit, MemoryRemote

WHEN = datetime(2026, 7, 28, 5, 0, 0, tzinfo=UTC)
WHO = {"name": "bumpbot", "email": "bumpbot@example.org"}


class Spy:
    """A Process that remembers what was started."""

    def __init__(self) -> None:
        self.inner, self.calls = LocalProcess(), []

    def run(self, argv, **more):
        self.calls.append((list(argv), dict(more.get("env") or {})))
        return self.inner.run(argv, **more)

    def words(self, command):
        return [argv for argv, _ in self.calls if command in argv]


def raw(folder: Path, *argv: str, stdin: bytes = b"") -> str:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
           **{f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}
    done = subprocess.run(["git", "-C", str(folder), *argv], env=env, check=True, input=stdin, capture_output=True)
    return done.stdout.decode()


class World:
    """Makes writers that share one repository."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder, self.made = kind, folder, 0
        self.memory = MemoryRemote()
        self.bare = folder / "remote.git"
        if kind != "memory":
            init_bare(LocalProcess(), self.bare)
        if kind == "unfiltered":
            raw(self.bare, "config", "uploadpack.allowFilter", "false")

    def writer(self, *, shallow=(), process=None, **who):
        self.made += 1
        if self.kind == "memory":
            return MemoryGit(self.memory, **{**WHO, **who})
        url = str(self.bare) if self.kind == "folder" else self.bare.as_uri()
        cache = self.folder / f"cache-{self.made}"
        return CommandGit(process or LocalProcess(), url, cache, shallow=shallow, **{**WHO, **who})


def start(git, branch="main", files=None, when=WHEN):
    files = files or {"a.txt": b"one\n", "d/b.txt": b"two\n", "d/e/c.txt": b"\x00\xff\n"}
    oid = git.commit([], files, "first", when=when)
    assert git.push(branch, oid)
    return oid


class Server(ThreadingHTTPServer):
    """git http-backend on loopback; asks for one token."""

    daemon_threads = True

    def __init__(self, root: Path, token: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root, self.seen = root, []
        self.wanted = "Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def serve(self):
        server: Server = self.server  # type: ignore[assignment]
        server.seen.append(self.headers.get("Authorization"))
        path, _, query = self.path.partition("?")
        if path.startswith("/moved"):
            self.send_response(301)
            self.send_header("Location", server.url + self.path.removeprefix("/moved"))
            self.end_headers()
            return
        if self.headers.get("Authorization") != server.wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic realm=x")
            self.end_headers()
            return
        length = int(self.headers.get("Content-Length") or 0)
        env = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(server.root), "GIT_HTTP_EXPORT_ALL": "1",
               "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_ADDR": "127.0.0.1",
               "REMOTE_USER": "x", "CONTENT_TYPE": self.headers.get("Content-Type", ""),
               "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", "")}
        body = self.rfile.read(length)
        out = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
        head, _, body = out.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = serve
