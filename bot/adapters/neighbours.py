"""Other people's open work in a repository on GitHub: pull requests with the recipes that they change, and branches that carry a
recipe's name; and how a head would merge. Reads only, a bounded number of them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol
from urllib.parse import quote

import httpx
from msgspec import Struct

from bot.adapters.github.reads import Api
from bot.adapters.github.records import PullWire, reader
from bot.errors import Missing
from bot.layout import Layout
from bot.model.preflight import Merge, Work
from bot.ports import Clock, Tree
from bot.recipe.shelf import Shelf
from bot.recipe.touched import Change, Places, Touched

MOST_PULLS, MOST_FILES, MOST_BRANCHES = 100, 300, 10
"""The newest pull requests, and the files of each, that are looked at; branches without one that carry a recipe's name, and so many
of the others: a forge does not say which of hundreds changed last."""
LEDGER = "bumpbot/ledger"


class Merging(Protocol):
    """What is asked of git."""

    def branches(self) -> Mapping[str, str]: ...

    def merge_base(self, one: str, other: str) -> str | None: ...

    def conflicts(self, head: str, base: str) -> Sequence[str]: ...

    def read(self, oid: str, path: str) -> bytes | None: ...


class _File(Struct, frozen=True, kw_only=True):
    filename: str
    patch: str | None = None


class GitHubNeighbours:
    """Satisfies the Neighbours port for one repository (`owner/name`). `tree` gives the default branch's files; `me` is our own
    login, by which our own pull requests are known beside the branches that the layout calls ours."""

    def __init__(self, base_url: str, repository: str, token: str, clock: Clock, *, git: Merging, tree: Callable[[], Tree],
                 layout: Layout, me: str = "", transport: httpx.BaseTransport | None = None) -> None:
        self._api = Api(base_url, repository, token, clock, transport=transport)
        self._git, self._tree, self._layout, self._me = git, tree, layout, me

    def work(self) -> Sequence[Work]:
        """Open pull requests and branches, each with the recipes whose files it changes; what changes none is left out."""
        places = Places(Shelf.of(self._tree()), self._layout)
        read = reader(PullWire, self._api.path("pulls"))
        listed = self._api.listed("pulls", state="open", sort="updated", direction="desc")
        pulls = [read(data) for data in islice(listed, MOST_PULLS)]
        found = [made for pull in pulls if (made := self._pull(pull, places))]
        taken = {pull.head.ref for pull in pulls if not pull.foreign}
        return (*found, *self._branches(places, taken))

    def merge(self, head: str, base: str) -> Merge:
        """By `git merge-tree` in the bare cache. `Refusal` where git is too old for it."""
        files = tuple(self._git.conflicts(head, base))
        return Merge(head=head, base=base, conflicts=files, appends=bool(files) and self._appends(head, base, files))

    def _appends(self, head: str, base: str, files: Sequence[str]) -> bool:
        """Whether only the changelog conflicts, and both sides keep every byte that it had: then a sync mends it."""
        log = self._layout.changelog
        if log is None or tuple(files) != (log.file,) or (start := self._git.merge_base(head, base)) is None:
            return False
        was, mine, theirs = (self._git.read(oid, log.file) or b"" for oid in (start, head, base))
        return mine.startswith(was) and theirs.startswith(was)

    def _pull(self, pull: PullWire, places: Places) -> Work | None:
        if pull.base.ref != self._layout.base:
            return None
        read = reader(_File, self._api.path("pulls", pull.number, "files"))
        listed = (read(data) for data in self._api.listed("pulls", pull.number, "files"))
        files = list(islice(listed, MOST_FILES))
        touched = self._touched(iter(files), pull.head.sha, places)
        holding = tuple(one.filename for one in files if places.shared(one.filename))
        if not touched.recipes:
            return None
        by = pull.user.login if pull.user else ""
        ours = not pull.foreign and (pull.head.ref.startswith(self._layout.branch) or bool(self._me and by == self._me))
        return Work(kind="pull", name=f"#{pull.number}", by=by, recipes=touched.recipes, image=touched.image, ours=ours,
                    draft=bool(pull.draft), url=pull.html_url, files=holding)

    def _touched(self, files: Iterator[_File], sha: str, places: Places) -> Touched:
        found = [places.touched(Change(path=one.filename, patch=one.patch),
                                self._content(one.filename, sha) if places.shared(one.filename) else None)
                 for one in files if places.concerns(one.filename)]
        return Touched(recipes=tuple(dict.fromkeys(key for one in found for key in one.recipes)),
                       image=next((one.image for one in found if one.image), None))

    def _content(self, path: str, sha: str) -> bytes | None:
        """A file as a pull request has it, a fork's too: GitHub keeps its commits where the pull request is. None above 1 MB."""
        try:
            told, _ = self._api.told(f"{self._api.path('contents')}/{quote(path)}?ref={sha}")
        except Missing:
            return None
        if not isinstance(told, dict) or told.get("encoding") != "base64":
            return None
        try:
            return base64.b64decode(str(told.get("content", "")))
        except (binascii.Error, ValueError):
            return None

    def _branches(self, places: Places, taken: set[str]) -> Iterator[Work]:
        """Branches without a pull request. Those come first whose name holds a recipe: another bot has claimed it, or left it."""
        keys = {_slug(key): key for key in Shelf.of(self._tree()).homes(self._layout)}
        every = [(name, oid) for name, oid in self._git.branches().items()
                 if name not in (*taken, self._layout.base, LEDGER) and not name.startswith(self._layout.branch)]
        named = [one for one in every if _named(one[0], keys)]
        others = [one for one in every if one not in named]
        for name, oid in (*named[:MOST_BRANCHES], *others[:MOST_BRANCHES]):
            touched = self._ahead(oid, places)
            if touched.recipes:
                yield Work(kind="branch", name=name, by="", recipes=touched.recipes, image=touched.image)

    def _ahead(self, oid: str, places: Places) -> Touched:
        """What a branch changes that the default branch does not have."""
        try:
            told: Any = self._api.get("compare", f"{self._layout.base}...{oid}")
        except Missing:
            return Touched()
        if not isinstance(told, dict) or not told.get("ahead_by"):
            return Touched()
        read = reader(_File, self._api.path("compare"))
        return self._touched(iter([read(data) for data in (told.get("files") or [])[:MOST_FILES]]), oid, places)


def _slug(text: str) -> str:
    return f"-{re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-')}-"


def _named(branch: str, keys: Mapping[str, str]) -> bool:
    slug = _slug(branch)
    return any(key in slug for key in keys)
