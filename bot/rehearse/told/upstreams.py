"""Several upstreams and the wheels of an index, as small facts. Answers the Upstreams and the Commits port."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.errors import Missing
from bot.model.upstream import Commit, Comparison
from bot.rehearse.told.history import HistoryTold, TreeTold, UpstreamTold


class UpstreamsTold:
    """The upstreams by repository; their packages together are the index."""

    def __init__(self, upstreams: Sequence[UpstreamTold] = ()) -> None:
        self.histories = {one.repository.lower(): HistoryTold(one) for one in upstreams}
        self._wheels = {_package(name): versions for one in upstreams for name, versions in one.packages.items()}

    def tree(self, source: str, commit: str) -> TreeTold:
        history = self.history(source)
        # Files alone can be told, without the commits around them.
        files = history.files(history.full(commit)) if history.told.commits else history.told.trees.get(commit, {})
        if not files:
            raise Missing(f"nothing is told of {source} at {commit}", "its files are unknown")
        return TreeTold(files)

    def history(self, source: str) -> HistoryTold:
        name = source.removesuffix("/").removesuffix(".git").removeprefix("https://github.com/").lower()
        if name not in self.histories:
            raise Missing(f"nothing is told of {source}", "tell its history")
        return self.histories[name]

    def wheel(self, package: str, version: str) -> TreeTold:
        found = self._wheels.get(_package(package), {})
        if version not in found:
            raise Missing(f"there is no wheel of {package} {version}", "name a published version")
        return TreeTold(found[version])

    def versions(self, package: str) -> Sequence[str]:
        if _package(package) not in self._wheels:
            raise Missing(f"there is no package {package}", "correct the name")
        return list(self._wheels[_package(package)])

    def listed(self, repository: str) -> Sequence[Commit]:
        """The default branch's commits, newest first."""
        told = self.history(repository)
        return [told.commit(sha) for sha in told.among(told.behind(told.full("main")))]


class CommitsTold:
    """The Commits port over the same facts (its `history` is another question than that of Upstreams)."""

    def __init__(self, upstreams: UpstreamsTold) -> None:
        self._upstreams = upstreams

    def compare(self, repository: str, base: str, head: str) -> Comparison:
        return self._upstreams.history(repository).compare(base, head)

    def history(self, repository: str, until: Collection[str]) -> Sequence[Commit]:
        return self._upstreams.listed(repository)

    def contains(self, repository: str, commit: str, head: str) -> bool:
        return self._upstreams.history(repository).holds(commit, head)


def _package(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
