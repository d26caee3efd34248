"""The table of checks, in the order of what blocks most: one row a check, and nothing else knows which there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct, structs

from bot.doctor import actions, key, repository, rules, runners, token, workflows
from bot.doctor.facts import Facts
from bot.doctor.finding import Finding, Told, unknown


class Check(Struct, frozen=True, kw_only=True):
    """`needs` are words of `_ABSENT`: where one of them is absent, the check is not made and its state is unknown."""

    name: str
    title: str
    judge: Callable[[Facts], Told]
    needs: tuple[str, ...] = ("forge",)


_ABSENT: dict[str, Callable[[Facts], str]] = {
    "forge": lambda facts: "" if facts.forge else (
        "the repository could not be read" if facts.absent else "no forge was asked (--offline)"),
    "files": lambda facts: "the repository could not be read" if facts.absent else "",
    "layout": lambda facts: "" if facts.layout else "the layout does not hold",
}

CHECKS = (
    Check(name="repository", title="repository", judge=repository.reached, needs=()),
    Check(name="layout", title="layout and recipes", judge=repository.layout, needs=("files",)),
    Check(name="token", title="token", judge=token.who),
    Check(name="rights", title="what the bot may do", judge=token.rights),
    Check(name="actions", title="Actions", judge=actions.enabled),
    Check(name="starts", title="what the bot can start", judge=token.starts),
    Check(name="wake", title="wake workflow", judge=workflows.wakes, needs=("files",)),
    Check(name="smoke", title="smoke workflow", judge=workflows.smoke, needs=("files", "layout")),
    Check(name="sweep", title="sweep workflow", judge=workflows.sweep, needs=("files", "layout")),
    Check(name="environment", title="environment of the key", judge=key.limited),
    Check(name="key", title="key", judge=key.held),
    Check(name="app-id", title="App's id", judge=token.app_id),
    Check(name="ledger", title="ledger", judge=repository.ledger, needs=("files", "layout")),
    Check(name="bump-branches", title="branches of bumps", judge=rules.bumps, needs=("forge", "layout")),
    Check(name="runners", title="runners", judge=runners.online),
    Check(name="mode", title="mode", judge=repository.mode, needs=()),
    Check(name="labels", title="labels", judge=repository.labels, needs=("forge", "layout")),
    Check(name="images", title="images of recipes", judge=repository.images, needs=("files", "layout")),
    Check(name="key-elsewhere", title="key elsewhere", judge=key.nowhere_else),
    Check(name="key-jobs", title="jobs with the key", judge=key.used, needs=("files",)),
    Check(name="key-code", title="code of jobs with the key", judge=workflows.clean, needs=("files",)),
    Check(name="runner-groups", title="who reaches the runners", judge=runners.restricted),
    Check(name="default-branch", title="default branch", judge=rules.base),
    Check(name="ledger-branch", title="ledger's branch", judge=rules.ledger),
    Check(name="forks", title="pull requests of forks", judge=actions.forks),
    Check(name="token-default", title="default of job tokens", judge=actions.token_reads),
    Check(name="approvals", title="approvals by Actions", judge=actions.approves),
    Check(name="pinned", title="pinned actions", judge=actions.pinned, needs=("files",)),
    Check(name="allowed", title="allowed actions", judge=actions.allowed),
)


def examine(facts: Facts) -> tuple[Finding, ...]:
    """Every check's finding, what blocks most first."""
    return tuple(Finding(check=check.name, title=check.title, **structs.asdict(_told(check, facts))) for check in CHECKS)


def _told(check: Check, facts: Facts) -> Told:
    why = next(_why(check, facts), "")
    return unknown(why) if why else check.judge(facts)


def _why(check: Check, facts: Facts) -> Iterator[str]:
    yield from (why for word in check.needs if (why := _ABSENT[word](facts)))
