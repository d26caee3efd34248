"""An answer of InferenceX's public API (`/benchmarks`), kept in a file: a list of rows, or one under `benchmarks`.

Here a person gives the file as a result, so what does not hold is refused as in any other; asked over HTTP, where somebody
else's row may be broken, it is passed over and told (bot/adapters/published_rows).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.results.inferencex import flat
from bot.results.lines import line
from bot.results.parsed import Context, Parsed, any_of, elements, has
from bot.results.read import count, document, mapping, text
from bot.results.topology import topology, workload

FORMAT = "inferencex-api"
SIZES = ("pp", "dcp_size", "pcp_size")
"""Sizes of a deployment that the database keeps among the metrics."""
_RUN = re.compile(r"/actions/runs/(\d{1,18})(?:/attempts/(\d{1,4}))?/?$")


def sniff(head: bytes, name: str) -> bool:
    return (
        head.lstrip()[:1] in (b"[", b"{") and has(head, "hardware", "framework", "spec_method")
        and not any_of(head, "task", "point")
    )  # fmt: skip


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Every metric of every published point. A recipe's name stands in no row; the lines of an answer are told apart
    by what they say."""
    whole = document(stream, name)
    if isinstance(whole, dict):
        whole = whole.get("benchmarks")
    if not isinstance(whole, list):
        raise BadInput("no list of `benchmarks`", "keep the API's answer as it came", file=name, key="benchmarks")
    found = [(key, mapping(item, name, key)) for key, item in elements(whole)]
    rows: list[Row] = []
    seen: dict[tuple[Any, ...], str] = {}
    lines = dict.fromkeys(line(row) for _, row in found)
    for key, row in found:
        point = _point(row, name, key, context.whose(line(row)))
        run, attempt = run_of(row)
        known = seen.setdefault((point, run, attempt, str(row.get("date")), str(row.get("offload_mode"))), key)
        if known != key:
            raise BadInput(f"concurrency {point.concurrency} stands twice", f"the other is {known}; keep one", file=name, key=key)
        rows += _measured(row, point, (run, attempt), name, key, context)
    return Parsed(rows=tuple(rows), lines=tuple(lines))


def run_of(row: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Run and attempt that a row's run_url names."""
    url = row.get("run_url")
    found = _RUN.search(url) if isinstance(url, str) else None
    return (int(found[1]), int(found[2]) if found[2] else None) if found else (None, None)


def sized(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the sizes told among its metrics put where the deployment's other sizes stand."""
    told, made = row.get("metrics"), dict(row)
    for size in SIZES if isinstance(told, dict) else ():
        for side in ("prefill_", "decode_"):
            value = told.get(side + size, told.get(size))
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1:
                made.setdefault(side + size, int(value))
    return made


def _point(row: Mapping[str, Any], name: str, key: str, recipe: str) -> Cell:
    fingerprint = text(row["recipe_fingerprint"], name, f"{key}.recipe_fingerprint") if row.get("recipe_fingerprint") else None
    return Cell(recipe=recipe, concurrency=count(row.get("conc"), name, f"{key}.conc", least=1), workload=workload(row),
                topology=topology(sized(row)), fingerprint=fingerprint)


def _measured(row: Mapping[str, Any], point: Cell, ran: tuple[int | None, int | None], name: str, key: str,
              context: Context) -> Sequence[Row]:
    values = mapping(row.get("metrics"), name, f"{key}.metrics")
    image = text(row["image"], name, f"{key}.image") if row.get("image") else None
    by = Context(recipe=context.recipe, run=context.run or ran[0], attempt=context.attempt or ran[1], head=context.head)
    made = flat.rows(values, point=point, image=image, context=by, name=name, key=f"{key}.metrics")
    if not made:
        raise BadInput("no measured value", "keep the API's answer as it came", file=name, key=f"{key}.metrics")
    return made
