"""The payload of the forge's event into an Event: a hint only, for what is true is read again from the forge.

An event name that no wake listens to is refused: it means that the workflow file and this version do not belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from bot.errors import BadArguments, BadInput
from bot.model.event import (
    Commented,
    Event,
    Labelled,
    PullChanged,
    Pushed,
    Requested,
    RunFinished,
    Scheduled,
    Unlabelled,
)

Payload = Mapping[str, Any]
T = TypeVar("T", int, str)
_NAMES = {int: "a number", str: "a text"}
_LABELLING: dict[str, type[Labelled] | type[Unlabelled]] = {"labeled": Labelled, "unlabeled": Unlabelled}


class _Reader:
    """Values of a payload by their path; what is missing or of another kind is a BadInput with file and key."""

    def __init__(self, name: str, payload: Payload, file: str) -> None:
        self._name, self._payload, self._file = name, payload, file

    def __call__(self, path: str, kind: type[T]) -> T:
        found = self.get(path)
        if not isinstance(found, kind) or isinstance(found, bool):
            what = "is missing" if found is None else f"is not {_NAMES[kind]}"
            raise BadInput(f"{what}, and the event `{self._name}` needs it", "give the payload that the forge wrote",
                           file=self._file, key=path)
        return found

    def get(self, path: str) -> object:
        """Whatever stands there, or None."""
        found: Any = self._payload
        for step in path.split("."):
            found = found.get(step) if isinstance(found, Mapping) else None
        return found


def event_of(name: str, payload: Payload, at: datetime, *, file: str = "") -> Event:
    """The event of a workflow run. Raises BadArguments for another kind, BadInput when a key it needs is missing."""
    if name not in READERS:
        raise BadArguments(f"no wake listens to the event `{name}`", f"it listens to: {', '.join(READERS)}")
    return READERS[name](_Reader(name, payload, file), at)


def _pull(read: _Reader, at: datetime) -> Event:
    number, actor, action = read("pull_request.number", int), read("sender.login", str), read("action", str)
    if action in _LABELLING:
        return _LABELLING[action](at=at, pull=number, label=read("label.name", str), actor=actor)
    return PullChanged(at=at, pull=number, action=action, actor=actor)


def _comment(read: _Reader, at: datetime) -> Event:
    return Commented(at=at, pull=read("issue.number", int), comment=read("comment.id", int), actor=read("comment.user.login", str))


def _run(read: _Reader, at: datetime) -> Event:
    return RunFinished(at=at, run=read("workflow_run.id", int), workflow=read("workflow_run.path", str).rsplit("/", 1)[-1],
                       head=read("workflow_run.head_sha", str))


def _push(read: _Reader, at: datetime) -> Event:
    return Pushed(at=at, branch=read("ref", str).removeprefix("refs/heads/"), head=read("after", str))


def _dispatch(read: _Reader, at: datetime) -> Event:
    """By hand: a recipe among the inputs asks for a bump; without one somebody only wants the bot to look."""
    if not read.get("inputs.recipe"):
        return Scheduled(at=at)
    image, actor = read.get("inputs.image") or None, read.get("sender.login")
    return Requested(at=at, recipe=read("inputs.recipe", str), image=None if image is None else read("inputs.image", str),
                     actor=actor if isinstance(actor, str) else None)


READERS: dict[str, Callable[[_Reader, datetime], Event]] = {
    "schedule": lambda read, at: Scheduled(at=at),
    "workflow_dispatch": _dispatch,
    "pull_request_target": _pull,
    "issue_comment": _comment,
    "workflow_run": _run,
    "push": _push,
}
