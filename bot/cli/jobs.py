"""Points as jobs of the workflow benchmark.yml: their names, the names of what they upload, and the runners they ask for.

The layout `own` finds results by these names again (`jobs`, `artifacts`), so that they are made in one place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.errors import BadInput, Refusal
from bot.model.recipe import Point

MOST = 256
"""GitHub refuses a matrix of more jobs."""
LONGEST, ATTEMPT = 255, len("_attempt999.zip")
"""Bytes that a file's name may have, and what a run adds to that of an artifact: it fails only when all is measured."""
LOGS = "logs_"
# What may stand in the name of an artifact and of a job, in a table of Markdown, and in a label of a runner.
_CONC = re.compile(r"_conc[0-9]")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,119}")


class Job(Struct, frozen=True, kw_only=True):
    """One job. `results` and `logs` lack the attempt, which only a run knows: `_attempt<K>` follows them. `whole`: the plan holds
    every point and eval of its recipe, with all requests and questions; only that may become a baseline."""

    name: str
    results: str
    logs: str
    labels: tuple[str, ...]
    point: Point
    whole: bool = False


def jobs_of(points: Sequence[Point], whole: Collection[str] = ()) -> tuple[Job, ...]:
    """One job a point; `whole` are the recipes that are all here. BadInput where a name cannot be one on GitHub, or no runner is
    named."""
    if len(points) > MOST:
        raise Refusal(f"{len(points)} jobs, and GitHub starts at most {MOST} of one matrix", "name fewer recipes, or points")
    made = tuple(replace(_job(point), whole=point.recipe in whole) for point in points)
    names = [name for job in made for name in (job.results, job.logs)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"two points would upload {twice[0]}", "each point of a recipe needs its own concurrency or task")
    return made


def _job(point: Point) -> Job:
    labels = tuple(label for label in point.runner.split(",") if label)
    if point.recipe.startswith(LOGS) or _CONC.search(point.recipe):
        raise BadInput(f"a recipe called {point.recipe}", f"its artifacts would be taken for logs, or for another concurrency's; "
                       f"a name neither begins with {LOGS} nor holds _conc and a number", key="name")
    if not labels:
        raise BadInput("no runner is named", "add its labels: `runner: [self-hosted, h200]`",
                       key=f"{point.recipe}: hardware.runner")
    for label in labels:
        _checked(label, point, "hardware.runner")
    name, stem = f"{point.recipe} c{point.concurrency}", f"{_checked(point.recipe, point, 'name')}_conc{point.concurrency}"
    if point.eval is None:
        made = Job(name=name, results=f"bench_{stem}", logs=f"{LOGS}{stem}", labels=labels, point=point)
    else:
        task = _checked(point.eval.task, point, "evals.task")
        made = Job(name=f"{name} eval {task}", results=f"eval_{stem}_{task}", logs=f"eval_{LOGS}{stem}_{task}", labels=labels,
                   point=point)
    if (size := len(made.logs) + ATTEMPT) > LONGEST:
        raise BadInput(f"its artifact's name would have {size} bytes, and a file's may have {LONGEST}",
                       "shorten the recipe's name or the task's", key=f"{point.recipe}: name")
    return made


def _checked(word: str, point: Point, key: str) -> str:
    if not _WORD.fullmatch(word):
        raise BadInput(f"{word!r} can be no name on GitHub", "use letters, digits, _ . and -, at most 120 of them",
                       key=f"{point.recipe}: {key}")
    return word
