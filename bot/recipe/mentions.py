"""Lines that name the old image and are no site of it: comments that justify a pin, scripts that patch one image.

An edit leaves them as they are, since nobody but a person knows whether they still hold; so they are told. (A comment above a
key says why its nightly must not float, and a script names the one image that its patches fit.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import re2
from msgspec import Struct

from bot.layout import Layout
from bot.model.text import Text
from bot.ports import Tree
from bot.recipe import spelling
from bot.recipe.engine import stated, tag_of
from bot.recipe.shelf import Home, Shelf, matches
from bot.recipe.sites import sites

_LONGEST = 4_000
_SHOWN = 5
_PLACE = re.compile(r"[A-Za-z0-9_.:/+-]{1,120}")


class Mention(Struct, frozen=True, kw_only=True):
    """A line (from 1) of a file, and the name of the old image that stands there."""

    file: str
    line: int
    name: str


def mentions(tree: Tree | Shelf, layout: Layout, keys: Sequence[str]) -> tuple[Mention, ...]:
    """Lines that name the images of these recipes beside their sites: the recipes' own lines and the comment above each, their
    linked files, and the files that the layout's `mentions` names. To be asked of the tree before the edit."""
    shelf = Shelf.of(tree)
    standing = [sites(shelf, layout, key) for key in keys]
    texts: dict[str, str] = {}
    for place in (place for one in standing for place in one.places):
        start, end = place.document.span(place.hit.node)
        text = texts.get(place.document.file, place.document.text)
        texts[place.document.file] = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    found: dict[tuple[str, int], Mention] = {}
    for one in standing:
        home, loose = shelf.home(layout, one.key), _loose(one.image)
        beside = [each for file in one.linked for each in _whole(shelf, file, loose, texts)]
        for each in (*_within(home, loose, texts), *beside, *_elsewhere(shelf, layout, _strict(one.image), texts)):
            found.setdefault((each.file, each.line), each)
    return tuple(found.values())


def told(found: Sequence[Mention]) -> tuple[Text, ...]:
    """The first of them for a proposal, in both languages; a file whose name could not stand there is left out."""
    places = [f"{one.file}:{one.line}" for one in found if _PLACE.fullmatch(one.file)]
    if not places:
        return ()
    first, more = ", ".join(places[:_SHOWN]), max(len(places) - _SHOWN, 0)
    en = f"These lines name the old image or its version and are not edited, read whether they still hold: {first}"
    zh = f"以下位置仍提到旧镜像或其版本，未作修改，请确认是否仍然成立：{first}"
    return (Text(en=f"{en} and {more} more" if more else en, zh=f"{zh} 等 {len(places)} 处" if more else zh),)


Texts = Mapping[str, str]
"""The files with sites, in which the sites are blanks."""


def _within(home: Home, names: Sequence[str], texts: Texts) -> Iterator[Mention]:
    lines = texts.get(home.file, home.document.text).split("\n")
    first = home.document.line((home.hit.key or home.hit.node).start_mark.index)
    last = home.document.line(max(home.hit.node.end_mark.index - 1, 0))
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    # A block reaches to the next token: the comment above the next recipe is not this one's.
    while last > first and lines[last - 1].lstrip()[:1] in ("", "#", "\r"):
        last -= 1
    yield from _lines(home.file, lines[first - 1:last], first, names)


def _whole(shelf: Shelf, file: str, names: Sequence[str], texts: Texts) -> Iterator[Mention]:
    text = texts.get(file) or (shelf.read(file) or b"").decode("utf-8", "replace")
    yield from _lines(file, text.split("\n"), 1, names)


def _elsewhere(shelf: Shelf, layout: Layout, names: Sequence[str], texts: Texts) -> Iterator[Mention]:
    """Anywhere else a bare version says little: there the whole name counts."""
    for file in shelf.paths() if layout.mentions else ():
        if any(matches(glob, file) for glob in layout.mentions):
            yield from _whole(shelf, file, names, texts)


def _lines(file: str, lines: Sequence[str], first: int, names: Sequence[str]) -> Iterator[Mention]:
    if not names:
        return
    # A longer tag that begins with this one is another image: v0.21.0 is not v0.21.0-cu130.
    any_ = "|".join(map(re2.escape, names))
    pattern = re2.compile(rf"(?:^|[^A-Za-z0-9_.-])({any_})(?:$|[^A-Za-z0-9_.-]|\.(?:$|[^A-Za-z0-9_]))")
    for at, line in enumerate(lines, start=first):
        hit = pattern.search(line[:_LONGEST])
        if hit:
            yield Mention(file=file, line=at, name=hit.group(1))


def _strict(image: str) -> list[str]:
    """The whole name in both spellings, longest first, with and without its digest."""
    forms = [image, spelling.docker(image), spelling.enroot(image)]
    names = {form for one in forms for form in (one, spelling.undigested(one)) if tag_of(one) or "@" in one}
    return sorted(names, key=lambda name: (-len(name), name))


def _loose(image: str) -> list[str]:
    """Also the tag alone, and the version that it states, where they are no everyday words."""
    tag, version = tag_of(image), stated(image)
    short = [name for name in (tag, f"v{version}" if version else "", version or "") if name and re.search(r"\d.*[.\d-].*\w", name)]
    return [*_strict(image), *dict.fromkeys(short)]
