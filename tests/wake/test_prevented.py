"""A bump that files forbid: nothing is opened, the ledger keeps why, and another try begins once the blocker is seen gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace as renewed
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as renew

from bot import ledger as chains
from bot.cli.payload import event_of
from bot.decide import decide
from bot.errors import Refusal
from bot.ledger import OPEN_BUMPS
from bot.model.event import Requested
from bot.model.finding import Checked
from bot.model.ledger import OpenBumps
from bot.model.preflight import Facts, Load, Staged
from bot.model.upstream import OptionChanged, OptionsChecked
from bot.preflight import CHECKS, options
from bot.wake.loop import wake
from tests.wake.test_scanning import KEY, TAG, House


class Machines:
    """What is said of the fleets, and how often it was asked."""

    def __init__(self) -> None:
        self.images: tuple[str, ...] | None = ("another.sqsh",)
        self.idle, self.asked = 4, 0

    def staged(self) -> Sequence[Staged] | None:
        self.asked += 1
        return None if self.images is None else (Staged(runner="*", images=self.images, source="the operator"),)

    def loads(self) -> Sequence[Load] | None:
        return (Load(cluster="*", nodes=4, idle=self.idle, source="the operator"),)


class Yard(House):
    """The same house, with machines of which somebody says what lies there."""

    def __init__(self, stack: ExitStack, work: Path) -> None:
        super().__init__(stack, work)
        self.machines = Machines()

    def context(self) -> Any:
        return renewed(super().context(), fleet=self.machines)

    def asks(self) -> Any:
        self.told.clear()
        (report,) = wake(self.context(), Requested(at=self.now, recipe=KEY, image=TAG))
        return report

    def stages(self) -> None:
        self.machines.images = ("another.sqsh", f"{TAG}@{self.digest()}")

    def lessons(self) -> tuple:
        ledger = self.bot.ledger
        return chains.lessons(ledger, ledger.tip())

    def ended(self) -> list[str]:
        return [bump for _, bump in self.bot.ledger.ended_bumps(self.bot.ledger.tip())]

    def opened(self) -> list[str]:
        return list(self.bot.ledger.open_bumps(self.bot.ledger.tip()))

    def pulls(self) -> list:
        found = self.context().forge.pull_of_branch
        return [pull for bump in (*self.opened(), *self.ended()) if (pull := found(f"bumpbot/{bump}"))]


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    with ExitStack() as stack:
        yield Yard(stack, tmp_path)


class TestARequest:
    def test_opens_nothing_and_says_why(self, yard: Yard) -> None:
        report = yard.asks()
        assert report.ended == "readiness-blocked"
        assert report.why == report.trouble and "not staged" in report.why and report.next
        assert yard.opened() == [] and len(yard.ended()) == 1
        assert yard.bot.ledger.tip() and not yard.pulls()
        assert yard.held(OPEN_BUMPS, OpenBumps).bumps == ()
        assert [path for path in yard.bot.ledger.tip().paths if path.startswith("claims/")] == []

    def test_is_kept_as_a_lesson_and_decided_again_alike(self, yard: Yard) -> None:
        yard.asks()
        (lesson,) = yard.lessons()
        assert (lesson.check, lesson.class_, lesson.recipes) == ("staging", "model-not-staged", (KEY,))
        assert lesson.release is not None and TAG.rpartition(":")[2] in lesson.release.subject
        ledger = yard.bot.ledger
        entries = ledger.entries(ledger.tip(), yard.ended()[0])
        assert chains.verify(entries) is None and chains.replay(entries, decide) is None

    def test_is_refused_in_the_same_words_while_the_blocker_stands(self, yard: Yard) -> None:
        yard.asks()
        tip = yard.bot.ledger.tip().oid
        with pytest.raises(Refusal) as refused:
            yard.asks()
        assert "stopped here before" in str(refused.value) and "staged" in str(refused.value)
        assert yard.bot.ledger.tip().oid == tip

    def test_begins_under_its_own_number_once_the_blocker_is_gone(self, yard: Yard) -> None:
        yard.asks()
        yard.stages()
        report = yard.asks()
        first, = yard.ended()
        assert report.bump == f"{first}-2" and report.ended is None
        assert yard.opened() == [f"{first}-2"]
        (pull,) = yard.pulls()
        assert pull.branch.endswith(f"{first}-2")


class TestAScan:
    def test_passes_over_what_files_forbid_and_does_not_plan_it_again(self, yard: Yard) -> None:
        yard.wakes()
        assert len(yard.ended()) == 1 and yard.opened() == [] and not yard.pulls()
        assert any("is passed over" in line for line in yard.told)
        tip, asked = [path for path in yard.bot.ledger.tip().paths if path.startswith("ended/")], yard.machines.asked
        yard.wakes(hours=25)
        assert [path for path in yard.bot.ledger.tip().paths if path.startswith("ended/")] == tip
        assert yard.machines.asked == asked + 1  # the named fact alone

    def test_begins_it_when_the_named_fact_has_changed(self, yard: Yard) -> None:
        yard.wakes()
        yard.stages()
        yard.wakes(hours=25)
        (first,) = yard.ended()
        assert yard.opened() == [f"{first}-2"] and len(yard.pulls()) == 1


class Parser:
    """An engine that knows the recipe's option no more, in place of the check that reads its sources."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, facts: Facts) -> Checked:
        self.asked += 1
        passed = [one for one in facts.uses.options if one.name == "--max-running-requests"]
        changed = tuple(OptionChanged(used=one, what="removed") for one in passed)
        return options.check(renew(facts, options=OptionsChecked(engine="sglang", parsers=("a.py",), counted=4, changed=changed)))


