"""A machine that measures without programs: every stage answers as a story tells it to, and what was started is remembered until
it is stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.bench import kept, stages, steps
from bot.bench.host import Host, Place
from bot.model.bench import Asked, Counts, Gate, Hardware, Launched, Load, Machine, Order, Report, Said, Setting
from bot.model.recipe import EvalSpec
from bot.results import load_metrics
from tests.results.made import request, summary

METRICS = load_metrics((Path(__file__).parents[2] / "bot" / "knowledge" / "metrics.yaml").read_text())
START = datetime(2026, 9, 1, 12, tzinfo=UTC)
PRINT = "f1" * 32
DIGEST = f"sha256:{'d' * 64}"


def order(conc: int = 2, **other: Any) -> Order:
    """A throughput point of an own recipe, without a pinned digest."""
    told: dict[str, Any] = {
        "id": f"own/0123456789ab/c{conc}", "recipe": "own", "kind": "throughput", "image": "vllm/vllm-openai:v0.25.1", "hardware": "h200",
        "gpus": 4, "topology": "TP4", "workload": "chat", "concurrency": conc, "runner": "self-hosted,h200", "fingerprint": PRINT,
        "engine": "vllm", "model": "o/m", "args": {"tensor-parallel-size": 4, "max-num-seqs": 64},
        "load": Load(input=64, output=32, requests=8, repeats=2, warmup=2), "gates": Asked(failed_requests=0.1)}
    return Order(**(told | other))


def eval_order(**other: Any) -> Order:
    """The eval at its highest concurrency."""
    return order(kind="eval", load=None, eval=EvalSpec(task="gsm8k", threshold=0.9), metric="exact_match,strict-match", **other)


def raising(error: BaseException) -> Any:
    """A step that ends so."""

    def step(*_: Any, **__: Any) -> Any:
        raise error

    return step


class Clock:
    """Time that passes only where somebody says so."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class Took:
    """What a load or an eval gives back."""

    counts: Counts = Counts(warmup=2, profiled=8)
    gates: tuple[Gate, ...] = ()
    settings: tuple[Setting, ...] = ()
    tools: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass
class FakeServer:
    launched: Launched
    url: str = "http://127.0.0.1:1"
    died: str | None = None

    def over(self) -> str | None:
        return self.died


