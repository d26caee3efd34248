"""What a bump that ended leaves in the ledger, what the next one makes of it, and a baseline that stays as it was frozen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace as renewed
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.baseline import match, question
from bot.cli.rehearse import RehearsedBot
from bot.errors import BadInput, Unreachable
from bot.ledger import LedgerBaselines, publish, result_path, sound
from bot.model.baseline import Configuration, Offer, Question
from bot.model.event import Scheduled
from bot.model.ledger import Measured
from bot.model.result import Cell, Row
from bot.recipe.read import read
from bot.rehearse.world import World
from bot.wake import publishing
from bot.wake.loop import wake
from tests.fakes.shipped import shipped

KEY = "larch72b-fp8-h200-sglang-tp4"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RehearsedBot]:
    """The shipped story of a bump that ends validated, to its end."""
    with ExitStack() as stack:
        work = tmp_path_factory.mktemp("played")
        story = shipped("green")
        world = stack.enter_context(World(story, work))
        bot = RehearsedBot(world, story, work)
        for name, payload in world.deliveries():
            bot.woken(name, payload)
        yield bot


class TestABumpThatEndedValidated:
    def test_leaves_every_value_of_its_sweep_with_the_fingerprint_of_the_new_image(self, played: RehearsedBot) -> None:
        ledger, tip = played.ledger, played.ledger.tip()
        paths = [path for path in tip.paths if path.startswith("results/")]
        found = {path: ledger.load(tip, path, Measured) for path in paths}
        sweep = max(found.values(), key=lambda one: len(one.rows))
        assert {path: result_path(KEY, one.run) for path, one in found.items()} == {path: path for path in paths} and paths
        head = played.context().git.tip(f"bumpbot/{sweep.of}") or ""
        recipe = read(played.context().tree(sweep.head or head), played.context().layout, KEY)
        (wanted,) = question(recipe).configurations
        assert {row.point.fingerprint for row in sweep.rows} == {wanted.fingerprint}
        assert {row.point.concurrency for row in sweep.rows if row.metric != "eval"} == set(wanted.concurrencies)
        assert sweep.thresholds and [row for row in sweep.rows if row.metric == "eval"] and sweep.image == recipe.image

    def test_is_the_baseline_of_the_next_one_and_of_no_other_image(self, played: RehearsedBot) -> None:
        ledger, tip = played.ledger, played.ledger.tip()
        path = next(path for path in sorted(tip.paths) if path.startswith("results/"))
        recipe = read(played.context().tree(ledger.load(tip, path, Measured).head), played.context().layout, KEY)
        asked = question(recipe)
        found = match(LedgerBaselines(ledger).offer(asked), asked)
        assert found.baseline is not None and found.absent == () and found.baseline.source == f"ledger:results/{KEY}/"
        assert found.baseline.thresholds
        other = replace(asked, image="lmsysorg/sglang:v0.0.1")
        assert match(LedgerBaselines(ledger).offer(other), other).missing.startswith("other-image:")


class Watched:
    """A source that is asked once and then holds something else."""

    def __init__(self, inner) -> None:
        self.inner, self.asked = inner, 0

    def offer(self, question: Question) -> Offer:
        self.asked += 1
        return self.inner.offer(question) if self.asked == 1 else Offer(notes=("no-source",))


class TestAWakeAndACollector:
    """Both bring what a run measured: the collector of benchmark.yml when it ends, the wake with the bump's last record."""

    def test_each_finds_what_the_other_brought_and_is_content(self, played: RehearsedBot) -> None:
        ledger, tip = played.ledger, played.ledger.tip()
        paths = sorted(path for path in tip.paths if path.startswith("results/"))
        theirs = ledger.load(tip, paths[0], Measured)
        assert theirs is not None and theirs.of is not None
        mine = replace(theirs, of=None, rows=theirs.rows[:1])
        assert [one.state for one in publish(ledger, [mine], wake="collector")] == ["there"]
        assert ledger.load(ledger.tip(), paths[0], Measured) == theirs
        bump = next(one.entry.facts for one in reversed(ledger.entries(tip, theirs.of)) if one.entry.facts is not None)
        assert publishing.results(played.context(), ledger.tip(), bump) == {}
        lacking = replace(tip, paths={path: oid for path, oid in tip.paths.items() if path != paths[0]})
        assert list(publishing.results(played.context(), lacking, bump)) == [paths[0]], "a wake that came first would have brought it"


