"""How far a run is, in the short names people use: c4 for a point, eval c4 for its eval."""

from __future__ import annotations

from bot.decide.runs import failed_jobs
from bot.model.bump import Bump, Update
from bot.model.run import Job, Run


def progress(bump: Bump, run: Run) -> Update:
    """Which points and evals passed, run, wait and failed, by their short names."""
    jobs = [job for job in run.latest_jobs if job.role != "other"]

    def names(*states: str) -> tuple[str, ...]:
        return tuple(short(bump, job) for job in jobs if (job.conclusion or job.status) in states)

    failed = tuple(short(bump, job) for job in jobs if job in failed_jobs(run))
    return Update(at=bump.now, passed=names("success"), running=names("in_progress"), queued=names("queued"), failed=failed)


def news(bump: Bump, run: Run) -> Update | None:
    """The progress of a sweep, if it is not what its comment already tells last."""
    update, told = progress(bump, run), bump.told(sweep_slot(bump))
    last = told.updates[-1] if told and told.updates else None
    return update if last is None or _sets(last) != _sets(update) else None


def attempt_slot(bump: Bump) -> str:
    """The comment of the present attempt."""
    return f"attempt-{bump.memory.repairs_used}"


def sweep_slot(bump: Bump) -> str:
    """The comment of the sweep that follows the present attempt."""
    return f"sweep-{bump.memory.repairs_used}"


def _sets(update: Update) -> tuple[tuple[str, ...], ...]:
    return update.passed, update.running, update.queued, update.failed


def short(bump: Bump, job: Job) -> str:
    """c4 for a point, eval c4 for its eval."""
    return named(bump, job.recipe, job.role, job.concurrency)


def named(bump: Bump, recipe: str, kind: str, concurrency: int | None) -> str:
    """A point in its short form, in a family behind what tells its recipe from the others: `mtp c4`, `mtp eval c4`."""
    words = (_apart(bump, recipe), "eval" if kind == "eval" else "", f"c{concurrency}")
    return " ".join(word for word in words if word)


def _apart(bump: Bump, recipe: str) -> str:
    """A recipe's key without the words that all keys of its family begin with; nothing for the one that has no more."""
    keys = [member.key.split("-") for member in bump.subject.family]
    if len(keys) < 2 or recipe not in [member.key for member in bump.subject.family]:
        return ""
    alike = 0
    while all(len(key) > alike and key[alike] == keys[0][alike] for key in keys):
        alike += 1
    return "-".join(recipe.split("-")[alike:])
