"""What a load is given in these tests: a small order, the stand-in for AIPerf, the test server, and recorded exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from bot.adapters.programs import LocalPrograms
from bot.adapters.web import LocalWeb
from bot.bench.host import Host, Place
from bot.bench.integrity import Tally, records, tally
from bot.model.bench import Asked, Launched, Load, Machine, Order
from bot.rehearse.engine import model
from bot.rehearse.engine.process import beside
from tests.bench.beside import Quick
from tests.fakes import tools

RECORDED = Path(__file__).parents[1] / "fixtures/aiperf"
LOAD = Load(input=24, output=8, requests=12, repeats=1, warmup=2)
ORDER = Order(id="own/0/c2", recipe="own", kind="throughput", image="acme/engine:1", hardware="cpu", gpus=1, topology="TP1",
              workload="chat", concurrency=2, runner="", fingerprint="f1", engine="vllm", model=model.NAME, revision=model.REVISION,
              load=LOAD, gates=Asked(failed_requests=0.1))


def order(conc: int = 2, *, failed: float = 0.1, **load: Any) -> Order:
    """The small order with another load."""
    return msgspec.structs.replace(ORDER, concurrency=conc, load=msgspec.structs.replace(LOAD, **load),
                                   gates=Asked(failed_requests=failed))


def recorded(case: str) -> Tally:
    """The requests of a recorded export, of eight tokens each."""
    with (RECORDED / case / "out/profile_export_raw.jsonl").open("rb") as stream:
        return tally(records(stream), 8)


@dataclass
class Served:
    """A server at `url`; `died` tells why it has ended, where it has."""

    url: str
    died: Callable[[], str | None] = lambda: None
    launched: Launched = Launched(launcher="process", image="acme/engine:1")

    def over(self) -> str | None:
        return self.died()


@dataclass
class Bench:
    """One machine with the stand-in on its PATH and the tokenizer in its cache."""

    host: Host
    place: Place
    machine: Machine
    said: list[str] = field(default_factory=list)

    def file(self, name: str, repeat: int = 1) -> Path:
        return self.place.results / f"aiperf/profile_runs/run_{repeat:04d}" / name

    def summary(self, repeat: int = 1) -> Mapping[str, Any]:
        made: Mapping[str, Any] = json.loads(self.file("profile_export_aiperf.json", repeat).read_bytes())
        return made


def bench(folder: Path, *, aiperf: bool = True, **machine: Any) -> Bench:
    """A bench whose files lie in `folder`."""
    place = Place(results=folder / "out/results", logs=folder / "out/logs", repository=folder)
    place.results.mkdir(parents=True)
    place.logs.mkdir()
    model.lay_out(folder / "hf")
    path = f"{tools.folder(folder / 'bin', 'aiperf')}:/usr/bin:/bin" if aiperf else "/nowhere"
    said: list[str] = []
    host = Host(programs=LocalPrograms(path=path), web=LocalWeb(), clock=Quick(), env={"HOME": str(folder), "SECRET": "x"},
                say=said.append)
    return Bench(host, place, Machine(models=str(folder / "hf"), **machine), said)


@contextmanager
def server(*words: str) -> Iterator[Served]:
    """The test server, quick, with planted faults."""
    with beside("--model", model.NAME, "--ttft-ms", "4", "--itl-ms", "1", *words) as running:
        yield Served(running.url, lambda: None if running.ended is None else f"exit code {running.ended}")

