"""The server as a program, and beside a test in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from bot.errors import BumpbotError
from bot.rehearse.engine import options, told
from bot.rehearse.engine.server import Engine


def main(argv: Sequence[str]) -> int:
    """Serves until it is told to end (SIGTERM, SIGINT: 0) or a planted fault ends it; its exit code."""
    try:
        asked = options.parse(argv)
        return asyncio.run(_serve(asked))
    except BumpbotError as error:
        _say(f"error: {error}")
        return error.exit_code


async def _serve(asked: options.Options) -> int:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    for line in told.begins(asked):
        _say(line)
    if "out-of-memory" in asked.faults:
        _say(told.NO_MEMORY)
        return 1
    # A crash is a crash: nothing is flushed, closed or answered any more.
    runner = _runner(Engine(asked, say=_say, end=os._exit))
    try:
        port = await _bound(runner, asked)
    except OSError as error:
        _say(told.taken(asked.host, asked.port) if error.errno == errno.EADDRINUSE else f"ERROR:    {error}")
        return 1
    if port is None:
        _say(told.taken(asked.host, asked.port))
        return 1
    for line in told.loaded(asked):
        _say(line)
    _say(f"INFO:     Uvicorn running on http://{asked.host}:{port} (Press CTRL+C to quit)")
    await ended.wait()
    await runner.cleanup()
    return 0


def _runner(engine: Engine) -> web.AppRunner:
    """A client that goes away frees its slot at once, as engines abort such a request; ending waits for nobody."""
    return web.AppRunner(engine.app(), handler_cancellation=True, access_log=None, shutdown_timeout=0.2)


async def _bound(runner: web.AppRunner, asked: options.Options) -> int | None:
    """The port it listens at; None where the fault says that it is taken."""
    if "port-taken" in asked.faults:
        return None
    await runner.setup()
    await web.TCPSite(runner, asked.host, asked.port, backlog=1024).start()
    return int(runner.addresses[0][1])


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass
class Beside:
    """A server in a thread of this process: where it is, its log, and the code with which it ended itself."""

    url: str = ""
    said: list[str] = field(default_factory=list)
    ended: int | None = None
    stop: Callable[[], None] = lambda: None


@contextmanager
def beside(*argv: str) -> Iterator[Beside]:
    """A server for the length of a `with`, at a free port of the loopback; options as on the command line. A fault that ends
    the program closes this one's port instead, and leaves the code in `ended`."""
    asked, made, up = options.parse(argv), Beside(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_aside(asked, made, up)), daemon=True)
    thread.start()
    if not up.wait(10):
        raise RuntimeError("the server did not come up; its thread says why")
    try:
        yield made
    finally:
        made.stop()
        thread.join(10)


async def _aside(asked: options.Options, made: Beside, up: threading.Event) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def end(code: int) -> None:
        made.ended = code
        ended.set()

    made.said.extend(told.begins(asked))
    runner = _runner(Engine(asked, say=made.said.append, end=end))
    made.url = f"http://{asked.host}:{await _bound(runner, asked)}"
    made.said.extend(told.loaded(asked))
    made.stop = lambda: loop.call_soon_threadsafe(ended.set) and None if not loop.is_closed() else None
    up.set()
    await ended.wait()
    await runner.cleanup()
