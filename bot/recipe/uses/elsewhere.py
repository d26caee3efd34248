"""Recipe files of a third repository, found as the launcher finds them (CONTRACT 2.2): which address it clones for this recipe, and
at which revision. Where the launcher's own conditions cannot be decided from the recipe, nothing is taken: it is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import yaml
from msgspec import Struct

from bot.errors import BumpbotError
from bot.layout.records import Layout
from bot.layout.upstream import Elsewhere
from bot.model.recipe import Recipe
from bot.ports import Tree
from bot.recipe.shelf import Shelf
from bot.recipe.uses.found import Found
from bot.recipe.uses.shell import tests
from bot.recipe.uses.shell.script import Command, read
from bot.recipe.uses.shell.values import Said, Values

_HOLE = re.compile(r"<([a-z]+)>")
Read = Callable[[str], bytes | None]


class _Clone(Struct, frozen=True):
    """One clone that a launcher makes: at which revision ("" the default branch), and whether it is made for this recipe (None:
    that depends on what only a run knows)."""

    ref: str
    sure: bool | None
    line: int


def files(shelf: Shelf, layout: Layout, recipe: Recipe, elsewhere: Callable[[str, str], Tree | None] | None,
          found: Found) -> list[tuple[str, Read]]:
    """The files of the third repository that a recipe names, each with how it is read."""
    all_names = named(shelf, layout, recipe)
    whys: list[str] = []
    for rule in layout.preflight.elsewhere:
        names = [name for name in all_names if name.startswith(rule.prefix)]
        ref, why = _revision(shelf, layout, rule, recipe) if names else (None, "")
        if ref is None:
            whys += [f"{recipe.key}: {why}"] if why else []
            continue
        tree = _tree(elsewhere, rule.source, ref, found, recipe)
        if tree is None:
            return []
        made = {rule.folder + name.removeprefix(rule.prefix): tree.read for name in names}
        found.unread += [f"{path} is not in {rule.source} at {ref or 'its default branch'}"
                         for path, one in made.items() if one(path) is None]
        return list(made.items())
    found.unread += whys
    return []


def _tree(elsewhere: Callable[[str, str], Tree | None] | None, source: str, ref: str, found: Found, recipe: Recipe) -> Tree | None:
    if elsewhere is None:
        found.unread.append(f"{recipe.key}: its files stand in {source} at {ref}, which was not asked")
        return None
    try:
        tree = elsewhere(source, ref)
    except BumpbotError as fault:
        found.unread.append(f"{recipe.key}: {source} at {ref}: {fault.reason}")
        return None
    if tree is None:
        found.unread.append(f"{recipe.key}: its files stand in {source} at {ref}, which was not asked")
    return tree


def named(shelf: Shelf, layout: Layout, recipe: Recipe) -> list[str]:
    """The names of linked files as a recipe has them, without their variants, in order."""
    home = shelf.homes(layout).get(recipe.key)
    if home is None or home.entry.linked is None:
        return []
    rules = home.entry.linked
    found: dict[str, None] = {}
    for path in rules.within:
        for hit in home.find(path):
            name, equals, rest = hit.node.value.partition("=") if isinstance(hit.node, yaml.ScalarNode) else ("", "", "")
            if equals and name in rules.settings:
                found[rest.partition(":")[0]] = None
    return list(found)


def _launchers(shelf: Shelf, layout: Layout, rule: Elsewhere, recipe: Recipe) -> list[str]:
    """The scripts of the machines that a recipe may run on: `<runner>` is what the name of a registered runner begins with."""
    home = shelf.home(layout, recipe.key)
    label = home.text(home.entry.facts["hardware"]) or "" if "hardware" in home.entry.facts else ""
    told = shelf.plain(layout.runners) if layout.runners else None
    labels = told.get("labels", told) if isinstance(told, dict) else {}
    names = labels.get(label) or labels.get(label.removeprefix("cluster:")) if isinstance(labels, dict) else None
    fleets = [str(name).partition("_")[0] for name in names] if isinstance(names, list) else [label.removeprefix("cluster:")]
    found: dict[str, None] = {}
    for fleet in dict.fromkeys(fleets):
        # A launcher may be a link to another (b200-dgxc-slurm to b200-dgxc), and links are not followed.
        words = fleet.split("-")
        names = ["-".join(words[:end]) for end in range(len(words), 0, -1)]
        files = ([_filled(glob, name, recipe.hardware) for glob in rule.launchers] for name in names)
        found |= dict.fromkeys(next((fitting for globs in files if (fitting := shelf.fitting(globs))), []))
    return list(found)


def _filled(glob: str, fleet: str, hardware: str) -> str:
    return _HOLE.sub(lambda hole: {"runner": fleet, "hardware": hardware}.get(hole[1], "*"), glob)


def _revision(shelf: Shelf, layout: Layout, rule: Elsewhere, recipe: Recipe) -> tuple[str | None, str]:
    """The one revision at which every launcher of this recipe clones the source, or why none can be told."""
    launchers = _launchers(shelf, layout, rule, recipe)
    known = _known(recipe)
    refs: set[str | None] = set()
    why = f"no launcher says at which revision it clones {rule.source}"
    for path in launchers:
        try:
            clones = list(_clones(read((shelf.read(path) or b"").decode("utf-8", "replace")), known))
        except ValueError as fault:
            return None, f"{path}: {fault}"
        ours = [(source, clone) for source, clone in clones if clone.sure is not False]
        sure = [one for one in ours if one[1].sure]
        for source, clone in sure[:1] or ours:
            if _same(source, rule.source):
                refs.add(clone.ref)
            elif clone.sure:
                why = f"{path}:{clone.line} clones another repository for this recipe"
    if len(refs) > 1:
        return None, f"the launchers clone {rule.source} at several revisions: {', '.join(sorted(map(str, refs)))}"
    return (next(iter(refs)), "") if refs else (None, why)


def _known(recipe: Recipe) -> Mapping[str, str]:
    """The facts of a recipe under the names that launchers know them by."""
    agentic = {"agentic" in point.workload for point in recipe.points}
    known = {"FRAMEWORK": recipe.framework, "MODEL_PREFIX": recipe.prefix, "PRECISION": recipe.precision, "MODEL": recipe.model,
             "IMAGE": recipe.image}
    if len(agentic) == 1:
        known["IS_AGENTIC"] = "1" if agentic == {True} else "0"
    return {name: value for name, value in known.items() if value}


def _clones(commands: Sequence[Command], known: Mapping[str, str]) -> Iterator[tuple[str, _Clone]]:
    """Every clone with its address, a `git checkout` behind it on the same branch being its revision."""
    values = Values()
    open_clone: tuple[str, _Clone, Command] | None = None
    for command in commands:
        for setting in command.settings:
            values.take(setting, command.branches)
        said = values.words(command.words, command.branches) if command.words and command.words[0].plain == "git" else []
        words = [one.text for one in said]
        if "clone" in words[:4]:
            if open_clone:
                yield open_clone[0], open_clone[1]
            open_clone = _clone(words, said, command, known)
        elif open_clone and "checkout" in words[:4] and command.branches[:len(open_clone[2].branches)] == open_clone[2].branches:
            ref = next((word for word in words[words.index("checkout") + 1:] if not word.startswith("-")), "")
            deeper = tests.taken(command.branches[len(open_clone[2].branches):], known)
            if ref and deeper is not False:
                sure = open_clone[1].sure if deeper else None
                open_clone = (open_clone[0], _Clone(ref, sure, command.line), open_clone[2])
    if open_clone:
        yield open_clone[0], open_clone[1]


def _clone(words: Sequence[str], said: Sequence[Said], command: Command, known: Mapping[str, str]) -> tuple[str, _Clone, Command]:
    address = next((word for word in words if "://" in word or word.startswith("git@")), "")
    ref = ""
    for at, word in enumerate(words[:-1]):
        if word in ("--branch", "-b"):
            ref = words[at + 1]
        elif word.startswith("--branch="):
            ref = word.partition("=")[2]
    return address, _Clone(ref, tests.taken(command.branches, known), command.line), command


def _same(one: str, other: str) -> bool:
    return one.removesuffix("/").removesuffix(".git").lower() == other.removesuffix("/").removesuffix(".git").lower()
