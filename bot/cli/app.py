"""The command line as a whole: the global options, and every command in the order in which `--help` tells them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot import __version__
from bot.cli.declared import bumps, recipes, results
from bot.cli.groups import GROUPS
from bot.cli.options import Context, Root, takes_many
from bot.cli.place import Place

app = typer.Typer(
    cls=Root,
    help="Keeps the container images of GPU benchmark recipes current, and lets none in without proof.",
    epilog="Exit codes: 0 done; 1 refused, bad content in a file, or a verdict that is not good; 2 bad arguments; 3 the "
           "world did not answer. Data goes to standard output, everything else to standard error.",
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
)


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"bumpbot {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    context: Context,
    repo: Annotated[Path, typer.Option("--repo", metavar="PATH", help="the repository to act on")] = Path("."),
    layout: Annotated[str | None, typer.Option(
        "--layout", metavar="NAME|FILE", help="a preset (own, inferencex) or a layout file; default: .github/bumpbot.yml of "
                                              "the default branch, else own")] = None,
    offline: Annotated[bool, typer.Option("--offline", help="ask nothing of any network")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")] = False,
) -> None:
    """Global options may stand anywhere."""
    context.obj = Place(repo, layout, offline)


COMMANDS = {
    "rehearse": bumps.rehearse, "scan": bumps.scan, "plan": bumps.plan, "bump": bumps.bump, "wake": bumps.wake,
    "edit": recipes.edit, "matrix": recipes.matrix, "bench": recipes.bench, "image": recipes.image,
    "check-imports": recipes.check_imports, "triage": results.triage, "compare": results.compare, "replay": bumps.replay,
    "doctor": bumps.doctor,
}
MANY = {"matrix": ("--points",), "compare": ("--baseline", "--repeat")}
"""Options that take all words up to the next one."""

for name, command in COMMANDS.items():
    app.command(name, cls=takes_many(*MANY[name]) if name in MANY else None)(command)
for name, commands in GROUPS.items():
    app.add_typer(commands, name=name)
