"""The load's own windows against what was asked: requests, warm-up, requests in flight, lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from bot.bench import integrity
from bot.bench.load import command
from bot.bench.load.repeat import Ran
from bot.model.bench import Asked, Counts, Gate, Load, Order, Scalar, Setting

FILES = "aiperf/profile_runs/*/profile_export_raw.jsonl"
_NEAR = 0.1
"""By how much a mean may lie away from what was asked: prompts are made to a length in the client's count, and the server adds its
template to each (`_TEMPLATE` tokens at most)."""
_TEMPLATE = 64
_FULL = 0.8
"""The share of the asked requests that must be in flight on average while new ones are sent."""


def settings(order: Order, load: Load, ran: Sequence[Ran]) -> tuple[Setting, ...]:
    """What was asked of the load and what the requests themselves say came of it."""
    return tuple(_settings(order, load, ran))


def _settings(order: Order, load: Load, ran: Sequence[Ran]) -> Iterator[Setting]:
    tallies, flights = [one.tally for one in ran], [integrity.flight(one.tally) for one in ran]
    aim = min(order.concurrency, load.requests)
    yield _at_least("repeats", load.repeats, sum(one.whole for one in ran))
    yield _at_least("requests", load.requests * load.repeats, sum(one.measured for one in tallies))
    yield _at_least("warmup", load.warmup * load.repeats, sum(one.warmup.get("good", 0) for one in tallies))
    peak = min((one.peak for one in flights), default=0)
    few = f"only {aim} requests are asked" if aim < order.concurrency else FILES
    yield Setting(name="concurrency", asked=order.concurrency, effective=peak or None, where=few,
                  state="unknown" if not peak else "lowered" if peak < aim else "changed" if peak != order.concurrency else "same")
    means = [one.mean for one in flights if one.mean is not None]
    if means and load.requests >= 2 * order.concurrency:  # with fewer nothing is held, they only come and go
        yield Setting(name="concurrency-mean", asked=order.concurrency, effective=round(min(means), 3), where=FILES,
                      state="lowered" if min(means) < _FULL * order.concurrency else "same")
    yield _near("input-tokens", (load.input or command.INPUT) if load.trace is None else None,
                [(one.prompts, one.prompt_tokens) for one in tallies], extra=_TEMPLATE)
    yield _near("output-tokens", load.output, [(one.answers, one.answer_tokens) for one in tallies])
    if load.trace is None and load.input is None:
        yield Setting(name="input", asked=None, effective=command.INPUT, state="unknown",
                      where="the recipe names no input: prompts are made of so many tokens")
    seeds = [command.seed(one.number) for one in ran]
    used = [one.summary.run_info.random_seed if one.summary else None for one in ran]
    yield Setting(name="seed", asked=_list(seeds), effective=_list(used) if None not in used else None,
                  state="unknown" if None in used else "same" if used == seeds else "changed", where="profile_export_aiperf.json")
    yield Setting(name="window-seconds", asked=None, effective=round(max((one.seconds for one in flights), default=0.0), 3),
                  state="unknown", where=FILES)


def gates(order: Order, load: Load, ran: Sequence[Ran], counts: Counts) -> tuple[Gate, ...]:
    """stream, lengths (where the workload fixes them), failed-requests, windows."""
    lengths = sum(one.tally.lengths for one in ran)
    made = [_stream(counts), _share(order.gates, counts), _windows(order, load, ran)]
    if load.output or lengths:
        answered = counts.profiled + counts.invalid
        made.insert(1, Gate(name="lengths", passed=not lengths if answered else None, said=(
            f"{lengths} of {answered} answers have another length than the workload fixes" if lengths else
            f"{answered} answers" if answered else "no answer came")))
    return tuple(made)


def _stream(counts: Counts) -> Gate:
    answered = counts.profiled + counts.invalid
    kinds = {kind: count for kind, count in counts.kinds.items() if kind not in integrity.LENGTHS}
    wrong = counts.invalid - sum(counts.kinds.get(kind, 0) for kind in integrity.LENGTHS)
    told = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
    return Gate(name="stream", passed=not wrong if answered else None, said=(
        f"{wrong} of {answered} answers are not whole: {told}" if wrong else
        f"{answered} answers are whole" if answered else "no answer came"))


def _share(asked: Asked, counts: Counts) -> Gate:
    """A share that is exactly the limit holds; by fractions, since 0.29 of 100 is not 29 in binary."""
    bad = counts.failed + counts.invalid
    total = bad + counts.profiled
    most = Fraction(repr(asked.failed_requests)) * total
    said = f"{bad} of {total} requests failed, {asked.failed_requests:g} may" if total else "no request came to an end"
    return Gate(name="failed-requests", passed=bad <= most if total else False, said=said)


def _windows(order: Order, load: Load, ran: Sequence[Ran]) -> Gate:
    wrong = next(_narrow(order, load, ran), "")
    return Gate(name="windows", passed=not wrong, said=wrong or f"{load.requests} requests in each of {load.repeats} repeats")


def _narrow(order: Order, load: Load, ran: Sequence[Ran]) -> Iterator[str]:
    """What was smaller than asked. Fewer requests than are to be in flight cannot fill it: then all must have been."""
    if len(ran) < load.repeats:
        yield f"{len(ran)} of {load.repeats} repeats were begun"
    for one in ran:
        if one.tally.measured < load.requests:
            yield f"repeat {one.number} has {one.tally.measured} of {load.requests} requests"
        if not one.whole:
            yield f"repeat {one.number} was ended early"
        aim, peak = min(order.concurrency, load.requests), integrity.flight(one.tally).peak
        if peak < aim:
            yield f"repeat {one.number} had {peak} requests in flight at most, never {aim}"


def _at_least(name: str, asked: int, effective: int) -> Setting:
    return Setting(name=name, asked=asked, effective=effective, where=FILES,
                   state="lowered" if effective < asked else "changed" if effective > asked else "same")


def _near(name: str, asked: int | None, told: Sequence[tuple[int, int]], *, extra: int = 0) -> Setting:
    many = sum(count for count, _ in told)
    mean = round(sum(tokens for _, tokens in told) / many, 3) if many else None
    state = ("unknown" if mean is None or asked is None else "lowered" if mean < asked * (1 - _NEAR)
             else "changed" if mean > asked * (1 + _NEAR) + extra else "same")
    return Setting(name=name, asked=asked, effective=mean, state=state, where="usage of the answers")  # type: ignore[arg-type]


def _list(values: Sequence[int | None]) -> Scalar:
    return ",".join(str(value) for value in values)
