"""Workflows: those that the bot dispatches, and those that hold its key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bot.doctor.facts import Facts, Input, WorkflowFile
from bot.doctor.finding import Told, good, hidden, unknown, unneeded, wrong
from bot.layout import Smoke, Sweep
from bot.model.settings import Unseen

FOLDER = ".github/workflows/"
MAX_INPUTS = 25
_HOLE = re.compile(r"\{([^{}]*)\}")
_STATES = {"disabled_manually": "disabled by hand", "disabled_fork": "disabled, as in every new fork",
           "disabled_inactivity": "disabled, for nothing moved in the repository for 60 days"}
# Triggers for which GitHub takes the workflow and what is checked out from the head that somebody proposes.
OF_THE_HEAD = frozenset({"pull_request", "pull_request_review", "pull_request_review_comment", "merge_group"})
# What a template may come out empty by; an input that is empty is not sent.
OPTIONAL = frozenset({"points", "eval-limit", "arguments"})


def smoke(facts: Facts) -> Told:
    """Whether the smoke can be dispatched with what the layout gives."""
    assert facts.layout is not None
    return _dispatched(facts, facts.layout.smoke, "smoke")


def sweep(facts: Facts) -> Told:
    """As the smoke; a sweep that a label starts is the guest's own, and must only be there."""
    assert facts.layout is not None
    return _dispatched(facts, facts.layout.sweep, "sweep")


def _dispatched(facts: Facts, part: Smoke | Sweep | None, word: str) -> Told:
    assert facts.layout is not None
    if part is None:
        return unneeded(f"the layout names no {word}")
    path = f"{FOLDER}{part.workflow}"
    found = facts.files.workflows.get(path)
    if found is None:
        return wrong(f"{path} is not on the default branch", f"add it, or name the {word}'s workflow in the layout")
    if (off := _off(facts, found)) is not None:
        return off
    if isinstance(part, Sweep) and part.start == "label":
        return _enabled(facts, found, f"started by the label {part.label}")
    if found.fault:
        return unknown(found.fault, "write it so that it can be read, without anchors")
    default = facts.forge.repository.default_branch if facts.forge else facts.layout.base
    if facts.layout.generator == "own" and part.ref != default:
        return wrong(f"it is dispatched from {part.ref}: whoever may push there decides what runs on a GPU",
                     f"write `ref: {default}` in the layout")
    if found.inputs is None:
        return wrong(f"{path} has no workflow_dispatch, so a dispatch is answered 422", "add `on: workflow_dispatch`")
    if faults := list(_unfit(part.inputs, found.inputs)):
        return wrong("; ".join(faults), f"make `inputs:` of {path} and of the layout's {word} agree")
    return _enabled(facts, found, f"takes {', '.join(part.inputs) or 'no input'}")


def _unfit(given: Mapping[str, str], declared: Mapping[str, Input]) -> Iterator[str]:
    """What makes the forge answer a dispatch with 422."""
    if len(given) > MAX_INPUTS:
        yield f"the layout gives {len(given)} inputs, and {MAX_INPUTS} are taken"
    if unknown_ := [name for name in given if name not in declared]:
        yield f"the layout gives {', '.join(unknown_)}, which the workflow does not declare"
    for name, one in declared.items():
        template = given.get(name, "")
        if one.required and not one.has_default and _may_be_empty(template):
            yield f"{name} is required" + (", and the layout does not give it" if not template else ", and may be left empty")
        elif template and not _HOLE.search(template):
            fit = ("true", "false") if one.kind == "boolean" else one.options
            if fit and template not in fit:
                yield f"{name} is given {template!r}, and takes {' or '.join(fit)}"


def _may_be_empty(template: str) -> bool:
    rest = _HOLE.sub("", template)
    return not rest.strip() and set(_HOLE.findall(template)) <= OPTIONAL


def _off(facts: Facts, found: WorkflowFile) -> Told | None:
    """The finding where the forge says that the workflow cannot start."""
    states = facts.forge.workflows if facts.forge else None
    if states is None or isinstance(states, Unseen) or (state := states.get(found.path)) in (None, "active"):
        return None
    assert facts.forge is not None
    return wrong(f"{found.path} is {_STATES.get(state, state)}", "enable it",
                 f"gh workflow enable {found.file} --repo {facts.forge.repository.name}")


def _enabled(facts: Facts, found: WorkflowFile, said: str) -> Told:
    """All else is good: whether it is enabled too."""
    page = f"{facts.page}/actions/workflows/{found.file}"
    if facts.forge is None:
        return unknown(f"{found.path} {said}; whether it is enabled was not asked", "look yourself", page)
    if isinstance(facts.forge.workflows, Unseen):
        return hidden("whether it is enabled", facts.forge.workflows, page, known=f"{found.path} {said}")
    if found.path not in facts.forge.workflows:
        return unknown(f"{found.path} {said}; the forge does not list it yet", "look again in a minute", page)
    return good(f"{found.path} is enabled and {said}")


def keyed(facts: Facts) -> tuple[WorkflowFile, ...]:
    """The workflows that name a key of the bot's, whether or not they run it."""
    return tuple(found for found in facts.files.workflows.values() if found.holding(facts.files.keys))


def wakes(facts: Facts) -> Told:
    """Whether a workflow wakes the bot, and can start."""
    found = [one for one in facts.files.workflows.values() if one.wakes]
    if not found:
        faults = [one.fault for one in facts.files.workflows.values() if one.fault]
        if faults:
            return unknown(f"no readable workflow runs the bot; {faults[0]}", "write it so that it can be read, without anchors")
        return wrong("no workflow on the default branch runs the bot", f"add {FOLDER}wake.yml")
    for one in found:
        if (off := _off(facts, one)) is not None:
            return off
    names = ", ".join(one.path for one in found)
    if facts.forge is None:
        return unknown(f"{names}; whether it is enabled was not asked")
    if isinstance(facts.forge.workflows, Unseen):
        return hidden(f"whether {names} is enabled", facts.forge.workflows, f"{facts.page}/actions")
    return good(f"{names}, on {', '.join(dict.fromkeys(name for one in found for name in one.triggers))}")


def clean(facts: Facts) -> Told:
    """SECURITY.md rules 1 and 2: beside the key no other branch's code and no cache."""
    found = keyed(facts)
    if not found:
        return unneeded("no workflow holds the key")
    for one in found:
        if heads := [name for name in one.triggers if name in OF_THE_HEAD]:
            return wrong(f"{one.path} holds the key and starts on {heads[0]}, for which GitHub takes the head's own files",
                         "take that trigger out, or wake by pull_request_target, which runs the default branch's")
        for job in one.holding(facts.files.keys):
            if others := [ref for ref in job.checkouts if ref not in _safe(facts)]:
                return wrong(f"{one.path}: the job {job.name} holds the key and checks out {', '.join(others)}",
                             "leave `ref:` out, so that the default branch is checked out")
            if cache := next((name for name in job.uses if name.startswith("actions/cache")), None):
                return wrong(f"{one.path}: the job {job.name} holds the key and restores a cache ({cache})",
                             "take the cache out: other branches can fill it")
    return good("none checks out another branch or restores a cache")


def _safe(facts: Facts) -> frozenset[str]:
    """Refs that are the default branch's, whoever asked."""
    named = [facts.forge.repository.default_branch] if facts.forge else [facts.layout.base] if facts.layout else []
    return frozenset((*named, *(f"refs/heads/{name}" for name in named), "${{ github.event.repository.default_branch }}",
                      "${{ github.workflow_sha }}"))
