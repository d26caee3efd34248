"""The scope of an edit by the guest's own generator where that can be run, else by our own rows; and it says which.

A guest's rows are the authority for what runs: where ours differ from them, they count and the difference is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bot.decide.starting import fill, spoken
from bot.errors import BadInput, Missing, Refusal
from bot.layout import Layout
from bot.model.recipe import Edit, Point, Recipe, Scope
from bot.model.text import Text
from bot.ports import Generator, Tree
from bot.recipe import evals, matrix, scope, words
from bot.recipe.scope import Overlay, Side
from bot.recipe.shelf import Shelf

Say = Callable[[str], None]
_BY_OURSELVES = Text(
    en="the guest's own generator could not be asked here: the scope was proved by bumpbot's own rows",
    zh="未能在此运行目标仓库自己的生成器：改动范围由 bumpbot 自行计算的矩阵行验证")


class Witness(Struct, frozen=True, kw_only=True):
    """A guest's generator that answered about the files as they stand: what it knows, and its matrix of them. `notes` tell
    where our own rows say something else."""

    generator: Generator
    known: frozenset[str]
    asked: dict[tuple[str, str], tuple[str, ...]]
    before: Side
    notes: tuple[Text, ...] = ()


class Proof(Struct, frozen=True, kw_only=True):
    """A scope, and the first difference that is more than the family's image; `notes` are for whoever reads the proposal."""

    scope: Scope
    fault: str | None = None
    notes: tuple[Text, ...] = ()


def witness(tree: Tree | Shelf, layout: Layout, family: Sequence[str], generator: Generator | None, say: Say) -> Witness | None:
    """The guest's generator, asked about the files as they stand; None where there is none, or one that cannot make such rows
    yet, which is said with its reason.

    Refusal when it is there and cannot be asked, when it refuses these files (the guest itself can run nothing then), and
    when it makes nothing of a recipe: nothing before and nothing after would be a proof of nothing.
    """
    if layout.generator != "inferencex" or generator is None:
        return None
    shelf = Shelf.of(tree)
    known = _known(generator, say)
    if known is None:
        return None
    asked = words.questions(shelf, layout, family, known)
    before = _side(generator, asked, words.data(shelf, layout))
    empty = next((key for key, rows in before.family.items() if not rows), None)
    if empty is not None:
        raise Refusal(f"nothing was proved: by the guest's generator no row comes of {empty}",
                      "ask it the same by hand: a recipe without rows runs nothing")
    compared = any(kind == "evals" for kind, _ in asked)
    if not compared:
        say("the guest's generator knows no --evals-only: its evals are not compared")
    notes = []
    for who, field in _differences(shelf, layout, before, compared=compared):
        say(f"bumpbot's own rows are not the guest's, whose count: {who}: {field}")
        key = re.sub(r"[^A-Za-z0-9_.-]", "", who)[:120]
        notes.append(Text(en=f"the guest's generator and bumpbot's own rows disagree on {key}; the generator's count",
                          zh=f"目标仓库的生成器与 bumpbot 自行计算的矩阵行在 {key} 上不一致；以生成器为准"))
    return Witness(generator=generator, known=known, asked=asked, before=before, notes=tuple(notes))


def prove(tree: Tree | Shelf, layout: Layout, family: Sequence[str], moved: Edit, seen: Witness | None, say: Say) -> Proof:
    """The scope of an edit. Refusal when the guest's generator fails on the files after the edit, having taken them before."""
    shelf = Shelf.of(tree)
    if seen is None or not moved.files:
        return _by_ourselves(shelf, layout, family, moved, say)
    after = Shelf(Overlay(shelf, moved.files))
    try:
        made = _side(seen.generator, seen.asked, words.data(after, layout))
    except (BadInput, Refusal) as error:
        raise Refusal(f"after the edit: {error.reason}", "it took these files before; nothing was changed") from None
    found, fault = scope.contrast(seen.before, made, scope.beside(layout))
    if fault is None and not found.changed_rows and any(seen.before.family.values()):
        fault = "no row of these recipes changed: the generator takes their image from elsewhere"
    return Proof(scope=replace(found, by="generator"), fault=fault, notes=seen.notes)


def _by_ourselves(shelf: Shelf, layout: Layout, family: Sequence[str], moved: Edit, say: Say) -> Proof:
    found, fault, unmade = scope.proved(shelf, layout, family, moved)
    if unmade:
        say(f"some recipes have no rows here, so their entries are compared: {unmade}")
    ours = layout.generator == "inferencex" and bool(moved.files)
    return Proof(scope=found, fault=fault, notes=(_BY_OURSELVES,) if ours else ())


def recipes(tree: Tree | Shelf, layout: Layout, family: Sequence[Recipe], seen: Witness | None) -> tuple[Recipe, ...]:
    """The family with the points that the guest's rows make, where ours are not the same."""
    if seen is None or not seen.notes:
        return tuple(family)
    points = matrix.of_rows(Shelf.of(tree), layout, seen.before.family, seen.before.evals)
    return tuple(replace(recipe, points=tuple(point for point in points if point.recipe == recipe.key)) for recipe in family)


