"""One wake: observe, decide, claim, act, record, for all open bumps together, until there is nothing left but waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from bot import ledger as chains
from bot.decide import decide
from bot.decide.learnt import learnt
from bot.errors import BadInput, Broken, BumpbotError, Unreachable
from bot.model.action import Action, Reopen, Result, tag
from bot.model.bump import Bump, Memory
from bot.model.event import Event, Requested, Scheduled
from bot.model.finding import PlanFinding
from bot.model.forge import Pull
from bot.model.ledger import Entry, Lost, Receipt, Snapshot, Step, Stored
from bot.wake import comments, holding, noises, opening, orders, publishing, recall, scanning, sights
from bot.wake.act import act
from bot.wake.context import ALLOWED, Context
from bot.wake.observe import observe

LOOKS = 24


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What one wake did for one bump: how many steps it took, and why it could not go on, if it could not.

    `done` and `withheld` are its actions by their tags, those that were done and those that the mode did not allow; `frozen`:
    an operator must look; `unreachable`: the world did not answer, and a later wake goes on. `why` and `next` of one that planning
    ended before anything was opened: what was found (`found`: the findings themselves), and what to do about it.
    """

    bump: str
    steps: int
    done: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    trouble: str | None = None
    ended: str | None = None
    frozen: bool = False
    unreachable: bool = False
    why: str | None = None
    next: str | None = None
    found: tuple[PlanFinding, ...] = ()


@dataclass
class _Visit:
    """One bump during this wake. `last` are the actions of its last step, to see when deciding again adds nothing."""

    id: str
    fresh: Bump | None
    steps: int = 0
    last: tuple[Action, ...] = ()
    done: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    trouble: str | None = None
    report: Report | None = None

    def end(self, trouble: str | None = None, **more: Any) -> None:
        self.report = Report(bump=self.id, steps=self.steps, done=self.done, withheld=self.withheld, trouble=trouble, **more)

    def acted(self, actions: Sequence[Action], results: Sequence[Result]) -> None:
        """Counts a step that was done."""
        self.steps += 1
        self.done += tuple(tag(actions[result.index]) for result in results if result.ok)
        self.withheld = tuple(tag(actions[result.index]) for result in results if result.withheld)
        self.trouble = next((result.detail for result in results if not (result.ok or result.withheld)), None)


@dataclass(frozen=True)
class _Turn:
    """What a bump is about to do: facts, the claim's entry, and the ledger's step for it."""

    visit: _Visit
    facts: Bump
    claim: Entry
    step: Step


def wake(context: Context, event: Event) -> tuple[Report, ...]:
    """Looks at every open bump, after opening the one that the event asks for, or those whose candidate is next. One bump's
    trouble is not another's.

    Raises Refusal, BadInput, Missing or Unreachable only for what a person asked for by name.
    """
    begun, snapshot = _begun(context, event)
    fresh = {bump.id: bump for bump in begun}
    ids = (*context.ledger.open_bumps(snapshot), *fresh, *orders.ended(context, snapshot, event))
    visits = [_Visit(bump, fresh.get(bump)) for bump in dict.fromkeys(ids)]
    for look in range(LOOKS):
        active = [visit for visit in visits if visit.report is None]
        if not active:
            break
        snapshot = context.ledger.tip() if look else snapshot
        context.ledger.prepare(snapshot)
        _play(context, snapshot, [turn for visit in active if (turn := _guarded(context, snapshot, visit, event))])
    for visit in visits:
        if visit.report is None:
            visit.end(f"still not at rest after {LOOKS} looks; the next wake goes on")
    return tuple(visit.report for visit in visits if visit.report)


def _begun(context: Context, event: Event) -> tuple[tuple[Bump, ...], Snapshot]:
    """What this wake begins, and the ledger as it stands after that: planning may take minutes, and other wakes go on."""
    if isinstance(event, Requested):
        return (opening.requested(context, event),), context.ledger.tip()
    snapshot = context.ledger.tip()
    begun = opening.successors(context, snapshot)
    snapshot = context.ledger.tip() if begun else snapshot
    if isinstance(event, Scheduled) and scanning.due(context, snapshot):
        begun += opening.scanned(context, snapshot, begun)
        snapshot = context.ledger.tip()
    return begun, snapshot


