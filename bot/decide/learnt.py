"""What the ending of a bump teaches the next one: the findings that stopped it, its failures by their signature with the repair
that was tried, or at least how it ended. An image was tried again the next day though nothing had been staged (#2951, #2981)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from bot.decide.runs import passed
from bot.model.bump import Bump, Ended, JobFailure, Judged, Wanted
from bot.model.finding import Check, PlanFinding, Release
from bot.model.memory import Lesson
from bot.model.outcome import Outcome
from bot.model.text import Text

# A run's failure of a class -> the check that can see that it is over, and that in words.
_RELEASED_BY: dict[str, tuple[Check, Text]] = {
    "model-not-staged": ("staging", Text("when what the launcher looks for is staged", "待启动脚本所需内容准备就绪后")),
    "credential": ("identity", Text("when the token is the one that is wanted", "待令牌身份正确后")),
    "runner-retired": ("runners", Text("when a runner has the label", "待有运行器具备该标签后")),
    "capacity": ("capacity", Text("when the fleet has room", "待集群有空闲容量后")),
}
_WAITS = (Outcome.READINESS_BLOCKED, Outcome.CAPACITY_DEFERRED)
# A newer candidate or our own error says nothing of this one.
_SILENT = (Outcome.SUPERSEDED, Outcome.CRASHED)


def learnt(bump: Bump, ended: Ended) -> tuple[Lesson, ...]:
    """The lessons of a bump that has ended, the same for the same facts. One whose outcome says nothing of its image has none."""
    if ended.outcome in _SILENT:
        return ()
    base = _base(bump, ended)
    found = [*(_of_finding(base, one) for one in ended.found), *_of_failures(bump, ended, base)]
    return tuple(found) or (base,)


def _base(bump: Bump, ended: Ended) -> Lesson:
    subject = bump.subject
    new, lead = subject.candidate.new, subject.family[0]
    return Lesson(
        bump=bump.id, recipes=tuple(recipe.key for recipe in subject.family), at=ended.at, engine=lead.framework,
        image=subject.candidate.text, digest=new.digest or None, was=lead.image, commit=new.facts.commit, pins=subject.plan.pins,
        asked=subject.plan.asked, hardware=lead.hardware, outcome=ended.outcome,
    )


def _of_finding(base: Lesson, found: PlanFinding) -> Lesson:
    return replace(base, check=found.check, class_=found.class_, evidence=found.evidence, repair=found.repair,
                   release=found.release)


def _of_failures(bump: Bump, ended: Ended, base: Lesson) -> Iterator[Lesson]:
    """Each signature once, with the repair that its run asked for and whether that mended it."""
    told: set[tuple[str | None, str | None]] = set()
    for judged in bump.memory.judged:
        repair = next((one for one in bump.memory.applied if one.run == judged.run), None)
        for failure in judged.failures:
            about = (failure.triage.class_, failure.triage.signature)
            if about not in told and about != (None, None) and not _passed_later(failure, judged, ended, repair):
                told.add(about)
                yield replace(base, class_=about[0], signature=about[1], evidence=failure.triage.excerpt or "",
                              repair=repair.id if repair else None, helped=_helped(bump, judged, failure, repair),
                              release=_release(ended, about[0]))


def _passed_later(failure: JobFailure, judged: Judged, ended: Ended, repair: Wanted | None) -> bool:
    """Whether it was the weather: gone at the next try of the same run, and neither repaired nor what the bump ended of."""
    again = any(other.job == failure.job and other.attempt > failure.attempt for other in judged.failures)
    return repair is None and ended.run != judged.run and not again


def _helped(bump: Bump, judged: Judged, failure: JobFailure, repair: Wanted | None) -> bool | None:
    """Whether a run after the repair passed, or broke in another way; None where none came to its end."""
    head = next((head for head in bump.memory.heads if repair is not None and head.repair == repair.id), None)
    if head is None:
        return None
    heads = _after(bump, head.sha)
    later = [run for run in bump.world.runs if run.head in heads and run.terminal]
    if any(one.triage.signature == failure.triage.signature for run in later for one in _failures(bump, run.id)):
        return False
    return True if any(passed(run) or _failures(bump, run.id) for run in later) else None


def _after(bump: Bump, sha: str) -> Sequence[str]:
    shas = [head.sha for head in bump.memory.heads]
    return shas[shas.index(sha):]


def _failures(bump: Bump, run: int) -> tuple[JobFailure, ...]:
    judged = bump.judged(run)
    return judged.failures if judged else ()


def _release(ended: Ended, class_: str | None) -> Release | None:
    """What must be seen before another try, where the bump ended of something that a check can look at."""
    known = _RELEASED_BY.get(class_ or "") if ended.outcome in _WAITS else None
    return Release(of=known[0], subject="", says=known[1]) if known else None
