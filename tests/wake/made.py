"""One run, its jobs and its artifacts, small enough to say in a line; the forge that holds them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, BinaryIO

from msgspec.structs import replace

from bot.adapters.assets import PackagedAssets
from bot.cli.wiring import knowledge
from bot.layout import Layout
from bot.layout.records import Artifacts
from bot.model.bump import Judged
from bot.model.forge import Artifact
from bot.model.ledger import Snapshot
from bot.model.run import Job
from bot.wake.evidence import judge_all
from tests.fakes.facts import PROPOSAL, bump, later, run
from tests.results.made import agentic, eval_row

NAMES = Artifacts(results=("bmk_*", "eval_*"), logs=("*server_logs_*",), evals=("eval_*",))
KNOWN = knowledge(PackagedAssets())
OOM = "ERROR 09-10 07:00:00 [core.py:1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


def zipped(files: dict[str, Any]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, (str, bytes)) else json.dumps(value))
    return made.getvalue()


def artifact(number: int, name: str, minutes: float = 60.0, **changed: Any) -> Artifact:
    return replace(Artifact(id=number, name=name, size=1, created=later(minutes), expired=False), **changed)


def job(number: int = 1, *, role: str = "throughput", concurrency: int | None = 4, name: str | None = None, attempt: int = 1,
        conclusion: str | None = "success", begins: float | None = 0, ends: float | None = 60, gpus: int = 16) -> Job:
    return Job(id=number, name=name or f"{role} c{concurrency}", attempt=attempt, gpus=gpus, role=role, concurrency=concurrency,
               status="completed" if ends is not None else "in_progress", conclusion=conclusion if ends is not None else None,
               started=later(begins) if begins is not None else None, completed=later(ends) if ends is not None else None)


class Forge:
    """Artifacts by id: their zip's bytes, or the error that fetching them raises."""

    def __init__(self, held: Sequence[tuple[Artifact, bytes | Exception]]) -> None:
        self.held, self.fetched = {one.id: (one, data) for one, data in held}, []

    def artifacts(self, run: int) -> list[Artifact]:
        return [one for one, _ in self.held.values()]

    def download(self, number: int, into: BinaryIO, limit: int) -> int:
        self.fetched.append(number)
        data = self.held[number][1]
        if isinstance(data, Exception):
            raise data
        return into.write(data)


class Shelf:
    """A ledger's files as records, by path."""

    def __init__(self, **files: Any) -> None:
        self.files = files

    def tip(self) -> Snapshot:
        return Snapshot(oid="1" * 40, paths=dict.fromkeys(self.files, "2" * 40))

    def load(self, snapshot: Snapshot, path: str, kind: type) -> Any:
        return self.files.get(path)


def judged(jobs: Sequence[Job], *held: tuple[Artifact, bytes | Exception], known: Sequence[Judged] = (), of: Any = None,
           stage: str = "smoke", status: str = "completed") -> Judged | None:
    return look(Forge(held), jobs, known=known, of=of, stage=stage, status=status)


def look(forge: Forge, jobs: Sequence[Job], *, known: Sequence[Judged] = (), of: Any = None, stage: str = "smoke",
         status: str = "completed", layout: Layout | None = None, ledger: Any = None) -> Judged | None:
    context: Any = SimpleNamespace(forge=forge, layout=layout or Layout(artifacts=NAMES), knowledge=KNOWN, ledger=ledger or Shelf(),
                                   narrate=lambda line: None)
    found = judge_all(context, of or bump("proposal"), [run(9, stage, PROPOSAL, *jobs, status=status)], known)
    return found[0] if found else None


def result(number: int = 1, conc: int = 4, tput: float = 900.0, minutes: float = 60.0, name: str = "", **said: Any) -> Any:
    """A throughput artifact of the candidate. What `said` names is changed in the artifact or else in its result file."""
    about = {key: said.pop(key) for key in ("expired", "size") if key in said}
    row = agentic(conc, tput) | {"image": "vllm/vllm-openai:new"} | said
    return artifact(number, name or f"bmk_r_conc{conc}_n0", minutes, **about), zipped({f"r_conc{conc}.json": row})


def score(number: int = 2, conc: int = 4, strict: float = 0.95, minutes: float = 60.0) -> Any:
    return artifact(number, f"eval_r_conc{conc}_n0", minutes), zipped({"agg_eval.json": [eval_row(conc, strict, strict)]})


def log(number: int = 3, conc: int = 4, text: str | bytes = OOM, minutes: float = 60.0, name: str = "") -> Any:
    return artifact(number, name or f"server_logs_r_conc{conc}_n0", minutes), zipped({"node1_worker_0.log": text})


def tputs(found: Judged | None) -> list[float]:
    return [row.value for row in found.rows if row.metric == "tput_per_gpu"] if found else []
