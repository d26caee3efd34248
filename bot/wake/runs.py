"""Which runs are ours, what their jobs measure, and why each began: what a bump may count and may stop.

A dispatched run is ours if workflow, event, branch, actor and time fit and our nonce stands in its title; two that fit are
a refusal (SECURITY.md rule 5). A pull request's run is ours if it ran one of our heads on our branch of this repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from bot.decide.control import base_of
from bot.errors import Refusal
from bot.model.bump import Bump
from bot.model.forge import Job as ForgeJob
from bot.model.forge import Labelling, RunInfo
from bot.model.rules import Rules
from bot.model.run import Job, Reason, Run, Stage
from bot.ports import Forge

DISPATCH, PULL = "workflow_dispatch", "pull_request"
Found = tuple[RunInfo, Stage, int, str, str | None]  # a run, its stage and step, the head it measures, its nonce
# smoke1 is the first stage of a smoke; a nonce names it between the bump's id and the attempt.
_STAGE = re.compile(r"-(?P<stage>smoke|sweep|repeat|control)(?P<step>[1-9])?-[0-9]{1,6}-[0-9a-f]{12}$")
_DIGITS = 7


def ours(forge: Forge, bump: Bump, labellings: Sequence[Labelling], *, since: datetime,
         pattern: re.Pattern[str]) -> tuple[Run, ...]:
    """Every run of this bump with the jobs of all its attempts; a run seen terminal before is not asked for again.

    Raises Refusal when two runs carry one nonce: which of them measured the head cannot be told, and both hold GPUs.
    """
    known = {run.id: run for run in bump.world.runs}
    found = [*_dispatched(forge, bump, since), *_of_pull(forge, bump, since)]
    reasons = _reasons([info for info, *_ in found if info.event == PULL], bump, labellings)
    made = [_run(forge, bump, one, known, reasons, pattern) for one in found]
    return tuple(sorted(made, key=lambda run: (run.created, run.id)))


def nonce_of(title: str, bump: str) -> str | None:
    """Our nonce in a run's display title, if the run was dispatched for this bump."""
    found = re.search(
        rf"(?<!\w)bumpbot-{re.escape(bump)}-(?:smoke[1-9]|sweep|repeat|control)-[0-9]{{1,6}}-[0-9a-f]{{12}}(?!\w)", title)
    return found.group(0) if found else None


def carries(info: RunInfo, nonce: str, *, workflow: str, ref: str, me: str, since: datetime) -> bool:
    """Whether a run is the one that we dispatched under a nonce. Anybody may write our nonce into a title; the forge says
    who began a run, on which branch, by what."""
    words = re.search(rf"(?<!\w){re.escape(nonce)}(?!\w)", info.title)
    return (
        words is not None and info.event == DISPATCH and info.workflow == workflow and info.branch == _branch(ref)
        and info.actor.casefold() == me.casefold() and info.created >= since and not info.fork
    )


def _dispatched(forge: Forge, bump: Bump, since: datetime) -> Iterator[Found]:
    me, seen = forge.me(), dict[str, int]()
    for workflow, stages in _asked(bump.subject.rules).items():
        for info in forge.runs(workflow, event=DISPATCH, since=since):
            nonce = nonce_of(info.title, bump.id)
            if nonce is None or (stage := _stage(nonce))[0] not in stages:
                continue
            if not carries(info, nonce, workflow=workflow, ref=stages[stage[0]], me=me, since=since):
                continue
            # The run's own head is the default branch's; the one it measures stands in its nonce.
            head = next((head for head in _measurable(bump, stage[0]) if head.startswith(nonce[-12:])), None)
            if head is None or seen.get(nonce) == info.id:
                continue
            if seen.setdefault(nonce, info.id) != info.id:
                raise Refusal(f"two runs carry the nonce {nonce}: {seen[nonce]} and {info.id}",
                              "delete the one that is not to count; the next wake goes on")
            yield info, *stage, head, nonce


def _measurable(bump: Bump, stage: Stage) -> list[str]:
    """What a run of this stage may have been dispatched for: one of our heads, or where the old image still stands."""
    if stage == "control":
        return [base] if (base := base_of(bump)) else []
    return [head.sha for head in bump.memory.heads]


