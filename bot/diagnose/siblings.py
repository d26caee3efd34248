"""Evidence for a repair: which other recipes of the repository already run this image, and what they say at one key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from bot.errors import BadInput
from bot.images.alike import alike
from bot.recipe.files.document import Document

# Where a recipe file says which image it runs, the most particular first.
IMAGE_PATHS = ("model.container", "identity.container.image", "image")


class Sibling(Struct, frozen=True, kw_only=True):
    """One recipe on the image. `value` None: the key is absent there."""

    file: str
    image: str
    value: str | None


def siblings(files: Mapping[str, bytes], path: str, image: str, *, without: Sequence[str] = ()) -> tuple[Sibling, ...]:
    """Recipes on `image` (same repository, and same digest or tag) and their value at `path`, by file name.

    Files that are no readable YAML are no evidence. `without` names the files under repair.
    """
    found = []
    for name in sorted(set(files) - set(without)):
        try:
            document = Document(files[name], name)
            held = next((text for where in IMAGE_PATHS if (text := document.scalar(where))), None)
            if held and alike(held, image):
                found.append(Sibling(file=name, image=held, value=document.scalar(path)))
        except BadInput:
            continue
    return tuple(found)


def counted(found: Sequence[Sibling]) -> dict[str, int]:
    """How many siblings hold which value; "-" where the key is absent. The most frequent first."""
    values = [sibling.value if sibling.value is not None else "-" for sibling in found]
    return dict(sorted({value: values.count(value) for value in values}.items(), key=lambda item: (-item[1], item[0])))
