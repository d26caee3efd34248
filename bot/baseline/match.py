"""Published points to the ones that are the baseline: this image, this configuration, the newest run at every point.

The image and the fingerprint are those of the recipe before the bump. A fingerprint covers the image, the topology and the
workload, so an equal one is the strongest identity there is, and all concurrencies of one configuration share it. A set that
was published without one is matched by everything that it tells of itself; another topology, or an image that replaced this
one, is no baseline however near it lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, structs

from bot.baseline.identity import AGENTIC, agrees, plain
from bot.model.baseline import Configuration, Offer, Question
from bot.model.result import Absent, Baseline, Cell, Row

Missing = Literal["nothing-published", "other-image", "other-configuration", "other-topology", "not-published", "newer-only",
                  "baseline-unreachable", "model-unknown", "source-refused", "answer-unreadable", "no-source", "points-unknown",
                  "value-refused", "result-unreadable", "folder-empty"]
# What a source says when it could not be asked: that, and no lack of points, is then the reason.
TROUBLE = ("baseline-unreachable", "model-unknown", "source-refused", "answer-unreadable", "result-unreadable", "folder-empty",
           "no-source")
REFUSED = "value-"
"""How a source's note on one value begins: what is wrong with it, the concurrency, the metric."""
RUNS = 10
"""A point's newest runs that count: more than ten tell nothing more about its noise (STATS.md section 4)."""


class Match(Struct, frozen=True, kw_only=True):
    """The baseline, or why there is none. `absent` are the points without any, each with its reason; `runs` the most runs
    that any point has; `gone` are concurrencies that were published for a configuration and are not asked for, `retired`
    whole configurations, as topology and workload."""

    baseline: Baseline | None
    missing: str | None = None
    absent: tuple[Absent, ...] = ()
    runs: int = 0
    gone: tuple[int, ...] = ()
    retired: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Found(Struct, frozen=True, kw_only=True):
    """One point and the sets that measured it, newest first, one a run."""

    point: Cell
    sets: tuple[Baseline, ...]


def match(offer: Offer, question: Question, date: str | None = None) -> Match:
    """Point by point the newest of the sets offered, on or before `date` (YYYY-MM-DD) when one is given, and older runs of
    exactly the same behind them.

    A set with a fingerprint is ours when it has the recipe's; one without when its identity is the recipe's, which a note
    says, and only at points that no set with a fingerprint covers.
    """
    ours = [one for one in offer.sets if same_image(one.image, question.image)]
    dated = [one for one in ours if date is None or one.date <= date]
    found, absent = list[_Found](), list[Absent]()
    for wanted in question.configurations:
        fitting = fits(dated, wanted)
        for concurrency in wanted.concurrencies:
            point = Cell(recipe=question.recipe, concurrency=concurrency, workload=wanted.workload or None,
                         topology=wanted.topology or None, fingerprint=wanted.fingerprint or None)
            sets = _runs(fitting, wanted, concurrency)
            if sets:
                found.append(_Found(point=point, sets=sets))
            else:
                late = date is not None and bool(_runs(fits(ours, wanted), wanted, concurrency))
                why = "newer-only" if late else _why(offer, question, wanted, fitting, concurrency)
                absent.append(Absent(point=point, why=why))
    if not found:
        return Match(baseline=None, missing=_whole(absent), absent=tuple(absent), notes=offer.notes)
    return Match(
        baseline=_joined(found, question, absent), absent=tuple(absent), runs=max(len(one.sets) for one in found),
        gone=_gone(dated, question), retired=_retired(offer, question, found), notes=(*offer.notes, *_told(found, question)),
    )


def fits(sets: Sequence[Baseline], wanted: Configuration) -> list[Baseline]:
    """The sets of one configuration, those with its fingerprint before those that have none, each newest first. What names
    another topology or workload is another configuration, whatever fingerprint stands there."""
    ordered = [one for one in sorted(sets, key=_age, reverse=True)
               if all(agrees(row.point.topology, row.point.workload, wanted) for row in one.rows)]
    exact = [one for one in ordered if wanted.fingerprint and one.fingerprint == wanted.fingerprint]
    weak = [one for one in ordered if not one.fingerprint and wanted.identity and one.identity == wanted.identity]
    return [*exact, *weak]


