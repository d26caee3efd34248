"""The report of a run of `bumpbot bench` (`bench.json`): its rows, the requests as it counted them, and what ran.

It stands for every export below its own folder, of which its rows were made (`together/harness.py`). One that is not complete
gives no row and no count: a part of a measurement is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Literal, Protocol

from msgspec import Struct

from bot import strict
from bot.errors import BadInput
from bot.model.bench import Counts
from bot.model.result import Accounting, Reported, Row
from bot.results import rowfile
from bot.results.parsed import Context, Parsed, elements, has
from bot.results.read import count, document, mapping

FORMAT = "bench-report"
NAME = "bench.json"
_COUNTED = ("warmup", "profiled", "failed", "invalid", "cancelled")


class _Ordered(Struct, frozen=True, kw_only=True):
    recipe: str
    kind: Literal["throughput", "eval"]
    concurrency: int
    engine: str


class _Launched(Struct, frozen=True, kw_only=True):
    launcher: str
    image: str
    digest: str | None = None


class _Said(Struct, frozen=True, kw_only=True):
    version: str | None = None
    commit: str | None = None


class _Told(Struct, frozen=True, kw_only=True):
    """Of the report what counts as evidence; a newer one may say more."""

    bumpbot: str
    state: Literal["running", "complete", "partial", "refused"]
    order: _Ordered
    launched: _Launched | None = None
    said: _Said | None = None
    counts: Counts = Counts()


class Ordered(Protocol):
    @property
    def engine(self) -> str: ...
    @property
    def concurrency(self) -> int: ...


def sniff(head: bytes, name: str) -> bool:
    return head.lstrip()[:1] == b"{" and has(head, "bumpbot", "state", "order")


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    whole = mapping(document(stream, name), name, "")
    told = strict.convert(_Told, {field: whole[field] for field in _Told.__struct_fields__ if field in whole}, file=name)
    conc = count(told.order.concurrency, name, "order.concurrency", least=1)
    heard = reported(told.order, told.launched, told.said, file=name)
    for field in _COUNTED:
        count(getattr(told.counts, field), name, f"counts.{field}")
    for kind, often in told.counts.kinds.items():
        count(often, name, f"counts.kinds.{kind[:40]}")
    rows = tuple(_rows(whole.get("rows"), name, context, told.order))
    if told.state != "complete":
        return Parsed(reported=heard, concurrency=conc, report=told.state, nothing="partial-run")
    return Parsed(rows=rows, accounting=tuple(_accounting(told, conc)), reported=heard, concurrency=conc, report=told.state)


def reported(order: Ordered, launched: Any, said: Any, *, file: str = NAME) -> tuple[Reported, ...]:
    """What server and launcher said of the image that ran. A server that is a command has no image, whatever was ordered."""
    words: list[tuple[str, str | None, str]] = []
    if said is not None:
        words += [("version", said.version, order.engine), ("commit", said.commit, order.engine)]
    if launched is not None and launched.launcher != "process":
        words += [("digest", launched.digest, ""), ("image", launched.image, "")]
    return tuple(Reported(kind=kind, value=value, file=file, concurrency=order.concurrency, engine=engine)  # type: ignore[arg-type]
                 for kind, value, engine in words if value)


def _rows(told: Any, name: str, context: Context, order: _Ordered) -> Iterator[Row]:
    if told is None:
        return
    if not isinstance(told, list):
        raise BadInput("a list is expected", "see the format's description", file=name, key="rows")
    for index, item in elements(told):
        key = f"rows{index}"
        row = rowfile.checked(mapping(item, name, key), name, key, None, context)
        if row.point.concurrency != order.concurrency:
            raise BadInput(f"a row of concurrency {row.point.concurrency} in a report of {order.concurrency}",
                           "the file was changed", file=name, key=f"{key}.point.concurrency")
        for field, own, given in (("run", row.run, context.run), ("head", row.head, context.head)):
            if None not in (own, given) and own != given:
                raise BadInput(f"a row of {field} {str(own)[:40]} among the files of {str(given)[:40]}", "they are another run's",
                               file=name, key=f"{key}.{field}")
        if rowfile.PARTIAL not in row.flags and rowfile.accounting(row) is None:  # its own counts speak for the requests
            yield row


def _accounting(told: _Told, concurrency: int) -> Iterator[Accounting]:
    """Requests that were measured; of an eval they are questions, which its score counts."""
    counts = told.counts
    total = sum(getattr(counts, field) for field in _COUNTED)
    if told.order.kind == "throughput" and total:
        yield Accounting(concurrency=concurrency, total=total, profiled=counts.profiled, warmup_invalid=0,
                         profiling_invalid=counts.failed + counts.invalid, kinds=dict(sorted(counts.kinds.items())))
