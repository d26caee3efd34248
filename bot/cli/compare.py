"""`compare`: results of two images in, findings and a verdict out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import typer
from msgspec import Struct, structs

from bot.adapters.assets import PackagedAssets
from bot.adapters.processes import Processes
from bot.cli.output import as_json, note, table, working
from bot.cli.results import streams
from bot.cli.wiring import knowledge
from bot.diagnose.logs import Opened
from bot.errors import BadInput
from bot.model.result import Accounting, Cell, Finding, Reported, Rerun, Row, Samples, Verdict
from bot.results import Collected, Metrics, collect
from bot.results.aiperf.requests import bare
from bot.results.lines import Line, renamed
from bot.results.parsed import UNKNOWN
from bot.results.together import named
from bot.results.together.accounts import total
from bot.verdict import report as verdicts
from bot.verdict.compare import compare as judge
from bot.verdict.ran import questioned

UNREAD = {
    "not-a-result": ("no result that is known here", "give rows, or the artifacts of a job"),
    "no-concurrency": ("the concurrency is nowhere told", "put it into the name, as in results_conc16.json"),
}
"""Why nothing comes of a file that was named itself, and what to do about it."""
FOUND = ("finding", "metric", "point", "baseline", "new", "delta", "interval", "n", "reasons")
AGAIN = ("run again", "why", "runs", "baseline runs", "GPU-hours a run")


class Read(Struct, frozen=True, kw_only=True):
    """What one side's files say."""

    rows: tuple[Row, ...] = ()
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()
    reported: tuple[Reported, ...] = ()
    lines: tuple[Line, ...] = ()
    unplaced: tuple[Accounting, ...] = ()


def compare(new: list[Path], baseline: list[Path], repeat: list[Path], format_: str) -> None:
    """Judges rows or artifacts against a baseline; exit 1 for regressed or inconclusive."""
    with working("reading the results"):
        known = knowledge(PackagedAssets())
        mine, old, again = together([read(paths, known.metrics) for paths in (new, baseline, repeat)])
        _unknown((*mine.rows, *old.rows, *again.rows), known.metrics)
        rows, second = (questioned(side.rows, old.rows, side.reported, schemes=known.schemes, engines=known.reported.images)
                        for side in (mine, again))
        verdict = judge(rows, old.rows, repeat=second, metrics=known.metrics,
                        accounting=mine.accounting, baseline_accounting=old.accounting,
                        samples=mine.samples, baseline_samples=old.samples)
    if format_ == "json":
        as_json(_nameless(verdicts.report(verdict)))
    else:
        _show(verdict, format_)
    raise typer.Exit(verdicts.exit_code(verdict))


def read(paths: Sequence[Path], metrics: Metrics) -> Read:
    """What each argument holds, by itself: two runs of one point must not contradict each other as one attempt would.
    Files that hold no result are named."""
    found = [_collected(path, metrics) for path in paths]
    return Read(rows=tuple(row for one in found for row in (*one.rows, *one.scores)),
                accounting=total(counted for one in found for counted in one.accounting),
                samples=tuple(answers for one in found for answers in (*one.samples, *one.answers)),
                reported=tuple(told for one in found for told in one.reported),
                lines=tuple(line for one in found for line in one.lines),
                unplaced=total(counted for one in found for counted in one.unplaced))


def together(sides: Sequence[Read]) -> list[Read]:
    """New, baseline and repeat under one name for each line, however much of it each tells; a side that names nothing is of the
    only line or recipe that the others name. Requests that all failed, at a load that nothing tells, stand beside the baseline's
    of that kind, or else beside all of its own: with a server down nearly all fail, and all of them must not look better."""
    lines = {line for side in sides for line in side.lines}
    told = {row.point.recipe for side in sides for row in side.rows}
    names = renamed(lines, sorted(told - {line.name for line in lines} - {""}))
    only = {names.get(name, name) for name in told} - {""}
    mine, old, again = (_renamed(side, names, next(iter(only)) if len(only) == 1 else "") for side in sides)
    mine, old, again = _at_one_load(mine, old), _at_one_load(old, mine), _at_one_load(again, old)
    if mine.unplaced:
        whole = [structs.replace(one, concurrency=UNKNOWN) for one in old.unplaced or old.accounting]
        mine = structs.replace(mine, accounting=(*mine.accounting, *mine.unplaced))
        old = structs.replace(old, accounting=(*old.accounting, *total(whole)))
    return [mine, old, again]


def _at_one_load(side: Read, other: Read) -> Read:
    """Scores that tell no load at the only one that the other side asked the same eval at."""
    loads: dict[str | None, set[int]] = {}
    for row in other.rows:
        if row.metric == "eval":
            loads.setdefault(row.task, set()).add(row.point.concurrency)

    def load(told: int, task: str | None) -> int:
        found = loads.get(task, set()) - {UNKNOWN}
        return next(iter(found)) if told == UNKNOWN and len(found) == 1 else told

    replace = structs.replace
    return replace(side, rows=tuple(
        replace(row, point=replace(row.point, concurrency=load(row.point.concurrency, row.task))) for row in side.rows),
        samples=tuple(replace(one, concurrency=load(one.concurrency, one.task)) for one in side.samples))


def _renamed(side: Read, names: dict[str, str], only: str) -> Read:
    nameless = not any(row.point.recipe for row in side.rows)
    names = {**names, "": only} if nameless else names
    return structs.replace(side, rows=named.rows(side.rows, names), accounting=total(named.counts(side.accounting, names)),
                           unplaced=total(named.counts(side.unplaced, names)))