def _asked(rules: Rules) -> dict[str, dict[Stage, str]]:
    """workflow -> the stages that are dispatched there, each with the branch it is started on."""
    asked: dict[str, dict[Stage, str]] = {}
    if rules.smoke.workflow:
        asked[rules.smoke.workflow] = dict.fromkeys(("smoke", "repeat", "control"), rules.smoke.ref)
    if rules.sweep.start == "dispatch" and rules.sweep.workflow:
        asked.setdefault(rules.sweep.workflow, {})["sweep"] = rules.sweep.ref
    return asked


def _of_pull(forge: Forge, bump: Bump, since: datetime) -> Iterator[Found]:
    rules = bump.subject.rules
    if rules.sweep.start != "label" or not rules.sweep.workflow:
        return
    heads = {head.sha for head in bump.memory.heads}
    for info in forge.runs(rules.sweep.workflow, event=PULL, since=since):
        fits = info.event == PULL and info.workflow == rules.sweep.workflow and info.branch == rules.branch and not info.fork
        if fits and info.head in heads and info.created >= since:
            yield info, "sweep", 1, info.head, None


def _stage(nonce: str) -> tuple[Stage, int]:
    found = _STAGE.search(nonce)
    assert found is not None  # `nonce_of` found nothing else
    return found["stage"], int(found["step"] or 1)


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _run(forge: Forge, bump: Bump, found: Found, known: dict[int, Run], reasons: dict[int, Reason],
         pattern: re.Pattern[str]) -> Run:
    info, stage, step, head, nonce = found
    before = known.get(info.id)
    if before is not None and before.terminal and before.attempt == info.attempt and info.status == "completed":
        return before
    jobs = tuple(_job(bump, job, pattern) for job in forge.jobs(info.id))
    reason: Reason = reasons[info.id] if nonce is None else "dispatch"
    return Run(
        id=info.id, attempt=info.attempt, workflow=info.workflow, event=info.event, head=head, stage=stage, reason=reason,
        status=info.status, conclusion=info.conclusion, created=info.created, nonce=nonce, step=step, jobs=jobs,
    )


def _job(bump: Bump, job: ForgeJob, pattern: re.Pattern[str]) -> Job:
    """Role, concurrency and recipe stand in the job's name, where the layout's pattern says; GPUs are those of the point."""
    name = " ".join(job.name.split())
    found = pattern.search(name)
    said = found.groupdict() if found else {}
    role = "other" if found is None else "eval" if said.get("eval") else "throughput"
    concurrency, recipe = _count(said.get("concurrency")), said.get("recipe") or ""
    return Job(
        id=job.id, name=name, attempt=job.attempt, status=job.status, conclusion=job.conclusion, started=job.started,
        completed=job.completed, gpus=_gpus(bump, role, concurrency, recipe) if found else 0, role=role, concurrency=concurrency,
        recipe=recipe,
    )


def _count(text: str | None) -> int | None:
    """A number of requests; a name may hold thousands of digits, and no load generator runs so many."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= _DIGITS else None


def _gpus(bump: Bump, role: str, concurrency: int | None, recipe: str) -> int:
    """The most that a point of that kind and concurrency holds; where the recipe knows none, the most of any."""
    every = [point for member in bump.subject.family for point in member.points]
    points = [point for point in every if point.recipe == recipe] or every
    exact = [point for point in points if point.concurrency == concurrency]
    kind = [point for point in exact if point.kind == role]
    return max((point.gpus for point in kind or exact or points), default=0)


def _reasons(infos: Iterable[RunInfo], bump: Bump, labellings: Sequence[Labelling]) -> dict[int, Reason]:
    """Why each pull-request run began. The forge does not say, so each run, the newest first, takes the newest of the
    things before it that could have started it and that no later run took.

    Of the seed's two runs for one head the older was the push's and the younger the label's. A push or label that starts
    nothing (its head conflicts) is so passed over. What nothing explains was the head's own coming: a push.
    """
    marks: list[tuple[datetime, int, Reason, str | None]] = [
        (head.at.replace(microsecond=0), 0, "push", head.sha) for head in bump.memory.heads]
    marks += [(said.at, 1, "ready" if said.ready else "label" if said.added else "unlabel", None) for said in labellings]
    marks.sort(key=lambda mark: mark[:2])
    reasons: dict[int, Reason] = {}
    for info in sorted(infos, key=lambda info: (info.created, info.id), reverse=True):
        last = next((at for at in range(len(marks) - 1, -1, -1)
                     if marks[at][0] <= info.created and marks[at][3] in (None, info.head)), None)
        reasons[info.id] = "push" if last is None else marks.pop(last)[2]
    return reasons
