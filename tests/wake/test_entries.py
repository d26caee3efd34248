"""The changelog entry of a bump: how it links its pull request, by the layout's words or by the forge's own address."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from bot.layout.records import Changelog
from bot.wake.pushes import entry_of
from tests.fakes.facts import bump


@pytest.mark.parametrize(("pattern", "link"), [("https://example.com/pull/{number}", "https://example.com/pull/{0.number}"), ("", "{0.url}")])
def test_the_link_is_the_layouts_or_else_the_pull_requests_own_address(pattern: str, link: str) -> None:
    facts = bump("proposal")
    context: Any = SimpleNamespace(layout=SimpleNamespace(changelog=Changelog(file="perf-changelog.yaml", pull=pattern)))
    assert facts.world.pull is not None and facts.world.pull.url
    assert entry_of(facts, context).link == link.format(facts.world.pull)


def test_a_recipe_of_two_scenarios_names_both() -> None:
    facts = bump("proposal")
    member = replace(facts.subject.family[0], settings={"scenario": "fixed-seq-len, agentic-coding"})
    facts = replace(facts, subject=replace(facts.subject, family=(member, replace(member, settings={}))))
    context: Any = SimpleNamespace(layout=SimpleNamespace(changelog=Changelog(file="perf-changelog.yaml")))
    assert entry_of(facts, context).scenarios == ("agentic-coding", "fixed-seq-len")
