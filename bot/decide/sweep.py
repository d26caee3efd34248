"""The final full sweep: started once the head can merge, followed, stopped as soon as a gate cannot hold any more."""

from __future__ import annotations

from bot import budget
from bot.decide import ending, report
from bot.decide.answer import respond
from bot.decide.phase import alive_sweeps, held, measures, needs_approval
from bot.decide.progress import news, sweep_slot
from bot.decide.say import say, tomorrow
from bot.decide.smoke import passed
from bot.decide.starting import dispatch_sweep, relabel, strays
from bot.model.action import Action, Cancel, SetDraft
from bot.model.bump import Bump, Judged
from bot.model.outcome import Cause, Outcome
from bot.model.run import Run
from bot.model.text import Text

NOTHING_BEGAN = Text("The sweep was asked for again and again, and none began to measure.",
                     "已多次请求扫描，但没有任何扫描开始测量。")


def due(bump: Bump, head: str) -> tuple[Action, ...]:
    """Starts the sweep: by the guest's label, or by our own dispatch; above a threshold a person must have asked."""
    pull, rules = bump.world.pull, bump.subject.rules.sweep
    assert pull is not None
    before, price = (*strays(bump), *passed(bump)), budget.price_sweep(bump)
    if not budget.affords(bump, price):
        return (*before, *ending.end(bump, Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, forecast=price))
    if needs_approval(bump):
        about = "sweep-held" if held(bump) else "sweep-needs-approval"
        return (*before, *say(bump, "status", report.status(bump, about=about, by=None)))
    if _tries(bump, head) > bump.subject.limits.infrastructure_retries:
        return (*before, *ending.end(bump, Outcome.UNCERTAIN, Cause.RETRIES_EXHAUSTED, why=NOTHING_BEGAN))
    ready = () if rules.drafts or not pull.draft else (SetDraft(draft=False, head=head),)
    if not budget.today(bump, price):
        return (*before, *tomorrow(bump))
    if rules.start == "label":
        return (*before, *ready, *relabel(bump, head, price))
    return (*before, *ready, dispatch_sweep(bump, head, price))


def running(bump: Bump, run: Run, judged: Judged | None) -> tuple[Action, ...]:
    """Follows one run; once it measures, an older one for the same head is stopped: it would measure the same twice.
    Before that nothing is, since a run that some other label started is the newest too, and will skip its jobs."""
    if not run.terminal and budget.overrun(bump):
        return ending.overrun(bump, run)
    doubles = tuple(Cancel(run=other.id) for other in alive_sweeps(bump)
                    if measures(run) and not other.terminal and (other.created, other.id) < (run.created, run.id))
    fresh = news(bump, run)
    record = report.sweep(bump, run, passed=None, update=fresh)
    return (*strays(bump), *doubles, *say(bump, sweep_slot(bump), record, waiting=True, update=fresh))


def broken(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """A gate cannot hold any more: the same table of answers as for a smoke."""
    return respond(bump, run, judged)


def swept(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """Every job passed and every gate holds: the verdict decides."""
    verdict = judged.verdict.verdict if judged.verdict else "inconclusive"
    outcome = {
        "improved": Outcome.VALIDATED,
        "neutral": Outcome.VALIDATED,
        "regressed": Outcome.REGRESSED,
        "inconclusive": Outcome.UNCERTAIN,
    }[verdict]
    fresh = news(bump, run)
    told = say(bump, sweep_slot(bump), report.sweep(bump, run, passed=True, update=fresh), update=fresh)
    return (*told, *ending.end(bump, outcome, Cause.VERDICT, run=run.id))


def _tries(bump: Bump, head: str) -> int:
    """How often a sweep of this head was asked for without one that measures: by our dispatches, or our labels since the head."""
    rules, since = bump.subject.rules.sweep, bump.memory.heads[-1].at
    if rules.start == "dispatch":
        return sum(run.stage == "sweep" and run.head == head and not measures(run) for run in bump.world.runs)
    names = {rules.label, *rules.labels}
    return sum(one.added and one.label in names and one.by == bump.world.me and one.at >= since for one in bump.world.labellings)
