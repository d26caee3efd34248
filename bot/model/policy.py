"""What people write about how a recipe's image moves: the same keys in an own recipe and in a layout file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Channel = Literal["stable", "nightly", "lineage", "pinned"]
Label = Literal["cuda", "rocm", "gpu", "arch", "os", "channel", "variant"]
Text = Annotated[str, Meta(min_length=1)]
ControlArm = Literal["never", "same-day"]
_NAMED = "[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}"
CHANGE = f"^(?:[0-9a-f]{{7,64}}|#[1-9][0-9]{{0,8}}|{_NAMED}(?:#[1-9][0-9]{{0,8}}|@[0-9a-f]{{7,64}}))$"
# A change of an upstream; `#` begins a comment in YAML where nothing stands before it.
Change = Annotated[str, Meta(pattern=CHANGE, description=(
    "a commit, or a pull request as \"#123\" (in quotes) or owner/name#123; owner/name@commit is another repository's"))]
Days = Annotated[float, Meta(ge=0, le=36500)]


class Hint(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Somebody's word on which image to take: `use` this tag or a newer one, or one that `contains` this change. It is
    answered in the reasons and decides nothing; `by` says whose word it is."""

    use: Annotated[str, Meta(description="a tag: use it or a newer one")] = ""
    contains: Annotated[str, Meta(description="a change, written as in must-have: retry when an image contains it")] = ""
    by: Annotated[str, Meta(description="who said so, or where it stands")] = ""


class Answered(Struct, frozen=True, kw_only=True):
    """A hint's answer: `what` is the tag or commit that it names, `beside` the tag that was taken (or that runs, where what runs
    fulfils it), `how` that one stands to it, by `why` of the order; `lost` is why the hint's own tag was not taken."""

    what: str
    of: Literal["tag", "commit"]
    by: str
    answer: Literal["taken", "fulfilled", "not-taken", "unknown"]
    beside: str
    how: Literal["same", "newer", "older", "incomparable", "contains", "lacks", "unknown", "none"]
    why: str = ""
    lost: str = ""

    @property
    def said(self) -> str:
        """The answer as one sentence."""
        by = f" ({self.by})" if self.by else ""
        asked = f"hint: {self.what} or newer{by}" if self.of == "tag" else f"hint: what contains {self.what}{by}"
        if self.of == "commit":
            return f"{asked}: {_CONTAINS[self.how].format(self.beside)}"
        if self.answer != "not-taken":
            word = "taken" if self.answer == "taken" else "fulfilled already"
            return f"{asked}: {word}, {self.beside} is {'it' if self.how == 'same' else f'newer ({self.why})'}"
        stands = {"older": "older", "incomparable": "not comparable"}.get(self.how)
        fault = f"{self.beside} is {stands} ({self.why})" if stands else "nothing is taken"
        return f"{asked}: not taken, {fault}; {self.what}: {self.lost}" if self.lost else f"{asked}: not taken, {fault}"


_CONTAINS = {"none": "not taken, nothing is taken", "unknown": "not known of {}", "contains": "taken, {} contains it",
             "lacks": "not taken, {} does not contain it"}


class Wanted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """How a recipe's image moves. A key left out is taken from the layout's `policies`, then its `policy`."""

    channel: Annotated[Channel, Meta(description=(
        "stable: releases only; nightly: nightlies only; lineage: the same kind of tag, where only version, date and commit "
        "move; pinned: nothing moves, and `reason` says why"))] | UnsetType = UNSET
    reason: Annotated[Text, Meta(description="why the recipe is pinned")] | UnsetType = UNSET
    minimum_age_days: Annotated[Days, Meta(description="days since we first saw the image's bytes ourselves")] | UnsetType = UNSET
    quiet_days: Annotated[Days, Meta(description=(
        "days for which a tag that was pushed again must have held still"))] | UnsetType = UNSET
    every_days: Annotated[Days, Meta(description="the recipe moves at most once in so many days")] | UnsetType = UNSET
    must_have: Annotated[tuple[Change, ...], Meta(description=(
        "changes that the image, or a part pinned beside it, must contain"))] | UnsetType = UNSET
    must_not_have: Annotated[tuple[Change, ...], Meta(description=(
        "changes that the image, or a part pinned beside it, must not contain"))] | UnsetType = UNSET
    may_change: Annotated[tuple[Label, ...], Meta(description=(
        "fields of the tag that may differ from the current one's, like cuda"))] | UnsetType = UNSET
    hints: Annotated[tuple[Hint, ...], Meta(description=(
        "images that somebody recommends; each is answered in the reasons"))] | UnsetType = UNSET
    control_arm: Annotated[ControlArm, Meta(description=(
        "never: the sweep is compared with the published baseline; same-day: the old image is measured once more beside the "
        "sweep, at the same points, and is its baseline"))] | UnsetType = UNSET

    def over(self, other: Wanted) -> Wanted:
        """These keys, and the other's where this one leaves one out."""
        both = {name: getattr(self, name) if getattr(self, name) is not UNSET else getattr(other, name)
                for name in self.__struct_fields__}
        return Wanted(**both)


def faults(wanted: Wanted) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """What types cannot say of these keys: where, what is wrong, what to do."""
    if wanted.channel == "pinned" and not (wanted.reason or "").strip():
        yield ("reason",), "a pin needs its reason", "add `reason:`"
    for at, hint in enumerate(wanted.hints or ()):
        if bool(hint.use) == bool(hint.contains):
            yield ("hints", at), "a hint names a tag or a commit, one of the two", "write `use:` or `contains:`"
