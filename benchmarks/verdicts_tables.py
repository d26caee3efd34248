"""What was counted, as tables: plain columns for a terminal, or Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from benchmarks.verdicts_draws import Cell, Protocol
from benchmarks.verdicts_real import Trials
from bot.verdict.statistics import wilson

OURS, FIRST = "bumpbot", "bumpbot, first run alone (a suspect, no verdict)"
Counts = Mapping[Cell, Mapping[str, Counter[str]]]


class Table(Struct, frozen=True, kw_only=True):
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def text(self, *, markdown: bool) -> str:
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = [_line(row, widths, markdown) for row in (self.header, *self.rows)]
        if markdown:
            lines.insert(1, "|".join(["", *("-" * (width + 2) for width in widths), ""]))
        return "\n".join([f"\n## {self.title}\n" if markdown else f"\n{self.title}", *lines, *_notes(self.notes, markdown)])


def _line(row: Sequence[str], widths: Sequence[int], markdown: bool) -> str:
    padded = [cell.ljust(width) if number == 0 else cell.rjust(width)
              for number, (cell, width) in enumerate(zip(row, widths, strict=True))]
    return f"| {' | '.join(padded)} |" if markdown else "  ".join(padded).rstrip()


def _notes(notes: Sequence[str], markdown: bool) -> list[str]:
    return ["", *(f"- {note}" for note in notes)] if notes and markdown else [f"  {note}" for note in notes]


def share(hits: int, n: int) -> str:
    """A share in per cent with its Wilson 95 % interval."""
    if not n:
        return "-"
    low, high = wilson(hits, n)
    return f"{100 * hits / n:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def alarms(counted: Counter[str] | None) -> str:
    return "-" if counted is None else share(counted["regressed"], counted["n"])


def ours(frozen: Protocol, counts: Counts, histories: Sequence[int]) -> Table:
    """Everything about the shipped rule where the noise is what its ledger says."""
    rows = []
    for scenario, happens in frozen.scenarios.items():
        for history in histories:
            told = counts[Cell(noise="as-ledger", scenario=scenario, history=history)][OURS]
            n = told["n"]
            points = len(frozen.concurrencies) - happens.missing
            rows.append([scenario, str(history), alarms(told), share(told["neutral"] + told["improved"], n) if happens.loss else "",
                         share(told["inconclusive"], n), share(told["some improved"], n), share(told["suspect"], n),
                         f"{100 * told['rerun points'] / points / n:.1f}"])
    header = ("scenario", "h", "regressed", "neutral when bad", "inconclusive", "a metric improved", "first suspect", "re-run")
    return Table(title="bumpbot, noise as the ledger has it: % of sweeps [Wilson 95 %]; re-run in % of a sweep's points",
                 header=header, rows=rows)


def misjudged(frozen: Protocol, counts: Counts) -> list[Table]:
    """The same rule where its ledger is wrong: the worst kind of noise beside the best."""
    tables = []
    for history in frozen.misjudged.histories:
        kinds, rows = ("as-ledger", *frozen.misjudged.noise), []
        for scenario in frozen.misjudged.scenarios:
            cells = {kind: counts[Cell(noise=kind, scenario=scenario, history=history)][OURS] for kind in kinds}
            rates = {kind: told["regressed"] / told["n"] for kind, told in cells.items()}
            bad, points = frozen.scenarios[scenario].loss, len(frozen.concurrencies)
            worst, best = (min, max) if bad else (max, min)
            rows += [
                [scenario, "regressed", *map(alarms, cells.values()),
                 f"{worst(rates, key=rates.__getitem__)} / {best(rates, key=rates.__getitem__)}"],
                ["", "neutral when bad" if bad else "neutral",
                 *(share(told["neutral"] + told["improved"], told["n"]) for told in cells.values()), ""],
                ["", "inconclusive", *(share(told["inconclusive"], told["n"]) for told in cells.values()), ""],
                ["", "re-run", *(f"{100 * told['rerun points'] / points / told['n']:.1f}" for told in cells.values()), ""],
            ]
        tables.append(Table(title=f"bumpbot, noise misjudged, {history} published run{'s' * (history > 1)}",
                            header=("scenario", "verdict", *kinds, "worst / best"), rows=rows))
    return tables


def peers(frozen: Protocol, counts: Counts, packages: Mapping[tuple[str, Cell, int], Counter[str]]) -> list[Table]:
    """Every rule as shipped on the same arrays, a table for each kind of noise and history."""
    tables = []
    for noise in frozen.peers.noise:
        for history in frozen.peers.histories:
            cells = [Cell(noise=noise, scenario=scenario, history=history) for scenario in frozen.peers.scenarios]
            names = dict.fromkeys([name for cell in cells for name in counts[cell] if name != OURS])
            rows = [[name, *(alarms(counts[cell].get(name)) for cell in cells)] for name in names]
            for package, new in sorted({(package, new) for package, cell, new in packages if cell in cells}):
                rows.append([f"{package}, {new} new point{'s' * (new > 1)}",
                             *(alarms(packages.get((package, cell, new))) for cell in cells)])
            first = [counts[cell][OURS] for cell in cells]
            rows += [[FIRST, *(share(told["suspect"], told["n"]) for told in first)], [OURS, *map(alarms, first)]]
            tables.append(Table(title=f"As shipped: alarms in % of sweeps, noise {noise}, {history} published",
                                header=("rule", *frozen.peers.scenarios), rows=rows))
    return tables


def matched(frozen: Protocol, counts: Mapping[tuple[str, str, int], Counter[str]],
            thresholds: Mapping[tuple[str, int], str]) -> Table:
    """Every statistic at the matched rate, its histories side by side."""
    names = dict.fromkeys(name for name, _, _ in counts)
    histories = frozen.matched.histories
    rows = []
    for name in names:
        cells = [[alarms(counts.get((name, scenario, history))) for history in histories] for scenario in frozen.matched.scenarios]
        rows.append([name, " / ".join(thresholds.get((name, history), "-") for history in histories),
                     *(" / ".join(cell) for cell in cells)])
    title = f"Matched at {100 * frozen.matched.rate:g} % false alarms a sweep: {' / '.join(f'h = {h}' for h in histories)}"
    return Table(title=title, header=("rule", "threshold", *frozen.matched.scenarios), rows=rows,
                 notes=("thresholds: units of the margin; t limit: deviations; IQR fence: interquartile ranges; bumpbot: a factor",
                        "where the factor of the margins alone is the lowest one tried, its z clause decides: a lower rate"))


def real(trials: Mapping[str, Trials], labelled: str) -> Table:
    """Real repetitions of equal configurations."""
    rows, still = [], []
    for kind, told in trials.items():
        for rule in told.first:
            rows.append([kind, rule, str(told.n), str(told.first[rule]), str(told.final[rule])])
        still += [f"{kind}, not cleared: {'; '.join(told.still)}"] if told.still else []
    return Table(title="Real repetitions of equal configurations: alarms by one run, and those its repeat does not clear",
                 header=("compared", "rule", "trials", "one run", "after the repeat"), rows=rows,
                 notes=(*still, f"the labelled change (2B: cap 16 -> cap 48), {labelled}"))
