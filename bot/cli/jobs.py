"""Points as jobs of the workflow benchmark.yml: their names, the names of what they upload, and the runners they ask for.

The layout `own` finds results by these names again (`jobs`, `artifacts`), so that they are made in one place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from bot.errors import BadInput, Refusal
from bot.model.recipe import Point

MOST = 256
"""GitHub refuses a matrix of more jobs."""
# What may stand in the name of an artifact and of a job, in a table of Markdown, and in a label of a runner.
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,119}")


class Job(Struct, frozen=True, kw_only=True):
    """One job. `results` and `logs` lack the attempt, which only a run knows: `_attempt<K>` follows them."""

    name: str
    results: str
    logs: str
    labels: tuple[str, ...]
    point: Point


def jobs_of(points: Sequence[Point]) -> tuple[Job, ...]:
    """One job a point. BadInput where a name cannot be one on GitHub, or no runner is named."""
    if len(points) > MOST:
        raise Refusal(f"{len(points)} jobs, and GitHub starts at most {MOST} of one matrix", "name fewer recipes, or points")
    made = tuple(_job(point) for point in points)
    names = [job.results for job in made]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"two points would upload {twice[0]}", "each point of a recipe needs its own concurrency or task")
    return made


def _job(point: Point) -> Job:
    labels = tuple(label for label in point.runner.split(",") if label)
    if not labels:
        raise BadInput("no runner is named", "add its labels: `runner: [self-hosted, h200]`",
                       key=f"{point.recipe}: hardware.runner")
    for label in labels:
        _checked(label, point, "hardware.runner")
    name, stem = f"{point.recipe} c{point.concurrency}", f"{_checked(point.recipe, point, 'name')}_conc{point.concurrency}"
    if point.eval is None:
        return Job(name=name, results=f"bench_{stem}", logs=f"logs_{stem}", labels=labels, point=point)
    task = _checked(point.eval.task, point, "evals.task")
    return Job(name=f"{name} eval {task}", results=f"eval_{stem}_{task}", logs=f"eval_logs_{stem}_{task}", labels=labels,
               point=point)


def _checked(word: str, point: Point, key: str) -> str:
    if not _WORD.fullmatch(word):
        raise BadInput(f"{word!r} can be no name on GitHub", "use letters, digits, _ . and -, at most 120 of them",
                       key=f"{point.recipe}: {key}")
    return word
