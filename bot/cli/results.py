"""Commands over what jobs leave behind: triage over logs, compare over results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import typer

from bot.adapters.assets import PackagedAssets
from bot.adapters.processes import Processes
from bot.cli.output import as_json, facts, note, table, working
from bot.cli.place import existing
from bot.cli.wiring import knowledge
from bot.diagnose.triage import triage as diagnose
from bot.errors import BadInput
from bot.model.result import Accounting, Row, Verdict
from bot.model.run import Triage
from bot.results import collect
from bot.verdict import report as verdicts
from bot.verdict.compare import compare as judge

FILES_HINT = "name logs, results or a folder of them"


def triage(paths: list[Path], format_: str) -> None:
    """The first server-side error of these logs; exit 0 when it answered, also with "unknown"."""
    with working("reading the logs"):
        found = diagnose(_streams(paths), knowledge(PackagedAssets()).signatures)
    told = _told(found)
    if format_ == "json":
        as_json(told)
        return
    names = ("class", "signature", "first_error", "file", "line", "node", "confidence", "repair")
    cause = [("cause", found.cause.en)] if found.cause else []
    others = [("also", other) for other in found.others]
    warnings = [("warning", f"{name} x {count}") for name, count in found.warnings.items()]
    facts(format_, [*((name, told[name]) for name in names), *cause, *others, *warnings])


def compare(new: list[Path], baseline: list[Path], repeat: list[Path], format_: str) -> None:
    """Judges rows or artifacts against a baseline; exit 1 for regressed or inconclusive."""
    with working("reading the results"):
        (rows, counts), (old, old_counts), (again, _) = _read(new), _read(baseline), _read(repeat)
        metrics = knowledge(PackagedAssets()).metrics
        verdict = judge(rows, old, repeat=again, metrics=metrics, accounting=counts, baseline_accounting=old_counts)
    if format_ == "json":
        as_json(_nameless(verdicts.report(verdict)))
    else:
        _show(verdict, format_)
    raise typer.Exit(verdicts.exit_code(verdict))


def _nameless(told: dict[str, Any]) -> dict[str, Any]:
    """Artifacts do not say which recipe they are of: null, and not a name of no letters."""
    points = [part["point"] for part in (*told["findings"], *told["rerun"]) if part["point"]]
    for point in points:
        point["recipe"] = point["recipe"] or None
    return told


def _show(verdict: Verdict, format_: str) -> None:
    line = f"{verdict.verdict}{': ' + ', '.join(verdict.reasons) if verdict.reasons else ''}"
    typer.echo(f"**{line}**\n" if format_ == "markdown" else line)
    rows = [(found.finding, found.metric, f"c{found.point.concurrency}" if found.point else "all", _number(found.baseline),
             _number(found.new), "N/A" if found.delta is None else f"{found.delta * 100:+.1f}%",
             " ".join((*(("void",) if found.void else ()), *found.reasons))) for found in verdict.findings]
    if rows:
        heads = ("finding", "metric", "point", "baseline", "new", "delta", "reasons")
        table(format_, heads, rows, right=("baseline", "new", "delta"))


def _number(value: float | None) -> str:
    return "N/A" if value is None else f"{value:.4g}"


def _told(found: Triage) -> dict[str, Any]:
    """The JSON of CONTRACTS section 2 `triage`: its keys are words, `class` among them."""
    told = {name.rstrip("_"): value for name, value in msgspec.to_builtins(found).items()}
    return {"class": told.pop("class"), **told}


def _read(paths: Sequence[Path]) -> tuple[tuple[Row, ...], tuple[Accounting, ...]]:
    """Rows and counted requests of each argument by itself, so that two runs of one point do not contradict each other
    as one attempt would. Files that hold no result are named."""
    rows: list[Row] = []
    counts: list[Accounting] = []
    for path in paths:
        found = collect(_streams([path]), recipe="", spread=Processes())
        rows += found.rows
        counts += found.accounting
        if found.skipped and path.is_file() and not _empty(path):
            raise BadInput("no result that is known here", "give rows, or the artifacts of a job", file=str(path))
        unplaced = [skip.name for skip in found.skipped if skip.why == "no-concurrency"]
        if unplaced:
            more = f" and {len(unplaced) - 1} more" if len(unplaced) > 1 else ""
            note(f"note: {unplaced[0]}{more}: the concurrency is nowhere told, left out")
        if not found.rows and not found.accounting:
            note(f"note: {path} holds no result")
    return tuple(rows), tuple(counts)


def _empty(path: Path) -> bool:
    """A list without rows is a result: that nothing was measured."""
    return path.stat().st_size < 64 and path.read_bytes().strip() in (b"[]", b'{"rows": []}')


def _streams(paths: Iterable[Path]) -> Iterator[tuple[str, BinaryIO]]:
    """Each file with its name below the argument; links inside a folder are not followed."""
    for path in paths:
        existing(path, FILES_HINT)
        below = sorted(found for found in path.rglob("*") if found.is_file() and not found.is_symlink())
        for file in below if path.is_dir() else [path]:
            try:
                stream = file.open("rb")
            except OSError as error:
                raise BadInput(f"cannot be read: {error.strerror}", FILES_HINT, file=str(file)) from None
            with stream:
                yield file.relative_to(path.parent).as_posix(), stream
