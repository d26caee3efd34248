"""A report as a person reads it at the end: what came out, what held, what ran otherwise than asked, and where it lies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from msgspec import Struct

from bot.model.bench import Gate, Report, Setting
from bot.model.result import Row
from bot.results import Metrics
from bot.results.rowfile import PARTIAL

STATS = ("p50", "mean", "p90", "p99")
SHOWN = 20


class Part(Struct, frozen=True, kw_only=True):
    """One table: its heads, rows, and which columns are numbers."""

    heads: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    right: tuple[str, ...] = ()


def line(report: Report) -> str:
    """The end in one line: what was measured and how it ended."""
    order = report.order
    what = f"{order.recipe} c{order.concurrency}{f' eval {order.eval.task}' if order.eval else ''}"
    failed, unknown = ([gate.name for gate in report.gates if gate.passed is passed] for passed in (False, None))
    if report.state != "complete":
        return f"{what}: {report.state}"
    said = [f"gates that do not hold: {_names(dict.fromkeys(failed))}"] if failed else []
    said += [f"{len(unknown)} of {len(report.gates)} gates unknown: {_names(dict.fromkeys(unknown))}"] if unknown else []
    return f"{what}: complete, {'; '.join(said) or 'every gate holds'}"


def tables(report: Report, metrics: Metrics) -> Iterator[Part]:
    """Those of its tables that have a row."""
    for part in (_metrics(report.rows, metrics), _counts(report), _gates(report.gates), _settings(report.settings),
                 _seconds(report), _files(report)):
        if part.rows:
            yield part


def _metrics(rows: Sequence[Row], metrics: Metrics) -> Part:
    """The median over repeats, and how far they lie apart."""
    values: dict[tuple[str, str, str], list[float]] = {}
    flags: dict[tuple[str, str, str], set[str]] = {}
    for row in rows:
        if row.stat is None or row.metric == "eval" or row.stat in STATS:
            key = (f"{row.task}" if row.metric == "eval" else row.metric, row.stat or "", row.unit)
            values.setdefault(key, []).append(row.value)
            flags.setdefault(key, set()).update(row.flags)
    order = {name: at for at, name in enumerate(metrics)}
    made = []
    for key in sorted(values, key=lambda key: (order.get(key[0], -1), key[0], STATS.index(key[1]) if key[1] in STATS else -1)):
        name, stat, unit = key
        told = values[key]
        places = metrics[name].decimals if name in metrics else metrics["eval"].decimals if "eval" in metrics else 4
        spread = f"{min(told):,.{places}f} to {max(told):,.{places}f}" if len(told) > 1 else ""
        made.append((name, stat, f"{median(told):,.{places}f}", unit, spread, _names(flags[key] - {PARTIAL})))
    return Part(heads=("metric", "stat", "value", "unit", "repeats", "flags"), rows=tuple(made), right=("value",))


def _counts(report: Report) -> Part:
    counts, of = report.counts, "questions" if report.order.eval else "requests"
    told = [(name, getattr(counts, name)) for name in ("warmup", "profiled", "failed", "invalid", "cancelled")]
    rows = [*((name, often) for name, often in told if often or name == "profiled"), *sorted(counts.kinds.items())]
    return Part(heads=(of, "count"), rows=tuple(rows) if any(often for _, often in told) else (), right=("count",))


def _gates(gates: Iterable[Gate]) -> Part:
    words = {True: "holds", False: "FAILS", None: "unknown"}
    rows = tuple((gate.name, gate.phase, {True: "streamed", False: "plain", None: ""}[gate.stream], words[gate.passed], gate.said)
                 for gate in gates)
    return Part(heads=("gate", "phase", "answer", "", "what was seen"), rows=rows)


def _settings(settings: Iterable[Setting]) -> Part:
    """Those that are not as asked; what nobody tells is counted, and bench.json has them all."""
    told = list(settings)
    rows = [(one.name, one.asked, one.effective, one.state) for one in told if one.state in ("lowered", "changed")]
    unknown = sum(one.state == "unknown" for one in told)
    rows += [(f"{unknown} more", "", "", "unknown")] if unknown else []
    return Part(heads=("setting", "asked", "effective", "state"), rows=tuple(rows))


def _seconds(report: Report) -> Part:
    return Part(heads=("spent", "seconds"), right=("seconds",),
                rows=tuple((name, f"{value:.1f}") for name, value in report.seconds.items()))


def _files(report: Report) -> Part:
    shown = [(one.name, one.size, one.sha256[:12]) for one in report.files[:SHOWN]]
    more = len(report.files) - SHOWN
    rows = [*shown, *([(f"{more} more", "", "")] if more > 0 else [])]
    return Part(heads=("file", "bytes", "sha256"), rows=tuple(rows), right=("bytes",))


def _names(words: Iterable[str]) -> str:
    return ", ".join(sorted(words) if isinstance(words, set) else words)
