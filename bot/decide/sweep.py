"""The final full sweep: started once the head can merge, followed, stopped as soon as a gate cannot hold any more."""

from __future__ import annotations

from bot import budget
from bot.decide import ending, image, report
from bot.decide.answer import respond
from bot.decide.control import base_of, gives_way, standing
from bot.decide.findings import questions, stops
from bot.decide.people import held, needs_approval
from bot.decide.progress import news, sweep_slot
from bot.decide.runs import alive_sweeps, measures, repeats, rerunnable, suspects
from bot.decide.say import goes_on, say, tomorrow
from bot.decide.smoke import passed
from bot.decide.starting import dispatch_control, dispatch_repeat, dispatch_sweep, heard, relabel, strays
from bot.model.action import Action, Cancel, Rerun, SetDraft
from bot.model.bump import Bump, Judged
from bot.model.outcome import Cause, Outcome
from bot.model.run import Run
from bot.model.text import Text

NOTHING_BEGAN = Text("The sweep was asked for again and again, and none began to measure.",
                     "已多次请求扫描，但没有任何扫描开始测量。")
NO_REPEAT = Text("One run alone does not settle the suspect points, and a repeat of about {:.1f} GPU-h cannot be paid.",
                 "单次运行不足以判定可疑测点，而重复测量约需 {:.1f} GPU 小时，已超出预算。")


def due(bump: Bump, head: str) -> tuple[Action, ...]:
    """Starts the sweep: by the guest's label, or by our own dispatch; above a threshold a person must have asked."""
    pull, rules = bump.world.pull, bump.subject.rules.sweep
    assert pull is not None
    before, price = (*strays(bump), *passed(bump)), budget.price_sweep(bump)
    if not budget.affords(bump, price):
        return (*before, *ending.end(bump, Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, forecast=price, step="sweep"))
    if needs_approval(bump):
        about = "sweep-held" if held(bump) else "sweep-questions" if questions(bump) else "sweep-needs-approval"
        return (*before, *say(bump, "status", report.status(bump, about=about, by=None)))
    if found := stops(bump):
        return (*before, *ending.prevented(bump, found))
    if _tries(bump, head) > bump.subject.limits.infrastructure_retries:
        return (*before, *ending.end(bump, Outcome.UNCERTAIN, Cause.RETRIES_EXHAUSTED, why=NOTHING_BEGAN))
    ready = () if rules.drafts or not pull.draft else (SetDraft(draft=False, head=head),)
    if not budget.today(bump, price):
        return (*before, *tomorrow(bump))
    started = relabel(bump, head, price) if rules.start == "label" else (dispatch_sweep(bump, head, price),)
    return (*before, *ready, *goes_on(bump), *started)


def running(bump: Bump, run: Run, judged: Judged | None) -> tuple[Action, ...]:
    """Follows one run; once it measures, an older one for the same head is stopped: it would measure the same twice.
    Before that nothing is, since a run that some other label started is the newest too, and will skip its jobs."""
    if not run.terminal and budget.overrun(bump):
        return ending.overrun(bump, run)
    if bump.subject.rules.sweep.start == "dispatch" and held(bump):
        stopped = () if run.terminal else (Cancel(run=run.id),)  # where a label starts the sweep, its going stops it by itself
        return (*strays(bump), *stopped, *say(bump, "status", report.status(bump, about="sweep-held", by=None)))
    doubles = tuple(Cancel(run=other.id) for other in alive_sweeps(bump)
                    if measures(run) and not other.terminal and (other.created, other.id) < (run.created, run.id))
    fresh = news(bump, run)
    record = report.sweep(bump, run, passed=None, update=fresh)
    told = say(bump, sweep_slot(bump), record, waiting=True, update=fresh)
    return (*strays(bump), *heard(bump), *doubles, *told, *_beside(bump, run))


def controlling(bump: Bump, run: Run) -> tuple[Action, ...]:
    """The sweep is done, and its verdict waits for the run of the old image."""
    fresh = news(bump, run)
    record = report.sweep(bump, run, passed=None, update=fresh)
    told = say(bump, sweep_slot(bump), record, waiting=True, update=fresh)
    return (*strays(bump), *heard(bump), *told, *_beside(bump, run))


