"""Nouns of the runner's side: what a machine is asked to measure, what it did, and what it saw."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta, Struct

from bot.model.recipe import Point
from bot.model.result import Filed, Row

Scalar = str | int | float | bool | None
Port = Annotated[int, Meta(ge=1, le=65_535)]
Launcher = Literal["docker", "podman", "enroot", "process"]
State = Literal["running", "complete", "partial", "refused"]
LAUNCHERS: tuple[Launcher, ...] = ("docker", "podman", "enroot", "process")


class Trace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Recorded requests that are played again: a public dataset that the load generator knows by name, or a file of the
    repository's own default branch, named with its SHA-256 so that another file is never taken for it."""

    dataset: str = ""
    file: str = ""
    format: str = ""
    sha256: str = ""


def trace_faults(trace: Trace) -> Iterator[tuple[str, str, str]]:
    """What does not hold of a trace: key, what is wrong, what to do. Names become words of a command, and an empty trace would be
    played as made requests: a load that nobody asked for."""
    if bool(trace.dataset) == bool(trace.file):
        yield "dataset", "a trace is a dataset or a file, and one of them", "write {dataset: NAME}, or {file, format, sha256}"
    for key, value in (("dataset", trace.dataset), ("format", trace.format)):
        if value and not _WORD.fullmatch(value):
            yield key, "no name of a dataset or format", "letters, digits and _ . : / + @ -"
    if trace.file:
        parts = trace.file.split("/")
        if not _PATH.fullmatch(trace.file) or not {"", ".", ".."}.isdisjoint(parts):
            yield "file", "no path of a file below the repository", "name it from the repository's top folder"
        if not trace.format:
            yield "format", "the format of the file is missing", "as AIPerf names it: mooncake_trace, multi_turn, ..."
        if not _SHA256.fullmatch(trace.sha256):
            yield "sha256", "no SHA-256 of the file", "its 64 hexadecimal digits, as sha256sum prints them"
    elif trace.sha256:
        yield "sha256", "the SHA-256 of a file, and no file is named", "leave it out"


_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/+@-]{0,255}")
_PATH = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./+@-]{0,255}")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


class Load(Struct, frozen=True, kw_only=True):
    """What a throughput point is loaded with. Tokens in and out are exact where `output` is given (`input` is a mean);
    `requests` are measured in each of `repeats`, after `warmup` that are not."""

    input: int | None
    output: int | None
    requests: int
    repeats: int
    warmup: int
    stream: bool = True
    trace: Trace | None = None


class Asked(Struct, frozen=True, kw_only=True):
    """Which gates a recipe asks for beside its evals. None: where the server's own arguments say that it can."""

    failed_requests: float
    tools: bool | None = None
    json: bool | None = None


class Order(Point, frozen=True, kw_only=True):
    """A point with all that a machine needs to measure it: what `matrix` prints of an own recipe, and `bench` takes.

    A point is found again by its id; what is served stands here and in no other place, since a runner never has the commit's
    files. `load` is None for an eval, `metric` (lm-eval's `exact_match,strict-match`) is empty for throughput.
    """

    engine: str
    model: str
    revision: str = ""
    weights: str = ""
    kv: str = ""
    args: dict[str, Scalar] = {}
    env: dict[str, Scalar] = {}
    load: Load | None = None
    metric: str = ""
    gates: Asked


class Machine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={
    "startup_minutes": "startup-minutes", "load_minutes": "load-minutes", "request_seconds": "request-seconds"}):
    """What the operator of a runner says of it (a YAML file on the machine; never of a commit that is measured).

    `server` is the command of a server that is already one (launcher `process`), with `{port}`, `{model}`, `{image}` and
    `{args}` in its words; `models` a Hugging Face cache, of which a container gets `hub` alone and may write into it; `env` what
    every server gets beside its recipe's; `mounts` further folders, `host:container`, read only; `slurm` options of srun; `tasks`
    a folder of lm-eval tasks of one's own. Minutes are limits, and so are the seconds of one request (left out: by the length that
    is asked).
    """

    launcher: Launcher = "docker"
    server: tuple[str, ...] = ()
    port: Port | None = None
    models: str = ""
    env: dict[str, str] = {}
    mounts: tuple[str, ...] = ()
    slurm: tuple[str, ...] = ()
    tasks: str = ""
    startup_minutes: Annotated[float, Meta(gt=0)] = 60
    load_minutes: Annotated[float, Meta(gt=0)] = 180
    request_seconds: Annotated[float, Meta(gt=0)] | None = None


