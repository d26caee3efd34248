"""What the tools exported, as rows of the point that was ordered: with its whole identity, and totals per GPU too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from bot.bench import kept
from bot.bench.host import Place
from bot.errors import BadInput
from bot.model.bench import Counts, Gate, Launched, Order
from bot.model.result import Cell, Row
from bot.results import Collected, Metrics, collect, rowfile

PARTIAL = rowfile.PARTIAL
PER_GPU = {"total_tput": "tput_per_gpu", "output_tput": "output_tput_per_gpu", "input_tput": "input_tput_per_gpu"}
FLAGGED = {"windows": "workload-mismatch"}
"""Gates that, where they do not hold, say that the numbers are of another load than the one that was asked for. Every other one
is named itself (`gate-failed:stream`): rows travel without their report."""
_HEAD = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Gathered(Struct, frozen=True, kw_only=True):
    """The rows, and of each export that does not hold (it was cut where the tool died) why it gave none."""

    rows: tuple[Row, ...] = ()
    broken: tuple[str, ...] = ()


def gathered(order: Order, place: Place, metrics: Metrics, env: Mapping[str, str], launched: Launched | None,
             gates: Iterable[Gate], counts: Counts) -> Gathered:
    """Rows of all exports below `results`, and one of the requests as they were counted. An export that says another concurrency
    than the order's is broken too: its numbers are of another point."""
    left = dict(kept.exports(place))
    broken: list[str] = []
    found = Collected()
    while left:
        try:
            found = _collected(order, left, metrics, env)
            break
        except BadInput as error:
            broken.append(str(error).removeprefix(_root(order)))
            name = error.file.removeprefix(_root(order))
            if name not in left:
                break
            del left[name]
    other = sorted({row.point.concurrency for row in found.rows} - {order.concurrency})
    broken += [f"an export says concurrency {conc}, and {order.concurrency} was asked for" for conc in other]
    mine = [row for row in (*found.rows, *found.scores) if row.point.concurrency in (order.concurrency, 0)]
    flags = tuple(FLAGGED.get(gate.name, f"{rowfile.GATE}:{gate.name}") for gate in gates if gate.passed is False)
    told = (*mine, *_per_gpu(mine, order.gpus), *_requests(order, mine, counts))
    return Gathered(rows=tuple(_named(row, order, launched, flags) for row in told), broken=tuple(broken))


def partial(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows of a run that did not end: kept, and evidence of nothing."""
    return tuple(replace(row, flags=tuple(dict.fromkeys((*row.flags, PARTIAL)))) for row in rows)


def enough(order: Order, rows: Sequence[Row]) -> bool:
    """Whether what was ordered was measured at all: a speed, or a score of the task that was asked."""
    if order.eval is not None:
        return any(row.metric == "eval" and row.task == order.eval.task for row in rows)
    return any(row.metric in PER_GPU or row.metric == "request_tput" for row in rows)


def image_of(order: Order, launched: Launched | None) -> str:
    """The image as the recipe names it, with the digest that the launcher found where the recipe pins none."""
    digest = launched.digest if launched else None
    return order.image if "@" in order.image or not digest else f"{order.image}@{digest}"


def _collected(order: Order, files: Mapping[str, Path], metrics: Metrics, env: Mapping[str, str]) -> Collected:
    def streams() -> Iterator[tuple[str, BinaryIO]]:
        for name, path in files.items():
            with path.open("rb") as stream:
                yield f"{_root(order)}{name}", stream

    return collect(streams(), recipe=order.recipe, run=_number(env, "GITHUB_RUN_ID"),
                   attempt=_number(env, "GITHUB_RUN_ATTEMPT"), head=_head(env), metrics=metrics)


def _root(order: Order) -> str:
    """A folder whose name says the load, for exports that do not say it themselves."""
    return f"conc{order.concurrency}/"


def _named(row: Row, order: Order, launched: Launched | None, flags: tuple[str, ...]) -> Row:
    point = Cell(recipe=order.recipe, concurrency=order.concurrency, workload=order.workload or None,
                 topology=order.topology or None, fingerprint=order.fingerprint or None)
    return replace(row, point=point, image=image_of(order, launched), flags=tuple(dict.fromkeys((*row.flags, *flags))))


def _per_gpu(rows: Iterable[Row], gpus: int) -> Iterator[Row]:
    for row in rows:
        if row.metric in PER_GPU:
            yield replace(row, metric=PER_GPU[row.metric], value=row.value / gpus, unit="tok/s/GPU")


def _requests(order: Order, rows: Sequence[Row], counts: Counts) -> Iterator[Row]:
    """How many of the measured requests failed, beside rows of a load: without them 5 unfinished answers of 20 were a speed."""
    bad, of = counts.failed + counts.invalid, counts.profiled + counts.failed + counts.invalid
    if order.eval is None and rows and of:
        made = rowfile.counted(rows[0].point, bad, of)
        yield replace(made, run=rows[0].run, attempt=rows[0].attempt, head=rows[0].head)


def _number(env: Mapping[str, str], name: str) -> int | None:
    told = env.get(name, "")
    return int(told) if told.isascii() and told.isdigit() and len(told) < 19 else None


def _head(env: Mapping[str, str]) -> str | None:
    """The commit whose recipe is measured. GITHUB_SHA is none: a workflow of main runs for another commit."""
    told = env.get("BUMPBOT_HEAD", "")
    return told if _HEAD.fullmatch(told) else None
