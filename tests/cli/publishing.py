"""One run's artifacts, the ledger that they are published into, and the page of the workflow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from bot.adapters.clock import SystemClock
from bot.adapters.git import CommandGit
from bot.adapters.process import LocalProcess
from bot.ledger import Ledger
from bot.model.ledger import Measured
from tests.cli.shell import Done, bumpbot
from tests.fakes.uploads import Uploads, plan

HEAD = "8" * 40
RUN = 34461599480


class Runs:
    """One run's artifacts, a ledger in a folder, and the page of the workflow."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.page = folder, folder / "page.md"
        self.env = {"GITHUB_RUN_ID": str(RUN), "GITHUB_RUN_ATTEMPT": "1", "GITHUB_REPOSITORY": "acme/recipes",
                    "BUMPBOT_LEDGER": str(folder / "ledger"), "GITHUB_STEP_SUMMARY": str(self.page)}

    def uploads(self, *names: str, whole: tuple[str, ...] | None = None, honest: bool = True) -> Uploads:
        made = Uploads(self.folder, plan(*names, whole=whole))
        if honest:
            made.everything()
        return made

    def publish(self, made: Uploads, *more: str, env: Mapping[str, str] | None = None) -> Done:
        return bumpbot("--layout", "own", "ledger", "publish", made.folder, "--plan", made.plan, "--commit", HEAD, "--date", "2026-09-01",
                       *more, env={**self.env, **(env or {})}, cwd=self.folder)

    def refused(self, made: Uploads) -> list[str]:
        """The faults of a run of which nothing may be published."""
        done = self.publish(made)
        assert done.code == 1 and "Traceback" not in done.err, done.err
        assert self.held("toy") is None and "not published" in self.page.read_text()
        return [line.removeprefix("refused: ") for line in done.err.splitlines() if line.startswith("refused: ")]

    @property
    def ledger(self) -> Ledger:
        git = CommandGit(LocalProcess(), str(self.folder / "ledger"), self.folder / "cache.git", name="a", email="a@example.com")
        return Ledger(git, clock=SystemClock(), random=Random(1))

    def held(self, recipe: str) -> Measured | None:
        if not (self.folder / "ledger").exists():
            return None
        return self.ledger.load(self.ledger.tip(), f"results/{recipe}/{RUN}.json", Measured)
