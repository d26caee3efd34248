"""The shipped scenario's world lives through the real bump again: its runs, ids, times and GPU-hours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.rehearse import scenario
from bot.rehearse.world import World
from tests.rehearse.kimi_k3_gb200 import numbers

FOLDER = Path(scenario.__file__).parent / "scenarios/kimi-k3-gb200"


class TestTheStory:
    """The world alone, moved by a puppet that does what the real bot did and decides nothing."""

    def test_it_goes_as_it_went(self, tmp_path: Path) -> None:
        with World(scenario.load(FOLDER, "as-it-happened"), tmp_path) as world:
            puppet = Puppet(world)
            for name, payload in world.deliveries():
                puppet.react(name, payload)
            report = world.report()
        assert [(run["id"], run["attempt"], run["action"], run["conclusion"]) for run in report["runs"]] == [
            (34446587513, 1, None, "failure"),
            (34449828534, 2, None, "success"),
            (34461597759, 1, "synchronize", "cancelled"),
            (34461599480, 1, "labeled", "cancelled"),
            (34473834826, 1, "unlabeled", "skipped"),
        ]
        assert puppet.seen == {
            "11:20": {"in_progress": ["c1", "c2", "c4", "c8"], "queued": ["c16", "e2", "e4", "e16", "e1", "e8"]},
            "11:35": {
                "success": ["c1", "c2", "c4", "c8"],
                "in_progress": ["c16", "e2", "e4", "e16"],
                "queued": ["e1", "e8"],
            },
            "11:50": {
                "success": ["c1", "c2", "c4", "c8"],
                "in_progress": ["c16", "e1", "e8"],
                "failure": ["e2", "e4", "e16"],
            },
        }
        assert 180 < report["gpu_hours"] < 200
        assert [run for run in world.unforeseen if run[1] != "push"] == []


class Puppet:
    BRANCH = "bumpbot/kimi"

    def __init__(self, world: World) -> None:
        self.world, self.bot, self.conflicting = world, world.hub.person("bumpbot[bot]"), False
        self.seen: dict[str, dict[str, list[str]]] = {}

    def react(self, name: str, payload: dict[str, Any]) -> None:
        if name == "workflow_dispatch":
            self.bot.push(self.BRANCH, {"recipe.txt": b"new image\n"}, "bump")
            self.pull = self.bot.open(self.BRANCH, "bump", draft=True)
            self.bot.dispatch("e2e-tests.yml", inputs={"test-name": "one"})
        elif name == "workflow_run" and payload["workflow_run"]["id"] == numbers.INITIAL:
            self.bot.dispatch("e2e-tests.yml", inputs={"test-name": "two"})
        elif name == "workflow_run" and payload["workflow_run"]["id"] == numbers.REPAIRED:
            self.smoked(payload["workflow_run"]["run_attempt"])
        elif name == "schedule" and self.conflicting:
            self.synchronize()
        elif name == "schedule" and f"{self.world.clock.now():%H:%M}" in ("11:20", "11:35", "11:50"):
            self.look()

    def smoked(self, attempt: int) -> None:
        hub = self.world.hub
        if attempt == 1:
            hub.engine.rerun(
                hub.store.runs[numbers.REPAIRED], self.bot.account, self.world.clock.now(), failed_only=True
            )
            return
        self.bot.push(self.BRANCH, {"perf-changelog.yaml": self.changelog(self.BRANCH) + b"\n- mine\n"}, "changelog")
        self.bot.draft(self.pull, False)
        self.bot.label(self.pull, "full-sweep-enabled")
        self.conflicting = True

    def synchronize(self) -> None:
        """Main's bytes, the entry again; the label off before and on after."""
        hub, git = self.world.hub, self.world.hub.git
        self.bot.unlabel(self.pull, "full-sweep-enabled")
        main, tip = git.resolve("main"), git.resolve(self.BRANCH)
        assert main and tip
        tree = git.tree_with(
            main, {"recipe.txt": b"new image\n", "perf-changelog.yaml": self.changelog("main") + b"\n- mine\n"}
        )
        who = ("bumpbot", "bumpbot[bot]@users.noreply.github.com")
        git.update_ref(
            f"refs/heads/{self.BRANCH}", git.make_commit(tree, (tip, main), "sync", who, self.world.clock.now()), tip
        )
        hub.tick()
        self.bot.label(self.pull, "full-sweep-enabled")
        self.conflicting = False

    def changelog(self, branch: str) -> bytes:
        git = self.world.hub.git
        tip = git.resolve(branch)
        assert tip
        entry = git.entry(tip, "perf-changelog.yaml")
        assert entry
        return git.blob(entry[1])

    def look(self) -> None:
        now = f"{self.world.clock.now():%H:%M}"
        made = next(run for run in self.world.hub.runs_made() if run.id == numbers.SWEEP)
        told: dict[str, list[str]] = {}
        for job in (job for job in made.jobs if job.gpus):
            short = job.name.split(" mooncake ")[1].removesuffix(" | eval-only")
            told.setdefault(job.conclusion or job.status, []).append(
                short.replace("c", "e") if "eval-only" in job.name else short
            )
        self.seen[now] = told
        if now == "11:50":
            self.bot.cancel(numbers.SWEEP)
            self.bot.unlabel(self.pull, "full-sweep-enabled")
