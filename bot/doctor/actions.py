"""GitHub Actions' own settings: on, with a token that only reads, and with outsiders' code kept waiting."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator

from bot.doctor.facts import Facts, WorkflowFile
from bot.doctor.finding import Told, good, hidden, unknown, unneeded, wrong
from bot.doctor.token import acts_alone
from bot.doctor.workflows import FOLDER, keyed
from bot.model.settings import SelectedActions, Unseen

GITHUB = ("actions", "github")
_APPROVE = '"Allow GitHub Actions to create and approve pull requests"'
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def page(facts: Facts) -> str:
    """Where a person sets all this."""
    return f"{facts.page}/settings/actions"


def enabled(facts: Facts) -> Told:
    """Whether workflows run at all."""
    assert facts.forge is not None
    found = facts.forge.actions
    if isinstance(found, Unseen):
        return hidden("whether Actions are enabled", found, page(facts))
    if not found.enabled:
        return wrong("Actions are disabled: nothing wakes, smokes or sweeps", "allow them", page(facts))
    return good(f"enabled; actions allowed: {found.allowed.replace('_', ' ')}")


def token_reads(facts: Facts) -> Told:
    """What a workflow's token may do where the workflow does not say."""
    assert facts.forge is not None
    found = facts.forge.defaults
    if isinstance(found, Unseen):
        return hidden("the default of GITHUB_TOKEN", found, page(facts))
    if found.writes:
        return wrong("a workflow that states no permissions gets a token that writes",
                     'under "Workflow permissions" choose "Read repository contents and packages permissions"', page(facts))
    return good("a workflow that states no permissions gets a token that reads")


def approves(facts: Facts) -> Told:
    """A job's token opens and approves pull requests only where the bot has nothing else to open them with."""
    assert facts.forge is not None
    found, alone = facts.forge.defaults, acts_alone(facts)
    if isinstance(found, Unseen):
        return hidden(_APPROVE, found, page(facts))
    if found.may_approve and alone is None:
        return unknown(f"{_APPROVE} is on; whether the bot needs it, this token may not see", "untick it where an App is set",
                       page(facts))
    if found.may_approve and not alone:
        return wrong("a job's token may create and approve pull requests, so a workflow could give the review that guards a branch",
                     f"untick {_APPROVE}", page(facts))
    if alone and not found.may_approve:
        return wrong("the bot acts with a job's token, which may not open pull requests",
                     f"give it an App, or tick {_APPROVE}", page(facts))
    return good("on, which the bot needs without an App" if alone else "off: no job's token opens or approves a pull request")


def forks(facts: Facts) -> Told:
    """Whose pull requests from forks wait for a maintainer before anything of them runs."""
    assert facts.forge is not None
    found, repository = facts.forge.approval, facts.forge.repository
    if repository.private or found is None:
        return unneeded("a private repository has its own rule for forks")
    if isinstance(found, Unseen):
        return hidden("whose forks wait for approval", found, page(facts))
    hosts = facts.forge.runners
    own = any(one.labels for one in facts.files.wanted) or not isinstance(hosts, Unseen) and bool(hosts)
    asked = found.replace("_", " ")
    if found == "all_external_contributors":
        return good("workflows of every outside contributor wait for approval")
    if own or found != "first_time_contributors":
        why = "one merged typing fix is enough to run code on self-hosted runners" if own else \
            "who is not new to GitHub runs code without being asked"
        return wrong(f"only {asked} wait for approval, so {why}", 'choose "Require approval for all external contributors"',
                     page(facts))
    return good(f"workflows of {asked} wait for approval")


def ours(facts: Facts) -> list[WorkflowFile]:
    """The workflows whose actions are our matter: those that run the bot or hold its key, in an own repository smoke and sweep,
    and what all these call; the repository's own actions with them."""
    layout, found = facts.layout, [one.path for one in facts.files.workflows.values() if one.wakes or one in keyed(facts)]
    if layout is not None and layout.generator == "own":
        found += [f"{FOLDER}{part.workflow}" for part in (layout.smoke, layout.sweep) if part]
    for path in found:
        one = facts.files.workflows.get(path)
        found += [called for job in (one.jobs if one else ()) for use in job.uses
                  if (called := use.removeprefix("./")).startswith(FOLDER) and called not in found]
    reached = [facts.files.workflows[path] for path in dict.fromkeys(found) if path in facts.files.workflows]
    return [*reached, *facts.files.actions.values()]


def _outside(facts: Facts) -> Iterator[tuple[str, str]]:
    """(workflow, action) of each action that is not this repository's own."""
    for one in ours(facts):
        uses = dict.fromkeys(use for job in one.jobs for use in job.uses if not use.startswith("./"))
        yield from ((one.file, use) for use in uses)


def pinned(facts: Facts) -> Told:
    """An action named by a tag is whatever its owner pushes next, beside the key or on a GPU."""
    found = list(_outside(facts))
    if not ours(facts):
        return unneeded("no workflow of ours is on the default branch")
    loose = [f"{file}: {use}" for file, use in found if not _fixed(use)]
    if loose:
        return wrong(f"not pinned: {', '.join(loose)}", "write the full commit id behind the @, the tag in a comment")
    return good(f"{len({use for _, use in found})} pinned to commits")


def _fixed(use: str) -> bool:
    return bool((_DIGEST if use.startswith("docker://") else _COMMIT).fullmatch(use.rpartition("@")[2]))


def allowed(facts: Facts) -> Told:
    """Whether the policy lets these actions run."""
    assert facts.forge is not None
    policy, selected = facts.forge.actions, facts.forge.selected
    if isinstance(policy, Unseen):
        return hidden("which actions may run", policy, page(facts))
    uses = list(dict.fromkeys(use for _, use in _outside(facts)))
    if policy.allowed == "all" or not uses:
        return good("every action may run" if policy.allowed == "all" else "none of ours is another repository's")
    owner = facts.forge.repository.name.partition("/")[0].casefold()
    shut = [use for use in uses if use.partition("/")[0].casefold() != owner]
    if policy.allowed == "selected":
        if selected is None or isinstance(selected, Unseen):
            what = "which actions are selected"
            return unknown(what) if selected is None else hidden(what, selected, page(facts))
        shut = [use for use in shut if not _selected(use, selected)]
        if shut and selected.verified:
            return unknown(f"may run only if their makers are verified: {', '.join(shut)}",
                           "look at their pages in the Marketplace", "https://github.com/marketplace?type=actions")
    if shut:
        return wrong(f"may not run: {', '.join(shut)}", "allow them by name", page(facts))
    return good("the selected actions hold all of ours")


def _selected(use: str, found: SelectedActions) -> bool:
    owner, name = use.partition("/")[0].casefold(), use.casefold()
    return (found.github_owned and owner in GITHUB) or any(
        fnmatch.fnmatchcase(name, pattern.casefold()) or fnmatch.fnmatchcase(name.partition("@")[0], pattern.casefold())
        for pattern in found.patterns)
