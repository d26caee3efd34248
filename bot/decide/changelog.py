"""The changelog entry, appended last; a head that conflicts takes the default branch's bytes and appends again."""

from __future__ import annotations

from bot.decide.smoke import passed
from bot.decide.starting import labels_off
from bot.model.action import Action, Push
from bot.model.bump import Bump


def due(bump: Bump, *, sync: bool) -> tuple[Action, ...]:
    """A first entry goes on the branch as it is: a merge that carries workflow changes needs a permission we do not ask for.

    Only when the default branch's changelog moved is it merged, its bytes first. Neither spends a repair.
    """
    why = "sync" if sync else "changelog"
    return (*passed(bump), *labels_off(bump), Push(why=why, expected=bump.head, base_tip=bump.world.base_tip))
