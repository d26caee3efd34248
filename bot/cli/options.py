"""What the commands' declarations share. Typer and nothing else is imported here: help must answer at once."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

Context = typer.Context


class Format(StrEnum):
    """How data is printed: stdout holds it and nothing else."""

    table = "table"
    json = "json"
    markdown = "markdown"


FormatOption = Annotated[Format, typer.Option("--format", help="how data is printed")]
RecipeName = Annotated[str, typer.Argument(metavar="RECIPE", help="the recipe's name")]
ImageOption = Annotated[str | None, typer.Option(
    "--image", metavar="REF", help="the image to move to; default: the one that `scan` names")]
WriteOption = Annotated[bool, typer.Option("--write", help="change the file in place")]
Paths = list[Path]


def group(help_: str) -> typer.Typer:
    """A command that only holds others."""
    return typer.Typer(help=help_, no_args_is_help=True, rich_markup_mode=None)


# Global options, and whether each takes a value.
GLOBAL = {"--repo": True, "--layout": True, "--offline": False}


class Root(TyperGroup):
    """All commands. Global options mean the same wherever they stand: people write them last, when they think of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, hoisted(args))


def hoisted(args: list[str]) -> list[str]:
    """The words with the global options first, in their order. Behind `--` nothing is an option."""
    end = args.index("--") if "--" in args else len(args)
    first: list[str] = []
    rest: list[str] = []
    words = iter(args[:end])
    for word in words:
        name, equals, _ = word.partition("=")
        if name not in GLOBAL:
            rest.append(word)
        elif not GLOBAL[name] or equals:
            first.append(word)
        elif (value := next(words, None)) is None:
            return [*first, word]  # so that its own parser says what is missing
        else:
            first += [word, value]
    return [*first, *rest, *args[end:]]


def takes_many(*options: str) -> type[TyperCommand]:
    """A command whose `options` each take all words up to the next option: `--baseline a b` is two baselines.

    Left to itself the parser would give the second to the command's arguments, and compare it with the first.
    """

    class Command(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, list(_spread(args, options)))

    return Command


def _spread(args: list[str], options: tuple[str, ...]) -> Iterator[str]:
    option, fresh = "", False
    for place, word in enumerate(args):
        if word == "--":
            yield from args[place:]
            return
        if word.startswith("-") and word != "-":
            name, equals, _ = word.partition("=")
            option, fresh = (name, not equals) if name in options else ("", False)
        elif option and not fresh:
            yield option
        else:
            fresh = False
        yield word
