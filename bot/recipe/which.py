"""Which of the images at a recipe's paths is the recipe's, which are the same one, and which stand beside it.

A manifest holds sidecars, a Dockerfile tools that it copies from. Where one path finds several images, the one whose
repository the layout allows is the recipe's; where that names several or none, nobody guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from bot.errors import BadInput
from bot.images import reference
from bot.layout.paths import Step
from bot.recipe import spelling
from bot.recipe.files.named import Named, elsewhere
from bot.recipe.homes import Home

Same = Callable[[str, str], bool]
_SHOWN = 4


class Chosen(Struct, frozen=True, kw_only=True):
    """The image; where it stands; where another tag of its repository does; where images of other repositories do, of which
    those that no allow-list tells apart."""

    image: str
    places: tuple[Named, ...]
    apart: tuple[Named, ...]
    beside: tuple[Named, ...]


def chosen(home: Home, allow: Collection[str]) -> Chosen:
    """The images of one recipe. BadInput where it names none, or several of which none is more its own than the others."""
    found = [(path, named) for path in home.paths for named in home.images(path) if named.text]
    lead = [named for path, named in found if path == found[0][0]]
    if not lead:
        raise _fault(home, "this recipe names no image", f"expected at {', '.join(home.paths)}")
    image = _one(home, [named for named in lead if not elsewhere(named.text)], lead[0], allow)
    places, apart, beside = [], [], []
    for path, named in found:
        if spelling.form(named.text, image) is not None:
            places.append(named)
        elif repository(named.text) == repository(image) or not home.document.many(path):
            apart.append(named)
        elif not allow:
            beside.append(named)
    return Chosen(image=image, places=tuple(places), apart=tuple(apart), beside=tuple(beside))


def image(home: Home, allow: Collection[str]) -> str:
    """A recipe's image, "" where it cannot be told."""
    try:
        return chosen(home, allow).image
    except BadInput:
        return ""


def repository(text: str) -> str:
    """`registry/repository` of an image; the text itself where it is no reference."""
    try:
        return reference.parse(text).name
    except BadInput:
        return text


def _one(home: Home, lead: Sequence[Named], first: Named, allow: Collection[str]) -> str:
    if not lead:
        raise _fault(home, f"its image is filled in from elsewhere: {first.text}", "let the layout name the file that holds it",
                     first)
    known = {spelling.docker(named.text): named for named in reversed(lead)}
    if len(known) == 1 or not allow:
        return lead[0].text
    allowed = [named for named in known.values() if repository(named.text) in allow]
    if len(allowed) == 1:
        return allowed[0].text
    told = [f"{named.text} at {written(named.hit.steps[len(home.hit.steps):])}"
            for named in reversed(allowed or list(known.values()))]
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    raise _fault(home, f"one path finds {len(told)} images, and the layout's `allow` "
                       f"{'has several' if allowed else 'has none'} of them: {', '.join(told[:_SHOWN])}{more}",
                 "write the path of one in the layout's `image`", first)


def written(way: Sequence[Step]) -> str:
    """A path as a layout writes it, also in a list in brackets."""
    return "".join(f'."{step}"' if set(str(step)) & set('.[]" ') else f".{step}" for step in way)


def _fault(home: Home, reason: str, hint: str, named: Named | None = None) -> BadInput:
    line = home.document.line(named.hit.node.start_mark.index) if named else home.line
    return BadInput(reason, hint, file=home.file, line=line, key=home.key)
