"""Our workflows run by nektos/act, without Docker, against the loopback GitHub; its log as records.

Marketplace actions are the stand-ins beside this file. act knows nothing of `types`, `concurrency`, `permissions` and
environments: test_reading.py and test_expressions.py hold those.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
STANDINS = Path(__file__).parent / "standins"
ACT = Path(sys.executable).parent / "act"
TRIES = 3
_PROGRESS = re.compile(r"remote: |(?:Receiving objects|Resolving deltas): |Cloning into |From |\s*$")
LABELS = ("ubuntu-24.04", "ubuntu-latest", "self-hosted", "h200")


def pins(*files: Path) -> dict[str, Path]:
    """Every marketplace action of these files, as `owner/name@commit`, and the stand-in for it."""
    used = {use for file in files for use in re.findall(r"uses: (actions/[\w-]+@\w+)", file.read_text(encoding="utf-8"))}
    return {use: STANDINS / use.split("@")[0].split("/")[1] for use in sorted(used)}


@dataclass(frozen=True)
class Ran:
    """A run: exit code, the log's lines, what the stand-ins noted."""

    code: int
    lines: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    artifacts: Path
    raw: str

    @property
    def jobs(self) -> dict[str, str]:
        """Job as the forge shows it -> success or failure. A job that its `if:` left out is not there. act writes the called
        workflow's name before a job and a number behind one of a matrix, where the forge writes neither."""
        found = {line["job"].partition("/")[2].strip(): line["jobResult"] for line in self.lines if "jobResult" in line}
        return {re.sub(r"^benchmark/|-\d+$", "", name): result for name, result in found.items()}

    @property
    def log(self) -> str:
        """What steps printed, without the runner's own remarks."""
        return "\n".join(line["msg"].rstrip("\n") for line in self.lines if line.get("raw_output"))

    @property
    def summary(self) -> str:
        """What the jobs wrote into the run's summary."""
        return "".join(line["content"] for line in self.lines if line.get("command") == "summary")

    @property
    def uploaded(self) -> dict[str, list[str]]:
        """Artifact -> its files."""
        return {each.name: sorted(file.name for file in each.iterdir()) for each in sorted(self.artifacts.iterdir())}

    @property
    def commands(self) -> list[str]:
        """The workflow commands that the runner obeyed: `notice: ...`, `error: ...`."""
        return [line["msg"].strip() for line in self.lines if line.get("command") in ("error", "warning", "notice", "debug")]

    @property
    def ignored(self) -> list[str]:
        """Workflow commands that stood in what was printed, and that the runner was told not to obey."""
        return [line["msg"].strip() for line in self.lines if line.get("command") == "ignored"]


@dataclass(frozen=True)
class Runner:
    """Where act runs: a folder of its own, and what every step sees."""

    folder: Path
    repository: str
    env: Mapping[str, str]

    def __call__(self, event: str, payload: Mapping[str, Any], workflow: Path, *, actions: Mapping[str, Path] | None = None,
                 variables: Mapping[str, str] | None = None, secrets: Mapping[str, str] | None = None,
                 env: Mapping[str, str] | None = None, inputs: Mapping[str, str] | None = None) -> Ran:
        place = self.folder / "act"
        home, work, artifacts, notes = (place / name for name in ("home", "work", "artifacts", "notes"))
        for each in (home, work / ".github" / "workflows", artifacts):
            each.mkdir(parents=True, exist_ok=True)
        file = place / "event.json"
        file.write_text(json.dumps(payload))
        called = workflow.parent / "benchmark.yml"
        for each in {workflow, called} if called.exists() else {workflow}:
            (work / ".github" / "workflows" / each.name).write_bytes(each.read_bytes())
        words = {"STANDIN_NOTES": str(notes), "STANDIN_ARTIFACTS": str(artifacts), "STANDIN_PYTHON": str(STANDINS / "python"),
                 "STANDIN_BOT": str(ROOT), "STANDIN_INTERPRETER": sys.executable, "GITHUB_REPOSITORY": self.repository,
                 **self.env, **(env or {})}
        known = pins(*(work / ".github" / "workflows").iterdir(), ROOT / "action.yml") | dict(actions or {})
        server = f"{words.get('GITHUB_SERVER_URL', 'https://github.com')}/"
        argv = [str(ACT), event, "-W", f".github/workflows/{workflow.name}", "-e", str(file), "--json", "--no-cache-server",
                "--no-skip-checkout", *(f"-P={label}=-self-hosted" for label in LABELS),
                *(f"--local-repository={server}{use}={at}" for use, at in known.items()),
                *_pairs("--env", words), *_pairs("--var", variables), *_pairs("-s", secrets), *_pairs("--input", inputs)]
        planted = set(artifacts.iterdir())
        for _ in range(TRIES):
            for each in set(artifacts.iterdir()) - planted:  # of the try before: an upload is refused where one lies
                shutil.rmtree(each)
            notes.write_text("")
            done = subprocess.run(argv, cwd=work, env={"PATH": os.environ["PATH"], "HOME": str(home)}, capture_output=True,
                                  text=True, timeout=120)
            lines = tuple(json.loads(line) for line in (done.stdout + done.stderr).splitlines() if line.startswith("{"))
            if not _mute(lines):
                break
        return Ran(done.returncode, lines, tuple(notes.read_text().splitlines()), artifacts, done.stdout + done.stderr)


def _mute(lines: tuple[dict[str, Any], ...]) -> bool:
    """Whether a step failed and said nothing, git's progress aside. Each of ours says why; what one prints as it ends act loses
    now and then, on a busy machine about once in seventy runs."""
    spoke = {(line.get("jobID"), line.get("stepID", [""])[0]) for line in lines
             if line.get("command") or (line.get("raw_output") and not _PROGRESS.match(line["msg"]))}
    failed = {(line.get("jobID"), line.get("stepID", [""])[0]) for line in lines if line.get("stepResult") == "failure"}
    return bool(failed - spoke)


def _pairs(option: str, words: Mapping[str, str] | None) -> list[str]:
    return [word for name, value in (words or {}).items() for word in (option, f"{name}={value}")]
