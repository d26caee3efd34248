"""What lies in the package and says how to read a repository: tag schemes, presets, the layout that they make."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from bot.adapters.assets import PackagedAssets
from bot.errors import BadInput
from bot.images import schemes as tag_schemes
from bot.images.schemes import Scheme
from bot.layout import Layout, resolve
from bot.model.rules import Limits

LAYOUT_FILE = ".github/bumpbot.yml"
PRESETS = ("own", "inferencex")


def schemes(assets: PackagedAssets) -> tuple[Scheme, ...]:
    """How tags are read and ordered."""
    return schemes_of(assets.text("knowledge/tags.yaml"))


@lru_cache(maxsize=2)
def schemes_of(text: str) -> tuple[Scheme, ...]:
    """As `schemes`, of the text of tags.yaml."""
    return tag_schemes.read(text, file="knowledge/tags.yaml")


def presets(assets: PackagedAssets) -> Mapping[str, str]:
    """The texts of the presets by name."""
    return {name: assets.text(f"layout/presets/{name}.yml") for name in PRESETS}


def layout_from(assets: PackagedAssets, data: bytes | None, *, file: str) -> Layout:
    """The layout that a repository's default branch states, else the preset `own`."""
    known = presets(assets)
    if data is None:
        return _resolved(known["own"], tuple(known.items()), "layout/presets/own.yml")
    try:
        return _resolved(data.decode(), tuple(known.items()), file)
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", f"look at byte {error.start}", file=file) from None


@lru_cache(maxsize=8)
def _resolved(text: str, known: tuple[tuple[str, str], ...], file: str) -> Layout:
    """Kept for the very same texts: a rehearsal's two bots and its proof ask for one layout three times."""
    return resolve(text, dict(known), file=file)


def limits(layout: Layout, **changed: Any) -> Limits:
    """The layout's limits as facts of a bump; `changed` are those a rehearsal's policy sets."""
    own = layout.limits
    base = Limits(
        repairs=own.repairs, infrastructure_retries=own.infrastructure_retries, repeats=own.repeats, gpu_hours=own.gpu_hours,
        gpu_hours_per_day=own.gpu_hours_per_day,
        approve_above=own.approve_above, update_minutes=own.update_minutes,
    )
    return msgspec.structs.replace(base, **{name: value for name, value in changed.items() if value is not None})
