"""Whether an event starts a workflow, into which concurrency group, under which name: GitHub's `on:` filters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from bot.rehearse.github.declare import Cause, Trigger, Workflow

# The types that an event without `types:` listens to. Events not named here listen to all of theirs.
DEFAULT_TYPES = {"pull_request": ("opened", "synchronize", "reopened"),
                 "pull_request_target": ("opened", "synchronize", "reopened")}
MAX_INPUTS = 25


def listens(trigger: Trigger, event: str, action: str | None) -> bool:
    """Whether the `types` of a trigger hold this action; an event without actions always fits."""
    wanted = trigger.types or DEFAULT_TYPES.get(event, ())
    return not wanted or action is None or action in wanted


def selected(patterns: Sequence[str], name: str) -> bool:
    """GitHub's filter patterns, read in order: `*` stops at a slash, `**` does not, `!` takes back what came before."""
    chosen = not patterns
    for pattern in patterns:
        if _compiled(pattern.removeprefix("!")).fullmatch(name):
            chosen = not pattern.startswith("!")
    return chosen


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "?", "+": "+"}
    found = re.findall(r"\*\*/|\*\*|\*|\?|\+|\[[^\]]*\]|[^*?+\[]+|.", pattern)
    return re.compile(
        "".join(parts.get(word) or (word if word[0] == "[" and len(word) > 1 else re.escape(word)) for word in found)
    )


def runs_jobs(workflow: Workflow, cause: Cause) -> bool:
    """Whether the jobs' `if:` lets them run, or the run concludes `skipped`."""
    if cause.number is None:
        return True
    if cause.draft and not workflow.drafts:
        return False
    return not workflow.labels or (recognised(workflow, cause) and bool(set(workflow.labels) & set(cause.labels)))


def recognised(workflow: Workflow, cause: Cause) -> bool:
    """Whether a label event is about a label this workflow knows; other events always are."""
    return cause.label is None or not workflow.labels or cause.label in (*workflow.labels, *workflow.modifiers)


def group_of(workflow: Workflow, cause: Cause, *, head: str, run: int) -> str | None:
    """The concurrency group of a run, None when it shares with nobody."""
    if workflow.concurrency is None or not recognised(workflow, cause):
        return None
    return fill_in(workflow.concurrency.group, _words(workflow, cause, head, run))


def title_of(workflow: Workflow, cause: Cause, *, head: str, run: int) -> str:
    """The display title: `run-name`, else the pull request's title or commit's first line, else the workflow's name."""
    if workflow.run_name:
        return fill_in(workflow.run_name, _words(workflow, cause, head, run)).strip() or workflow.name
    return workflow.name if cause.event in ("workflow_dispatch", "schedule", "repository_dispatch") else cause.title


def _words(workflow: Workflow, cause: Cause, head: str, run: int) -> dict[str, str]:
    inputs = {f"inputs.{name}": value for name, value in cause.inputs.items()}
    branch = cause.ref.removeprefix("refs/heads/")
    return {
        "number": str(cause.number or ""),
        "ref": cause.ref,
        "branch": branch,
        "sha": head,
        "workflow": workflow.name,
        "event": cause.event,
        "action": cause.action or "",
        "title": cause.title,
        "run_id": str(run),
        **inputs,
    }


def fill_in(template: str, words: Mapping[str, str]) -> str:
    """{word} replaced in one pass; a word not known is empty, as an unset expression is on GitHub."""
    return re.sub(r"\{([A-Za-z_][\w.-]*)\}", lambda found: words.get(found[1], ""), template)


def checked_inputs(trigger: Trigger, given: Mapping[str, object]) -> tuple[dict[str, str], str | None]:
    """Inputs with defaults filled in, and GitHub's complaint if there is one."""
    if len(given) > MAX_INPUTS:
        return {}, f"you may only define up to {MAX_INPUTS} `inputs` for a `workflow_dispatch` event"
    if unknown := [name for name in given if name not in trigger.inputs]:
        return {}, f"Unexpected inputs provided: {unknown}"
    made: dict[str, str] = {}
    for name, declared in trigger.inputs.items():
        value = given.get(name, declared.default)
        if value is None or value == "":
            if declared.required:
                return {}, f"Required input '{name}' not provided"
            value = ""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if declared.options and text and text not in declared.options:
            return {}, f"Provided value '{text}' for input '{name}' not in the list of allowed values"
        made[name] = text
    return made, None
