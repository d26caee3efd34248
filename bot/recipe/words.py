"""The words for a guest's generator: what its help says that it knows, and the questions asked with that."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from bot.errors import Refusal
from bot.layout.records import Layout, Smoke
from bot.recipe.shelf import Shelf
from bot.recipe.sites import references

COMMAND = "test-config"
NEEDED = ("--config-files", "--config-keys")
Words = tuple[str, ...]
# A line of argparse's list: its options stand within eight blanks, their explanations much farther to the right.
_LISTED = re.compile(r"^ {1,8}(-.*?)(?: {2,}|$)", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--[A-Za-z0-9][\w-]*")
# What is laid out for the generator from files that anybody may have written holds values and no programs.
_DATA = (".yaml", ".yml", ".json")


def options(text: str) -> frozenset[str]:
    """The options that argparse's help lists. One that is only mentioned in the explanation of another is none."""
    return frozenset(option for line in _LISTED.findall(text) for option in _OPTION.findall(line))


def unknown(words: Sequence[str], known: Collection[str]) -> str | None:
    """The first option among the words that the generator does not list."""
    named = (word.partition("=")[0] for word in words if word.startswith("--"))
    return next((option for option in named if option not in known), None)


def settled(layout: Layout, known: Collection[str]) -> Layout:
    """The layout with stages of the smoke that this generator can be asked for: its own, or those in their place. Refusal
    names the option that it does not know."""
    smoke = layout.smoke
    if smoke is None or not smoke.command:
        return layout
    stages: list[str] = []
    for stage in smoke.stages:
        fine = unknown(smoke.arguments.get(stage, ()), known) is None
        stages += [stage] if fine or not smoke.otherwise.get(stage) else smoke.otherwise[stage]
    for stage in (*stages, "repeat"):
        _refuse_unknown(smoke, stage, known)
    return replace(layout, smoke=replace(smoke, stages=tuple(dict.fromkeys(stages))))


def _refuse_unknown(smoke: Smoke, stage: str, known: Collection[str]) -> None:
    option = unknown(smoke.arguments.get(stage, ()), known)
    if option is not None:
        raise Refusal(f"the guest's generator knows no option {option}, which the layout names for the smoke's {stage}",
                      f"correct smoke.arguments.{stage}, or name stages for it in smoke.otherwise")


def data(shelf: Shelf, layout: Layout) -> dict[str, bytes]:
    """The files that a generator is given: those of the recipes, the runners' file, and what the recipes link."""
    files = [*recipe_files(shelf, layout), *filter(None, [runners(shelf, layout)])]
    for root, linked in _linked(shelf, layout).items():
        # Files below a folder that was listed come in one request, where they are not here yet.
        below = _common([f"{file.rpartition('/')[0]}/" for file in linked])
        shelf.paths(below if below.startswith(root) else root)
        files += sorted(linked)
    found = {file: shelf.read(file) for file in dict.fromkeys(files) if file.endswith(_DATA)}
    return {file: content for file, content in found.items() if content is not None}


def _linked(shelf: Shelf, layout: Layout) -> dict[str, set[str]]:
    """The files that recipes link, by the folder of the layout that each lies in."""
    found: dict[str, set[str]] = {}
    for home in shelf.homes(layout).values():
        rules = home.entry.linked
        for _, file in references(home, rules) if rules else ():
            if rules and file:
                root = max((root.folder for root in rules.roots if file.startswith(root.folder)), key=len)
                found.setdefault(root, set()).add(file)
    return found


def _common(folders: Sequence[str]) -> str:
    """The folder that holds all of these."""
    parts = [folder.split("/") for folder in (min(folders), max(folders))]
    same = next((at for at, pair in enumerate(zip(*parts, strict=False)) if pair[0] != pair[1]), min(map(len, parts)))
    return "".join(f"{part}/" for part in parts[0][:same] if part)


def recipe_files(shelf: Shelf, layout: Layout) -> Words:
    """The files in which recipes stand, in the layout's order."""
    return tuple(dict.fromkeys(home.file for home in shelf.homes(layout).values()))


def runners(shelf: Shelf, layout: Layout) -> str | None:
    """The runners' file: where the layout says, else of that name beside the recipes, where it lay before they all moved."""
    if not layout.runners:
        return None
    name = layout.runners.rpartition("/")[2]
    beside = (f"{file.rpartition('/')[0]}/{name}".lstrip("/") for file in recipe_files(shelf, layout))
    return next((file for file in (layout.runners, *beside) if shelf.read(file) is not None), None)


def questions(shelf: Shelf, layout: Layout, family: Sequence[str], known: Collection[str]) -> dict[tuple[str, str], Words]:
    """The command lines whose rows prove a scope: ("rows", key) of each recipe named, ("evals", "") of them together, since a
    guest picks evals over all recipes of one entry, and of all others as (..., "*").

    An older generator that knows neither option of evals is asked for what it makes without.
    """
    others = [key for key in shelf.homes(layout) if key not in family]
    place = runners(shelf, layout) if "--runner-config" in known else None
    start = (COMMAND, "--config-files", *recipe_files(shelf, layout), *(("--runner-config", place) if place else ()))
    plain = tuple(option for option in ("--no-evals",) if option in known)
    asked: dict[tuple[str, str], Words] = {}
    for name, keys in (*((key, [key]) for key in dict.fromkeys(family)), *((("*", others),) if others else ())):
        asked["rows", name] = (*start, "--config-keys", *keys, *plain)
    if "--evals-only" in known:
        for name, keys in (("", list(dict.fromkeys(family))), *((("*", others),) if others else ())):
            asked["evals", name] = (*start, "--config-keys", *keys, "--evals-only")
    return asked
