"""Latencies as AIPerf measures them through `bot.bench`, against those planted in the test server; and each fault of an answer,
found or not. Ratios within one run; seconds of a run are told and compared with nothing.

    PATH=.venv-bench/bin:$PATH python -m benchmarks.latencies [--faults]

`alone` is a client of a few lines that does nothing but note when each token came: what it sees beyond the plan is the server's
and the event loop's, the rest is AIPerf's.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import aiohttp

from bot.adapters.clock import SystemClock
from bot.adapters.programs import LocalPrograms
from bot.adapters.web import LocalWeb
from bot.bench import load
from bot.bench.host import Host, Place
from bot.bench.load import exports
from bot.errors import BumpbotError
from bot.model.bench import Asked, Counts, Launched, Load, Machine, Order
from bot.rehearse.engine.model import NAME, lay_out

TTFT_MS, ITL_MS, OUTPUT, INPUT = 60.0, 8.0, 48, 128
REQUESTS = {1: 24, 4: 64, 16: 192}
FAULTS = ("no-finish-reason", "no-usage", "wrong-length", "error-500:4", "half-stream:4", "crash:30")


class Served:
    """A server that was started here."""

    launched = Launched(launcher="process", image="")

    def __init__(self, url: str, running: object) -> None:
        self.url, self._running = url, running

    def over(self) -> str | None:
        code = self._running.ended()  # type: ignore[attr-defined]
        return None if code is None else f"exit code {code}"


def order(conc: int) -> Order:
    """A point whose server is the test server."""
    return Order(id=f"latencies/0/c{conc}", recipe="latencies", kind="throughput", image="", hardware="none", gpus=1,
                 topology="TP1", workload="fixed", concurrency=conc, runner="", fingerprint="", engine="vllm", model=NAME,
                 load=Load(input=INPUT, output=OUTPUT, requests=REQUESTS[conc], repeats=1, warmup=conc),
                 gates=Asked(failed_requests=1.0))


@contextmanager
def served(host: Host, folder: Path, *fault: str) -> Iterator[Served]:
    """The test server, by the interpreter that AIPerf has, since its tokenizer library is there."""
    log = folder / "logs" / "server.log"
    words = ["python", "-m", "bot.rehearse.engine", "--model", NAME, "--ttft-ms", str(TTFT_MS), "--itl-ms", str(ITL_MS)]
    running = host.programs.start([*words, *(part for name in fault for part in ("--fault", name))], log=log,
                                  env={"PYTHONPATH": str(Path(__file__).parents[1])})
    try:
        while "running on " not in (text := log.read_text() if log.exists() else ""):
            if running.ended() is not None:
                raise SystemExit(text)
            host.clock.sleep(0.05)
        yield Served(text.rpartition("running on ")[2].split()[0], running)
    finally:
        running.stop()


async def alone(url: str, conc: int, requests: int) -> tuple[list[float], list[float]]:
    """TTFT and mean ITL of each request in milliseconds, by a client that does nothing else."""
    body = {"model": NAME, "messages": [{"role": "user", "content": "one two three"}], "stream": True, "max_tokens": OUTPUT,
            "ignore_eos": True}
    left, ttft, itl = iter(range(requests)), [], []

    async def work(session: aiohttp.ClientSession) -> None:
        for _ in left:
            begun, came = perf_counter(), []
            async with session.post(f"{url}/v1/chat/completions", json=body) as answer:
                async for line in answer.content:
                    if b'"content":"' in line and b'"content":""' not in line:
                        came.append(perf_counter())
            ttft.append((came[0] - begun) * 1000)
            itl.append((came[-1] - came[0]) * 1000 / (len(came) - 1))

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(work(session) for _ in range(conc)))
    return ttft, itl


def one(host: Host, conc: int) -> None:
    """One row of the table."""
    with tempfile.TemporaryDirectory() as made:
        place = _place(Path(made))
        with served(host, Path(made)) as server:
            plain = asyncio.run(alone(server.url, conc, REQUESTS[conc]))
            took = load.run(order(conc), server, Machine(), host, place)
        told = json.loads((exports.folder(place.results, 1) / exports.SUMMARY).read_text())
    for name, key, planted, own in (("TTFT", "time_to_first_token", TTFT_MS, plain[0]),
                                    ("ITL", "inter_token_latency", ITL_MS, plain[1])):
        p50, mean = told[key]["p50"], told[key]["avg"]
        print(f"c{conc:<4} {took.counts.profiled:>5} {name:<5} {planted:>8.1f} {statistics.median(own):>8.2f} {p50:>8.2f}"
              f" {mean:>8.2f} {p50 / planted:>8.3f} {mean / planted:>8.3f}   {took.seconds:>5.1f} s")


def fault(host: Host, name: str) -> None:
    """What the product's own counts say of a fault, at c4."""
    with tempfile.TemporaryDirectory() as made:
        place = _place(Path(made))
        with served(host, Path(made), name) as server:
            try:
                took, said = load.run(order(4), server, Machine(), host, place), ""
            except BumpbotError as error:
                took, said = getattr(error, "loaded", None), str(error)[:90]
    counts = took.counts if took else Counts()
    failed = [gate.name for gate in took.gates if gate.passed is False] if took else []
    print(f"{name:<18} {counts.profiled:>9} {counts.failed:>7} {counts.invalid:>8}   {' '.join(failed):<24} {counts.kinds} {said}")


def _place(folder: Path) -> Place:
    place = Place(results=folder / "results", logs=folder / "logs")
    place.results.mkdir()
    place.logs.mkdir()
    return place


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        lay_out(Path(home))
        env = {**os.environ, "HF_HOME": home, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        host = Host(programs=LocalPrograms(), web=LocalWeb(), clock=SystemClock(), env=env)
        print(f"{'':<5} {'n':>5} {'ms':<5} {'planted':>8} {'alone':>8} {'p50':>8} {'mean':>8} {'p50/pl.':>8} {'mean/pl.':>8}"
              "   AIPerf")
        for conc in REQUESTS:
            one(host, conc)
        if "--faults" in sys.argv[1:]:
            print(f"\n{'fault (c4)':<18} {'profiled':>9} {'failed':>7} {'invalid':>8}   {'gates that fail':<24} kinds")
            for name in FAULTS:
                fault(host, name)


if __name__ == "__main__":
    main()