def _beside(bump: Bump, run: Run) -> tuple[Action, ...]:
    """The old image beside the sweep, where the policy asks: started, tried once more, or stopped for the cap. It comes last,
    for whatever keeps it from starting must keep nothing else from being done."""
    arm, base = standing(bump, run), base_of(bump)
    kept = arm.run.id if arm and arm.run and not gives_way(bump, run) else None
    alive = [other for other in bump.world.runs if other.stage == "control" and not other.terminal]
    stopped = () if held(bump) else tuple(Cancel(run=other.id) for other in alive if other.id != kept)  # held: a stray by then
    if arm is None or base is None or arm.state not in ("due", "retry"):
        return stopped
    if arm.run is not None and rerunnable(arm.run):
        return (*stopped, Rerun(run=arm.run.id, attempt=arm.run.attempt, gpu_hours=arm.price))
    return (*stopped, dispatch_control(bump, base, arm.price))


def broken(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """A gate cannot hold any more: the same table of answers as for a smoke."""
    return respond(bump, run, judged)


def repeat_due(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """The suspect points once more: "regressed" is said of no image on one run alone. What cannot be paid stays unsettled."""
    points = suspects(bump, judged)
    price = budget.price(bump, points)
    if not budget.affords(bump, price):
        why = Text(NO_REPEAT.en.format(price), NO_REPEAT.zh.format(price))
        ends = ending.end(bump, Outcome.UNCERTAIN, Cause.VERDICT, run=run.id, why=why, forecast=price, step="repeat")
        return (*_told(bump, run, passed=True), *ends)
    if not budget.today(bump, price):
        return tomorrow(bump)
    return (*_told(bump, run, passed=None), dispatch_repeat(bump, run.head, points, price))


def repeating(bump: Bump, run: Run, again: Run) -> tuple[Action, ...]:
    """Waits for the repeat; an older one that a late answer left running is stopped."""
    if not again.terminal and budget.overrun(bump):
        return ending.overrun(bump, again)
    doubles = tuple(Cancel(run=other.id) for other in bump.world.runs
                    if other.stage == "repeat" and other.head == run.head and other.id != again.id and not other.terminal)
    return (*strays(bump), *doubles, *say(bump, sweep_slot(bump), report.sweep(bump, run, passed=None), waiting=True))


def _told(bump: Bump, run: Run, *, passed: bool | None) -> tuple[Action, ...]:
    fresh = news(bump, run)
    return say(bump, sweep_slot(bump), report.sweep(bump, run, passed=passed, update=fresh), update=fresh)


def swept(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """Every job passed and every gate beside the image's holds: the verdict decides, and no image is good that was not seen to
    run at every point."""
    verdict = judged.verdict.verdict if judged.verdict else "inconclusive"
    second = [again for other in repeats(bump) if (again := bump.judged(other.id))]
    repeated = [proof for one in second for proof in one.proofs]
    verdict = "inconclusive" if verdict != "regressed" and image.unproven(judged.proofs, repeated) else verdict
    outcome = {
        "improved": Outcome.VALIDATED,
        "neutral": Outcome.VALIDATED,
        "regressed": Outcome.REGRESSED,
        "inconclusive": Outcome.UNCERTAIN,
    }[verdict]
    wrong = [proof for one in (judged, *second[:1]) for proof in image.wrong(one)]
    why = image.why(bump, wrong) if outcome is Outcome.UNCERTAIN else None
    return (*_told(bump, run, passed=True), *ending.end(bump, outcome, Cause.VERDICT, run=run.id, why=why))


def _tries(bump: Bump, head: str) -> int:
    """How often a sweep of this head was asked for without one that measures: by our dispatches, or our labels since the head."""
    rules, since = bump.subject.rules.sweep, bump.memory.heads[-1].at
    if rules.start == "dispatch":
        return sum(run.stage == "sweep" and run.head == head and not measures(run) for run in bump.world.runs)
    names = {rules.label, *rules.labels}
    return sum(one.added and one.label in names and one.by == bump.world.me and one.at >= since for one in bump.world.labellings)
