"""Any interleaving of wakes over one ledger: nothing is written twice, lost, or spent beyond what was seen."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bot.ledger import BRANCH, canonical, pending, verify
from bot.model.ledger import DaySpent, Taken
from tests.fakes.git_memory import MemoryGit, MemoryRemote
from tests.ledger.chains import Writer

WRITERS, BUMPS, DAY = 3, ("a", "b"), "caps/gb200/2026-07-28.json"
CAP = 3.0


class Wakes(RuleBasedStateMachine):
    """Each writer looks, prepares and pushes in steps of its own; every step may be anybody's."""

    def __init__(self) -> None:
        super().__init__()
        self.remote = MemoryRemote()
        self.writers = [Writer(MemoryGit(self.remote), seed=seed) for seed in range(WRITERS)]
        self.seen: dict[int, object] = {}
        self.ready: dict[int, object] = {}
        self.acted: list[tuple[str, int]] = []
        self.tips: list[str] = []

    @rule(who=st.integers(0, WRITERS - 1))
    def look(self, who):
        self.seen[who] = self.writers[who].ledger.tip()
        self.ready.pop(who, None)

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), bump=st.sampled_from(BUMPS), spend=st.booleans())
    def decide(self, data, bump, spend):
        who = data.draw(st.sampled_from(sorted(self.seen)))
        writer, at = self.writers[who], self.seen[who]
        if pending(writer.ledger.entries(at, bump)):
            step = writer.results(at, bump)
        elif spend:
            spent = writer.ledger.load(at, DAY, DaySpent) or DaySpent()
            if sum(spent.gpu_hours.values()) + 1 > CAP:
                return
            now = {**spent.gpu_hours, bump: spent.gpu_hours.get(bump, 0.0) + 1}
            step = writer.claim(at, bump, writes={DAY: canonical(DaySpent(gpu_hours=now))})
        else:
            step = writer.claim(at, bump)
        self.ready[who] = step

    @precondition(lambda self: self.ready)
    @rule(data=st.data())
    def push(self, data):
        who = data.draw(st.sampled_from(sorted(self.ready)))
        writer, step = self.writers[who], self.ready.pop(who)
        swap = writer.ledger.claim if step.kind == "claim" else writer.ledger.record
        outcome = swap(self.seen[who], [step], wake=writer.wake)
        if isinstance(outcome, Taken):
            self.seen[who] = outcome.snapshot
            self.acted.append((step.bump, int(step.entry.split("/")[-1].removesuffix(".json"))))

    @invariant()
    def every_entry_has_one_winner_and_every_winner_its_entry(self):
        reader = Writer(MemoryGit(self.remote), seed=99)
        at = reader.ledger.tip()
        chains = {bump: reader.ledger.entries(at, bump) for bump in BUMPS}
        assert sorted(self.acted) == sorted((bump, s.entry.n) for bump, chain in chains.items() for s in chain)
        assert all(verify(chain) is None and len(pending(chain)) <= 1 for chain in chains.values())
        spent = reader.ledger.load(at, DAY, DaySpent)
        assert spent is None or sum(spent.gpu_hours.values()) <= CAP

    @invariant()
    def the_branch_only_moves_forward(self):
        tip = self.remote.branches.get(BRANCH)
        if tip and (not self.tips or self.tips[-1] != tip):
            assert not self.tips or MemoryGit(self.remote).contains(tip, self.tips[-1])
            self.tips.append(tip)


Wakes.TestCase.settings = settings(derandomize=True, deadline=None, max_examples=40, stateful_step_count=25)
TestWakes = Wakes.TestCase
