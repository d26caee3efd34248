"""One wake: for every open bump observe, decide, claim, act, record, and again until there is nothing left but waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from bot import ledger as chains
from bot.decide import decide
from bot.errors import BadInput, Broken, BumpbotError, Refusal
from bot.model.action import Action, Result
from bot.model.bump import Bump, Memory
from bot.model.event import Event, Requested
from bot.model.ledger import Entry, Held, Lost, OpenBumps, Receipt, Snapshot, Stored
from bot.model.outcome import Disposition
from bot.plan import Sources, bump_id, plan
from bot.wake import comments, recall
from bot.wake.act import act
from bot.wake.context import Context
from bot.wake.observe import observe

LOOKS = 24


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What one wake did for one bump: how many steps it took, and why it could not go on, if it could not."""

    bump: str
    steps: int
    trouble: str | None = None
    ended: str | None = None
    frozen: bool = False


def wake(context: Context, event: Event) -> tuple[Report, ...]:
    """Looks at every open bump, after opening the one that the event asks for. One bump's trouble is not another's.

    Raises Refusal, BadInput, Missing or Unreachable only for what a person asked for by name.
    """
    fresh = _requested(context, event) if isinstance(event, Requested) else None
    snapshot = context.ledger.tip()
    open_bumps = context.ledger.open_bumps(snapshot)
    ids = dict.fromkeys((*open_bumps, *((fresh.id,) if fresh else ())))
    return tuple(_guarded(context, bump, event, fresh if fresh and fresh.id == bump else None) for bump in ids)


def _guarded(context: Context, bump: str, event: Event, fresh: Bump | None) -> Report:
    try:
        return _look(context, bump, event, fresh)
    except (BadInput, Broken) as error:
        # What cannot be read cannot be trusted: an entry that fails its schema freezes the bump like a broken chain.
        return Report(bump=bump, steps=0, trouble=f"frozen: {error}", frozen=True)
    except BumpbotError as error:
        return Report(bump=bump, steps=0, trouble=str(error))


def _look(context: Context, bump: str, event: Event, fresh: Bump | None) -> Report:
    steps, last, facts = 0, (), fresh
    for _ in range(LOOKS):
        snapshot = context.ledger.tip()
        entries = context.ledger.entries(snapshot, bump)
        if (fault := _fault(context, entries)) is not None:
            return Report(bump=bump, steps=steps, trouble=f"frozen: {fault}", frozen=True)
        if chains.pending(entries):
            if not _finish(context, snapshot, bump, entries):
                return Report(bump=bump, steps=steps, trouble="another wake is at work on it")
            continue
        before, memory = _start(entries, fresh)
        if memory.closed:
            return Report(bump=bump, steps=steps, ended=memory.ended.outcome.value if memory.ended else None)
        since = entries[0].entry.at if entries else context.clock.now()
        facts = observe(context, before, memory, since=since)
        actions = decide(facts, event)
        if not actions or actions == last:
            return Report(bump=bump, steps=steps)
        last = actions if _step(context, snapshot, facts, entries, event, actions) else ()
        steps += 1
    return Report(bump=bump, steps=steps, trouble=f"still not at rest after {LOOKS} looks; the next wake goes on")


def _fault(context: Context, entries: Sequence[Stored]) -> Broken | None:
    """What is wrong with a bump's chain, asked before anything is done from it: in itself, or beside the receipt that
    the pull request holds. A branch that was set back holds a chain that is whole and too short."""
    broken = chains.verify(entries)
    claims = [stored.entry for stored in entries if stored.entry.facts is not None]
    if broken is not None or not claims or claims[-1].facts is None:
        return broken
    pull = context.forge.pull_of_branch(claims[-1].facts.subject.rules.branch)
    told = comments.receipt_of(pull.body) if pull else None
    return chains.check_receipt(entries, told.n, told.sha256) if told else None


def _step(context: Context, snapshot: Snapshot, bump: Bump, entries: Sequence[Stored], event: Event,
          actions: Sequence[Action]) -> bool:
    """Claims, acts, records. False when the claim was lost: nothing was done, and the world is looked at again."""
    ledger, now = context.ledger, context.clock.now()
    entry = chains.claim_entry(entries, wake=context.wake, version=context.version, at=now, event=event, facts=bump,
                               actions=actions, run=context.run)
    writes, reads = _holds(ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps), bump) if not entries else ({}, ())
    taken = ledger.claim(snapshot, [ledger.step(snapshot, bump.id, entry, writes=writes, reads=reads)], wake=context.wake)
    if isinstance(taken, Lost):
        return False
    context.narrate(f"{bump.id}: claim {entry.n}: {', '.join(type(action).__name__ for action in actions)}")
    _do(context, taken.snapshot, bump, ledger.entries(taken.snapshot, bump.id), entry)
    return True


