"""Commands in groups: ledger, layout, tags, changelog."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import Context, Format, FormatOption, WriteOption, group

ledger = group("What the bot remembers.")
layout = group("The layout file of a repository.")
tags = group("Tags of images.")
changelog = group("The append-only changelog.")
GROUPS = {"ledger": ledger, "layout": layout, "tags": tags, "changelog": changelog}


@ledger.command("show")
def ledger_show(
    context: Context,
    bump: Annotated[str | None, typer.Argument(metavar="BUMP", help="one bump; without it, all of them")] = None,
    format: FormatOption = Format.table,
) -> None:
    """What is stored, readable.

    Example: bumpbot --repo DIR ledger show
    """
    from bot.cli import ledger as command

    command.show(context.obj, bump, format.value)


@ledger.command("publish")
def ledger_publish(
    context: Context,
    artifacts: Annotated[Path, typer.Argument(metavar="ARTIFACTS", help="a folder of the run's artifacts, as archives")],
    plan: Annotated[str, typer.Option("--plan", metavar="FILE|sha256:HEX", help="what `matrix --jobs` printed; or its sum, where "
                                                                                "it is one of the artifacts")],
    commit: Annotated[str, typer.Option("--commit", metavar="SHA", help="whose recipes were measured, 40 hexadecimal digits")],
    date: Annotated[str | None, typer.Option("--date", metavar="DAY", help="when the run began (UTC); default: today")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="check and tell, write nothing")] = False,
    format: FormatOption = Format.table,
) -> None:
    """Checks what a run of benchmark.yml measured, and writes what holds into the ledger.

    Every artifact is held against the plan: its name, once, of the newest attempt, uploaded while its job ran; every file against
    SHA256SUMS; the report against the planned point; every gate; the image that answered. A recipe whose every point and eval holds
    is written to the ledger's results/, once; a part of one (a smoke, a sampled eval) is checked and shown. A wake that comes first
    or second is no fault.

    \b
    Environment:
      GITHUB_RUN_ID         the run; its newest attempt in GITHUB_RUN_ATTEMPT
      GITHUB_REPOSITORY     owner/name whose run it is
      GITHUB_TOKEN          writes the ledger where it lies in this repository;
                            asks when artifacts were uploaded (else nobody is)
      BUMPBOT_LEDGER        where it lies elsewhere (a URL or a folder)
      BUMPBOT_LEDGER_TOKEN  the token that is meant for it there
      GITHUB_STEP_SUMMARY   gets table and curve, in English and Chinese

    Example: bumpbot ledger publish artifacts --plan jobs.json --commit 8c1f...e2 --dry-run

    Exit: 1 when something does not hold, one line each; recipes that do are published all the same.
    """
    from bot.cli import publish as command

    command.publish(context.obj, artifacts, plan, commit, date=date, dry=dry_run, format_=format.value)


@layout.command("check")
def layout_check(
    context: Context,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="default: .github/bumpbot.yml beside the work")] = None,
) -> None:
    """Whether a layout file holds, with its preset.

    Example: bumpbot layout check .github/bumpbot.yml

    Exit: 1 when it does not: one line with file, line and key.
    """
    from bot.cli import files

    files.layout_check(context.obj, file)


@layout.command("schema")
def layout_schema(
    recipe: Annotated[bool, typer.Option("--recipe", help="of one of bumpbot's own recipe files instead")] = False,
) -> None:
    """The JSON Schema of a layout file, for editors.

    Example: bumpbot layout schema > bumpbot.schema.json
    """
    from bot.cli import files

    files.layout_schema(recipe=recipe)


@tags.command("compare")
def tags_compare(
    context: Context,
    a: Annotated[str, typer.Argument(metavar="A")],
    b: Annotated[str, typer.Argument(metavar="B")],
    format: FormatOption = Format.table,
) -> None:
    """older, newer, same or incomparable: A is ... than B.

    Why is said on standard error. Tags that name a commit are ordered by the history at --repo, a clone of the engine.

    Example: bumpbot tags compare 1.3.0rc14 1.3.0rc9

    Example: bumpbot --repo vllm tags compare nightly-5e35a6f nightly-09663ab

    Exit: 0 when it answered.
    """
    from bot.cli import images

    images.compare(context.obj, a, b, format.value)


@changelog.command("append")
def changelog_append(
    context: Context,
    key: Annotated[list[str], typer.Option("--key", metavar="KEY", help="a recipe's exact key; may be repeated")],
    description: Annotated[list[str], typer.Option("--description", metavar="TEXT", help="what changed; may be repeated")],
    link: Annotated[str, typer.Option("--link", metavar="URL", help="the pull request's address")],
    scenario: Annotated[list[str] | None, typer.Option("--scenario", metavar="NAME", help="where entries name them")] = None,
    write: WriteOption = False,
) -> None:
    """One entry at the end of the changelog, as a diff or in place.

    Keys and scenarios are compared with the recipes in --repo; a file of comments only takes its first entry behind them.

    Example: bumpbot changelog append --key my-recipe --description "vLLM 0.25.1" --link https://github.com/o/r/pull/7
    """
    from bot.cli import changelog as command
    from bot.recipe.changelog import Entry

    entry = Entry(keys=tuple(key), description=tuple(description), link=link, scenarios=tuple(scenario or ()))
    command.append(context.obj, entry, write=write)


@changelog.command("check")
def changelog_check(
    context: Context,
    base: Annotated[Path, typer.Argument(metavar="BASE", help="the default branch's file")],
    head: Annotated[Path, typer.Argument(metavar="HEAD", help="the file to check")],
    link: Annotated[str | None, typer.Option("--link", metavar="URL", help="the address that a new entry must carry")] = None,
) -> None:
    """Whether HEAD only appends to BASE, byte for byte.

    A new entry may hold a placeholder of the layout instead of its link, with --link too: for the preset inferencex this is
    https://github.com/SemiAnalysisAI/InferenceX/pull/XXX, and a bare XXX is none. A file of comments only, or an empty one, is
    one without entries and no fault. Flags are true or false, not 0, 1 or a text.

    Example: bumpbot changelog check main.yaml head.yaml

    Exit: 1 when it does not; each fault is a line.
    """
    from bot.cli import changelog as command

    command.check(context.obj, base, head, link)


@changelog.command("sync")
def changelog_sync(
    context: Context,
    main: Annotated[Path, typer.Argument(metavar="MAIN", help="the default branch's file as it is now")],
    head: Annotated[Path, typer.Argument(metavar="HEAD", help="the branch's file, with entries of its own")],
    base: Annotated[Path | None, typer.Option("--base", metavar="FILE", help="the file where the branch left MAIN")] = None,
    write: Annotated[bool, typer.Option("--write", help="write the result over HEAD")] = False,
) -> None:
    """MAIN's bytes with HEAD's own entries appended again.

    Two branches always conflict at the end of this file; its lines are never merged. An entry in the house's style stays byte for
    byte as HEAD has it, and a link that MAIN corrected is MAIN's. HEAD's own are those that are not in --base; without it, the
    last one and those of its link. An entry of the same keys and link as one of MAIN's is that one.

    Example: bumpbot changelog sync main.yaml head.yaml > perf-changelog.yaml
    """
    from bot.cli import changelog as command

    command.sync(context.obj, main, head, base, write=write)
