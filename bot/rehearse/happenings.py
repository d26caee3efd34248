"""What people and machines do in a scenario, each at its moment of the virtual clock."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bot.rehearse.policy import Text
from bot.rehearse.registry import Moment

Login = Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]{1,39}(\[bot\])?$")]
FilePath = Annotated[str, Meta(pattern=r"^(?!/)(?!.*(^|/)\.\.(/|$)).+$")]


class Change(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One commit: whole new texts, texts added at a file's end, texts put in the place of others (file -> what stands there once ->
    what takes its place), files removed."""

    message: Text
    write: dict[FilePath, str] = {}
    append: dict[FilePath, str] = {}
    replace: dict[FilePath, dict[Text, str]] = {}
    remove: tuple[FilePath, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it changes nothing."""
        return not (self.write or self.append or self.replace or self.remove)


class Dispatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="dispatch"):
    """Somebody starts the wake workflow by hand: bump this recipe, to this image if one is named."""

    at: Moment
    by: Login
    recipe: Text
    image: Text | None = None


class Push(Change, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="push"):
    """Somebody pushes one commit.

    It goes to `branch`, or to the branch of the pull request `pull` (a number, or `newest`: the bot's newest one then open);
    with neither to the default branch.
    """

    at: Moment
    by: Login
    branch: Text | None = None
    pull: Annotated[int, Meta(ge=1)] | Literal["newest"] | None = None


class Neighbour(Change, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Somebody else's work: a branch with one commit on the default branch's tip and, with a title, the pull request that is open
    for it. `number`: the pull request's; the next free one where it is left out."""

    by: Login
    branch: Text
    title: Text | None = None
    number: Annotated[int, Meta(ge=1)] | None = None
    body: str = ""
    draft: bool = False


class Open(Neighbour, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="open"):
    """Somebody pushes a branch of their own and, with a title, opens a pull request for it."""

    at: Moment


class PullEvent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something a person does to a pull request; `pull` None is the bot's newest one then open."""

    at: Moment
    by: Login
    pull: int | None = None


class Label(PullEvent, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="label"):
    name: Text


class Unlabel(PullEvent, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="unlabel"):
    name: Text


class Comment(PullEvent, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="comment"):
    body: Text


class Close(PullEvent, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="close"):
    pass


class Merge(PullEvent, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="merge"):
    pass


class Repush(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="repush"):
    """A tag is moved to another image, described in `registry.yaml` under the tag `to` of the same repository."""

    at: Moment
    image: Text
    to: Text


Event = Dispatch | Push | Open | Label | Unlabel | Comment | Close | Merge | Repush
