"""What a server's own words prove of the image that was ordered, asked before it is loaded: `compare` and the wake ask it again."""

from __future__ import annotations

from collections.abc import Callable

from bot.errors import BadInput
from bot.images.proven import prove
from bot.images.reference import parse
from bot.model.bench import Gate, Order
from bot.model.image import Candidate, Resolved
from bot.model.result import Reported
from bot.wake.context import Knowledge

_NONE = "none/none:none"


def of(known: Knowledge) -> Callable[[Order, tuple[Reported, ...]], Gate]:
    """The gate `image`: it fails where something else is known to run, and is unknown where nobody says."""

    def proof(order: Order, heard: tuple[Reported, ...]) -> Gate:
        try:
            candidate = Candidate(old=_resolved(_NONE), new=_resolved(order.image), text=order.image)
        except BadInput as error:
            raise BadInput(error.reason, error.hint, key="image") from None
        found = prove(heard, candidate, schemes=known.schemes, engines=known.reported.images, name=known.reported.name)
        said = f"{found.ran or 'something else'} runs, and {found.wanted or order.image} was ordered" if found.contradicted else \
            f"{found.ran} runs" if found.holds else "no word of server or launcher tells it apart"
        return Gate(name="image", phase="before", passed=False if found.contradicted else True if found.holds else None, said=said)

    return proof


def _resolved(text: str) -> Resolved:
    """An image of which only its name is known."""
    reference = parse(text)
    return Resolved(reference=reference, kind="manifest", digest=reference.digest or "", platforms=())
