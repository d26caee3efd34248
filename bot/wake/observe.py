"""Looks at the world and makes one frozen record of facts. It reads everything again; only memory comes from the ledger."""

from __future__ import annotations

import re
from datetime import datetime

import msgspec

from bot.errors import BumpbotError
from bot.images.reference import parse
from bot.model.bump import Bump, ChangelogState, Memory, World
from bot.model.forge import WRITERS, Labelling, Pull
from bot.recipe import changelog
from bot.wake import evidence, planning, pushes, runs, syncing
from bot.wake.act import CLOCKS_DIFFER
from bot.wake.context import Context
from bot.wake.orders import orders
from bot.wake.wanted import wanted


def observe(context: Context, before: Bump, memory: Memory, pull: Pull | None, *, since: datetime) -> Bump:
    """The facts now. `before` is the last look's record, `memory` what came of its actions, `pull` the pull request as
    it was just read, `since` the bump's beginning."""
    replace = msgspec.structs.replace
    bump = replace(before, now=context.clock.now(), memory=memory)
    rules = bump.subject.rules
    tips = context.git.tips((rules.base, *((rules.branch,) if memory.heads else ())))
    base_tip = tips[rules.base]
    labellings = _labellings(context, before, pull) if pull else ()
    pattern = re.compile(context.layout.jobs)
    found = runs.ours(context.forge, bump, labellings, since=since - CLOCKS_DIFFER, pattern=pattern) if pull else ()
    world = World(
        pull=pull, foreign_head=_foreign(bump, tips.get(rules.branch)), base_tip=base_tip, runs=found,
        changelog=_changelog(context, bump, base_tip, pull), labellings=labellings, me=context.forge.me(),
        tag_digest=_tag(context, before, memory), orders=orders(context, bump, pull, since=since),
    )
    bump = replace(bump, world=world)
    memory = replace(memory, judged=evidence.judge_all(context, bump, found, memory.judged))
    bump = replace(bump, memory=memory, world=replace(world, checks=before.world.checks))
    bump = replace(bump, world=replace(bump.world, checks=planning.again_checked(context, bump)))
    return replace(bump, world=replace(bump.world, wanted=wanted(context, bump)))


def _labellings(context: Context, before: Bump, pull: Pull) -> tuple[Labelling, ...]:
    """Who put which label on and off. Triage alone may label and may spend nothing: the right to write is asked from the
    forge when a label that asks for GPUs is first seen, and stays as it was then."""
    rules, me = before.subject.rules, context.forge.me()
    asking = {rules.sweep.label, *rules.sweep.labels, rules.smoke.label} - {""}
    known = {(said.label, said.by, said.at, said.added): said.write for said in before.world.labellings}
    asked: dict[str, bool] = {}

    def write(said: Labelling) -> bool:
        if not said.added or said.label not in asking or said.by == me:
            return True
        told = known.get((said.label, said.by, said.at, said.added))
        if told is None:
            told = asked.get(said.by)
        if told is None:
            told = asked[said.by] = context.forge.permission(said.by) in WRITERS
        return told

    return tuple(msgspec.structs.replace(said, write=write(said)) for said in context.forge.labellings(pull.number))


def _tag(context: Context, before: Bump, memory: Memory) -> str | None:
    """What the candidate's tag names now. A registry that does not answer says nothing new, and stops no wake."""
    reference = before.subject.candidate.new.reference
    if reference.tag is None or memory.ended is not None or not memory.heads:
        return before.world.tag_digest
    try:
        return context.registry.digest(parse(reference.text.partition("@")[0]))
    except BumpbotError as error:
        context.narrate(f"{before.id}: what {reference.tag} names now is not known: {error}")
        return before.world.tag_digest


def _foreign(bump: Bump, tip: str | None) -> str | None:
    """A head that none of our commits is: somebody else pushed to the branch."""
    ours = {head.sha for head in bump.memory.heads}
    return tip if tip is not None and tip not in ours else None


def _changelog(context: Context, bump: Bump, base_tip: str | None, pull: Pull | None) -> ChangelogState:
    """Whether our entry stands at the tail of the default branch's changelog on our head. Blocked when a sync of it would
    have to choose between two texts of some other file, broken when nothing may be appended to the file as it is."""
    style = context.layout.changelog
    if style is None:
        return "none"
    if pull is None or base_tip is None or bump.head is None:
        return "absent"
    main = context.git.read(base_tip, style.file) or b""
    head = context.git.read(bump.head, style.file) or b""
    state = changelog.state(main, head, pushes.entry_of(bump, context), style)
    if state != "present" and syncing.broken(head if state == "absent" else main, style):
        return "broken"
    return "blocked" if state == "behind" and syncing.ours(context, bump, base_tip)[1] else state
