"""A tag that was pushed again under test leaves its new image to be tried next, and a later wake begins with it by itself."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bot import ledger as chains
from bot.cli.rehearse import play
from bot.images import reference
from tests.fakes.shipped import shipped

IMAGE = "lmsysorg/sglang:v0.5.22"


def moved(world: Any, image: str, **changed: Any) -> None:
    """The tag holds another image from now on."""
    tag, registry = reference.parse(IMAGE), world.registries[reference.parse(IMAGE).registry]
    made = shipped("moved-tag").registry[tag.registry][tag.repository][image]
    registry.push(tag.repository, tag.tag, replace(made, pushed=world.clock.now(), **changed))


class Later:
    """What stands a wake after the bump was superseded, and a wake for which the tag held its first image once more before."""

    def __init__(self) -> None:
        story = shipped("moved-tag")
        self.recipe = story.declared.recipe
        self.result = play(story, None, narrate=False, after=self._look)

    def _look(self, world: Any, bot: Any) -> None:
        path = chains.next_path(self.recipe)
        moved(world, "v0.5.22")
        self.back = bot.woken("schedule", {}), len(world.hub.pulls())
        moved(world, "v0.5.22-rebuilt")
        self.left = path in bot.ledger.tip().paths
        self.reports = bot.woken("schedule", {})
        self.pulls = world.hub.pulls()
        self.bodies = [pull.body for pull in self.pulls]
        self.kept = path in bot.ledger.tip().paths
        self.again = bot.woken("schedule", {})


@pytest.fixture(scope="module")
def later() -> Later:
    return Later()


class TestTheNextCandidate:
    def test_is_left_in_the_ledger_and_taken_away_by_the_bump_that_begins(self, later: Later) -> None:
        assert later.left and not later.kept

    def test_is_proposed_by_the_next_wake_with_the_digest_that_the_tag_holds_now(self, later: Later) -> None:
        first, second = later.pulls
        told = next(comment["body"] for comment in later.result["comments"] if "**Next candidate:**" in comment["body"])
        named = told.partition("**Next candidate:** `")[2].partition("`")[0]
        assert not first.open and second.open and second.draft
        assert f"`{named}`" in later.bodies[1] and named not in later.bodies[0]

    def test_is_begun_once(self, later: Later) -> None:
        begun, = later.reports
        assert begun.steps > 0 and begun.ended is None
        assert [report.steps for report in later.again] == [0]


class TestATagThatMovedOnMeanwhile:
    """What the ledger kept is the tag; which image stands behind it is asked when the bump begins."""

    def test_is_tried_with_what_it_holds_by_then(self) -> None:
        seen = []

        def look(world: Any, bot: Any) -> None:
            moved(world, "v0.5.22-rebuilt", env={"CUDA_VERSION": "13.0.3"})
            bot.woken("schedule", {})
            seen.append((world.hub.pulls(), bot.context().registry.digest(reference.parse(IMAGE))))

        play(shipped("moved-tag"), None, narrate=False, after=look)
        pulls, digest = seen[0]
        assert len(pulls) == 2 and digest in pulls[1].body

    def test_is_not_tried_once_more_with_the_image_that_had_its_bump(self, later: Later) -> None:
        assert later.back == ([], 1)
