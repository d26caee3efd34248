"""The files of one run's attempt into rows, accounting and samples.

Exactly one parser claims a file. What none claims is skipped and named; what a parser claims and cannot read whole is a
BadInput, because leaving it out would make a broken point look like one that was never asked for.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any, BinaryIO, cast

from msgspec import structs

from bot.errors import BadInput
from bot.results import places
from bot.results.claims import HEAD, claim
from bot.results.metrics import Metrics
from bot.results.parsed import Context, Parsed, Parser, Spread
from bot.results.together import harness, plausible
from bot.results.together.join import Collected, Skipped, join


def collect(
    files: Iterable[tuple[str, BinaryIO]],
    *,
    recipe: str,
    run: int | None = None,
    attempt: int | None = None,
    head: str | None = None,
    metrics: Metrics | None = None,
    spread: Spread | None = None,
) -> Collected:
    """Reads `<artifact>/<path in it>` and its stream, pair by pair; each stream is read once, to its end.

    The same value told by two files (a row file and the list it was gathered into) counts once. Two different values
    for one point, or a file that does not hold, raise BadInput and nothing is returned. With `metrics` the rows come in
    canonical names and units, and a unit that does not belong to its metric is refused with the file that has it; with
    `spread` a large file is read by several processes.
    """
    context = Context(recipe=recipe, run=run, attempt=attempt, head=head, spread=spread)
    read: list[tuple[str, Parsed]] = []
    told = places.Beside()
    images: dict[str, str] = {}
    skipped: list[Skipped] = []
    faults: list[tuple[str, BadInput]] = []
    for name, stream in files:
        start, whole = _peek(stream)
        if places.is_meta(name):
            meta = places.of_meta(whole, name)
            told.tell(name, meta.concurrency)
            images |= {places.folder(name): meta.image} if meta.image else {}
        elif parser := claim(start, name):
            made = _made(parser, whole, name, context, metrics)
            if isinstance(made, BadInput):
                faults.append((name, made))
                continue
            told.tell(name, made.concurrency, client=made.client)
            read.append((name, made))
        else:
            skipped.append(Skipped(name=name, why="not-a-result"))
    settled, others = harness.settled(read, skipped, faults)
    return join([(name, _proven(made, images.get(places.folder(name)))) for name, made in settled], told, others, recipe)


def _made(parser: Parser, stream: BinaryIO, name: str, context: Context, metrics: Metrics | None) -> Parsed | BadInput:
    """What a file says, or why it does not hold: whether that matters is known once all files are."""
    try:
        made = _canonical(parser.parse(stream, name, context), name, metrics)
        plausible.check(made.rows, name)
    except BadInput as error:
        if error.file != name:  # of an archive around it: nothing more can be read
            raise
        return error
    return made


def _canonical(made: Parsed, name: str, metrics: Metrics | None) -> Parsed:
    if metrics is None:
        return made
    try:
        return structs.replace(made, rows=tuple(metrics.canonical(row) for row in made.rows))
    except BadInput as error:
        raise BadInput(error.reason.removeprefix(f"{error.key}:").strip(), error.hint, file=name, key=error.key) from None


def _proven(made: Parsed, image: str | None) -> Parsed:
    """The rows with the image that the environment file beside them names, where they name none."""
    if image is None:
        return made
    return structs.replace(made, rows=tuple(structs.replace(row, image=row.image or image) for row in made.rows))


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
