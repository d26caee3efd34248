"""Commands over the append-only changelog of a repository: append, check, sync."""

from __future__ import annotations

from pathlib import Path

import typer
from msgspec.structs import replace

from bot.adapters.assets import PackagedAssets
from bot.cli.layouts import layout_of, tree_of
from bot.cli.output import note
from bot.cli.place import Place, content, parsed
from bot.cli.writing import write_all
from bot.errors import BadArguments, Refusal
from bot.layout import Changelog, Layout
from bot.recipe import changelog
from bot.recipe.changelog import Entry
from bot.recipe.changelog.carry import carry
from bot.recipe.changelog.entries import entries, identity
from bot.recipe.changelog.sides import Side
from bot.recipe.changelog.suited import suits
from bot.recipe.files import diff
from bot.recipe.shelf import Shelf
from bot.render.check import fault

FILE_HINT = "name a changelog's file"


def append(place: Place, entry: Entry, *, write: bool) -> None:
    """One entry more at the file's end, as a git diff or in place; refused when the file breaks its rules already."""
    layout, tree = layout_of(place, PackagedAssets()), tree_of(place)
    style = _style(layout)
    _words(entry, layout, style)
    there = tree.read(style.file)
    before = _present(place, there, style.file)
    for line in (*suits(Shelf(tree), layout, entry), *_standing(entry, before, style)):
        note(f"note: {line}")
    after = changelog.append(before, entry, style)
    if write:
        write_all(place.repo, {style.file: after})
        note(f"written: {style.file}")
    else:
        typer.echo(diff.unified({} if there is None else {style.file: there}, {style.file: after}), nl=False)


def check(place: Place, base: Path, head: Path, link: str | None) -> None:
    """Whether the second file is the first with entries appended; every fault a line, exit 1."""
    style = replace(style_of(place), file=str(head))
    if link is not None and (problem := changelog.unfit(link, style)):
        raise BadArguments(problem, "give the pull request's, or leave --link out")
    faults = changelog.check(content(base, FILE_HINT), content(head, FILE_HINT), style, link=link)
    for found in faults:
        note(found if found.startswith(style.file) else f"{head}: {found}")
    if faults:
        raise typer.Exit(1)


def sync(place: Place, main: Path, head: Path, base: Path | None, *, write: bool) -> None:
    """Main's bytes with the entries that only HEAD has at their end: on stdout, or in HEAD's place."""
    style = style_of(place)
    theirs, ours, common = (Side.read(content(file, FILE_HINT), str(file), style) if file else None for file in (main, head, base))
    assert ours is not None and theirs is not None
    made = carry(theirs, ours, style, common)
    for line in made.notes:
        note(f"note: {line}")
    if made.data is None:
        note(f"{head} holds no entry of its own that {main} lacks; {main} stays as it is")
    data = theirs.data if made.data is None else made.data
    if not write:
        typer.echo(data, nl=False)
    elif data != ours.data:
        write_all(head.parent, {head.name: data})
        note(f"written: {head}")


def style_of(place: Place) -> Changelog:
    """How the repository writes its changelog."""
    return _style(layout_of(place, PackagedAssets()))


def _style(layout: Layout) -> Changelog:
    if layout.changelog is None:
        raise Refusal("this layout has no changelog", "set `changelog` in the layout")
    return layout.changelog


def _words(entry: Entry, layout: Layout, style: Changelog) -> None:
    """BadArguments for words that no entry may hold. The text goes to the forge, where other people's bots read it."""
    if entry.scenarios and not style.scenarios:
        raise BadArguments("entries of this layout name no scenarios", "leave --scenario out")
    parsed(lambda _: changelog.text_of(entry, style), "")
    for line in entry.description:
        if (found := fault(line, layout.forbidden)) is not None:
            raise BadArguments(f"a description line holds {found}", "say it in other words")


def _standing(entry: Entry, before: bytes, style: Changelog) -> list[str]:
    """What is told of entries under the same link. Refusal where one has the same keys, or says the very same."""
    there = entries(before, style.file, style)
    said = {style.keys: list(entry.keys), style.description: list(entry.description), style.link: entry.link,
            **({style.scenarios: list(entry.scenarios)} if entry.scenarios else {})}
    mine = identity(said, style)
    if said in there or (mine is not None and mine in [identity(one, style) for one in there]):
        raise Refusal(f"{style.file} holds an entry of {entry.link} for {', '.join(entry.keys)} already",
                      "correct that one; nothing was written")
    others = [", ".join(one[style.keys]) for one in there if mine is not None and one.get(style.link) == entry.link]
    return [f"{style.file} holds an entry of this link for {keys} too" for keys in others]


def _present(place: Place, data: bytes | None, file: str) -> bytes:
    at = place.repo / file
    if data is None and (at.exists() or at.is_symlink()):
        raise Refusal(f"{at} is no plain file", "a link or folder is not written over")
    return data or b""
