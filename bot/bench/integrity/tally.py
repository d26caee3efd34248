"""The requests of one repeat counted: how they ended, how many ran at once, how long the prompts were."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from msgspec import Struct, field

from bot.bench.integrity.answer import Judged, judged
from bot.bench.integrity.raw import Record
from bot.model.bench import Counts

WARMUP = "warmup"


class Tally(Struct):
    """What an export says. `states` counts measured requests by state, `kinds` their faults; `warmup` by state too.
    `unread` are lines that are no record. Moments in nanoseconds."""

    states: dict[str, int] = field(default_factory=dict)
    warmup: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    warmup_kinds: dict[str, int] = field(default_factory=dict)
    lengths: int = 0
    unread: int = 0
    prompts: int = 0
    prompt_tokens: int = 0
    answers: int = 0
    answer_tokens: int = 0
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))

    @property
    def measured(self) -> int:
        """Requests that were sent in the measured window and came to an end of their own, good or not."""
        return sum(self.states.get(state, 0) for state in ("good", "failed", "invalid"))

    @property
    def counts(self) -> Counts:
        """The same in the words of a report. What cannot be read is invalid: nobody can say that it was whole."""
        kinds = {**self.kinds, **({"unreadable": self.unread} if self.unread else {})}
        return Counts(
            warmup=sum(self.warmup.values()), profiled=self.states.get("good", 0), failed=self.states.get("failed", 0),
            invalid=self.states.get("invalid", 0) + self.unread, cancelled=self.states.get("cancelled", 0),
            kinds=dict(sorted(kinds.items())))

    def take(self, record: Record | None, output: int | None) -> None:
        """Counts the next request of an export."""
        if record is None:
            self.unread += 1
            return
        meta, verdict = record.metadata, judged(record, output)
        states, kinds = (self.warmup, self.warmup_kinds) if meta.benchmark_phase == WARMUP else (self.states, self.kinds)
        states[verdict.state] = states.get(verdict.state, 0) + 1
        if verdict.kind and verdict.state != "cancelled":
            kinds[verdict.kind] = kinds.get(verdict.kind, 0) + 1
        if meta.benchmark_phase != WARMUP:
            self._measure(record, verdict)

    def _measure(self, record: Record, verdict: Judged) -> None:
        self.lengths += verdict.length
        if verdict.prompt is not None:
            self.prompts += 1
            self.prompt_tokens += verdict.prompt
        if verdict.made is not None:
            self.answers += 1
            self.answer_tokens += verdict.made
        start, end = record.metadata.request_start_ns, record.metadata.request_end_ns
        if start is not None and end is not None and start <= end and not record.metadata.context_overflow_skip:
            self.starts.append(start)
            self.ends.append(end)


def tally(records: Iterable[Record | None], output: int | None) -> Tally:
    """All requests of an export, of whose answers `output` tokens are asked exactly (None: as many as the model makes)."""
    made = Tally()
    for record in records:
        made.take(record, output)
    return made


class Flight(Struct, frozen=True, kw_only=True):
    """Requests in flight: the most at one moment, and the mean while new ones were still sent (None: too few to tell)."""

    peak: int = 0
    mean: float | None = None
    seconds: float = 0.0


def flight(made: Tally) -> Flight:
    """How many requests ran at once, from their own moments."""
    if not made.starts:
        return Flight()
    starts, ends = sorted(made.starts), sorted(made.ends)
    running = peak = done = 0
    area, before, last = 0, starts[0], starts[-1]
    for start in starts:
        while done < len(ends) and ends[done] <= start:
            area += running * (ends[done] - before)
            running, before, done = running - 1, ends[done], done + 1
        area += running * (start - before)
        running, before = running + 1, start
        peak = max(peak, running)
    return Flight(peak=peak, mean=area / (last - starts[0]) if last > starts[0] else None, seconds=(ends[-1] - starts[0]) / 1e9)
