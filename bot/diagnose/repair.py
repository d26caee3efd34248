"""Known repairs: data with their own before and after (`knowledge/repairs.yaml`), planned from a diagnosis, applied by splice.

A repair changes a recipe, within scope; what would patch an engine or change what is measured is known too, so that it
can be named and refused. A plan is made by doing it: what cannot be spliced is no plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from bot.diagnose.known import Cost, Edit, Repair, Where, same
from bot.errors import BadInput, BumpbotError, Refusal
from bot.model.recipe import KeyChange as Change
from bot.model.run import Triage
from bot.model.text import Text
from bot.recipe.files import splice
from bot.recipe.files.document import Document, Hit, Path, steps


class RepairPlan(Struct, frozen=True, kw_only=True):
    """A repair for these files, or one that is named and not made: then `refused` says why and there are no changes."""

    id: str
    signature: str
    why: Text
    serving_path_changed: bool
    cost: Cost
    changes: tuple[Change, ...] = ()
    refused: Text | None = None

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(change.file for change in self.changes))


def choose(
    triage: Triage,
    repairs: Sequence[Repair],
    files: Mapping[str, bytes],
    known: Set[str] | None,
    used: Set[str],
    facts: Mapping[str, str | None] | None = None,
) -> RepairPlan | None:
    """The first known repair for a diagnosis that these files can take and that was not used; None when there is none.

    `known` limits the ids (None: all). `facts` are upstream's answers by name, None where there is no such commit; a
    repair that waits for one, cannot be spliced or is out of scope is told (`refused`) when nothing else is left.
    """
    refused: RepairPlan | None = None
    for repair in sorted(repairs, key=lambda repair: repair.id != triage.repair):
        if triage.signature not in repair.for_ or repair.id in used or (known is not None and repair.id not in known):
            continue
        plan = _plan(repair, triage.signature, files, facts or {})
        if plan and plan.refused is None:
            return plan
        refused = refused or plan
    return refused


def apply(plan: RepairPlan, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files that change, whole and otherwise byte for byte as they were. A file whose guard no longer holds stays.

    Raises Refusal for a plan that is refused, BadInput where a file is no YAML.
    """
    if plan.refused:
        raise Refusal(f"repair {plan.id}: {plan.refused.en}", "a maintainer may make it by hand")
    made: dict[str, bytes] = {}
    for name in plan.files:
        if name not in files:
            raise Refusal(f"repair {plan.id}: {name} is not among the files", "read the head again")
        data = files[name]
        for change in _standing(plan.changes, name, data):
            data = _do(data, change)
        if data != files[name]:
            made[name] = data
    return made


def _plan(repair: Repair, signature: str, files: Mapping[str, bytes], facts: Mapping[str, str | None]) -> RepairPlan | None:
    plan = RepairPlan(
        id=repair.id,
        signature=signature,
        why=repair.why,
        serving_path_changed=repair.serving_path_changed,
        cost=repair.cost,
        refused=repair.refusal,
    )
    if plan.refused:
        return plan
    changes = tuple(change for name, data in files.items() for change in _changes(repair, name, data, facts))
    if not changes:
        return None
    named = {*repair.requires, *(fact for edit in repair.edits for fact in edit.bump)}
    lacking = ", ".join(sorted(fact for fact in named if not facts.get(fact)))
    if lacking:
        return replace(plan, refused=Text(en=f"not known upstream yet: {lacking}", zh=f"上游尚无已知的值：{lacking}"))
    ready = replace(plan, changes=changes)
    try:
        apply(ready, files)
    except BumpbotError as error:
        return replace(plan, refused=Text(en=error.reason, zh="无法在不改动其他内容的情况下修改该文件"))
    return ready


def _changes(repair: Repair, name: str, data: bytes, facts: Mapping[str, str | None]) -> Iterator[Change]:
    if not name.endswith((".yaml", ".yml")):
        return
    try:
        document = Document(data, name)
    except BadInput:
        # A file that no launcher could read either is not ours to mend.
        return
    role: Where = "own" if document.find("serve") else "linked"
    for edit in repair.edits:
        if edit.where != role or not all(any(guard.holds(text) for _, text in _texts(document, guard.path)) for guard in edit.also):
            continue
        for hit, text in _texts(document, edit.guard.path):
            if edit.guard.holds(text):
                yield from _within(edit, name, document, hit, text, facts)


def _within(edit: Edit, name: str, document: Document, hit: Hit, guarded: str, facts: Mapping[str, str | None]) -> Iterator[Change]:
    ways = [(_concrete(path, edit.guard.path, hit.steps), None) for path in edit.drop]
    for path, value in edit.set.items():
        ways.append((_concrete(path, edit.guard.path, hit.steps), value))
    for fact, paths in edit.bump.items():
        concrete = [_concrete(path, edit.guard.path, hit.steps) for path in paths]
        if all(document.find(path) for path in concrete):
            ways += [(path, facts.get(fact) or f"<{fact}>") for path in concrete]
    for path, value in ways:
        old = document.scalar(path)
        absent = not document.find(path)
        # A key joins a mapping that is there; a role of the topology that the recipe lacks gets no environment.
        useless = (value is None or not document.find(path[:-1])) if absent else value is not None and same(old or "", value)
        if not useless:
            yield Change(file=name, path=path, old=None if absent else old, new=value, guard=hit.steps, guarded=guarded)


def _standing(changes: Sequence[Change], name: str, data: bytes) -> list[Change]:
    """The changes of one file whose guard still holds and that are not made yet."""
    document = Document(data, name)
    standing = []
    for change in changes:
        if change.file != name or document.scalar(change.guard) != change.guarded:
            continue
        present = bool(document.find(change.path))
        if not present if change.new is None else present and same(document.scalar(change.path) or "", change.new):
            continue
        standing.append(change)
    return standing


def _do(data: bytes, change: Change) -> bytes:
    if change.new is None:
        return splice.drop(data, change.path, file=change.file).data
    return splice.set_value(data, change.path, change.new, file=change.file).data


def _concrete(path: str, guard: str, found: Path) -> Path:
    """The path with each `*` filled in by what the guard's `*` found, in order."""
    stars = iter([step for pattern, step in zip(steps(guard), found, strict=True) if pattern == "*"])
    return tuple(next(stars, step) if step == "*" else step for step in steps(path))


def _texts(document: Document, path: str) -> Iterator[tuple[Hit, str]]:
    for hit in document.find(path):
        text = document.scalar(hit.steps)
        if text is not None:
            yield hit, text
