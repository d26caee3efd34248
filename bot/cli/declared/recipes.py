"""Commands on recipes and what they run: edit, matrix, bench, image, check-imports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import Context, Format, FormatOption


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


def bench(
    context: Context,
    point: Annotated[Path, typer.Argument(metavar="POINT.json", help="one point or eval of `matrix --format json`")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="where results/ and logs/ are made")] = Path("."),
    machine: Annotated[Path | None, typer.Option(
        "--machine", metavar="FILE", help="what this machine is (YAML); default: the file that BUMPBOT_MACHINE names")] = None,
    launcher: Annotated[str | None, typer.Option(
        "--launcher", metavar="NAME", help="docker (the default), podman, enroot or process")] = None,
    server: Annotated[str | None, typer.Option(
        "--server", metavar="COMMAND", help="a server that is a command; {port}, {model}, {image}, {args}: the point's")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Run one point or eval on this machine.

    The image is launched by its digest, asked whether it answers whole and runs as it was told to, loaded with AIPerf or asked
    an eval by lm-eval, and removed again. What came out lies in results/ (bench.json, rows.jsonl, the tools' own files) and
    logs/; both must be new. Stopped in the middle (Ctrl-C, SIGTERM) it keeps what was measured, marked partial. The sums are
    checked in the folder above both: (cd DIR && sha256sum -c results/SHA256SUMS).

    \b
    Environment:
      BUMPBOT_MACHINE      the machine file; never one of a commit
      HF_TOKEN             reads models that need a login
      BUMPBOT_HEAD         the commit that is measured, for the rows;
                           run and attempt are GITHUB_RUN_ID's

    Example: bumpbot bench point.json --out build/c16

    Exit: 0 when all was measured and every gate holds, 1 when not, 3 when a time limit passed or a registry did not answer.
    """
    from bot.cli import bench as command

    command.bench(context.obj, point, out=out, machine=machine, launcher=launcher, command=server, format_=format.value)


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