class TestTheBaselineOfABump:
    def test_is_frozen_when_it_begins_and_never_asked_for_again(self, tmp_path: Path) -> None:
        story = shipped("green")
        with World(story, tmp_path) as world:
            bot = RehearsedBot(world, story, tmp_path)
            watched, real = Watched(bot.context().published), bot.context
            bot.context = lambda: renewed(real(), published=watched)  # type: ignore[method-assign]
            for name, payload in world.deliveries():
                bot.woken(name, payload)
                if watched.asked:
                    break
            ledger = bot.ledger
            (bump,) = ledger.open_bumps(ledger.tip())
            first = ledger.entries(ledger.tip(), bump)[0].entry.facts.subject.plan.baseline
            for _ in range(3):
                world.clock.sleep(3600)
                wake(bot.context(), Scheduled(at=world.clock.now()))
            held = [one.entry.facts.subject.plan.baseline for one in ledger.entries(ledger.tip(), bump) if one.entry.facts]
            assert watched.asked == 1 and first is not None and all(one == first for one in held)


ROW = Row(point=Cell(recipe="r", concurrency=1, fingerprint="f"), metric="tput_per_gpu", value=1.0, unit="tok/s/GPU", run=7)
MADE = Measured(recipe="r", date="2026-09-01", image="a/b:1", digest=f"sha256:{'a' * 64}", run=7, attempt=1, rows=(ROW,))
ASKED = Question(recipe="r", model="", image="a/b:1", configurations=(Configuration(fingerprint="f", concurrencies=(1,)),))
BROKEN = {"negative": replace(ROW, value=-1.0), "a share above one": replace(ROW, metric="eval", task="t", value=1.5),
          "another recipe's": replace(ROW, point=replace(ROW.point, recipe="s"))}


class TestAResultThatDoesNotHold:
    @pytest.mark.parametrize("what", BROKEN)
    def test_is_told_with_its_place(self, what: str) -> None:
        with pytest.raises(BadInput, match="results/r/7.json: rows.1"):
            sound(replace(MADE, rows=(ROW, BROKEN[what])), "results/r/7.json")

    def test_nor_does_one_that_says_a_value_twice(self) -> None:
        with pytest.raises(BadInput, match="stands twice"):
            sound(replace(MADE, rows=(ROW, ROW)), "x")


class Books:
    """A ledger of some files."""

    def __init__(self, files: dict[str, object]) -> None:
        self.paths = self.files = files

    def tip(self):
        return self

    def load(self, snapshot, path, kind):
        if isinstance(self.files[path], Exception):
            raise self.files[path]
        return self.files[path]


class TestTheLedgersResults:
    def test_that_cannot_be_read_are_a_note_and_take_no_other_with_them(self) -> None:
        found = LedgerBaselines(Books({"results/r/6.json": BadInput("no"), "results/r/7.json": MADE, "results/rs/1.json": MADE})).offer(ASKED)
        assert [one.run for one in found.sets] == [7] and found.notes == ("result-unreadable:results/r/6.json",)

    def test_of_a_ledger_that_does_not_answer_are_unreachable(self) -> None:
        with pytest.raises(Unreachable):
            LedgerBaselines(Books({"results/r/7.json": Unreachable("gone")})).offer(ASKED)

    @pytest.mark.parametrize(("image", "ours"), [("a/b:1", True), (f"a/b:1@sha256:{'a' * 64}", True), (f"a/b:1@sha256:{'b' * 64}", False)])
    def test_are_of_the_digest_that_ran(self, image: str, ours: bool) -> None:
        asked = replace(ASKED, image=image)
        assert bool(match(LedgerBaselines(Books({"results/r/7.json": MADE})).offer(asked), asked).baseline) is ours
