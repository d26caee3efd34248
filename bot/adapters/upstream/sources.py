"""Which of the ways answers for a source: a clone, GitHub's API, or an index of packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from msgspec.structs import replace

from bot.adapters.commits import GitHubCommits
from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.contents import GitHubTree
from bot.adapters.upstream.files import CloneTree
from bot.adapters.upstream.light import GitHubHistory
from bot.adapters.upstream.told import CloneHistory
from bot.errors import Missing, Refusal, Unreachable
from bot.model.upstream import Commit, Comparison
from bot.ports import History, Process, Tree

Way = Literal["clone", "github"]
T = TypeVar("T")
_GITHUB = re.compile(r"https://github\.com/([^/]+/[^/]+?)(?:\.git)?/?")
_TREES = 16


class Wheels(Protocol):
    """An index of packages."""

    def wheel(self, package: str, version: str) -> Tree: ...

    def versions(self, package: str) -> Sequence[str]: ...


class UpstreamSources:
    """Satisfies the Upstreams port. `cache` holds the clones; `way` is how a source on GitHub is read first, a folder of this
    machine and any other host are always read by git. A clone that cannot be had is told once, and GitHub asked in its place."""

    def __init__(self, process: Process, cache: Path, github: GitHubCommits, *, way: Way = "clone", token: str | None = None,
                 wheels: Wheels | None = None, say: Callable[[str], None] = lambda line: None) -> None:
        self._process, self._cache, self._github, self._way, self._token = process, Path(cache), github, way, token
        self._wheels, self._say = wheels, say
        self._histories: dict[str, CloneHistory | GitHubHistory] = {}
        self._trees: dict[tuple[str, str], Tree] = {}

    def tree(self, source: str, commit: str) -> Tree:
        """The files of an upstream at a commit, tag or branch."""
        if (source, commit) not in self._trees:
            history = self._history(source)
            made = (CloneTree(history.clone, history.clone.find(commit)) if isinstance(history, CloneHistory)
                    else GitHubTree(history.api, history.repository, history.full(commit)))
            self._trees[source, commit] = made
            while len(self._trees) > _TREES:
                del self._trees[next(iter(self._trees))]
        return self._trees[source, commit]

    def history(self, source: str) -> History:
        """The history of an upstream."""
        return self._history(source)

    def wheel(self, package: str, version: str) -> Tree:
        """The files of a published wheel."""
        return self._index().wheel(package, version)

    def versions(self, package: str) -> Sequence[str]:
        """The published versions of a package, newest first."""
        return self._index().versions(package)

    def compare(self, source: str, repository: str, base: str, head: str) -> Comparison:
        """What lies between two commits, by the same way as the source's history. Only GitHub's page of it is known."""
        history, named = self._history(source), _GITHUB.fullmatch(source)
        if not isinstance(history, CloneHistory):
            return self._github.compare(named[1] if named else repository, base, head)
        found = history.compare(repository, base, head)
        return found if named else replace(found, url="")

    def listed(self, source: str) -> Sequence[Commit]:
        """The main line of a source that git reads, newest first."""
        history = self._history(source)
        if not isinstance(history, CloneHistory):
            raise Missing(f"{source} is not read by git here", "GitHub lists its main line")
        return history.behind("main")

    def _index(self) -> Wheels:
        if self._wheels is None:
            raise Missing("no index of packages is known here", "nothing is told of wheels")
        return self._wheels

    def _history(self, source: str) -> CloneHistory | GitHubHistory:
        if source not in self._histories:
            self._histories[source] = self._made(source)
        return self._histories[source]

    def _made(self, source: str) -> CloneHistory | GitHubHistory:
        named = _GITHUB.fullmatch(source)
        if named and self._way == "github":
            return GitHubHistory(self._github, named[1])
        try:
            return CloneHistory(Clone(self._process, source, self._cache, token=self._token if named else None))
        except (Unreachable, Refusal, Missing) as error:  # git follows no redirect of a renamed repository, the API does
            if not named:
                raise
            self._say(f"{named[1]} could not be cloned, GitHub is asked in its place: {error}")
            return GitHubHistory(self._github, named[1])


class Commits:
    """Satisfies the Commits port: from the clone of a repository whose source is known, else from GitHub. `sources` are the
    layout's addresses by the names of their repositories."""

    def __init__(self, upstreams: UpstreamSources, github: GitHubCommits, sources: Mapping[str, str]) -> None:
        self._upstreams, self._github = upstreams, github
        self._sources = {name.lower(): source for name, source in sources.items()}

    def compare(self, repository: str, base: str, head: str) -> Comparison:
        """What lies between two commits."""
        return self._first(repository, lambda source: self._upstreams.compare(source, repository, base, head),
                           lambda: self._github.compare(repository, base, head))

    def history(self, repository: str, until: Collection[str]) -> Sequence[Commit]:
        """The main line, which GitHub lists in a few requests."""
        source = self._sources.get(repository.lower(), "")
        if not source or _GITHUB.fullmatch(source):
            return self._github.history(repository, until)
        return self._upstreams.listed(source)

    def contains(self, repository: str, commit: str, head: str) -> bool:
        """Whether `commit` is `head` or lies behind it."""
        return self._first(repository, lambda source: self._upstreams.history(source).holds(commit, head),
                           lambda: self._github.contains(repository, commit, head))

    def _first(self, repository: str, near: Callable[[str], T], far: Callable[[], T]) -> T:
        source = self._sources.get(repository.lower())
        if source is None:
            return far()
        try:
            return near(source)
        except Unreachable:
            if not _GITHUB.fullmatch(source):
                raise
            return far()


