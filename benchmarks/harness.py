"""What a measurement costs beside the measuring: the seconds of `bumpbot bench` that are neither the server's nor a tool's.

    python -m benchmarks.harness            a point of two repeats with a stand-in of AIPerf, ten runs
    python -m benchmarks.harness --real DIR once with the aiperf in DIR

`whole` is from outside: from the start of the program to its end, Python's own start included. `harness` is what the report says
itself; `beside` is whole without the server's start, the tools, the answers of the gates, and the stop. Aim: under 3 s.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from bot.bench.stages import OTHERS
from bot.model.bench import Asked, Load, Order
from bot.rehearse.engine import model

ROOT = Path(__file__).parents[1]
AIM_S = 3.0
ORDER = Order(id="toy/0/c4", recipe="toy", kind="throughput", image="vllm/vllm-openai:v0.25.1", hardware="cpu", gpus=1,
              topology="TP1", workload="chat", concurrency=4, runner="", fingerprint="f" * 64, engine="vllm", model="acme/toy",
              load=Load(input=64, output=16, requests=12, repeats=2, warmup=4), gates=Asked(failed_requests=0.1))


def run(folder: Path, path: str) -> dict[str, float]:
    """One whole measurement in a process of its own; seconds by name."""
    model.lay_out(folder / "hf", ORDER.model, "e" * 40)
    (folder / "point.json").write_bytes(msgspec.json.encode(ORDER))
    server = [sys.executable, "-m", "bot.rehearse.engine", "--port", "{port}", "--model", "{model}", "--image", "{image}",
              "--tokenizer", str(model.TOKENIZER)]
    (folder / "machine.yml").write_text(f"launcher: process\nserver: {json.dumps(server)}\nenv: {{PYTHONPATH: {ROOT}}}\n")
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "bot", "bench", str(folder / "point.json"), "--machine", str(folder / "machine.yml"), "--out",
         str(folder / "out"), "--format", "json"],
        env={"PATH": path, "HF_HOME": str(folder / "hf"), "PYTHONPATH": str(ROOT), "HOME": str(folder)}, capture_output=True)
    whole = time.monotonic() - began
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    told = json.loads(done.stdout)["seconds"]
    return {"whole": whole, "harness": told["harness"], "beside": whole - sum(told.get(name, 0.0) for name in OTHERS)}


def main() -> None:
    """Prints median and worst of each, and exits with 1 where the worst misses the aim."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--real", type=Path, help="the folder of a real aiperf")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        if asked.real is not None:
            path, runs = f"{asked.real}:{os.environ['PATH']}", 1
        else:
            from tests.fakes import tools

            path, runs = f"{tools.folder(root / 'bin')}:{os.environ['PATH']}", asked.runs
        found = []
        for number in range(runs):
            folder = root / str(number)
            folder.mkdir()
            found.append(run(folder, path))
    for part in ("whole", "beside", "harness"):
        values = [one[part] for one in found]
        print(f"{part:8} median {statistics.median(values):6.2f} s   worst {max(values):6.2f} s   n {len(values)}")
    raise SystemExit(int(max(one["beside"] for one in found) > AIM_S))


if __name__ == "__main__":
    main()
