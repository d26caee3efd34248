"""Records what the real AIPerf writes and says beside the test server, for the stand-in (tests/fakes/tools) to be held against.

Needs AIPerf on the PATH and takes about 20 s a case; paths and ports are written alike each time, times and ids are not:

    python -m tests.bench.make_aiperf_exports [CASE...] [--into DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from bot.bench.load import command, environment
from bot.model.bench import Asked, Load, Machine, Order
from bot.rehearse.engine import model
from bot.rehearse.engine.process import beside

HERE = Path(__file__).parent / "fixtures/aiperf"
FOLDER = "/run/results/aiperf/profile_runs/run_0001"
READ = ("profile_export_aiperf.json", "profile_export.jsonl", "profile_export_raw.jsonl", ".aiperf_results_ready.json",
        "phase_manifest.json", "server_metrics_export.json")
"""Files that are kept of every case; of the others only the names, but for the first case, of which all are kept."""
_LOAD = Load(input=24, output=8, requests=6, repeats=1, warmup=2)


@dataclass(frozen=True)
class Case:
    """One run: the server's words (None: nobody listens), the load, and the signal that it gets once it measures."""

    server: tuple[str, ...] | None = ()
    load: Load = _LOAD
    concurrency: int = 2
    ask: signal.Signals | None = None
    model: str = model.NAME
    extra: tuple[str, ...] = ()


_SLOW = ("--itl-ms", "200")


def _load(**told: object) -> Load:
    return Load(**{**{name: getattr(_LOAD, name) for name in Load.__struct_fields__}, **told})


CASES = {
    "whole": Case(),
    "faults": Case(server=("--fault", "error-500:5", "--fault", "no-finish-reason:7", "--fault", "no-usage:4"),
                   load=_load(requests=12)),
    "plain": Case(server=("--fault", "wrong-length:3", "--fault", "error-500:4"), load=_load(stream=False, warmup=0)),
    "stopped": Case(server=_SLOW, load=_load(requests=60), ask=signal.SIGINT),
    "killed": Case(server=_SLOW, load=_load(requests=60), ask=signal.SIGTERM),
    "down": Case(server=None),
    "no-tokenizer": Case(model="bumpbot/nowhere"),
    "refused": Case(extra=("--custom-dataset-type", "nope")),
}


def order(case: Case) -> Order:
    """The order of a case."""
    return Order(id="r/0/c2", recipe="r", kind="throughput", image="r", hardware="cpu", gpus=1, topology="TP1", workload="chat",
                 concurrency=case.concurrency, runner="", fingerprint="0", engine="vllm", model=case.model,
                 revision=model.REVISION, load=case.load, gates=Asked(failed_requests=0.1))


def record(case: Case, into: Path) -> None:
    """One case into a folder: AIPerf's own files, `console.log`, and `end.json` with its words and exit code."""
    shutil.rmtree(into, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="bumpbot-record-") as made, _server(case) as url:
        home, out = Path(made), Path(made) / "out"
        cache, out_log = home / "hf", home / "console.log"
        model.lay_out(cache)
        asked = order(case)
        ask = command.Ask(order=asked, load=case.load, url=url, name=case.model, seed=command.seed(1), folder=out, limit_s=30)
        words = [*command.words(ask), *case.extra]
        env = environment.of(asked, Machine(models=str(cache)), {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}, home)
        with out_log.open("wb") as log:
            running = subprocess.Popen(words, stdout=log, stderr=log, env={"PATH": os.environ["PATH"], **env},
                                       stdin=subprocess.DEVNULL)
            if case.ask:
                _until_measuring(out_log)
                running.send_signal(case.ask)
            code = running.wait(180)
        _keep(home, out, url, words, code, into)


def _until_measuring(log: Path) -> None:
    for _ in range(1200):
        if b"Phase profiling (profiling) started" in log.read_bytes():
            break
        time.sleep(0.1)
    time.sleep(4)


def _keep(home: Path, out: Path, url: str, words: list[str], code: int, into: Path) -> None:
    programs = Path(shutil.which("aiperf") or "aiperf").resolve().parents[1]
    names = ((str(out.resolve()), FOLDER), (str(home), "/home"), (str(programs), "/opt/aiperf"),
             (sys.base_prefix, "/opt/python"), (url, "http://127.0.0.1:8000"),
             (url.removeprefix("http://"), "127.0.0.1:8000"), (f"port={url.rpartition(':')[2]}", "port=8000"))

    def plain(text: str) -> str:
        for said, written in names:
            text = text.replace(said, written)
        return text

    into.mkdir(parents=True)
    files = sorted(path for path in out.rglob("*") if path.is_file())
    for path in files if into.name == "whole" else [path for path in files if path.name in READ and "phases" not in path.parts]:
        target = into / "out" / path.relative_to(out)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(plain(path.read_text(encoding="utf-8")), encoding="utf-8")
    (into / "console.log").write_text(plain((home / "console.log").read_text(encoding="utf-8")), encoding="utf-8")
    (into / "end.json").write_text(json.dumps({
        "words": [plain(word) for word in words], "code": code,
        "files": [path.relative_to(out).as_posix() for path in files]}, indent=1) + "\n",
                                   encoding="utf-8")


@contextmanager
def _server(case: Case) -> Iterator[str]:
    if case.server is None:
        with nullcontext():
            yield "http://127.0.0.1:9"
        return
    with beside("--model", model.NAME, "--tokenizer", str(model.TOKENIZER), "--ttft-ms", "20", "--itl-ms", "5",
                *case.server) as server:
        yield server.url


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--into", type=Path, default=HERE)
    given = parser.parse_args()
    for name in given.cases:
        record(CASES[name], given.into / name)


if __name__ == "__main__":
    main()
