"""upstream/*.yaml: what the world tells about the histories of other repositories, as small facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from bot.model.upstream import Commit as CommitFact
from bot.model.upstream import Comparison as ComparisonFact
from bot.rehearse.declaration import Count, Text
from bot.rehearse.registry import Moment

Sha = Annotated[str, Meta(pattern=r"^[0-9a-f]{40}$")]
Point = Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{40}|main)$")]


class UpstreamCommit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A commit of an engine's history. `sha` may be invented where only the title is known; the file says so."""

    sha: Sha
    title: Text
    date: Moment
    pull: int | None = None


class Comparison(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What GitHub's compare route answers for `base...head`; `commits` are those of head alone, oldest first, and may
    be fewer than `ahead`: only those that somebody named. `main` is the tip of the main line when the story plays.
    `merge_base` null: the histories share nothing."""

    base: Point
    head: Point
    merge_base: Sha | None
    ahead: Count
    behind: Count
    commits: tuple[UpstreamCommit, ...] = ()


class Upstream(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of upstream/: facts about the history of one repository."""

    repository: Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$")]
    about: str = ""
    comparisons: tuple[Comparison, ...] = ()


def comparisons(files: Sequence[Upstream]) -> tuple[ComparisonFact, ...]:
    """The facts as the loopback GitHub's compare route answers from them."""
    return tuple(_fact(facts.repository, one) for facts in files for one in facts.comparisons)


def _fact(repository: str, told: Comparison) -> ComparisonFact:
    commits = tuple(
        CommitFact(sha=one.sha, title=one.title, date=f"{one.date:%Y-%m-%dT%H:%M:%SZ}", pull=one.pull)
        for one in told.commits
    )
    return ComparisonFact(
        repository=repository,
        base=told.base,
        head=told.head,
        merge_base=told.merge_base,
        ahead=told.ahead,
        behind=told.behind,
        commits=commits,
    )
