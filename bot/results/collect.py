"""The files of one run's attempt into rows, accounting and samples.

Exactly one parser claims a file. What none claims is skipped and named; what a parser claims and cannot read whole is a
BadInput, because leaving it out would make a broken point look like one that was never asked for.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO, Literal, TypeVar, cast

from msgspec import Struct, structs

from bot.errors import BadInput
from bot.model.result import Accounting, Reported, Row, Samples
from bot.results import agentic, aiperf_records, aiperf_summary, evalagg, fixedseq, lmeval, lmsamples, places, rowfile
from bot.results.parsed import UNKNOWN, Context, Parsed, Parser, Spread
from bot.results.standin import stand_in

HEAD = 65_536
_ROUNDED = 5.1e-5
PARSERS: tuple[Parser, ...] = tuple(
    cast(Parser, module) for module in (agentic, fixedseq, evalagg, lmeval, lmsamples, aiperf_records, aiperf_summary, rowfile)
)
T = TypeVar("T", Accounting, Samples, Reported)


class Skipped(Struct, frozen=True, kw_only=True):
    name: str
    why: Literal["not-a-result", "no-concurrency"]


class Collected(Struct, frozen=True, kw_only=True):
    """All that the files say, in an order that does not depend on theirs."""

    rows: tuple[Row, ...] = ()
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()
    reported: tuple[Reported, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def claim(head: bytes, name: str) -> Parser | None:
    """The parser that reads this file; two that would are a fault of theirs, told as one."""
    found = [parser for parser in PARSERS if parser.sniff(head, name)]
    if len(found) > 1:
        raise BadInput(f"read as {' and as '.join(parser.FORMAT for parser in found)}", "give one format a file", file=name)
    return found[0] if found else None


def collect(
    files: Iterable[tuple[str, BinaryIO]],
    *,
    recipe: str,
    run: int | None = None,
    attempt: int | None = None,
    head: str | None = None,
    spread: Spread | None = None,
) -> Collected:
    """Reads `<artifact>/<path in it>` and its stream, pair by pair; each stream is read once, to its end.

    The same value told by two files (a row file and the list it was gathered into) counts once. Two different values
    for one point, or a file that does not hold, raise BadInput and nothing is returned.
    """
    context = Context(recipe=recipe, run=run, attempt=attempt, head=head, spread=spread)
    parsed: list[tuple[str, Parsed]] = []
    skipped: list[Skipped] = []
    beside: dict[str, int] = {}
    images: dict[str, str] = {}
    for name, stream in files:
        folder = name.rpartition("/")[0]
        start, whole = _peek(stream)
        if places.is_meta(name):
            meta = places.of_meta(whole, name)
            told = meta.concurrency
            images |= {folder: meta.image} if meta.image else {}
        elif parser := claim(start, name):
            made = parser.parse(whole, name, context)
            parsed.append((name, made))
            told = made.concurrency
        else:
            skipped.append(Skipped(name=name, why="not-a-result"))
            continue
        if told is not None:
            beside[folder] = told
    return _join([(name, _proven(made, images.get(name.rpartition("/")[0]))) for name, made in parsed], beside, skipped)


def _proven(made: Parsed, image: str | None) -> Parsed:
    """The rows with the image that the environment file beside them names, where they name none."""
    if image is None:
        return made
    return structs.replace(made, rows=tuple(structs.replace(row, image=row.image or image) for row in made.rows))


def _join(parsed: Sequence[tuple[str, Parsed]], beside: Mapping[str, int], skipped: list[Skipped]) -> Collected:
    rows: dict[Any, tuple[Row, str]] = {}
    accounting: dict[int, Accounting] = {}
    samples: dict[tuple[int, str], tuple[Samples, str]] = {}
    requests: dict[str, list[Row]] = {}
    aggregated = {row.point.concurrency for _, made in parsed if not made.raw for row in made.rows if row.metric != "eval"}
    for name, made in sorted(parsed, key=lambda pair: pair[0]):
        conc = places.resolve(name, beside)
        if conc is None and _unplaced(made):
            skipped.append(Skipped(name=name, why="no-concurrency"))
            continue
        for row in () if made.raw and conc in aggregated else made.rows:
            _add_row(rows, _placed_row(row, conc), name)
        requests[name] = [_placed_row(row, conc) for row in made.requests]
        for counted in made.accounting:
            counted = _placed(counted, conc)
            known = accounting.get(counted.concurrency)
            if known is None or known.conversations is None:
                accounting[counted.concurrency] = counted
        for answers in made.samples:
            answers = _placed(answers, conc)
            known_answers = samples.setdefault((answers.concurrency, answers.task), (answers, name))
            if known_answers[0] != answers:
                raise BadInput(
                    f"{answers.task} at concurrency {answers.concurrency} was answered twice, differently",
                    f"the other is {known_answers[1]}; give one attempt",
                    file=name,
                )
    summaries = {name: made.rows for name, made in parsed if made.raw}
    for row, name in stand_in(requests, summaries, [row for row, _ in rows.values()]):
        _add_row(rows, row, name)
    return Collected(
        rows=tuple(sorted((row for row, _ in rows.values()), key=row_order)),
        accounting=tuple(accounting[conc] for conc in sorted(accounting)),
        samples=tuple(samples[key][0] for key in sorted(samples)),
        reported=tuple(_placed(told, places.resolve(name, beside)) for name, made in parsed for told in made.reported),
        skipped=tuple(sorted(skipped, key=lambda entry: entry.name)),
    )


def row_order(row: Row) -> tuple[Any, ...]:
    """An order of rows that depends on nothing but them."""
    point = row.point
    return (
        point.recipe,
        point.workload or "",
        point.topology or "",
        point.concurrency,
        row.metric,
        row.task or "",
        row.stat or "",
        point.fingerprint or "",
        row.run or 0,
        row.attempt or 0,
        row.value,
    )


def _add_row(rows: dict[Any, tuple[Row, str]], row: Row, name: str) -> None:
    point = row.point
    key = (
        point.recipe,
        point.workload,
        point.topology,
        point.concurrency,
        row.metric,
        row.task,
        row.stat,
        row.run,
        row.attempt,
    )
    known = rows.get(key)
    if known is None:
        rows[key] = (row, name)
    elif abs(known[0].value - row.value) > _ROUNDED * max(1.0, abs(row.value)):
        what = row.task or row.metric
        raise BadInput(
            f"{what} at concurrency {point.concurrency} is {row.value:g} here and {known[0].value:g} in {known[1]}",
            "give the files of one attempt",
            file=name,
        )
    elif len(repr(row.value)) > len(repr(known[0].value)):
        rows[key] = (row, name)


def _unplaced(made: Parsed) -> bool:
    told = [row.point.concurrency for row in made.rows] + [part.concurrency for part in (*made.accounting, *made.samples)]
    return UNKNOWN in told


def _placed_row(row: Row, conc: int | None) -> Row:
    if row.point.concurrency != UNKNOWN or conc is None:
        return row
    return structs.replace(row, point=structs.replace(row.point, concurrency=conc))


def _placed(part: T, conc: int | None) -> T:
    return structs.replace(part, concurrency=conc) if part.concurrency == UNKNOWN and conc is not None else part


def _peek(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """The head of a stream, and the stream as if nothing had been read."""
    if getattr(stream, "seekable", lambda: False)():  # a member of a streamed tar does not even say
        start = stream.tell()
        head = stream.read(HEAD)
        stream.seek(start)
        return head, stream
    head = stream.read(HEAD)
    return head, cast(BinaryIO, io.BufferedReader(_Again(head, stream)))


class _Again(io.RawIOBase):
    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(data) :] if self._head else b""
        buffer[: len(data)] = data
        return len(data)
