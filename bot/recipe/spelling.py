"""The spellings in which one image stands at several sites: Enroot's `#`, Docker's `/`, and without the digest.

Launchers look the text up as it stands, so a site keeps the spelling it has (CONTRACT 1.4): `nvcr.io#a/b:1` and
`nvcr.io/a/b:1` are one image and two texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_HOST = re.compile(r"(?P<host>[^/#]*[.:][^/#]*|localhost)[/#]")

Form = Callable[[str], str]


def docker(image: str) -> str:
    """The image with `/` after its registry."""
    return image.replace("#", "/", 1)


def enroot(image: str) -> str:
    """The image with `#` after its registry; as it is where it names none (`vllm/vllm-openai`)."""
    found = _HOST.match(image)
    return f"{found['host']}#{image[found.end():]}" if found else image


def undigested(image: str) -> str:
    """The image without its digest, where a tag is left to name it."""
    name, at, _ = image.partition("@")
    return name if at and ":" in name.rpartition("/")[2] else image


def same(said: str, image: str) -> bool:
    """Whether two texts name one image, `#` and `/` being one."""
    return docker(said) == docker(image)


# The first form that makes the recipe's image what a site says is how the site writes images.
_FORMS: tuple[Form, ...] = (
    lambda image: image, docker, enroot,
    undigested, lambda image: docker(undigested(image)), lambda image: enroot(undigested(image)),
)


def form(said: str, image: str) -> Form | None:
    """How a site that says `said` writes `image`; None where it says something else."""
    return next((one for one in _FORMS if one(image) == said), None)
