
"""The guest repository: files of the InferenceX snapshot of 2026-08-22 (Apache-2.0), cut down to what the story touches.

SEED: the dcp16 recipe sets dyn-chat-processor: "vllm" and the three options that only it accepts, and keeps
trust-remote-code; the GB300 recipes run the new image already. Everything else is the snapshot's text, unchanged.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.rehearse.kimi_k3_gb200.numbers import NEW_TAG, OLD, RECIPE

RECIPES = "benchmarks/multi_node/srt-slurm-recipes"
GB300 = "kimik3-fp4-gb300-dynamo-vllm-agentic-dspark-mooncake-dcp8-agg"
KEYS = (
    "kimik3-fp4-gb200-dynamo-vllm-agentic",
    RECIPE,
    "kimik3-fp4-gb200-dynamo-vllm-agentic-mooncake-dcp16-agg",
    GB300,
)
OPTIONS = (
    '    dyn-chat-processor: "vllm"\n',
    "    tool-call-parser: kimi_k3\n",
    "    reasoning-parser: kimi_k3\n",
    "    enable-auto-tool-choice: true\n",
    "    trust-remote-code: true\n",
)
ENTRIES = (2686, 2700, 2663, 2685, 2707)
LAYOUT = """# bumpbot reads this file from the default branch.
version: 1
preset: inferencex
# Drafts sweep here since September; the preset knows the state of August.
sweep: {drafts: true}
"""
NOTICE = """The files of this folder come from SemiAnalysisAI/InferenceX (https://github.com/SemiAnalysisAI/InferenceX), state of
2026-08-22, Copyright 2025 SemiAnalysis LLC, Advanced Micro Devices, NVIDIA CORPORATION, under the Apache License 2.0 (LICENSE).

Changed for this rehearsal: configs/nvidia-master.yaml and perf-changelog.yaml hold a few entries only; the recipe
agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml has five more lines under frontend.args; the GB300 entry and its recipe
name a newer image; .github/bumpbot.yml and this file are new.
"""


def write(snapshot: Path, licence: Path, target: Path) -> None:
    master = (snapshot / "configs/nvidia-master.yaml").read_text()
    entries = [_entry(master, key) for key in KEYS]
    entries[-1] = entries[-1].replace(OLD, NEW_TAG)
    _put(target / "configs/nvidia-master.yaml", "\n".join(entries))
    for entry in entries:
        for name in re.findall(r"CONFIG_FILE=recipes/(\S+?\.yaml)", entry):
            text = (snapshot / RECIPES / name).read_text()
            _put(target / RECIPES / name, _changed(name, text))
    for name in ("configs/runners.yaml", "utils/evals/thresholds.yaml"):
        _put(target / name, (snapshot / name).read_text())
    _put(target / "perf-changelog.yaml", _changelog((snapshot / "perf-changelog.yaml").read_text()))
    _put(target / ".github/bumpbot.yml", LAYOUT)
    _put(target / "NOTICE", NOTICE)
    _put(target / "LICENSE", licence.read_text())


def _entry(master: str, key: str) -> str:
    """A key's entry with the comment that stands directly above it."""
    lines = master.split("\n")
    start = lines.index(f"{key}:")
    end = next(i for i in range(start + 1, len(lines) + 1) if i == len(lines) or (lines[i] and lines[i][0] not in " -"))
    while lines[start - 1].startswith("#"):
        start -= 1
    return "\n".join(lines[start:end]).rstrip() + "\n"


def _changed(name: str, text: str) -> str:
    if "agg-gb200-dcp16-dspark4" in name:
        head = "frontend:\n  type: dynamo\n  enable_multiple_frontends: false\n  args:\n"
        if text.count(head) != 1:
            raise ValueError(f"{name}: frontend.args does not stand where it stood")
        return text.replace(head, head + "".join(OPTIONS))
    return text.replace(OLD, NEW_TAG) if "gb300" in name else text


def _changelog(text: str) -> str:
    """A few of the newest entries in the house's style, in their order, one empty line between two."""
    blocks = ["- config-keys:" + block for block in ("\n" + text).split("\n- config-keys:")[1:]]
    chosen = [next(block for block in blocks if block.rstrip().endswith(f"/pull/{number}")) for number in ENTRIES]
    return "\n\n".join(block.strip("\n") for block in chosen) + "\n"


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
