"""Published points to the one set that is the baseline: this image, this fingerprint, the newest run.

The image and the fingerprint are those of the recipe before the bump. A fingerprint contains the image, the topology
and the workload, so an equal one is the strongest identity there is; a snapshot of another topology, or one that a
newer image already replaced, is no baseline however near it lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bot.model.result import Baseline

Missing = Literal["nothing-published", "other-image", "other-configuration", "newer-only"]


class Match(Struct, frozen=True, kw_only=True):
    """The baseline, or why there is none. `history` are older runs of exactly the same, newest first."""

    baseline: Baseline | None
    missing: Missing | None = None
    seen: tuple[str, ...] = ()
    history: tuple[Baseline, ...] = ()
    notes: tuple[str, ...] = ()


def match(published: Sequence[Baseline], image: str, fingerprint: str | None, date: str | None = None) -> Match:
    """The newest of `published` with this image and fingerprint, on or before `date` (YYYY-MM-DD) when one is given.

    A published set without a fingerprint can match by image alone, and a note says so; one with a different fingerprint
    never does. `seen` names the images that were published instead.
    """
    with_points = [one for one in published if one.rows]
    if not with_points:
        return Match(baseline=None, missing="nothing-published")
    ours = [one for one in with_points if same_image(one.image, image)]
    if not ours:
        return Match(baseline=None, missing="other-image", seen=tuple(sorted({one.image for one in with_points})))
    exact = [one for one in ours if fingerprint and one.fingerprint == fingerprint]
    weak = [one for one in ours if not fingerprint or not one.fingerprint]
    fitting = exact or weak
    if not fitting:
        return Match(baseline=None, missing="other-configuration", seen=tuple(sorted({one.fingerprint or "" for one in ours})))
    dated = sorted((one for one in fitting if date is None or one.date <= date), key=_age, reverse=True)
    if not dated:
        return Match(baseline=None, missing="newer-only", seen=tuple(sorted({one.date for one in fitting})))
    return Match(baseline=dated[0], history=tuple(dated[1:]), notes=() if exact else ("fingerprint-unknown",))


def same_image(one: str, other: str) -> bool:
    """Equal references, whatever the spelling: Enroot's `#`, a named docker.io, a digest that one side leaves out."""
    (name, digest), (other_name, other_digest) = _parts(one), _parts(other)
    return name == other_name and (digest is None or other_digest is None or digest == other_digest)


def _parts(text: str) -> tuple[str, str | None]:
    name, _, digest = text.replace("#", "/", 1).partition("@")
    for prefix in ("docker.io/", "index.docker.io/", "registry-1.docker.io/"):
        name = name.removeprefix(prefix)
    return name.removeprefix("library/"), digest or None


def _age(one: Baseline) -> tuple[str, int, int, str]:
    return one.date, one.run or 0, one.attempt or 0, one.fingerprint or ""
