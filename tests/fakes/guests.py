"""A guest's repository in memory: the excerpt of InferenceX, and the stand-in for its generator, meddled with as told."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = "utils/matrix_logic/generate_sweep_configs.py"
COMMAND, GLOBS = f"{sys.executable} {SCRIPT}", ("utils/matrix_logic/*.py",)
MASTER, RUNNERS = "configs/nvidia-master.yaml", "configs/runners.yaml"
DCP16 = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
OTHER = "dsv4-fp4-b200-vllm"
NEW = "vllm/vllm-openai:v0.27.0"
LINKED = "benchmarks/multi_node/srt-slurm-recipes/vllm/kimi-k3/agentic/agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml"


class Files:
    """A tree in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        return [path for path in sorted(self.files) if path.startswith(prefix)]


def program(meddle: str = "pass", option: str = "pass") -> bytes:
    """The stand-in, with statements before it prints its `rows` and after the options of its `parser`."""
    text = Path(__file__).with_name("guest_generator.py").read_text()
    for mark, code in (("    # MEDDLE\n", meddle), ("    # OPTIONS\n", option)):
        assert mark in text
        text = text.replace(mark, textwrap.indent(textwrap.dedent(code).strip(), "    ") + "\n")
    return text.encode()


def code(meddle: str = "pass", option: str = "pass") -> Files:
    """The generator's code alone."""
    return Files({SCRIPT: program(meddle, option)})


def guest(meddle: str = "pass", option: str = "pass") -> Files:
    """The whole repository: recipes, linked files, machines, and the generator."""
    root = ROOT / "tests" / "recipe" / "data" / "inferencex"
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return Files({**files, SCRIPT: program(meddle, option)})


def write(tree: Files, root: Path) -> Path:
    """The files as a folder."""
    for path, data in tree.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root
