"""What an operator may mount into a container, by what is written alone: told with its line before anything is started."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

INSIDE = "/hf/hub"
"""Where the models of the Hugging Face cache lie in a container: a place that no image has, and that any user may be let into."""
# Below these a container has what `bench` or its launcher puts there itself.
_TAKEN = {"/hf": "bench keeps the models there", **dict.fromkeys(("/proc", "/sys", "/dev"), "every container has its own")}
_FORM = "write two absolute paths in the machine file's `mounts`"
_ELSEWHERE = "give it another place in the container, as in /data"


def split(text: str) -> tuple[str, str]:
    """The folder here and the place there, as they are written; both empty where it is not HOST:CONTAINER."""
    here, _, there = text.partition(":")
    formed = here.startswith("/") and there.startswith("/") and not {",", ":"} & set(there) and "," not in here
    return (here, there) if formed and text.isprintable() else ("", "")


def faults(mounts: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """What does not hold of them: which (from 0), what is wrong, what to do. A mount over the models was told by podman alone, as a
    `duplicate mount destination`, when image and GPUs had been looked at."""
    places: set[str] = set()
    for at, text in enumerate(mounts):
        _, there = split(text)
        if not there:
            yield at, f"the mount {text[:200]!r} is not HOST:CONTAINER", _FORM
            continue
        place = posixpath.normpath(f"/{there.lstrip('/')}")
        why = next((why for taken, why in _TAKEN.items() if place == taken or place.startswith(f"{taken}/")), None)
        if place == "/" or why:
            yield at, f"nothing can be mounted onto {place}: {why or 'the image itself is there'}", _ELSEWHERE
        if place in places:
            yield at, f"two folders are mounted onto {place}", "leave one of them out"
        places.add(place)
