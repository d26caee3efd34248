"""Pieces that several records share: state, run lines, failures as people may read them, tables of points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import fsum

from msgspec.structs import replace

from bot.baseline import medians
from bot.decide.people import needs_approval, smoke_held
from bot.decide.phase import Prevented, SmokeDue, SweepDue, phase_of
from bot.decide.progress import named
from bot.decide.runs import failed_jobs, gates_hold, passed
from bot.model.bump import Bump, Ended, JobFailure, Judged
from bot.model.lines import Cell, Failure, Line, ProofLine, RefusedLine, Regression, RunLine, State, Table
from bot.model.outcome import ENDINGS, Mover
from bot.model.result import Accounting, Baseline, Proof, Row, Score
from bot.model.run import Run

# What people compare first, in the order of the seed's tables.
COLUMNS = ("tput_per_gpu", "output_tput", "ttft", "itl", "intvty")
SMOKE_COLUMNS = ("tput_per_gpu", "output_tput", "input_tput", "ttft", "itl", "intvty", "profiled_requests")


# A recipe and a concurrency; the recipe empty where there is only one.
Where = tuple[str, int]
# Which statistic stands for a metric where a file gives several.
STATS = {"p50": 0, None: 1, "mean": 2}
WORST = ("stale", "conflicting", "unproven", "claimed", "proven")


def spent(run: Run) -> float:
    """GPU-hours of the finished jobs: a figure that does not change while nothing happens."""
    return fsum(job.gpus * (job.completed - job.started).total_seconds() / 3600
               for job in run.jobs if job.started and job.completed)


def state(bump: Bump, ended: Ended | None) -> State:
    """The state line; the phase is a word of the glossary."""
    phase = phase_of(bump)
    asked = (isinstance(phase, SweepDue) and needs_approval(bump)) or (isinstance(phase, SmokeDue) and smoke_held(bump))
    waits: Mover = "maintainer" if asked else "bot"
    prevented = phase.found[0].who if isinstance(phase, Prevented) else waits
    mover: Mover = prevented if ended is None else ENDINGS[ended.outcome].next
    limits = bump.subject.limits
    return State(
        phase=ended.outcome.value if ended else PHASE_WORDS[type(phase).__name__],
        next=mover,
        repairs=bump.memory.repairs_used,
        repairs_max=limits.repairs,
        gpu_hours=fsum(spent(run) for run in bump.world.runs),
        cap=limits.gpu_hours,
    )


PHASE_WORDS = {
    "Opening": "proposed",
    "Prevented": "prevented",
    "Taken": "handed-off",
    "Superseded": "superseded",
    "SmokeDue": "smoke-due",
    "Smoking": "smoke-running",
    "SmokeBroken": "smoke-failed",
    "ChangelogDue": "smoke-passed",
    "Settling": "smoke-passed",
    "Blocked": "blocked",
    "Barred": "barred",
    "SweepDue": "smoke-passed",
    "Sweeping": "sweep-running",
    "SweepBroken": "sweep-failed",
    "Controlling": "control-running",
    "RepeatDue": "repeat-due",
    "Repeating": "repeat-running",
    "RepeatBroken": "sweep-failed",
    "Swept": "sweep-passed",
    "Finishing": "finishing",
    "Over": "over",
}


def run_line(bump: Bump, run: Run) -> RunLine:
    """A run with its reason, its link and the GPU-hours of its finished jobs."""
    web = bump.world.pull.url.rpartition("/pull/")[0] if bump.world.pull else ""
    url = f"{web}/actions/runs/{run.id}"
    return RunLine(
        id=run.id, attempt=run.attempt, workflow=run.workflow, reason=run.reason, created=run.created,
        conclusion=run.conclusion, gpu_hours=spent(run), url=url,
    )


def failure(bump: Bump, failed: JobFailure, newest: int) -> Failure:
    """One failed job. The node is named as the layout's `publish.hosts` allows, the file by its role alone."""
    triage = failed.triage
    return Failure(
        job=named(bump, failed.recipe, failed.role, failed.concurrency),
        minutes=failed.minutes,
        class_=triage.class_,
        excerpt=triage.excerpt,
        file=_role(triage.file, triage.node),
        node=_node(bump, triage.node, failed.nodes),
        cause=triage.cause,
        retried=failed.attempt < newest,
    )


