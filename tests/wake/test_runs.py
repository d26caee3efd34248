"""Which runs are ours, what their jobs measure, why each began."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.errors import Refusal
from bot.layout import Layout
from bot.model.bump import Bump
from bot.model.forge import Job, Labelling, RunInfo
from bot.model.rules import Smoke, Sweep
from bot.model.run import Run
from bot.wake.runs import carries, nonce_of, ours
from tests.fakes.facts import BASE, ENTRY, LABEL, ME, PROPOSAL, REPAIR, START, bump, later, point, subject

NONCE = f"bumpbot-b-smoke1-0-{PROPOSAL[:12]}"
OWN = re.compile(Layout().jobs)
GUEST = re.compile(r" c(?P<concurrency>[0-9]+)(?: \| (?P<eval>eval(?:-only)?))?$")


def info(number: int = 1, **changed: Any) -> RunInfo:
    """A dispatched smoke of ours, one thing changed."""
    made = RunInfo(id=number, attempt=1, workflow="smoke.yml", event="workflow_dispatch", head=BASE, branch="main",
                   title=f"e2e Test - {NONCE}", status="in_progress", conclusion=None, created=later(1), actor=ME)
    return replace(made, **changed)


def sweep(number: int = 10, head: str = PROPOSAL, minutes: float = 1, **changed: Any) -> RunInfo:
    """A run of our pull request."""
    made = info(number, workflow="sweep.yml", event="pull_request", head=head, branch="bumpbot/b", title="Bump",
                created=later(minutes))
    return replace(made, **changed)


def job(name: str, number: int = 1, **changed: Any) -> Job:
    made = Job(id=number, run=1, attempt=1, name=name, status="completed", conclusion="success", started=later(1),
               completed=later(31))
    return replace(made, **changed)


class Forge:
    """As much of a forge as is asked; `deaf` ignores every filter, as an older server may."""

    def __init__(self, *infos: RunInfo, jobs: Sequence[Job] = (), deaf: bool = False) -> None:
        self.infos, self._jobs, self.deaf, self.asked = infos, jobs, deaf, []

    def me(self) -> str:
        return ME

    def runs(self, workflow: str, *, event: str | None = None, since: datetime | None = None) -> list[RunInfo]:
        fits = [one for one in self.infos if one.workflow == workflow and event in (None, one.event)
                and (since is None or one.created >= since)]
        return list(self.infos) if self.deaf else fits

    def jobs(self, run: int) -> Sequence[Job]:
        self.asked.append(run)
        return self._jobs


def found(*infos: RunInfo, of: Bump | None = None, said: Sequence[Labelling] = (), jobs: Sequence[Job] = (), deaf: bool = False,
          pattern: re.Pattern[str] = OWN) -> tuple[Run, ...]:
    return ours(Forge(*infos, jobs=jobs, deaf=deaf), of or bump("proposal"), said, since=START, pattern=pattern)


def dispatching(**sweeps: Any) -> Bump:
    rules = replace(subject().rules, sweep=Sweep(start="dispatch", **{"workflow": "sweep.yml", "ref": "main", **sweeps}))
    return bump("proposal", rules=rules)


class TestARunOfTheOldImage:
    NAME = f"e2e Test - bumpbot-b-control-0-{BASE[:12]}"

    def test_is_ours_where_it_measures_the_commit_that_the_bump_was_made_from(self) -> None:
        (run,) = found(info(title=self.NAME))
        assert (run.stage, run.head, run.reason) == ("control", BASE, "dispatch")

    @pytest.mark.parametrize("name", [f"bumpbot-b-control-0-{PROPOSAL[:12]}", f"bumpbot-b-smoke1-0-{BASE[:12]}",
                                      f"bumpbot-b-control1-0-{BASE[:12]}"])
    def test_is_nobodys_where_it_measures_anything_else(self, name: str) -> None:
        assert found(info(title=f"e2e Test - {name}")) == ()

    def test_twice_under_one_nonce_is_refused(self) -> None:
        with pytest.raises(Refusal):
            found(info(1, title=self.NAME), info(2, title=self.NAME))


class TestADispatchedRun:
    def test_of_ours_measures_the_head_in_its_nonce(self) -> None:
        (run,) = found(info())
        assert (run.head, run.nonce, run.stage, run.reason) == (PROPOSAL, NONCE, "smoke", "dispatch")

    @pytest.mark.parametrize(("changed", "why"), [
        ({"actor": "mallory"}, "anybody may write our nonce into a title"), ({"actor": ""}, "nobody began it"),
        ({"workflow": "other.yml"}, "another workflow"), ({"workflow": "dynamic/smoke.yml"}, "a workflow of that name elsewhere"),
        ({"event": "pull_request"}, "another event"), ({"event": "workflow_call"}, "another event"),
        ({"branch": "mallory/main"}, "another branch's workflow file"), ({"branch": ""}, "no branch"),
        ({"created": START - timedelta(seconds=1)}, "before the bump began"), ({"fork": True}, "a fork's"),
        ({"title": "e2e Test"}, "no nonce"), ({"title": NONCE[:-1]}, "a shortened nonce"), ({"title": f"{NONCE}0"}, "a longer one"),
        ({"title": f"x{NONCE}"}, "something before it"), ({"title": NONCE.replace("-b-", "-c-")}, "another bump's"),
        ({"title": f"bumpbot-b-smoke1-0-{'9' * 12}"}, "a head that we never made"),
        ({"title": f"bumpbot-b-sweep-0-{PROPOSAL[:12]}"}, "a stage that is not dispatched here")])
    def test_is_not_ours_if_one_thing_does_not_fit(self, changed: dict, why: str) -> None:
        assert found(info(**changed)) == () == found(info(**changed), deaf=True), why

    def test_is_ours_however_the_login_is_written(self) -> None:
        assert len(found(info(actor=ME.upper()))) == 1

    def test_is_ours_when_the_layout_names_the_branch_in_full(self) -> None:
        rules = replace(subject().rules, smoke=Smoke(workflow="smoke.yml", ref="refs/heads/main"))
        assert len(found(info(), of=bump("proposal", rules=rules))) == 1

    def test_two_with_one_nonce_are_refused(self) -> None:
        with pytest.raises(Refusal, match=f"two runs carry the nonce {NONCE}: 1 and 2"):
            found(info(1), info(2))

    def test_a_stranger_s_second_with_our_nonce_refuses_nothing(self) -> None:
        assert [run.id for run in found(info(1), info(2, actor="mallory"), info(3, branch="x"))] == [1]

    def test_one_listed_twice_is_one(self) -> None:
        assert [run.id for run in found(info(1), info(1))] == [1]

    def test_each_repair_has_a_nonce_of_its_own(self) -> None:
        second = info(2, title=f"bumpbot-b-smoke1-1-{REPAIR[:12]}", created=later(60))
        assert [(run.id, run.head) for run in found(info(1), second, of=bump("proposal", "repair"))] == [(1, PROPOSAL), (2, REPAIR)]

    def test_a_sweep_by_dispatch_is_found_where_it_is_dispatched(self) -> None:
        of, nonce = dispatching(), f"bumpbot-b-sweep-0-{PROPOSAL[:12]}"
        made = info(2, workflow="sweep.yml", title=nonce)
        assert [(run.stage, run.nonce) for run in found(info(), made, of=of)] == [("smoke", NONCE), ("sweep", nonce)]

    def test_one_workflow_may_do_both(self) -> None:
        of, nonce = dispatching(workflow="smoke.yml"), f"bumpbot-b-sweep-0-{PROPOSAL[:12]}"
        assert [(run.id, run.stage) for run in found(info(1), info(2, title=nonce), of=of)] == [(1, "smoke"), (2, "sweep")]

    def test_a_bump_without_a_sweep_has_none(self) -> None:
        assert [run.stage for run in found(info(), of=dispatching(workflow=""))] == ["smoke"]

    def test_can_be_told_before_it_is_counted(self) -> None:
        asked = {"workflow": "smoke.yml", "ref": "main", "me": ME, "since": START}
        assert carries(info(), NONCE, **asked)
        assert not carries(info(actor="mallory"), NONCE, **asked) and not carries(info(title=f"{NONCE}0"), NONCE, **asked)

    @given(st.text(max_size=200), st.from_regex(r"[a-z0-9][a-z0-9.-]{0,20}", fullmatch=True))
    def test_any_title_is_read_or_not_and_never_a_crash(self, title: str, name: str) -> None:
        assert nonce_of(title, name) is None or f"bumpbot-{name}-" in title
        nonce = f"bumpbot-{name}-sweep-3-{'ab' * 6}"
        assert nonce_of(f"{title[:50]} {nonce}", name) == nonce or nonce_of(title[:50], name)


class TestAPullRequestsRun:
    def test_of_our_head_on_our_branch_is_ours_whoever_began_it(self) -> None:
        (run,) = found(sweep(actor="maintainer"))
        assert (run.stage, run.head, run.nonce) == ("sweep", PROPOSAL, None)

    @pytest.mark.parametrize(("changed", "why"), [
        ({"head": "9" * 40}, "a head of somebody else"), ({"branch": "other"}, "another branch with our commit"),
        ({"fork": True}, "a fork's pull request with our commit"), ({"created": START - timedelta(seconds=1)}, "before the bump"),
        ({"event": "push"}, "another event"), ({"workflow": "other.yml"}, "another workflow")])
    def test_is_not_ours_if_one_thing_does_not_fit(self, changed: dict, why: str) -> None:
        assert found(sweep(**changed)) == () == found(sweep(**changed), deaf=True), why

    def test_is_not_asked_for_where_sweeps_are_dispatched(self) -> None:
        assert found(sweep(), of=dispatching()) == ()


class TestWhatWasSeenToEnd:
    def test_is_not_asked_for_again(self) -> None:
        done = info(status="completed", conclusion="success")
        forge = Forge(done, jobs=[job("x c1")])
        (first,) = ours(forge, bump("proposal"), (), since=START, pattern=OWN)
        again = bump("proposal", world={"runs": (first,)})
        assert ours(forge, again, (), since=START, pattern=OWN) == (first,) and forge.asked == [1]

    @pytest.mark.parametrize("changed", [{"attempt": 2}, {"status": "in_progress", "attempt": 2}])
    def test_is_asked_for_again_when_its_jobs_ran_again(self, changed: dict) -> None:
        forge = Forge(info(**{"status": "completed", "conclusion": "success", **changed}))
        before = found(info(status="completed", conclusion="failure"))
        (now,) = ours(forge, bump("proposal", world={"runs": before}), (), since=START, pattern=OWN)
        assert now.attempt == 2 and forge.asked == [1]

    def test_is_told_in_the_order_in_which_it_began(self) -> None:
        made = found(sweep(3, minutes=9), info(2, created=later(5)), sweep(1, minutes=1))
        assert [run.id for run in made] == [1, 2, 3]


class TestAJob:
    @pytest.mark.parametrize(("pattern", "name", "role", "concurrency"), [
        (OWN, "bench c4", "throughput", 4), (OWN, "bench c16 eval", "eval", 16), (OWN, "setup", "other", None),
        (GUEST, "multi-node  agentic\n/ kimik3 c16", "throughput", 16), (GUEST, "agentic eval / mtp c4 | eval-only", "eval", 4),
        (GUEST, "agentic c4 | eval", "eval", 4), (GUEST, "collect results", "other", None), (GUEST, "c4", "other", None),
        (OWN, f"bench c{'9' * 5000}", "throughput", None), (OWN, "bench c٤", "other", None),
        (re.compile(r"conc (?P<concurrency>\d+)"), "conc ٤", "throughput", None),
        (re.compile("bench"), "bench", "throughput", None),
        (re.compile(r"bench(?: c(?P<concurrency>\d+))?$"), "bench", "throughput", None)])
    def test_says_in_its_name_what_it_measures(
        self, pattern: re.Pattern[str], name: str, role: str, concurrency: int | None
    ) -> None:
        (run,) = found(info(), jobs=[job(name)], pattern=pattern)
        assert (run.jobs[0].role, run.jobs[0].concurrency) == (role, concurrency)

    def test_holds_the_gpus_of_its_point(self) -> None:
        points = (point("throughput", 1), replace(point("throughput", 4), gpus=8), replace(point("eval", 4), gpus=4))
        of = bump("proposal", family=(replace(subject().family[0], points=points),))
        names = ["x c1", "x c4", "x c4 eval", "x c1 eval", "x c99", "setup"]
        (run,) = found(info(), of=of, jobs=[job(name, number) for number, name in enumerate(names)])
        assert [one.gpus for one in run.jobs] == [16, 8, 4, 16, 16, 0]

    def test_of_a_recipe_without_points_holds_none(self) -> None:
        of = bump("proposal", family=(replace(subject().family[0], points=()),))
        (run,) = found(info(), of=of, jobs=[job("x c1")])
        assert run.jobs[0].gpus == 0 and run.gpu_hours(later(60)) == 0.0

    def test_keeps_its_moments_and_its_attempt(self) -> None:
        waits = job("x c1", 2, attempt=2, status="queued", conclusion=None, started=None, completed=None)
        (run,) = found(info(), jobs=[job("x c1"), waits])
        assert [(one.attempt, one.status, one.started) for one in run.jobs] == [(1, "completed", later(1)), (2, "queued", None)]
        assert run.gpu_hours(later(600)) == 8.0


def said(minutes: float, *, added: bool = True, label: str = LABEL, ready: bool = False) -> Labelling:
    return Labelling(label="" if ready else label, by="maintainer", at=later(minutes), added=added, ready=ready)


def reasons(*infos: RunInfo, marks: Sequence[Labelling] = (), of: Bump | None = None) -> list[str]:
    return [run.reason for run in found(*infos, of=of, said=marks)]


def entered(minutes: float = 30) -> Bump:
    """A bump whose changelog commit was pushed later than its proposal."""
    made = bump("proposal", "changelog")
    heads = (made.memory.heads[0], replace(made.memory.heads[1], at=later(minutes)))
    return replace(made, memory=replace(made.memory, heads=heads))


class TestWhyItBegan:
    def test_a_push(self) -> None:
        assert reasons(sweep(minutes=0.1)) == ["push"]

    def test_the_seed_s_two_runs_for_one_head_are_the_push_s_and_the_label_s(self) -> None:
        runs = sweep(1, ENTRY, 30.05), sweep(2, ENTRY, 30.1)
        assert reasons(*runs, marks=[said(30.02)], of=entered()) == ["push", "label"]
        assert reasons(*runs[::-1], marks=[said(30.02)], of=entered()) == ["push", "label"]

    def test_even_in_one_second(self) -> None:
        runs = sweep(1, ENTRY, 30), sweep(2, ENTRY, 30)
        assert reasons(*runs, marks=[said(30)], of=entered()) == ["push", "label"]

    def test_the_end_takes_the_label_off(self) -> None:
        runs = sweep(1, minutes=0.1), sweep(2, minutes=10), sweep(3, minutes=20)
        assert reasons(*runs, marks=[said(10), said(20, added=False)]) == ["push", "label", "unlabel"]

    def test_a_label_put_on_again(self) -> None:
        marks = [said(10), said(20, added=False), said(20)]
        runs = sweep(1, minutes=10), sweep(2, minutes=20.01), sweep(3, minutes=20.02)
        assert reasons(*runs, marks=marks) == ["label", "unlabel", "label"]

    def test_a_mark_as_ready(self) -> None:
        assert reasons(sweep(1, minutes=0.1), sweep(2, minutes=50), marks=[said(50, ready=True)]) == ["push", "ready"]

    def test_ready_and_then_the_label_where_both_start_one(self) -> None:
        marks = [said(50, ready=True), said(50)]
        assert reasons(sweep(1, minutes=50), sweep(2, minutes=50), marks=marks) == ["ready", "label"]

    def test_ready_and_then_the_label_where_only_the_label_does(self) -> None:
        assert reasons(sweep(1, minutes=50), marks=[said(50, ready=True), said(50)]) == ["label"]

    def test_a_label_on_a_head_in_conflict_starts_nothing_and_explains_nothing(self) -> None:
        runs = sweep(1, PROPOSAL, 0.1), sweep(2, ENTRY, 30.1)
        assert reasons(*runs, marks=[said(20)], of=entered()) == ["push", "push"]

    def test_a_push_of_a_head_in_conflict_starts_nothing(self) -> None:
        assert reasons(sweep(1, ENTRY, 45), marks=[said(45)], of=entered()) == ["label"]

    def test_any_label_may_have_started_one(self) -> None:
        assert reasons(sweep(1, minutes=0.1), sweep(2, minutes=9), marks=[said(9, label="bug")]) == ["push", "label"]

    def test_our_clock_is_finer_than_the_forge_s(self) -> None:
        made = bump("proposal")
        head = replace(made.memory.heads[0], at=START + timedelta(milliseconds=900))
        assert reasons(sweep(1, minutes=0), of=replace(made, memory=replace(made.memory, heads=(head,)))) == ["push"]

    def test_what_nothing_explains_is_the_push_of_its_head_never_a_dispatch(self) -> None:
        assert reasons(sweep(1, minutes=0.1), sweep(2, minutes=0.2), sweep(3, minutes=0.3)) == ["push"] * 3

    @given(st.permutations(range(4)), st.lists(st.integers(0, 40), min_size=4, max_size=4))
    def test_the_order_in_which_the_forge_lists_them_means_nothing(self, order: list[int], minutes: list[int]) -> None:
        runs = [sweep(number, minutes=at) for number, at in enumerate(minutes)]
        marks = [said(10), said(20, added=False), said(30)]
        assert reasons(*runs, marks=marks) == reasons(*(runs[at] for at in order), marks=marks)
        assert reasons(*runs, marks=marks).count("label") <= 2 and reasons(*runs, marks=marks).count("unlabel") <= 1