def same_image(one: str, other: str) -> bool:
    """Equal references, whatever the spelling: Enroot's `#`, a named docker.io, a digest that one side leaves out."""
    (name, digest), (other_name, other_digest) = _parts(one), _parts(other)
    return name == other_name and (digest is None or other_digest is None or digest == other_digest)


def _runs(fitting: Sequence[Baseline], wanted: Configuration, concurrency: int) -> tuple[Baseline, ...]:
    """The sets that measured a point, newest first, one a run: its last attempt. Sets without a fingerprint count only
    where there are no others."""
    having = [one for one in fitting if any(row.metric != "eval" and row.point.concurrency == concurrency for row in one.rows)]
    strong = [one for one in having if one.fingerprint]
    kept: dict[object, Baseline] = {}
    for number, one in enumerate(strong or having):
        kept.setdefault(("run", one.run) if one.run is not None else ("none", number), one)
    return tuple(kept.values())[:RUNS]


def _joined(found: Sequence[_Found], question: Question, absent: Sequence[Absent]) -> Baseline:
    """One baseline of what was found: at each point its newest run, then the older ones."""
    fronts = {id(one.sets[0]): one.sets[0] for one in found}
    lead = max(fronts.values(), key=_age)
    rows = [row for one in found for row in _at(one.sets[0], one.point, question)]
    older = [row for one in found for past in one.sets[1:] for row in _at(past, one.point, question, like=one.sets[0])]
    newest = sorted(fronts.values(), key=_age, reverse=True)
    evals: dict[tuple[object, ...], Row] = {}
    for row in (row for one in newest for row in one.rows if row.metric == "eval"):
        evals.setdefault((row.task, row.stat, row.point.concurrency, plain(row.point.topology or "")), row)
    told = [one.fingerprint for one in newest if one.fingerprint]
    sources = dict.fromkeys(one.source for one in (*newest, *(past for point in found for past in point.sets[1:])) if one.source)
    return structs.replace(
        lead, image=question.image, fingerprint=lead.fingerprint or (told[0] if told else None), absent=tuple(absent),
        source=", ".join(sources), rows=(*rows, *(_named(row, question) for row in evals.values()), *older),
        accounting=_first(newest, "accounting"), samples=_first(newest, "samples"),
        notes=tuple(dict.fromkeys(note for one in newest for note in one.notes)),
    )


def _at(one: Baseline, point: Cell, question: Question, like: Baseline | None = None) -> list[Row]:
    """A set's rows at a point. Older runs are told in the words of the newest: a fingerprint proves the same topology, of
    which earlier rows did not name every size."""
    rows = [_named(row, question) for row in one.rows if row.metric != "eval" and row.point.concurrency == point.concurrency]
    cells = [row.point for row in _at(like, point, question)] if like else []
    return [structs.replace(row, point=cells[0]) for row in rows] if cells else rows


def _named(row: Row, question: Question) -> Row:
    """The row under the recipe's own name and spelling of the image, so that runs of one image are seen as such."""
    return structs.replace(row, image=question.image, point=structs.replace(row.point, recipe=question.recipe))


def _first(newest: Sequence[Baseline], kind: str) -> tuple:
    """Requests or answers of the newest run that counted them: two runs of one point are not added up."""
    kept: dict[tuple[object, ...], object] = {}
    for one in newest:
        for part in getattr(one, kind):
            kept.setdefault((part.concurrency, getattr(part, "task", "")), part)
    return tuple(kept.values())


