"""What a task is, as lm-eval itself tells it before any server is asked: its tasks, their questions, how they are answered."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from bot.bench.evals import command, failures
from bot.bench.evals.metric import chosen
from bot.bench.host import Host, Place
from bot.errors import BadInput, Missing, Refusal
from bot.model.bench import Machine, Order
from bot.model.recipe import EvalSpec
from bot.results.read import document, mapping, optional

LOOK_S = 1800.0
"""Of the look at a task: its data may have to be fetched first."""
FOLDER = "lm_eval-suite"
_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,119}")


class Suite(Struct, frozen=True, kw_only=True):
    """`sizes` are the questions of each task of a group, in lm-eval's order; of one task, its own. `scores` name what the task
    is scored by (`exact_match,strict-match`), `own_tokens` the most tokens that one of the tasks lets an answer have."""

    task: str
    sizes: dict[str, int]
    scores: tuple[str, ...]
    own_tokens: int | None = None
    version: str = ""
    tools: dict[str, str] = {}
    seconds: float = 0.0

    @property
    def questions(self) -> int:
        return sum(self.sizes.values())


def task_of(order: Order) -> EvalSpec:
    """The order's eval. Its task is a name: what is a path to lm-eval would have it execute a file of the commit's choice."""
    spec = order.eval
    if spec is None:
        raise BadInput(f"{order.id} is no eval", "a throughput point is loaded, not asked", key="eval")
    if not _TASK.fullmatch(spec.task) or spec.task.endswith((".yaml", ".yml", ".json", ".py")):
        raise BadInput(f"{spec.task[:60]!r} is no name of a task", "a file of tasks is the machine's: `tasks` in the machine file",
                       key="eval.task")
    return spec


def prepare(order: Order, machine: Machine, host: Host, place: Place) -> Suite:
    """Asks lm-eval for the task with its own `dummy` model. Needs no server: before one is launched it tells that there is no
    lm_eval (Missing), no such task, metric or data (BadInput), or that a chat server cannot be asked (Refusal)."""
    spec = task_of(order)
    if not host.programs.found(command.PROGRAM):
        raise Missing(f"there is no {command.PROGRAM} on the PATH", "pip install 'lm-eval[api]' into the runner's environment")
    host.say(f"lm_eval: looking at {spec.task}")
    folder, log, begun = place.logs / FOLDER, place.logs / "lm_eval.log", host.clock.now()
    folder.mkdir()
    try:
        code, out, err = host.programs.run(command.look(order, machine, folder.name), cwd=place.logs,
                                           env=command.environment(host.env), limit_s=LOOK_S)
        with log.open("ab") as file:
            file.write(err + out)
        said = failures.lines(err + b"\n" + out)
        if code:
            raise failures.why(said, code, spec.task)
        found = sorted(folder.rglob("results_*.json"))
        if not found:
            raise failures.why(said, 0, spec.task)
        whole = _read(found[0])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _suite(whole, order, spec, (host.clock.now() - begun).total_seconds())


def _read(file: Path) -> Mapping[str, Any]:
    with file.open("rb") as stream:
        return mapping(document(stream, file.name), file.name, "")


def _suite(whole: Mapping[str, Any], order: Order, spec: EvalSpec, seconds: float) -> Suite:
    configs = mapping(whole.get("configs"), "lm_eval", "configs")
    other = sorted(f"{name} ({kind})" for name in configs
                   if (kind := optional(configs, name, "output_type")) not in (None, "generate_until"))
    if other:
        raise Refusal(f"{spec.task} is scored by log-likelihoods, which a chat server does not give: {', '.join(other[:3])}",
                      "gate on a task that is answered in words (output_type generate_until), e.g. its _generative or _cot variant")
    sizes = {name: size for name in configs if isinstance(size := optional(whole, "n-samples", name, "original"), int) and size > 0}
    if not sizes or len(sizes) < len(configs):
        raise BadInput(f"lm_eval does not say how many questions {spec.task} has", "its version may be too new or too old")
    told = optional(whole, "results", spec.task)
    scores = tuple(key for key in told if _scored(key)) if isinstance(told, dict) else ()
    if not scores:
        raise BadInput(f"{spec.task} is a list of tasks without a score of its own", f"gate on one: {', '.join(list(sizes)[:5])}",
                       key="eval.task")
    own = [tokens for name in configs if isinstance(tokens := optional(configs, name, "generation_kwargs", "max_gen_toks"), int)]
    version = str(whole.get("lm_eval_version") or "")
    suite = Suite(task=spec.task, sizes=sizes, scores=scores, own_tokens=max(own, default=None), version=version, seconds=seconds,
                  tools={"lm_eval": version, f"lm_eval:{spec.task}": str(optional(whole, "versions", spec.task))})
    chosen(order.metric, suite.scores, spec.task)
    return suite


def _scored(key: str) -> bool:
    metric, comma, _ = key.partition(",")
    return bool(comma) and not metric.endswith("_stderr")
