"""Baselines kept as files of a repository: rows in their normal form under the day they were measured, or the API's answers.

`<folder>/2026-09-01/<any>.jsonl` holds rows (CONTRACTS `row`, what `bumpbot bench` uploads and `compare` takes); a JSON file
with `benchmarks` holds answers of the published-baseline API, with their days in them. A row counts for a recipe when its
image and its fingerprint are the recipe's present ones: what was measured before the recipe changed is no baseline.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator

from bot.adapters.published import FileSource, PublishedBaselines
from bot.baseline.identity import agrees
from bot.baseline.match import same_image
from bot.errors import BadInput
from bot.model.baseline import Aside, Offer, Question
from bot.model.result import Baseline, Row
from bot.ports import Tree
from bot.results import rowfile
from bot.results.metrics import Metrics
from bot.results.parsed import Context

HEAD = 65_536
_DAY = re.compile(r"(?<![0-9])([0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))(?![0-9])")
_ENDS = (".json", ".jsonl")


class FolderBaselines:
    """Satisfies the Published port over a folder, or a single file, of one revision; `files` is asked when a baseline is."""

    def __init__(self, files: Callable[[], Tree], folder: str, metrics: Metrics) -> None:
        self._files, self._folder, self._metrics = files, folder.strip("/"), metrics

    def offer(self, question: Question) -> Offer:
        """Every run's rows of exactly this recipe with this image. Raises BadInput for a file that does not hold, and for
        rows whose path names no day."""
        sets, asides, notes = list[Baseline](), list[Aside](), list[str]()
        runs: dict[tuple[str, int | None, str], list[Row]] = {}
        files = list(self._read())
        notes += [] if files else [f"folder-empty:{self._folder}"]
        for path, data in files:
            if path.endswith(".jsonl") or rowfile.sniff(data[:HEAD], path):
                rows = _rows(data, path, question)
                strange = [row for row in rows if row.metric != "eval" and self._metrics.spelled(row.metric) is None]
                notes += [f"metrics-unknown:{', '.join(sorted({_shown(row) for row in strange}))}"] if strange else []
                rows = [row for row in rows if row not in strange]
                rows = [self._canonical(row, path) for row in rows]
                day = _day(path) if rows else ""
                for row in rows:
                    if _is(row, question):
                        runs.setdefault((day, row.run, row.point.fingerprint or ""), []).append(row)
                    else:
                        asides.append(Aside(image=row.image or "", fingerprint=row.point.fingerprint or "", identity="", date=day,
                                            topology=row.point.topology or "", concurrency=row.point.concurrency))
            elif path.endswith(".json"):
                found = PublishedBaselines(FileSource(_text(data, path), name=path), self._metrics).offer(question)
                sets, asides = [*sets, *found.sets], [*asides, *found.asides]
                notes += found.notes
        sets += [self._set(question, *key, rows) for key, rows in runs.items()]
        return Offer(sets=tuple(sets), asides=tuple(dict.fromkeys(asides)), notes=tuple(dict.fromkeys(notes)))

    def _canonical(self, row: Row, path: str) -> Row:
        """The row in its metric's own unit. One without a unit, or in another's, is refused: a guess makes a baseline of it."""
        spelled = self._metrics.spelled(row.metric) if row.metric != "eval" else None
        if spelled and not row.unit and spelled[2] == spelled[0].unit:  # else the name tells it, as in ttft_ms
            raise BadInput(f"{row.metric} at concurrency {row.point.concurrency} has no unit", f"give it in {spelled[0].unit}",
                           file=path, key="unit")
        try:
            return self._metrics.canonical(row)
        except BadInput as error:
            raise BadInput(error.reason, error.hint, file=path, key=error.key) from None

    def _set(self, question: Question, day: str, run: int | None, fingerprint: str, rows: list[Row]) -> Baseline:
        last = max(rows, key=_age)
        return Baseline(date=day, image=last.image or question.image, run=run, attempt=last.attempt, head=last.head, pull=None,
                        fingerprint=fingerprint, rows=_newest(rows), source=f"{self._folder}/")

    def _read(self) -> Iterator[tuple[str, bytes]]:
        tree = self._files()
        alone = tree.read(self._folder) if self._folder.endswith(_ENDS) else None
        if alone is not None:
            yield self._folder, alone
        for path in tree.paths(f"{self._folder}/"):
            if path.endswith(_ENDS):
                yield path, tree.read(path) or b""


def _rows(data: bytes, path: str, question: Question) -> list[Row]:
    """The recipe's rows in a file. What stands here is meant as a baseline, so one that holds no rows is refused: skipped in
    silence, it is a baseline that nobody misses."""
    found = rowfile.parse(io.BytesIO(data), path, Context(recipe=question.recipe)).rows
    if not found:
        raise BadInput("no row stands in it", "keep rows here, one a line, as `bumpbot bench` writes them", file=path)
    return [row for row in found if row.point.recipe == question.recipe]


def _shown(row: Row) -> str:
    """A metric that nobody declared, by name where that is a plain word."""
    return row.metric if re.fullmatch(r"[A-Za-z0-9_.:/+-]{1,60}", row.metric) else "?"


def _is(row: Row, question: Question) -> bool:
    return (any(row.point.fingerprint == one.fingerprint and agrees(row.point.topology, row.point.workload, one)
                for one in question.configurations)
            and row.image is not None and same_image(row.image, question.image))


def _day(path: str) -> str:
    found = _DAY.findall(path)
    if not found:
        raise BadInput("no day stands in its path", "keep it under the day it was measured: 2026-09-01/rows.jsonl", file=path)
    return found[-1]


def _newest(rows: list[Row]) -> tuple[Row, ...]:
    """One row a point and metric: measured twice on a day, it is that of the newest run and attempt."""
    kept: dict[tuple[object, ...], Row] = {}
    for row in sorted(rows, key=_age):
        kept[row.point, row.metric, row.stat, row.task] = row
    return tuple(kept.values())


def _age(row: Row) -> tuple[int, int]:
    return row.run or 0, row.attempt or 0


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", f"look at byte {error.start}", file=path) from None
