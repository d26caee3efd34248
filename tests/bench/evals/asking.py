"""An eval really asked: the stand-in program, a folder of tasks, and a server in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.adapters.programs import LocalPrograms
from bot.adapters.web import LocalWeb
from bot.bench import evals
from bot.bench.evals import Evaluated, Suite
from bot.bench.host import Host, Place
from bot.model.bench import Machine, Order
from bot.model.recipe import EvalSpec
from tests.bench.beside import Quick, Served, order
from tests.fakes.tools import lm_eval

TASK = """\
task: {name}
output_type: {kind}
doc_to_text: "{{{{question}}}} Give the result."
unsafe_code: {unsafe}
"""


def suite(folder: Path, name: str, count: int, *, kind: str = "generate_until", unsafe: bool = False, more: str = "") -> None:
    """A task of so many sums, right answers beside them."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(TASK.format(name=name, kind=kind, unsafe=str(unsafe).lower()) + more)
    (folder / f"{name}.jsonl").write_text("".join(
        json.dumps({"question": f"Compute {12 + at} + {at % 7}.", "answer": f"#### {12 + at + at % 7}"}) + "\n" for at in range(count)))


def group(folder: Path, name: str, *members: str) -> None:
    """A group of tasks that are there already."""
    (folder / f"{name}.yaml").write_text(f"group: {name}\ntask: [{', '.join(members)}]\n")


class Asking:
    """One place to ask evals in. `told` are the lines of progress, `env` what this process's environment is said to be."""

    def __init__(self, folder: Path) -> None:
        self.tasks, self.programs = folder / "tasks", folder / "bin"
        self.programs.mkdir()
        lm_eval.installed(self.programs)
        self.place = Place(results=folder / "results", logs=folder / "logs")
        self.place.results.mkdir()
        self.place.logs.mkdir()
        self.told: list[str] = []
        self.env: dict[str, str] = {"HOME": str(folder)}
        self.machine = Machine(tasks=str(self.tasks))

    def host(self, path: str | None = None) -> Host:
        found = f"{self.programs}:{os.environ['PATH']}" if path is None else path
        return Host(programs=LocalPrograms(path=found), web=LocalWeb(), clock=Quick(), env=self.env, say=self.told.append)

    def order(self, task: str, threshold: float = 0.9, limit: int | None = None, *, shuffled: bool = False, **told: Any) -> Order:
        spec = EvalSpec(task=task, threshold=threshold, limit=limit, shuffled=shuffled)
        return order(kind="eval", eval=spec, **told)

    def look(self, of: Order) -> Suite:
        return evals.prepare(of, self.machine, self.host(), self.place)

    def known(self, task: str, questions: int) -> Suite:
        """What `look` says of a task that `suite` made, without asking."""
        return Suite(task=task, sizes={task: questions}, scores=("exact_match,strict-match", "exact_match,flexible-extract"))

    def ask(self, of: Order, url: str, suite: Suite | None = None, served: Served | None = None) -> Evaluated:
        return evals.run(of, served or Served(url), self.machine, self.host(), self.place, suite=suite)  # type: ignore[arg-type]

    def exports(self) -> list[str]:
        """What lm-eval left, without the dates in its names."""
        root = self.place.results / "lm_eval"
        short: Callable[[Path], str] = lambda file: file.relative_to(root).as_posix().split("_20")[0]  # noqa: E731
        return sorted(short(file) for file in root.rglob("*") if file.is_file())
