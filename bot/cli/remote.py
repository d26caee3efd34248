"""Other machines as the person here may ask them: registries, the forge's history of engines, a repository's branches."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from bot.adapters.commits import GitHubCommits
from bot.adapters.git import CommandGit, init_bare
from bot.adapters.process import LocalProcess
from bot.adapters.registry import OciRegistry
from bot.cli import docker, environment
from bot.cli.writing import scratch
from bot.layout import Layout
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


def books(layout: Layout, remote: str, stack: ExitStack) -> CommandGit | None:
    """Where the ledger lies: BUMPBOT_LEDGER (a URL, or a folder that is made when absent), else the repository that the
    layout names, else the one acted on, whose git address `remote` is. Each gets the token that is meant for it and no other
    (SECURITY.md rule 2); None where the one acted on has no token of its own."""
    login, own, there = environment.login(), environment.word("GITHUB_TOKEN"), environment.word("BUMPBOT_LEDGER_TOKEN")
    given = environment.word("BUMPBOT_LEDGER")
    if given is not None:
        elsewhere = "://" in given or ":" in given.partition("/")[0]
        return opened(given if elsewhere else str(init_bare(LocalProcess(), Path(given))), stack, name=login, token=there)
    if layout.ledger:
        token = there or environment.word("BUMPBOT_TOKEN", "GITHUB_TOKEN")
        return opened(environment.remote(layout.ledger), stack, name=login, token=token)
    return opened(remote, stack, name=login, token=own) if own else None
