"""What a recipe allows its image to become: the rules that choose and judge hold a candidate to, and what kind a tag is of."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from msgspec import UNSET, Struct

from bot.images.schemes import CUSTOM
from bot.images.tags import TagFields
from bot.model.policy import Hint, Wanted

Kind = Literal["release", "candidate", "dev", "nightly", "build", "floating", "custom"]

NOTHING = timedelta(0)
# A recipe may ripen along its own line, from a development build to the release, and never goes back.
_RIPENESS: dict[Kind, int] = {"dev": 0, "candidate": 1, "release": 2}
# Words that say of a build with a version that it is none of the releases.
_UNRIPE = frozenset({"nightly", "snapshot", "canary", "edge", "preview", "experimental", "test"})
_CALLED: dict[Kind, str] = {
    "release": "a release", "candidate": "a release candidate", "dev": "a development build", "nightly": "a nightly",
    "build": "a build of one commit or day", "floating": "a tag that is moved at every push", "custom": "a tag of no known scheme",
}


class Policy(Struct, frozen=True, kw_only=True):
    """What a layout and a recipe allow. `allow`: registry/repository names; `platform`: `linux/arm64` as the hardware
    needs it; `pin`: whether the fleet takes `tag@digest`; `free`: tag fields that may move (normally none); `keep`: why
    this recipe's image stays as it is. `minimum_age` counts from our own first sight of the bytes, `quiet` from the last
    push of a tag that was pushed again, `cadence` from the recipe's last move."""

    allow: tuple[str, ...]
    platform: str | None = None
    pin: bool = True
    free: frozenset[str] = frozenset()
    keep: str | None = None
    channel: Literal["stable", "nightly", "lineage"] = "lineage"
    minimum_age: timedelta = NOTHING
    quiet: timedelta = NOTHING
    cadence: timedelta = NOTHING
    must_have: tuple[str, ...] = ()
    must_not_have: tuple[str, ...] = ()
    hints: tuple[Hint, ...] = ()


def policy(wanted: Wanted, *, allow: tuple[str, ...], platform: str | None, pin: bool) -> Policy:
    """What people wrote, beside what the repository and the hardware ask for, as one policy; what nobody wrote is `lineage`
    without any wait."""
    said = {name: value for name in wanted.__struct_fields__ if (value := getattr(wanted, name)) is not UNSET}
    channel = said.get("channel", "lineage")
    pinned = channel == "pinned"
    return Policy(
        allow=allow, platform=platform, pin=pin, keep=said.get("reason", "no reason is written") if pinned else None,
        channel="lineage" if pinned else channel, free=frozenset(said.get("may_change", ())),
        minimum_age=timedelta(days=said.get("minimum_age_days", 0)), quiet=timedelta(days=said.get("quiet_days", 0)),
        cadence=timedelta(days=said.get("every_days", 0)), must_have=said.get("must_have", ()),
        must_not_have=said.get("must_not_have", ()), hints=said.get("hints", ()))


def kind_of(tag: TagFields) -> Kind:
    """What kind a tag is of, by its own fields: another variant that `latest` points at says nothing about this one."""
    told = tag.fields
    if tag.scheme == CUSTOM:
        return "custom"
    if "channel" in told:
        return "floating" if told["channel"] in ("latest", "stable") else "nightly"
    if "commit" in told or "version" not in told:
        return "build"
    if told.keys() & {"dev", "alpha", "beta"} or not _UNRIPE.isdisjoint(str(told.get("variant", "")).split("-")):
        return "dev"
    return "candidate" if "rc" in told else "release"


def off_channel(tag: TagFields, current: TagFields, channel: str) -> str | None:
    """Why a tag is not of the channel that the recipe follows from its current tag; None when it is."""
    kind, mine = kind_of(tag), kind_of(current)
    if channel == "stable" and kind != "release":
        return f"{_CALLED[kind]}, and the policy takes releases only"
    if channel == "nightly" and kind != "nightly":
        return f"{_CALLED[kind]}, and the policy takes nightlies only"
    if channel == "lineage" and kind != mine and _RIPENESS.get(kind, -1) < _RIPENESS.get(mine, 9):
        return f"{_CALLED[kind]}, and the current tag is {_CALLED[mine]}"
    # Undated siblings do not exist for every version: the shape of a tag is kept. A build counted within a day comes and goes.
    for name in ("date", "commit", *(() if "date" in tag.fields else ("build",))):
        if (name in tag.fields) != (name in current.fields):
            return f"has {'a' if name in tag.fields else 'no'} {name}, other than the current tag"
    return None