def failures(bump: Bump, run: Run, judged: Judged | None) -> tuple[Failure, ...]:
    """Every failed job of a run as people may read it, the oldest first."""
    told = judged.failures if judged else ()
    if bump.memory.ended is not None:  # what we stopped ourselves did not fail, and no other run took its place
        told = tuple(failed for failed in told if failed.triage.class_ != "cancelled-by-concurrency")
    return tuple(failure(bump, failed, run.attempt) for failed in told)


def result(bump: Bump, run: Run | None) -> str:
    """A word of the glossary: waiting, running, passed, failed or cancelled, judged by job and then by gate."""
    if run is None:
        return "waiting"
    if any(job.conclusion != "cancelled" for job in failed_jobs(run)):
        return "failed"
    if not run.terminal:
        return "running"
    if passed(run):
        return "passed" if gates_hold(bump, run) else "failed"
    return "cancelled" if failed_jobs(run) or run.conclusion == "cancelled" else "failed"


def table(bump: Bump, rows: Iterable[Row], accounting: Iterable[Accounting], columns: tuple[str, ...],
          runs: tuple[int, ...], control: Judged | None = None) -> Table | None:
    """New values beside the frozen baseline's, or those of the `control` arm where that is the baseline; one line a point that
    was measured; None when nothing was."""
    baseline = bump.subject.plan.baseline
    old = values(bump, medians(baseline.rows), baseline.accounting) if baseline else {}
    old = values(bump, control.rows, control.accounting) if control else old
    against, told = (control.run, None) if control else (baseline.run if baseline else None, baseline)
    new = values(bump, rows, accounting)
    measured = ordered(bump, {point for point, metric in new if metric in columns})
    if not measured:
        return None
    lines = tuple(
        Line(recipe=point[0], concurrency=point[1], cells=tuple(_cell(metric, point, old, new, told) for metric in columns))
        for point in measured
    )
    return Table(metrics=columns, lines=lines, runs=runs, baseline_run=against, baseline_runs=behind(told) if told else 0)


def ordered(bump: Bump, points: Iterable[Where]) -> list[Where]:
    """Recipe by recipe as the family names them, the lowest concurrency first."""
    keys = [recipe.key for recipe in bump.subject.family]
    return sorted(points, key=lambda point: (keys.index(point[0]) if point[0] in keys else -1, *point))


def regressions(bump: Bump, judged: Judged | None) -> tuple[Regression, ...]:
    """What the verdict found worse: the points first, then whole curves; an eval that is worse stands among the points. A curve
    that is regressed through single points stands there with them alone: as a whole it may have gained."""
    whose, found = _whose(bump), judged.verdict.findings if judged and judged.verdict else ()
    worse = [one for one in found if one.finding == "regressed" and not one.void and one.delta is not None and not one.by_points]
    return tuple(
        Regression(metric=one.metric, delta=one.delta or 0.0, interval=one.interval, old=one.baseline, new=one.new,
                   concurrency=one.point.concurrency if one.point else None,
                   recipe=whose(one.point.recipe if one.point else one.recipe),
                   task=" ".join(word for word in (one.task, one.stat) if word) if one.task else None)
        for one in sorted(worse, key=lambda one: one.point is None)
    )


def void(judged: Judged | None) -> bool:
    """Whether the performance findings count for nothing, because an eval failed."""
    return bool(judged and judged.verdict and any(one.void for one in judged.verdict.findings))


def proofs(bump: Bump, found: Iterable[Proof], again: Iterable[Proof] = ()) -> tuple[ProofLine, ...]:
    """What ran, a line for all the points of which the same is said: those where something else did come first. `again` are
    those of a repeat, which are told apart: the same point may have had both images."""
    groups: dict[Proof, list[str]] = {}
    for one, before in (*((one, "") for one in found), *((one, "repeat ") for one in again)):
        alike = replace(one, role="", recipe="", concurrency=0)
        groups.setdefault(alike, []).append(before + named(bump, one.recipe, one.role, one.concurrency or None))
    return tuple(
        ProofLine(points=tuple(dict.fromkeys(points)), state=one.state, wanted=one.wanted, ran=one.ran, why=one.why, old=one.old,
                  other=one.other, cache=one.cache, nodes=_nodes(bump, one))
        for one, points in sorted(groups.items(), key=lambda group: WORST.index(group[0].state))
    )


