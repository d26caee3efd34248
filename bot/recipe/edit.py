"""One image for some recipes: every site of every file together, or nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from bot.errors import Refusal
from bot.layout import Layout, guard
from bot.model.recipe import Edit, Site
from bot.ports import Tree
from bot.recipe import engine, movable, spelling
from bot.recipe.files import aliases, diff, splice
from bot.recipe.files.document import Document
from bot.recipe.shelf import Shelf
from bot.recipe.sites import Place, Sites, names_of, sites

_IMAGE = re.compile(
    r"(?:[A-Za-z0-9.-]+(?::\d+)?[/#])?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?\Z")

# Keys whose value is a part of an image: a bare `v0.25.0` there is a tag and no repository.
_PARTS = ("tag", "newTag", "digest", "version", "imageTag")
# What an edit could be thought to have moved.
_STAYS = ("disagrees", "version", "outside", "second-image", "beside")


def move(tree: Tree | Shelf, layout: Layout, keys: Sequence[str], image_text: str) -> Edit:
    """The edit that puts `image_text`, exactly as written, at every site of the recipes named.

    Recipes that share a linked file are named together or refused. An image already there is an empty diff. What
    disagreed before, lies outside the repository or cannot be told from the text is among the findings.
    """
    if not _IMAGE.match(image_text):
        raise Refusal(f"{image_text!r} is no image reference", "write registry/repository:tag@sha256:...")
    if not keys:
        raise Refusal("no recipe is named", "name one")
    shelf = Shelf.of(tree)
    found = [sites(shelf, layout, key) for key in dict.fromkeys(keys)]
    _refuse_shared(shelf, layout, found)
    findings: list[str] = []
    plans: dict[str, dict[tuple[object, ...], tuple[Document, splice.Change]]] = defaultdict(dict)
    moved: dict[tuple[str, tuple[int, int]], Site] = {}
    standing = {place.where for one in found for place in one.places}
    for one in found:
        findings += _told(one, image_text, standing)
        for place in one.places:
            text = _text(layout, place, one, image_text, findings)
            span = place.document.span(place.hit.node)
            if text is None:
                continue
            moved.setdefault((place.document.file, span), place.site)
            if text != place.needle:
                change = splice.Change(hit=place.hit, needle=place.needle, text=text, document=place.index)
                # An alias says the same text at a second path, and the proof asks for every path that changes.
                plans[place.document.file][place.index, place.hit.steps] = (place.document, change)
    files = {file: _rewritten(plan, shelf.places(layout, file)) for file, plan in sorted(plans.items())}
    guard(layout, files)
    before = {file: shelf.read(file) or b"" for file in files}
    return Edit(files=files, sites=tuple(moved.values()), diff=diff.unified(before, files),
                findings=tuple(dict.fromkeys(findings)))


def _rewritten(plan: dict[tuple[object, ...], tuple[Document, splice.Change]], recipes: Sequence[aliases.Place]) -> bytes:
    document = next(iter(plan.values()))[0]
    return splice.rewrite(document, [change for _, change in plan.values()], recipes).data


def _text(layout: Layout, place: Place, one: Sites, image: str, findings: list[str]) -> str | None:
    """What the site will say; None where it stays because nothing true can be written."""
    if place.named is not None:
        form, site = spelling.form(place.named.text, one.image), place.site
        return place.named.fill(form(image) if form else image, f"{site.file}:{site.line}").get(place.hit.steps)
    if place.role == "image" and place.hit.steps and place.hit.steps[-1] in _PARTS and not re.search(r"[/:@]", place.needle):
        raise Refusal(f"{place.site.file}:{place.site.line}: {place.site.path} holds a part of an image, {place.needle}",
                      "name the mapping that holds all of it in the layout's `image`")
    if place.role != "engine":
        form = spelling.form(place.needle, one.image)
        text = form(image) if form else image
        # Provenance is written in Docker's form where it is now, whichever the recipe takes.
        return spelling.docker(text) if place.role == "provenance" and "#" not in place.needle else text
    if one.image == image:
        return None
    word, site = str(place.hit.steps[-1]), place.site
    if engine.is_of(word, *names_of(layout, one.image)) and not engine.is_of(word, *names_of(layout, image)):
        findings.append(f"{site.file}:{site.line}: {site.path} still says {site.value}; {image} holds another engine")
        return None
    text = engine.moved(place.needle, one.image, image)
    if text is None:
        findings.append(f"{site.file}:{site.line}: {site.path} still says {site.value}; the tag of {image} states no version")
    return text


def _told(one: Sites, image: str, standing: Collection[object]) -> list[str]:
    """What stands apart; not what is a site of another recipe that is named too, and moves with that one."""
    told = [f"{remark.text}; it stays" if remark.kind in _STAYS else remark.text for remark in one.remarks
            if remark.where not in standing]
    if ("#" in one.image) != ("#" in image) and spelling.docker(one.image).split("/")[0] == spelling.docker(image).split("/")[0]:
        told.append(f"{one.key}: {one.image} and {image} write the registry differently; launchers look the text up as it is")
    return told


def _refuse_shared(shelf: Shelf, layout: Layout, found: Sequence[Sites]) -> None:
    """A file that moves with one recipe would move under another: both are named, or neither moves."""
    for file, others in movable.shared(shelf, layout, found).items():
        raise Refusal(f"{file} is shared with {', '.join(others)}", f"name {', '.join(others)} too, or edit neither")
