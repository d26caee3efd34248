"""The commands as a newcomer sees them: names, help, examples. What they do lies in the modules beside this one."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from bot import __version__

app = typer.Typer(
    help="Keeps the container images of GPU benchmark recipes current, and lets none in without proof.",
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
)
ledger_app = typer.Typer(help="What the bot remembers.", no_args_is_help=True, rich_markup_mode=None)
layout_app = typer.Typer(help="The layout file of a repository.", no_args_is_help=True, rich_markup_mode=None)
tags_app = typer.Typer(help="Tags of images.", no_args_is_help=True, rich_markup_mode=None)
changelog_app = typer.Typer(help="The append-only changelog.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(ledger_app, name="ledger")
app.add_typer(layout_app, name="layout")
app.add_typer(tags_app, name="tags")
app.add_typer(changelog_app, name="changelog")


class Format(str, Enum):
    """How data is printed: stdout holds it and nothing else."""

    table = "table"
    json = "json"
    markdown = "markdown"


class Place:
    """Where a command acts: the global options."""

    def __init__(self, repo: Path, layout: str | None, offline: bool) -> None:
        self.repo, self.layout, self.offline = repo, layout, offline


FormatOption = Annotated[Format, typer.Option("--format", help="table, json or markdown")]
Context = typer.Context


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"bumpbot {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    context: Context,
    repo: Annotated[Path, typer.Option("--repo", help="the repository to act on")] = Path("."),
    layout: Annotated[Optional[str], typer.Option("--layout", help="a preset's name or a layout file")] = None,  # noqa: UP045
    offline: Annotated[bool, typer.Option("--offline", help="ask nothing of any network")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")] = False,
) -> None:
    """Global options come before the command."""
    context.obj = Place(repo, layout, offline)


@app.command()
def rehearse(
    name: Annotated[Optional[str], typer.Argument(help="a shipped scenario or a folder of your own")] = None,  # noqa: UP045
    directory: Annotated[Optional[Path], typer.Argument(help="where --copy writes")] = None,  # noqa: UP045
    as_it_happened: Annotated[bool, typer.Option("--as-it-happened", help="with the policy of the real session")] = False,
    copy: Annotated[bool, typer.Option("--copy", help="write the scenario's folder, to start your own from")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="print the JSON Schema of scenario.yaml")] = False,
    keep: Annotated[Optional[Path], typer.Option("--keep", help="keep repository and ledger in this folder")] = None,  # noqa: UP045
    format: FormatOption = Format.table,
) -> None:
    """A whole bump on loopback, in seconds: no account, no GPU, no network.

    Example: bumpbot rehearse kimi-k3-gb200 --as-it-happened
    """
    from bot.cli import rehearse as command

    command.run(name, directory, past=as_it_happened, copying=copy, schema=schema, keep=keep, format_=format.value)


@app.command()
def wake(
    context: Context,
    all_: Annotated[bool, typer.Option("--all", help="look at every open bump (the default; kept for workflows)")] = False,
    event: Annotated[Optional[str], typer.Option("--event", help="name of the event; default: GITHUB_EVENT_NAME")] = None,  # noqa: UP045
    payload: Annotated[Optional[Path], typer.Option("--payload", help="its payload; default: GITHUB_EVENT_PATH")] = None,  # noqa: UP045
) -> None:
    """One wake: look, decide, claim, act, record, exit.

    Example: bumpbot wake --event schedule --payload event.json
    """
    from bot.cli import operate

    operate.wake(context.obj, event, payload)


@app.command()
def bump(
    context: Context,
    recipe: Annotated[str, typer.Argument(help="the recipe's name")],
    image: Annotated[Optional[str], typer.Option("--image", help="the image to move to")] = None,  # noqa: UP045
) -> None:
    """Claim, branch, edit, draft pull request, smoke.

    Example: bumpbot bump my-recipe --image vllm/vllm-openai:v0.25.1
    """
    from bot.cli import operate

    operate.bump(context.obj, recipe, image)


@app.command()
def plan(
    context: Context,
    recipe: Annotated[str, typer.Argument(help="the recipe's name")],
    image: Annotated[Optional[str], typer.Option("--image", help="the image to move to")] = None,  # noqa: UP045
    format: FormatOption = Format.markdown,
) -> None:
    """The edit, its scope, the upstream comparison and the proposal's text; touches nothing.

    Example: bumpbot plan my-recipe --image vllm/vllm-openai:v0.25.1
    """
    from bot.cli import operate

    operate.plan(context.obj, recipe, image, format.value)


@app.command()
def replay(context: Context, bump: Annotated[str, typer.Argument(help="the bump's id")]) -> None:
    """Decides again from the stored facts; exit 0 if every action is the same.

    Example: bumpbot --repo DIR replay my-recipe-42e17a3c600c
    """
    from bot.cli import operate

    operate.replay(context.obj, bump)


@ledger_app.command("show")
def ledger_show(
    context: Context,
    bump: Annotated[Optional[str], typer.Argument(help="one bump; without it, all of them")] = None,  # noqa: UP045
    format: FormatOption = Format.table,
) -> None:
    """What is stored, readable.

    Example: bumpbot --repo DIR ledger show
    """
    from bot.cli import operate

    operate.show(context.obj, bump, format.value)


@layout_app.command("check")
def layout_check(context: Context, file: Annotated[Optional[Path], typer.Argument(help="the layout file")] = None) -> None:  # noqa: UP045
    """Whether the layout holds: exit 0, or one line with file, line and key.

    Example: bumpbot layout check .github/bumpbot.yml
    """
    from bot.cli import files

    files.layout_check(context.obj, file)


@layout_app.command("schema")
def layout_schema() -> None:
    """The JSON Schema of the layout file, for editors.

    Example: bumpbot layout schema > bumpbot.schema.json
    """
    from bot.cli import files

    files.layout_schema()


@app.command()
def edit(
    context: Context,
    recipes: Annotated[list[str], typer.Argument(help="the recipes to edit, and nothing else")],
    image: Annotated[str, typer.Option("--image", help="the image to write")],
    write: Annotated[bool, typer.Option("--write", help="change the files in place")] = False,
    format: FormatOption = Format.table,
) -> None:
    """The byte-exact edit, as a git diff or in place; grammar, sites and scope are checked, never policy.

    Example: bumpbot edit my-recipe --image vllm/vllm-openai:v0.25.1 --write
    """
    from bot.cli import files

    files.edit(context.obj, recipes, image, write=write, format_=format.value)


@changelog_app.command("check")
def changelog_check(
    context: Context,
    base: Annotated[Path, typer.Argument(help="the default branch's file")],
    head: Annotated[Path, typer.Argument(help="the file to check")],
) -> None:
    """Whether HEAD only appends to BASE, byte for byte.

    Example: bumpbot changelog check main.yaml head.yaml
    """
    from bot.cli import files

    files.changelog_check(context.obj, base, head)


@app.command()
def image(
    context: Context,
    reference: Annotated[str, typer.Argument(help="the reference, docker or enroot form")],
    format: FormatOption = Format.table,
) -> None:
    """Resolves one reference: digests, platforms, facts.

    Example: bumpbot image vllm/vllm-openai:v0.25.1
    """
    from bot.cli import images

    images.show(context.obj, reference, format.value)


@tags_app.command("compare")
def tags_compare(a: Annotated[str, typer.Argument()], b: Annotated[str, typer.Argument()]) -> None:
    """Prints older, newer, same or incomparable: A is ... than B.

    Example: bumpbot tags compare 1.3.0rc14 1.3.0rc9
    """
    from bot.cli import images

    images.compare(a, b)


@app.command()
def triage(
    paths: Annotated[list[Path], typer.Argument(help="logs, archives of logs, or folders")],
    format: FormatOption = Format.table,
) -> None:
    """The first server-side error, its class, the known repair.

    Example: bumpbot triage server_logs/
    """
    from bot.cli import results

    results.triage(paths, format.value)


@app.command()
def compare(
    new: Annotated[list[Path], typer.Argument(help="rows or artifacts of the new image")],
    baseline: Annotated[list[Path], typer.Option("--baseline", help="rows or artifacts of the old image")],
    repeat: Annotated[Optional[list[Path]], typer.Option("--repeat", help="a second run of the new image")] = None,  # noqa: UP045
    format: FormatOption = Format.table,
) -> None:
    """Findings and verdict; exit 0 for improved or neutral, 1 for regressed or inconclusive.

    Example: bumpbot compare new/ --baseline old/ --repeat again/
    """
    from bot.cli import results

    results.compare(new, baseline, repeat or [], format.value)
