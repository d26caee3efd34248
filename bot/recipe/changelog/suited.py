"""Whether the keys and kinds of workload that an entry names are those of recipes that stand in the repository.

A guest sweeps what an entry names: a key in the wrong case fails its validator, and a kind that the recipe lacks sweeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.errors import BadInput, Refusal
from bot.layout.records import Layout
from bot.recipe import matrix
from bot.recipe.changelog.append import Entry
from bot.recipe.shelf import Shelf


def suits(tree: Shelf, layout: Layout, entry: Entry) -> tuple[str, ...]:
    """What could not be told, one line each. Refusal for a key that no recipe has and for a kind of workload that none of them
    has, with what may have been meant."""
    known, broken = tree.homes(layout), tree.broken(layout)
    if not known and not broken:
        return ("whether the keys are those of recipes is not known: the layout finds none here",)
    notes = []
    for key in entry.keys:
        if key not in known and broken and not _alike(key, known):
            notes.append(f"whether {key} is a recipe is not known: {next(iter(broken.values()))}")
        elif key not in known:
            raise _unknown(tree, layout, key)
    return (*notes, *_scenarios(tree, layout, entry, [key for key in entry.keys if key in known]))


def _alike(key: str, known: Sequence[str] | dict[str, object]) -> list[str]:
    return [name for name in known if name.casefold() == key.casefold()]


def _unknown(tree: Shelf, layout: Layout, key: str) -> Refusal:
    if alike := _alike(key, tree.homes(layout)):
        return Refusal(f"no recipe is called {key}", f"did you mean {', '.join(alike)}? Keys are exact")
    try:
        tree.home(layout, key)
    except (Refusal, BadInput) as error:
        return Refusal(error.reason, error.hint)
    raise AssertionError(f"{key} stands there after all")


def _scenarios(tree: Shelf, layout: Layout, entry: Entry, keys: Sequence[str]) -> Iterator[str]:
    if not entry.scenarios or not keys:
        return
    if layout.generator != "inferencex":
        yield "whether the recipes have such scenarios is not known: this layout's recipes do not say"
        return
    has: dict[str, set[str]] = {}
    for key in keys:
        try:
            has[key] = {row.get("scenario-type", "fixed-seq-len") for row in matrix.generated(tree, layout, tree.home(layout, key))}
        except BadInput as error:
            yield f"whether {key} has such a scenario is not known: {error}"
    for key, found in has.items():
        if not found & set(entry.scenarios):
            raise Refusal(f"{key} has no scenario {' or '.join(entry.scenarios)}", f"it has {', '.join(sorted(found)) or 'none'}")
    missing = set(entry.scenarios) - set().union(*has.values())
    if missing and len(has) == len(keys) == len(entry.keys):
        raise Refusal(f"none of these recipes has the scenario {sorted(missing)[0]}",
                      f"they have {', '.join(sorted(set().union(*has.values())))}")
