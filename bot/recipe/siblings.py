"""Who in this repository runs an image already: what is known to run is the cheapest evidence there is.

The seed's candidate was shipped for another family with the same coupled pin for a week, and a person had to look that up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from bot.errors import BadInput, Refusal
from bot.images import alike, reference
from bot.layout import Layout
from bot.model.image import Reference
from bot.model.recipe import Recipe
from bot.model.result import Row
from bot.model.text import Text
from bot.model.upstream import Sibling
from bot.ports import Tree
from bot.recipe import read as reading
from bot.recipe import which
from bot.recipe.changelog.entries import entries, texts
from bot.recipe.shelf import Shelf

Pins = Callable[[str], Sequence[str]]
Scored = Callable[[str], Sequence[Row]]
Dated = Callable[[int], str | None]
_NOTHING: Mapping[str, str] = {}


def siblings(tree: Tree | Shelf, layout: Layout, keys: Collection[str], image: Reference, *, digests: Mapping[str, str] = _NOTHING,
             pins: Pins = lambda key: (), scored: Scored = lambda key: (), dated: Dated = lambda pull: None) -> tuple[Sibling, ...]:
    """The recipes beside `keys` that run `image` (the candidate, with the digest it was resolved to), in file order.

    `digests` tells what unpinned tags are known to hold, by canonical reference: another name of the same bytes is the same
    image then. `pins` tells a recipe's coupled parts in words, `scored` its eval rows with its present image, `dated` when a
    pull request of this repository was merged. What cannot be read of a recipe is left out of it, never guessed.
    """
    shelf = Shelf.of(tree)
    named = {key: which.image(home, layout.allow) for key, home in shelf.homes(layout).items() if key not in keys}
    found = {key: same for key, text in named.items() if (same := _same(text, image, digests))}
    said = _entries(shelf, layout) if found else ()
    made = {key: _recipe(shelf, layout, key) for key in found}
    return tuple(
        Sibling(recipe=key, image=named[key], same=same, hardware=recipe.hardware if (recipe := made[key]) else "",
                since=_since(key, image, said, dated), pins=_pins(pins, key), evals=_evals(recipe, scored(key)) if recipe else ())
        for key, same in found.items())


def _same(text: str, image: Reference, digests: Mapping[str, str]) -> alike.Alike | None:
    try:
        held = reference.parse(text)
    except BadInput:
        return None
    known = None if held.digest else digests.get(reference.canonical(held))
    if known and image.digest:
        return "digest" if known == image.digest else None
    return alike.like(held, image)


def _recipe(shelf: Shelf, layout: Layout, key: str) -> Recipe | None:
    """A recipe with its points, without them where only they cannot be told; None where nothing can."""
    for ask in (reading.read, reading.outline):
        try:
            return ask(shelf, layout, key)
        except (BadInput, Refusal):
            continue
    return None




def _pins(pins: Pins, key: str) -> tuple[str, ...]:
    """A recipe's coupled parts; none where its files cannot be read, which is no fault of the candidate's."""
    try:
        return tuple(pins(key))
    except (BadInput, Refusal):
        return ()


def _evals(recipe: Recipe, rows: Sequence[Row]) -> tuple[Text, ...]:
    """Each eval with its threshold, and the scores that it is known to have reached with this image."""
    gates = {point.eval.task: point.eval.threshold for point in recipe.points if point.eval}
    scores: dict[str, list[float]] = {task: [] for task in gates}
    for row in rows:
        if row.metric == "eval" and row.task:
            scores.setdefault(row.task, []).append(row.value)
    told = []
    for task, reached in scores.items():
        low, gate = (f"{min(reached):.4f}" if reached else ""), (f"{gates[task]:g}" if task in gates else "")
        en = [task, *([f"scored {low} or more"] if low else []), *([f"threshold {gate}"] if gate else [])]
        zh = [task, *([f"得分不低于 {low}"] if low else []), *([f"阈值 {gate}"] if gate else [])]
        told.append(Text(en=", ".join(en), zh="，".join(zh)))
    return tuple(told)


def _entries(shelf: Shelf, layout: Layout) -> Sequence[dict[str, Any]]:
    """The changelog's entries, newest first; none where there is no changelog that can be read."""
    style = layout.changelog
    try:
        return tuple(reversed(entries(shelf.read(style.file) or b"", style.file, style))) if style and style.file else ()
    except BadInput:
        return ()


def _since(key: str, image: Reference, said: Sequence[dict[str, Any]], dated: Dated) -> str | None:
    """The newest entry for this recipe that names the image's tag: a number and, where it is known, a date. An entry that names
    only a version may speak of any image that has it, so the whole tag must stand there."""
    tag = re.compile(rf"(?<![A-Za-z0-9_.-]){re.escape(image.tag)}(?![A-Za-z0-9_-]|\.[A-Za-z0-9])") if image.tag else None
    for entry in said if tag else ():
        lines = [line for value in entry.values() if texts(value) for line in value]
        if any(fnmatchcase(key, line) for line in lines) and any(tag.search(line) for line in lines if tag):
            return _pull(entry, dated)
    return None


def _pull(entry: dict[str, Any], dated: Dated) -> str | None:
    """The pull request that an entry links, as people write one: `PR #2663`, its date before it where it is known."""
    links = [value for value in entry.values() if isinstance(value, str)]
    number = next((int(found) for link in links for found in re.findall(r"/pull/([1-9][0-9]{0,9})\b", link)), None)
    day = dated(number) if number is not None else None
    return None if number is None else f"{day}, PR #{number}" if day else f"PR #{number}"
