"""A default branch that moved, taken into a bump's branch: its bytes for all it says, ours for our recipe.

The commit is a merge whose FIRST parent is the default branch's tip and whose second is our head. It lies after our head, so
the push is a plain fast-forward; it contains the tip, so nothing conflicts; and beside its first parent it changes our own
files and the changelog alone. A merge the other way round carries every workflow that main changed, and an App without the
`workflows` permission cannot push that; one that left main's workflow out would take it back when it is merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from bot.diagnose import repair as repairs
from bot.errors import BadInput, Refusal
from bot.layout.records import Changelog
from bot.model.bump import Bump, Wanted
from bot.recipe import changelog, edit
from bot.recipe.files.document import Document, value
from bot.wake.context import Context

Changes = dict[str, bytes | None]


def ours(context: Context, bump: Bump, tip: str) -> tuple[Changes, list[str]]:
    """What our branch changes beside `tip`, the changelog apart, and the files on which the two sides disagree.

    A file that both changed, as a list of all recipes is by every bump, is not merged by lines: our edits are made anew on
    main's text, and hold where our recipes then say exactly what they say on our head.
    """
    git, head = context.git, bump.head or ""
    base, mine, theirs = (git.entries(oid) for oid in (bump.memory.heads[-1].contains_base or "", head, tip))
    log = context.layout.changelog
    changed = sorted(file for file in {*base, *mine} if base.get(file) != mine.get(file) and mine.get(file) != theirs.get(file)
                     and not (log and file == log.file))
    changes: Changes = {file: git.read(head, file) if file in mine else None
                        for file in changed if base.get(file) == theirs.get(file)}
    both = [file for file in changed if file not in changes]
    again = _again(context, bump, tip, both) if both else {}
    return changes | again, [file for file in both if file not in again]


@lru_cache(maxsize=4)  # asked at every look, about a file that only a maintainer's push changes
def broken(data: bytes, style: Changelog) -> bool:
    """Whether a changelog breaks its own rules, so that nothing may be appended to it. One without an entry only begins."""
    return bool(changelog.barred(data, style))


def plan_of(wanted: Wanted) -> repairs.RepairPlan:
    """The repair as it was decided, to be applied to files."""
    return repairs.RepairPlan(id=wanted.id, signature="", why=wanted.why, serving_path_changed=wanted.serving_path_changed,
                              cost="smoke+sweep", changes=wanted.edits)


def _again(context: Context, bump: Bump, tip: str, both: Sequence[str]) -> Changes:
    """Our edits made on the files of `tip`: those of `both` in which main left our recipes as they were, or as we want them,
    and in which they come to say what they say on our head."""
    keys = [recipe.key for recipe in bump.subject.family]
    head, base = bump.head or "", bump.memory.heads[-1].contains_base or ""
    try:
        made = dict(edit.move(context.tree(tip), context.layout, keys, bump.subject.candidate.text).files)
        for wanted in bump.memory.applied:
            made |= repairs.apply(plan_of(wanted), {file: _text(context, made, tip, file) for file in wanted.files})
        again: Changes = {}
        for file in both:
            was, want, theirs = (_says(context.git.read(oid, file) or b"", file, keys) for oid in (base, head, tip))
            text = _text(context, made, tip, file)
            if theirs in (was, want) and _says(text, file, keys) == want:
                again[file] = text
        return again
    except (BadInput, Refusal):
        return {}  # what cannot be edited there as it was here is a person's to settle


def _text(context: Context, made: dict[str, bytes], tip: str, file: str) -> bytes:
    return made.get(file) or context.git.read(tip, file) or b""


def _says(data: bytes, file: str, keys: Sequence[str]) -> Any:
    """What a file says of our recipes: theirs alone where it lists them among others by key, else all of it."""
    said = [value(root) for root in Document(data, file).roots]
    listed = said[0] if len(said) == 1 and isinstance(said[0], dict) else {}
    return {key: listed[key] for key in keys if key in listed} or said
