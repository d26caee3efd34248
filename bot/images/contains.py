"""Which of the commits that a policy names an image holds, by the history of the engine that it was built from."""

from __future__ import annotations

from bot.errors import BumpbotError
from bot.images.policy import Policy
from bot.ports import Commits


def contained(commits: Commits, source: str | None, built: str | None, policy: Policy) -> dict[str, bool | None]:
    """For each commit of the policy, whether it lies behind the one that the image was `built` from; `source` is the engine's
    `owner/name`. None where nobody can tell: an image without a commit, a history that did not answer."""
    named = (*policy.must_have, *policy.must_not_have, *(hint.contains for hint in policy.hints if hint.contains))
    return {commit: _holds(commits, source, commit, built) for commit in dict.fromkeys(named)}


def _holds(commits: Commits, source: str | None, commit: str, built: str | None) -> bool | None:
    if source is None or built is None:
        return None
    try:
        return commits.contains(source, commit, built)
    except BumpbotError:
        return None
