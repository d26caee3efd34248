"""Bumps wherever one may stand when somebody gives a command, and the command itself."""

from __future__ import annotations

from msgspec.structs import replace

from bot.decide.orders import orders
from bot.model.action import Action, Remember, Say
from bot.model.bump import Bump, Ended
from bot.model.forge import Labelling
from bot.model.order import Order
from bot.model.outcome import Cause, Outcome
from bot.model.record import Answer
from bot.model.result import Cell, Rerun, Verdict
from bot.model.rules import Limits
from tests.fakes import facts
from tests.fakes.facts import ENTRY, LABEL, PROPOSAL, bump, job, judged, later, run

GREEN = run(10, "smoke", PROPOSAL, job(1), job(2, role="eval", concurrency=4))
RED = run(10, "smoke", PROPOSAL, job(1, conclusion="failure"), conclusion="failure")
SWEEP = run(20, "sweep", ENTRY, job(3, status="in_progress"), status="in_progress", reason="label", minutes=90)
CUT = run(20, "sweep", ENTRY, job(3, conclusion="failure", minutes=120), conclusion="failure", reason="label", minutes=90)
SWEPT = run(20, "sweep", ENTRY, job(3, minutes=120), reason="label", minutes=90)
OFF = Labelling(label=LABEL, by="bob", at=later(130), added=False)
POOR = {"limits": Limits(gpu_hours=1.0)}
DAY = {"limits": Limits(gpu_hours=1000.0, gpu_hours_per_day=1000.0), "world": {"promised_today": 999.5}}
FAILED = Ended(outcome=Outcome.FAILED, cause=Cause.GATE, at=later(100))
STOPPED = Ended(outcome=Outcome.STOPPED, cause=Cause.PERSON, at=later(100), by="bob")


def order(word: str | None = "status", comment: int = 5, minutes: float = 140, **changed: object) -> Order:
    return replace(Order(comment=comment, by="ann", at=later(minutes), word=word, said=word or ""), **changed)


def ask(made: Bump, *given: Order) -> tuple[Action, ...]:
    return orders(replace(made, world=replace(made.world, orders=given)))


def answers(actions: tuple[Action, ...]) -> list[Answer]:
    return [action.record for action in actions if isinstance(action, Say)]


def kept(actions: tuple[Action, ...]) -> list[object]:
    return [action.fact for action in actions if isinstance(action, Remember)]


def ready(**changed: object) -> Bump:
    return bump("proposal", "changelog", runs=(GREEN,), now=150, **changed)


def swept(sweep: object, *failures: object, **changed: object) -> Bump:
    return bump("proposal", "changelog", runs=(GREEN, sweep), judgements=(judged(sweep, *failures, verdict="neutral"),), now=150,
                labels=(LABEL,), **changed)


def held(*runs: object, **changed: object) -> Bump:
    failed = tuple(judged(one, facts.failure(job, "package-fetch")) for one in runs for job in one.jobs)
    on = Labelling(label=LABEL, by=facts.ME, at=later(80), added=True)
    return bump("proposal", "changelog", runs=(GREEN, *runs), judgements=failed, now=150, world={"labellings": (on, OFF)}, **changed)


def open_verdict(**changed: object) -> Bump:
    """Swept, and one point slower than published, which a second run has to confirm."""
    suspect = Rerun(point=Cell(recipe="r", concurrency=2), why="suspect:tput_per_gpu", gpu_hours=None)
    made = swept(SWEPT, **changed)
    told = replace(judged(SWEPT), verdict=Verdict(verdict="inconclusive", reasons=("not-confirmed",), rerun=(suspect,)))
    return replace(made, memory=replace(made.memory, judged=(told,)))


BUMPS = {
    "smoke due": bump("proposal", now=150),
    "smoke due, poor": bump("proposal", now=150, **POOR),
    "smoke due, day": bump("proposal", now=150, **DAY),
    "smoking": bump("proposal", runs=(replace(GREEN, status="in_progress", conclusion=None),), now=150),
    "smoke broken": bump("proposal", runs=(RED,), judgements=(judged(RED, facts.failure(RED.jobs[0], "oom")),), now=150),
    "smoke broken, poor": bump("proposal", runs=(RED,), judgements=(judged(RED),), now=150, **POOR),
    "smoke broken, day": bump("proposal", runs=(RED,), judgements=(judged(RED),), now=150, **DAY),
    "smoke passed": bump("proposal", runs=(GREEN,), now=150),
    "settling": ready(world={"base_tip": facts.MOVED}, pull_={"mergeable": None}),
    "blocked": ready(changelog="blocked"),
    "barred": ready(changelog="broken"),
    "sweep due": ready(),
    "sweep due, poor": ready(**POOR),
    "sweep due, day": ready(**DAY),
    "sweep begun a moment ago": ready(labels=(LABEL,), world={"labellings": (Labelling(label=LABEL, by=facts.ME, at=later(149), added=True),)}),
    "held": held(),
    "sweeping": swept(SWEEP),
    "sweeping, held": held(SWEEP),
    "sweep broken": swept(CUT, facts.failure(CUT.jobs[0], "package-fetch")),
    "sweep broken, held": held(CUT),
    "swept": swept(SWEPT),
    "finishing": ready(memory={"ended": FAILED}),
    "stopping": ready(memory={"ended": STOPPED}),
    "closed": ready(pull_={"open": False}),
    "over": ready(memory={"ended": STOPPED, "closed": True}, pull_={"open": False}),
    "over, held": ready(memory={"ended": STOPPED, "closed": True}, world={"obstacle": "held"}),
    "over, capped": ready(memory={"ended": STOPPED, "closed": True}, world={"obstacle": "capped"}),
    "over, poor": ready(memory={"ended": STOPPED, "closed": True}, **POOR),
    "over, swept": swept(SWEPT, memory={"ended": FAILED, "closed": True}),
    "over, suspects": open_verdict(memory={"ended": STOPPED, "closed": True}),
    "over, merged": ready(memory={"ended": FAILED, "closed": True}, pull_={"merged": True, "open": False}),
    "over, taken on": ready(memory={"ended": FAILED, "closed": True}, world={"foreign_head": facts.SYNC}),
    "pushed again": ready(world={"tag_digest": "sha256:" + "f" * 64}),
}
