"""What the stories about launching begin with: an order, a machine, stand-ins of container tools, and a server that is one line
of Python."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.adapters.clock import SystemClock
from bot.adapters.programs import LocalPrograms
from bot.bench import launch
from bot.bench.host import Host, Place, Server
from bot.model.bench import Asked, Load, Machine, Order
from tests.fakes.containers import World

IMAGE = "vllm/vllm-openai:v0.29.0"
FULL = "docker.io/vllm/vllm-openai:v0.29.0"
SERVER = """import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("asked to end", flush=True), sys.exit(0)))
print("words", sys.argv[1:], flush=True)
print("variables", sorted(name for name in os.environ if name not in ("PATH", "LC_CTYPE")), flush=True)
if "--crash" in sys.argv: sys.exit(3)
if "--oom" in sys.argv: os.kill(os.getpid(), signal.SIGKILL)
if "--deaf" in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True: time.sleep(60)
"""
PROGRAM = [sys.executable, "-IS", "-c", SERVER]
TOKEN = "hf_thisIsNotToBeSeen"


def order(**more: Any) -> Order:
    return Order(**{**{
        "id": "glm/0123/c4", "recipe": "glm", "kind": "throughput", "image": IMAGE, "hardware": "h200", "gpus": 2, "topology": "TP2",
        "workload": "chat", "concurrency": 4, "runner": "", "fingerprint": "f", "engine": "vllm", "model": "zai-org/GLM-5.3-Flash",
        "revision": "eb9eb208", "load": Load(input=10, output=10, requests=4, repeats=1, warmup=0),
        "gates": Asked(failed_requests=0.1)}, **more})


@dataclass
class Scene:
    """One machine on which things are launched."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world = World(self.folder / "world")
        self.place = Place(results=self.folder / "results", logs=self.folder / "logs")
        self.place.results.mkdir()
        self.place.logs.mkdir()
        self.env.setdefault("HOME", str(self.folder))

    @property
    def host(self) -> Host:
        # Beside the stand-ins only what they are made of: no tool of a vendor that the machine of a test may have.
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        for name in ("sh", "sleep"):
            if not (tools / name).exists():
                (tools / name).symlink_to(f"/bin/{name}")
        return Host(programs=LocalPrograms(path=f"{self.world.bin}:{tools}"), web=None, clock=SystemClock(),  # type: ignore[arg-type]
                    env=self.env, say=self.said.append)

    def begin(self, stack: ExitStack, launcher: str, machine: dict[str, Any] | None = None, **more: Any) -> Server:
        return launch.begin(order(**more), Machine(launcher=launcher, **(machine or {})), self.host, self.place, stack)  # type: ignore[arg-type]

    @property
    def launch_log(self) -> str:
        return (self.place.logs / "launch.log").read_text()

    @property
    def server_log(self) -> str:
        return (self.place.logs / "server.log").read_text()

    def server_says(self, words: str) -> str:
        """The server's log once these words stand in it."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if words in (text := self.server_log):
                return text
            time.sleep(0.01)
        raise AssertionError(f"{words!r} never stood in {self.server_log!r}")


def over(server: Server) -> str:
    """Why a server is over, waited for."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if (why := server.over()) is not None:
            return why
        time.sleep(0.01)
    raise AssertionError("it runs on")
