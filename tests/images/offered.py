"""A recipe and the tags it is offered, short enough to say in a line. It is noon of NOW."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.images.choose import Choice, choose
from bot.images.offers import Current, Offer
from bot.images.policy import Policy
from bot.images.reference import parse
from bot.images.tags import read
from bot.model.image import Platform, Sight

SCHEMES = read((Path(__file__).parents[2] / "bot" / "knowledge" / "tags.yaml").read_text(encoding="utf-8"))
NOW = datetime(2026, 9, 10, 12, tzinfo=UTC)
REPOSITORY = "lmsysorg/sglang"
OPEN = Policy(allow=(f"docker.io/{REPOSITORY}",))


def digest(seed: str) -> str:
    return "sha256:" + (seed * 64)[:64]


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def seen(*looks: tuple[str, float]) -> tuple[Sight, ...]:
    """Sights as (digest's seed, days ago), oldest first."""
    return tuple(Sight(digest=digest(seed), at=ago(days)) for seed, days in looks)


def offer(tag: str, *looks: tuple[str, float], arches: tuple[str, ...] = ("amd64", "arm64"), **said: Any) -> Offer:
    """A tag that holds what the last look saw; bare where nobody looked."""
    if not looks:
        return Offer(tag=tag, **said)
    held = looks[-1][0]
    platforms = tuple(Platform(os="linux", architecture=arch, digest=digest(held + arch[1]), size=1) for arch in arches)
    return Offer(**{"tag": tag, "digest": digest(held), "platforms": platforms, "sights": seen(*looks), **said})


def current(tag: str, runs: str | None = None, **said: Any) -> Current:
    """The recipe's image, pinned to the digest of that seed where one is given."""
    return Current(reference=parse(f"{REPOSITORY}:{tag}" + (f"@{digest(runs)}" if runs else "")), **said)


def chosen(now: str | Current, offers: Any, *, ancestry: Any = None, at: datetime = NOW, policy: Policy = OPEN,
           **rules: Any) -> Choice:
    """The choice among tags or offers, by an open policy with the `rules` named."""
    held = [offer(one) if isinstance(one, str) else one for one in offers]
    policy = Policy(**{**{name: getattr(policy, name) for name in policy.__struct_fields__}, **rules})
    return choose(current(now) if isinstance(now, str) else now, held, policy, SCHEMES, ancestry, now=at)
