"""Runs of a rehearsal that are measured on this machine: `bumpbot matrix --jobs` and `bumpbot bench`, as a workflow runs them.

Each job is a process of its own, in a folder of its own, with what it needs of this process's environment and nothing else.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import msgspec
from msgspec.structs import replace

from bot import strict
from bot.adapters.assets import PackagedAssets
from bot.adapters.process import LocalProcess
from bot.adapters.programs import LocalPrograms
from bot.adapters.tree import LocalCommit
from bot.bench.order import read_machine
from bot.cli.jobs import jobs_of
from bot.cli.matrix import complete, limited, only, startable, whole
from bot.cli.packaged import layout_from
from bot.cli.place import content
from bot.errors import BadInput, Missing, Refusal
from bot.layout import Smoke
from bot.model.bench import Machine, Order, Report
from bot.recipe.shelf import Shelf
from bot.rehearse.engine import model
from bot.rehearse.measuring import Ask, Done, Planned
from bot.rehearse.scenario import Scenario

STAND_IN = "stand-in"
"""The word for the machine that a scenario's own machine.yaml describes: a small server in place of an engine."""
TOOLS = {"throughput": "aiperf", "eval": "lm_eval"}
ROOT = Path(__file__).absolute().parents[2]
TASKS = ROOT / "bot/rehearse/engine/tasks"
# What a job gets of this process's environment beside PATH: where models and certificates are, and the way out.
PASSED = ("HOME", "LANG", "LC_ALL", "TMPDIR", "HF_TOKEN", "HF_ENDPOINT", "HF_HUB_CACHE", "HTTPS_PROXY", "https_proxy", "NO_PROXY",
          "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
LOOK_S = 0.2
SHOWN = {("ttft", "p50"): "TTFT p50", ("itl", "p50"): "ITL p50", ("eval", "strict"): "score"}
"""What a person looks for first in what a job measured."""


def runner(story: Scenario, machine: str | None, work: Path, say: Callable[[str], None]) -> Bench | None:
    """What measures the runs of this story on the machine that is named; None where it measures nothing and none is.

    Refusal where one is named for nothing or lacks its tools, or is needed and not named.
    """
    if not story.story.measures:
        if machine is not None:
            raise Refusal(f"scenario {story.declared.name} measures nothing: its results are told in files", "leave --measure out")
        return None
    if machine is None:
        raise Refusal(f"scenario {story.declared.name} is measured on this machine",
                      f"add --measure MACHINE.yaml, or --measure {STAND_IN} for the server that stands in for an engine")
    for kind, tool in TOOLS.items():
        if not LocalPrograms().found(tool):
            raise Missing(f"{tool} is not on the PATH, and measures each {kind} point of scenario {story.declared.name}",
                          "make an environment with it: make demo-real")
    return Bench(work, _machine(story, machine), say)


def _machine(story: Scenario, named: str) -> Machine:
    """The machine file that is named, or the scenario's own, whose `python` is this one."""
    if named != STAND_IN or Path(named).exists():
        return read_machine(content(Path(named), f"name a machine file, or `{STAND_IN}`"), named)
    if story.machine is None:
        raise Refusal(f"scenario {story.declared.name} has no machine.yaml", "name a machine file: --measure MACHINE.yaml")
    found = read_machine(story.machine.read_bytes(), str(story.machine))
    words = tuple(sys.executable if word == "python" else word for word in found.server)
    return replace(found, server=words, env={**found.env, "PYTHONPATH": str(ROOT)}, tasks=found.tasks or str(TASKS))


class Bench:
    """Satisfies the rehearsal's Runner: `bench` measures each point in a child of this process."""

    def __init__(self, work: Path, machine: Machine, say: Callable[[str], None]) -> None:
        self._work, self._machine, self._say = work.absolute(), machine, say
        self._layout = layout_from(PackagedAssets(), None, file="")
        self._counts: dict[int, int] = {}
        self._begun: dict[int, int] = {}
        self._commits: dict[int, str] = {}

    @property
    def repository(self) -> Path:
        """The guest's, as the world plants it."""
        return self._work / "guest.git"

    def plan(self, ask: Ask) -> Sequence[Planned]:
        tree = LocalCommit.of(LocalProcess(), self.repository, ask.commit)
        if tree is None:
            raise BadInput(f"{ask.commit[:60]!r} is no commit of this repository", "dispatch it for one that was pushed")
        shelf = Shelf(tree)
        found = whole(shelf, self._layout, ask.recipes)
        found = only(found, ask.points) if ask.points else found
        if ask.eval_limit is not None:
            shuffled = (self._layout.smoke or Smoke()).eval_shuffled
            found = tuple(limited(point, ask.eval_limit, shuffled) for point in found)
        jobs = jobs_of(startable(shelf, self._layout, found), complete(shelf, self._layout, found))
        folder = self._work / "runs" / str(ask.run)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "jobs.json").write_bytes(msgspec.json.encode(jobs))
        self._counts[ask.run], self._commits[ask.run] = len(jobs), ask.commit
        return [Planned(name=job.name, results=job.results, logs=job.logs, labels=job.labels, gpus=job.point.gpus, order=job.point)
                for job in jobs]

    def measure(self, ask: Ask, attempt: int, job: Planned) -> Done:
        self._begun[ask.run] = number = self._begun.get(ask.run, 0) + 1
        self._say(f"run {ask.run}: {job.name} ({number} of {max(number, self._counts.get(ask.run, 1))})")
        folder = self._work / "runs" / str(ask.run) / f"{job.results}_attempt{attempt}"
        folder.mkdir(parents=True)
        (folder / "point.json").write_bytes(msgspec.json.encode(job.order))
        (folder / "machine.yaml").write_bytes(msgspec.json.encode(self._machine))
        began = time.monotonic()
        code = self._child(folder, ask, attempt, job.order)
        seconds, log = time.monotonic() - began, (folder / "bench.log").read_text(encoding="utf-8", errors="replace")
        self._say(f"run {ask.run}: {job.name}: {_told(folder, code)}, {seconds:.0f} s")
        return Done(good=code == 0, seconds=seconds, log=log, results=folder / "results", logs=folder / "logs")

    def published(self, story: Scenario, artifacts: Mapping[str, Path], ledger: Path) -> None:
        """What the run before the story measured into its ledger, as the sweep of a repository that has bumpbot leaves it there.
        Refusal where it does not hold: nothing could be compared with it."""
        assert story.story.baseline is not None
        run = story.story.baseline.run
        folder = self._work / "runs" / str(run)
        (folder / "artifacts").mkdir()
        for name, file in artifacts.items():
            shutil.copyfile(file, folder / "artifacts" / f"{name}.zip")
        day = story.declared.clock.start.date() - timedelta(days=1)
        code, said = self._publish(folder, run, ledger, day.isoformat())
        if code:
            why = (said.strip().splitlines() or [f"exit code {code}"])[-1]
            raise Refusal(f"the baseline of run {run} cannot be published: {why}", f"look into {folder}")

    def _publish(self, folder: Path, run: int, ledger: Path, day: str) -> tuple[int, str]:
        """`ledger publish`, as the workflow calls it."""
        argv = [sys.executable, "-m", "bot", "--layout", "own", "ledger", "publish", "artifacts", "--plan", "jobs.json", "--commit",
                self._commits[run], "--date", day]
        env = {"PYTHONPATH": str(ROOT), "BUMPBOT_LEDGER": str(ledger.absolute()), "GITHUB_REPOSITORY": "rehearsal/rehearsal",
               "GITHUB_RUN_ID": str(run), "GITHUB_RUN_ATTEMPT": "1"}
        return self._run(folder, argv, env, "publish.log"), (folder / "publish.log").read_text(encoding="utf-8", errors="replace")

    def _child(self, folder: Path, ask: Ask, attempt: int, order: Order) -> int:
        argv = [sys.executable, "-m", "bot", "bench", "point.json", "--machine", "machine.yaml"]
        env = self._environment(order) | {"BUMPBOT_HEAD": ask.commit, "GITHUB_RUN_ID": str(ask.run),
                                          "GITHUB_RUN_ATTEMPT": str(attempt)}
        return self._run(folder, argv, env, "bench.log")

    def _run(self, folder: Path, argv: Sequence[str], env: Mapping[str, str], log: str) -> int:
        running = LocalPrograms().start(argv, log=folder / log, env=env, cwd=folder)
        try:
            while (code := running.ended()) is None:
                time.sleep(LOOK_S)
            return code
        finally:
            running.stop()

    def _environment(self, order: Order) -> Mapping[str, str]:
        """Where the stand-in's tokenizer is laid out, nothing is fetched for it."""
        env = {name: os.environ[name] for name in PASSED if os.environ.get(name)} | {"PYTHONPATH": str(ROOT)}
        if order.model != model.NAME:
            return env | {name: os.environ[name] for name in ("HF_HOME", "HF_HUB_OFFLINE") if os.environ.get(name)}
        home = self._work / "models"
        model.lay_out(home)
        return env | {"HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


def _told(folder: Path, code: int) -> str:
    """How it ended, with the figures that a person looks for first."""
    try:
        report = strict.load_json(Report, (folder / "results" / "bench.json").read_bytes(), file="bench.json")
    except (OSError, BadInput):
        return f"failed with exit code {code} and no report"
    if code:
        failed = [gate.name for gate in report.gates if gate.passed is False]
        return report.reason or f"gates that do not hold: {', '.join(dict.fromkeys(failed)) or 'none'}"
    found = {(row.metric, row.stat): row for row in report.rows}
    figures = [f"{word} {found[key].value:.4g} {found[key].unit}".rstrip() for key, word in SHOWN.items() if key in found]
    return ", ".join(["good", *figures])