def _collected(path: Path, metrics: Metrics) -> Collected:
    try:
        found = collect(_files(path), recipe="", metrics=metrics, spread=Processes())
    except BadInput as error:
        raise _in_full(error, path) from None
    for skip in found.skipped:
        if skip.why == "nothing-measured":
            note(f"note: {path.parent / skip.name}: nothing was measured, {skip.detail}")
        elif skip.why == "partial-run":
            note(f"note: {path.parent / skip.name}: a run that did not end, or was refused: nothing of it counts")
    wrong = next((UNREAD[skip.why] for skip in found.skipped if skip.why in UNREAD and skip.detail != "eval"), None)
    held = found.rows or found.scores or found.answers or found.accounting or found.unplaced or _empty(path) or any(
        skip.why == "partial-run" for skip in found.skipped)
    if wrong and path.is_file() and not held:
        raise BadInput(*wrong, file=str(path))
    unplaced = [skip.name for skip in found.skipped if skip.why == "no-concurrency" and skip.detail != "eval"]
    if unplaced:
        more = f" and {len(unplaced) - 1} more" if len(unplaced) > 1 else ""
        note(f"note: {path.parent / unplaced[0]}{more}: the concurrency is nowhere told, left out")
    if not held:
        raise BadInput("no result in it", "give rows, or the artifacts of a job", file=str(path))
    if _empty(path):
        note(f"note: {path} holds no result")
    return found


def _files(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    """The files of an argument: an archive that is named is opened, and in a folder each zip, which is how GitHub gives an
    artifact. Other archives in a folder are logs."""
    for name, stream in streams([path]):
        if path.is_file() or name.lower().endswith(".zip"):
            yield from Opened([(name, stream)], everything=True)
        else:
            yield name, stream


def _in_full(error: BadInput, path: Path) -> BadInput:
    """The fault with the file's whole path: `agg_bmk.json` is the name of one on either side."""
    if not error.file or error.file.startswith(str(path)):
        return error
    where = str(path.parent / error.file)
    return BadInput(bare(error), error.hint, file=where, line=error.line, key=error.key)


def _unknown(rows: Iterable[Row], metrics: Metrics) -> None:
    """Names the metrics that nobody declared: they are not judged, and a reader who spelled one wrongly must see it."""
    names = sorted({row.metric for row in rows if row.metric != "eval" and row.metric not in metrics})
    if names:
        note(f"note: not judged, since no such metric is known: {', '.join(names)}")


def _empty(path: Path) -> bool:
    """A list without rows is a result: that nothing was measured."""
    return path.is_file() and path.stat().st_size < 64 and path.read_bytes().strip() in (b"[]", b'{"rows": []}')


def _nameless(told: dict[str, Any]) -> dict[str, Any]:
    """Artifacts do not say which recipe they are of, nor some at which load: null, and neither a name of no letters nor 0."""
    points = [part["point"] for part in (*told["findings"], *told["rerun"]) if part["point"]]
    for point in points:
        point |= {"recipe": point["recipe"] or None, "concurrency": point["concurrency"] or None}
    return told


def _show(verdict: Verdict, format_: str) -> None:
    """The verdict, then every finding, then what is worth running again."""
    line = f"{verdict.verdict}{': ' + ', '.join(verdict.reasons) if verdict.reasons else ''}"
    typer.echo(f"**{line}**\n" if format_ == "markdown" else line)
    told: list[Finding | Rerun] = [*verdict.findings, *verdict.rerun]
    names = _Names(one.point for one in told if one.point)
    if verdict.findings:
        table(format_, FOUND, [_line(found, names) for found in verdict.findings], right=("baseline", "new", "delta", "n"))
    if verdict.rerun:
        typer.echo()
        rows = [(names.of(again.point), again.why, again.runs, again.history, _number(again.gpu_hours)) for again in verdict.rerun]
        table(format_, AGAIN, rows, right=AGAIN[2:])


class _Names:
    """Points by their concurrency, and by what else tells these points apart."""

    def __init__(self, points: Iterable[Cell]) -> None:
        held = list(points)
        self._parts = [part for part in ("recipe", "workload", "topology") if len({getattr(point, part) for point in held}) > 1]

    def of(self, point: Cell | None, recipe: str = "") -> str:
        """A point's name; without one the whole curve of a recipe."""
        if point is None:
            return " ".join([*([recipe] if "recipe" in self._parts else []), "all"])
        return " ".join([*(str(told) for part in self._parts if (told := getattr(point, part))), f"c{point.concurrency or '?'}"])


def _line(found: Finding, names: _Names) -> tuple[object, ...]:
    """A row of the table. Differences of shares are percentage points, gates are counted, all others percent of the old value."""
    delta, low, high = (_change(value, found.unit) for value in (found.delta, *(found.interval or (None, None))))
    notes = [word for word in ("void" if found.void else None, found.how, *found.reasons) if word]
    return (found.finding, _metric(found), names.of(found.point, found.recipe), _number(found.baseline), _number(found.new),
            delta or "N/A", f"{low} to {high}" if low else None, found.n, " ".join(notes))


def _metric(found: Finding) -> str:
    """`ttft p50`, `eval gsm8k strict`."""
    return " ".join(part for part in (found.metric, found.task, found.stat) if part)


def _change(value: float | None, unit: str) -> str | None:
    if value is None:
        return None
    if unit == "gates":
        return f"{value:+g}"
    return f"{value * 100:+.1f}{' pp' if unit == 'share' else '%'}"


def _number(value: float | None) -> str:
    return "N/A" if value is None else f"{value:.4g}"
