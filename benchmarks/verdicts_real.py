"""Real repetitions of equal configurations: a rule that calls one of them a regression after its repeat is wrong.

32 cells of a measured campaign, three repetitions each of one number (output tokens a second). Every order in which one
repetition is the baseline, one the new run and one its repeat is a trial, for each cell alone, each curve (the cells that
differ in concurrency only) and each block. Nothing is tuned on them. The ledger of a trial is made of the other
configurations (leave one out), or is absent, which leaves the floors of metrics.yaml.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks.verdicts_ours import shipped, suspects
from bot.model.result import Cell, Row
from bot.verdict.compare import compare
from bot.verdict.noise import Noise, seen
from bot.verdict.noise import noise as estimated

METRIC, RUNS = "output_tput", 3
_CONCURRENCY = re.compile(r"c(\d+)[A-Z]?")
Repetitions = Mapping[Cell, Sequence[float]]


class Trials(Struct, frozen=True, kw_only=True):
    """How often each rule raised an alarm on equal configurations: by one run, and after the repeat."""

    n: int
    first: dict[str, int]
    final: dict[str, int]
    still: tuple[str, ...] = ()


def read(file: Path) -> dict[Cell, list[float]]:
    """The repetitions by cell: the block is the recipe, what else the name says the workload."""
    made = {}
    for name, values in json.loads(file.read_bytes()).items():
        block, *rest = name.split()
        concurrency = next(int(found[1]) for word in rest if (found := _CONCURRENCY.fullmatch(word)))
        workload = " ".join(word for word in rest if not _CONCURRENCY.fullmatch(word))
        if block == "2B":  # its two arms are two configurations
            block, workload = f"{block} {workload}", ""
        made[Cell(recipe=block, workload=workload or None, concurrency=concurrency)] = values
    return made


def configurations(held: Repetitions, kind: str) -> dict[str, Repetitions]:
    """The cells in groups that are compared as one: `cell`, `curve` or `block`."""
    made: dict[str, dict[Cell, Sequence[float]]] = {}
    for cell, values in held.items():
        words = {"cell": (cell.recipe, cell.workload or "", f"c{cell.concurrency}"), "curve": (cell.recipe, cell.workload or ""),
                 "block": (cell.recipe,)}[kind]
        made.setdefault(" ".join(words), {})[cell] = values
    return dict(made)


def noise(held: Repetitions) -> dict[str, Noise]:
    """What the shipped ledger makes of these repetitions: every two of a block are a pair of sweeps of one image."""
    records = [record for cells in configurations(held, "block").values() for one, other in itertools.combinations(range(RUNS), 2)
               for record in seen(_rows(cells, one, 1), _rows(cells, other, 2), metrics=shipped(), hardware="", engine="")]
    return estimated(records, shipped())


def trials(held: Repetitions, kind: str, *, ledger: bool) -> Trials:
    """Every order of the repetitions of every configuration."""
    first, final, still, n = dict.fromkeys(_names(), 0), dict.fromkeys(_names(), 0), [], 0
    for name, cells in configurations(held, kind).items():
        others = {cell: values for cell, values in held.items() if cell not in cells}
        known = noise(others) if ledger else {}
        for old, new, again in itertools.permutations(range(RUNS)):
            n += 1
            for rule, (one, two) in _alarms(cells, old, new, again, known):
                first[rule] += one
                final[rule] += two
                if two and rule == _names()[0]:
                    still.append(f"{name}: {old + 1} -> {new + 1}, {again + 1}")
    return Trials(n=n, first=first, final=final, still=tuple(still))


def _names() -> tuple[str, ...]:
    return "bumpbot", "ratio 105 %", "ratio 110 %", "ratio 200 %"


def _alarms(cells: Repetitions, old: int, new: int, again: int,
            known: Mapping[str, Noise]) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """Each rule's alarm by the first run, and after the repeat."""
    verdict = compare(_rows(cells, new, 2), _rows(cells, old, 1), metrics=shipped(), noise=known)
    asked = bool(suspects(verdict))
    if asked:
        repeat = [row for row in _rows(cells, again, 3) if row.point in {one.point for one in verdict.rerun}]
        verdict = compare(_rows(cells, new, 2), _rows(cells, old, 1), repeat=repeat, metrics=shipped(), noise=known)
    yield "bumpbot", (asked, verdict.verdict == "regressed")
    for percent in (105, 110, 200):
        fell = [[values[old] / values[run] > percent / 100 for run in (new, again)] for values in cells.values()]
        yield f"ratio {percent} %", (any(one for one, _ in fell), any(one and two for one, two in fell))


def labelled(held: Repetitions) -> str:
    """What is said of the one known change: three runs of the slower arm against three of the faster, one point each."""
    arms = {cell.recipe: (cell, values) for cell, values in held.items() if cell.recipe.startswith("2B ")}
    (point, old), (_, new) = arms["2B A"], arms["2B B"]
    known = noise({cell: values for cell, values in held.items() if not cell.recipe.startswith("2B ")})
    told = []
    for name, ledger in (("floors", {}), ("ledger", known)):
        base = [_row(point, value, run) for run, value in enumerate(old)]
        again = [_row(point, value, run) for run, value in enumerate(new[1:], 11)]
        verdict = compare([_row(point, new[0], 10)], base, repeat=again, metrics=shipped(), noise=ledger)
        pool = verdict.findings[0]
        told.append(f"{name}: {verdict.verdict}, {100 * (pool.delta or 0):+.1f} % ({', '.join(verdict.reasons)})")
    return "; ".join(told)


def _rows(cells: Repetitions, index: int, run: int) -> list[Row]:
    return [_row(cell, values[index], run) for cell, values in cells.items()]


def _row(point: Cell, value: float, run: int) -> Row:
    return Row(point=point, metric=METRIC, unit="tok/s", value=value, run=run)
