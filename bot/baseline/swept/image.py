"""Whether the image that was planned is what answered, from the launcher's digest, the server's word and its logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import BadInput
from bot.images.proven import prove
from bot.images.reference import parse
from bot.model.bench import Order, Report
from bot.model.image import Candidate, Resolved
from bot.model.result import Proof
from bot.results import Collected

if TYPE_CHECKING:
    from bot.baseline.swept.job import Known

_NOBODY = "localhost/nobody:none"
"""In place of the image before, where there is none: nothing that runs has this name."""


def proven(order: Order, report: Report, collected: Collected, known: Known) -> Proof:
    """As a wake proves it of the same point, with what the job's own report tells beside; of a sweep of the image that the default
    branch has, no other image is known that it could have been. BadInput never: a reference that is none proves nothing."""
    digest = report.launched.digest if report.launched else None
    try:
        new, pinned = _image(order.image, digest or ""), parse(order.image).digest
        before = known.before.get(order.recipe, "")
        old = _image(before if before and before != order.image else _NOBODY, "")
    except BadInput:
        return Proof(state="unproven", why="silent")
    if digest and pinned and digest != pinned:
        return Proof(state="stale", wanted=pinned, ran=digest)
    claims = {row.image for row in collected.rows if row.image}
    return prove(collected.reported, Candidate(old=old, new=new, text=order.image), schemes=known.schemes, engines=known.engines,
                 claims=claims, trusted=known.trusted, name=known.name)


def _image(text: str, digest: str) -> Resolved:
    reference = parse(text)
    return Resolved(reference=reference, kind="manifest", digest=digest or reference.digest or "", platforms=())
