"""How much a wake may do is said by BUMPBOT_MODE: each mode lets less through, and the summary of the run says what was not."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.ledger import OPEN_BUMPS
from tests.cli import worlds
from tests.cli.shell import Done, bumpbot


@pytest.fixture
def summary(tmp_path: Path) -> Path:
    """The page of the workflow run."""
    return tmp_path / "summary.md"


@pytest.fixture
def wake(forge: worlds.Forge, summary: Path, tmp_path: Path) -> Callable[..., Done]:
    """One wake: by hand for a recipe, or of the schedule."""

    def woken(mode: str, recipe: str = "") -> Done:
        summary.unlink(missing_ok=True)
        payload = tmp_path / "event.json"
        inputs = {"recipe": recipe, "image": f"{forge.image}:v1.1.0"} if recipe else None
        payload.write_text(json.dumps({"inputs": inputs}))
        event = "workflow_dispatch" if recipe else "schedule"
        env = {**forge.env, "BUMPBOT_MODE": mode, "GITHUB_STEP_SUMMARY": str(summary)}
        return bumpbot("wake", "--event", event, "--payload", payload, env=env)

    return woken


def entries(forge: worlds.Forge) -> int:
    rows = bumpbot("--repo", forge.world.git_url, "ledger", "show", "--format", "json")
    return sum(len(bumpbot("--repo", forge.world.git_url, "ledger", "show", row["bump"], "--format", "json").json) for row in rows.json)


class TestObserve:
    def test_writes_the_ledger_and_a_summary_and_nothing_else(self, forge: worlds.Forge, wake: Callable[..., Done], summary: Path) -> None:
        done = wake("observe", "toy")
        assert done.code == 0 and "withheld by the mode: push" in done.err
        assert not forge.world.hub.pulls() and not forge.world.hub.runs_made()
        assert set(forge.world.hub.git.refs("refs/heads/")) == {"refs/heads/main", "refs/heads/bumpbot/ledger"}
        told = summary.read_text()
        assert "**withheld by the mode:** commit" in told and "**因模式限制未执行**：提交" in told

    def test_says_so_at_every_wake_and_writes_it_once(self, forge: worlds.Forge, wake: Callable[..., Done], summary: Path) -> None:
        wake("observe", "toy")
        before = entries(forge)
        assert wake("observe").code == 0 and entries(forge) == before
        assert "**withheld by the mode:** commit" in summary.read_text()

    def test_what_it_withheld_is_done_once_the_mode_allows_it(self, forge: worlds.Forge, wake: Callable[..., Done], summary: Path) -> None:
        wake("observe", "toy")
        assert wake("propose").code == 0
        pull, = forge.world.hub.pulls()
        assert pull.draft and not forge.world.hub.runs_made()
        assert "**withheld by the mode:** dispatch" in summary.read_text()
        assert wake("act").code == 0 and len(forge.world.hub.runs_made()) == 1
        assert "done: dispatch" in summary.read_text() and "withheld" not in summary.read_text()


class TestPropose:
    def test_promises_a_cluster_nothing_for_what_it_may_not_dispatch(self, forge: worlds.Forge, wake: Callable[..., Done]) -> None:
        wake("propose", "toy")
        assert forge.world.hub.pulls() and promises(forge) == []
        wake("act")
        assert forge.world.hub.runs_made() and len(promises(forge)) == 1


def promises(forge: worlds.Forge) -> list[str]:
    """Files of clusters' days in the ledger."""
    listed = ["git", "--git-dir", forge.world.git_url, "ls-tree", "-r", "--name-only", "bumpbot/ledger", "caps/"]
    found = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    return [path for path in found if path != OPEN_BUMPS]


class TestTheSummary:
    def test_of_a_wake_that_found_nothing(self, wake: Callable[..., Done], summary: Path) -> None:
        assert wake("act").code == 0
        assert "No bump is open." in summary.read_text() and "当前没有进行中的升级。" in summary.read_text()

    def test_tells_why_a_request_was_refused(self, wake: Callable[..., Done], summary: Path) -> None:
        assert wake("act", "ghost").code == 1
        assert "**Refused:** `there is no recipe ghost" in summary.read_text() and "**已拒绝**" in summary.read_text()

    @pytest.mark.parametrize("recipe", ["gh\u202eost", "ghost\n@everyone", "fixes #1", "\x1b[31mghost"])
    def test_of_a_request_that_would_not_be_printed_is_left_out_or_cleaned(self, wake: Callable[..., Done], recipe: str) -> None:
        done = wake("act", recipe)
        assert done.code == 1 and done.line and "\u202e" not in done.err and "\x1b" not in done.err

    def test_that_cannot_be_written_stops_nothing(self, forge: worlds.Forge, wake: Callable[..., Done], summary: Path) -> None:
        summary.mkdir()
        done = bumpbot("wake", "--event", "schedule", env={**forge.env, "GITHUB_STEP_SUMMARY": str(summary)})
        assert done.code == 0 and "GITHUB_STEP_SUMMARY: " in done.err

    def test_is_not_written_when_the_bot_is_off(self, wake: Callable[..., Done], summary: Path) -> None:
        assert wake("off", "toy").code == 0 and not summary.exists()
