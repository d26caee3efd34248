"""The sources of engines as this machine may read them: clones and wheels in the cache, surveys in limited children."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from bot.adapters.commits import GitHubCommits
from bot.adapters.process import LocalProcess
from bot.adapters.surveyor import ChildSurveyor
from bot.adapters.upstream.sources import Commits as Histories
from bot.adapters.upstream.sources import UpstreamSources, Way
from bot.adapters.wheels import Wheels
from bot.cli import environment
from bot.cli.output import note
from bot.cli.writing import scratch
from bot.errors import BadArguments
from bot.layout import Layout, called
from bot.ports import Commits, Surveyor, Upstreams

WAYS: dict[str, Way] = {"clone": "clone", "github": "github"}


def upstreams(github: GitHubCommits, layout: Layout, stack: ExitStack, *, token: str | None,
              cached: bool = True) -> tuple[Upstreams | None, Surveyor | None, Commits]:
    """Upstreams, the reader of their files, and the histories of the layout's sources. `cached` False: nothing is kept beyond this
    command, as in a workflow (SECURITY.md rule 2)."""
    kept = environment.cache() if cached else None
    way = way_of(kept is not None)
    if way is None:
        return None, None, github
    folder = kept if kept is not None else Path(stack.enter_context(scratch()))
    surveyor = ChildSurveyor(folder)
    stack.callback(surveyor.close)
    process = LocalProcess()
    found = UpstreamSources(process, folder / "upstream", github, way=way, token=token,
                            wheels=Wheels(process, kept, os.environ), say=lambda line: note(f"note: {line}"))
    return found, surveyor, Histories(found, github, {called(source): source for source in layout.sources.values()})


def way_of(kept: bool) -> Way | None:
    """How a source on GitHub is read: as BUMPBOT_UPSTREAM says, else by a clone where clones are kept, for that is a gigabyte at
    first and little from then on, and by GitHub's API where each command would begin anew. None for `none`: no source and no
    package index is asked, and what they would tell is unknown. BadArguments for another word."""
    said = environment.word("BUMPBOT_UPSTREAM") or ("clone" if kept else "github")
    if said != "none" and said not in WAYS:
        raise BadArguments(f"BUMPBOT_UPSTREAM is {said!r}", f"write one of {', '.join(WAYS)}, none")
    return WAYS.get(said)
