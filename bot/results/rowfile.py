"""Rows in the normal form of CONTRACTS (`row`): a JSON list, an object with `rows`, or one row a line.

Null is "not known" and stands for a key that is absent; run, head and image are the row's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import msgspec

from bot.errors import BadInput
from bot.model.result import Accounting, Cell, Row
from bot.results.parsed import Context, Parsed, elements, has
from bot.results.read import LARGEST, count, document, mapping, number, records
from bot.results.together.accounts import total

FORMAT = "rows"
PARTIAL = "partial-run"
"""A row of a run that did not end: kept with its run, and evidence of nothing."""
GATE = "gate-failed"
"""A row of a run of which a gate did not hold, the gate behind a colon: what was measured, and no evidence that all is well."""
INVALID = "invalid_requests"
"""A row that counts requests: the share of `n` measured ones that failed or were not whole. It is an accounting, no speed."""
_NAME = re.compile(r"[a-z0-9-]{1,40}")
_PERCENT = ("%", "percent", "pp", "points")


def sniff(head: bytes, name: str) -> bool:
    return head.lstrip()[:1] in (b"{", b"[") and has(head, "point", "metric", "value", "concurrency") and not (
        has(head, "doc_id") or has(head, "bumpbot", "state", "order"))


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    rows: list[Row] = []
    seen: set[tuple[Any, ...]] = set()
    for key, line, item in _items(stream, name):
        row = checked(mapping(item, name, key, line=line), name, key, line, context)
        known = (row.point, row.metric, row.stat, row.task, row.run, row.attempt, row.repeat)
        if known in seen:
            raise BadInput(
                f"{row.task or row.metric} at concurrency {row.point.concurrency} stands twice",
                "keep one, or name their runs or repeats",
                file=name,
                line=line,
                key=key,
            )
        seen.add(known)
        rows.append(row)
    whole = tuple(row for row in rows if PARTIAL not in row.flags)
    counts = total(counted for row in whole if (counted := accounting(row)) is not None)
    return Parsed(rows=tuple(row for row in whole if accounting(row) is None), accounting=counts,
                  nothing="partial-run" if rows and not whole else "")


def failed_gates(flags: Iterable[str]) -> frozenset[str]:
    """The gates that did not hold, by a row's flags; one whose name is no plain word is `other`."""
    told = (flag.partition(":")[::2] for flag in flags)
    return frozenset(name if _NAME.fullmatch(name) else "other" for word, name in told if word == GATE)


def counted(point: Cell, bad: int, of: int) -> Row:
    """Requests as a row: `bad` of `of` that were measured failed, or gave no whole answer."""
    return Row(point=point, metric=INVALID, value=bad / of, unit="share", n=of)


def accounting(row: Row) -> Accounting | None:
    """What `counted` made a row of; None for every other row."""
    if row.metric != INVALID or not row.n:
        return None
    bad = round(row.value * row.n)
    return Accounting(concurrency=row.point.concurrency, total=row.n, profiled=row.n - bad, warmup_invalid=0,
                      profiling_invalid=bad, recipe=row.point.recipe)


def _items(stream: BinaryIO, name: str) -> Iterator[tuple[str, int | None, Any]]:
    """Each row with its place. JSON lines are told from a document by the first line being a whole row."""
    if name.endswith(".jsonl"):
        for line, item in records(stream, name):
            yield "", line, item
        return
    whole = document(stream, name)
    if isinstance(whole, dict) and "rows" in whole:
        whole = whole["rows"]
    for key, item in elements(whole):
        yield key, None, item


def _digits(value: Any) -> bool:
    """A run's id as GitHub's API and casebooks write it: a number in quotes."""
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19


def checked(item: Mapping[str, Any], name: str, key: str, line: int | None, context: Context) -> Row:
    """One row as a record, each value looked at; BadInput names file, line and key."""
    told = {field: value for field, value in item.items() if value is not None}
    point = {
        field: value for field, value in mapping(told.get("point"), name, f"{key}.point", line=line).items() if value is not None
    }
    told["point"] = {"recipe": context.recipe, **point}
    told |= {field: int(told[field]) for field in ("run", "attempt") if _digits(told.get(field))}
    told["unit"] = told.get("unit") or ("share" if told.get("metric") == "eval" else "")
    try:
        row = msgspec.convert(told, Row, strict=True)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$")
        raise BadInput(reason, "correct the row", file=name, line=line, key=f"{key}{place.rstrip('`')}".lstrip(".")) from None
    number(row.value, name, f"{key}.value".lstrip("."), line=line, most=1.0 if row.metric in ("eval", INVALID) else LARGEST)
    count(row.point.concurrency, name, f"{key}.point.concurrency".lstrip("."), line=line, least=1)
    for field, value, least in (("n", row.n, int(row.metric == "eval")), ("correct", row.correct, 0), ("repeat", row.repeat, 0)):
        if value is not None:
            count(value, name, f"{key}.{field}".lstrip("."), line=line, least=least)
    if row.correct is not None and row.correct > (row.n or 0):
        raise BadInput(f"{row.correct} right of {row.n} asked", "correct the counts", file=name, line=line,
                       key=f"{key}.correct".lstrip("."))
    if row.metric == "eval" and not row.task:
        where = f"{key}.task".lstrip(".")
        raise BadInput("a score without its task", "name the eval, as in gsm8k", file=name, line=line, key=where)
    if row.metric == "eval" and row.unit in _PERCENT:
        raise BadInput(f"a score in {row.unit}", "give a share of 1, unit `share`", file=name, line=line,
                       key=f"{key}.unit".lstrip("."))
    if row.metric == "eval" and row.n and row.correct is not None and not _same(row.value, row.correct / row.n):
        raise BadInput(f"a score of {row.value:g}, but {row.correct} right of {row.n} are {row.correct / row.n:.4f}",
                       "correct the score or its counts", file=name, line=line, key=f"{key}.value".lstrip("."))
    return row


def _same(value: float, share: float) -> bool:
    """Whether a score is this share, rounded or cut as it is written, by half a percent at most: a baseline row of 0.5 with
    1271 of 1319 right hid any fall of the candidate's."""
    told = repr(value).partition(".")[2]
    places = len(told) if told.isdigit() else 4
    return abs(value - share) <= min(10.0**-places, 0.005) + 1e-9
