"""Other machines as the person here may ask them: registries, the forge's history of engines, a repository's branches."""

from __future__ import annotations

from contextlib import ExitStack

from bot.adapters.commits import GitHubCommits
from bot.adapters.git import CommandGit
from bot.adapters.process import LocalProcess
from bot.adapters.registry import OciRegistry
from bot.cli import docker, environment
from bot.cli.writing import scratch
from bot.ledger import BRANCH
from bot.ports import Clock


def registry(clock: Clock, *, anew: bool = False, cached: bool = True) -> OciRegistry:
    """Registries as the person at this machine may ask them, with the answers that were kept. `anew`: no listing of tags is
    taken for fresh because it is seconds old; `cached` False: nothing is kept, as in a workflow (SECURITY.md rule 2)."""
    kept = environment.cache() if cached else None
    listings = {"listing_s": 0.0} if anew else {}
    return OciRegistry(clock, credentials=docker.login(), helper=docker.helped, cache=kept, **listings)


def commits(clock: Clock) -> GitHubCommits:
    """The history of engines, as a stranger may ask for it, or with GITHUB_TOKEN."""
    return GitHubCommits(clock, base_url=environment.api(), token=environment.word("GITHUB_TOKEN"))


def opened(remote: str, stack: ExitStack, *, name: str = "bumpbot", token: str | None = None) -> CommandGit:
    """A repository's branches through a private cache that goes when `stack` closes; the ledger's with depth 1."""
    cache = stack.enter_context(scratch()) / "cache.git"
    return CommandGit(LocalProcess(), remote, cache, name=name, email=f"{name}@users.noreply.github.com", token=token,
                      shallow=(BRANCH,))
