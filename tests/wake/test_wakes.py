"""Wakes that race, die half way, or find a ledger that was set back: over real git and HTTP, at the seed's first moments."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from bot import ledger as chains
from bot.cli.payload import event_of
from bot.ledger import BRANCH, day_path
from bot.model.event import Scheduled
from bot.model.ledger import DaySpent
from bot.wake import loop
from bot.wake.context import Context
from tests.wake.conftest import Stage, begun, smokes


def look(context: Context) -> tuple:
    return loop.wake(context, Scheduled(at=context.clock.now()))


def first_delivery(stage: Stage) -> tuple[str, dict[str, Any]]:
    """The dispatch by hand that asks for the bump, after the schedules before it that found nothing to do."""
    while True:
        name, payload = next(stage.deliveries)
        if name == "workflow_dispatch":
            return name, payload
        stage.bot("first").woken(name, payload)


class Dies:
    """A port whose named call takes effect and then kills the process: the answer never arrives."""

    def __init__(self, inner: Any, call: str) -> None:
        self._inner, self._call = inner, call

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._inner, name)
        if name != self._call:
            return real

        def dying(*args: Any, **named: Any) -> Any:
            real(*args, **named)
            raise KeyboardInterrupt

        return dying


class Overtaken:
    """A ledger whose next claim comes second: another wake runs whole between the look and the push."""

    def __init__(self, inner: Any, other: Any) -> None:
        self._inner, self._other = inner, other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def claim(self, *args: Any, **named: Any) -> Any:
        if self._other is not None:
            other, self._other = self._other, None
            other()
        return self._inner.claim(*args, **named)


class TestTwoWakesRace:
    def test_one_acts_and_the_other_looks_again(self, stage: Stage) -> None:
        name, payload = first_delivery(stage)
        said: list[str] = []
        slow, fast = replace(stage.bot("second").context(), narrate=said.append), stage.bot("first").context()
        stage.give(replace(slow, ledger=Overtaken(slow.ledger, lambda: stage.give(fast, name, payload))), name, payload)
        assert len(smokes(stage.world)) == 1
        assert len(stage.world.hub.pulls()) == 1
        assert len({comment.body for comment in stage.world.hub.comments_made()}) == len(stage.world.hub.comments_made()) == 1
        entries = stage.entries()
        assert chains.verify(entries) is None
        assert len({entry.entry.wake for entry in entries}) == 1, "the slow wake found everything done"
        assert any(line.startswith("nothing was claimed: bumps/") for line in said)

    def test_a_claim_that_another_wake_works_on_is_left_alone(self, stage: Stage) -> None:
        name, payload = first_delivery(stage)
        context = stage.bot("first").context()
        with pytest.raises(KeyboardInterrupt):
            loop.wake(replace(context, forge=Dies(context.forge, "open_pull")), event_of(name, payload, stage.world.clock.now()))
        before = len(stage.entries())
        reports = look(stage.bot("second").context())
        assert "another wake" in reports[0].trouble
        assert len(stage.entries()) == before


class TestAWakeThatDied:
    @pytest.mark.parametrize("call", ["open_pull", "comment", "dispatch", "edit_pull"])
    def test_its_claim_is_finished_later_and_nothing_is_done_twice(self, stage: Stage, call: str) -> None:
        name, payload = first_delivery(stage)
        context = stage.bot("first").context()
        with pytest.raises(KeyboardInterrupt):
            loop.wake(replace(context, forge=Dies(context.forge, call)), event_of(name, payload, stage.world.clock.now()))
        assert len(chains.pending(stage.entries())) == 1
        stage.world.clock.sleep(timedelta(minutes=16).total_seconds())
        look(stage.bot("second").context())
        entries = stage.entries()
        assert chains.pending(entries) == () and chains.verify(entries) is None
        assert len(stage.world.hub.pulls()) == 1
        assert len(smokes(stage.world)) == 1
        kinds = [comment.body.rpartition("<!--")[2] for comment in stage.world.hub.comments_made()]
        assert len(kinds) == len(set(kinds))

    def test_a_push_that_died_makes_the_same_commit_again(self, stage: Stage) -> None:
        name, payload = first_delivery(stage)
        context = stage.bot("first").context()
        with pytest.raises(KeyboardInterrupt):
            loop.wake(replace(context, git=Dies(context.git, "push")), event_of(name, payload, stage.world.clock.now()))
        head = context.git.tip(stage.entries()[0].entry.facts.subject.rules.branch)
        stage.world.clock.sleep(timedelta(minutes=16).total_seconds())
        look(stage.bot("second").context())
        assert stage.world.hub.pulls()[0].head == head


class TestAnIdleWake:
    def test_it_writes_nothing_and_says_nothing(self, stage: Stage) -> None:
        stage.play(begun)
        stage.wake()
        before, comments = stage.bot("first").ledger.tip().oid, stage.world.hub.comments_made()
        reports = stage.wake()
        assert [report.steps for report in reports] == [0]
        assert stage.bot("first").ledger.tip().oid == before
        assert stage.world.hub.comments_made() == comments


class TestALedgerThatDoesNotHold:
    def test_a_shortened_chain_freezes_the_bump(self, stage: Stage) -> None:
        stage.play(begun)
        stage.wake()
        _set_back(stage, commits=3)
        self._frozen(stage, "shortened")

    def test_a_chain_set_back_to_a_claim_is_not_acted_on_again(self, stage: Stage) -> None:
        stage.play(begun)
        stage.wake()
        _set_back(stage, commits=1)
        assert chains.pending(stage.entries())
        _set_back(stage, commits=2)
        stage.world.clock.sleep(timedelta(minutes=16).total_seconds())
        self._frozen(stage, "shortened")

    def test_an_entry_that_fails_its_schema_is_told_by_file_and_key(self, stage: Stage) -> None:
        stage.play(begun)
        stage.wake()
        _rewrite(stage, 2, b'"kind":"record"', b'"kind":"recrod"')
        self._frozen(stage, "2.json", "kind")

    def test_an_entry_that_was_tampered_with_breaks_the_chain(self, stage: Stage) -> None:
        stage.play(begun)
        stage.wake()
        _rewrite(stage, 2, b'"ok":true', b'"ok":false')
        self._frozen(stage, "entry 2")

    def _frozen(self, stage: Stage, *words: str) -> None:
        before, runs = stage.world.hub.comments_made(), stage.world.hub.runs_made()
        reports = stage.wake("later")
        assert reports[0].frozen and all(word in reports[0].trouble for word in words), reports[0].trouble
        assert stage.world.hub.comments_made() == before and stage.world.hub.runs_made() == runs


class TestModes:
    @pytest.mark.parametrize(("mode", "pulls", "runs"), [("off", 0, 0), ("observe", 0, 0), ("propose", 1, 0), ("act", 1, 1)])
    def test_each_mode_lets_through_what_it_says(self, stage: Stage, mode: str, pulls: int, runs: int) -> None:
        name, payload = first_delivery(stage)
        stage.give(replace(stage.bot("first").context(), mode=lambda: mode), name, payload)
        assert (len(stage.world.hub.pulls()), len(smokes(stage.world))) == (pulls, runs)


class TestTheDaysCap:
    """All bumps share what a cluster may be promised in a day: the file is one that two claims cannot both write."""

    def _asked(self, stage: Stage, cap: float, others: float = 0.0) -> list[str]:
        name, payload = first_delivery(stage)
        context = stage.bot("first").context()
        if others:
            day = day_path("cluster:gb200-nv", stage.world.clock.now().date())
            _put(stage, day, chains.canonical(DaySpent(gpu_hours={"another": others})))
        stage.give(replace(context, limits=structs.replace(context.limits, gpu_hours_per_day=cap)), name, payload)
        return [comment.body for comment in stage.world.hub.comments_made()]

    def test_a_smoke_that_does_not_fit_waits_and_says_so_once(self, stage: Stage) -> None:
        told = self._asked(stage, cap=50.0, others=40.0)
        assert smokes(stage.world) == [] and len(told) == 1
        assert "promised already" in told[0] and "预留" in told[0]
        assert [report.steps for report in stage.wake()] == [0]
        assert len(stage.world.hub.comments_made()) == 1

    def test_a_smoke_that_fits_into_no_day_ends_the_bump_and_does_not_wait_for_ever(self, stage: Stage) -> None:
        told = self._asked(stage, cap=10.0)
        assert smokes(stage.world) == [] and any("budget-exhausted" in body for body in told)

    def test_a_dispatch_promises_its_price_with_its_claim(self, stage: Stage) -> None:
        self._asked(stage, cap=50.0)
        ledger = stage.bot("first").ledger
        snapshot = ledger.tip()
        day = ledger.load(snapshot, day_path("cluster:gb200-nv", stage.world.clock.now().date()), DaySpent)
        assert day is not None and set(day.gpu_hours) == {stage.bump}
        assert day.gpu_hours[stage.bump] == pytest.approx(16 * (100 + 30) / 60)


class TestDuplicates:
    def test_a_recipe_that_is_held_is_refused_kindly(self, stage: Stage) -> None:
        name, payload = first_delivery(stage)
        stage.bot("first").woken(name, payload)
        other = {"recipe": payload["inputs"]["recipe"], "image": payload["inputs"]["image"].partition("@")[0]}
        assert [report.steps for report in stage.bot("first").woken(name, {**payload, "inputs": other})] == [0]
        assert len(stage.world.hub.pulls()) == 1


def _git(stage: Stage, *argv: str, stdin: bytes | None = None, index: str | None = None) -> bytes:
    where = ["git", "--git-dir", str(stage.work / "ledger.git")]
    identity = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@example.com", "GIT_COMMITTER_NAME": "x",
                "GIT_COMMITTER_EMAIL": "x@example.com", "PATH": "/usr/bin:/bin", **({"GIT_INDEX_FILE": index} if index else {})}
    return subprocess.run([*where, *argv], check=True, capture_output=True, input=stdin, env=identity).stdout.strip()


def _set_back(stage: Stage, *, commits: int) -> None:
    """Somebody with write access resets the branch: git's own rules for pushes do not stop them."""
    older = _git(stage, "rev-parse", f"{BRANCH}~{commits}").decode()
    _git(stage, "update-ref", f"refs/heads/{BRANCH}", older)


def _rewrite(stage: Stage, number: int, old: bytes, new: bytes) -> None:
    path = f"bumps/{stage.bump}/{number}.json"
    data = _git(stage, "show", f"{BRANCH}:{path}") + b"\n"
    assert old in data
    _put(stage, path, data.replace(old, new, 1))


def _put(stage: Stage, path: str, data: bytes) -> None:
    """Somebody else's commit on the ledger, with one file."""
    index, tip = str(stage.work / "index"), _git(stage, "for-each-ref", "--format=%(objectname)", f"refs/heads/{BRANCH}").decode()
    blob = _git(stage, "hash-object", "-w", "--stdin", stdin=data).decode()
    _git(stage, "read-tree", tip or "--empty", index=index)
    _git(stage, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", index=index)
    parents = ("-p", tip) if tip else ()
    commit = _git(stage, "commit-tree", _git(stage, "write-tree", index=index).decode(), *parents, "-m", "another's").decode()
    _git(stage, "update-ref", f"refs/heads/{BRANCH}", commit)
