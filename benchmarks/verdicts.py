"""How often a verdict is wrong, beside other tools' rules on the same arrays: verdicts.yaml says what is drawn and counted.

    python -m benchmarks.verdicts [--sweeps N] [--only shipped,packages,matched,real] [--markdown]

The rule measured is the one that ships, `bot.verdict.rule`, held against `bot.verdict.compare` on a sample of each cell.
Otava and asv run from their own packages, in an environment made under .cache; where that cannot be installed their rows
are absent and the reason is told. Exit 1 where an aim is missed.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from multiprocessing import Pool, cpu_count
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from benchmarks import verdicts_matched as matching
from benchmarks import verdicts_ours, verdicts_packages, verdicts_peers, verdicts_real, verdicts_tables
from benchmarks.verdicts_draws import Aim, Cell, Protocol, draw, protocol
from benchmarks.verdicts_tables import OURS, Table, alarms

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "campaign" / "repetitions.json"
PARTS = ("shipped", "packages", "matched", "real")
Matched = tuple[dict[tuple[str, str, int], Counter[str]], dict[tuple[str, int], str]]
T, R = TypeVar("T"), TypeVar("R")
Each = Callable[[Callable[[T], R], Sequence[T]], Iterator[R]]
Block = tuple[Cell, int, int]
"""A cell, the number of a block, and how many of its sweeps are wanted."""
Packaged = tuple[str, Cell, int, int]
"""A package, a cell, how many of its sweeps, and how many new points."""


def blocks(frozen: Protocol, cells: Iterable[Cell], sweeps: int) -> list[Block]:
    """The blocks that hold the first `sweeps` sweeps of each cell; all cells of one block together, so that it is drawn once."""
    firsts = range(0, sweeps, frozen.block)
    return [(cell, first // frozen.block, min(frozen.block, sweeps - first)) for first in firsts for cell in cells]


def shipped_block(task: Block) -> tuple[Cell, dict[str, Counter[str]]]:
    """What ours and the peers' rules say of one block."""
    cell, block, limit = task
    frozen = protocol()
    sweeps = draw(frozen, cell, block)
    told = verdicts_peers.count(frozen, sweeps, limit) if cell in frozen.peers.cells else {}
    metrics = verdicts_ours.shipped()
    if not block:
        verdicts_ours.agree(frozen, sweeps, metrics, verdicts_ours.ledger(frozen, cell), min(verdicts_ours.SAMPLE, limit))
    return cell, {**told, OURS: verdicts_ours.count(frozen, cell, sweeps, metrics, limit)}


