"""Rows beside what their servers said of themselves, where no bump tells which image was meant: the rows' own names do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bot.errors import BadInput
from bot.images.proven import Engines, prove
from bot.images.reference import parse
from bot.images.tags import Scheme
from bot.model.image import Candidate, Resolved
from bot.model.result import Reported, Row

_NONE = "none/none:none"


def questioned(rows: Sequence[Row], baseline: Iterable[Row], reported: Sequence[Reported], *, schemes: Iterable[Scheme],
               engines: Engines) -> tuple[Row, ...]:
    """The rows, those flagged `image-not-proven:<what ran>` at whose point a server reported another version, commit or
    digest than the image that they name. Rows that name several images, or none, say nothing that could be contradicted.
    """
    named, before = _one(rows), _one(baseline) or _NONE
    if named is None or not reported:
        return tuple(rows)
    schemes = tuple(schemes)
    candidate = Candidate(old=_resolved(before), new=_resolved(named), text=named)
    ran: dict[int, str] = {}
    for point in {row.point.concurrency for row in rows}:
        heard = [one for one in reported if one.concurrency in (0, point)]
        proof = prove(heard, candidate, schemes=schemes, engines=engines, claims=(named,))
        if proof.contradicted:
            ran[point] = proof.ran
    return tuple(_flagged(row, ran.get(row.point.concurrency)) for row in rows)


def _one(rows: Iterable[Row]) -> str | None:
    """The one image that rows name; None where it is none that can be read."""
    images = {row.image for row in rows if row.image}
    try:
        return parse(only).text if len(images) == 1 and (only := images.pop()) else None
    except BadInput:
        return None


def _resolved(text: str) -> Resolved:
    """An image of which only its name is known."""
    reference = parse(text)
    return Resolved(reference=reference, kind="manifest", digest=reference.digest or "", platforms=())


def _flagged(row: Row, ran: str | None) -> Row:
    if ran is None or row.metric == "eval":
        return row
    return replace(row, flags=(*row.flags, f"image-not-proven:{ran}" if ran else "image-not-proven"))
