"""The shipped scenarios on bumpbot's own layout, as data: they are what their maker makes, and what the benchmark would upload."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.adapters.assets import PackagedAssets
from bot.adapters.tree import FolderTree
from bot.cli.jobs import jobs_of
from bot.cli.sound import guest_layout, prove
from bot.cli.wiring import knowledge, published
from bot.diagnose.triage import triage
from bot.rehearse import scenario, sharing
from bot.rehearse.clock import VirtualClock
from bot.rehearse.scenario import Scenario
from bot.results import collect
from bot.verdict.compare import compare
from bot.verdict.curves import saturation
from tests.fakes import asked
from tests.rehearse import make_own_scenarios
from tests.rehearse.make_own_scenarios import SCENARIOS, STORIES
from tests.rehearse.own_scenarios import numbers, world
from tests.rehearse.own_scenarios.world import KEY, NEW, REBUILT, SIBLING

ASSETS = PackagedAssets()
KNOWN = knowledge(ASSETS)
each = pytest.mark.parametrize("name", STORIES)


def loaded(name: str) -> Scenario:
    return scenario.load(SCENARIOS / name)


def layout_of(story: Scenario):
    file = story.repo / ".github/bumpbot.yml"
    return guest_layout(story, file.read_bytes(), ASSETS, file=str(file))


def baseline(story: Scenario, key: str):
    port = published(VirtualClock(story.declared.clock.start), layout_of(story), KNOWN, lambda: FolderTree(story.repo))
    old = world.OLD
    return asked.baseline(port, key, model="northwind/Larch-72B", image=world.reference(old), fingerprint=world.fingerprint(key, old))


def rows(folder: Path, key: str):
    """What the bench and eval artifacts of one attempt say about a recipe."""
    files = [file for kind in ("bench", "eval") for file in sorted(folder.glob(f"{kind}_{key}_conc*/*"))]
    streams = [(file.relative_to(folder).as_posix(), file.open("rb")) for file in files]
    found = collect(streams, recipe=key)
    for _, stream in streams:
        stream.close()
    return found.rows


class TestEachFolder:
    def test_is_what_its_maker_makes(self, tmp_path: Path) -> None:
        make_own_scenarios.make(tmp_path)
        for name in STORIES:
            made, held = ({file.relative_to(root): file.read_bytes() for file in root.rglob("*") if file.is_file()}
                          for root in (tmp_path / name, SCENARIOS / name))
            assert made == held, name

    @each
    def test_is_small_and_says_that_it_is_invented(self, name: str) -> None:
        assert sum(file.stat().st_size for file in (SCENARIOS / name).rglob("*") if file.is_file()) < 300_000
        assert loaded(name).declared.attribution.startswith("Everything is invented")

    @each
    def test_can_be_played_by_this_bot(self, name: str) -> None:
        assert prove(loaded(name), ASSETS) is None, "else it says what this bot lacks"

    @each
    def test_shows_the_digests_of_its_own_bytes(self, name: str) -> None:
        story = loaded(name)
        assert not story.declared.registry.declared_digests
        assert all(image.digest is None for image in story.registry["docker.io"]["lmsysorg/sglang"].values())
        assert f"image: {world.reference(world.OLD)}\n" in (story.repo / f"recipes/{KEY}.yaml").read_text()

    def test_five_share_the_world_of_green_and_one_adds_the_image_that_its_tag_moves_to(self) -> None:
        assert {name: loaded(name).declared.shares for name in STORIES} == {
            "green": None, "moved-tag": "green", "takeover": "green", "stale-cache": "green", "family": None,
            "control-arm": None, "staged-later": "green", "deferred": "green"}
        assert [file.name for file in sorted((SCENARIOS / "moved-tag").iterdir())] == ["artifacts", "registry.yaml", "scenario.yaml"]
        tags = {name: set(loaded(name).registry["docker.io"]["lmsysorg/sglang"]) for name in ("green", "moved-tag")}
        assert tags["moved-tag"] - tags["green"] == {REBUILT} and world.digest_of(REBUILT) != world.digest_of(NEW)

    @pytest.mark.parametrize("name", ["moved-tag", "takeover"])
    def test_a_copy_needs_nobody(self, name: str, tmp_path: Path) -> None:
        sharing.copy(SCENARIOS / name, tmp_path / "alone" / name)
        prove(scenario.load(tmp_path / "alone" / name), ASSETS)


class TestTheJobs:
    @each
    def test_carry_the_names_that_the_benchmark_gives_them_and_their_uploads(self, name: str) -> None:
        story = loaded(name)
        keys = [KEY, SIBLING] if name == "family" else [KEY]
        known = {job.name: job for key in keys for job in jobs_of(world.all_points(key))}
        for run in story.story.runs:
            for number, attempt in enumerate(run.attempts, 1):
                for job in attempt.jobs:
                    caller, _, said = job.name.partition(" / ")
                    assert caller == run.workflow.removesuffix(".yml")
                    if said in ("plan", "collect"):
                        assert job.gpus == 0
                        continue
                    assert {*job.artifacts} <= {f"{stem}_attempt{number}" for stem in (known[said].results, known[said].logs)}
                    assert (job.gpus, job.pool) == (numbers.GPUS, "h200")

    def test_only_the_failed_fetch_finds_an_error_in_the_logs(self) -> None:
        found = {}
        for log in sorted(SCENARIOS.glob("*/artifacts/73*/*/*logs_*/server.log")):
            with log.open("rb") as stream:
                told = triage([(log.name, stream)], KNOWN.signatures)
            assert told.warnings == {}
            found[log] = (told.class_, told.signature)
        failed = SCENARIOS / f"green/artifacts/7300410388/1/logs_{KEY}_conc1_attempt1/server.log"
        assert {log: said for log, said in found.items() if said != (None, None)} == {failed: ("package-fetch", "download-failed")}
        assert len(found) > 20


class TestTheNumbers:
    @pytest.mark.parametrize("key", [KEY, SIBLING])
    def test_are_those_of_a_machine(self, key: str) -> None:
        curve = [numbers.measure(world.CURVES[key], conc, "x") for conc in numbers.LEVELS]
        for one, next_ in zip(curve, curve[1:], strict=False):
            assert next_.total_per_gpu > one.total_per_gpu and next_.ttft > one.ttft and next_.itl > one.itl
        assert all(one.e2el > one.ttft > one.itl for one in curve)

    @pytest.mark.parametrize(("name", "key"), [("green", KEY), ("family", KEY), ("family", SIBLING)])
    def test_every_recipe_has_a_baseline_in_the_repository_none_of_its_points_saturated(self, name: str, key: str) -> None:
        found = baseline(loaded(name), key)
        assert (found.date, found.run, found.notes) == (world.MEASURED, world.BASELINE_RUN, ())
        assert {row.point.concurrency for row in found.rows} == set(numbers.LEVELS)
        assert sorted(row.stat for row in found.rows if row.metric == "eval") == ["flexible", "strict"]
        assert saturation(found.rows, KNOWN.metrics) == frozenset()

    @pytest.mark.parametrize(("name", "sweep", "keys"), [("green", 7300418874, [KEY]), ("family", 7300712745, [KEY, SIBLING])])
    def test_a_sweep_measures_every_point_with_the_candidate(self, name: str, sweep: int, keys: list[str]) -> None:
        for key in keys:
            found = rows(SCENARIOS / name / f"artifacts/{sweep}/1", key)
            assert {row.image for row in found} == {world.reference(NEW)}
            assert {row.point.fingerprint for row in found if row.metric != "eval"} == {world.fingerprint(key, NEW)}
            assert {row.point.concurrency for row in found if row.metric == "tput_per_gpu"} == set(numbers.LEVELS)
            assert {(row.point.concurrency, row.n) for row in found if row.metric == "eval"} == {(128, numbers.QUESTIONS)}

    def test_green_is_neutral(self) -> None:
        told = compare(rows(SCENARIOS / "green/artifacts/7300418874/1", KEY), baseline(loaded("green"), KEY).rows, metrics=KNOWN.metrics)
        assert told.verdict == "neutral" and told.rerun == ()

    def test_of_the_family_one_point_is_suspect_and_its_repeat_confirms_it(self) -> None:
        sweep, repeat = (SCENARIOS / f"family/artifacts/{run}/1" for run in (7300712745, 7300716630))
        old = baseline(loaded("family"), SIBLING).rows
        first = compare(rows(sweep, SIBLING), old, metrics=KNOWN.metrics)
        assert (first.verdict, [(one.point.recipe, one.point.concurrency) for one in first.rerun]) == ("inconclusive", [(SIBLING, 64)])
        both = compare(rows(sweep, SIBLING), old, repeat=rows(repeat, SIBLING), metrics=KNOWN.metrics)
        assert both.verdict == "regressed"
        assert {one.metric for one in both.findings if one.finding == "regressed" and one.point} == {"tput_per_gpu", "itl"}
        other = compare(rows(sweep, KEY), baseline(loaded("family"), KEY).rows, metrics=KNOWN.metrics)
        assert other.verdict == "neutral"

    def test_a_sample_holds_fifty_answers_under_both_filters(self) -> None:
        for file in sorted(SCENARIOS.glob("*/artifacts/73*/1/eval_larch*/samples_*.jsonl")):
            told = [json.loads(line) for line in file.read_text().splitlines()]
            assert len(told) == 2 * numbers.SAMPLE and len({one["doc_id"] for one in told}) == numbers.SAMPLE


@pytest.mark.skipif(not shutil.which("make"), reason="make is absent")
class TestTheDemo:
    @pytest.mark.parametrize(("asked", "said"), [
        ((), "bumpbot rehearse kimi-k3-gb200 --as-it-happened"),
        (("SCENARIO=green",), "bumpbot rehearse green"),
        (("SCENARIO=nowhere",), "bumpbot rehearse nowhere"),
    ])
    def test_plays_what_happened_where_a_scenario_tells_it(self, asked: tuple[str, ...], said: str, tmp_path: Path) -> None:
        done = subprocess.run(["make", "--no-print-directory", "-n", "demo", f"VENV={tmp_path / 'venv'}", *asked], cwd=SCENARIOS.parents[2],
                              capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=60)
        assert [line.strip().rpartition("/")[2] for line in done.stdout.splitlines() if " rehearse " in line] == [said]
