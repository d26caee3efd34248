"""A small bump, and writers that wake up on one ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from bot.ledger import Ledger, claim_entry, record_entry, wake_id
from bot.model.action import Label, Result, Unlabel
from bot.model.bump import Bump, Plan, Subject
from bot.model.event import Scheduled
from bot.model.image import Candidate, Reference, Resolved
from bot.model.recipe import Scope
from bot.model.rules import Limits, Rules, Smoke, Sweep
from bot.model.text import Text

WHEN = datetime(2026, 7, 28, 5, 0, 0, tzinfo=UTC)
HEAD = "a" * 40


class FakeClock:
    """Time that only sleeping moves."""

    def __init__(self, now: datetime = WHEN) -> None:
        self.time, self.slept = now, []

    def now(self) -> datetime:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += timedelta(seconds=seconds)


def facts(bump: str = "kimi-1") -> Bump:
    image = Resolved(reference=Reference(text="docker.io/x/y:1", registry="docker.io", repository="x/y", tag="1"),
                     kind="index", digest="sha256:" + "0" * 64, platforms=())
    scope = Scope(changed_rows=1, other_rows_changed=0, only_image=True)
    plan = Plan(title=Text("t", "题"), sites=(), scope=scope, diff="")
    rules = Rules(smoke=Smoke(workflow="smoke.yml", ref="main"), sweep=Sweep(workflow="sweep.yml"), branch="bump/x",
                  base="main", changelog=True)
    subject = Subject(family=(), candidate=Candidate(old=image, new=image, text=image.reference.text), plan=plan,
                      rules=rules, limits=Limits())
    return Bump(id=bump, now=WHEN, subject=subject)


class Writer:
    """One process with a ledger of its own; `step` is what it would claim for a bump as it sees it now."""

    def __init__(self, git, seed: int = 0, clock: FakeClock | None = None, **more) -> None:
        self.random = Random(seed)
        self.git, self.clock = git, clock or FakeClock()
        self.ledger = Ledger(git, clock=self.clock, random=self.random, **more)
        self.wake = wake_id(self.random)

    def claim(self, snapshot, bump="kimi-1", *, actions=None, run=None, at=WHEN, **more):
        entry = claim_entry(self.ledger.entries(snapshot, bump), wake=self.wake, version="0.1", at=at, run=run,
                            event=Scheduled(at=at), facts=facts(bump),
                            actions=actions or (Label(name="go", head=HEAD),))
        return self.ledger.step(snapshot, bump, entry, **more)

    def results(self, snapshot, bump="kimi-1", *, of=None, year=None, **more):
        entries = self.ledger.entries(snapshot, bump)
        entry = record_entry(entries, of or entries[-1].entry.n, wake=self.wake, version="0.1", at=WHEN,
                             results=(Result(index=0, ok=True),))
        if year:
            return self.ledger.final_step(snapshot, bump, entry, year=year, **more)
        return self.ledger.step(snapshot, bump, entry, **more)

    def live_through(self, bump="kimi-1", rounds=1):
        """Claims and records, each in its own push; the snapshot after."""
        at = self.ledger.tip()
        for _ in range(rounds):
            at = self.ledger.claim(at, [self.claim(at, bump)], wake=self.wake).snapshot
            at = self.ledger.record(at, [self.results(at, bump)], wake=self.wake).snapshot
        return at


def stored(count: int = 4):
    """A chain of claims and records as it would be read, made without a repository."""
    from bot.ledger.chain import decode, encode

    made = []
    for n in range(1, count + 1):
        if n % 2:
            entry = claim_entry(made, wake=f"w{n}", version="0.1", at=WHEN, event=Scheduled(at=WHEN), facts=facts(),
                                actions=(Label(name="go", head=HEAD), Unlabel(name="stop")))
        else:
            entry = record_entry(made, n - 1, wake=f"w{n - 1}", version="0.1", at=WHEN,
                                 results=(Result(index=1, ok=True),))
        path = f"bumps/kimi-1/{n}.json"
        made.append(decode(path, encode(entry, path)))
    return made