def _told(found: Sequence[_Found], question: Question) -> list[str]:
    """What a reader must know of the points that were taken."""
    fronts, past = [one.sets[0] for one in found], [one for point in found for one in point.sets[1:]]
    newest = {one.run for one in fronts if one.run is not None}
    earlier = {one.run for one in past if one.run is not None} - newest
    notes = [f"points-from-runs:{', '.join(map(str, sorted(newest)))}"] if len(newest) > 1 else []
    notes += [f"earlier-runs:{', '.join(map(str, sorted(earlier, reverse=True)))}"] if earlier else []
    notes += ["run-unpublished"] if any(one.run is None for one in fronts) else []
    notes += ["fingerprint-unknown"] if any(not one.fingerprint for one in fronts) else []
    digest = _parts(question.image)[1]
    return notes + (["digest-unknown"] if digest and any(_parts(one.image)[1] is None for one in fronts) else [])


def _why(offer: Offer, question: Question, wanted: Configuration, fitting: Sequence[Baseline], concurrency: int) -> str:
    """Why a point has no baseline: what comes nearest is the reason."""
    if any(note.startswith(REFUSED) and note.split(":")[1] == str(concurrency) for note in offer.notes):
        return "value-refused"
    same = [one for one in offer.asides if same_image(one.image, question.image)]
    alike = [one for one in offer.asides if wanted.identity and one.identity == wanted.identity]
    if fitting:
        there = any(one.concurrency == concurrency and (one in alike or not one.identity) for one in same)
        return "other-configuration" if there else "not-published"
    others = [one for one in same if wanted.fingerprint and one.fingerprint == wanted.fingerprint
              and not agrees(one.topology, None, wanted)]
    if others:
        return f"other-topology:{max(others, key=lambda one: one.date).topology}"
    if alike and not any(one in same for one in alike):
        return f"other-image:{max(alike, key=lambda one: one.date).image}"
    if same or offer.sets:
        return "other-configuration"
    if offer.asides:
        return f"other-image:{max(offer.asides, key=lambda one: one.date).image}"
    return next((note for note in offer.notes if note.partition(":")[0] in TROUBLE), "nothing-published")


def _whole(absent: Sequence[Absent]) -> str:
    """Why a recipe has no baseline at all: the reason that says most of those of its points."""
    order = ("newer-only", "other-image", "other-topology", "other-configuration", "not-published")
    told = {one.why.partition(":")[0]: one.why for one in absent}
    return next((told[word] for word in order if word in told), next(iter(told.values()), "nothing-published"))


def _gone(sets: Sequence[Baseline], question: Question) -> tuple[int, ...]:
    """Concurrencies that the newest run of a configuration has and the recipe does not ask for any more."""
    gone: set[int] = set()
    for wanted in question.configurations:
        for one in fits(sets, wanted)[:1]:
            gone |= {row.point.concurrency for row in one.rows if row.metric != "eval"} - set(wanted.concurrencies)
    return tuple(sorted(gone))


def _retired(offer: Offer, question: Question, found: Sequence[_Found]) -> tuple[str, ...]:
    """Configurations that the same runs measured with the same image and that nothing asked for is. One bump was begun with
    a baseline half of whose workloads its recipe could not generate any more (#3313). What differs in speculation, or is
    agentic where ours is not, is another recipe of the same sweep."""
    runs = {one.sets[0].run for one in found} - {None}
    mine = [one.identity.split("|") for one in question.configurations if one.identity]
    kinds = {(*parts[:4], parts[-2] == AGENTIC) for parts in mine}
    gone = set()
    for one in offer.asides:
        parts = one.identity.split("|")
        if (len(parts) == 7 and one.run in runs and same_image(one.image, question.image) and parts not in mine
                and (*parts[:4], parts[-2] == AGENTIC) in kinds):
            gone.add(f"{parts[4]} {parts[5]}")
    return tuple(sorted(gone))


def _parts(text: str) -> tuple[str, str | None]:
    name, _, digest = text.replace("#", "/", 1).partition("@")
    for prefix in ("docker.io/", "index.docker.io/", "registry-1.docker.io/"):
        name = name.removeprefix(prefix)
    return name.removeprefix("library/"), digest or None


def _age(one: Baseline) -> tuple[str, int, int]:
    return one.date, one.run or 0, one.attempt or 0
