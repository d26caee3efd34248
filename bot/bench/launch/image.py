"""An order's image as each container tool wants it named, and whether what is there is what was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.bench.diary import known
from bot.errors import BadInput, Refusal
from bot.images import reference
from bot.model.image import Reference

_DIGEST = re.compile(r"^\s*Digest: (sha256:[0-9a-f]{64})\s*$", re.MULTILINE)
# What the machines call themselves, in the words of images.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv8": "arm64"}


def parsed(text: str) -> Reference:
    """The reference; BadInput where it is none."""
    return reference.parse(text)


def pulled_by(image: Reference) -> str:
    """As docker and podman take it: by digest where there is one (the tag beside it is not looked at), the registry spelled
    out, since podman takes no short name."""
    return f"{image.name}@{image.digest}" if image.digest else f"{image.name}:{image.tag or 'latest'}"


def imported_by(image: Reference) -> str:
    """As every Enroot takes it: `docker://REGISTRY#REPOSITORY:TAG`, a digest in the place of the tag (3.x knows no `@`). Docker
    Hub is left out: its API has another name than its images have."""
    host = "" if image.registry == reference.HUB else f"{image.registry}#"
    return f"docker://{host}{image.repository}:{image.digest or image.tag or 'latest'}"


def digest_of(image: Reference, there: Sequence[str], said: str) -> tuple[str | None, tuple[str, ...]]:
    """The image's digest as the launcher found it, and notes. `there` are its RepoDigests, `said` what the pull printed.

    Refusal when a digest was asked for and the image that is there has others only.
    """
    digests = [digest for name, _, digest in (entry.rpartition("@") for entry in there) if _same(name, image)]
    every = [entry.rpartition("@")[2] for entry in there]
    if image.digest:
        if image.digest not in every:
            came = ", ".join(every[:3]) or "it has no digest"
            raise known(Refusal(f"the image that came is not the one asked for: {came}",
                                f"asked for was {image.digest}; remove the image, and look at the registry"),
                        "other-digest", every[0] if every else "none")
        return image.digest, ()
    told = _DIGEST.findall(said)
    if told and told[-1] in (digests or told):
        return told[-1], ()
    if len(digests) > 1:
        return digests[0], (f"the image is known by {len(digests)} digests, of which the first is told",)
    return (digests[0], ()) if digests else (None, ("the launcher knows no digest of this image",))


def _same(name: str, image: Reference) -> bool:
    try:
        return reference.parse(name).name == image.name
    except BadInput:
        return False
