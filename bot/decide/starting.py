"""What starts runs and what takes a start back: dispatches with their nonce, the sweep label on and off."""

from __future__ import annotations

from bot.decide.phase import labelled_by, sweep_labels
from bot.model.action import Action, Cancel, Dispatch, Label, Remember, Unlabel
from bot.model.bump import Approval, Bump
from bot.model.run import Stage


def dispatch(bump: Bump, head: str, gpu_hours: float = 0.0) -> Dispatch:
    """The smoke of one head; `gpu_hours` is what it is expected to hold."""
    smoke, recipe = bump.subject.rules.smoke, bump.subject.family[0]
    nonce = _nonce(bump, "smoke", head)
    words = {"key": recipe.key, "keys": _keys(bump), "file": recipe.file, "arguments": " ".join(smoke.arguments),
             "head": head, "nonce": nonce}
    inputs = {name: fill(value, words) for name, value in smoke.inputs.items()}
    return Dispatch(workflow=smoke.workflow, ref=smoke.ref, inputs=inputs, nonce=nonce, head=head, gpu_hours=gpu_hours)


def dispatch_sweep(bump: Bump, head: str, gpu_hours: float) -> Dispatch:
    """The full sweep of one head, where no label starts it."""
    rules, nonce = bump.subject.rules.sweep, _nonce(bump, "sweep", head)
    words = {"head": head, "nonce": nonce, "key": bump.subject.family[0].key, "keys": _keys(bump)}
    inputs = {name: fill(value, words) for name, value in rules.inputs.items()}
    return Dispatch(workflow=rules.workflow, ref=rules.ref, inputs=inputs, nonce=nonce, head=head, gpu_hours=gpu_hours)


def relabel(bump: Bump, head: str, gpu_hours: float) -> tuple[Action, ...]:
    """The sweep label, taken off first where it is already on: only putting it on starts anything."""
    on = sweep_labels(bump)
    name = on[0] if on else bump.subject.rules.sweep.label
    return (*labels_off(bump), Label(name=name, head=head, gpu_hours=gpu_hours))


def labels_off(bump: Bump) -> tuple[Action, ...]:
    """The sweep labels taken off, where they start something by themselves; a person's wish for a sweep is kept."""
    on = sweep_labels(bump) if bump.subject.rules.sweep.start == "label" else ()
    people = [by for name in on if (by := labelled_by(bump, name)) not in (None, bump.world.me)]
    kept = people[:1] if not bump.memory.approvals else ()
    return (*(Remember(fact=Approval(by=by, at=bump.now)) for by in kept if by), *(Unlabel(name=name) for name in on))


def strays(bump: Bump) -> tuple[Action, ...]:
    """Runs of ours that still hold GPUs for a head that is not under test any more: a changelog commit leaves the smoke
    of the head before it valid, but not a sweep."""
    current = {"smoke": bump.tested_head, "sweep": bump.head}
    return tuple(Cancel(run=run.id) for run in bump.world.runs if not run.terminal and run.head != current[run.stage])


def _nonce(bump: Bump, stage: Stage, head: str) -> str:
    """The same facts give the same nonce, so a dispatch that timed out after it took effect is found again. A run of this
    head that is over without anything to run again makes the next number."""
    over = sum(run.stage == stage and run.head == head and run.terminal for run in bump.world.runs)
    return f"bumpbot-{bump.id}-{stage}-{bump.memory.repairs_used + over}-{head[:12]}"


def _keys(bump: Bump) -> str:
    return " ".join(recipe.key for recipe in bump.subject.family)


def fill(template: str, words: dict[str, str]) -> str:
    """Replaces {name} by its word and leaves every other brace alone."""
    for name, word in words.items():
        template = template.replace("{" + name + "}", word)
    return template