def _guarded(context: Context, snapshot: Snapshot, visit: _Visit, event: Event) -> _Turn | None:
    try:
        return _turn(context, snapshot, visit, event)
    except BumpbotError as error:
        visit.end(str(error), unreachable=isinstance(error, Unreachable))
        return None


def _turn(context: Context, snapshot: Snapshot, visit: _Visit, event: Event) -> _Turn | None:
    """What a bump does next; None when it rests (its report is then written) or when another's claim was finished."""
    try:
        entries = context.ledger.entries(snapshot, visit.id)
    except BadInput as error:
        visit.end(f"frozen: {error}", frozen=True)  # what cannot be read cannot be trusted
        return None
    pull = _pull(context, entries)
    if (fault := _fault(entries, pull)) is not None:
        visit.end(f"frozen: {fault}", frozen=True)
        return None
    if chains.pending(entries):
        if not _finish(context, snapshot, visit.id, entries):
            visit.end("another wake is at work on it")
        return None
    before, memory = _start(entries, visit.fresh)
    over = memory.ended.outcome.value if memory.closed and memory.ended else None
    if memory.closed and visit.fresh is not None:
        visit.end(ended=over, **_prevented(memory))
        return None
    since = entries[0].entry.at if entries else context.clock.now()
    facts = holding.promised(context.ledger, snapshot, observe(context, before, memory, pull, since=since))
    if memory.closed:
        facts = holding.again(context, snapshot, facts)
    actions = decide(facts, event)
    if not actions or actions == visit.last or _stands(context, visit, entries, actions):
        visit.end(visit.trouble, ended=over)
        return None
    visit.last = actions
    claim = chains.claim_entry(entries, wake=context.wake, version=context.version, at=context.clock.now(), event=event,
                               facts=facts, actions=actions, run=context.run)
    allowed = [action for action in actions if isinstance(action, ALLOWED[context.mode()])]
    shared = [holding.promise(context.ledger, snapshot, facts, allowed)]
    shared += [holding.held(context.ledger, snapshot, facts)] if not entries or _reopens(actions) else []
    shared += [sights.of_bump(context.ledger, snapshot, facts)] if not entries else []
    shared += [noises.kept(context, snapshot, facts, allowed)]
    writes = {path: data for written, _ in shared for path, data in written.items()}
    reads = tuple(path for _, read in shared for path in read)
    return _Turn(visit, facts, claim, context.ledger.step(snapshot, visit.id, claim, writes=writes, reads=reads))


def _prevented(memory: Memory) -> dict[str, Any]:
    """What files said against a bump that ended before anything was opened, and what to do about it."""
    ended = memory.ended
    if ended is None or memory.heads or not ended.found:
        return {}
    why = ended.why.en if ended.why else None
    return {"trouble": why, "why": why, "next": ended.found[0].next.en, "found": ended.found}


def _stands(context: Context, visit: _Visit, entries: Sequence[Stored], actions: Sequence[Action]) -> bool:
    """Whether the mode allows none of these actions and the last claim says the same already: an idle wake writes nothing."""
    if any(isinstance(action, ALLOWED[context.mode()]) for action in actions):
        return False
    claims = [stored.entry.actions for stored in entries if stored.entry.kind == "claim"]
    visit.withheld = tuple(tag(action) for action in actions)
    return bool(claims) and tuple(claims[-1]) == tuple(actions)


def _play(context: Context, snapshot: Snapshot, turns: Sequence[_Turn]) -> None:
    """Claims all turns in one commit, acts on those that were won, records them in one commit; who lost looks again."""
    taken = context.ledger.claim(snapshot, [turn.step for turn in turns], wake=context.wake)
    won = () if isinstance(taken, Lost) else taken.bumps
    for turn in turns:
        if turn.visit.id not in won:
            turn.visit.last = ()
    if isinstance(taken, Lost):
        met = ", ".join(taken.changed[:3]) or f"each of {taken.tries} tries met another push, or a ledger that takes none"
        context.narrate(f"nothing was claimed: {met}; looking again")
        return
    records: list[Step] = []
    try:
        for turn in turns:
            if turn.visit.id in won:
                names = ", ".join(type(action).__name__ for action in turn.claim.actions)
                context.narrate(f"{turn.visit.id}: claim {turn.claim.n}: {names}")
                step, results = _do(context, taken.snapshot, turn.facts, turn.claim)
                records.append(step)
                turn.visit.acted(turn.claim.actions, results)
    finally:
        if records:  # also when another bump's effect broke off: its claim alone stays open for a later wake
            context.ledger.record(taken.snapshot, records, wake=context.wake)