class Kitchen(Yard):
    """The same yard, where all is staged and the recipe may be mended."""

    def __init__(self, stack: ExitStack, work: Path) -> None:
        super().__init__(stack, work)
        self.gone = b""
        self.stages()

    def context(self) -> Any:
        made = super().context()

        def tree(oid: str) -> Any:
            files = made.tree(oid)
            read = files.read
            files.read = lambda path: (data := read(path)) and re.sub(self.gone or b"(?!)", b"", data)
            return files

        return renewed(made, tree=tree)

    def mends(self) -> None:
        self.gone = rb"(?m)^ +max-running-requests: .*\n"


@pytest.fixture
def parser(monkeypatch: pytest.MonkeyPatch) -> Parser:
    made = Parser()
    monkeypatch.setitem(CHECKS, "options", made)
    return made


@pytest.fixture
def kitchen(tmp_path: Path, parser: Parser) -> Iterator[Kitchen]:
    with ExitStack() as stack:
        yield Kitchen(stack, tmp_path)


class TestAnOptionThatTheNewEngineDoesNotKnow:
    def test_is_refused_in_the_checks_own_words_when_a_person_asks_again(self, kitchen: Kitchen) -> None:
        assert kitchen.asks().ended == "incompatible"
        tip = kitchen.bot.ledger.tip().oid
        with pytest.raises(Refusal) as refused:
            kitchen.asks()
        assert str(refused.value).startswith("the new engine has no option --max-running-requests; The same image was stopped here before")
        assert kitchen.ended()[0] in str(refused.value) and "remove --max-running-requests" in str(refused.value)
        assert kitchen.bot.ledger.tip().oid == tip

    def test_is_tried_again_once_the_recipe_passes_it_no_more(self, kitchen: Kitchen) -> None:
        kitchen.asks()
        kitchen.mends()
        first, = kitchen.ended()
        assert kitchen.asks().bump == f"{first}-2"
        assert kitchen.opened() == [f"{first}-2"] and len(kitchen.pulls()) == 1

    def test_is_planned_again_by_a_scan_when_the_recipe_asks_for_something_else_and_not_before(self, kitchen: Kitchen,
                                                                                               parser: Parser) -> None:
        kitchen.wakes()
        asked, (first,) = parser.asked, kitchen.ended()
        kitchen.wakes(hours=25)
        assert parser.asked == asked and kitchen.opened() == []
        kitchen.mends()
        kitchen.wakes(hours=25)
        assert kitchen.opened() == [f"{first}-2"]


@pytest.fixture
def deferred(yard: Yard) -> Yard:
    """A bump whose smoke passed, and for whose sweep the fleet had no room."""
    yard.stages()
    yard.asks()
    yard.machines.idle = 0
    for event, payload in yard.world.deliveries():
        if any(report.ended for report in wake_of(yard, event, payload)):
            break
    return yard


def runs_of(yard: Yard, workflow: str) -> list:
    return [run for run in yard.world.hub.runs_made() if workflow in run.workflow and run.event == "workflow_dispatch"]


def says(yard: Yard, pull: int, words: str) -> tuple:
    yard.world.clock.sleep(60)
    yard.world.hub.person("maintainer-a").comment(pull, words)
    return wake_of(yard, "issue_comment", {
        "action": "created", "issue": {"number": pull, "pull_request": {}}, "comment": {"id": 1, "user": {"login": "x"}},
        "sender": {"login": "x"}})


class TestTheSweep:
    def test_does_not_begin_where_the_fleet_has_no_room_by_then(self, deferred: Yard) -> None:
        (bump,) = deferred.ended()
        assert runs_of(deferred, "smoke") and not runs_of(deferred, "sweep")
        assert any(lesson.release and lesson.release.of == "capacity" for lesson in deferred.lessons())

    def test_begins_after_a_retry_on_its_pull_request_without_another_smoke(self, deferred: Yard) -> None:
        deferred.machines.idle = 4
        (bump,), (pull,), smokes = deferred.ended(), deferred.pulls(), runs_of(deferred, "smoke")
        assert not pull.open
        reports = says(deferred, pull.number, "/bump retry")
        assert [report.ended for report in reports if report.bump == bump] == [None]
        assert deferred.opened() == [bump] and deferred.pulls()[0].open
        says(deferred, pull.number, "/bump sweep")
        assert len(runs_of(deferred, "smoke")) == len(smokes) and len(runs_of(deferred, "sweep")) == 1


def wake_of(yard: Yard, event: str, payload: dict) -> tuple:
    return wake(yard.context(), event_of(event, payload, yard.now))
