"""Commands on what runs leave behind: triage, compare."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import Format, FormatOption, Paths


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
