"""The published baselines on loopback, in the shape of the InferenceX application's public API (GET, no login).

Routes: /api/v1/benchmarks, /benchmarks/history, /workflow-info, /evaluations, /availability. A row is what one producing run
measured at one concurrency. What only the producing run's own artifacts tell (requests profiled and dropped, the answers of
its eval) is no part of that API; it is served apart, at /companion, so that nobody takes it for a route of the real one.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from bot.model.result import Accounting, Samples
from bot.rehearse.loopback import Loopback, Reply, Request, json_reply

Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
AGENTIC = "agentic_traces"


class Workers(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The configuration a row belongs to. Aggregated servers mirror their one worker into both roles."""

    hardware: str
    framework: str
    model: str
    precision: str
    spec_method: str
    disagg: bool
    is_multinode: bool
    prefill_tp: int
    prefill_ep: int
    prefill_dp_attention: bool
    prefill_num_workers: int
    decode_tp: int
    decode_ep: int
    decode_dp_attention: bool
    decode_num_workers: int
    num_prefill_gpu: int
    num_decode_gpu: int
    conc: int
    date: Day
    run_url: str
    id: str


class Benchmark(Workers, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One measured point. `metrics` are flat: median_ttft in seconds, tput_per_gpu in tokens per second and GPU."""

    benchmark_type: str
    image: str | None
    recipe_fingerprint: str | None
    metrics: dict[str, float]
    offload_mode: str = "off"
    isl: int | None = None
    osl: int | None = None


class Evaluation(Workers, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One published eval; it names neither image nor fingerprint, so its run is what ties it to a baseline."""

    task: str
    metrics: dict[str, float]
    timestamp: str


class Producer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A workflow run that published something."""

    github_run_id: str
    run_attempt: int
    name: str
    conclusion: str
    html_url: str
    created_at: str
    date: Day
    head_sha: str
    benchmark_type: str = AGENTIC


class Change(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The changelog entry a run belongs to; `workflow_run_id` is GitHub's run id."""

    workflow_run_id: str
    date: Day
    base_ref: str
    head_ref: str
    config_keys: tuple[str, ...]
    description: str
    pr_link: str


class Companion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a producing run's artifacts tell beside the API: its requests by phase, and its eval's answers counted."""

    run: int
    attempt: int
    head: str
    pull: int
    fingerprint: str | None = None
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()


class PublishedData(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """baseline.json. `models` maps the name people see to the raw model names its rows carry."""

    models: dict[str, tuple[str, ...]] = {}
    benchmarks: tuple[Benchmark, ...] = ()
    evaluations: tuple[Evaluation, ...] = ()
    runs: tuple[Producer, ...] = ()
    changelogs: tuple[Change, ...] = ()
    companions: tuple[Companion, ...] = ()


class LoopbackPublished:
    """Serves one baseline.json. `counts` tells how often each route was asked."""

    def __init__(self, data: PublishedData) -> None:
        self._data = data
        self.counts: Counter[str] = Counter()
        self._server = Loopback(self._answer)
        self._routes = {
            "/api/v1/benchmarks": self._benchmarks,
            "/api/v1/benchmarks/history": self._history,
            "/api/v1/workflow-info": self._workflow_info,
            "/api/v1/evaluations": self._evaluations,
            "/api/v1/availability": self._availability,
            "/companion": self._companion,
        }

    @property
    def url(self) -> str:
        return self._server.url

    def start(self) -> str:
        return self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def _answer(self, request: Request) -> Reply:
        route = self._routes.get(request.path.rstrip("/"))
        if route is None:
            return json_reply({"error": "Not found"}, status=404)
        self.counts[request.path.rstrip("/").rsplit("/", 1)[-1]] += 1
        return route(request.query)

    def _benchmarks(self, query: dict[str, str]) -> Reply:
        """Rows of one model: those of a day (`exact`), of a run (`exactRun`), or the newest of each line up to a
        day."""
        names = self._data.models.get(query.get("model", ""))
        if names is None:
            return json_reply({"error": "Unknown model"}, status=400)
        rows = [row for row in self._data.benchmarks if row.model in names]
        if query.get("exactRun") == "true" and "runId" in query:
            rows = [row for row in rows if f"/runs/{query['runId']}/" in f"{row.run_url}/"]
        elif query.get("exact") == "true":
            rows = [row for row in rows if row.date == query.get("date")]
        else:
            rows = _newest([row for row in rows if row.date <= query.get("date", "9999-12-31")])
        return _rows(rows)

    def _history(self, query: dict[str, str]) -> Reply:
        """Every dated row of one model's workload."""
        names = self._data.models.get(query.get("model", ""))
        if names is None:
            return json_reply({"error": "Unknown model"}, status=400)
        agentic = query.get("benchmarkType") == AGENTIC
        lengths = (query.get("isl"), query.get("osl"))
        return _rows([row for row in self._data.benchmarks if row.model in names and (
            row.benchmark_type == AGENTIC if agentic else (str(row.isl), str(row.osl)) == lengths)])

    def _workflow_info(self, query: dict[str, str]) -> Reply:
        day = query.get("date")
        if not day:
            return json_reply({"error": "date is required"}, status=400)
        kind = query.get("benchmarkType")
        runs = [run for run in self._data.runs if run.date == day and kind in (None, run.benchmark_type)]
        ids = {run.github_run_id for run in runs}
        changes = [change for change in self._data.changelogs if change.workflow_run_id in ids]
        listed = [
            {
                "github_run_id": run.github_run_id,
                "run_started_at": run.created_at,
                "html_url": run.html_url,
                "head_sha": run.head_sha,
                "benchmark_type": run.benchmark_type,
            }
            for run in runs
        ]
        shown = [
            {key: value for key, value in msgspec.to_builtins(run).items() if key not in ("head_sha", "benchmark_type")}
            for run in runs
        ]
        return json_reply(
            {
                "runs": shown,
                "changelogs": msgspec.to_builtins(changes),
                "runConfigs": listed,
                "configs": self._configurations(day),
            },
            headers=_CACHE,
        )

    def _configurations(self, day: str) -> list[dict[str, Any]]:
        keys = ("model", "isl", "osl", "precision", "hardware", "framework", "spec_method", "disagg")
        seen = {tuple(getattr(row, key) for key in keys) for row in self._data.benchmarks if row.date == day}
        return [dict(zip(keys, values, strict=True)) for values in sorted(seen, key=str)]

    def _evaluations(self, query: dict[str, str]) -> Reply:
        return _rows(self._data.evaluations)

    def _availability(self, query: dict[str, str]) -> Reply:
        keys = (
            "model",
            "isl",
            "osl",
            "precision",
            "hardware",
            "framework",
            "spec_method",
            "disagg",
            "benchmark_type",
            "date",
        )
        seen = {tuple(getattr(row, key) for key in keys) for row in self._data.benchmarks}
        return json_reply([dict(zip(keys, values, strict=True)) for values in sorted(seen, key=str)], headers=_CACHE)

    def _companion(self, query: dict[str, str]) -> Reply:
        found = [one for one in self._data.companions if str(one.run) == query.get("run")]
        return json_reply(msgspec.to_builtins(found[0])) if found else json_reply({"error": "Not found"}, status=404)


_CACHE = {"Cache-Control": "public, max-age=300"}


def _rows(rows: Any) -> Reply:
    return json_reply([msgspec.to_builtins(row) for row in rows], headers=_CACHE)


def _newest(rows: list[Benchmark]) -> list[Benchmark]:
    """For each line (configuration, workload, offload) the rows of its newest day: an older day's leftovers do not
    show."""
    latest: dict[tuple[Any, ...], str] = {}
    for row in rows:
        latest[_line(row)] = max(latest.get(_line(row), ""), row.date)
    return [row for row in rows if row.date == latest[_line(row)]]


def _line(row: Benchmark) -> tuple[Any, ...]:
    return (
        row.hardware,
        row.framework,
        row.model,
        row.precision,
        row.spec_method,
        row.disagg,
        row.prefill_tp,
        row.prefill_ep,
        row.prefill_num_workers,
        row.decode_tp,
        row.decode_ep,
        row.decode_num_workers,
        row.benchmark_type,
        row.isl,
        row.osl,
        row.offload_mode,
    )
