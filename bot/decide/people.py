"""What people said on the pull request: labels, approvals, wishes, and how somebody took it over. Only people with write
access spend anything; whoever makes the bot more cautious is always heard."""

from __future__ import annotations

from datetime import datetime

from bot import budget
from bot.decide.findings import holding_smoke, questions
from bot.model.bump import Bump
from bot.model.outcome import Outcome
from bot.model.run import Run


def sweep_labels(bump: Bump) -> tuple[str, ...]:
    """Sweep labels that are on the pull request now."""
    pull, known = bump.world.pull, _sweep_names(bump)
    return tuple(label for label in (pull.labels if pull else ()) if label in known)


def _sweep_names(bump: Bump) -> set[str]:
    return {bump.subject.rules.sweep.label, *bump.subject.rules.sweep.labels} - {""}


def labelled_by(bump: Bump, label: str) -> str | None:
    """Who put this label on last; None when the forge does not say, or when they may not write."""
    last = next((said for said in reversed(bump.world.labellings) if said.label == label and said.added), None)
    return last.by if last and last.write else None


def asked_for_sweep(bump: Bump) -> bool:
    """Whether a person with a say asked for the sweep: by a command, or by a label that is on."""
    labelled = any(labelled_by(bump, name) not in (None, bump.world.me) for name in sweep_labels(bump))
    return labelled or bool(bump.memory.approvals)


def fail_fast(bump: Bump) -> bool:
    """Whether the sweep is to stop at the first job that fails: asked by a label that is on, else by the last approval."""
    quick, on = bump.subject.rules.sweep.fail_fast, sweep_labels(bump)
    said = [name in quick for name in on if labelled_by(bump, name) not in (None, bump.world.me)]
    return any(said) if said else bool(bump.memory.approvals) and bump.memory.approvals[-1].fail_fast


def needs_approval(bump: Bump) -> bool:
    """Whether the sweep waits for a person: one took its label off, or nobody with a say has asked for it and files left a
    question, or it costs more than the threshold, the control arm beside it included."""
    if held(bump):
        return True
    if questions(bump) and not asked_for_sweep(bump):
        return True
    above = bump.subject.limits.approve_above
    return above is not None and budget.price_sweep(bump) + budget.price_control(bump) > above and not asked_for_sweep(bump)


def smoke_held(bump: Bump) -> bool:
    """Whether even the smoke waits for a person: nothing would take it or files prove what it would show, and nobody with a
    say has asked for smoke or sweep."""
    return bool(holding_smoke(bump)) and not (wished_smoke(bump) or asked_for_sweep(bump))


def held(bump: Bump) -> bool:
    """Whether a person took the sweep label off last: the clean way to stop a sweep, so only a person starts it again."""
    names, me = _sweep_names(bump), bump.world.me
    said = [one for one in bump.world.labellings if one.label in names and (one.write or not one.added)]
    if not said or any(_counts(bump, name) for name in sweep_labels(bump)) or said[-1].added or said[-1].by == me:
        return False
    return not any(one.at > said[-1].at for one in bump.memory.approvals)


def _counts(bump: Bump, label: str) -> bool:
    """Whether a label that is on was put there by somebody with a say; where the forge does not tell, it was."""
    last = next((said for said in reversed(bump.world.labellings) if said.label == label and said.added), None)
    return last is None or last.write


def wished_smoke(bump: Bump) -> tuple[datetime, ...]:
    """When people asked for the smoke again, by command or label."""
    label = bump.subject.rules.smoke.label
    put = [said.at for said in bump.world.labellings if label and said.label == label and said.added and said.write]
    return tuple(sorted([*put, *(asked.at for asked in bump.memory.asked if asked.what == "smoke")]))


def insisted(bump: Bump, run: Run) -> bool:
    """Whether a person asked, after this run was over, that it be tried again whatever it failed of."""
    ended = run.ended
    return ended is not None and any(asked.what == "retry" and asked.at >= ended for asked in bump.memory.asked)


def taken_by_person(bump: Bump) -> Outcome | None:
    """How a person took the pull request over, if one did: merged, closed, pushed to, or labelled as theirs."""
    pull = bump.world.pull
    if pull is None:
        return None
    if pull.merged:
        return Outcome.MERGED
    if not pull.open:
        return Outcome.CLOSED
    if bump.world.foreign_head is not None or bump.subject.rules.handoff in pull.labels:
        return Outcome.HANDED_OFF
    return None
