"""Why the bot was woken. An event is a hint: what is true is read again from the world (GitHub drops, doubles, delays)."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class _Event(Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    at: datetime


class Scheduled(_Event, frozen=True, kw_only=True, tag="schedule"):
    """The clock; the catch-all that makes every other event dispensable."""


class Requested(_Event, frozen=True, kw_only=True, tag="dispatch"):
    """Somebody asks for a bump of a recipe, to an image they name or to the one policy chooses."""

    recipe: str
    image: str | None = None
    actor: str | None = None


class Labelled(_Event, frozen=True, kw_only=True, tag="labelled"):
    pull: int
    label: str
    actor: str


class Unlabelled(_Event, frozen=True, kw_only=True, tag="unlabelled"):
    pull: int
    label: str
    actor: str


class PullChanged(_Event, frozen=True, kw_only=True, tag="pull"):
    """Opened, pushed to, closed, made ready: `action` is the forge's own word."""

    pull: int
    action: str
    actor: str


class Commented(_Event, frozen=True, kw_only=True, tag="comment"):
    pull: int
    comment: int
    actor: str


class RunFinished(_Event, frozen=True, kw_only=True, tag="run"):
    run: int
    workflow: str
    head: str


class Pushed(_Event, frozen=True, kw_only=True, tag="push"):
    branch: str
    head: str


Event = Scheduled | Requested | Labelled | Unlabelled | PullChanged | Commented | RunFinished | Pushed
