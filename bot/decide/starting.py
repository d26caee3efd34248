"""What starts runs and what takes a start back: dispatches with their nonce, the sweep label on and off."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot import budget
from bot.decide.people import fail_fast, held, labelled_by, sweep_labels
from bot.model.action import Action, Cancel, Dispatch, Label, Remember, Unlabel
from bot.model.bump import Approval, Bump
from bot.model.recipe import Point, Recipe
from bot.model.rules import Smoke, Sweep
from bot.model.run import Stage


def dispatch_smoke(bump: Bump, head: str, step: int, gpu_hours: float = 0.0) -> Dispatch:
    """One stage of the smoke of one head; `gpu_hours` is what it is expected to hold."""
    rules = bump.subject.rules.smoke
    name = rules.stages[step - 1] if step <= len(rules.stages) else ""
    return _dispatch(bump, rules, "smoke", step, head, budget.smoke_points(bump, step), rules.arguments.get(name, ()), gpu_hours)


def dispatch_repeat(bump: Bump, head: str, points: Sequence[Point], gpu_hours: float) -> Dispatch:
    """Points of a finished sweep once more, by the workflow that runs the smoke."""
    rules = bump.subject.rules.smoke
    return _dispatch(bump, rules, "repeat", 1, head, points, rules.arguments.get("repeat", ()), gpu_hours)


def dispatch_control(bump: Bump, base: str, gpu_hours: float) -> Dispatch:
    """The old image at the sweep's points: as a repeat is started, at the commit of the default branch that still names it."""
    rules = bump.subject.rules.smoke
    return _dispatch(bump, rules, "control", 1, base, budget.control_points(bump), rules.arguments.get("repeat", ()), gpu_hours)


def dispatch_sweep(bump: Bump, head: str, gpu_hours: float) -> Dispatch:
    """The full sweep of one head, where no label starts it."""
    return _dispatch(bump, bump.subject.rules.sweep, "sweep", 1, head, (), (), gpu_hours)


def _dispatch(bump: Bump, rules: Smoke | Sweep, stage: Stage, step: int, head: str, points: Sequence[Point],
              arguments: Sequence[str], gpu_hours: float) -> Dispatch:
    """`points` none is all of them. An input that comes out empty is left out: what it means then is the workflow's own."""
    nonce = _nonce(bump, stage, step, head)
    words = {
        **spoken(bump.subject.family, points, arguments), "head": head, "nonce": nonce,
        "fail-fast": "true" if stage != "sweep" or fail_fast(bump) else "false",
    }
    filled = {name: fill(value, words).strip() for name, value in rules.inputs.items()}
    inputs = {name: value for name, value in filled.items() if value}
    return Dispatch(workflow=rules.workflow, ref=rules.ref, inputs=inputs, nonce=nonce, head=head, gpu_hours=gpu_hours)


def spoken(family: Sequence[Recipe], points: Sequence[Point], arguments: Sequence[str]) -> dict[str, str]:
    """What the templates of a dispatch may name of the recipes and points that it runs."""
    limits = sorted({point.eval.limit for point in points if point.eval and point.eval.limit})
    concurrencies = " ".join(map(str, sorted({point.concurrency for point in points})))
    return {
        "key": family[0].key, "keys": " ".join(member.key for member in family), "file": family[0].file,
        "arguments": " ".join(fill(one, {"concurrencies": concurrencies}) for one in arguments),
        "points": " ".join(point.id for point in points), "eval-limit": str(limits[0]) if limits else "",
    }


def relabel(bump: Bump, head: str, gpu_hours: float) -> tuple[Action, ...]:
    """The sweep label, taken off first where it is already on: only putting it on starts anything."""
    on, rules = sweep_labels(bump), bump.subject.rules.sweep
    quick = rules.fail_fast[0] if rules.fail_fast and fail_fast(bump) else rules.label
    return (*labels_off(bump), Label(name=on[0] if on else quick, head=head, gpu_hours=gpu_hours))


def labels_off(bump: Bump) -> tuple[Action, ...]:
    """The sweep labels taken off, where they start something by themselves; a person's wish for a sweep is kept."""
    rules = bump.subject.rules.sweep
    on = sweep_labels(bump) if rules.start == "label" else ()
    people = [(by, name in rules.fail_fast) for name in on if (by := labelled_by(bump, name)) not in (None, bump.world.me)]
    kept = people[:1] if not bump.memory.approvals else ()
    wishes = (Remember(fact=Approval(by=by, at=bump.now, fail_fast=quick)) for by, quick in kept if by)
    return (*wishes, *(Unlabel(name=name) for name in on))


def heard(bump: Bump) -> tuple[Action, ...]:
    """The label that asks for a smoke, taken off: it asks once, and can be put on again."""
    pull, label = bump.world.pull, bump.subject.rules.smoke.label
    return (Unlabel(name=label),) if label and pull and label in pull.labels else ()


def strays(bump: Bump) -> tuple[Action, ...]:
    """Runs of ours that still hold GPUs for a head that is not under test any more: a changelog commit leaves the smoke
    of the head before it valid, but not a sweep. What the old image runs is the same under every head, and a person who
    stops the sweep stops it too."""
    current: Mapping[Stage, str | None] = {"smoke": bump.tested_head, "sweep": bump.head, "repeat": bump.head}
    return tuple(Cancel(run=run.id) for run in bump.world.runs
                 if not run.terminal and (held(bump) if run.stage == "control" else run.head != current[run.stage]))


def _nonce(bump: Bump, stage: Stage, step: int, head: str) -> str:
    """The same facts give the same nonce, so a dispatch that timed out after it took effect is found again. A run of this
    head that is over without anything to run again makes the next number, and so does a repair; a control arm knows no repair,
    or a second one would be started beside the first."""
    over = sum((run.stage, run.step, run.head) == (stage, step, head) and run.terminal for run in bump.world.runs)
    number = over if stage == "control" else bump.memory.repairs_used + over
    word = f"{stage}{step}" if stage == "smoke" else stage
    return f"bumpbot-{bump.id}-{word}-{number}-{head[:12]}"


def fill(template: str, words: Mapping[str, str]) -> str:
    """Replaces {name} by its word and leaves every other brace alone."""
    return re.sub(r"\{([a-z-]+)\}", lambda found: words.get(found[1], found[0]), template)
