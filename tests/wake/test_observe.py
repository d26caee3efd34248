"""What a look asks of the world beside runs and comments: who may put a label on, and what the candidate's tag names now."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from bot.errors import Unreachable
from bot.model.bump import Bump
from bot.model.forge import Labelling
from bot.model.rules import Smoke
from bot.wake.observe import _labellings, _tag
from tests.fakes.facts import LABEL, ME, bump, later, pull, subject

AGAIN = "sweep-enabled"


class Forge:
    """A forge on which people may do different things; it counts how often it is asked."""

    MAY = {"ann": "write", "mia": "maintain", "tri": "triage", "bob": "none"}

    def __init__(self, *said: Labelling) -> None:
        self.said, self.asked = said, Counter[str]()

    def me(self) -> str:
        return ME

    def labellings(self, number: int) -> tuple[Labelling, ...]:
        return self.said

    def permission(self, login: str) -> str:
        self.asked[login] += 1
        return self.MAY[login]


def put(label: str, by: str, minutes: float = 0.0, *, added: bool = True) -> Labelling:
    return Labelling(label=label, by=by, at=later(minutes), added=added)


def facts(**world: object) -> Bump:
    rules = replace(subject().rules, smoke=Smoke(workflow="smoke.yml", ref="main", label=AGAIN))
    return bump("proposal", rules=rules, world=world)


def labelled(forge: Forge, before: Bump) -> list[bool]:
    context: Any = SimpleNamespace(forge=forge)
    return [said.write for said in _labellings(context, before, pull("a" * 40))]


class TestALabelThatAsksForGpus:
    @pytest.mark.parametrize(("by", "counts"), [("ann", True), ("mia", True), ("tri", False), ("bob", False), (ME, True)])
    @pytest.mark.parametrize("label", [LABEL, AGAIN])
    def test_counts_where_whoever_put_it_on_may_write(self, label: str, by: str, counts: bool) -> None:
        assert labelled(Forge(put(label, by)), facts()) == [counts]

    def test_is_asked_about_once_a_look_and_not_again_at_the_next(self) -> None:
        forge = Forge(put(LABEL, "tri"), put(LABEL, "tri", 5, added=False), put(LABEL, "tri", 9))
        assert labelled(forge, facts()) == [False, True, False] and forge.asked == {"tri": 1}
        seen = facts(labellings=tuple(replace(said, write=False) for said in forge.said))
        forge.MAY = {"tri": "admin"}
        assert labelled(forge, seen)[0] is False and forge.asked == {"tri": 1}, "it stays as it was when it was put on"

    def test_other_labels_and_taking_one_off_ask_nothing(self) -> None:
        forge = Forge(put("needs-review", "bob"), put(LABEL, "bob", added=False), put("bumpbot-handoff", "bob"))
        assert labelled(forge, facts()) == [True, True, True] and not forge.asked


class Registry:
    def __init__(self, answer: str | Exception) -> None:
        self.answer, self.asked = answer, []

    def digest(self, reference: Any) -> str:
        self.asked.append(reference.text)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def tag(registry: Registry, before: Bump) -> tuple[str | None, list[str]]:
    told: list[str] = []
    context: Any = SimpleNamespace(registry=registry, narrate=told.append)
    return _tag(context, before, before.memory), told


class TestTheCandidatesTag:
    def test_is_asked_for_what_it_names_now_without_the_digest_it_was_pinned_to(self) -> None:
        pinned = facts()
        reference = replace(pinned.subject.candidate.new.reference, text="vllm/vllm-openai:new@sha256:" + "a" * 64)
        candidate = replace(pinned.subject.candidate, new=replace(pinned.subject.candidate.new, reference=reference))
        registry = Registry("sha256:" + "e" * 64)
        assert tag(registry, replace(pinned, subject=replace(pinned.subject, candidate=candidate)))[0] == registry.answer
        assert registry.asked == ["vllm/vllm-openai:new"]

    def test_stays_what_it_was_when_the_registry_does_not_answer(self) -> None:
        known = facts(tag_digest="sha256:" + "c" * 64)
        found, told = tag(Registry(Unreachable("registry: no answer")), known)
        assert found == known.world.tag_digest and "is not known: registry: no answer" in told[0]

    @pytest.mark.parametrize("before", [bump(), bump("proposal", memory={"ended": object()})], ids=["nothing is open yet", "it has ended"])
    def test_is_not_asked_for_when_it_changes_nothing(self, before: Bump) -> None:
        registry = Registry("sha256:" + "e" * 64)
        assert tag(registry, before)[0] is None and registry.asked == []