@dataclass
class Bench:
    """The stages, each of which a story may give another answer: `bench.instead["ready"] = function`. `standing` are the servers
    that nobody has stopped; `went` the stages that were reached."""

    root: Path
    order: Order = field(default_factory=order)
    instead: dict[str, Callable[..., Any]] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    standing: list[FakeServer] = field(default_factory=list)
    went: list[str] = field(default_factory=list)
    stopping: Callable[[], None] = lambda: None
    proof: Callable[..., Gate] | None = None
    interrupts: Any = None
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.server = FakeServer(Launched(launcher="docker", image=self.order.image, digest=DIGEST, name="bumpbot-own"))

    def measure(self) -> Report:
        """One whole measurement in new folders."""
        self.place = kept.opened(self.root)
        extra = {"interrupts": self.interrupts} if self.interrupts else {}
        host = Host(programs=None, web=None, clock=self.clock, env=self.env, say=self.said.append, **extra)  # type: ignore[arg-type]
        return stages.measure(self.order, Machine(), host, self.place, stages.Known(METRICS, None, self.proof))

    @property
    def written(self) -> Any:
        """`bench.json` as it lies on the disk now."""
        return json.loads((self.root / "results" / "bench.json").read_text())

    @property
    def rows(self) -> list[Any]:
        return [json.loads(line) for line in (self.root / "results" / "rows.jsonl").read_text().splitlines()]

    def put_on(self, monkeypatch: pytest.MonkeyPatch) -> Bench:
        """Stands behind the stages' own steps."""
        for name, (module, function) in _STEPS.items():
            monkeypatch.setattr(getattr(steps, module), function, self._step(name))
        monkeypatch.setattr(steps.hardware, "Watch", self._watch)
        return self

    def _step(self, name: str) -> Callable[..., Any]:
        def step(*given: Any, **named: Any) -> Any:
            self.went.append(name)
            return self.instead.get(name, getattr(self, f"_{name}"))(*given, **named)

        return step

    @contextmanager
    def _watch(self, host: Host, facts: Hardware, **_: Any) -> Any:
        yield type("Watched", (), {"strain": ()})()

    def _facts(self, host: Host) -> Hardware:
        return Hardware(host="node", absent={"nvidia-smi": "not on the PATH"})

    def _fits(self, asked: Order, facts: Hardware) -> None:
        return None

    def _tool(self, *_: Any) -> None:
        return None

    def _begin(self, asked: Order, machine: Machine, host: Host, place: Place, stack: ExitStack) -> FakeServer:
        self.standing.append(self.server)
        stack.callback(self._stop)
        self.clock.sleep(3)
        return self.server

    def _stop(self) -> None:
        self.stopping()
        self.clock.sleep(2)
        self.standing.remove(self.server)

    def _ready(self, *_: Any) -> Said:
        self.clock.sleep(60)
        return Said(version="0.25.1", where="/version")

    def _settings(self, *_: Any) -> Sequence[Setting]:
        return (Setting(name="max-num-seqs", asked=64, effective=64, state="same"),)

    def _probes(self, asked: Order, server: Any, host: Host, phase: Any, machine: Machine) -> tuple[Gate, ...]:
        self.clock.sleep(4)
        return (Gate(name="stream", passed=True, phase=phase, stream=True),)

    def _load(self, asked: Order, server: Any, machine: Machine, host: Host, place: Place) -> Took:
        for repeat in (1, 2):
            self.export(place, repeat)
        self.clock.sleep(100)
        return Took(tools={"aiperf": "0.13.0"}, seconds=99.0)

    def _prepare(self, *_: Any) -> Any:
        return type("Suite", (), {"seconds": 1.5})()

    def _evals(self, asked: Order, server: Any, machine: Machine, host: Host, place: Place, *, suite: Any) -> Took:
        from tests.results.made import lm_results

        folder = place.results / "lm_eval" / "whole"
        folder.mkdir(parents=True)
        (folder / "results_2026.json").write_text(json.dumps(lm_results(0.75, 4)))
        return Took(counts=Counts(profiled=4), seconds=20.0)

    def export(self, place: Place, repeat: int, *, conc: int | None = None) -> Path:
        """What AIPerf leaves of one repeat."""
        folder = place.results / "aiperf" / "profile_runs" / f"run_{repeat:04}"
        folder.mkdir(parents=True)
        told = summary(conc or self.order.concurrency, output_token_throughput={"unit": "tokens/sec", "avg": 320.0 + repeat},
                       total_token_throughput={"unit": "tokens/sec", "avg": 800.0}, request_count={"unit": "requests", "avg": 8.0})
        (folder / "profile_export_aiperf.json").write_text(json.dumps(told))
        (folder / "inputs.json").write_text("{}")
        return folder / "profile_export_aiperf.json"

    def requests(self, place: Place, repeat: int = 1) -> None:
        """The export of single requests beside a summary."""
        (place.results / "aiperf" / "profile_runs" / f"run_{repeat:04}" / "profile_export.jsonl").write_text(json.dumps(request(0)) + "\n")


_STEPS = {"facts": ("hardware", "facts"), "fits": ("hardware", "check"), "begin": ("launch", "begin"), "ready": ("ready", "wait"),
          "settings": ("effective", "check"), "probes": ("probes", "run"), "load": ("load", "run"), "tool": ("load", "prepare"), "prepare": ("evals", "prepare"),
          "evals": ("evals", "run")}
"""A step's name here, and the function of the house behind which it stands."""
