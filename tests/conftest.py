"""What every test shares: an environment without secrets, and a summary of the outside parts that were absent."""

from __future__ import annotations

import compileall
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]
OPENAPI = ROOT / ".cache" / "openapi" / "package" / "generated" / "api.github.com.json"
EXPRESSIONS = ROOT / ".cache" / "expressions" / "node_modules"
BIN = Path(sys.executable).parent  # where the environment keeps the programs that came in wheels
# name -> the programs or files that make it, and how a person gets it
PARTS: dict[str, tuple[tuple[str, ...], str]] = {
    "docker-registry": (("docker-registry",), "apt-get install docker-registry"),
    "skopeo": (("skopeo",), "apt-get install skopeo"),
    "node": (("node", "npm"), "apt-get install nodejs npm"),
    "@octokit/openapi": ((str(OPENAPI),), ".ci/run fetches it with npm"),
    "@actions/expressions": (("node", str(EXPRESSIONS / ".package-lock.json")), ".ci/run fetches it with npm"),
    "act": ((str(BIN / "act"), "git", "jq", "curl"), "make test installs it; apt-get install git jq curl"),
    "zizmor": ((str(BIN / "zizmor"),), "make test installs it"),
    "actionlint": ((str(BIN / "actionlint"),), "make test installs it"),
}
# What a runner's environment would tell a test that a laptop's does not.
AMBIENT = ("GITHUB_", "ACTIONS_", "RUNNER_", "BUMPBOT_", "GH_TOKEN", "GIT_")

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")


def present(part: str) -> bool:
    """Whether everything that makes an outside part is on this machine."""
    return all(shutil.which(name) or (os.sep in name and os.path.exists(name)) for name in PARTS[part][0])


def pytest_configure(config: pytest.Config) -> None:
    for name in [name for name in os.environ if name.startswith(AMBIENT)]:
        del os.environ[name]
    # No person's configuration decides a test: neither their git identity nor their hooks.
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull, GIT_TERMINAL_PROMPT="0", TZ="UTC")
    # Hundreds of tests start a program of ours. Where PYTHONDONTWRITEBYTECODE is set, as in many containers, each would compile
    # all of it anew: a third of such a test's time.
    if not hasattr(config, "workerinput"):
        for folder in ("bot", "tests/fakes"):
            compileall.compile_dir(ROOT / folder, quiet=2)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for part in mark.args:
            if not present(part):
                pytest.skip(f"{part} is absent")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = [told[2] if isinstance(told, tuple) else str(told) for told in reports]
    skipped = {part: sum(bool(re.search(rf"(?<![\w/]){part}\b", why)) for why in reasons) for part in PARTS}
    terminalreporter.section("outside parts")
    for part, (_, install) in PARTS.items():
        here = "present" if present(part) else f"absent ({install})"
        told = f"{skipped[part]} skipped for want of it" if skipped[part] else "nothing skipped"
        terminalreporter.line(f"{part:<20} {here}; {told}")
