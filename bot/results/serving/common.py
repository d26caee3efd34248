"""What the serving benchmarks of vLLM and SGLang write alike: one object a run, rates per second, latencies in `*_ms`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from bot.errors import BadInput
from bot.model.result import Accounting, Cell, Row
from bot.results.lines import Line, served
from bot.results.parsed import UNKNOWN, Context, at
from bot.results.read import count, number

RATES = {
    "output_throughput": ("output_tput", "tok/s"),
    "input_throughput": ("input_tput", "tok/s"),
    "total_token_throughput": ("total_tput", "tok/s"),
    "total_throughput": ("total_tput", "tok/s"),
    "request_throughput": ("request_tput", "req/s"),
}
_TIMED = re.compile(r"(?P<stat>mean|median|p\d{1,2}(?:\.\d+)?)_(?P<metric>ttft|tpot|itl|e2el|e2e_latency)(?P<unit>_[a-z]+)?")
_LISTS = ("ttfts", "itls", "latencies", "input_lens", "output_lens")
_FAR = 30.0


class Place(Struct, frozen=True, kw_only=True):
    """Where a run stands: the file, and its line or the key of its element."""

    file: str
    line: int | None = None
    key: str = ""

    def wrong(self, inner: str, reason: str, hint: str) -> BadInput:
        """The fault of one key of this run."""
        return BadInput(reason, hint, file=self.file, line=self.line, key=at(self.key, inner))

    def number(self, run: Mapping[str, Any], key: str) -> float:
        """A finite number that is not negative; a key that is missing means that the run did not end."""
        if run.get(key) is None:
            raise self.wrong(key, "is missing", "the run is incomplete; run it again")
        return number(run[key], self.file, at(self.key, key), line=self.line)

    def count(self, run: Mapping[str, Any], key: str, least: int = 0) -> int | None:
        """A whole number; None where the key is absent."""
        return None if run.get(key) is None else count(run[key], self.file, at(self.key, key), line=self.line, least=least)


def rows(run: Mapping[str, Any], point: Cell, place: Place, context: Context, *, repeat: int | None) -> tuple[Row, ...]:
    """Rates, and latencies in seconds. A run of which nothing completed measured nothing: it has no rows where its requests
    are known to have failed, so that they count as failed, and is refused where nobody says what became of them."""
    completed, duration = place.count(run, "completed"), place.number(run, "duration")
    if completed is None:
        raise place.wrong("completed", "is missing", "the run is incomplete; run it again")
    if completed == 0 and (sent := accounting(run, None, place)) and sent.profiling_invalid:
        return ()
    if not completed or not duration:
        raise place.wrong("duration" if completed else "completed", "no request completed", "nothing was measured; run it again")
    _lists(run, place)
    made = [context.row(point, metric, place.number(run, key), unit, n=completed, repeat=repeat)
            for key, (metric, unit) in RATES.items() if run.get(key) is not None]
    if not any(row.metric == "request_tput" for row in made):
        raise place.wrong("request_throughput", "is missing", "the run is incomplete; run it again")
    _rate(run, "request_throughput", completed / duration, place)
    made.append(context.row(point, "duration", duration, "s", n=completed, repeat=repeat))
    for key, metric in (("total_input_tokens", "input_tokens"), ("total_output_tokens", "output_tokens")):
        tokens = place.count(run, key)
        if tokens:
            made.append(context.row(point, metric, tokens / completed, "tokens", stat="mean", n=completed, repeat=repeat))
            _rate(run, key.removeprefix("total_").replace("tokens", "throughput"), tokens / duration, place)
    for key, metric, stat in _timed(run, place):
        made.append(context.row(point, metric, place.number(run, key) / 1000.0, "s", stat=stat, n=completed, repeat=repeat))
    return tuple(made)


def accounting(run: Mapping[str, Any], concurrency: int | None, place: Place) -> Accounting | None:
    """The requests sent and those that failed; None where the run tells neither how many were sent nor which failed."""
    completed, failed, sent = (place.count(run, key) for key in ("completed", "failed", "num_prompts"))
    errors = run.get("errors")
    kinds = Counter(_kind(error) for error in errors if isinstance(error, str) and error) if isinstance(errors, list) else Counter()
    lost = failed if failed is not None else sum(kinds.values()) if isinstance(errors, list) else None
    if lost is None and sent is not None:
        lost = max(sent - (completed or 0), 0)
    if completed is None or lost is None:
        return None
    return Accounting(concurrency=concurrency or UNKNOWN, total=completed + lost, profiled=completed, warmup_invalid=0,
                      profiling_invalid=lost, kinds=dict(sorted(kinds.items())))


def model(run: Mapping[str, Any]) -> Line:
    """The line of a run, of which these tools tell the model alone: `model_id`, or what the server or its launcher was told."""
    server = run.get("server_info")
    told = (run.get("model_id"), run.get("model"), server.get("model_path") if isinstance(server, dict) else None)
    return Line(served=next((served(name) for name in told if isinstance(name, str) and name), None))


def rate(run: Mapping[str, Any]) -> str | None:
    """The load where it was asked for by rate: `rate=4`. Infinite, which is "all at once", is none."""
    told = run.get("request_rate")
    if isinstance(told, bool) or not isinstance(told, (int, float)):
        return None if told is None or str(told).lower() in ("inf", "infinity") else f"rate={told}"
    return f"rate={told:g}"


def _timed(run: Mapping[str, Any], place: Place) -> Iterator[tuple[str, str, str]]:
    for key in run:
        found = _TIMED.fullmatch(key)
        if found is None or run[key] is None:
            continue
        if found["unit"] != "_ms":
            raise place.wrong(key, "is not in milliseconds", "both tools write `*_ms`; another one wrote this")
        metric = "e2el" if found["metric"] == "e2e_latency" else found["metric"]
        yield key, metric, "p50" if found["stat"] == "median" else found["stat"]


def _rate(run: Mapping[str, Any], key: str, own: float, place: Place) -> None:
    """A rate that is thirty times another than its count by its duration has one of them in another unit."""
    told = run.get(key)
    if told and own and not 1 / _FAR < number(told, place.file, at(place.key, key), line=place.line) / own < _FAR:
        raise place.wrong(key, f"{told:g} a second, but count by duration is {own:g}", "correct the unit of one of them")


def _lists(run: Mapping[str, Any], place: Place) -> None:
    for key in _LISTS:
        told = run.get(key)
        for value in told if isinstance(told, list) else ():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    number(one, place.file, at(place.key, key), line=place.line)


def _kind(error: str) -> str:
    """The exception's name from the last line of a traceback."""
    last = error.strip().splitlines()[-1].strip() if error.strip() else "error"
    return last.split(":", 1)[0].rsplit(".", 1)[-1][:80] or "error"
