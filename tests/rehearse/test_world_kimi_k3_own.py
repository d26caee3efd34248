"""The worlds of the bump under the bot's own policy, moved by a puppet: whose jobs run when, and that their files agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.rehearse import scenario
from bot.rehearse.github.report import RunMade
from bot.rehearse.world import World
from tests.rehearse import make_kimi_k3_gb200
from tests.rehearse.kimi_k3_gb200 import own, uncapped

SCENARIOS = Path(scenario.__file__).parent / "scenarios"
STAMP = re.compile(r"2026-09-10[T ](\d\d:\d\d:\d\d)|09-10 (\d\d:\d\d:\d\d)")


class Puppet:
    """Does what the stories need and decides nothing: one smoke after the other, then changelog, merge of main and label."""

    BRANCH = "bumpbot/kimi"

    def __init__(self, world: World, last: int) -> None:
        self.world, self.bot, self.last = world, world.hub.person("bumpbot[bot]"), last

    def react(self, name: str, payload: dict[str, Any]) -> None:
        run = payload["workflow_run"]["id"] if name == "workflow_run" else None
        if name == "workflow_dispatch":
            self.bot.push(self.BRANCH, {"recipe.txt": b"new image\n"}, "bump")
            self.pull = self.bot.open(self.BRANCH, "bump", draft=True)
        elif run == uncapped.HIGHEST:
            self.bot.push(self.BRANCH, {"perf-changelog.yaml": self.changelog(self.BRANCH)}, "changelog")
            self.synchronize()
        elif run in (uncapped.SWEEP, self.last):
            self.world.stop()
        if name == "workflow_dispatch" or run in (own.FIRST, own.SECOND, uncapped.SAMPLE, uncapped.LOWEST) and run != self.last:
            self.bot.dispatch("e2e-tests.yml", inputs={"test-name": "next"})

    def synchronize(self) -> None:
        """Main's bytes with the entry behind; the label once the head merges again."""
        hub, git = self.world.hub, self.world.hub.git
        main, tip = git.resolve("main"), git.resolve(self.BRANCH)
        assert main and tip
        tree = git.tree_with(main, {"recipe.txt": b"new image\n", "perf-changelog.yaml": self.changelog("main")})
        made = git.make_commit(tree, (tip, main), "sync", ("b", "bumpbot[bot]@users.noreply.github.com"), self.world.clock.now())
        git.update_ref(f"refs/heads/{self.BRANCH}", made, tip)
        hub.tick()
        self.bot.label(self.pull, "full-sweep-enabled")

    def changelog(self, branch: str) -> bytes:
        git = self.world.hub.git
        tip = git.resolve(branch)
        assert tip
        entry = git.entry(tip, "perf-changelog.yaml")
        assert entry
        return git.blob(entry[1]) + b"\n- mine\n"


def lived(folder: Path, work: Path, last: int) -> tuple[World, dict[int, RunMade]]:
    with World(scenario.load(folder, "own"), work) as world:
        puppet = Puppet(world, last)
        for name, payload in world.deliveries():
            puppet.react(name, payload)
        return world, {run.id: run for run in world.hub.runs_made()}


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, dict[int, RunMade]]]:
    yield lived(SCENARIOS / make_kimi_k3_gb200.NAME, tmp_path_factory.mktemp("capped"), own.SECOND)


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, dict[int, RunMade]]]:
    yield lived(SCENARIOS / make_kimi_k3_gb200.UNCAPPED, tmp_path_factory.mktemp("free"), uncapped.SWEEP)


def spans(run: RunMade) -> dict[str, tuple[datetime, datetime]]:
    """c4 or e4 for its eval -> when its job began and ended."""
    told = {}
    for job in run.jobs:
        if job.gpus and job.started and job.completed:
            short = job.name.split(" mooncake ")[1].removesuffix(" | eval-only")
            told[short.replace("c", "e") if "eval-only" in job.name else short] = (job.started, job.completed)
    return told


def moments(file: Path) -> list[datetime]:
    day = datetime(2026, 9, 10, tzinfo=UTC)
    clocks = ((one or other).split(":") for one, other in STAMP.findall(file.read_text()))
    return [day + timedelta(hours=int(hour), minutes=int(minute), seconds=int(second)) for hour, minute, second in clocks]


class TestWithTheCap:
    def test_two_failed_evals_at_c16_are_all_that_held_gpus(self, capped: tuple[World, dict[int, RunMade]]) -> None:
        _, runs = capped
        assert [(run, made.conclusion, list(spans(made))) for run, made in runs.items()] == [
            (own.FIRST, "failure", ["e16"]),
            (own.SECOND, "failure", ["e16"]),
        ]
        assert 12 < sum(run.gpu_hours for run in runs.values()) < 195.1 / 4


class TestWithoutIt:
    def test_each_stage_is_a_run_of_its_own(self, free: tuple[World, dict[int, RunMade]]) -> None:
        world, runs = free
        smokes = [(run.id, run.conclusion, list(spans(run))) for run in runs.values() if run.workflow == "e2e-tests.yml"]
        assert smokes == [
            (own.FIRST, "failure", ["e16"]),
            (own.SECOND, "failure", ["e16"]),
            (uncapped.SAMPLE, "success", ["e16"]),
            (uncapped.LOWEST, "success", ["c1"]),
            (uncapped.HIGHEST, "success", ["c16"]),
        ]
        assert [run for run in world.unforeseen if run[1] != "push"] == []

    def test_the_sweep_runs_every_point_and_eval_to_its_end(self, free: tuple[World, dict[int, RunMade]]) -> None:
        _, runs = free
        assert (runs[uncapped.SYNCHRONIZED].conclusion, runs[uncapped.SYNCHRONIZED].gpu_hours) == ("cancelled", 0)
        assert runs[uncapped.SWEEP].conclusion == "success"
        assert sorted(spans(runs[uncapped.SWEEP])) == sorted(f"{kind}{conc}" for kind in "ce" for conc in (1, 2, 4, 8, 16))


class TestTheFilesAreOfTheirJobsTime:
    """A log whose lines were written before its job began, or after it ended, would be another job's."""

    @pytest.mark.parametrize("story", ["capped", "free"])
    def test_every_line_and_result(self, story: str, request: pytest.FixtureRequest) -> None:
        world, runs = request.getfixturevalue(story)
        checked = 0
        for number, made in runs.items():
            for short, (began, ended) in spans(made).items():
                kind, conc = ("eval_", short[1:]) if short[0] == "e" else ("", short[1:])
                here = world.scenario.folder / f"artifacts/{number}/1"
                for log in here.glob(f"{kind}multinode_server_logs_kimik3_*_conc{conc}_kvdram*/*.out"):
                    told = moments(log)
                    assert told and began <= min(told) and max(told) <= ended, (number, short, log.name)
                    checked += 1
                for export in here.glob(f"agentic_kimik3_*_conc{conc}_kvdram*/aiperf_artifacts/profile_export.jsonl") if not kind else ():
                    times = [int(text) / 1e9 for text in re.findall(r"request_(?:start|end)_ns\":(\d+)", export.read_text())]
                    assert began.timestamp() < min(times) and max(times) < ended.timestamp(), (number, short)
                    checked += 1
        assert checked == {"capped": 12, "free": 12 + 3 * 6 + 10 * 6 + 2}[story]
