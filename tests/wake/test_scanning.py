"""A scheduled wake looks for newer images of all recipes: what it remembers, when it looks again, and what it begins."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace as renewed
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.adapters.assets import PackagedAssets
from bot.cli.rehearse import RehearsedBot
from bot.errors import Refusal, Unreachable
from bot.images.reference import parse
from bot.layout import Scans
from bot.ledger import LAST_SCAN, canonical, moved_path, seen_path
from bot.model.baseline import Offer, Question
from bot.model.event import Requested, Scheduled
from bot.model.ledger import Held, LastScan, Moved, OpenBumps, Seen, Step
from bot.model.mode import Mode
from bot.ports import Published, Tree
from bot.rehearse.world import World
from bot.wake.context import Context
from bot.wake.loop import wake
from tests.fakes.shipped import shipped

KEY, TAG = "larch72b-fp8-h200-sglang-tp4", "lmsysorg/sglang:v0.5.22"
OWN = "lmsysorg/sglang:v0.5.21"
PLACE = seen_path("docker.io", "lmsysorg/sglang")


class Files:
    """The files of a revision in which the recipe's policy reads otherwise, and nothing names a digest where `bare`."""

    def __init__(self, inner: Tree, policy: str, bare: bool) -> None:
        self.inner, self.policy, self.bare, self.paths = inner, policy.encode(), bare, inner.paths

    def read(self, path: str) -> bytes | None:
        data = self.inner.read(path)
        data = data and re.sub(rb"(?m)^policy:.*$", b"policy: {%s}" % self.policy, data)
        return data and (re.sub(rb"@sha256:[0-9a-f]{64}", b"", data) if self.bare else data)


class Bare:
    """The scenario's baseline as it would be, had its recipe never named a digest."""

    def __init__(self, inner: Published) -> None:
        self.inner = inner

    def offer(self, question: Question) -> Offer:
        story = PackagedAssets().folder("rehearse/scenarios/green") / "repo/baselines/2026-09-22" / f"{KEY}.jsonl"
        first = json.loads(story.read_text().partition("\n")[0])
        (mine,) = question.configurations
        found = self.inner.offer(replace(question, image=first["image"],
                                         configurations=(replace(mine, fingerprint=first["point"]["fingerprint"]),)))
        assert found.sets
        return replace(found, sets=tuple(replace(one, image=question.image, fingerprint=mine.fingerprint) for one in found.sets))


class House:
    """The repository of a scenario in which nobody has asked for anything, and its bot on a clock that we move."""

    def __init__(self, stack: ExitStack, work: Path) -> None:
        self.story = shipped("green")
        self.world = stack.enter_context(World(self.story, work))
        self.bot, self.told, self.mode = RehearsedBot(self.world, self.story, work), list[str](), "act"
        self.scans: Scans | None = Scans(every_hours=24, begin=1)
        self.change: Callable[[Any], Any] = lambda layout: layout
        self.policy, self.bare = "channel: stable", False

    def context(self) -> Context:
        made = self.bot.context()
        mode: Mode = self.mode  # type: ignore[assignment]
        layout = self.change(replace(made.layout, scans=self.scans))

        def tree(oid: str) -> Files:
            return Files(made.tree(oid), self.policy, self.bare)

        baselines = Bare(made.published) if self.bare else made.published
        return renewed(made, tree=tree, layout=layout, published=baselines, narrate=self.told.append, mode=lambda: mode)

    def wakes(self, hours: float = 0) -> list[Any]:
        """A scheduled wake so many hours later."""
        self.world.clock.advance_to(self.now + timedelta(hours=hours))
        self.told.clear()
        return list(wake(self.context(), Scheduled(at=self.now)))

    @property
    def now(self) -> datetime:
        return self.world.clock.now()

    def held(self, path: str, kind: Any) -> Any:
        return self.bot.ledger.load(self.bot.ledger.tip(), path, kind)

    def writes(self, path: str, record: Any) -> None:
        step = Step(bump=path, kind="record", entry=path, writes={path: canonical(record)}, reads=frozenset((path,)))
        self.bot.ledger.record(self.bot.ledger.tip(), [step], wake="test")

    def digest(self, image: str = TAG) -> str:
        return self.context().registry.digest(parse(image))

    def pushes_again(self, image: str = TAG, **changed: Any) -> None:
        tag = parse(image).tag or ""
        made = self.story.registry["docker.io"]["lmsysorg/sglang"][tag]
        self.world.registries["docker.io"].push("lmsysorg/sglang", tag, replace(made, pushed=self.now, **changed))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with ExitStack() as stack:
        yield House(stack, tmp_path)


