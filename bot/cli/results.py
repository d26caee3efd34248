"""Commands over what jobs leave behind: triage over logs, compare over results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import msgspec
import typer

from bot.adapters.assets import PackagedAssets
from bot.cli.wiring import knowledge
from bot.diagnose.triage import triage as diagnose
from bot.errors import BadInput
from bot.model.result import Row
from bot.results import collect
from bot.verdict import report as verdicts
from bot.verdict.compare import compare as judge


def triage(paths: list[Path], format_: str) -> None:
    """The first server-side error of these logs; exit 0 when it answered, also with "unknown"."""
    signatures = knowledge(PackagedAssets()).signatures
    with ExitStack() as stack:
        found = diagnose(_streams(paths, stack), signatures)
    told = msgspec.to_builtins(found)
    told["class"] = told.pop("class_", None)
    if format_ == "json":
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    for key in ("class", "signature", "first_error", "file", "line", "node", "confidence", "repair"):
        typer.echo(f"{key:<12} {told.get(key) if told.get(key) is not None else '-'}")
    for name, count in told["warnings"].items():
        typer.echo(f"warning      {name} x {count}")


def compare(new: list[Path], baseline: list[Path], repeat: list[Path], format_: str) -> None:
    """Judges rows or artifacts against a baseline; exit 1 for regressed or inconclusive."""
    metrics = knowledge(PackagedAssets()).metrics
    verdict = judge(_rows(new), _rows(baseline), repeat=_rows(repeat), metrics=metrics)
    told = verdicts.report(verdict)
    if format_ == "json":
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        typer.echo(f"{verdict.verdict}{': ' + ', '.join(verdict.reasons) if verdict.reasons else ''}")
        for finding in verdict.findings:
            point = f"c{finding.point.concurrency}" if finding.point else "all points"
            delta = "N/A" if finding.delta is None else f"{finding.delta * 100:+.1f}%"
            typer.echo(f"  {finding.finding:<12} {finding.metric:<20} {point:<10} {delta}{'  void' if finding.void else ''}"
                       f"{'  ' + ', '.join(finding.reasons) if finding.reasons else ''}")
    raise typer.Exit(verdicts.exit_code(verdict))


def _rows(paths: list[Path]) -> tuple[Row, ...]:
    """Rows of each argument by itself, so that two runs of one point do not contradict each other as one attempt would."""
    rows: list[Row] = []
    for path in paths:
        with ExitStack() as stack:
            rows += collect(_streams([path], stack), recipe="").rows
    return tuple(rows)


def _streams(paths: Iterable[Path], stack: ExitStack) -> Iterator[tuple[str, BinaryIO]]:
    for path in paths:
        if not path.exists():
            raise BadInput("there is no such file or folder", "name logs, results or a folder of them", file=str(path))
        files = sorted(found for found in path.rglob("*") if found.is_file() and not found.is_symlink()) if path.is_dir() else [path]
        for file in files:
            name = file.relative_to(path.parent).as_posix()
            with file.open("rb") as stream:
                yield name, stream
