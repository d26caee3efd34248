"""What a failed run calls for: the weather again, a known repair, or the end; the same for a smoke and a sweep."""

from __future__ import annotations

from bot import budget
from bot.decide import ending, image, report
from bot.decide.classes import response, weather
from bot.decide.people import held, insisted
from bot.decide.progress import attempt_slot, news, sweep_slot
from bot.decide.runs import failed_jobs, measures, passed, repeats, rerunnable, smokes, suspects, sweep_of
from bot.decide.say import say, tomorrow
from bot.decide.starting import dispatch_repeat, dispatch_smoke, dispatch_sweep, labels_off, relabel
from bot.model.action import Action, Cancel, Push, Rerun
from bot.model.bump import Bump, JobFailure, Judged, Wanted
from bot.model.outcome import Cause, Outcome
from bot.model.run import Run
from bot.model.text import Text

GATES = {
    "failed-requests": Text("too many requests failed at {0}", "测点 {0} 的失败请求过多"),
    "canary": Text("the sample of {0} is further below the baseline's score than chance allows",
                   "{0} 的抽样得分低于基线，超出偶然范围"),
    "coverage": Text("the point {0} was not measured", "测点 {0} 未被测量"),
    "refused": Text("the results of the point {0} were refused", "测点 {0} 的结果被拒绝"),
}
NOTHING_MEASURED = Text("The run ended without measuring anything.", "该运行结束时没有产生任何测量结果。")


def respond(bump: Bump, run: Run, judged: Judged) -> tuple[Action, ...]:
    """What a failed run calls for: retry the weather, repair the known, stop for the rest; told before it is done. A person
    who insists has it tried again, whatever it failed of."""
    if insisted(bump, run):
        return retry(bump, run)
    wrong = image.decisive(run, judged)
    if wrong:
        return _stop(bump, run, Outcome.UNCERTAIN, Cause.NONE, None, why=image.why(bump, wrong))
    if passed(run):
        return _stop(bump, run, Outcome.FAILED, _failure_cause(run, Cause.UNREPAIRABLE), None, why=_gates(judged))
    newest = {(job.name, job.attempt) for job in failed_jobs(run)}
    failures = [failure for failure in judged.failures if (failure.job, failure.attempt) in newest]
    own = [failure for failure in failures if not weather(failure.triage.class_, failure.attempt)]
    if (failures and not own) or not failed_jobs(run):
        return retry(bump, run)
    called, outcome = response(own[0].triage.class_ if own else None)
    cause = _first(own)
    if called == "stop":
        return _stop(bump, run, outcome, Cause.NONE, cause)
    if bump.world.wanted is None or bump.world.wanted.run != run.id:
        return _stop(bump, run, outcome, _failure_cause(run, Cause.UNREPAIRABLE), cause)
    return repair(bump, run, bump.world.wanted, cause)


def retry(bump: Bump, run: Run) -> tuple[Action, ...]:
    """The failed jobs again in the same run: no repair is spent on a node's package fetch. A run that ended without any
    job is begun anew; one whose every job passed without measuring would do the same again."""
    why, asked = None if failed_jobs(run) else NOTHING_MEASURED, insisted(bump, run)
    if run.terminal and why and run.conclusion == "success" and not asked:
        return _stop(bump, run, Outcome.UNCERTAIN, Cause.NONE, None, why=why)
    if _tries(bump, run) > bump.subject.limits.infrastructure_retries and not asked:
        return _stop(bump, run, Outcome.UNCERTAIN, Cause.RETRIES_EXHAUSTED, None, why=why)
    if not run.terminal:
        return ()
    if run.stage == "sweep" and held(bump):
        return say(bump, "status", report.status(bump, about="sweep-held", by=None))
    price, once_more = again(bump, run)
    if not budget.affords(bump, price):
        return _stop(bump, run, Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, None, forecast=price, step="retry")
    if not budget.today(bump, price):
        return tomorrow(bump)
    return (*_tell(bump, run, "retry"), *once_more)


