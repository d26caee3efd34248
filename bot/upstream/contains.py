"""Which images and pins hold the changes that they must, and none that they must not: over all that is published.

A change is seen by ancestry, by the number of its pull request in a title (a squash, a cherry-pick on a release branch), by git's
own `cherry picked from commit`, and by its patch id. A revert behind the same head takes it away again, a re-land brings it back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec import Struct

from bot.errors import BumpbotError
from bot.model.upstream import Change, Choice, Contained, Held
from bot.ports import History
from bot.upstream.changes import same
from bot.upstream.instances import Instances, instances

Named = tuple[str, str | None]


class Published(Struct, frozen=True, kw_only=True):
    """What there is of one thing built from a repository's sources: image tags, or versions of a coupled part, newest first, each
    with the commit that it was built from where that is known. `candidate` is the one that would be taken; only what is newer than
    `current`, where that is given, is proposed in its place (newer than the candidate, where nobody knows what `current` is)."""

    of: str
    repository: str
    candidate: Named | None = None
    current: Named | None = None
    choices: tuple[Named, ...] = ()


def contained(history_of: Callable[[str], History | None], changes: Sequence[Change],
              asked: Sequence[Published]) -> tuple[Contained, ...]:
    """Each thing for which a change of its own repository is named. A history that does not answer leaves it unknown."""
    made = []
    for one in asked:
        mine = [change for change in changes if same(change.repository, one.repository)]
        if mine:
            made.append(_contained(_history(history_of, one.repository), mine, one))
    return tuple(made)


def holds(history: History | None, change: Change, head: str | None) -> Held:
    """Whether one head holds one change."""
    return _holder(history, change, head)(head)


def _contained(history: History | None, changes: Sequence[Change], asked: Published) -> Contained:
    head = asked.candidate[1] if asked.candidate else None
    holders = [_holder(history, change, head) for change in changes]
    choose = lru_cache(maxsize=None)(lambda name, commit: _choice(holders, name, commit))
    candidate = choose(*asked.candidate) if asked.candidate else None
    if candidate and candidate.fits is not False:
        return Contained(of=asked.of, candidate=candidate, best=candidate.name if candidate.fits else None)
    choices = tuple(choose(name, commit) for name, commit in asked.choices)
    least = _date(history, (asked.current[1] or head) if asked.current else None)
    fitting = (choice for choice in choices if choice.fits)
    best = next((choice.name for choice in fitting if asked.current is None or _newer(history, choice, least)), None)
    # One of which nobody knows what it was built from proves nothing, and no policy would take it.
    known = [choice for choice in choices if choice.fits is not None]
    clash = _ranges(changes, known) if known and best is None else ()
    return Contained(of=asked.of, candidate=candidate, choices=choices, best=best, clash=clash)


def _newer(history: History | None, choice: Choice, least: str | None) -> bool:
    """By the commits' days: two releases lie on two branches, and neither is behind the other."""
    date = _date(history, choice.commit)
    return date is not None and least is not None and date > least


def _date(history: History | None, commit: str | None) -> str | None:
    try:
        return history.commit(commit).date or None if history is not None and commit else None
    except BumpbotError:
        return None


def _choice(holders: Sequence[Callable[[str | None], Held]], name: str, commit: str | None) -> Choice:
    return Choice(name=name, commit=commit, held=tuple(ask(commit) for ask in holders))


def _ranges(changes: Sequence[Change], choices: Sequence[Choice]) -> tuple[str, ...]:
    """In words of tags, which of the choices hold each change: `must-have pull request 54853 of o/engine: nightly-385dce3 to
    nightly-1a2b3c4`. No `owner/name#123`: that would be a link there."""
    said = []
    for at, change in enumerate(changes):
        names = [choice.name for choice in choices if choice.held[at].holds]
        span = "in no tag" if not names else names[0] if len(names) == 1 else f"{names[-1]} to {names[0]}"
        named = f"pull request {change.pull}" if change.pull else f"commit {(change.commit or change.patch_id or '')[:12]}"
        said.append(f"{change.wanted} {named} of {change.repository}: {span}")
    return tuple(said)


def _history(history_of: Callable[[str], History | None], repository: str) -> History | None:
    try:
        return history_of(repository)
    except BumpbotError:
        return None


def _holder(history: History | None, change: Change, candidate: str | None) -> Callable[[str | None], Held]:
    """A question for many heads: what is the same for all of them is asked once."""
    unknown = Held(change=change, holds=None)
    if history is None:
        return lambda head: unknown
    try:
        found = instances(history, change, candidate)
    except BumpbotError:
        return lambda head: unknown

    def ask(head: str | None) -> Held:
        if head is None:
            return unknown
        try:
            return _held(found, change, head)
        except BumpbotError:
            return unknown

    return ask


def _held(found: Instances, change: Change, head: str) -> Held:
    alive, seen = found.behind(head)
    if alive is not None:
        return Held(change=change, holds=True, by=alive.by, commit=alive.commit.sha)
    if seen is not None:  # it is there, and was reverted there
        return Held(change=change, holds=False, by=seen.by, commit=seen.commit.sha)
    again = found.by_patch(head)
    if again is not None:
        return Held(change=change, holds=True, by="patch-id", commit=again.sha)
    return Held(change=change, holds=False if found.located else None, by="ancestry" if found.located else "unknown")