def stages(layout: Layout, seen: Witness | None) -> Layout:
    """The layout with a smoke that the guest's generator can be asked for; Refusal names an option that it does not know."""
    return layout if seen is None else words.settled(layout, seen.known)


def smoke(tree: Tree | Shelf, layout: Layout, family: Sequence[Recipe], points: Sequence[Point], moved: Edit,
          seen: Witness | None, *, control: bool = False) -> None:
    """Asks for the rows of every stage of the smoke, as its workflow will, and of a `control` arm. Refusal when one yields none,
    or misses one of its concurrencies: a concurrency that no row has is dropped without a word, and an empty matrix is a green
    run of nothing."""
    if seen is None or layout.smoke is None or not layout.smoke.command:
        return
    rules, after = layout.smoke, Shelf(Overlay(Shelf.of(tree), moved.files))
    asked, stages = {}, {stage: [point for point in points if point.stage == at] for at, stage in enumerate(rules.stages, start=1)}
    if control:
        stages["repeat"] = [point for recipe in family for point in recipe.points if point.kind == "throughput"]
    for stage, chosen in stages.items():
        if chosen:
            told = spoken(family, chosen, rules.arguments.get(stage, ()))
            asked[stage] = chosen, tuple(fill(rules.inputs[rules.command], told).split())
    for stage, (_, line) in asked.items():
        option = words.unknown(line, _listed(seen.generator, line[:1], stage))
        if option is not None:
            raise Refusal(f"the guest's generator knows no option {option}, which the smoke's {stage} names",
                          f"correct smoke.inputs.{rules.command} in the layout")
    answers = _rows(seen.generator, words.data(after, layout), [line for _, line in asked.values()])
    for (stage, (chosen, line)), rows in zip(asked.items(), answers, strict=True):
        _refuse_nothing(stage, line, chosen, rows)


def _refuse_nothing(stage: str, line: Sequence[str], chosen: Sequence[Point], rows: Sequence[Mapping[str, Any]]) -> None:
    hint = f"correct smoke.arguments.{stage} in the layout: a run of no rows is green and proves nothing"
    if not rows:
        raise Refusal(f"the smoke's {stage} would run nothing: no row comes of `{' '.join(line)}`", hint)
    there = {conc for row in rows for conc in evals.measured(row)}
    lost = sorted({point.concurrency for point in chosen} - there)
    if lost:
        raise Refusal(f"the smoke's {stage} would not run concurrency {lost[0]}: no row of `{' '.join(line)}` has it", hint)


def _known(generator: Generator, say: Say) -> frozenset[str] | None:
    """The options of the command that makes a recipe's rows; None, and the reason is said, where there is no such code, or an
    older one that has no such command or option. Code that is there and cannot be asked is a Refusal: a scope that was proved
    otherwise because a library was not installed looked like one that nobody need look at."""
    try:
        known = generator.options((words.COMMAND,))
    except BadInput as error:
        raise Refusal(error.reason, error.hint) from None
    except Missing as error:
        reason = error.reason
    else:
        if not known:
            raise Refusal("the guest's generator lists no option in its --help", "ask it by hand: no row can be asked of it")
        lacking = next((option for option in words.NEEDED if option not in known), None)
        if lacking is None:
            return known
        reason = f"the guest's generator knows no option {lacking} of {words.COMMAND}"
    say(f"the scope is proved by bumpbot's own rows: {reason}")
    return None


def _listed(generator: Generator, command: Sequence[str], stage: str) -> frozenset[str]:
    try:
        return generator.options(command)
    except (BadInput, Missing) as error:
        raise Refusal(f"the smoke's {stage} cannot be asked for: {error.reason}", error.hint) from None


def _rows(generator: Generator, files: Mapping[str, bytes],
          lines: Sequence[Sequence[str]]) -> Sequence[Sequence[Mapping[str, Any]]]:
    try:
        return generator.rows(files, lines)
    except (BadInput, Missing) as error:
        raise Refusal(error.reason, error.hint) from None


def _side(generator: Generator, asked: Mapping[tuple[str, str], Sequence[str]], files: Mapping[str, bytes]) -> Side:
    rows = dict(zip(asked, _rows(generator, files, list(asked.values())), strict=True))
    return Side(family={key: list(map(dict, made)) for (kind, key), made in rows.items() if kind == "rows" and key != "*"},
                evals=list(map(dict, rows.get(("evals", ""), ()))), others=list(map(dict, rows.get(("rows", "*"), ()))),
                other_evals=list(map(dict, rows.get(("evals", "*"), ()))))


def _differences(shelf: Shelf, layout: Layout, theirs: Side, *, compared: bool) -> list[tuple[str, str]]:
    """Where our own rows of the family say something else than the guest's: recipe, row and field."""
    try:
        ours = scope.side(shelf, layout, tuple(theirs.family))
    except BadInput as error:
        return [(error.key or next(iter(theirs.family)), error.reason)]
    found = [(key, field) for key, rows in theirs.family.items() if (field := scope.disagreement(ours.family[key], rows))]
    if not found and compared and (field := scope.disagreement(ours.evals, theirs.evals)):
        found = [("evals", field)]
    return found
