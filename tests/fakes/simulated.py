"""A forge and its runners in memory, for one bump: actions change it the way GitHub would, and so may anybody else.

It knows nothing of what the bot decides. `facts` is what a look would find, `do` what an action brings about; every other
method is something that happens: a job ends, a person labels, the default branch moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from bot.model import result as results
from bot.model.action import (
    Action,
    Cancel,
    ClosePull,
    Dispatch,
    Keep,
    Label,
    OpenPull,
    Push,
    React,
    Remember,
    Reopen,
    Rerun,
    Result,
    Say,
    SetDraft,
    Unlabel,
)
from bot.model.bump import Bump, JobFailure, Judged, Memory, Subject, Wanted, World
from bot.model.finding import Checked
from bot.model.forge import Labelling, Pull
from bot.model.order import Order
from bot.model.run import Run, Triage
from bot.model.text import Text
from bot.wake import recall
from tests.fakes.facts import KEPT, LABEL, ME, pull, wanted
from tests.fakes.runners import BAD, Runners


class Simulated(Runners):
    """`needs_entry`: the guest starts no sweep without a changelog entry. `late`: runs are listed only after a while.
    `forbids`: a rule of the repository refuses changelog commits. `refusing` counts the actions to come that fail without effect; a failed action ends its step, as in a wake.
    """

    def __init__(self, subject: Subject, *, needs_entry: bool = True, late: bool = False) -> None:
        super().__init__(subject, late=late)
        self.needs_entry, self.memory = needs_entry, Memory()
        self.pull: Pull | None = None
        self.branch: str | None = None
        self.base, self.entries_on_base, self.entries_seen, self.conflict = 0, 0, 0, False
        self.labellings: list[Labelling] = []
        self.verdicts: dict[int, str] = {}
        self.another_image = False  # what ran as the old image is not the old image
        self.repairs: dict[str | None, bool] = {}
        self.refusing, self.forbids = 0, False
        self.mends = True  # a repair that the plan names stands in scope
        self.tag: str | None = None
        self.orders: list[Order] = []
        self.again: tuple[Checked, ...] = ()  # what the checks say when they are made again

    # -- what a look finds ---------------------------------------------------------------------------------------

    def facts(self) -> Bump:
        """The record that a look would make now."""
        listed = tuple(run for number, run in sorted(self.runs.items()) if number not in self.hidden)
        world = World(pull=self.pull, foreign_head=self._foreign(), base_tip=f"{self.base:040x}", runs=listed,
                      changelog=self._changelog(), labellings=tuple(self.labellings), me=ME,
                      tag_digest=self.tag, orders=tuple(self.orders), checks=self.again)
        judged = tuple(one for run in listed if (one := self._judged(run)))
        bump = Bump(id="b", now=self.now, subject=self.subject, world=world, memory=replace(self.memory, judged=judged))
        return replace(bump, world=replace(world, wanted=self._wanted(bump)))

    def _foreign(self) -> str | None:
        return None if self.branch in {None, *(head.sha for head in self.memory.heads)} else self.branch

    def _entered(self) -> bool:
        return any(head.why in ("changelog", "sync") for head in self.memory.heads)

    def _behind(self) -> bool:
        return self._entered() and self.entries_on_base > self.entries_seen

    def _changelog(self) -> str:
        if not self.subject.rules.changelog:
            return "none"
        if not self._entered():
            return "absent"
        return "present" if not self._behind() else "blocked" if self.conflict else "behind"

    def _judged(self, run: Run) -> Judged | None:
        ended = [job for job in run.jobs if job.role != "other" and job.status == "completed" and job.conclusion != "skipped"]
        if not ended:
            return None
        failures = tuple(
            JobFailure(job=job.name, attempt=job.attempt, role=job.role, concurrency=job.concurrency, minutes=1.0,
                       triage=Triage(class_=self.classes.get(job.id), cause=Text("why", "why")))
            for job in ended if job.conclusion in BAD
        )
        verdict = self._verdict(run) if run.stage == "sweep" else None
        return Judged(run=run.id, head=run.head, seen=tuple(job.id for job in ended), failures=failures, verdict=verdict,
                      control=self._control(run) if verdict else None,
                      gates=("image:c1",) if run.stage == "control" and self.another_image else ())

    def _control(self, sweep: Run) -> int | None:
        """The run of the old image that the verdict rests on."""
        arms = [run.id for run in self.runs.values() if run.stage == "control" and run.conclusion == "success"
                and run.id not in self.hidden and run.created - sweep.created < timedelta(hours=24)]
        return None if self.another_image or not arms else arms[-1]

    def _verdict(self, run: Run) -> results.Verdict:
        """A suspect point stays one until a repeat of the sweep's head has measured it; then it is what it was taken for."""
        said = self.verdicts.get(run.id, "neutral")
        if said != "suspect":
            return results.Verdict(verdict=said)
        again = any(other.stage == "repeat" and other.head == run.head and other.terminal and other.conclusion == "success"
                    for other in self.runs.values())
        if again:
            return results.Verdict(verdict="regressed")
        suspect = results.Rerun(point=results.Cell(recipe="r", concurrency=2), why="suspect:tput_per_gpu", gpu_hours=None)
        return results.Verdict(verdict="inconclusive", reasons=("not-confirmed",), rerun=(suspect,))

    def _wanted(self, bump: Bump) -> Wanted | None:
        for run in sorted(bump.world.runs, key=lambda run: (run.created, run.id), reverse=True):
            newest = {job.name: job.attempt for job in run.latest_jobs}
            judged = bump.judged(run.id)
            live = [one for one in (judged.failures if judged else ()) if newest[one.job] == one.attempt]
            for failure in live if run.head in (bump.head, bump.tested_head) else ():
                if failure.triage.class_ in self.repairs:
                    name = f"{failure.triage.class_}-{bump.memory.repairs_used}"
                    return wanted(run, id_=name, available=self.repairs[failure.triage.class_])
        return self._planned(bump)

    def _planned(self, bump: Bump) -> Wanted | None:
        """The repair that files alone ask for, while nothing has run."""
        made = {head.repair for head in self.memory.heads}
        names = [one.repair for check in self.subject.plan.checks for one in check.findings
                 if one.action == "repair-first" and one.repair and one.repair not in made]
        if bump.world.runs or self.pull is None or not names:
            return None
        return replace(wanted(Run(id=0, attempt=1, workflow="", event="", head="", stage="smoke", reason="dispatch", status="queued",
                                  created=self.now), id_=names[0]), available=self.mends)

    # -- what actions bring about --------------------------------------------------------------------------------

    def step(self, facts: Bump, actions: Sequence[Action]) -> bool:
        """Does the actions in order until one fails, and remembers; False when one failed."""
        results: list[Result] = []
        for index, action in enumerate(actions):
            if self.refusing:
                self.refusing -= 1
                results.append(Result(index=index, ok=False, detail="refused"))
                break
            results.append(self.do(index, action))
            if not results[-1].ok:
                break
        self.memory = recall.after(facts, actions, results)
        return all(result.ok for result in results)

    def do(self, index: int, action: Action) -> Result:
        """One action's effect."""
        done = Result(index=index, ok=True)
        match action:
            case Remember() | React():
                return done
            case Reopen(head=head):
                if self.branch == head:
                    self._change(open=True)
                return replace(done, ok=self.branch == head)
            case Say():
                return replace(done, comment=len(action.slot))
            case OpenPull(head=head):
                self.pull = pull(head, mergeable=None)
                return replace(done, pull=self.pull.number)
            case Push(why=why, expected=expected):
                if self.branch != expected or (why == "sync" and self.conflict):
                    return replace(done, ok=False, detail="the branch moved, or it conflicts")
                if self.forbids and why in ("changelog", "sync"):
                    return replace(done, ok=False, refused=True)
                return replace(done, head=self._pushed(why))
            case Dispatch():
                return replace(done, run=self._dispatched(action))
            case Rerun(run=number, attempt=attempt):
                return replace(done, ok=self._rerun(self.runs[number], attempt))
            case Cancel(run=number):
                if not self.runs[number].terminal:
                    self.dying.add(number)
                return done
            case Label(name=name, head=head):
                if self.branch == head:
                    self.label(name, by=ME)
                return replace(done, ok=self.branch == head)
            case Unlabel(name=name):
                self.unlabel(name, by=ME)
                return done
            case SetDraft(draft=draft):
                self._change(draft=draft)
                if not draft:
                    self._event("ready")
                return done
            case Keep():
                return replace(done, evidence=KEPT)
            case ClosePull():
                self._change(open=False)
                return done

    def _pushed(self, why: str) -> str:
        self._ids += 1
        self.branch = f"{self._ids:04x}".ljust(40, "0")
        if why in ("proposal", "sync"):
            self.entries_seen = self.entries_on_base
        if self.pull:
            entered = self._entered() or why in ("changelog", "sync")
            self._change(head=self.branch, mergeable=None)
            if not self.conflict and not (entered and self.entries_on_base > self.entries_seen):
                self._event("push", entered=entered)
        return self.branch

    def _dispatched(self, action: Dispatch) -> int:
        for run in self.runs.values():
            if run.nonce == action.nonce:
                return run.id
        word = action.nonce.rsplit("-", 3)[1]
        stage, step = ("smoke", int(word[-1])) if word.startswith("smoke") else (word, 1)
        return self._new(stage, action.head, "dispatch", "workflow_dispatch", nonce=action.nonce, step=step).id

    def _rerun(self, run: Run, attempt: int) -> bool:
        bad = [job for job in run.latest_jobs if job.conclusion in BAD]
        if run.attempt != attempt or not run.terminal:
            return True
        if not bad:
            return False
        again = tuple(self._job(job.role, job.concurrency, attempt + 1) for job in bad)
        self.runs[run.id] = replace(run, attempt=attempt + 1, status="queued", conclusion=None, jobs=(*run.jobs, *again))
        return True

    # -- what workflows do ---------------------------------------------------------------------------------------

    def _event(self, reason: str, *, entered: bool | None = None) -> None:
        """A pull request event: no run on a conflicting head; one concurrency group, the older run is cancelled."""
        entered = self._entered() if entered is None else entered
        if self.subject.rules.sweep.start != "label" or not self.pull or not self.pull.open or self.conflict:
            return
        if reason != "push" and self._behind():
            return
        for run in self.runs.values():
            if run.event == "pull_request" and not run.terminal and not run.nonce:
                self.dying.add(run.id)
        run = self._new("sweep", self.pull.head, reason, "pull_request")
        drafts = self.subject.rules.sweep.drafts or not self.pull.draft
        entry = entered or not self.needs_entry or not self.subject.rules.changelog
        self.measuring[run.id] = self.pull.labels.count(LABEL) == 1 and drafts and entry

    # -- what people and time do ---------------------------------------------------------------------------------

    def pass_time(self, minutes: float) -> None:
        """Time passes: what is being cancelled is over after it, and every run is listed."""
        self.now += timedelta(minutes=minutes)
        for number in tuple(self.dying):
            self.stop_run(self.runs[number])
        self.hidden.clear()

    def settle_merge(self) -> None:
        """The forge has computed whether the head merges."""
        if self.pull and self.pull.open:
            self._change(mergeable=not self.conflict and not self._behind())

    def move_base(self, *, changelog: bool, recipe: bool = False) -> None:
        """Somebody merged: an entry more in the changelog, or the recipe itself changed on the default branch."""
        self.base += 1
        self.entries_on_base += changelog
        self.conflict = self.conflict or recipe
        if self.pull and self.pull.open:
            self._change(mergeable=None)

    def label(self, name: str, *, by: str) -> None:
        """A label that starts a sweep does so in the group; any other starts a run of its own that skips."""
        if self.pull is None or name in self.pull.labels:
            return
        self._change(labels=(*self.pull.labels, name))
        self.labellings.append(Labelling(label=name, by=by, at=self.now, added=True))
        if name == LABEL:
            self._event("label")
        elif self.subject.rules.sweep.start == "label" and self.pull.open and not self.conflict:
            self.measuring[self._new("sweep", self.pull.head, "label", "pull_request").id] = False

    def unlabel(self, name: str, *, by: str) -> None:
        """Taking a sweep label off is an event of the same group: it cancels what runs there."""
        if self.pull is None or name not in self.pull.labels:
            return
        self._change(labels=tuple(label for label in self.pull.labels if label != name))
        self.labellings.append(Labelling(label=name, by=by, at=self.now, added=False))
        if name == LABEL:
            self._event("unlabel")

    def asks(self, word: str, objection: str | None = None) -> None:
        """A person comments a command; with an objection it is one that may not be obeyed."""
        self.now += timedelta(seconds=10)
        self._ids += 1
        self.orders.append(Order(comment=self._ids, by="ann", at=self.now, word=word, said=word, objection=objection))

    def person(self, what: str) -> None:
        """A person merges, closes, reopens, pushes to the branch, or takes it over by label."""
        match what:
            case "merge":
                self._change(open=False, merged=True)
            case "close" | "reopen":
                self._change(open=what == "reopen")
            case "push":
                self._ids += 1
                self.branch = f"{self._ids:04x}".ljust(40, "0")
                self._change(head=self.branch, mergeable=None)
            case "handoff":
                self.label(self.subject.rules.handoff, by="ann")

    def _change(self, **changed: object) -> None:
        assert self.pull is not None
        self.pull = replace(self.pull, **changed)
