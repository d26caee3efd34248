"""The commands as a newcomer sees them: names, help, examples. What they do lies in the modules beside this one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot import __version__
from bot.cli.groups import GROUPS
from bot.cli.options import Context, Format, FormatOption, ImageOption, Paths, RecipeName, Root, takes_many
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


@app.command()
def rehearse(
    name: Annotated[str | None, typer.Argument(metavar="NAME|PATH", help="a shipped scenario, or a folder of your own")] = None,
    directory: Annotated[Path | None, typer.Argument(metavar="DIR", help="where --copy writes: a new or empty folder")] = None,
    as_it_happened: Annotated[bool, typer.Option("--as-it-happened", help="with the policy of the real session")] = False,
    copy: Annotated[bool, typer.Option("--copy", help="write the scenario's folder to DIR, to start your own from")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="print the JSON Schema of scenario.yaml")] = False,
    keep: Annotated[Path | None, typer.Option(
        "--keep", metavar="DIR", help="keep repository and ledger in this new or empty folder")] = None,
    format: FormatOption = Format.table,
) -> None:
    """A whole bump on loopback, in seconds.

    No account, no GPU, no network: a GitHub, a registry and a runner on this machine, on a virtual clock.

    Example: bumpbot rehearse kimi-k3-gb200 --as-it-happened

    Exit: 0 when it ends as the scenario expects, 1 when it does not or the scenario does not hold.
    """
    from bot.cli import rehearse as command

    command.run(name, directory, past=as_it_happened, copying=copy, schema=schema, keep=keep, format_=format.value)


@app.command()
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


@app.command()
def plan(context: Context, recipe: RecipeName, image: ImageOption = None, format: FormatOption = Format.table) -> None:
    """What a bump would change and say; touches nothing.

    Edit, scope, checks and proposal, for the image named or the one that `scan` finds. It asks registry and GitHub (GITHUB_TOKEN
    raises its limit) and reads engines from clones in the cache; BUMPBOT_UPSTREAM=github, or no cache: from GitHub's API.

    Example: bumpbot plan my-recipe --image vllm/vllm-openai:v0.25.1
    """
    from bot.cli import plan as command

    command.plan(context.obj, recipe, image, format.value)


@app.command()
def bump(context: Context, recipe: RecipeName, image: ImageOption = None) -> None:
    """Claim, branch, edit, draft pull request, smoke.

    To the image named, or to the one that policy and order choose. It acts on GITHUB_REPOSITORY with BUMPBOT_TOKEN, as
    `wake` does; see its help for the environment.

    Example: bumpbot bump my-recipe --image vllm/vllm-openai:v0.25.1
    """
    from bot.cli import operate

    operate.bump(context.obj, recipe, image)


@app.command()
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


@app.command()
def edit(
    context: Context,
    recipes: Annotated[list[str], typer.Argument(metavar="RECIPE", help="the recipes to edit, and nothing else")],
    image: Annotated[str, typer.Option("--image", metavar="REF", help="the image to write")],
    write: Annotated[bool, typer.Option("--write", help="change the files in place, all of them or none")] = False,
    format: FormatOption = Format.table,
) -> None:
    """The byte-exact edit of recipes, as a git diff or in place.

    Grammar, sites and scope are checked, never policy: what policy would say goes to standard error. Recipes that share a
    linked file are named together or refused. An image that is there already is an empty diff.

    Example: bumpbot edit my-recipe --image vllm/vllm-openai:v0.25.1 --write
    """
    from bot.cli import files

    files.edit(context.obj, recipes, image, write=write, format_=format.value)


@app.command(cls=takes_many("--points"))
def matrix(
    context: Context,
    recipes: Annotated[list[str] | None, typer.Argument(metavar="RECIPE", help="the recipes' names")] = None,
    smoke: Annotated[bool, typer.Option("--smoke", help="what the smoke runs of it, in stages")] = False,
    changed: Annotated[str | None, typer.Option(
        "--changed", metavar="BASE", help="what runs otherwise than at this revision, of all recipes or those named")] = None,
    points: Annotated[list[str] | None, typer.Option("--points", metavar="ID...", help="these points and no others")] = None,
    eval_limit: Annotated[int | None, typer.Option("--eval-limit", metavar="N", min=1, help="at most N questions an eval")] = None,
    jobs: Annotated[bool, typer.Option("--jobs", help="as JSON for benchmark.yml: a job a point")] = False,
    format: FormatOption = Format.table,
) -> None:
    """The points and evals of a sweep or smoke.

    Several recipes make one matrix. Points are named by their ids, which `--format json` shows. With --changed a recipe's new
    image, arguments, workload or gates count, and its comments and policy do not.

    Example: bumpbot matrix my-recipe --smoke --format json

    Example: bumpbot matrix --changed origin/main --jobs
    """
    from bot.cli import matrix as command

    command.matrix(context.obj, recipes or (), smoke=smoke, changed=changed, points=points, eval_limit=eval_limit, jobs=jobs,
                   format_=format.value)


@app.command()
def image(
    context: Context,
    reference: Annotated[str, typer.Argument(metavar="REF", help="the reference, in Docker or Enroot form")],
    format: FormatOption = Format.table,
) -> None:
    """One reference resolved: digest, platforms, facts.

    Docker's own login is used for the registry it is for: its config file (DOCKER_CONFIG), DOCKER_AUTH_CONFIG in its place, and
    the credential helpers that it names. A registry on loopback is asked in plain HTTP.

    Example: bumpbot image vllm/vllm-openai:v0.25.1

    Exit: 1 when the registry does not have it, 3 when it does not answer.
    """
    from bot.cli import images

    images.show(context.obj, reference, format.value)


@app.command(name="check-imports")
def check_imports(
    context: Context,
    engine: Annotated[list[str], typer.Option("--engine", metavar="NAME=PATH", help="what is imported; may be given again")],
    consumer: Annotated[str, typer.Option("--consumer", metavar="PATH", help="what imports it")],
    format: FormatOption = Format.table,
) -> None:
    """What a consumer imports and an engine lacks.

    PATH: a wheel, a folder (unpacked, or a checkout), REV[:path] of --repo, or FOLDER@REV[:path]. Nothing of them is run.
    Exit: 1 when what the consumer's start executes lacks one unguarded, or cannot be read.

    Example: bumpbot check-imports --engine sglang=sglang-0.5.19.whl --consumer ai_dynamo-1.1.0.whl
    """
    from bot.cli import check_imports as command

    command.check(context.obj, engine, consumer, format.value)


@app.command()
def triage(
    paths: Annotated[Paths, typer.Argument(metavar="PATH", help="logs, archives of logs, or folders")],
    format: FormatOption = Format.table,
) -> None:
    """The first server-side error, its class, the known repair.

    Example: bumpbot triage server_logs/

    Exit: 0 when it answered, "unknown" included.
    """
    from bot.cli import results

    results.triage(paths, format.value)


@app.command(cls=takes_many("--baseline", "--repeat"))
def compare(
    new: Annotated[Paths, typer.Argument(metavar="NEW", help="rows or artifacts of the new image")],
    baseline: Annotated[Paths, typer.Option("--baseline", metavar="BASE...", help="those of the old image")],
    repeat: Annotated[Paths | None, typer.Option("--repeat", metavar="FILE...", help="a second run of the new image")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Findings and verdict of results against a baseline.

    Example: bumpbot compare new/ --baseline old/ --repeat again/

    Exit: 0 for improved or neutral, 1 for regressed or inconclusive.
    """
    from bot.cli import compare as comparing

    comparing.compare(new, baseline, repeat or [], format.value)


@app.command()
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


@app.command()
def doctor(context: Context, format: FormatOption = Format.table) -> None:
    """What is set wrong in the repository, and how to mend it.

    Settings, token, key, runners, rules: it reads and changes nothing. It looks with BUMPBOT_TOKEN or GITHUB_TOKEN at
    GITHUB_REPOSITORY, as `wake` does; what the token may not see is told as unknown. With --offline only files count.

    Example: bumpbot doctor --format markdown

    Exit: 0 when nothing is wrong, 1 when something is, 2 without repository or token, 3 when the forge does not answer.
    """
    from bot.cli import doctor as command

    command.doctor(context.obj, format.value)


for name, commands in GROUPS.items():
    app.add_typer(commands, name=name)
