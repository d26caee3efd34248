"""The payload of the forge's event into an Event: a hint only, so whatever is not understood becomes the schedule's.

An event name that no wake listens to is refused: it means that the workflow file and this version do not belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

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


def event_of(name: str, payload: Payload, at: datetime) -> Event:
    """The event of a workflow run. Raises BadArguments for another kind, BadInput when a key it needs is missing."""
    if name not in READERS:
        raise BadArguments(f"no wake listens to the event `{name}`", f"it listens to: {', '.join(READERS)}")
    try:
        return READERS[name](payload, at)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"the payload of `{name}` lacks {error}", "give the payload that the forge wrote") from None


def _pull(payload: Payload, at: datetime) -> Event:
    number, actor, action = int(payload["pull_request"]["number"]), str(payload["sender"]["login"]), str(payload["action"])
    if action in ("labeled", "unlabeled"):
        kind = Labelled if action == "labeled" else Unlabelled
        return kind(at=at, pull=number, label=str(payload["label"]["name"]), actor=actor)
    return PullChanged(at=at, pull=number, action=action, actor=actor)


def _comment(payload: Payload, at: datetime) -> Event:
    comment = payload["comment"]
    return Commented(at=at, pull=int(payload["issue"]["number"]), comment=int(comment["id"]), actor=str(comment["user"]["login"]))


def _run(payload: Payload, at: datetime) -> Event:
    run = payload["workflow_run"]
    return RunFinished(at=at, run=int(run["id"]), workflow=str(run["path"]).rsplit("/", 1)[-1], head=str(run["head_sha"]))


def _push(payload: Payload, at: datetime) -> Event:
    return Pushed(at=at, branch=str(payload["ref"]).removeprefix("refs/heads/"), head=str(payload["after"]))


def _dispatch(payload: Payload, at: datetime) -> Event:
    inputs = payload.get("inputs") or {}
    recipe = str(inputs.get("recipe") or "")
    if not recipe:
        return Scheduled(at=at)
    return Requested(at=at, recipe=recipe, image=str(inputs.get("image") or "") or None, actor=payload.get("sender", {}).get("login"))


READERS: dict[str, Callable[[Payload, datetime], Event]] = {
    "schedule": lambda payload, at: Scheduled(at=at),
    "workflow_dispatch": _dispatch,
    "pull_request_target": _pull,
    "issue_comment": _comment,
    "workflow_run": _run,
    "push": _push,
}
