"""What the engines' own repositories tell a scan: the order of commits, and which commits an image holds.

Asked only where it decides: the main line where tags of commits are all that a listing has, a commit where a policy names it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot import layout as layouts
from bot.errors import BumpbotError
from bot.images import provenance, reference
from bot.images.contains import Histories, contained
from bot.images.lineage import lineage
from bot.images.policy import Policy
from bot.images.schemes import Scheme
from bot.images.tags import fields
from bot.layout import Layout
from bot.model.image import Held, Reference
from bot.ports import Commits, History, Registry, Upstreams
from bot.scan.question import Question


def histories(upstreams: Upstreams | None, layout: Layout) -> Histories:
    """The history of a repository by its name, from where the layout reads it; None where it cannot be had."""

    def told(repository: str) -> History | None:
        try:
            return upstreams.history(layouts.address_of(layout, repository)) if upstreams is not None else None
        except BumpbotError:
            return None

    return told


class Upstream:
    """One scan's questions about history; each repository's main line is listed once."""

    def __init__(self, commits: Commits | None, registry: Registry | None, layout: Layout, schemes: tuple[Scheme, ...],
                 histories: Histories = lambda repository: None) -> None:
        self._commits, self._registry, self._layout, self._schemes = commits, registry, layout, schemes
        self._histories = histories

    def order(self, questions: Sequence[Question]) -> None:
        """Tells the questions whose tags have commits and no order what the main line says of them."""
        wanting: dict[str, list[tuple[str, Question]]] = {}
        for question in questions:
            commit, source = self._tagged(question.reference), self._source(question.reference)
            if commit and source and question.choice.unordered:
                wanting.setdefault(source, []).append((commit, question))
        for source, asked in wanting.items():
            try:
                told = lineage(self._commits.history(source, {commit for commit, _ in asked})) if self._commits else None
            except BumpbotError as error:
                for _, question in asked:
                    question.ordered(error)
                continue
            for _, question in asked:
                if told:
                    question.ordered(told)

    def contains(self, tag: Reference, held: Held, policy: Policy) -> dict[str, bool | None]:
        """For each change that the policy names, whether the image holds it; None where nobody can tell."""
        if self._commits is None or not (policy.must_have or policy.must_not_have or any(hint.contains for hint in policy.hints)):
            return {}
        return contained(self._commits, self._source(tag), self._built_from(tag, held), policy, self._histories)

    def _built_from(self, tag: Reference, held: Held) -> str | None:
        """The commit of an image: its tag's own, else as its label says, which costs the image's config."""
        if (commit := self._tagged(tag)) or self._registry is None:
            return commit
        try:
            found = self._registry.resolve(reference.with_digest(tag, held.digest))
        except BumpbotError:
            return None
        return provenance.settle(found, self._schemes).facts.commit

    def _tagged(self, tag: Reference) -> str | None:
        commit = fields(tag.tag or "", self._schemes).fields.get("commit")
        return str(commit) if commit else None

    def _source(self, tag: Reference) -> str | None:
        return layouts.repository_of(self._layout, tag.name)
