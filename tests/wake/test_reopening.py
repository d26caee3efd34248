"""Slash commands on a bump that has ended: answered once, and `/bump retry` opens it again, over real git and HTTP."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot import ledger as chains
from bot.cli.payload import event_of
from bot.decide import decide
from bot.errors import Refusal
from bot.model.ledger import Held
from bot.wake import loop
from tests.wake.conftest import Stage, begun, smokes
from tests.wake.test_wakes import Dies, look


def says(stage: Stage, text: str, by: str = "maintainer-a", bot: str = "first") -> list:
    """Somebody comments, and the wake that the comment starts."""
    stage.world.clock.sleep(60)
    number = stage.world.hub.pulls()[0].number
    stage.world.hub.person(by).comment(number, text)
    return stage.bot(bot).woken(*commented(number))


def commented(number: int) -> tuple[str, dict[str, Any]]:
    return "issue_comment", {"action": "created", "issue": {"number": number, "pull_request": {}},
                             "comment": {"id": 1, "user": {"login": "x"}}, "sender": {"login": "x"}}


def rests(stage: Stage) -> None:
    for _ in range(40):
        if stage.bot("first").ledger.ended_bumps(stage.bot("first").ledger.tip()):
            return
        stage.world.clock.sleep(timedelta(minutes=20).total_seconds())
        stage.wake()
    raise AssertionError("no end")


@pytest.fixture
def over(stage: Stage) -> Stage:
    """The seed's bump, stopped while its first smoke ran."""
    stage.play(begun)
    says(stage, "/bump stop")
    rests(stage)
    return stage


def answers(stage: Stage) -> list[str]:
    return [comment.body for comment in stage.world.hub.comments_made() if ":answer-" in comment.body]


def held(stage: Stage) -> list:
    ledger = stage.bot("first").ledger
    snapshot = ledger.tip()
    return [ledger.load(snapshot, path, Held).bump for path in snapshot.paths if path.startswith("claims/")]


def asked_to_reopen(stage: Stage) -> tuple[str, dict[str, Any]]:
    """The pull request is closed, and a person asks for a retry there: the event that tells of it."""
    number, person = stage.world.hub.pulls()[0].number, stage.world.hub.person("maintainer-a")
    person.close(number)
    stage.world.clock.sleep(60)
    person.comment(number, "/bump retry")
    return commented(number)


class Refuses:
    """A forge that opens no pull request again, as when its branch was deleted."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def edit_pull(self, number: int, **changed: Any) -> Any:
        if changed.get("open"):
            raise Refusal("state cannot be changed", "restore the branch")
        return self._inner.edit_pull(number, **changed)


class TestABumpThatHasEnded:
    def test_answers_once_where_it_lies_and_goes_on_after_a_retry(self, over: Stage) -> None:
        before, said = len(over.entries()), len(answers(over))
        assert says(over, "/bump smoke")[-1].ended == "stopped"
        says(over, "no command")
        assert len(answers(over)) == said + 1 and "the bump is over" in answers(over)[-1]
        assert len(over.entries()) == before + 2 and held(over) == []
        says(over, "/bump retry", by="passer-by")
        assert all(entry.path.startswith("ended/") for entry in over.entries()) and held(over) == []
        runs = [(run.id, run.attempt) for run in smokes(over.world)]
        over.bot("first").woken(*asked_to_reopen(over))
        assert all(entry.path.startswith("bumps/") for entry in over.entries()) and held(over) == [over.bump]
        assert over.world.hub.pulls()[0].open and [(run.id, run.attempt) for run in smokes(over.world)] != runs
        assert chains.verify(over.entries()) is None and chains.replay(over.entries(), decide) is None
        says(over, "/bump stop")
        rests(over)
        assert held(over) == [] and chains.verify(over.entries()) is None

    def test_whose_reopening_died_half_way_is_finished_by_any_later_wake(self, over: Stage) -> None:
        event, context = asked_to_reopen(over), over.bot("first").context()
        with pytest.raises(KeyboardInterrupt):
            loop.wake(replace(context, forge=Dies(context.forge, "edit_pull")), event_of(*event, over.world.clock.now()))
        assert len(chains.pending(over.entries())) == 1 and held(over) == [over.bump]
        over.world.clock.sleep(timedelta(minutes=16).total_seconds())
        look(over.bot("second").context())
        assert over.bot("first").ledger.open_bumps(over.bot("first").ledger.tip()) == (over.bump,)
        assert chains.pending(over.entries()) == () and chains.verify(over.entries()) is None
        assert sum("opened again" in answer for answer in answers(over)) == 1

    def test_that_the_forge_does_not_open_gives_back_what_it_took(self, over: Stage) -> None:
        event, context = asked_to_reopen(over), over.bot("first").context()
        loop.wake(replace(context, forge=Refuses(context.forge)), event_of(*event, over.world.clock.now()))
        ledger = over.bot("first").ledger
        assert ledger.open_bumps(ledger.tip()) == () and held(over) == [] and chains.pending(over.entries()) == ()
