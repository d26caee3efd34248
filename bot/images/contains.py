"""Which of the changes that a policy names an image holds, by the history of the engine that it was built from."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from bot.errors import BumpbotError
from bot.images.policy import Policy
from bot.ports import Commits, History
from bot.upstream.changes import about, parsed
from bot.upstream.contains import holds

Histories = Callable[[str], History | None]


def contained(commits: Commits | None, source: str | None, built: str | None, policy: Policy,
              histories: Histories = lambda repository: None) -> dict[str, bool | None]:
    """For each change of the policy, whether the image that was `built` from a commit holds it; `source` is the engine's
    `owner/name`. None where nobody can tell: an image without a commit, a history that did not answer, a pull request where only
    the order of commits can be asked."""
    named = (*policy.must_have, *policy.must_not_have, *(hint.contains for hint in policy.hints if hint.contains))
    return {text: _holds(commits, source, text, built, histories) for text in dict.fromkeys(named)}


def own(policy: Policy, source: str | None) -> Policy:
    """The policy with the changes alone that its image can hold: those of a part that is pinned beside it are another check's."""
    return replace(policy, must_have=tuple(text for text in policy.must_have if about(text, source)),
                   must_not_have=tuple(text for text in policy.must_not_have if about(text, source)))


def _holds(commits: Commits | None, source: str | None, text: str, built: str | None, histories: Histories) -> bool | None:
    """By the whole history where there is one, which sees reverts and cherry-picks too; else by the order of commits."""
    try:
        change = parsed(text, source or "", "must-have")
        if not change.repository or built is None:
            return None
        history = histories(change.repository)
        found = holds(history, change, built).holds if history else None
        if found is None and change.commit and commits is not None:
            return commits.contains(change.repository, change.commit, built)
        return found
    except BumpbotError:
        return None
