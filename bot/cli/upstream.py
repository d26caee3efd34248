"""The sources of engines as this machine may read them: clones and wheels in the cache, surveys in limited children."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from bot.adapters.commits import GitHubCommits
from bot.adapters.process import LocalProcess
from bot.adapters.surveyor import ChildSurveyor
from bot.adapters.upstream.sources import Commits as Histories
from bot.adapters.upstream.sources import UpstreamSources
from bot.adapters.wheels import Wheels
from bot.cli import environment
from bot.cli.output import note
from bot.cli.writing import scratch
from bot.errors import BadArguments
from bot.layout import Layout, github_of, source_of
from bot.ports import Commits, Surveyor, Upstreams

WAYS: dict[str, Literal["clone", "github"]] = {"clone": "clone", "github": "github"}


def upstreams(github: GitHubCommits, layout: Layout, stack: ExitStack, *, token: str | None,
              cached: bool = True) -> tuple[Upstreams | None, Surveyor | None, Commits]:
    """Upstreams, the reader of their files, and the histories of the layout's sources. `cached` False: nothing is kept beyond this
    command, as in a workflow (SECURITY.md rule 2). BUMPBOT_UPSTREAM says whether a source on GitHub is cloned, or asked of its
    API; `none`: no source and no package index is asked, and what they would tell is unknown."""
    said = environment.word("BUMPBOT_UPSTREAM") or "clone"
    if said == "none":
        return None, None, github
    if said not in WAYS:
        raise BadArguments(f"BUMPBOT_UPSTREAM is {said!r}", f"write one of {', '.join(WAYS)}, none")
    kept = environment.cache() if cached else None
    folder = kept if kept is not None else Path(stack.enter_context(scratch()))
    surveyor = ChildSurveyor(folder)
    stack.callback(surveyor.close)
    process = LocalProcess()
    found = UpstreamSources(process, folder / "upstream", github, way=WAYS[said], token=token,
                            wheels=Wheels(process, kept, os.environ), say=lambda line: note(f"note: {line}"))
    named = ((github_of(layout, image), source_of(layout, image)) for image in layout.sources)
    return found, surveyor, Histories(found, github, {name: source for name, source in named if name and source})
