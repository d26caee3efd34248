"""Byte-exact edits of one YAML file by key path: the scalar's own characters change, and nothing around them.

No edit is trusted: the new bytes are parsed again, and what they say must differ from what the old ones said at
exactly the paths named. Otherwise the edit is refused. (Whole-file dumps lose comments, quotes, indents and markers:
flux2 4435, updatecli 1198.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import yaml
from msgspec import Struct, structs

from bot.errors import Refusal
from bot.model.recipe import Site
from bot.recipe.files import aliases, cut
from bot.recipe.files.document import Document, Hit, Path, Step, show, steps
from bot.recipe.files.meaning import GONE, Goals, says
from bot.recipe.files.tokens import calm, spellings, written


class Spliced(Struct, frozen=True, kw_only=True):
    """The new bytes, and the places that changed: line in the old file, path, and the value that stood there before."""

    data: bytes
    sites: tuple[Site, ...]


class Change(Struct, frozen=True, kw_only=True):
    """One scalar whose `needle` (all of it, or the part after `NAME=`) becomes `text`."""

    hit: Hit
    needle: str
    text: str
    document: int = 0

    @property
    def wanted(self) -> str:
        return self.hit.node.value.replace(self.needle, self.text, 1)


def replace(data: bytes, path: str | Sequence[Step], old: str, new: str, *, file: str = "", document: int = 0) -> Spliced:
    """Every scalar at `path` that says exactly `old` now says `new`. Refusal when none does."""
    source = Document(data, file)
    hits = [hit for hit in source.find(path, document=document)
            if isinstance(hit.node, yaml.ScalarNode) and hit.node.value == old]
    if not hits:
        raise Refusal(f"{file or 'the file'}: {show(steps(path))} does not hold {old!r}", "read the file again")
    return rewrite(source, [Change(hit=hit, needle=old, text=new, document=document) for hit in hits])


def rewrite(source: Document, changes: Sequence[Change], recipes: Collection[aliases.Place] | None = None) -> Spliced:
    """All these scalars in one go, or none of them. The line break that ends a block is the block's, and stays. `recipes` are
    the places (document, path) of all recipes in the file, where they are known: an anchor outside them may move too."""
    changes = [_inside(change) for change in changes]
    for change in changes:
        if change.hit.node.value.count(change.needle) != 1:
            raise Refusal(f"{source.file}: {change.needle!r} does not stand once at {show(change.hit.steps)}",
                          "edit it by hand")
    sites = tuple(_site(source, change.hit) for change in changes)
    moving = [change for change in changes if change.needle != change.text]
    if not moving:
        return Spliced(data=source.data, sites=sites)
    goals = {(change.document, change.hit.steps): change.wanted for change in changes}
    may = {} if recipes is None else aliases.holders(source, goals, recipes)
    for place in (_value, aliases.own):
        made = _spelt(source, _spans(source, moving, place), goals, may)
        if made is not None:
            return Spliced(data=source.encode(made), sites=sites)
    raise Refusal(f"{source.file}: {show(moving[0].hit.steps)} cannot be edited without touching something else",
                  "an alias shares this value: name the recipes that use it too, or edit it by hand")


class _Span(Struct):
    """One place of the text: what may be written there, likeliest first, and what it says then, by each path that leads there."""

    texts: list[str]
    goals: dict[tuple[int, Path], Any]


Spans = dict[tuple[int, int], _Span]


def _value(source: Document, hit: Hit) -> tuple[int, int]:
    """The place of the value itself: one that several paths lead to by aliases moves for all of them."""
    return source.span(hit.node)


def _spans(source: Document, changes: Sequence[Change], where: Callable[[Document, Hit], tuple[int, int]]) -> Spans:
    """Where each change is made: at its value, or where an alias tells it, which gives way to a value of its own."""
    made: Spans = {}
    for change in changes:
        place, value = where(source, change.hit), source.span(change.hit.node)
        texts = _spellings(source, change) if place == value else list(spellings("", None, change.wanted))
        made.setdefault(place, _Span(texts, {})).goals[change.document, change.hit.steps] = change.wanted
    return dict(sorted(made.items()))


def _spelt(source: Document, spans: Spans, goals: Goals, may: Goals) -> str | None:
    """The text with every place in the spelling that stands there already; in another one only where that alone does not hold:
    a neighbour's need of quotes is no reason to change one's own. None where no spelling holds."""
    made = cut.apply(source.text, [(place, span.texts[0]) for place, span in spans.items()])
    if says(source, made, goals, may=may):
        return made
    chosen: list[tuple[tuple[int, int], str]] = []
    for place, span in spans.items():
        tried = ((text, cut.apply(source.text, [(place, text)])) for text in span.texts)
        text = next((text for text, made in tried if says(source, made, span.goals, may=may)), None)
        if text is None:
            return None
        chosen.append((place, text))
    made = cut.apply(source.text, chosen)
    return made if says(source, made, goals, may=may) else None


def set_value(data: bytes, path: str | Sequence[Step], new: Any, *, file: str = "", document: int = 0) -> Spliced:
    """The scalar at `path` holds `new` (str, int, float, bool, None); a key that is absent joins the end of its mapping.

    A quoted scalar stays quoted, so a number set there is text, as environment variables want it.
    """
    if not isinstance(new, (str, int, float, bool, type(None))):
        raise Refusal(f"{show(steps(path))}: only a single value can be set", "edit lists and mappings by hand")
    source, way = Document(data, file), steps(path)
    hits = source.find(way, document=document)
    if not hits:
        return _insert(source, way, new, document)
    for hit in hits:
        if not isinstance(hit.node, yaml.ScalarNode):
            raise Refusal(f"{file}: {show(hit.steps)} holds more than one value", "name the key inside it")
    quoted = {hit.steps: written(new) if hit.node.style in ("'", '"') and not isinstance(new, str) else new for hit in hits}
    spans: Spans = {}
    for hit in sorted(hits, key=lambda hit: source.span(hit.node)):
        start, end = source.span(hit.node)
        texts = list(spellings(source.text[start:end], hit.node.style, quoted[hit.steps]))
        spans.setdefault((start, end), _Span(texts, {})).goals[document, hit.steps] = quoted[hit.steps]
    made = _spelt(source, spans, {(document, hit.steps): quoted[hit.steps] for hit in hits}, {}) if all(
        span.texts for span in spans.values()) else None
    if made is not None:
        return Spliced(data=source.encode(made), sites=tuple(_site(source, hit) for hit in hits))
    raise Refusal(f"{file}: {show(way)} cannot hold {new!r} without touching something else", "edit it by hand")


def drop(data: bytes, path: str | Sequence[Step], *, file: str = "", document: int = 0) -> Spliced:
    """The key or list item at `path` is gone with its own lines; comments on other lines stay. Refusal when it is absent."""
    source, way = Document(data, file), steps(path)
    hits = source.find(way, document=document)
    if len(hits) != 1 or hits[0].parent is None:
        raise Refusal(f"{file or 'the file'}: {show(way)} names {len(hits)} places, not one", "name one key that is there")
    place, text = cut.gap(source, hits[0])
    made = cut.apply(source.text, [(place, text)])
    if not says(source, made, {(document, hits[0].steps): GONE}):
        raise Refusal(f"{file}: {show(way)} cannot be dropped without touching something else", "edit it by hand")
    return Spliced(data=source.encode(made), sites=(_site(source, hits[0]),))


def _insert(source: Document, way: Path, new: Any, document: int) -> Spliced:
    parents = source.find(way[:-1], document=document) if way else []
    if len(parents) != 1 or not isinstance(parents[0].node, yaml.MappingNode):
        raise Refusal(f"{source.file or 'the file'}: {show(way)} has no mapping to join", "name a key whose mapping exists")
    key = (*parents[0].steps, way[-1])
    for word in spellings("", "", str(way[-1])):
        for text in spellings("", '"' if isinstance(new, str) else "", new):
            place, line = cut.room(source, parents[0].node, f"{word}: {text}")
            made = cut.apply(source.text, [(place, line)])
            if says(source, made, {(document, key): new}, added=True):
                return Spliced(data=source.encode(made), sites=(
                    Site(file=source.file, line=source.line(place[0]), path=show(key), value=""),))
    raise Refusal(f"{source.file}: {show(key)} cannot be added without touching something else", "edit it by hand")


def _site(source: Document, hit: Hit) -> Site:
    mark = (hit.key or hit.node).start_mark.index if not isinstance(hit.node, yaml.ScalarNode) else aliases.own(source, hit)[0]
    text = hit.node.value if isinstance(hit.node, yaml.ScalarNode) else source.text[slice(*source.span(hit.node))]
    return Site(file=source.file, line=source.line(mark), path=show(hit.steps), value=text)


def _inside(change: Change) -> Change:
    if change.hit.node.style not in ("|", ">") or not change.needle.endswith("\n"):
        return change
    return structs.replace(change, needle=change.needle.rstrip("\n"), text=change.text.rstrip("\n"))


def _spellings(source: Document, change: Change) -> list[str]:
    """Texts for the changed scalar, likeliest first. Refusal for a block that holds more than the image."""
    start, end = source.span(change.hit.node)
    raw = source.text[start:end]
    # A block begins on the next line: what stands behind its `|` is a comment.
    head = raw.index("\n") if change.hit.node.style in ("|", ">") else 0
    as_it_is = raw.count(change.needle, head) == 1 and calm(change.text, change.hit.node.style)
    first = [raw[:head] + raw[head:].replace(change.needle, change.text)] if as_it_is else []
    found = [*first, *spellings(raw, change.hit.node.style, change.wanted)]
    if not found:
        raise Refusal(f"{source.file}: {show(change.hit.steps)} is a block that holds more than the image", "edit it by hand")
    return found