class Launched(Struct, frozen=True, kw_only=True):
    """The server as it was started: by what, from which image (as asked; the digest as the launcher found it; the id it has on
    this machine), under which name, with which words (no secret is ever among them). `gpus` are the numbers of the GPUs that it was
    given, as the vendor's tool counts them; None where nothing was handed out here, or nobody tells their numbers."""

    launcher: Launcher
    image: str
    digest: str | None = None
    image_id: str | None = None
    name: str = ""
    command: tuple[str, ...] = ()
    url: str = ""
    gpus: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()


class Said(Struct, frozen=True, kw_only=True):
    """What the server says of itself when it is asked; None where it does not say."""

    version: str | None = None
    commit: str | None = None
    models: tuple[str, ...] = ()
    where: str = ""


class Setting(Struct, frozen=True, kw_only=True):
    """One thing that was asked and what came of it: of the server (its own words), or of the load (what was sent).

    `lowered`: less than asked, which rejects the configuration; `changed`: another value; `unknown`: nobody says.
    """

    name: str
    asked: Scalar
    effective: Scalar = None
    state: Literal["same", "lowered", "changed", "unknown"]
    where: str = ""


class Gate(Struct, frozen=True, kw_only=True):
    """One thing that had to hold: stream, lengths, tools, json, settings, windows, failed-requests, eval, alive.

    `passed` None: it could not be told, and `said` why. Untrusted words (a server's answer) stand in `said` cut short and
    escaped; they are for the terminal and this record. `fault` tells an answer that does not hold (empty) from none at all: the
    server failed (`error`), or was silent until the limit (`hung`).
    """

    name: str
    passed: bool | None
    said: str = ""
    phase: Literal["before", "load", "after"] = "load"
    stream: bool | None = None
    fault: Literal["", "error", "hung"] = ""


class Counts(Struct, frozen=True, kw_only=True):
    """Requests of a point over all repeats. `failed`: no answer or an error; `invalid`: status 200 and yet no whole answer (no
    finish reason, no usage, another length than the workload fixes); `cancelled`: ended by the client itself. `profiled` are
    those that were measured and count. Of an eval, the questions."""

    warmup: int = 0
    profiled: int = 0
    failed: int = 0
    invalid: int = 0
    cancelled: int = 0
    kinds: dict[str, int] = {}


class Device(Struct, frozen=True, kw_only=True):
    """One GPU as the vendor's tool names it. Memory in MiB, clocks in MHz, power in W; `mig`: it is split into slices. None: the
    tool does not say."""

    index: int
    name: str | None = None
    uuid: str | None = None
    memory: int | None = None
    numa: int | None = None
    mig: bool | None = None
    clock: int | None = None
    clock_max: int | None = None
    power_limit: float | None = None


class Strain(Struct, frozen=True, kw_only=True):
    """What one GPU did while it was loaded: lowest, highest clock, highest temperature (C) and power, and by what it was
    throttled in how many of `samples`."""

    index: int
    samples: int
    clock_low: int | None = None
    clock_high: int | None = None
    hottest: float | None = None
    power: float | None = None
    throttled: dict[str, int] = {}


class Hardware(Struct, frozen=True, kw_only=True):
    """The machine as its own tools tell it. `absent` says of each tool that was looked for why it told nothing: what is not
    known is never filled in."""

    host: str = ""
    gpus: tuple[Device, ...] | None = None
    driver: str | None = None
    runtime: str | None = None
    strain: tuple[Strain, ...] = ()
    cpu: str | None = None
    cores: int | None = None
    memory: int | None = None
    numa: int | None = None
    kernel: str | None = None
    absent: dict[str, str] = {}


class Report(Struct, frozen=True, kw_only=True):
    """`results/bench.json`: all that one run of `bench` knows of itself; written before anything starts (`running`) and again
    at every end. `exit_code` is what the command ends with; None while it runs. `seconds` are spans by name (launch, ready,
    gates, load, evals, stop, whole, harness); `files` every file beside it and under `logs/` (names start with `results/` or
    `logs/`) with its SHA-256."""

    version: Literal[1] = 1
    bumpbot: str
    state: State
    reason: str = ""
    hint: str = ""
    exit_code: int | None = None
    order: Order
    began: str
    ended: str | None = None
    launched: Launched | None = None
    said: Said | None = None
    hardware: Hardware | None = None
    settings: tuple[Setting, ...] = ()
    gates: tuple[Gate, ...] = ()
    counts: Counts = Counts()
    rows: tuple[Row, ...] = ()
    tools: dict[str, str] = {}
    seconds: dict[str, float] = {}
    files: tuple[Filed, ...] = ()

    @property
    def good(self) -> bool:
        """Whether everything was measured and every gate holds."""
        return self.state == "complete" and all(gate.passed is not False for gate in self.gates)
