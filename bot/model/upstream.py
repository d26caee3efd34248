"""Nouns for the engine's history between two images."""

from __future__ import annotations

from msgspec import Struct


class Commit(Struct, frozen=True, kw_only=True):
    sha: str
    title: str
    date: str
    pull: int | None = None
    parents: tuple[str, ...] = ()


class Comparison(Struct, frozen=True, kw_only=True):
    """What lies between two commits of one repository; `merge_base` None when the histories share nothing."""

    repository: str
    base: str
    head: str
    merge_base: str | None
    ahead: int
    behind: int
    commits: tuple[Commit, ...] = ()
    url: str = ""
