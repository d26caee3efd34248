"""Slash commands between the forge and the bot, over HTTP: who is heard, who is not, and what is answered once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from bot.decide import orders as decided
from bot.model.action import Remember
from bot.model.bump import Bump
from bot.model.ledger import Receipt
from bot.model.order import Order
from bot.rehearse.github import Account
from bot.wake import recall
from bot.wake.act import act
from bot.wake.comments import marker
from bot.wake.orders import FORGOTTEN, orders
from tests.adapters.githubs import Sent, forge_of
from tests.fakes import facts
from tests.rehearse.github_world import ACCOUNTS, World, served
from tests.render.catalogue import renderer

PEOPLE = (Account(login="triager", permission="triage"), Account(login="writer", permission="write"),
          Account(login="other[bot]", kind="app", permission="admin"))


class Desk:
    """A pull request with people around it, and the bot that reads what they write."""

    def __init__(self, world: World) -> None:
        self.world, self.forge, self.number = world, forge_of(world), world.pull()
        self.begun, self.mode = world.clock.now(), "act"
        self.bump: Bump = replace(facts.bump("proposal"), now=self.begun)
        self.narrated: list[str] = []

    @property
    def context(self) -> Any:
        return SimpleNamespace(forge=self.forge, render=renderer(), mode=lambda: self.mode, narrate=self.narrated.append)

    def writes(self, text: str, by: str = "maintainer", after: float = 1.0) -> int:
        self.world.clock.forward(minutes=after)
        return self.world.hub.person(by).comment(self.number, text).id

    def finds(self) -> tuple[Order, ...]:
        self.bump = replace(self.bump, now=self.world.clock.now())
        return orders(self.context, self.bump, self.forge.pull(self.number), since=self.begun)

    def look(self, *, loses: int | None = None) -> tuple:
        """One look whole: what it did. From effect `loses` on, nothing arrives."""
        found = self.finds()
        world = replace(self.bump.world, orders=found, pull=self.forge.pull(self.number))
        looked = replace(self.bump, world=world)
        actions = decided.orders(looked)
        if actions:  # an idle look is not kept
            results = act(self.context, looked, actions[:loses], at=looked.now, receipt=Receipt(n=1, sha256="a" * 64))
            self.bump = replace(looked, memory=recall.after(looked, actions, results))
        return actions

    def answers(self) -> list[str]:
        return [comment.body for comment in self.world.hub.comments_made() if comment.author == "bumpbot[bot]"]

    def marks(self, comment: int) -> list[str]:
        return [mark["content"] for mark in self.world.get(f"issues/comments/{comment}/reactions")]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with served(tmp_path, accounts=(*ACCOUNTS, *PEOPLE)) as world:
        yield Desk(world)


class TestACommandOfAMaintainer:
    def test_is_obeyed_marked_and_answered_in_both_languages(self, desk: Desk) -> None:
        comment = desk.writes("Enough.\n\n/bump stop")
        desk.look()
        assert desk.bump.memory.ended.by == "maintainer" and desk.marks(comment) == ["+1"]
        [answer] = desk.answers()
        assert f"(#issuecomment-{comment})" in answer and "The bump ends here." in answer and "本次升级到此结束" in answer
        assert answer.rstrip().endswith(marker("b", f"answer-{comment}", 1))

    def test_is_answered_once_however_often_it_is_delivered(self, desk: Desk) -> None:
        desk.writes("/bump status")
        desk.look()
        sent = Sent(desk.world)
        assert [desk.look() for _ in range(3)] == [(), (), ()]
        assert len(desk.answers()) == 1 and sent.writes() == 0

    def test_of_two_in_one_comment_the_first_counts(self, desk: Desk) -> None:
        desk.writes("/bump sweep\n/bump stop")
        desk.look()
        assert desk.bump.memory.ended is None and len(desk.bump.memory.approvals) == 1 and len(desk.answers()) == 1

    def test_before_the_bump_began_is_not_of_it(self, desk: Desk) -> None:
        desk.writes("/bump stop")
        comment = desk.writes("/bump status")
        desk.begun = desk.world.clock.forward(minutes=1)
        desk.world.human.edit_comment(comment, "/bump status ")
        assert desk.finds() == ()

    def test_on_no_pull_request_is_none(self, desk: Desk) -> None:
        assert orders(desk.context, desk.bump, None, since=desk.begun) == ()

    def test_counts_in_the_order_in_which_they_were_written(self, desk: Desk) -> None:
        desk.writes("/bump sweep")
        desk.writes("/bump status", by="writer")
        desk.look()
        assert [(order.word, order.by) for order in desk.bump.world.orders] == [("sweep", "maintainer"), ("status", "writer")]


class TestWhatIsNotObeyed:
    @pytest.mark.parametrize("text", ["> /bump stop", "```\n/bump stop\n```", "`/bump stop`", "    /bump stop", "<!--\n/bump stop\n-->",
                                      "/bump stop\n" + "x" * 65_536, "／bump stop"])
    def test_a_quote_code_hidden_or_endless_text_is_no_command(self, desk: Desk, text: str) -> None:
        if len(text) > 65_536:  # the forge itself takes none so long; whatever it hands out is read with a limit
            huge = replace(desk.forge.comment(desk.number, "x"), author="maintainer", bot=False, body=text + "x" * 1_000_000)
            desk.forge = Watching(desk.forge, comments=lambda number, since=None: [huge])
        else:
            desk.writes(text)
        assert desk.look() == () and desk.bump.memory.ended is None

    def test_an_edited_comment_commands_nothing_and_is_told_so(self, desk: Desk) -> None:
        comment = desk.writes("I wonder.")
        desk.world.clock.forward(minutes=1)
        desk.world.human.edit_comment(comment, "/bump stop")
        desk.look()
        assert desk.bump.memory.ended is None and desk.marks(comment) == ["confused"]
        assert "A comment that was edited gives no command." in desk.answers()[0]

    def test_one_that_was_obeyed_and_is_edited_later_stays_as_it_was(self, desk: Desk) -> None:
        comment = desk.writes("/bump sweep")
        desk.look()
        for text in ("/bump stop", "nothing"):
            desk.world.clock.forward(minutes=1)
            desk.world.human.edit_comment(comment, text)
            assert desk.look() == ()
        assert [(order.word, order.objection) for order in desk.finds()] == [("sweep", None)]

    def test_one_older_than_a_day_when_it_is_first_seen_is_told_so(self, desk: Desk) -> None:
        desk.writes("/bump stop")
        desk.world.clock.forward(minutes=24 * 60 + 1)
        desk.look()
        assert desk.bump.memory.ended is None and "older than 24 hours" in desk.answers()[0]

    def test_one_that_was_seen_too_late_does_not_grow_young(self, desk: Desk) -> None:
        desk.writes("/bump stop")
        desk.world.clock.forward(minutes=24 * 60 + 1)
        for desk.mode in ("off", "act"):
            desk.look()
        assert desk.bump.memory.ended is None and "older than 24 hours" in desk.answers()[0]

    def test_one_that_was_seen_in_time_does_not_grow_old(self, desk: Desk) -> None:
        desk.writes("/bump stop")
        desk.mode = "off"
        desk.look()
        desk.world.clock.forward(minutes=3 * 24 * 60)
        desk.mode = "act"
        desk.look()
        assert desk.bump.memory.ended is not None

    def test_one_that_nobody_waits_for_any_more_is_not_even_answered(self, desk: Desk) -> None:
        desk.writes("/bump stop")
        desk.world.clock.forward(minutes=(FORGOTTEN + timedelta(hours=1)).total_seconds() / 60)
        assert desk.look() == ()

    @pytest.mark.parametrize("by", ["other[bot]", "bumpbot[bot]", "github-actions[bot]"])
    def test_a_bot_is_ignored_also_one_that_may_do_everything(self, desk: Desk, by: str) -> None:
        desk.writes("/bump stop", by=by)
        assert desk.look() == () and desk.bump.memory.ended is None

    @pytest.mark.parametrize("text", ["/bump destroy", "/bump stop now"])
    def test_what_is_not_in_the_table_is_answered_with_the_table(self, desk: Desk, text: str) -> None:
        comment = desk.writes(text)
        desk.look()
        assert desk.bump.memory.ended is None and desk.marks(comment) == ["confused"]
        assert "`/bump retry`" in desk.answers()[0] and "destroy" not in desk.answers()[0]


class TestSomebodyWithoutWriteAccess:
    @pytest.mark.parametrize("by", ["passer-by", "triager"])
    def test_is_not_obeyed_and_is_told_so_once(self, desk: Desk, by: str) -> None:
        comment = desk.writes("/bump stop", by=by)
        desk.look()
        assert desk.bump.memory.ended is None and desk.marks(comment) == ["-1"]
        assert "Only people with write access" in desk.answers()[0] and by not in desk.answers()[0]

    def test_cannot_make_the_bot_write_more_than_that(self, desk: Desk) -> None:
        for text in ("/bump stop", "/bump x", "/bump stop now", "/bump help", "@maintainer /bump", "/bump status"):
            comment = desk.writes(text, by="passer-by")
            desk.look()
            desk.world.clock.forward(minutes=1)
            desk.world.hub.person("passer-by").edit_comment(comment, f"{text}\n")
            desk.look()
        for text in ("/bump sweep", "/bump retry"):
            desk.writes(text, by="triager")
            desk.world.clock.forward(minutes=24 * 60 + 1)
            desk.look()
        assert len(desk.answers()) == 1 and desk.bump.memory.ended is None and desk.bump.memory.approvals == ()

    def test_is_not_obeyed_later_for_a_right_that_came_after_the_command(self, desk: Desk) -> None:
        desk.writes("/bump stop", by="passer-by")
        desk.look()
        desk.forge = watching = Watching(desk.forge, permission=lambda login: "admin")
        assert desk.look() == () and watching.asked == [] and desk.bump.memory.ended is None

    def test_does_not_keep_a_maintainer_from_being_heard(self, desk: Desk) -> None:
        desk.writes("/bump stop", by="passer-by")
        desk.writes("/bump sweep")
        desk.look()
        assert desk.bump.memory.ended is None and [one.by for one in desk.bump.memory.approvals] == ["maintainer"]

    def test_who_forges_the_answers_marker_gets_no_answer_of_ours_away(self, desk: Desk) -> None:
        comment = desk.writes("/bump status")
        forged = desk.writes(f"All done.\n\n{marker('b', f'answer-{comment}', 1)}", by="passer-by")
        desk.look()
        assert len(desk.answers()) == 1
        assert "All done." in desk.world.get(f"issues/comments/{forged}")["body"]

    def test_whose_right_is_taken_between_two_looks_is_not_obeyed(self, desk: Desk) -> None:
        desk.writes("/bump stop", by="writer")
        desk.forge = Watching(desk.forge, permission=lambda login: "read")
        desk.look()
        assert desk.bump.memory.ended is None


class Watching:
    """The forge with some calls answered otherwise; `asked` are the people whose permission was asked for."""

    def __init__(self, inner: Any, **other: Any) -> None:
        self._inner, self._other, self.asked = inner, other, []

    def __getattr__(self, name: str) -> Any:
        return self._other.get(name) or getattr(self._inner, name)

    def permission(self, login: str) -> Any:
        self.asked.append(login)
        return (self._other.get("permission") or self._inner.permission)(login)


class TestPermission:
    def test_is_asked_once_for_each_person_in_a_look_and_for_nobody_in_an_idle_one(self, desk: Desk) -> None:
        desk.forge = watching = Watching(desk.forge)
        for word in ("status", "sweep"):
            desk.writes(f"/bump {word}")
            desk.writes(f"/bump {word}", by="passer-by")
        desk.writes("just talking", by="writer")
        desk.look()
        assert sorted(watching.asked) == ["maintainer", "passer-by"]
        watching.asked.clear()
        assert desk.look() == () and watching.asked == []

    def test_is_the_authors_whoever_delivers_the_event(self, desk: Desk) -> None:
        desk.writes("/bump stop", by="passer-by")
        desk.forge = watching = Watching(desk.forge)
        desk.look()
        assert watching.asked == ["passer-by"] and desk.bump.memory.ended is None


class TestAWakeThatDies:
    @pytest.mark.parametrize("loses", [0, 1, 2])
    def test_leaves_nothing_that_is_done_twice(self, desk: Desk, loses: int) -> None:
        comment = desk.writes("/bump sweep")
        first = desk.look(loses=loses)
        assert isinstance(first[0], Remember) and len(first) == 3
        for _ in range(3):
            desk.look()
        assert len(desk.bump.memory.approvals) == 1 and len(desk.answers()) == 1
        assert desk.marks(comment) in ([["+1"]] if loses < 2 else [[], ["+1"]])

    def test_is_answered_for_what_was_remembered_though_the_comment_was_edited_since(self, desk: Desk) -> None:
        comment = desk.writes("/bump sweep")
        desk.look(loses=1)
        desk.world.clock.forward(minutes=1)
        desk.world.human.edit_comment(comment, "never mind")
        desk.look()
        assert len(desk.bump.memory.approvals) == 1 and "the full sweep starts by itself" in desk.answers()[0]

    def test_after_its_answer_was_written_finds_that_answer_again(self, desk: Desk) -> None:
        """The claim is there and its results are not: a later wake does the same actions once more."""
        desk.writes("/bump help")
        before = desk.bump
        desk.look()
        desk.bump = before
        desk.look()
        assert len(desk.answers()) == 1

    def test_a_command_that_was_deleted_before_it_was_answered_is_withdrawn(self, desk: Desk) -> None:
        comment = desk.writes("/bump help")
        desk.world.ask("DELETE", f"issues/comments/{comment}", token="human-token")
        assert desk.look() == ()
