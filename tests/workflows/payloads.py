"""GitHub's own example payloads, with the facts of a rehearsed repository laid over them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "payloads"


def stock(name: str) -> dict[str, Any]:
    """An example as GitHub has it: `issue_comment.created`, ..."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def payload(name: str, *facts: Mapping[str, Any]) -> dict[str, Any]:
    """An example in which each of `facts` replaces what it names, and nothing else."""
    made = stock(name)
    for each in facts:
        made = _laid(made, each)
    return made


def comment(facts: Mapping[str, Any], login: str, body: str, *, name: str = "issue_comment.created", number: int = 7, id_: int = 1,
            association: str = "COLLABORATOR", kind: str = "User") -> dict[str, Any]:
    """Somebody's comment on a pull request."""
    user = {"login": login, "type": kind}
    return payload(name, facts, {"issue": {"number": number, "pull_request": {"url": "x"}}, "sender": user,
                                 "comment": {"id": id_, "body": body, "user": user, "author_association": association}})


def pull(facts: Mapping[str, Any], login: str, *, name: str = "pull_request.labeled", number: int = 7, label: str = "full-sweep-enabled",
         head: str | None = None, kind: str = "User") -> dict[str, Any]:
    """Something that somebody did to a pull request whose branch lies in the repository `head`, by default this one."""
    here = facts["repository"]["full_name"]
    labelled = {"label": {"name": label}} if name.endswith("labeled") else {}
    return payload(name, facts, labelled, {"number": number, "sender": {"login": login, "type": kind},
                                           "pull_request": {"number": number, "head": {"repo": {"full_name": head or here}}}})


def ended(facts: Mapping[str, Any], run: int, head: str, *, workflow: str = "smoke.yml", event: str = "workflow_dispatch",
          source: str | None = None) -> dict[str, Any]:
    """The end of a run that `event` started on a branch of the repository `source`, by default this one."""
    here = facts["repository"]["full_name"]
    return payload("workflow_run.completed", facts, {"workflow_run": {
        "id": run, "head_sha": head, "path": f".github/workflows/{workflow}", "event": event,
        "head_repository": {"full_name": source or here}}})


def _laid(under: Any, over: Any) -> Any:
    if not isinstance(under, Mapping) or not isinstance(over, Mapping):
        return over
    return {**under, **{key: _laid(under.get(key), value) for key, value in over.items()}}
