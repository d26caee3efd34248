"""The changelog entry, appended last; a head that conflicts takes the default branch's bytes and appends again."""

from __future__ import annotations

from bot.decide import report
from bot.decide.phase import sweep_labels
from bot.decide.say import say
from bot.decide.smoke import slot
from bot.model.action import Action, Push, Unlabel
from bot.model.bump import Bump


def due(bump: Bump, *, sync: bool) -> tuple[Action, ...]:
    """A first entry goes on the branch as it is: a merge that carries workflow changes needs a permission we do not ask for.

    Only when the default branch's changelog moved is it merged, its bytes first. Neither spends a repair.
    """
    passed = () if bump.memory.heads[-1].why in ("changelog", "sync") else _passed(bump)
    off = tuple(Unlabel(name=name) for name in sweep_labels(bump))
    why = "sync" if sync else "changelog"
    return (*passed, *off, Push(why=why, expected=bump.head, base_tip=bump.world.base_tip))


def _passed(bump: Bump) -> tuple[Action, ...]:
    runs = [run for run in bump.world.runs if run.stage == "smoke" and run.head == bump.tested_head]
    run = max(runs, key=lambda run: (run.created, run.id))
    return say(bump, slot(bump), report.attempt(bump, run, next_="sweep"))
