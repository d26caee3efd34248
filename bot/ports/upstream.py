"""Histories and sources of other people's repositories and packages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from bot.model.upstream import Commit, Comparison
from bot.ports.files import Tree


class Commits(Protocol):
    """History of an upstream repository (`owner/name`)."""

    def compare(self, repository: str, base: str, head: str) -> Comparison: ...

    def history(self, repository: str, until: Collection[str]) -> Sequence[Commit]:
        """The default branch's commits with their parents, newest first, until those named have all been met (short ids will
        do) or a limit is reached: a commit that is not among them may still be older."""
        ...

    def contains(self, repository: str, commit: str, head: str) -> bool:
        """Whether `commit` is `head` or lies behind it."""
        ...


class History(Protocol):
    """What only the whole history tells of one upstream: a local clone answers all of it, the forge's API what it can
    (`Missing` for the rest). Commits are named by id, short ones too, by tag or by branch; what is made of hexadecimal digits is an
    id and no name, unless it is written as `refs/tags/...` or `refs/heads/...`."""

    def full(self, name: str) -> str:
        """The one commit that is meant. `Missing`: it is gone; `BadInput`: a short id that is not unique; `Refusal`: it is there
        and no branch or tag of this repository reaches it (an impostor)."""
        ...

    def commit(self, name: str) -> Commit:
        """That commit's title, date and parents; errors as of `full`."""
        ...

    def touched(self, base: str, head: str) -> Mapping[str, Sequence[str]]:
        """For each commit of `head` that `base` lacks, the files it changed."""
        ...

    def last_touched(self, head: str, path: str, *, since: str | None = None, text: str = "") -> Sequence[Commit]:
        """The commits behind `head` (and not behind `since`) that changed a file, newest first; with `text` only those that changed
        how often it stands there."""
        ...

    def tags(self) -> Mapping[str, str]:
        """Every tag and the commit it names."""
        ...

    def holds(self, commit: str, head: str) -> bool:
        """Whether `commit` is `head` or lies behind it."""
        ...

    def lines(self, base: str, head: str, paths: Collection[str]) -> Mapping[str, Sequence[str]]:
        """For each commit of `head` that `base` lacks and that changed one of these files, the lines that it added or removed
        there."""
        ...

    def saying(self, head: str | None, texts: Sequence[str], *, since: str | None = None) -> Sequence[Commit]:
        """The commits behind `head` (None: behind any branch or tag), and not behind `since`, whose message holds one of the
        texts, newest first."""
        ...

    def merged(self, pull: int, head: str | None) -> Commit | None:
        """The commit behind `head` (None: behind any branch or tag) by which a pull request came there, by its number in the
        title; None where none is."""
        ...

    def patch_ids(self, commits: Sequence[str]) -> Mapping[str, str]:
        """`git patch-id --stable` of each commit's change."""
        ...

    def same_change(self, patch_id: str, head: str, *, since: str | None = None, files: Collection[str] = ()) -> Commit | None:
        """A commit behind `head` (and not behind `since`) whose change has this patch id; None where none has. `files` are those
        that the change touches, where they are known: others need not be looked into."""
        ...


class Upstreams(Protocol):
    """The files and histories of upstreams. Nothing of them is executed or checked out (SECURITY 10)."""

    def tree(self, source: str, commit: str) -> Tree:
        """The files of an upstream (its address in the layout) at a commit."""
        ...

    def history(self, source: str) -> History: ...

    def wheel(self, package: str, version: str) -> Tree:
        """The files of a published wheel. `Missing` when there is none of that version."""
        ...

    def versions(self, package: str) -> Sequence[str]:
        """The published versions of a package, newest first."""
        ...


class Surveyor(Protocol):
    """Reads source text under limits, in a child process of its own, and keeps what it found by content (SECURITY 12)."""

    def survey(self, name: str, tree: Tree, paths: Sequence[str]) -> Mapping[str, Any]:
        """What the survey of that name (bot/upstream/surveys.py) tells of each file, as plain values; None for a file that could
        not be read: it is unknown, never empty."""
        ...
