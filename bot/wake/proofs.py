"""Point by point, whether the candidate's image is what a run measured, and which rows may therefore speak for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bot.images.proven import prove
from bot.model.bump import Bump, Judged
from bot.model.result import Proof, Reported, Row
from bot.model.run import Run
from bot.wake.context import Context

Place = tuple[str, str, int]
"""Kind of job, recipe, concurrency: what one server served. An eval's server is not the one of the throughput beside it."""
REASON = "image-not-proven"


def proofs(context: Context, bump: Bump, run: Run, judged: Judged) -> tuple[Proof, ...]:
    """A proof for each point with results, and for each without where another image is known to have run: a crash of the
    wrong image says nothing about the candidate either. Of a control arm it is proven that the old image ran."""
    candidate = bump.subject.candidate
    if run.stage == "control":
        candidate = replace(candidate, old=candidate.new, new=candidate.old, text=bump.subject.family[0].image)
    measured: dict[Place, list[Row]] = {}
    for row in judged.rows:
        measured.setdefault(_place(row), []).append(row)
    heard: dict[Place, list[Reported]] = {}
    for one in judged.reported:
        heard.setdefault((one.role, one.recipe, one.concurrency), []).append(one)
    # lm-eval does not know what image answers it; its job was asked for the same one as the run's other jobs.
    all_claims = {row.image for row in judged.rows if row.image}
    known, trusted = context.knowledge.reported, context.layout.artifacts.proof == "harness"
    made = []
    for place in sorted({*measured, *heard}):
        claims = {row.image for row in measured.get(place, ()) if row.image}
        proof = prove(_spoken(heard, place), candidate, schemes=context.knowledge.schemes, engines=known.images,
                      claims=claims or (all_claims if place[0] == "eval" else ()), trusted=trusted, name=known.name)
        if place in measured or proof.contradicted:
            made.append(replace(proof, role=place[0], recipe=place[1], concurrency=place[2]))
    return tuple(made)


def told(judged: Judged, proven: Iterable[Proof]) -> tuple[Row, ...]:
    """The rows that the verdict may hear, those of unproven points flagged: what another image answered is no score of this
    one. That nobody vouches for a point, or for an eval, is asked of the whole sweep beside (`decide.image.unproven`)."""
    by_place = {(one.role, one.recipe, one.concurrency): one for one in proven}
    rows = []
    for row in judged.rows:
        proof = by_place.get(_place(row))
        if proof is None or proof.holds:
            rows.append(row)
        elif row.metric != "eval":
            rows.append(replace(row, flags=(*row.flags, because(proof))))
        elif not proof.contradicted:
            rows.append(row)
    return tuple(rows)


def second(judged: Judged) -> list[Row]:
    """The rows of a second measurement: one of another image repeats nothing."""
    wrong = {(one.role, one.recipe, one.concurrency) for one in judged.proofs if not one.holds}
    return [row for row in judged.rows if row.metric != "eval" and _place(row) not in wrong]


def because(proof: Proof) -> str:
    """The reason a verdict carries for a point of this proof."""
    return f"{REASON}:{proof.ran}" if proof.ran and proof.contradicted else REASON


def _place(row: Row) -> Place:
    return "eval" if row.metric == "eval" else "throughput", row.point.recipe, row.point.concurrency


def _spoken(heard: dict[Place, list[Reported]], place: Place) -> Sequence[Reported]:
    role, recipe, _ = place
    return [*heard.get(place, ()), *(heard.get((role, recipe, 0), ()) if place[2] else ())]