def _do(context: Context, snapshot: Snapshot, bump: Bump, entries: Sequence[Stored], claim: Entry) -> None:
    stored = entries[claim.n - 1]
    results = act(context, bump, claim.actions, at=claim.at, receipt=Receipt(n=claim.n, sha256=stored.sha256))
    for result in results:
        if not result.ok:
            context.narrate(f"{bump.id}: {type(claim.actions[result.index]).__name__} was not done: {result.detail}")
    _record(context, snapshot, bump, entries, claim, results)


def _record(context: Context, snapshot: Snapshot, bump: Bump, entries: Sequence[Stored], claim: Entry,
            results: Sequence[Result]) -> None:
    ledger, now = context.ledger, context.clock.now()
    entry = chains.record_entry(entries, claim.n, wake=context.wake, version=context.version, at=now, results=results,
                                run=context.run)
    closed = recall.after(bump, claim.actions, results).closed
    if closed:
        writes, reads = _released(ledger.load(snapshot, chains.OPEN_BUMPS, OpenBumps), bump)
        step = ledger.final_step(snapshot, bump.id, entry, year=now.year, writes=writes, reads=reads)
    else:
        step = ledger.step(snapshot, bump.id, entry)
    ledger.record(snapshot, [step], wake=context.wake)


def _finish(context: Context, snapshot: Snapshot, bump: str, entries: Sequence[Stored]) -> bool:
    """Finishes claims that their wake left without results: each effect is looked up before it is done again."""
    left = chains.unfinished(entries, context.clock.now(), lambda run: _over(context, run))
    for stored in left:
        if stored.entry.facts is not None:
            context.narrate(f"{bump}: finishing claim {stored.entry.n} of another wake")
            _do(context, snapshot, stored.entry.facts, entries, stored.entry)
    return bool(left)


def _over(context: Context, run: str) -> bool:
    number, _, attempt = run.partition("/")
    info = context.forge.run(int(number))
    return info.status == "completed" or info.attempt > int(attempt or 1)


def _start(entries: Sequence[Stored], fresh: Bump | None) -> tuple[Bump, Memory]:
    """The last claim's facts and what came of its actions; a bump without entries begins from its plan."""
    claims = [stored.entry for stored in entries if stored.entry.kind == "claim"]
    if not claims:
        if fresh is None:
            raise Broken("a bump without a first claim", "an operator must look at the ledger")
        return fresh, fresh.memory
    claim = claims[-1]
    results = [result for stored in entries if stored.entry.of == claim.n for result in stored.entry.results]
    assert claim.facts is not None
    return claim.facts, recall.after(claim.facts, claim.actions, results)


def _requested(context: Context, event: Requested) -> Bump | None:
    """The bump that a person or schedule asks for; Refusal when its recipe is held by another one."""
    if event.image is None:
        raise Refusal(f"no image was named for {event.recipe}", "name one: bumpbot bump RECIPE --image REF")
    base = context.git.tip(context.layout.base)
    if base is None:
        raise Refusal(f"the branch {context.layout.base} does not exist", "name the default branch in the layout")
    sources = Sources(tree=context.tree(base), registry=context.registry, commits=context.commits,
                      published=context.published, schemes=context.knowledge.schemes)
    subject = plan(sources, context.layout, event.recipe, event.image, context.limits)
    bump = Bump(id=bump_id(event.recipe, subject.candidate.new), now=context.clock.now(), subject=subject)
    snapshot = context.ledger.tip()
    for recipe in subject.family:
        held = context.ledger.load(snapshot, chains.claim_path(recipe.key), Held)
        if held is not None and held.bump != bump.id:
            raise Refusal(f"{Disposition.DUPLICATE.value}: {recipe.key} is held by {held.bump}", "wait for it to end, or stop it")
    return bump


def _holds(known: OpenBumps | None, bump: Bump) -> tuple[Mapping[str, bytes | None], tuple[str, ...]]:
    """The files that only one bump may hold, written with its first claim."""
    held = {chains.claim_path(recipe.key): chains.canonical(Held(recipe=recipe.key, bump=bump.id, at=bump.now))
            for recipe in bump.subject.family}
    ids = tuple(sorted({*(known.bumps if known else ()), bump.id}))
    return {**held, chains.OPEN_BUMPS: chains.canonical(OpenBumps(bumps=ids))}, (*held, chains.OPEN_BUMPS)


def _released(known: OpenBumps | None, bump: Bump) -> tuple[Mapping[str, bytes | None], tuple[str, ...]]:
    paths = tuple(chains.claim_path(recipe.key) for recipe in bump.subject.family)
    ids = tuple(one for one in (known.bumps if known else ()) if one != bump.id)
    return {**dict.fromkeys(paths), chains.OPEN_BUMPS: chains.canonical(OpenBumps(bumps=ids))}, (*paths, chains.OPEN_BUMPS)
