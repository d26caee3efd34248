"""One function a record: GitHub's JSON in, our noun out. What is absent is None; what must be there and is not is BadInput."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.model.forge import Artifact, Comment, Job, Labelling, Pull, RunInfo

Json = Mapping[str, Any]
# GitHub has more words for "not yet running" than anybody needs.
STATUS = {"completed": "completed", "in_progress": "in_progress"}


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def moment_or_none(text: str | None) -> datetime | None:
    return moment(text) if text else None


def pull(data: Json, closed_by: str | None = None) -> Pull:
    return Pull(
        number=data["number"], url=data["html_url"], title=data["title"], body=data["body"] or "", head=data["head"]["sha"],
        branch=data["head"]["ref"], base=data["base"]["ref"], author=data["user"]["login"], draft=bool(data.get("draft")),
        open=data["state"] == "open", merged=bool(data.get("merged") or data.get("merged_at")), mergeable=data.get("mergeable"),
        labels=tuple(label["name"] for label in data["labels"]), closed_by=closed_by,
    )


def comment(data: Json) -> Comment:
    return Comment(
        id=data["id"], author=data["user"]["login"], bot=data["user"]["type"] == "Bot", body=data["body"] or "",
        created=moment(data["created_at"]), updated=moment(data["updated_at"]),
    )


def run(data: Json) -> RunInfo:
    return RunInfo(
        id=data["id"], attempt=data.get("run_attempt") or 1, workflow=data["path"].partition("@")[0].rsplit("/", 1)[-1],
        event=data["event"], head=data["head_sha"], branch=data["head_branch"] or "", title=data.get("display_title") or "",
        status=STATUS.get(data["status"], "queued"), conclusion=data["conclusion"], created=moment(data["created_at"]),
        actor=(data.get("triggering_actor") or data.get("actor") or {}).get("login") or "",
    )


def job(data: Json) -> Job:
    """A job that no runner took has a `started_at` on GitHub too (when it was queued); it held no GPU, so it did not start."""
    status = STATUS.get(data["status"], "queued")
    taken = status != "queued" and bool(data.get("runner_id"))
    return Job(
        id=data["id"], run=data["run_id"], attempt=data.get("run_attempt") or 1, name=data["name"], status=status,
        conclusion=data["conclusion"], started=moment_or_none(data["started_at"]) if taken else None,
        completed=moment_or_none(data["completed_at"]), labels=tuple(data.get("labels") or ()), runner=data.get("runner_name"),
    )


def artifact(data: Json) -> Artifact:
    return Artifact(
        id=data["id"], name=data["name"], size=data["size_in_bytes"], created=moment(data["created_at"]),
        expired=bool(data["expired"]),
    )


def labelling(data: Json) -> Labelling | None:
    if data.get("event") not in ("labeled", "unlabeled"):
        return None
    actor = (data.get("actor") or {}).get("login") or ""
    return Labelling(label=data["label"]["name"], by=actor, at=moment(data["created_at"]), added=data["event"] == "labeled")
