"""Request rows of a campaign: one line a request, bursts of a cell in repetitions (CONTRACTS section 7).

The burst's output rate is all its tokens by the time from the first dispatch to the last end, over all replicas: a sum of
the replicas' own rates would hide that one of them ended late. A stream can end with status 200 and no finish reason when
its server was killed, so the status alone does not make a request good.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, BinaryIO

from msgspec import Struct

from bot.errors import BadInput
from bot.model.result import Accounting, Row
from bot.results.parsed import Context, Parsed, has
from bot.results.read import count, number, records, text
from bot.results.together.accounts import add

FORMAT = "campaign-rows"
_CONC = re.compile(r"(?:^|[-_])c(?P<conc>[1-9]\d{0,4})[A-Z]?(?=[-_]|$)")
_PERCENTILES = (50, 90, 99)
Cell = tuple[str, str]


class Request(Struct, frozen=True, kw_only=True):
    """One request: seconds from the start of its burst, tokens made, and why it does not count ("" where it does)."""

    index: int
    start: float
    end: float
    first: float | None
    tokens: int
    prompt: float | None
    wrong: str


def sniff(head: bytes, name: str) -> bool:
    first = head.lstrip().split(b"\n", 1)[0]
    return first[:1] == b"{" and has(first, "cell", "repetition", "dispatch_offset_s")


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Rows a cell and repetition, and the requests of each concurrency. A burst with a hole in it is refused."""
    bursts: dict[Cell, dict[int, list[Request]]] = {}
    seen: set[tuple[Cell, int, int]] = set()
    for line, record in records(stream, name):
        cell = text(record.get("block", ""), name, "block", line=line), text(record.get("cell"), name, "cell", line=line)
        repetition = count(record.get("repetition"), name, "repetition", line=line)
        request = _request(record, name, line)
        if (cell, repetition, request.index) in seen:
            raise BadInput(f"request {request.index} of {_words(cell, repetition)} stands twice", "two files were joined",
                           file=name, line=line, key="request_index")
        seen.add((cell, repetition, request.index))
        bursts.setdefault(cell, {}).setdefault(repetition, []).append(request)
    if not bursts:
        raise BadInput("no requests", "the campaign wrote nothing", file=name)
    rows: list[Row] = []
    accounts: dict[int, Accounting] = {}
    for cell, repetitions in bursts.items():
        _whole(cell, repetitions, name)
        concurrency = _concurrency(cell, repetitions)
        point = context.cell(concurrency, "/".join(filter(None, cell)))
        for repetition, requests in sorted(repetitions.items()):
            accounts[concurrency] = add(accounts.get(concurrency), _accounting(concurrency, requests))
            rows += [context.row(point, metric, value, unit, stat=stat, n=n, repeat=repetition)
                     for metric, stat, unit, value, n in _measured(requests)]
    nothing = "" if rows else "nothing-measured"
    return Parsed(rows=tuple(rows), accounting=tuple(accounts.values()), nothing=nothing)


def _request(record: Mapping[str, Any], name: str, line: int) -> Request:
    def told(key: str) -> float | None:
        return None if record.get(key) is None else number(record[key], name, key, line=line)

    wrong = _wrong(record)
    start = number(record.get("dispatch_offset_s"), name, "dispatch_offset_s", line=line)
    end, first = told("end_offset_s"), told("ttft_any_s")
    if end is None and not wrong:
        raise BadInput("a good request without an end", "the row is incomplete", file=name, line=line, key="end_offset_s")
    if end is not None and (end < start or first is not None and first > end - start + 1e-6):
        raise BadInput("ends before it starts, or before its first token", "the clock is broken", file=name, line=line,
                       key="end_offset_s")
    tokens = 0 if wrong and record.get("completion_tokens") is None else record.get("completion_tokens")
    return Request(index=count(record.get("request_index"), name, "request_index", line=line), start=start,
                   end=start if end is None else end, first=first, wrong=wrong,
                   prompt=told("prompt_tokens"), tokens=count(tokens, name, "completion_tokens", line=line))