class TestAScan:
    def test_remembers_what_the_tags_held_and_when(self, house: House) -> None:
        house.scans = Scans()
        at = house.now
        assert house.wakes() == [] and house.held(LAST_SCAN, LastScan) == LastScan(at=at)
        sight, = house.held(PLACE, Seen).tags["v0.5.22"]
        assert (sight.digest, sight.at) == (house.digest(), at)

    def test_tells_the_candidates_and_begins_none_where_the_layout_wants_none(self, house: House) -> None:
        house.scans = Scans()
        house.wakes()
        assert house.told[0] == "scanned 1 recipes: 1 have a newer image" and f"{KEY}: " in house.told[1] and TAG in house.told[1]
        assert not house.world.hub.pulls()

    def test_comes_again_when_it_is_due_and_adds_only_what_is_new(self, house: House) -> None:
        house.scans = Scans()
        house.wakes()
        first, tip = house.held(PLACE, Seen), house.bot.ledger.tip().oid
        assert house.wakes(hours=23) == [] and house.told == [] and house.bot.ledger.tip().oid == tip
        house.wakes(hours=1)
        assert house.held(PLACE, Seen) == first and house.held(LAST_SCAN, LastScan).at == house.now

    def test_sees_a_tag_that_was_pushed_again(self, house: House) -> None:
        house.scans = Scans()
        house.wakes()
        was = house.digest()
        house.pushes_again(env={"CUDA_VERSION": "13.0.3"})
        house.wakes(hours=24)
        old, new = house.held(PLACE, Seen).tags["v0.5.22"]
        assert (old.digest, new.digest, new.at) == (was, house.digest(), house.now)
        assert any(f"was pushed again: was {was}" in line and f"is {new.digest}" in line for line in house.told)

    def test_sees_the_recipes_own_tag_move_under_the_baseline_and_tells_it_in_the_proposal(self, house: House) -> None:
        house.scans, house.bare = Scans(), True
        house.wakes()
        was = house.digest(OWN)
        pushed = house.now
        house.pushes_again(OWN, env={"CUDA_VERSION": "13.0.3"})
        house.scans = Scans(begin=1)
        house.wakes(hours=24)
        body = house.world.hub.pulls()[0].body
        now = house.digest(OWN)
        assert now != was and f"(before, it held `{was[:15]}…`" in body and f"（此前为 `{was[:15]}…`" in body
        assert f"the registry holds `{now[:15]}…` today; the tag was re-pushed on {pushed:%Y-%m-%d}" in body

    def test_is_nobodys_wish_where_the_layout_names_none(self, house: House) -> None:
        house.scans = None
        assert house.wakes() == [] and house.told == [] and house.bot.ledger.tip().oid is None

    def test_that_gets_no_answer_is_tried_again_at_the_next_wake(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        down = {"docker.io/lmsysorg/sglang": Unreachable("no route", "wait")}
        monkeypatch.setattr("bot.adapters.registry.OciRegistry.listings", lambda self, references: down)
        assert house.wakes() == [] and house.held(LAST_SCAN, LastScan) is None
        monkeypatch.undo()
        assert len(house.wakes()) == 1

    def test_of_recipes_that_cannot_be_read_leaves_open_bumps_their_wake(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        begun, = house.wakes()

        def broken(*_: Any) -> None:
            raise Refusal("the layout's files do not hold", "mend them")

        monkeypatch.setattr("bot.scan.scan", broken)
        report, = house.wakes(hours=24)
        assert report.bump == begun.bump and house.told[0].startswith("no scan: the layout's files")


class TestABumpThatAWakeBegins:
    def test_runs_like_one_that_somebody_asked_for(self, house: House) -> None:
        report, = house.wakes()
        pull, = house.world.hub.pulls()
        chosen = house.bot.ledger.entries(house.bot.ledger.tip(), report.bump)[0].entry.facts.subject.candidate
        assert any("v0.5.22 is newer than v0.5.21" in why for why in chosen.reasons)
        assert report.steps > 0 and pull.draft and f"{TAG}@{house.digest()}" in pull.body
        assert [run.workflow for run in house.world.hub.runs_made()] == ["smoke.yml"]

    def test_is_begun_once(self, house: House) -> None:
        begun, = house.wakes()
        again, = house.wakes(hours=24)
        assert again.bump == begun.bump and len(house.world.hub.pulls()) == 1

    def test_that_has_ended_is_not_begun_again_for_the_same_bytes(self, house: House) -> None:
        house.wakes()
        house.world.hub.person("maintainer-a").close(house.world.hub.pulls()[0].number)
        ended, = house.wakes(hours=1)
        assert ended.ended is not None
        assert house.wakes(hours=24) == [] and len(house.world.hub.pulls()) == 1

    @pytest.mark.parametrize("mode", ["observe", "propose"])
    def test_needs_a_mode_that_lets_it(self, house: House, mode: str) -> None:
        house.mode = mode
        house.wakes()
        assert len(house.world.hub.pulls()) == (mode == "propose") and house.held(PLACE, Seen) is not None
        assert house.world.hub.runs_made() == []

    def test_waits_until_the_image_is_old_enough_by_our_own_first_sight(self, house: House) -> None:
        house.policy = "channel: stable, minimum-age-days: 2"
        assert house.wakes() == [] and house.wakes(hours=24) == []
        assert len(house.wakes(hours=24)) == 1

    def test_waits_for_the_recipes_cadence(self, house: House) -> None:
        house.policy = "channel: stable, every-days: 7"
        house.writes(moved_path(KEY), Moved(recipe=KEY, image="x", of="an-older-bump", at=house.now - timedelta(days=6)))
        assert house.wakes() == [] and len(house.wakes(hours=24)) == 1

    @pytest.mark.parametrize("others", [(), ("another",)])
    def test_is_one_of_those_that_may_be_open(self, house: House, others: tuple[str, ...]) -> None:
        house.writes("caps/open.json", OpenBumps(bumps=others))
        house.change = lambda layout: replace(layout, limits=replace(layout.limits, open_bumps=1))
        house.wakes()
        assert len(house.world.hub.pulls()) == 1 - len(others)

    def test_leaves_a_recipe_to_the_bump_that_holds_it(self, house: House) -> None:
        house.writes(f"claims/{KEY}.json", Held(recipe=KEY, bump="another", at=house.now))
        assert house.wakes() == [] and any("is held by another" in line for line in house.told)


class TestABumpWithoutAnImage:
    def test_takes_the_candidate_and_keeps_its_reasons(self, house: House) -> None:
        house.scans = None
        report, = wake(house.context(), Requested(at=house.now, recipe=KEY))
        entry = house.bot.ledger.entries(house.bot.ledger.tip(), report.bump)[0].entry
        assert entry.facts.subject.candidate.text == f"{TAG}@{house.digest()}"
        assert any("v0.5.22 is newer than v0.5.21" in why for why in entry.facts.subject.candidate.reasons)
        assert "v0.5.22" in house.held(PLACE, Seen).tags

    def test_that_is_too_young_begins_to_age_when_it_is_asked_for(self, house: House) -> None:
        house.scans, house.policy = None, "channel: stable, minimum-age-days: 2"
        with pytest.raises(Refusal, match="we see it for the first time"):
            wake(house.context(), Requested(at=house.now, recipe=KEY))
        house.world.clock.advance_to(house.now + timedelta(days=2))
        assert len(wake(house.context(), Requested(at=house.now, recipe=KEY))) == 1

    def test_of_a_recipe_whose_image_nothing_may_follow_is_refused(self, house: House) -> None:
        house.policy = "channel: pinned, reason: the paper is in review"
        with pytest.raises(Refusal, match="the paper is in review"):
            wake(house.context(), Requested(at=house.now, recipe=KEY))
