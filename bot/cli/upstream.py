"""The sources of engines as this machine may read them: clones and wheels in the cache, surveys in limited children."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from bot.adapters.commits import GitHubCommits
from bot.adapters.process import LocalProcess
from bot.adapters.surveyor import ChildSurveyor
from bot.adapters.upstream.sources import UpstreamSources
from bot.cli import environment
from bot.cli.output import note
from bot.cli.writing import scratch
from bot.ports import Surveyor, Upstreams


def upstreams(github: GitHubCommits, stack: ExitStack, *, token: str | None, cached: bool = True) -> tuple[Upstreams, Surveyor]:
    """Upstreams and the reader of their files. `cached` False: nothing is kept beyond this command, as in a workflow (SECURITY.md
    rule 2)."""
    kept = environment.cache() if cached else None
    folder = kept if kept is not None else Path(stack.enter_context(scratch()))
    surveyor = ChildSurveyor(folder)
    stack.callback(surveyor.close)
    found = UpstreamSources(LocalProcess(), folder / "upstream", github, token=token, say=lambda line: note(f"note: {line}"))
    return found, surveyor
