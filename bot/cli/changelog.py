"""Commands over the append-only changelog of a repository: append, check, sync."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from bot.adapters.assets import PackagedAssets
from bot.cli.layouts import layout_of, tree_of
from bot.cli.output import note
from bot.cli.place import Place, content, parsed
from bot.cli.writing import write_all
from bot.errors import BadInput, Refusal
from bot.layout import Changelog
from bot.recipe import changelog
from bot.recipe.carried import Side, carry
from bot.recipe.changelog import Entry
from bot.recipe.files import diff
from bot.recipe.files.document import Document, value

FILE_HINT = "name a changelog's file"


def append(place: Place, entry: Entry, *, write: bool) -> None:
    """One entry more at the file's end, as a git diff or in place; refused when the file breaks its rules already."""
    style, tree = style_of(place), tree_of(place)
    parsed(lambda _: changelog.text_of(entry, style), "")
    there = tree.read(style.file)
    before = _present(place, there, style.file)
    if entry.link in {one.get(style.link) for one in _entries(before, style.file)}:
        raise Refusal(f"{style.file} holds an entry of {entry.link} already", "correct that one; nothing was written")
    after = changelog.append(before, entry, style)
    if write:
        write_all(place.repo, {style.file: after})
        note(f"written: {style.file}")
    else:
        typer.echo(diff.unified({} if there is None else {style.file: there}, {style.file: after}), nl=False)


def check(place: Place, base: Path, head: Path, link: str | None) -> None:
    """Whether the second file is the first with entries appended; every fault a line, exit 1."""
    style = style_of(place)
    faults = changelog.check(content(base, FILE_HINT), content(head, FILE_HINT), style, link=link)
    for fault in faults:
        note(fault if fault.startswith(style.file) else f"{head}: {fault}")
    if faults:
        raise typer.Exit(1)


def sync(place: Place, main: Path, head: Path, *, write: bool) -> None:
    """Main's bytes with the entries that only HEAD has at their end: on stdout, or in HEAD's place."""
    style = style_of(place)
    ours, theirs = (Side.read(content(file, FILE_HINT), str(file), style) for file in (head, main))
    made = carry(theirs, ours, style)
    if made is None:
        note(f"{head} holds no entry that {main} lacks; {main} stays as it is")
        made = theirs.data
    if not write:
        typer.echo(made, nl=False)
    elif made != ours.data:
        write_all(head.parent, {head.name: made})
        note(f"written: {head}")


def _present(place: Place, data: bytes | None, file: str) -> bytes:
    at = place.repo / file
    if data is None and (at.exists() or at.is_symlink()):
        raise Refusal(f"{at} is no plain file", "a link or folder is not written over")
    return data or b""


def style_of(place: Place) -> Changelog:
    """How the repository writes its changelog."""
    style = layout_of(place, PackagedAssets()).changelog
    if style is None:
        raise Refusal("this layout has no changelog", "set `changelog` in the layout")
    return style


def _entries(data: bytes, file: str) -> list[dict[str, Any]]:
    """The file's entries as plain values."""
    document = Document(data, file)
    found = value(document.roots[0]) if document.roots else []
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise BadInput("is not a list of entries", "compare it with the default branch's", file=file)
    return found
