"""How data and progress are printed: stdout holds data and nothing else, everything else goes to stderr."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDE = 1_000_000
"""Columns of output that no terminal shows: no cell is cut or wrapped there."""
_LOOPBACK = re.compile(r"\[([^\]\n]*)\]\(http://(?:127\.[\d.]+|localhost|\[::1\])(?::\d+)?[^)\s]*\)")
_SUMMARY = re.compile(r"<details>\s*<summary>(.*?)</summary>", re.DOTALL)
_TAG = re.compile(r"</?(?:details|summary)>")


def note(line: str) -> None:
    """One line for the person who watches."""
    typer.echo(plain(line), err=True)


def plain(text: str) -> str:
    """One line without control characters: what others wrote may hold escape sequences and line breaks."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def as_json(value: Any) -> None:
    """Indented JSON on stdout. A number that JSON cannot say is null; text that is no UTF-8 is escaped."""
    told = _finite(value)
    text = json.dumps(told, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(told, allow_nan=False)
    typer.echo(msgspec.json.format(text, indent=2))  # of thousands of commits json's own indent takes seconds


def table(format_: str, heads: Sequence[str], rows: Sequence[Sequence[object]], *, right: Collection[str] = (),
          title: str = "") -> None:
    """Rows for a person: fitted to a terminal, in full where the output goes elsewhere, or as Markdown. A title stands
    above them where there is room for one."""
    cells = [["" if cell is None else plain(str(cell)) for cell in row] for row in rows]
    if format_ == "markdown":
        typer.echo(_markdown(heads, cells, right))
        return
    from rich.table import Table
    from rich.text import Text

    if title:
        typer.echo(title)
    drawn = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for head in heads:  # a narrow terminal wraps the last column first: the others are words and numbers
        drawn.add_column(head, justify="right" if head in right else "left", overflow="fold", no_wrap=head != heads[-1])
    for row in cells:
        drawn.add_row(*map(Text, row))
    _draw(drawn, None if sys.stdout.isatty() else WIDE)


def entries(items: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Things that are too wide for a table of a terminal: a heading each, and below it what is told of it."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    drawn: list[RenderableType] = []
    for heading, lines in items:
        drawn.append(Text(plain(heading), style="bold"))
        drawn += [Padding(Text(plain(line)), (0, 0, 0, 2)) for line in lines]
    _draw(Group(*drawn), None)


def report(text: str) -> None:
    """Markdown that was written for the forge, drawn to the width of the terminal (80 columns where nothing tells it)."""
    from rich.markdown import Markdown

    _draw(Markdown(readable(text), hyperlinks=sys.stdout.isatty()), None)


def readable(text: str) -> str:
    """Markdown without what only a browser hides or folds, and without links into a rehearsal that is over."""
    shown = "\n".join(line for line in text.splitlines() if not line.startswith("<!--"))
    return _TAG.sub("", _SUMMARY.sub(r"\n**\1**\n", _LOOPBACK.sub(r"\1", shown))).strip()


def facts(format_: str, pairs: Sequence[tuple[str, object]]) -> None:
    """Names and values, one a line; a dash for what is not known."""
    rows = [(name, "-" if value is None or value == "" else value) for name, value in pairs]
    if format_ == "markdown":
        typer.echo(_markdown(("fact", "value"), [[plain(str(cell)) for cell in row] for row in rows], ()))
        return
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        typer.echo(f"{name:<{width}}  {plain(str(value))}")


@contextmanager
def working(what: str) -> Iterator[None]:
    """A moving sign on a terminal while something takes its time; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True, markup=False, highlight=False).status(plain(what)):
        yield


def _draw(drawn: RenderableType, width: int | None) -> None:
    """On a terminal as it is; elsewhere without colours, and without the blanks that fill lines up."""
    from rich.console import Console

    if sys.stdout.isatty():
        Console(highlight=False, markup=False, emoji=False, width=width).print(drawn)
        return
    lines = io.StringIO()
    Console(file=lines, highlight=False, markup=False, emoji=False, width=width).print(drawn)
    typer.echo("\n".join(line.rstrip() for line in lines.getvalue().rstrip().splitlines()))


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]) -> str:
    marks = ["---:" if head in right else "---" for head in heads]
    lines = [heads, marks, *([cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value
