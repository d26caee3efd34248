"""The guest's repository as it stands when a rehearsal begins."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bot.rehearse.github import receiving
from bot.rehearse.github.gitrepo import GitRepo
from bot.rehearse.scenario import Scenario

# A partial clone and a fetch by object id, as GitHub allows them; and it is not tidied up behind a push.
SERVES = """[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[receive]
\tautoGC = false
"""


def plant(scenario: Scenario, target: Path) -> Path:
    """The guest's bare repository: one root commit with the files of repo/, by the first of the people, at the start.

    The same scenario gives the same commit id.
    """
    declared = scenario.declared
    env = {"PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", "init", "--quiet", "--bare", f"--initial-branch={declared.repository.branch}", str(target)],
        check=True,
        capture_output=True,
        env=env,
    )
    git, repo = GitRepo(target), scenario.repo
    with (target / "config").open("a") as config:
        config.write(SERVES)
    files: dict[str, bytes | None] = {
        path.relative_to(repo).as_posix(): path.read_bytes() for path in sorted(repo.rglob("*")) if path.is_file()
    }
    who = declared.accounts.people[0]
    root = git.make_commit(
        git.tree_with(None, files),
        (),
        f"State of {declared.repository.name} at the start of the rehearsal\n",
        (who.name, who.email),
        declared.clock.start,
    )
    git.update_ref(f"refs/heads/{declared.repository.branch}", root)
    receiving.guard(target)
    return target
