"""Small worlds of logs for the tests: files by name, and a reader for them."""

from __future__ import annotations

import io
from pathlib import Path

from bot.diagnose.signatures import load
from bot.diagnose.triage import triage

KNOWLEDGE = Path(__file__).parents[2] / "bot/knowledge"
SIGNATURES = load((KNOWLEDGE / "signatures.yaml").read_text(), "signatures.yaml")


def read(files: dict[str, str | bytes]):
    """Triage over named texts, in the order given."""
    streams = ((name, io.BytesIO(text.encode() if isinstance(text, str) else text)) for name, text in files.items())
    return triage(streams, SIGNATURES)


def vllm(time: str, text: str, *, level: str = "INFO", pid: int = 812, name: str = "EngineCore_DP0") -> str:
    """A record as vLLM's logger writes it: every line of the text behind the same head."""
    head = f"({name} pid={pid}) {level} 09-10 {time} [core.py:1104] "
    return "".join(f"{head}{line}\n" for line in text.splitlines())


def trace(*lines: str, error: str, file: str = "/usr/lib/python3/site-packages/vllm/engine.py") -> str:
    """A Python traceback with these code lines, ending in `error`."""
    frames = "".join(f'  File "{file}", line {n}, in run\n    {line}\n' for n, line in enumerate(lines, 10))
    return f"Traceback (most recent call last):\n{frames}{error}\n"


def teardown(time: str, rank: int) -> str:
    """What a healthy worker writes when its job is torn down around it."""
    return (
        vllm(time, "Received SIGTERM, shutting down", pid=900 + rank) + f"[rank{rank}]:[W910 {time}.104 TCPStore.cpp:125] "
        "[c10d] recvValue failed on SocketImpl(fd=71): Connection reset by peer\n"
        + vllm(
            time,
            trace("await self.loop()", error="RuntimeError: cannot schedule new futures after shutdown"),
            level="ERROR",
            pid=900 + rank,
        )
        + f"[rank{rank}]:[E910 {time}.900 ProcessGroupNCCL.cpp:632] "
        f"[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL\n"
        + f"srun: error: watchtower-navy-cn0{rank % 4 + 1}: task {rank}: Terminated\n"
    )