def _wrong(record: Mapping[str, Any]) -> str:
    """Why a request does not count, the first that holds."""
    asked, made = record.get("requested_completion_tokens"), record.get("completion_tokens")
    reasons = (
        ("timeout", record.get("timeout") is True),
        (f"status-{record.get('status')}", record.get("status") != 200),
        ("integrity", record.get("integrity_ok") is False),
        ("no-finish-reason", "finish_reason" in record and not record["finish_reason"]),
        ("wrong-length", asked is not None and made != asked),
    )
    return next((word[:80] for word, holds in reasons if holds), "")


def _whole(cell: Cell, repetitions: Mapping[int, Sequence[Request]], name: str) -> None:
    """Every repetition has all requests of the longest, and enough of them for the concurrency that the cell's name tells."""
    found = _CONC.search(cell[1])
    most = max(int(found["conc"]) if found else 0, *(len(requests) for requests in repetitions.values()))
    for repetition, requests in sorted(repetitions.items()):
        missing = sorted(set(range(most)) - {request.index for request in requests})
        if missing:
            raise BadInput(f"request {missing[0]} of {_words(cell, repetition)} is missing", "the run is incomplete; run it again",
                           file=name, key="request_index")


def _concurrency(cell: Cell, repetitions: Mapping[int, Sequence[Request]]) -> int:
    """What the cell's name says, else the most requests that ran at once."""
    found = _CONC.search(cell[1])
    if found:
        return int(found["conc"])
    return max(_peak(requests) for requests in repetitions.values())


def _peak(requests: Sequence[Request]) -> int:
    running = most = 0
    for _, step in sorted([(one.start, 1) for one in requests] + [(one.end, -1) for one in requests]):
        running += step
        most = max(most, running)
    return max(most, 1)


def _measured(requests: Sequence[Request]) -> list[tuple[str, str | None, str, float, int]]:
    good = [request for request in requests if not request.wrong]
    window = max(request.end for request in requests) - min(request.start for request in requests)
    if not good or not window:
        return []
    times = {
        "ttft": [one.first for one in good if one.first is not None],
        "tpot": [(one.end - one.start - one.first) / (one.tokens - 1) for one in good if one.first is not None and one.tokens > 1],
        "e2el": [one.end - one.start for one in good],
    }
    made: list[tuple[str, str | None, str, float, int]] = [
        ("output_tput", None, "tok/s", sum(request.tokens for request in good) / window, len(good)),
        ("request_tput", None, "req/s", len(good) / window, len(good)),
        ("duration", None, "s", window, len(good)),
        ("output_tokens", "mean", "tokens", mean(request.tokens for request in good), len(good)),
    ]
    prompts = [request.prompt for request in good if request.prompt is not None]
    made += [("input_tokens", "mean", "tokens", mean(prompts), len(prompts))] if prompts else []
    for metric, values in times.items():
        if values:
            made += [(metric, f"p{rank}", "s", _percentile(values, rank), len(values)) for rank in _PERCENTILES]
            made.append((metric, "mean", "s", mean(values), len(values)))
    return made


def _percentile(values: Sequence[float], rank: int) -> float:
    """Between the two nearest values, as numpy's default does."""
    ordered = sorted(values)
    place = rank / 100 * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _accounting(concurrency: int, requests: Sequence[Request]) -> Accounting:
    kinds = Counter(request.wrong for request in requests if request.wrong)
    return Accounting(concurrency=concurrency, total=len(requests), profiled=len(requests) - sum(kinds.values()),
                      warmup_invalid=0, profiling_invalid=sum(kinds.values()), kinds=dict(sorted(kinds.items())))


def _words(cell: Cell, repetition: int) -> str:
    return f"{'/'.join(filter(None, cell))} repetition {repetition}"