def _do(context: Context, snapshot: Snapshot, bump: Bump, claim: Entry) -> tuple[Step, tuple[Result, ...]]:
    """The effects of one claim, and the ledger's step that records them."""
    entries = context.ledger.entries(snapshot, bump.id)
    receipt = Receipt(n=claim.n, sha256=entries[claim.n - 1].sha256)
    results = act(context, bump, claim.actions, at=claim.at, receipt=receipt)
    for result in results:
        if not result.ok:
            context.narrate(f"{bump.id}: {type(claim.actions[result.index]).__name__} was not done: {result.detail}")
    ledger, now = context.ledger, context.clock.now()
    entry = chains.record_entry(entries, claim.n, wake=context.wake, version=context.version, at=now, results=results,
                                run=context.run)
    before, after = bump.memory, recall.after(bump, claim.actions, results)
    if before.closed and not after.closed:
        return ledger.first_step_again(snapshot, bump.id, entry), results
    if not after.closed or (before.closed and not _reopens(claim.actions)):
        return ledger.step(snapshot, bump.id, entry), results
    writes, reads = holding.released(ledger, snapshot, bump)
    writes = {**writes, **publishing.results(context, snapshot, bump), **_lessons(snapshot, bump, after)}
    if before.closed:  # it was to be opened again and was not: what its claim took is free again
        return ledger.step(snapshot, bump.id, entry, writes=writes, reads=reads), results
    return ledger.final_step(snapshot, bump.id, entry, year=now.year, writes=writes, reads=reads), results


def _lessons(snapshot: Snapshot, bump: Bump, after: Memory) -> Mapping[str, bytes | None]:
    """What this ending teaches the next bump; nothing where it had ended before and was only looked at."""
    if bump.memory.closed or after.ended is None:
        return {}
    return chains.kept(snapshot, bump.id, learnt(msgspec.structs.replace(bump, memory=after), after.ended))


def _reopens(actions: Sequence[Action]) -> bool:
    return any(isinstance(action, Reopen) for action in actions)


def _finish(context: Context, snapshot: Snapshot, bump: str, entries: Sequence[Stored]) -> bool:
    """Finishes claims that their wake left without results: each effect is looked up before it is done again."""
    left = chains.unfinished(entries, context.clock.now(), lambda run: _over(context, run))
    for stored in left:
        if stored.entry.facts is not None:
            context.narrate(f"{bump}: finishing claim {stored.entry.n} of another wake")
            step, _ = _do(context, snapshot, stored.entry.facts, stored.entry)
            context.ledger.record(snapshot, [step], wake=context.wake)
    return bool(left)


def _over(context: Context, run: str) -> bool:
    number, _, attempt = run.partition("/")
    info = context.forge.run(int(number))
    return info.status == "completed" or info.attempt > int(attempt or 1)


def _pull(context: Context, entries: Sequence[Stored]) -> Pull | None:
    """The bump's pull request as it is now; None before the first claim."""
    facts = next((stored.entry.facts for stored in reversed(entries) if stored.entry.facts is not None), None)
    return context.forge.pull_of_branch(facts.subject.rules.branch) if facts else None


def _fault(entries: Sequence[Stored], pull: Pull | None) -> Broken | None:
    """What is wrong with a bump's chain, asked before anything is done from it: in itself, or beside the receipt that
    the pull request holds. A branch that was set back holds a chain that is whole and too short."""
    broken = chains.verify(entries)
    told = comments.receipt_of(pull.body) if pull and broken is None else None
    return chains.check_receipt(entries, told.n, told.sha256) if told else broken


def _start(entries: Sequence[Stored], fresh: Bump | None) -> tuple[Bump, Memory]:
    """The last claim's facts and what came of its actions; a bump without entries begins from its plan."""
    claims = [stored.entry for stored in entries if stored.entry.kind == "claim"]
    if not claims or claims[-1].facts is None:
        if fresh is None:
            raise Broken("a bump without a first claim", "an operator must look at the ledger")
        return fresh, fresh.memory
    claim, facts = claims[-1], claims[-1].facts
    results = [result for stored in entries if stored.entry.of == claim.n for result in stored.entry.results]
    return facts, recall.after(facts, claim.actions, results)