def package_cell(python: Path, task: Packaged) -> tuple[tuple[str, Cell, int], Counter[str]]:
    """What a package says of a cell, with so many new points at the end of each series. Starting it costs more than a block."""
    package, cell, limit, new = task
    frozen = protocol()
    drawn = np.concatenate([draw(frozen, cell, block).values for block in range(-(-limit // frozen.block))])
    series = drawn[:limit, : cell.history + new].transpose(0, 2, 3, 1).reshape(limit, -1, cell.history + new).tolist()
    grid = frozen.packages[package]
    found = verdicts_packages.alarms(python, package, series, frozen.signs.tolist() * len(frozen.concurrencies), at=cell.history,
                                     p=grid.p, magnitude=grid.magnitude)
    return (package, cell, new), Counter(n=limit, regressed=sum(found))


def null_block(task: Block) -> tuple[Cell, dict[str, Sequence[float]]]:
    """The statistics of one block of null sweeps on which thresholds are matched."""
    cell, block, limit = task
    return cell, matching.nulls(protocol(), cell, block, limit)


def matched_block(limits: dict[int, dict[str, float]], task: Block) -> tuple[Cell, dict[str, Counter[str]]]:
    """What every rule at its matched threshold says of one block that is reported."""
    cell, block, limit = task
    return cell, matching.alarms(protocol(), cell, block, limit, limits[cell.history])


def measure_shipped(frozen: Protocol, sweeps: int, each: Each[Block, tuple[Cell, dict[str, Counter[str]]]]) \
        -> dict[Cell, dict[str, Counter[str]]]:
    """Every cell of the protocol under every rule as shipped."""
    counts: dict[Cell, dict[str, Counter[str]]] = {cell: {} for cell in frozen.cells}
    for cell, told in each(shipped_block, blocks(frozen, frozen.cells, sweeps)):
        for name, counted in told.items():
            counts[cell].setdefault(name, Counter()).update(counted)
    return counts


def measure_packages(frozen: Protocol, sweeps: int, each: Each[Packaged, tuple[tuple[str, Cell, int], Counter[str]]],
                     folder: Path) -> dict[tuple[str, Cell, int], Counter[str]]:
    """The packages on the beginnings of the same arrays; nothing, and why on stderr, where they cannot be had."""
    python = verdicts_packages.environment(folder)
    if isinstance(python, str):
        print(f"Otava and asv were not run: {python}", file=sys.stderr)
        return {}
    tasks = [(package, cell, min(sweeps, frozen.package_sweeps), new)
             for package, grid in frozen.packages.items() for new in grid.new_points for cell in grid.cells]
    return dict(each(partial(package_cell, python), tasks))


def measure_matched(frozen: Protocol, sweeps: int, each: Callable[..., Iterator[Any]]) -> Matched:
    """Thresholds from the tuning seed, then every rule at them: counts by rule, scenario, history; thresholds as text."""
    grid = frozen.matched
    cells = [Cell(noise="as-ledger", scenario="null", history=history) for history in grid.histories]
    held: dict[tuple[str, int], list[float]] = {}
    for cell, scores in each(null_block, blocks(frozen, cells, min(grid.tuning_sweeps, 10 * sweeps))):
        for name, values in scores.items():
            held.setdefault((name, cell.history), []).extend(values)
    limits: dict[int, dict[str, float]] = {history: {} for history in grid.histories}
    for (name, history), values in held.items():
        limits[history][name] = matching.setting(name, matching.threshold(values, grid.rate))
    counts: dict[tuple[str, str, int], Counter[str]] = {}
    for cell, told in each(partial(matched_block, limits), blocks(frozen, grid.cells, sweeps)):
        for name, counted in told.items():
            counts.setdefault((name, cell.scenario, cell.history), Counter()).update(counted)
    return counts, {(name, history): f"{value:.3g}" for history, set_to in limits.items() for name, value in set_to.items()}


def measure_real(file: Path) -> Table | None:
    """The table of real repetitions, where the file is."""
    if not file.exists():
        print(f"no real repetitions at {file}: name them with --data", file=sys.stderr)
        return None
    held = verdicts_real.read(file)
    told = {f"{kind}, {name}": verdicts_real.trials(held, kind, ledger=ledger)
            for name, ledger in (("ledger of the others", True), ("floors only", False)) for kind in ("cell", "curve", "block")}
    return verdicts_tables.real(told, verdicts_real.labelled(held))


def holds(aim: Aim, counted: Counter[str]) -> bool:
    """Whether a point estimate reaches an aim."""
    rate = counted["regressed"] / counted["n"]
    return (aim.at_most is None or rate <= aim.at_most) and (aim.at_least is None or rate >= aim.at_least)


def conclusion(frozen: Protocol, shipped: dict[Cell, dict[str, Counter[str]]],
               matched: dict[tuple[str, str, int], Counter[str]]) -> tuple[list[str], bool]:
    """The headline and each aim, as lines; whether all that were measured hold."""
    lines, good = [], True
    for cell in frozen.headline if shipped else ():
        lines.append(f"headline {cell.noise}, {cell.scenario}, h = {cell.history}: {alarms(shipped[cell][OURS])} %")
    for aim in frozen.aims:
        if not (shipped if aim.table == "shipped" else matched):
            continue
        if aim.table == "shipped":
            counted = shipped[Cell(noise=aim.noise, scenario=aim.scenario, history=aim.history)][OURS]
            how = "as shipped"
        else:
            counted = matched[matching.WHOLE, aim.scenario, aim.history]
            null, alone = (alarms(matched[matching.MARGINS, scenario, aim.history]) for scenario in ("null", aim.scenario))
            how = f"matched, margins and noise scaled by one factor (margins alone: {alone} % at {null} % false alarms)"
        wanted = f"at most {100 * aim.at_most:g} %" if aim.at_most is not None else f"at least {100 * (aim.at_least or 0):g} %"
        good = holds(aim, counted) and good
        said = "holds " if holds(aim, counted) else "MISSED"
        lines.append(f"{said}   {aim.scenario}, h = {aim.history}, {wanted}: {alarms(counted)} % {how}")
    return lines, good


def about(frozen: Protocol, sweeps: int, seconds: float) -> str:
    """What the figures are of."""
    git = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
    parts = [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in ("numpy", "scipy"))]
    packages, fewer = ", ".join(verdicts_packages.PACKAGES.values()), min(sweeps, frozen.package_sweeps)
    return (f"{sweeps} sweeps a cell ({packages}: {fewer}), seeds {frozen.seed} and {frozen.tuning_seed}, "
            f"commit {git.stdout.strip()}, {', '.join(parts)}, {seconds:.0f} s")


def main() -> int:
    frozen = protocol()
    options = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description="error rates of verdicts")
    options.add_argument("--sweeps", type=int, default=frozen.sweeps, help="a cell; the packages stop at their own number")
    options.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    options.add_argument("--markdown", action="store_true")
    options.add_argument("--data", type=Path, default=DATA, help="real repetitions")
    options.add_argument("--packages", type=Path, default=ROOT / ".cache" / "peers", help="where they are, or are installed to")
    asked = options.parse_args()
    parts = asked.only.split(",")
    if asked.sweeps < 1 or not set(parts) <= set(PARTS):
        options.error(f"--sweeps is at least 1, --only of {', '.join(PARTS)}")
    began = perf_counter()
    real = measure_real(asked.data) if "real" in parts else None
    with Pool(cpu_count()) as pool:

        def each(work: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
            print(f"  {perf_counter() - began:.0f} s: {len(tasks)} tasks", file=sys.stderr)
            return pool.imap_unordered(work, tasks)

        shipped = measure_shipped(frozen, asked.sweeps, each) if "shipped" in parts else {}
        packages = measure_packages(frozen, asked.sweeps, each, asked.packages.resolve()) if "packages" in parts and shipped else {}
        matched, thresholds = measure_matched(frozen, asked.sweeps, each) if "matched" in parts else ({}, {})
    tables = []
    if shipped:
        tables += [verdicts_tables.ours(frozen, shipped, frozen.histories), *verdicts_tables.misjudged(frozen, shipped),
                   *verdicts_tables.peers(frozen, shipped, packages)]
    tables += [verdicts_tables.matched(frozen, matched, thresholds)] if matched else []
    tables += [real] if real else []
    lines, good = conclusion(frozen, shipped, matched)
    bullet = "- " if asked.markdown else ""
    print(*([f"# Error rates of verdicts\n\n{about(frozen, asked.sweeps, perf_counter() - began)}\n"] if asked.markdown
            else [about(frozen, asked.sweeps, perf_counter() - began)]), *(f"{bullet}{line}" for line in lines), sep="\n")
    print(*(table.text(markdown=asked.markdown) for table in tables), sep="\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