def refused(bump: Bump, found: Iterable[Judged | None]) -> tuple[RefusedLine, ...]:
    """The results that did not hold, job by job: a point that "was not measured" sends a reader looking for a job that failed."""
    lines = [RefusedLine(point=named(bump, one.recipe, one.role, one.concurrency), why=one.why)
             for judged in found if judged for one in judged.refused]
    return tuple(dict.fromkeys(lines))


def _nodes(bump: Bump, proof: Proof) -> tuple[str, ...]:
    """The nodes that ran something else: by name only where the layout publishes hosts, else how many."""
    if not proof.nodes or bump.subject.rules.hosts == "none":
        return ()
    return proof.nodes if bump.subject.rules.hosts == "full" else (f"{len(proof.nodes)}/{max(proof.of, len(proof.nodes))}",)


def scores(bump: Bump, found: Iterable[Score]) -> tuple[Score, ...]:
    """Evals as they are told: a recipe's name stands only where a family has several."""
    alone = len(bump.subject.family) == 1
    return tuple(replace(score, recipe="") if alone else score for score in found)


def accounting(bump: Bump, found: Iterable[Accounting]) -> tuple[Accounting, ...]:
    """Requests as they are told, in the same way."""
    alone = len(bump.subject.family) == 1
    return tuple(replace(counted, recipe="") if alone else counted for counted in found)


def values(bump: Bump, rows: Iterable[Row], accounting: Iterable[Accounting] = ()) -> dict[tuple[Where, str], float]:
    """One value a point and metric: the median where there is one, since that is what the tables say they show."""
    whose = _whose(bump)
    found = {((whose(counted.recipe), counted.concurrency), "profiled_requests"): float(counted.profiled) for counted in accounting}
    chosen: dict[tuple[Where, str], int] = {}
    for row in rows:
        key = ((whose(row.point.recipe), row.point.concurrency), row.metric)
        rank = STATS.get(row.stat, len(STATS))
        if row.metric != "eval" and rank < chosen.get(key, len(STATS) + 1):
            found[key], chosen[key] = row.value, rank
    return found


def _whose(bump: Bump) -> Callable[[str], str]:
    """A recipe's name where a family has several; the baseline of one alone is told without."""
    return (lambda recipe: recipe) if len(bump.subject.family) > 1 else (lambda recipe: "")


def _cell(metric: str, point: Where, old: dict[tuple[Where, str], float], new: dict[tuple[Where, str], float],
          baseline: Baseline | None = None) -> Cell:
    before, after = old.get((point, metric)), new.get((point, metric))
    why = (passed_over(baseline, point, metric) or "no-baseline") if before is None else "not-measured" if after is None else None
    return Cell(metric=metric, old=before, new=after, missing=why)


def behind(baseline: Baseline) -> int:
    """How many runs stand behind the values that are shown, which are medians: one run's name alone would speak for all."""
    return len({row.run for row in baseline.rows if row.metric != "eval" and row.run is not None})


def passed_over(baseline: Baseline | None, point: Where, metric: str) -> str | None:
    """Why a frozen baseline has no value there, where its notes tell: it was published, and cannot have been measured."""
    at = f":{point[1]}:{metric}"
    return "value-refused" if baseline and any(note.startswith("value-") and note.endswith(at) for note in baseline.notes) else None


def _role(file: str | None, node: str | None) -> str | None:
    """`<node>_frontend_0.out` is told as frontend_0: the name of a host is nobody's business on the forge."""
    if file is None:
        return None
    name = file.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return name.removeprefix(f"{node}_") if node else name


def _node(bump: Bump, node: str | None, nodes: tuple[str, ...]) -> str | None:
    hosts = bump.subject.rules.hosts
    if node is None or hosts == "none":
        return None
    if hosts == "full":
        return node
    known = sorted({*nodes, node})
    return f"{known.index(node) + 1}/{len(known)}"
