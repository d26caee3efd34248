"""Byte-exact edits of one YAML file by key path: the scalar's own characters change, and nothing around them.

No edit is trusted: the new bytes are parsed again, and what they say must differ from what the old ones said at
exactly the paths named. Otherwise the edit is refused. (Whole-file dumps lose comments, quotes, indents and markers:
flux2 4435, updatecli 1198.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import yaml
from msgspec import Struct, structs

from bot.errors import Refusal
from bot.model.recipe import Site
from bot.recipe.files import aliases, cut
from bot.recipe.files.document import Document, Hit, Path, Step, show, steps
from bot.recipe.files.meaning import GONE, says
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
    goals = {(change.document, change.hit.steps): change.wanted for change in changes}
    may = {} if recipes is None else aliases.holders(source, goals, recipes)
    for way in (_at_values, _at_aliases) if moving else ():
        spans = way(source, moving)
        for choice in _choices(list(spans.values())):
            made = cut.apply(source.text, list(zip(spans, choice, strict=True)))
            if says(source, made, goals, may=may):
                return Spliced(data=source.encode(made), sites=sites)
    if not moving:
        return Spliced(data=source.data, sites=sites)
    raise Refusal(f"{source.file}: {show(moving[0].hit.steps)} cannot be edited without touching something else",
                  "an alias shares this value: name the recipes that use it too, or edit it by hand")


Spans = dict[tuple[int, int], list[str]]


def _at_values(source: Document, changes: Sequence[Change]) -> Spans:
    """The places of the values themselves: one that several paths lead to by aliases moves for all of them."""
    return dict(sorted((source.span(change.hit.node), _spellings(source, change)) for change in changes))


def _at_aliases(source: Document, changes: Sequence[Change]) -> Spans:
    """The same, but an alias gives way to a value of its own: whoever else uses the anchor stays."""
    made: Spans = {}
    for change in changes:
        place = aliases.alias(source, change.hit)
        if place is None:
            made[source.span(change.hit.node)] = _spellings(source, change)
        else:
            made[place] = list(spellings("", None, change.wanted))
    return dict(sorted(made.items()))


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
    places = sorted(source.span(hit.node) for hit in hits)
    by_place = {source.span(hit.node): hit for hit in hits}
    goals = {(document, hit.steps): quoted[hit.steps] for hit in hits}
    options = [list(spellings(source.text[start:end], by_place[start, end].node.style, quoted[by_place[start, end].steps]))
               for start, end in places]
    for choice in _choices(options):
        made = cut.apply(source.text, list(zip(places, choice, strict=True)))
        if says(source, made, goals):
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


def _choices(options: list[list[str]]) -> Iterator[list[str]]:
    """The first spelling everywhere, then the next where there is one: quoting problems come alike in one file."""
    for rank in range(max(map(len, options))):
        yield [option[min(rank, len(option) - 1)] for option in options]
