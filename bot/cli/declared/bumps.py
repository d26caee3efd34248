"""Commands that drive bumps, and look at them: rehearse, scan, plan, bump, wake, replay, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import Context, Format, FormatOption, ImageOption, RecipeName


def rehearse(
    name: Annotated[str | None, typer.Argument(metavar="NAME|PATH", help="a shipped scenario, or a folder of your own")] = None,
    directory: Annotated[Path | None, typer.Argument(metavar="DIR", help="where --copy writes: a new or empty folder")] = None,
    as_it_happened: Annotated[bool, typer.Option("--as-it-happened", help="with the policy of the real session")] = False,
    copy: Annotated[bool, typer.Option("--copy", help="write the scenario's folder to DIR, to start your own from")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="print the JSON Schema of scenario.yaml")] = False,
    keep: Annotated[Path | None, typer.Option(
        "--keep", metavar="DIR", help="keep repository and ledger in this new or empty folder")] = None,
    measure: Annotated[str | None, typer.Option(
        "--measure", metavar="MACHINE.yaml", help="measure the runs that the scenario leaves to this machine, with `bench`; "
        "`stand-in`: on the small server that the scenario describes in place of an engine")] = None,
    format: FormatOption = Format.table,
) -> None:
    """A whole bump on loopback, in seconds.

    No account, no GPU, no network: a GitHub, a registry and a runner on this machine, on a virtual clock.

    Example: bumpbot rehearse kimi-k3-gb200 --as-it-happened

    Exit: 0 when it ends as the scenario expects, 1 when it does not or the scenario does not hold.
    """
    from bot.cli import rehearse as command

    command.run(name, directory, past=as_it_happened, copying=copy, schema=schema, keep=keep, format_=format.value, measure=measure)


def scan(
    context: Context,
    recipes: Annotated[list[str] | None, typer.Argument(
        metavar="RECIPE", help="only these; each tag that loses is told too")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Each recipe's image, what may replace it, and why.

    Files are read, then each registry is asked once a repository and once a tag that would win; nothing is changed. Tags of
    commits are ordered by the engine's history on GitHub (GITHUB_TOKEN raises its limit). With --offline only the files are
    read. Answers are kept in the user's cache folder, or where BUMPBOT_CACHE says (`none`: nowhere).

    Example: bumpbot --repo DIR --layout inferencex --offline scan --format json
    """
    from bot.cli import scan as command

    command.scan(context.obj, recipes or [], format.value)


def plan(context: Context, recipe: RecipeName, image: ImageOption = None, format: FormatOption = Format.table) -> None:
    """What a bump would change and say; touches nothing.

    Edit, scope, checks and proposal, for the image named or the one that `scan` finds. It asks registry and GitHub (GITHUB_TOKEN
    raises its limit) and reads engines from clones in the cache; BUMPBOT_UPSTREAM=github, or no cache: from GitHub's API.

    Example: bumpbot plan my-recipe --image vllm/vllm-openai:v0.25.1
    """
    from bot.cli import plan as command

    command.plan(context.obj, recipe, image, format.value)


def bump(context: Context, recipe: RecipeName, image: ImageOption = None) -> None:
    """Claim, branch, edit, draft pull request, smoke.

    To the image named, or to the one that policy and order choose. It acts on GITHUB_REPOSITORY with BUMPBOT_TOKEN, as
    `wake` does; see its help for the environment.

    Example: bumpbot bump my-recipe --image vllm/vllm-openai:v0.25.1
    """
    from bot.cli import operate

    operate.bump(context.obj, recipe, image)


def wake(
    context: Context,
    all_: Annotated[bool, typer.Option("--all", help="look at every open bump (every wake does)")] = False,
    event: Annotated[str | None, typer.Option("--event", metavar="NAME", help="its name; default: GITHUB_EVENT_NAME")] = None,
    payload: Annotated[Path | None, typer.Option("--payload", metavar="FILE", help="default: GITHUB_EVENT_PATH")] = None,
) -> None:
    """One wake: look, decide, claim, act, record.

    \b
    Environment:
      GITHUB_REPOSITORY    owner/name that is acted on
      BUMPBOT_TOKEN        its token; without it GITHUB_TOKEN
      BUMPBOT_MODE         off, observe, propose or act (the default)
      BUMPBOT_LOGIN        the account of the token (bumpbot[bot])
      BUMPBOT_LEDGER       the ledger's folder or address, where the layout
                           does not say it; BUMPBOT_LEDGER_TOKEN its token
      BUMPBOT_UPSTREAM     github (as usual here) or clone, to read engines
      BUMPBOT_GIT_URL, BUMPBOT_BASE, GITHUB_API_URL, GITHUB_SERVER_URL: elsewhere

    Example: bumpbot wake --event schedule

    Exit: 1 when a bump is frozen, because its ledger does not hold.
    """
    from bot.cli import operate

    operate.wake(context.obj, event, payload)


def replay(
    context: Context,
    bump: Annotated[str, typer.Argument(metavar="BUMP", help="the bump's id; `ledger show` lists them")],
    format: FormatOption = Format.table,
) -> None:
    """Decide again over the stored facts of a bump.

    Example: bumpbot --repo DIR replay my-recipe-42e17a3c600c

    Exit: 0 when every action is the same, 1 when one differs or the ledger does not hold.
    """
    from bot.cli import ledger

    ledger.replay(context.obj, bump, format.value)


def doctor(context: Context, format: FormatOption = Format.table) -> None:
    """What is set wrong in the repository, and how to mend it.

    Settings, token, key, runners, rules: it reads and changes nothing. It looks with BUMPBOT_TOKEN or GITHUB_TOKEN at
    GITHUB_REPOSITORY, as `wake` does; what the token may not see is told as unknown. With --offline only files count.

    Example: bumpbot doctor --format markdown

    Exit: 0 when nothing is wrong, 1 when something is, 2 without repository or token, 3 when the forge does not answer.
    """
    from bot.cli import doctor as command

    command.doctor(context.obj, format.value)
