"""What a server's own words prove of the image that was ordered, asked before it is loaded: `compare` and the wake ask it again."""

from __future__ import annotations

from collections.abc import Callable

from bot.adapters.assets import PackagedAssets
from bot.cli.packaged import schemes
from bot.diagnose import reported as wordings
from bot.errors import BadInput
from bot.images.proven import prove
from bot.images.reference import parse
from bot.model.bench import Gate, Order
from bot.model.image import Candidate, Resolved
from bot.model.result import Reported

_NONE = "none/none:none"


def of(assets: PackagedAssets) -> Callable[[Order, tuple[Reported, ...]], Gate]:
    """The gate `image`: it fails where something else is known to run, and is unknown where nobody says."""
    known = wordings.load(assets.text("knowledge/reported.yaml"), file="knowledge/reported.yaml")
    forms = schemes(assets)

    def proof(order: Order, heard: tuple[Reported, ...]) -> Gate:
        try:
            candidate = Candidate(old=_resolved(_NONE), new=_resolved(order.image), text=order.image)
        except BadInput as error:
            raise BadInput(error.reason, error.hint, key="image") from None
        found = prove(heard, candidate, schemes=forms, engines=known.images, name=known.name)
        said = f"{found.ran or 'something else'} runs, and {found.wanted or order.image} was ordered" if found.contradicted else \
            f"{found.ran} runs" if found.holds else "no word of server or launcher tells it apart"
        return Gate(name="image", phase="before", passed=False if found.contradicted else True if found.holds else None, said=said)

    return proof


def _resolved(text: str) -> Resolved:
    """An image of which only its name is known."""
    reference = parse(text)
    return Resolved(reference=reference, kind="manifest", digest=reference.digest or "", platforms=())
