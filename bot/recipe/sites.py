"""Every place where a recipe's image stands, in its own file and in those it links, and what disagrees there today.

Rules of the linked files (CONTRACT 1.3, 2.1): a container either is the recipe's image or is an alias that stays;
provenance holds the image in a spelling of its own, which it keeps; the engine's version follows the image. What disagreed
before is remarked and left alone: mending it silently would hide which bytes were measured.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import yaml
from msgspec import Struct

from bot.layout.ask import source_of
from bot.layout.records import Layout, Linked
from bot.model.recipe import Site
from bot.ports import Tree
from bot.recipe import beside, engine, spelling, which
from bot.recipe.files import aliases
from bot.recipe.files.document import Document, Hit, show, steps
from bot.recipe.files.named import Named
from bot.recipe.shelf import Home, Shelf

Role = Literal["image", "container", "provenance", "engine", "setting"]
Kind = Literal["disagrees", "version", "alias", "second-image", "outside", "repeated-key", "beside", "empty"]


class Place(Struct, frozen=True):
    """A site with its node: `needle` is the part of the scalar that names the image (or the engine's version). Where an image is
    written in pieces, `named` is the whole, and the site one of the pieces."""

    document: Document
    hit: Hit
    index: int
    role: Role
    needle: str
    named: Named | None = None

    @property
    def where(self) -> tuple[str, tuple[int, int]]:
        """The text that an edit of it changes: file, and from where to where."""
        return self.document.file, self.document.span(self.hit.node)

    @property
    def site(self) -> Site:
        return Site(file=self.document.file, line=self.document.line(aliases.own(self.document, self.hit)[0]),
                    path=show(self.hit.steps), value=self.hit.node.value)


class Remark(Struct, frozen=True, kw_only=True):
    """Something that stands apart from the image, of which kind it is, and the text that it is of (file, from and to)."""

    kind: Kind
    text: str
    where: tuple[str, tuple[int, int]] | None = None


class Sites(Struct, frozen=True, kw_only=True):
    """What was found for one recipe: `places` move with the image, `linked` are the files read, `remarks` stand apart."""

    key: str
    file: str
    image: str
    places: tuple[Place, ...]
    linked: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()


Found = Iterator[Place | Remark]


def sites(tree: Tree | Shelf, layout: Layout, key: str) -> Sites:
    """All sites of one recipe, in file order. Refusal for an unknown key, BadInput for a recipe without an image."""
    shelf = Shelf.of(tree)
    home = shelf.home(layout, key)
    image, found = _own(home, layout.allow)
    linked: dict[str, Document] = {}
    outside: list[str] = []
    if home.entry.linked is not None:
        rules = home.entry.linked
        found += _beside(home, rules, image)
        for text, file in references(home, rules):
            document = shelf.document(file) if file else None
            if document is None:
                outside.append(text)
            elif document.file not in linked:
                linked[document.file] = document
                found += [*_empty(document), *_in_linked(document, rules, image)]
                found += _versions(document, rules, image, names_of(layout, image))
        for file in shelf.fitting(rules.files):
            if file != home.file and file not in linked and (document := shelf.document(file)) is not None:
                linked[file] = document
                found += [*_empty(document), *_in_file(document, rules, image)]
    if outside:
        more = f" and {len(outside) - 1} more name files" if len(outside) > 1 else " names a file"
        found.append(Remark(kind="outside", text=f"{key}: {outside[0]}{more} outside this repository"))
    # One ARG may make the image of several stages.
    places = tuple({(one.where, one.index, one.hit.steps): one for one in found if isinstance(one, Place)}.values())
    remarks = dict.fromkeys(one for one in found if isinstance(one, Remark))
    return Sites(key=key, file=home.file, image=image, places=places, linked=tuple(linked), remarks=tuple(remarks))


def references(home: Home, rules: Linked) -> Iterator[tuple[str, str | None]]:
    """(`CONFIG_FILE=...` text, path of the file it names or None) for each linked file, once each."""
    seen: set[str] = set()
    for path in rules.within:
        for hit in home.find(path):
            name, equals, rest = hit.node.value.partition("=") if isinstance(hit.node, yaml.ScalarNode) else ("", "", "")
            if equals and name in rules.settings and rest not in seen:
                seen.add(rest)
                yield hit.node.value, where(rest, rules)


def where(value: str, rules: Linked) -> str | None:
    """The path a linked text names: its variant (`:override`) cut off, `./`, `//` and `a/../` written plainly as a shell reads
    them, the longest root that fits put in front. None for one that leads out."""
    said = value.split(":", 1)[0]
    path = _inside(said)
    prefixes = {root: root.prefix.removeprefix("./") for root in rules.roots}
    bare = "/" not in path and ".." not in said.split("/")
    fitting = [root for root, prefix in prefixes.items() if path.startswith(prefix) and (prefix or bare)]
    if not fitting or not path or said.startswith("/"):
        return None
    root = max(fitting, key=lambda root: len(prefixes[root]))
    return root.folder + path.removeprefix(prefixes[root])


def _inside(said: str) -> str:
    """A path without its detours; "" for one that leads out of where it starts."""
    steps: list[str] = []
    for step in said.split("/"):
        if step == ".." and not steps:
            return ""
        if step == "..":
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)


def is_alias(container: str) -> bool:
    """Whether a container is a name that the launcher maps to the image (`dynamo-sglang`), no reference itself."""
    return not re.search(r"[/:#@]", container)


def _own(home: Home, allow: Collection[str]) -> tuple[str, list[Place | Remark]]:
    found = which.chosen(home, allow)
    places = [place for named in found.places for place in _named(home.document, named, home.index)]
    apart = [_apart(home.document, named.hit, found.image, named.text) for named in found.apart]
    return found.image, [*places, *apart, *(_other(home.document, named) for named in found.beside)]


def _named(document: Document, named: Named, index: int) -> Found:
    """An image is one place, or one for each of the pieces that it is written in."""
    for hit in named.parts:
        yield Place(document, hit, index, "image", hit.node.value, None if named.whole else named)


def _other(document: Document, named: Named) -> Remark:
    line = document.line(named.hit.node.start_mark.index)
    return Remark(kind="beside", text=f"{document.file}:{line}: {show(named.hit.steps)} is another image, {named.text}")


def _beside(home: Home, rules: Linked, image: str) -> Found:
    for path in rules.within:
        for hit in home.find(path):
            name, equals, value = hit.node.value.partition("=") if isinstance(hit.node, yaml.ScalarNode) else ("", "", "")
            if not equals or name not in (*rules.beside, *rules.never):
                continue
            if name in rules.beside and spelling.same(value, image):
                yield Place(home.document, hit, home.index, "setting", value)
            else:
                line = home.document.line(hit.node.start_mark.index)
                yield Remark(kind="second-image", text=f"{home.file}:{line}: {name} names a second image, {value}")


def _empty(document: Document) -> Found:
    """That nothing stands in a linked file: what names it expects an image there."""
    if all(isinstance(root, yaml.ScalarNode) and root.value in ("", "~", "null") for root in document.roots):
        yield Remark(kind="empty", text=f"{document.file} is linked and empty")


def _in_linked(document: Document, rules: Linked, image: str) -> Found:
    yield from (Remark(kind="repeated-key", text=str(double)) for double in document.doubles.values())
    for index in range(len(document.roots)):
        for role, paths in ((_container, rules.image), (_provenance, rules.provenance)):
            for path in paths:
                for hit in document.find(path, document=index):
                    if isinstance(hit.node, yaml.ScalarNode):
                        yield role(document, hit, index, image)


def _versions(document: Document, rules: Linked, image: str, names: Sequence[str]) -> Found:
    """The versions of the image's own engine; that of another one, which may read alike, is not this image's."""
    known = [path for path in rules.engine if engine.is_of(str(steps(path)[-1]), *names)]
    for index in range(len(document.roots)):
        for path in known or rules.engine:
            for hit in document.find(path, document=index):
                if isinstance(hit.node, yaml.ScalarNode) and (known or engine.follows(hit.node.value, image)):
                    yield _engine(document, hit, index, image)


def names_of(layout: Layout, image: str) -> tuple[str, ...]:
    """What tells which engine an image holds: its repository, and the address of its source where the layout knows it."""
    name = which.repository(image)
    return tuple(filter(None, (name, source_of(layout, name))))


def _in_file(document: Document, rules: Linked, image: str) -> Found:
    """A file that belongs to the recipe: its image moves there, another tag of it disagrees, other images are not ours."""
    for index in range(len(document.roots)):
        for named in beside.images(document, index, rules.image):
            if spelling.form(named.text, image) is not None:
                yield from _named(document, named, index)
            elif which.repository(named.text) == which.repository(image):
                yield _apart(document, named.hit, image, named.text)


def _container(document: Document, hit: Hit, index: int, image: str) -> Place | Remark:
    said = hit.node.value
    if spelling.same(said, image):
        return Place(document, hit, index, "container", said)
    if is_alias(said):
        return Remark(kind="alias", text=f"{document.file}: {show(hit.steps)} is the alias {said}; the launcher maps it")
    return _apart(document, hit, image)


def _provenance(document: Document, hit: Hit, index: int, image: str) -> Place | Remark:
    if spelling.form(hit.node.value, image) is None:
        return _apart(document, hit, image)
    return Place(document, hit, index, "provenance", hit.node.value)


def _engine(document: Document, hit: Hit, index: int, image: str) -> Place | Remark:
    if engine.follows(hit.node.value, image) is False:
        return _apart(document, hit, image, kind="version")
    return Place(document, hit, index, "engine", hit.node.value)


def _apart(document: Document, hit: Hit, image: str, said: str | None = None, kind: Kind = "disagrees") -> Remark:
    line = document.line(hit.node.start_mark.index)
    return Remark(kind=kind, text=f"{document.file}:{line}: {show(hit.steps)} says {said or hit.node.value}, the recipe {image}",
                  where=(document.file, document.span(hit.node)))
