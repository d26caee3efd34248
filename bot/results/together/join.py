"""What several files say, as one: each value once, repetitions told apart, contradictions refused with both names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

from msgspec import Struct, structs

from bot.errors import BadInput
from bot.model.result import Accounting, Reliability, Reported, Row, Samples
from bot.results import places
from bot.results.lines import Line
from bot.results.parsed import GENERATOR, UNKNOWN, Parsed, Tally
from bot.results.together.accounts import add, total
from bot.results.together.named import named
from bot.results.together.repeats import File, counting, marked
from bot.results.together.standin import reconciled

_ROUNDED = 5.1e-5
"""Half a unit of the fourth decimal, to which shares are rounded, and a little."""
T = TypeVar("T", Accounting, Samples, Reported)


class Skipped(Struct, frozen=True, kw_only=True):
    """A file that gave no row. `nothing-measured`: the load generator ran and no request counts; `says-nothing`: a tool
    wrote it to say that it knows nothing; `partial-run`: of a run of `bench` that did not end, or was refused."""

    name: str
    why: Literal["not-a-result", "no-concurrency", "nothing-measured", "says-nothing", "partial-run"]
    detail: str = ""


class Collected(Struct, frozen=True, kw_only=True):
    """All that the files say, in an order that does not depend on theirs. `unplaced` are the requests of runs of which all
    failed and of which nothing tells the concurrency: their generator wrote no summary. `scores` and `answers` are of evals of
    which nothing tells it either: an eval has its score at any load."""

    rows: tuple[Row, ...] = ()
    accounting: tuple[Accounting, ...] = ()
    samples: tuple[Samples, ...] = ()
    reported: tuple[Reported, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    lines: tuple[Line, ...] = ()
    unplaced: tuple[Accounting, ...] = ()
    scores: tuple[Row, ...] = ()
    answers: tuple[Samples, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def join(read: Sequence[tuple[str, Parsed]], beside: places.Beside, skipped: Sequence[Skipped], recipe: str = "") -> Collected:
    """Everything together, of one recipe or of the lines that the files tell. BadInput where two files contradict each other."""
    passed, files = list(skipped), []
    unplaced: list[Accounting] = []
    loose: list[File] = []
    for name, made in sorted(read, key=lambda pair: pair[0]):
        conc = places.resolve(name, beside)
        why = made.nothing or _unanswered(made) or ("no-concurrency" if conc is None and _unplaced(made) else "")
        if why:
            passed.append(Skipped(name=name, why=why, detail="eval" if _eval(made) else _failures(made)))
        if conc is None and _unplaced(made):
            unplaced += made.accounting if why == "nothing-measured" else ()
            loose += [File(name, made)] if _eval(made) else []
            made = structs.replace(Parsed(), reported=made.reported)
        files.append(File(name, _at(made, conc)))
    files = reconciled(marked(named(files, recipe)))
    rows, scores = _rows(counting(files)), _rows(loose)
    _agree(rows, files, beside)
    _agree(scores, loose, beside)
    return Collected(
        rows=tuple(sorted((row for row, _ in rows.values()), key=row_order)),
        accounting=_accounting(files),
        samples=_samples(files),
        reported=tuple(sorted({told for file in files for told in file.made.reported},
                              key=lambda told: (told.concurrency, told.file, told.line or 0, told.kind, told.value))),
        reliability=_reliability(files),
        lines=tuple(sorted({line for file in files for line in file.made.lines}, key=repr)),
        unplaced=total(unplaced), scores=tuple(sorted((row for row, _ in scores.values()), key=row_order)),
        answers=_samples(loose),
        skipped=tuple(sorted(passed, key=lambda entry: entry.name)),
    )


def row_order(row: Row) -> tuple[Any, ...]:
    """An order of rows that depends on nothing but them."""
    point = row.point
    return (point.recipe, point.workload or "", point.topology or "", point.concurrency, row.metric, row.task or "",
            row.stat or "", point.fingerprint or "", row.run or 0, row.attempt or 0, row.repeat or 0, row.value)


def _unanswered(made: Parsed) -> Literal["", "nothing-measured"]:
    """A request export in which no request counts: the server was down, and the generator wrote no summary."""
    return "nothing-measured" if made.accounting and not made.rows and not any(one.profiled for one in made.accounting) else ""


def _eval(made: Parsed) -> bool:
    """Whether this is of an eval and nothing else."""
    return bool(made.rows or made.samples) and not made.accounting and all(row.metric == "eval" for row in made.rows)


def _failures(made: Parsed) -> str:
    if not made.accounting:
        return ""
    kinds = sorted({kind for one in made.accounting for kind in one.kinds})
    lost, total = (sum(getattr(one, field) for one in made.accounting) for field in ("invalid", "total"))
    return f"{lost} of {total} requests failed{': ' if kinds else ''}{', '.join(kinds)}"


def _unplaced(made: Parsed) -> bool:
    told = [row.point.concurrency for row in made.rows] + [part.concurrency for part in (*made.accounting, *made.samples)]
    return UNKNOWN in told


def _at(made: Parsed, conc: int | None) -> Parsed:
    """All of a file at the concurrency found for it, where it does not say its own."""
    if conc is None:
        return made
    rows = tuple(structs.replace(row, point=structs.replace(row.point, concurrency=conc))
                 if row.point.concurrency == UNKNOWN else row for row in made.rows)
    return structs.replace(made, rows=rows, accounting=_placed(made.accounting, conc), samples=_placed(made.samples, conc),
                           reported=_placed(made.reported, conc))


def _placed(parts: Iterable[T], conc: int) -> tuple[T, ...]:
    return tuple(structs.replace(part, concurrency=conc) if part.concurrency == UNKNOWN else part for part in parts)


def _rows(files: Sequence[File]) -> dict[tuple[Any, ...], tuple[Row, str]]:
    """Each value once, with the file that says it; of two spellings of one value the more exact."""
    rows: dict[tuple[Any, ...], tuple[Row, str]] = {}
    for name, made, _ in files:
        for row in made.rows:
            point = row.point
            key = (point.recipe, point.workload, point.topology, point.concurrency, row.metric, row.task, row.stat, row.run,
                   row.attempt, row.repeat)
            known = rows.setdefault(key, (row, name))
            if abs(known[0].value - row.value) > _ROUNDED * max(1.0, abs(row.value)):
                what = row.task or row.metric
                raise BadInput(
                    f"{what} at concurrency {point.concurrency} is {row.value:g} here and {known[0].value:g} in {known[1]}",
                    "give the files of one attempt", file=name)
            if len(repr(row.value)) > len(repr(known[0].value)):
                rows[key] = (row, name)
    return rows


def _agree(rows: dict[tuple[Any, ...], tuple[Row, str]], files: Sequence[File], beside: places.Beside) -> None:
    """A score and the answers that it was made of, where both are here: one of them is of another run, or cut short."""
    scores = {(row.point.concurrency, row.task, row.stat): (row, name) for row, name in rows.values() if row.metric == "eval"}
    for name, made, _ in files:
        for tally in made.tallies:
            row, other = scores.get((places.resolve(name, beside) or UNKNOWN, tally.task, tally.stat), (None, ""))
            if row is None:
                _told(rows, tally, places.resolve(name, beside) or UNKNOWN, name)
                continue
            if row.n is not None and row.n != tally.n:
                raise BadInput(f"{tally.n} answers to {tally.task}, but {other} tells of {row.n}", "one of them is incomplete",
                               file=name)
            if abs(row.value - tally.share) > _ROUNDED:
                raise BadInput(
                    f"the answers to {tally.task} score {tally.share:.4f} ({tally.stat}), but {other} says {row.value:.4f}",
                    "give the files of one attempt", file=name)


def _told(rows: dict[tuple[Any, ...], tuple[Row, str]], tally: Tally, concurrency: int, name: str) -> None:
    """The score of answers that no other file tells: all of them may be wrong, and nothing else would say so."""
    if tally.task:
        row = structs.replace(tally.row, point=structs.replace(tally.row.point, concurrency=concurrency))
        rows["answers", concurrency, tally.task, tally.stat] = row, name


def _accounting(files: Sequence[File]) -> tuple[Accounting, ...]:
    """The requests of each recipe and concurrency, over all its measurements. Of one measurement the export counts, which
    knows phases and conversations; then the generator's own summary; a guest's row only where there is neither."""
    found: dict[tuple[str, int], dict[str, list[tuple[int, Accounting, str]]]] = {}
    for name, made, mark in files:
        for counted in made.accounting:
            level = 0 if counted.conversations is not None else 1 if made.rank == GENERATOR else 2
            here = found.setdefault((counted.recipe, counted.concurrency), {})
            here.setdefault(mark if level < 2 else "", []).append((level, counted, name))
    counts = []
    for point in sorted(found):
        sure = min(level for told in found[point].values() for level, _, _ in told)
        joined: Accounting | None = None
        for mark, told in sorted(found[point].items()):
            best = min(level for level, _, _ in told)
            if best == 2 and sure < 2:
                continue
            for counted in _once(mark, [(one, name) for level, one, name in told if level == best]):
                joined = add(joined, counted)
        counts += [joined] if joined else []
    return tuple(counts)


def _once(mark: str, told: Sequence[tuple[Accounting, str]]) -> list[Accounting]:
    """Each count once. One measurement that is counted in two ways is a contradiction."""
    first, name = told[0]
    for other, where in told[1:]:
        if mark and other != first:
            raise BadInput(f"the requests at concurrency {first.concurrency} are counted otherwise in {name}",
                           "give the files of one attempt", file=where)
    return [one for index, (one, _) in enumerate(told) if one not in [known for known, _ in told[:index]]]


def _samples(files: Sequence[File]) -> tuple[Samples, ...]:
    known: dict[tuple[int, str], tuple[Samples, str]] = {}
    for name, made, _ in files:
        for answers in made.samples:
            first, where = known.setdefault((answers.concurrency, answers.task), (answers, name))
            if first != answers:
                raise BadInput(f"{answers.task} at concurrency {answers.concurrency} was answered twice, differently",
                               f"the other is {where}; give one attempt", file=name)
    return tuple(known[key][0] for key in sorted(known))


def _reliability(files: Sequence[File]) -> tuple[Reliability, ...]:
    known: dict[str, tuple[Reliability, str]] = {}
    for name, made, _ in files:
        for told in made.reliability:
            first, where = known.setdefault(told.cluster, (told, name))
            if first != told:
                raise BadInput(f"the jobs of {told.cluster} are counted otherwise in {where}", "give the files of one run",
                               file=name)
    return tuple(known[key][0] for key in sorted(known))