def again(bump: Bump, run: Run) -> tuple[float, tuple[Action, ...]]:
    """What trying a run again costs, and how: its failed jobs, or where there are none all of it under a new nonce."""
    if rerunnable(run):
        price = budget.price_rerun(bump, run)
        return price, (Rerun(run=run.id, attempt=run.attempt, gpu_hours=price),)
    if run.stage == "smoke":
        price = budget.price_smoke(bump, run.step)
        return price, (dispatch_smoke(bump, run.head, run.step, price),)
    if run.stage == "repeat":
        sweep = sweep_of(bump)
        judged = bump.judged(sweep.id) if sweep else None
        points = suspects(bump, judged) if judged else ()
        price = budget.price(bump, points)
        return price, (dispatch_repeat(bump, run.head, points, price),)
    price = budget.price_sweep(bump)
    by_label = bump.subject.rules.sweep.start == "label"
    return price, relabel(bump, run.head, price) if by_label else (dispatch_sweep(bump, run.head, price),)


def repair(bump: Bump, run: Run, wanted: Wanted, failure: JobFailure | None) -> tuple[Action, ...]:
    """One known repair, if it stands in scope, within the repair budget, and what follows can be paid."""
    if not wanted.available:
        return _stop(bump, run, Outcome.FAILED, _failure_cause(run, Cause.UNREPAIRABLE), failure, wanted=wanted)
    if budget.repairs_left(bump) <= 0:
        return _stop(bump, run, Outcome.FAILED, Cause.REPAIRS_EXHAUSTED, failure, wanted=wanted)
    price = budget.price_repair(bump)
    if not budget.affords(bump, *budget.repair_steps(bump)):
        # A sweep's gate judged the candidate as it stands; a smoke only priced the next step. So the first is a
        # failure whose repair could not be paid, the second a budget that ran out.
        outcome, cause = (Outcome.BUDGET_EXHAUSTED, Cause.BUDGET) if run.stage == "smoke" else (Outcome.FAILED, Cause.GATE)
        return _stop(bump, run, outcome, cause, failure, wanted=wanted, forecast=price)
    stop = () if run.terminal else (Cancel(run=run.id),)
    return (*_tell(bump, run, "repair"), *stop, *labels_off(bump), Push(why="repair", expected=bump.head, repair=wanted))


def _tries(bump: Bump, run: Run) -> int:
    """Attempts so far of all runs that were to measure what this one measures; a smoke that a person asked for, or a second
    repeat, begins anew."""
    if run.stage == "sweep":
        sweeps = (other for other in bump.world.runs if other.stage == "sweep" and other.head == run.head)
        return sum(other.attempt for other in sweeps if measures(other))
    same = smokes(bump, run.step) if run.stage == "smoke" else repeats(bump)
    return sum(other.attempt for other in same if not passed(other))


def _tell(bump: Bump, run: Run, next_: str) -> tuple[Action, ...]:
    sweep = sweep_of(bump) if run.stage == "repeat" else run
    if run.stage != "smoke" and sweep is not None:
        update, over = news(bump, sweep), None if next_ == "retry" else False
        return say(bump, sweep_slot(bump), report.sweep(bump, sweep, passed=over, update=update), update=update)
    return say(bump, attempt_slot(bump), report.attempt(bump, run, next_=next_))


def _stop(bump: Bump, run: Run, outcome: Outcome, cause: Cause, failure: JobFailure | None, *,
          wanted: Wanted | None = None, forecast: float | None = None, why: Text | None = None,
          step: str | None = None) -> tuple[Action, ...]:
    why = failure.triage.cause if failure else why
    ends = ending.end(bump, outcome, cause, why=why, run=run.id, wanted=wanted, forecast=forecast, step=step)
    return (*_tell(bump, run, "stop"), *ends)


def _gates(judged: Judged) -> Text:
    """Gates that do not hold though every job passed. The same run again would measure the same, and no repair is known."""
    refused = {name for one in judged.refused if one.role == "throughput"
               for name in (f"c{one.concurrency}", f"{one.recipe} c{one.concurrency}")}
    told = [(GATES["refused" if gate == "coverage" and point in refused else gate], point)
            for gate, _, point in (one.partition(":") for one in judged.gates)]
    return Text(f"Every job passed, but {', and '.join(text.en.format(point) for text, point in told)}.",
                f"所有作业均已通过，但{'，且'.join(text.zh.format(point) for text, point in told)}。")


def _failure_cause(run: Run, otherwise: Cause) -> Cause:
    return otherwise if run.stage == "smoke" else Cause.GATE


def _first(failures: list[JobFailure]) -> JobFailure | None:
    return failures[0] if failures else None
