"""The spellings in which one image stands at several sites: Enroot's `#`, Docker's `/`, and without the digest.

Launchers look the text up as it stands, so a site keeps the spelling it has (CONTRACT 1.4): `nvcr.io#a/b:1` and
`nvcr.io/a/b:1` are one image and two texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.errors import BadInput
from bot.images import reference

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


def spelt_out(image: str) -> str:
    """The image with its registry (`docker.io/vllm/vllm-openai:v1`); as it is where it is no reference."""
    try:
        found = reference.parse(image)
    except BadInput:
        return image
    return reference.with_style(found, reference.parse(f"{found.registry}/x")).text


def same(said: str, image: str) -> bool:
    """Whether two texts name one image, `#` and `/` being one."""
    return docker(said) == docker(image)


# The first form that makes the recipe's image what a site says is how the site writes images.
_WITH_REGISTRY: tuple[Form, ...] = (lambda image: image, docker, enroot, spelt_out)
_FORMS: tuple[Form, ...] = (*_WITH_REGISTRY, *(lambda image, form=form: form(undigested(image)) for form in _WITH_REGISTRY))


def form(said: str, image: str) -> Form | None:
    """How a site that says `said` writes `image`; None where it says something else."""
    return next((one for one in _FORMS if one(image) == said), None)
