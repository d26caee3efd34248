"""Actions into port calls, one each. Every one looks first whether it is done already, so that a second try is harmless."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.decide.asked import assumed
from bot.errors import BumpbotError, Conflict, Missing, Refusal
from bot.model.action import (
    Action,
    Cancel,
    ClosePull,
    Dispatch,
    Keep,
    Label,
    OpenPull,
    Push,
    React,
    Remember,
    Reopen,
    Rerun,
    Result,
    Say,
    SetDraft,
    Unlabel,
)
from bot.model.bump import Bump
from bot.model.forge import Pull
from bot.model.ledger import Receipt
from bot.wake import archive, comments, pushes, sealing
from bot.wake.context import ALLOWED, Context
from bot.wake.runs import DISPATCH, carries

# A forge whose clock is behind ours dates a run before our claim of it: a minute's allowance dispatched four smokes once.
CLOCKS_DIFFER = timedelta(days=1)


def act(context: Context, bump: Bump, actions: Sequence[Action], *, at: datetime, receipt: Receipt) -> tuple[Result, ...]:
    """Does the actions in order; the first that finds the world moved on ends the step, the rest is decided anew.

    `at` is the claim's moment: commits are dated by it, so that finishing a claim later makes the very same commit.
    """
    results: list[Result] = []
    for index, action in enumerate(actions):
        if not isinstance(action, ALLOWED[context.mode()]):
            results.append(Result(index=index, ok=False, withheld=True, detail=f"mode {context.mode()} does not allow it"))
            continue
        try:
            # A stop that is remembered in this very step is what the evidence is of.
            facts = assumed(bump, actions[:index]) if isinstance(action, Keep) else bump
            result = _one(context, facts, index, action, at, receipt)
        except (Conflict, Missing, Refusal) as error:
            result = Result(index=index, ok=False, refused=isinstance(error, Refusal), detail=str(error))
        except BumpbotError as error:
            results.append(Result(index=index, ok=False, detail=str(error)))
            break
        results.append(result)
        if not result.ok:
            break
    return tuple(results)


def _one(context: Context, bump: Bump, index: int, action: Action, at: datetime, receipt: Receipt) -> Result:
    forge = context.forge
    match action:
        case Remember():
            return Result(index=index, ok=True)
        case Push():
            head = pushes.push(context, bump, action, at)
            return Result(index=index, ok=True, head=head)
        case OpenPull():
            return _open(context, bump, index, action, receipt)
        case Say(slot=slot, record=record):
            comment = comments.say(context, bump, _number(bump), slot, record, receipt)
            return Result(index=index, ok=True, comment=comment)
        case Dispatch():
            return _dispatch(context, index, action, at)
        case Keep():
            return Result(index=index, ok=True, evidence=sealing.sealed(context, bump, receipt))
        case React(comment=comment, content=content):
            forge.react(comment, content)
            return Result(index=index, ok=True)
        case Rerun(run=run, attempt=attempt):
            info = forge.run(run)
            if info.attempt == attempt and info.status == "completed":
                forge.rerun_failed(run)
            return Result(index=index, ok=True, run=run)
        case Cancel(run=run):
            if forge.run(run).status != "completed":
                forge.cancel(run)
            return Result(index=index, ok=True, run=run)
        case _:
            return _on_pull(context, bump, index, action)


def _on_pull(context: Context, bump: Bump, index: int, action: Label | Unlabel | SetDraft | ClosePull | Reopen) -> Result:
    """What is done to the pull request as it stands now: it is read again first, and a head that moved is left alone."""
    forge, pull = context.forge, context.forge.pull(_number(bump))
    match action:
        case Label(name=name, head=head):
            _same_head(pull, head)
            forge.label(pull.number, name)
            _same_head(forge.pull(pull.number), head)
        case Unlabel(name=name):
            forge.unlabel(pull.number, name)
        case SetDraft(draft=draft, head=head):
            _same_head(pull, head)
            if pull.draft != draft:
                forge.set_draft(pull.number, draft)
        case ClosePull():
            if pull.open:
                forge.edit_pull(pull.number, open=False)
        case Reopen(head=head):
            _same_head(pull, head)
            if not pull.open:
                forge.edit_pull(pull.number, open=True)
    return Result(index=index, ok=True, pull=pull.number)


def _open(context: Context, bump: Bump, index: int, action: OpenPull, receipt: Receipt) -> Result:
    rules = bump.subject.rules
    pull = context.forge.pull_of_branch(rules.branch)
    if pull is None or not pull.open:
        body = comments.body("", bump, context.render.parts(action.record)[0], receipt)
        title = context.render.title(action.record)
        pull = context.forge.open_pull(branch=rules.branch, base=rules.base, title=title, body=body, draft=True)
    archive.keep(context, bump)
    return Result(index=index, ok=True, pull=pull.number, head=pull.head)


def _dispatch(context: Context, index: int, action: Dispatch, at: datetime) -> Result:
    """Never twice: a dispatch whose answer was lost is found by its nonce in the run's name."""
    since = at - CLOCKS_DIFFER
    me = context.forge.me()
    for info in context.forge.runs(action.workflow, event=DISPATCH, since=since):
        if carries(info, action.nonce, workflow=action.workflow, ref=action.ref, me=me, since=since):
            return Result(index=index, ok=True, run=info.id)
    run = context.forge.dispatch(action.workflow, ref=action.ref, inputs=action.inputs)
    return Result(index=index, ok=True, run=run)


def _same_head(pull: Pull, head: str) -> None:
    if pull.head != head:
        raise Conflict(f"the head moved to {pull.head[:9]}", "the next look decides for the new head")


def _number(bump: Bump) -> int:
    if bump.world.pull is None:
        raise Refusal("there is no pull request yet", "the next look opens it")
    return bump.world.pull.number
