"""The final full sweep: started once the head can merge, followed, stopped as soon as a gate cannot hold any more."""

from __future__ import annotations

from bot import budget
from bot.decide import ending, report
from bot.decide.phase import alive_sweeps, needs_approval
from bot.decide.progress import progress
from bot.decide.say import say
from bot.decide.smoke import fill, relabel, respond, strays
from bot.model.action import Action, Cancel, Dispatch, SetDraft
from bot.model.bump import Bump, Judged, Update
from bot.model.outcome import Cause, Outcome
from bot.model.run import Run


def due(bump: Bump, head: str) -> tuple[Action, ...]:
    """Starts the sweep: by the guest's label, or by our own dispatch; above a threshold a person must have asked."""
    pull, rules = bump.world.pull, bump.subject.rules.sweep
    assert pull is not None
    price = budget.price_sweep(bump)
    if not budget.affords(bump, price):
        return ending.end(bump, Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, forecast=price)
    if needs_approval(bump):
        return say(bump, "status", report.status(bump, about="sweep-needs-approval", by=None))
    ready = () if rules.drafts or not pull.draft else (SetDraft(draft=False, head=head),)
    if rules.start == "label":
        return (*strays(bump), *ready, *relabel(bump, head))
    nonce = f"bumpbot-{bump.id}-sweep-{bump.memory.repairs_used}-{head[:12]}"
    words = {"head": head, "nonce": nonce, "key": " ".join(recipe.key for recipe in bump.subject.family)}
    inputs = {name: fill(value, words) for name, value in rules.inputs.items()}
    return (*strays(bump), *ready, Dispatch(workflow=rules.workflow, ref=rules.ref, inputs=inputs, nonce=nonce, head=head))


def running(bump: Bump, run: Run, judged: Judged | None) -> tuple[Action, ...]:
    """Follows the newest run; of two for one head the older is stopped, it would measure the same points twice."""
    doubles = tuple(Cancel(run=other.id) for other in alive_sweeps(bump)[1:] if not other.terminal)
    update = progress(bump, run)
    told = bump.told(slot(bump))
    last = told.updates[-1] if told and told.updates else None
    fresh = update if last is None or _sets(last) != _sets(update) else None
    record = report.sweep(bump, run, passed=None, update=fresh)
    return (*strays(bump), *doubles, *say(bump, slot(bump), record, waiting=True, update=fresh))


def broken(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """A gate cannot hold any more: the same table of answers as for a smoke."""
    return respond(bump, run, judged)


def swept(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """Every job passed: the verdict decides."""
    verdict = judged.verdict.verdict if judged.verdict else "inconclusive"
    outcome = {
        "improved": Outcome.VALIDATED,
        "neutral": Outcome.VALIDATED,
        "regressed": Outcome.REGRESSED,
        "inconclusive": Outcome.UNCERTAIN,
    }[verdict]
    told = say(bump, slot(bump), report.sweep(bump, run, passed=True, update=progress(bump, run)))
    return (*told, *ending.end(bump, outcome, Cause.VERDICT, run=run.id))


def slot(bump: Bump) -> str:
    """Where the comment of the present sweep stands; a repair begins a new one."""
    return f"sweep-{bump.memory.repairs_used}"


def _sets(update: Update) -> tuple[tuple[str, ...], ...]:
    return update.passed, update.running, update.queued, update.failed
