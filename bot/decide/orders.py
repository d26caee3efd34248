"""Slash commands: what each asks for is remembered, answered in words, and acknowledged, once and by its comment's id.

A command is decided before the phase's own actions, on the facts as those before it left them, and the phase is then asked
of what was remembered: a stop and a dispatch never stand in one step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bot import budget
from bot.commands import COMMANDS
from bot.decide import ending
from bot.decide.answer import again
from bot.decide.asked import assumed, remembered
from bot.decide.control import standing
from bot.decide.findings import about_smoke, holding_smoke, questions
from bot.decide.people import held, needs_approval, smoke_held, taken_by_person
from bot.decide.phase import (
    Barred,
    Blocked,
    ChangelogDue,
    Controlling,
    Phase,
    RepeatBroken,
    RepeatDue,
    Repeating,
    Settling,
    SmokeBroken,
    SmokeDue,
    Smoking,
    Superseded,
    SweepBroken,
    SweepDue,
    Sweeping,
    Swept,
    phase_of,
)
from bot.decide.report.parts import PHASE_WORDS, state
from bot.decide.runs import smokes, starting, suspects
from bot.model.action import Action, React, Remember, Reopen, Say
from bot.model.bump import Approval, Asked, Bump
from bot.model.lines import CommandLine
from bot.model.order import Order, Word
from bot.model.outcome import Cause, Outcome
from bot.model.record import Answer

# The one answer that people without write access get on a bump, all of them together.
OTHERS = "answer-others"
SWEPT = (Sweeping, SweepBroken, Controlling, RepeatDue, Repeating, RepeatBroken, Swept)
BROKEN = (SmokeBroken, SweepBroken, RepeatBroken)
# Where a bump that is opened again has something to do.
REOPENED = (SmokeDue, ChangelogDue, Settling, SweepDue, Controlling, RepeatDue, *BROKEN)


class Reply(Struct, frozen=True, kw_only=True):
    """What becomes of a command: a word of the glossary for the answer, what is remembered, and what it would have cost
    where it cannot be paid."""

    result: str
    mark: Literal["+1", "-1", "confused"] = "+1"
    facts: tuple[Action, ...] = ()
    outcome: Outcome | None = None
    forecast: float | None = None
    now: str | None = None
    commands: bool = False


def orders(bump: Bump) -> tuple[Action, ...]:
    """What the commands that have no answer yet ask for, oldest first. A later one finds what an earlier one asked."""
    done: list[Action] = []
    slots = {told.slot for told in bump.memory.told}
    for order in bump.world.orders:
        if slot(order) not in slots:
            slots.add(slot(order))
            actions = _actions(bump, order)
            bump = assumed(bump, actions)
            done += actions
    return tuple(done)


def slot(order: Order) -> str:
    """Where a command is answered. All that people without write access say share one answer: whoever deletes and repeats
    a command, or asks under a hundred names, gets no second."""
    return OTHERS if order.objection == "no-permission" else f"answer-{order.comment}"


def _actions(bump: Bump, order: Order) -> tuple[Action, ...]:
    """Remembered first, for that is what was asked; then told; the mark last, since a forge may refuse it for good."""
    reply = _reply(bump, order)
    bump = assumed(bump, reply.facts)
    stranger = order.objection == "no-permission"
    record = Answer(
        comment=order.comment, by=None if stranger else order.by, command=None if stranger else order.word, result=reply.result,
        outcome=reply.outcome, forecast=reply.forecast, left=budget.left(bump) if reply.forecast is not None else None,
        now=reply.now, state=state(bump, bump.memory.ended), commands=_lines() if reply.commands else (),
    )
    return (*reply.facts, Say(slot=slot(order), record=record), React(comment=order.comment, content=reply.mark))


def _reply(bump: Bump, order: Order) -> Reply:
    if order.objection is not None or order.word is None:
        lacking = order.objection or "unknown-word"
        return Reply(result=lacking, mark="-1" if lacking == "no-permission" else "confused",
                     commands=lacking in ("unknown-word", "extra-words"))
    outcome = _outcome(bump)
    if order.word == "retry" and bump.memory.closed and outcome is not None:
        return _reopen(bump, order, outcome)
    over = outcome is not None and COMMANDS[order.word].means != "answer"
    if over and not (order.word == "stop" and outcome is Outcome.STOPPED):
        return Reply(result="over", mark="-1", outcome=outcome)
    return REPLIES[order.word](bump, order)


def _outcome(bump: Bump) -> Outcome | None:
    """How the bump has ended, or is about to in this very look."""
    if bump.memory.ended is not None:
        return bump.memory.ended.outcome
    return Outcome.SUPERSEDED if isinstance(phase_of(bump), Superseded) else taken_by_person(bump)


def _status(bump: Bump, order: Order) -> Reply:
    return Reply(result="status", now=_now(bump))


def _help(bump: Bump, order: Order) -> Reply:
    return Reply(result="help", commands=True)


def _stop(bump: Bump, order: Order) -> Reply:
    ended = bump.memory.ended is not None
    return Reply(result="stopping", facts=() if ended else ending.end(bump, Outcome.STOPPED, Cause.PERSON, by=order.by))


def _smoke(bump: Bump, order: Order) -> Reply:
    phase = phase_of(bump)
    if remembered(bump.memory, order):
        later = isinstance(phase, SmokeDue) and not _smoke_today(bump, phase)
        return Reply(result="smoke-tomorrow" if later else "smoke-again")
    if isinstance(phase, (Blocked, Barred)):
        return Reply(result="blocked" if isinstance(phase, Blocked) else "barred", mark="-1")
    if isinstance(phase, SWEPT) or starting(bump):
        return Reply(result="sweep-stands", mark="-1")
    if isinstance(phase, Smoking) or (isinstance(phase, SmokeDue) and _under_way(bump, phase)):
        return Reply(result="smoke-running", mark="-1")
    due = isinstance(phase, SmokeDue)
    price = budget.price_smoke(bump, phase.step if due else None)
    if not budget.affords(bump, price):
        return Reply(result="unpaid", mark="-1", forecast=price)
    asked = Remember(fact=Asked(what="smoke", by=order.by, at=order.at, comment=order.comment))
    facts = () if due and not smoke_held(bump) else (asked,)
    after = phase_of(assumed(bump, facts))
    if not isinstance(after, SmokeDue):
        return Reply(result="smoke-ran", mark="-1")
    soon = "smoke-next" if due else "smoke-again"
    return Reply(result=soon if _smoke_today(bump, after) else "smoke-tomorrow", facts=facts)


def _under_way(bump: Bump, phase: SmokeDue) -> bool:
    """Whether a smoke stands between two of its stages."""
    return any(run.step < phase.step for run in smokes(bump))


def _smoke_today(bump: Bump, phase: SmokeDue) -> bool:
    """Whether the cluster may still be promised the stage that is due on this day."""
    return budget.today(bump, budget.price_smoke(bump, phase.step))


def _sweep(bump: Bump, order: Order) -> Reply:
    kept, price = remembered(bump.memory, order), budget.price_sweep(bump)
    facts = () if kept else (Remember(fact=Approval(by=order.by, at=order.at, comment=order.comment)),)
    after = assumed(bump, facts)
    phase = phase_of(after)
    if isinstance(phase, (Blocked, Barred)):
        return Reply(result="blocked" if isinstance(phase, Blocked) else "barred", mark="-1")
    if isinstance(phase, Sweeping) and (held(bump) or kept):  # it was being stopped for a label taken off, and goes on
        return Reply(result="sweep-running", facts=facts)
    stands = isinstance(phase, SWEPT) and not held(bump) and not kept
    if stands or (isinstance(phase, Settling) and starting(bump)):
        return Reply(result="sweep-running", mark="-1")
    if not budget.affords(bump, price):
        return Reply(result="unpaid", mark="-1", forecast=price)
    if held(after):
        return Reply(result="sweep-held", mark="-1")
    if isinstance(phase, (SmokeDue, Smoking, SmokeBroken)):
        return Reply(result="sweep-after-smoke", facts=facts)
    if isinstance(phase, (ChangelogDue, Settling)):
        return Reply(result="sweep-after-merge", facts=facts)
    return Reply(result="sweep-next" if budget.today(bump, price) else "sweep-tomorrow", facts=facts)


def _retry(bump: Bump, order: Order) -> Reply:
    phase, kept = phase_of(bump), remembered(bump.memory, order)
    if not isinstance(phase, BROKEN):
        if kept:
            return Reply(result="retry-again")
        going = isinstance(phase, (Smoking, Sweeping, Controlling, Repeating))
        return Reply(result="retry-early" if going else "nothing-failed", mark="-1")
    run = phase.again if isinstance(phase, RepeatBroken) else phase.run
    price, _ = again(bump, run)
    if run.ended is None:
        return Reply(result="retry-early", mark="-1")
    if run.stage == "sweep" and held(bump):
        return Reply(result="sweep-held", mark="-1")
    if not budget.affords(bump, price):
        return Reply(result="unpaid", mark="-1", forecast=price)
    # Asked while the run still went on, it means what has failed by now.
    asked = Asked(what="retry", by=order.by, at=max(order.at, run.ended), comment=order.comment)
    facts = () if kept else (Remember(fact=asked),)
    return Reply(result="retry-again" if budget.today(bump, price) else "retry-tomorrow", facts=facts)


def _reopen(bump: Bump, order: Order, outcome: Outcome) -> Reply:
    """A bump that has ended goes on, if its branch is as we left it and going on would do anything else than end it again."""
    pull, over = bump.world.pull, Reply(result="over", mark="-1", outcome=outcome)
    if pull is None or pull.head != bump.head:
        return over
    action = Reopen(head=pull.head, by=order.by, at=order.at, comment=order.comment)
    world = replace(bump.world, pull=replace(pull, open=True))
    after = replace(assumed(bump, (action,)), world=world)
    phase = phase_of(after)
    if not isinstance(phase, REOPENED):
        return over
    if bump.world.obstacle is not None:
        return Reply(result=f"reopen-{bump.world.obstacle}", mark="-1", outcome=outcome)
    price = _next_price(after, phase)
    if not budget.affords(after, price):
        return Reply(result="unpaid", mark="-1", outcome=outcome, forecast=price)
    return Reply(result="reopened", facts=(action,))


def _next_price(bump: Bump, phase: Phase) -> float:
    """GPU-hours of what a bump in this phase starts next."""
    match phase:
        case SmokeDue(step=step):
            return budget.price_smoke(bump, step)
        case SmokeBroken(run=run) | SweepBroken(run=run) | RepeatBroken(again=run):
            return again(bump, run)[0]
        case Controlling(run=run):
            arm = standing(bump, run)
            return arm.price if arm else 0.0
        case RepeatDue(judged=judged):
            return budget.price(bump, suspects(bump, judged))
        case _:
            return budget.price_sweep(bump)


def _now(bump: Bump) -> str:
    """What the bot does or waits for, as a word of the glossary."""
    phase = phase_of(bump)
    match phase:
        case SweepDue() | SweepBroken() if held(bump):
            return "held"
        case SweepDue() if needs_approval(bump):
            return "questions" if questions(bump) else "approval"
        case SweepDue() if not budget.today(bump, budget.price_sweep(bump)):
            return "tomorrow"
        case SmokeDue() if smoke_held(bump):
            return about_smoke(holding_smoke(bump))
        case SmokeDue() if not _smoke_today(bump, phase):
            return "tomorrow"
        case SweepDue():
            return "sweep-due"
        case _:
            return PHASE_WORDS[type(phase).__name__]


def _lines() -> tuple[CommandLine, ...]:
    return tuple(CommandLine(word=row.word, help=row.help) for row in COMMANDS.values())


REPLIES: dict[Word, Callable[[Bump, Order], Reply]] = {
    "status": _status, "stop": _stop, "smoke": _smoke, "sweep": _sweep, "retry": _retry, "help": _help,
}
