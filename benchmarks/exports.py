"""A large AIPerf request export: how long bumpbot takes, beside json.loads alone, and whether its numbers are right.

    python -m benchmarks.exports [--requests 1000000] [--folder DIR]

The export is made here, the same at each run, and removed again: lines of about 2.8 kB with all keys that AIPerf 0.13 writes,
a warm-up, conversations of six turns, a few errors and a few answers of one token. Each reading runs in a process of its
own: `json.loads` of every line and nothing else; a plain reference that keeps lists and sorts them; bumpbot in one process;
bumpbot as the command line runs it, with a process a core. Exit 1 where bumpbot's numbers are not the reference's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.requests import write
from bot.adapters.processes import Processes
from bot.results.aiperf.records import parse
from bot.results.parsed import Context

SHARES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
SPREADS = {"ttft": ("time_to_first_token", 1e-3), "itl": ("inter_token_latency", 1e-3), "e2el": ("request_latency", 1e-3),
           "intvty": ("output_token_throughput_per_user", 1.0)}
CLOSE = 1e-9
MB = 1_000_000


def loads(file: Path) -> dict[str, float]:
    """The least that reading JSON in Python costs."""
    with file.open("rb") as stream:
        for line in stream:
            json.loads(line)
    return {}


def reference(file: Path) -> dict[str, float]:
    """The numbers as anyone would write them down."""
    kept, counts, seen = [], Counter[str](), Counter[str]()
    talks: dict[str, bool] = {}
    columns: dict[str, list[float]] = {name: [] for name in (*(field for field, _ in SPREADS.values()), "output_sequence_length",
                                                             "input_sequence_length")}
    with file.open("rb") as stream:
        for line in stream:
            record = json.loads(line)
            meta, metrics = record["metadata"], record["metrics"]
            seen[meta["x_request_id"]] += 1
            failed = record.get("error") is not None
            counts["total"] += 1
            counts[f"{meta['benchmark_phase']}_invalid"] += failed
            if meta["benchmark_phase"] != "profiling":
                continue
            talks[meta["conversation_id"]] = talks.get(meta["conversation_id"], False) or failed
            if failed:
                continue
            kept.append((meta["request_start_ns"], metrics["request_latency"]["value"]))
            for name, column in columns.items():
                if name in metrics:
                    column.append(metrics[name]["value"])
    assert max(seen.values()) == 1
    seconds = (max(start + round(took * 1e6) for start, took in kept) - min(start for start, _ in kept)) / 1e9
    osl, isl = sum(columns["output_sequence_length"]), sum(columns["input_sequence_length"])
    made = {"total": counts["total"], "warmup_invalid": counts["warmup_invalid"], "profiling_invalid": counts["profiling_invalid"],
            "conversations": len(talks), "conversations_invalid": sum(talks.values()), "profiled_requests": len(kept),
            "request_tput": len(kept) / seconds, "output_tput": osl / seconds, "input_tput": isl / seconds,
            "total_tput": (osl + isl) / seconds}
    for metric, (field, scale) in SPREADS.items():
        ordered = sorted(columns[field])
        made[f"{metric} mean"] = statistics.fmean(ordered) * scale
        for stat, share in SHARES.items():
            place = share * (len(ordered) - 1)
            low, high = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
            made[f"{metric} {stat}"] = (low + (place - int(place)) * (high - low)) * scale
    return made


def bumpbot(file: Path, processes: Processes | None = None) -> dict[str, float]:
    """Ours, in the same words."""
    with file.open("rb") as stream:
        told = parse(stream, file.name, Context(recipe="benchmark", spread=processes))
    (counted,) = told.accounting
    made = {key: float(getattr(counted, key) or 0) for key in
            ("total", "warmup_invalid", "profiling_invalid", "conversations", "conversations_invalid")}
    return made | {" ".join(filter(None, (row.metric, row.stat))): row.value for row in told.rows}


WAYS: dict[str, tuple[str, Callable[[Path], dict[str, float]]]] = {
    "loads": ("json.loads", loads),
    "reference": ("plain reference", reference),
    "one": ("bumpbot, one process", bumpbot),
    "all": ("bumpbot", lambda file: bumpbot(file, Processes())),
}


def measured(way: str, file: Path) -> dict[str, Any]:
    """What one way of reading says, and what it took: seconds, seconds of CPU and MB of all its processes together."""
    began = perf_counter()
    numbers = WAYS[way][1](file)
    seconds = perf_counter() - began
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    # Of children only the largest is told; each counts as that one.
    memory = own.ru_maxrss + others.ru_maxrss * (len(os.sched_getaffinity(0)) - 1)
    return {"numbers": numbers, "seconds": seconds, "cpu": sum((*own[:2], *others[:2])), "memory": memory * 1024 / MB}


def apart(ours: dict[str, float], theirs: dict[str, float]) -> float:
    """The largest relative difference; infinite where one side lacks a number."""
    if ours.keys() != theirs.keys():
        return float("inf")
    return max(abs(ours[key] - value) / max(abs(value), 1e-300) if ours[key] != value else 0.0 for key, value in theirs.items())


def compare(file: Path) -> bool:
    """Measures each way in a process of its own and prints a table; True where the numbers agree."""
    made = {}
    for way in WAYS:
        run = subprocess.run([sys.executable, "-m", "benchmarks.exports", "--measure", way, str(file)], check=True,
                             stdout=subprocess.PIPE, cwd=Path(__file__).parents[1])
        made[way] = json.loads(run.stdout)
    base, size = made["loads"], file.stat().st_size / MB
    print(f"{'':<22} {'seconds':>8} {'CPU s':>8} {'times':>6} {'MB/s':>7} {'MB':>6}  numbers")
    for way, (title, _) in WAYS.items():
        told = made[way]
        far = apart(told["numbers"], made["reference"]["numbers"]) if way != "loads" else None
        same = "" if far is None else "the same" if far == 0 else f"{far:.1e} apart"
        print(f"{title:<22} {told['seconds']:>8.2f} {told['cpu']:>8.2f} {base['seconds'] / told['seconds']:>6.2f} "
              f"{size / told['seconds']:>7.0f} {told['memory']:>6.0f}  {same}")
    return all(apart(made[way]["numbers"], made["reference"]["numbers"]) <= CLOSE for way in ("one", "all"))


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.exports", description="a large request export, read")
    options.add_argument("--requests", type=int, default=1_000_000)
    options.add_argument("--folder", type=Path, help="where the export is made (2.8 GB for a million requests)")
    options.add_argument("--measure", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.measure:
        print(json.dumps(measured(asked.measure[0], Path(asked.measure[1]))))
        return 0
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        file = Path(folder) / "profile_export.jsonl"
        write(file, asked.requests)
        print(f"{asked.requests} requests, {file.stat().st_size / MB:.0f} MB, {len(os.sched_getaffinity(0))} cores, "
              f"load {os.getloadavg()[0]:.1f} before")
        return 0 if compare(file) else 1


if __name__ == "__main__":
    sys.exit(main())
