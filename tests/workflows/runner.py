"""A machine that measures, without a GPU: the small server that ships with bumpbot, behind the launcher `process`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from bot.rehearse.engine import model
from tests.workflows.act import ROOT

TASK = "bumpbot_arithmetic"
RECIPE = """name: toy
image: {name}:v1.0.0  # moves
engine: {{name: sglang}}
model: {{repo: acme/toy}}
hardware: {{gpu: h200, gpus: 4, runner: [self-hosted, h200]}}
workload: {{kind: chat, input: 32, output: 16, requests: {{1: 2, 4: 4}}}}
evals: [{{task: bumpbot_arithmetic, threshold: 0.9, limit: 24, metric: exact_match, strict-match}}]
"""


def machine(folder: Path, *faults: str) -> dict[str, str]:
    """The environment that the operator of such a runner sets: its machine file, a cache with the model's tokenizer. `faults` are
    what the server does wrong, in its own words."""
    folder.mkdir()
    model.lay_out(folder / "models", "acme/toy")
    server = folder / "server"
    server.write_text(f"#!/bin/sh\nexport PYTHONPATH={shlex.quote(str(ROOT))}\nexec {shlex.quote(sys.executable)} -m bot.rehearse.engine \"$@\"\n")
    server.chmod(0o755)
    words = [str(server), "--port", "{port}", "--model", "{model}", "--engine", "sglang", "--ttft-ms", "80",
             "--itl-ms", "1", *faults, "{args}"]
    # Requests that are long enough to be in flight together also on a busy machine.
    file = folder / "machine.yaml"
    file.write_text(json.dumps({"launcher": "process", "server": words, "models": str(folder / "models"),
                                "tasks": str(ROOT / "bot" / "rehearse" / "engine" / "tasks")}))
    return {"BUMPBOT_MACHINE": str(file)}
