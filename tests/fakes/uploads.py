"""A run's artifacts as a machine that measured would upload them, each an archive; and what a dishonest one would."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from bot.bench import kept
from bot.cli.jobs import jobs_of
from bot.model.bench import Counts, Gate, Launched, Report, Said
from bot.model.result import Cell, Row
from bot.model.swept import Planned
from bot.recipe import own

DIGEST = f"sha256:{'d' * 64}"
RECIPE = """name: {name}
image: vllm/vllm-openai:v0.25.1
engine: {{name: vllm}}
model: {{repo: acme/toy}}
hardware: {{gpu: h200, gpus: 4, runner: [self-hosted, h200]}}
serve: {{args: {{tensor-parallel-size: 4}}}}
workload: {{kind: chat, output: 32, input: 64, requests: {{1: 8, 16: 32}}}}
evals: [{{task: gsm8k, threshold: 0.9}}]
"""
SPEED = {("tput_per_gpu", None): 900.0, ("output_tput", None): 1200.0, ("ttft", "p50"): 0.2, ("itl", "p50"): 0.009}
UNITS = {"tput_per_gpu": "tok/s/GPU", "output_tput": "tok/s", "ttft": "s", "itl": "s", "eval": "share"}


def plan(*names: str, whole: Iterable[str] | None = None) -> tuple[Planned, ...]:
    """The jobs of recipes of these names, each with two points and an eval."""
    recipes = [own.load(RECIPE.format(name=name).encode(), f"recipes/{name}.yaml") for name in names]
    orders = [order for recipe in recipes for order in own.orders(recipe, own.points(recipe))]
    return msgspec.json.decode(msgspec.json.encode(jobs_of(orders, names if whole is None else whole)), type=tuple[Planned, ...])


def report(job: Planned, **changed: Any) -> Report:
    """A job's report: complete, every gate holding, from one digest, the server of the image's own version."""
    order = job.point
    cell = Cell(recipe=order.recipe, concurrency=order.concurrency, workload=order.workload, topology=order.topology,
                fingerprint=order.fingerprint)
    image = f"{order.image}@{DIGEST}"
    if order.eval:
        rows = [Row(point=cell, metric="eval", stat="strict", task=order.eval.task, value=0.95, unit="share", n=100, correct=95, image=image)]
    else:
        rows = [Row(point=cell, metric=metric, stat=stat, value=value * order.concurrency if stat is None else value, unit=UNITS[metric],
                    n=8, image=image) for (metric, stat), value in SPEED.items()]
    made: dict[str, Any] = {
        "bumpbot": "0.1", "state": "complete", "order": order, "began": "2026-09-01T12:00:00Z", "ended": "2026-09-01T12:30:00Z",
        "launched": Launched(launcher="docker", image=order.image, digest=DIGEST), "said": Said(version="0.25.1"),
        "gates": (Gate(name="stream", passed=True),), "counts": Counts(warmup=1, profiled=8), "rows": tuple(rows)}
    return Report(**(made | changed))


def folders(place: Path, told: Report) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """What bench leaves in `results` and `logs` of this report, written by its own hand."""
    made = kept.opened(place)
    (made.logs / "server.log").write_text("ready\n")
    (made.results / "aiperf").mkdir()
    (made.results / "aiperf" / ".ready.json").write_text("{}")
    kept.rows(made, told.rows)
    kept.closed(made)
    known = kept.files(made)
    kept.report(made, told, sync=False)
    kept.sums(made, known)
    return _files(made.results), _files(made.logs)


def sealed(files: Mapping[str, bytes], logs: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same with sums that fit: what a machine writes that changes results and knows of the sums."""
    all_ = {f"results/{path}": data for path, data in files.items() if path != "SHA256SUMS"} | {f"logs/{path}": data for path, data in logs.items()}
    lines = "".join(f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(all_.items()))
    return {**files, "SHA256SUMS": lines.encode()}


def packed(files: Mapping[str, bytes], *, links: Mapping[str, str] | None = None) -> bytes:
    """An archive; `links` are symbolic ones."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
        for path, target in (links or {}).items():
            info = zipfile.ZipInfo(path)
            info.create_system, info.external_attr = 3, 0o120777 << 16
            archive.writestr(info, target)
    return made.getvalue()


class Uploads:
    """A folder of artifacts as they are downloaded, without being unpacked."""

    def __init__(self, folder: Path, jobs: Iterable[Planned]) -> None:
        self.folder, self.jobs, self._scratch = folder / "artifacts", tuple(jobs), folder
        self.folder.mkdir()
        self.data = json.dumps(msgspec.to_builtins(self.jobs)).encode()
        self.put("plan_attempt1", packed({"jobs.json": self.data}))

    @property
    def plan(self) -> str:
        return f"sha256:{hashlib.sha256(self.data).hexdigest()}"

    def put(self, name: str, data: bytes, *, again: str = "") -> None:
        """One artifact's archive; `again` puts a second one beside it."""
        place = self.folder / name
        place.mkdir(exist_ok=True)
        (place / f"{name}{again}.zip").write_bytes(data)

    def measured(self, job: Planned, *, attempt: int = 1, **changed: Any) -> None:
        """What an honest machine uploads of a job."""
        results, logs = folders(self._scratch / f"{job.results}_{attempt}", report(job, **changed))
        self.put(f"{job.results}_attempt{attempt}", packed(results))
        self.put(f"{job.logs}_attempt{attempt}", packed(logs))

    def everything(self) -> None:
        """All jobs, honestly."""
        for job in self.jobs:
            self.measured(job)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


__all__ = ["DIGEST", "Uploads", "folders", "packed", "plan", "report", "sealed"]
