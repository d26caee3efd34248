"""The sources of one engine and of what is coupled to it, as one plan asks for them: each once, and never more than a check needs.
What cannot be had is None; the reason stays with the reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeVar

from bot import layout as layouts
from bot.errors import BumpbotError, Missing, Refusal, Unreachable
from bot.images.tags import fields
from bot.layout import Layout
from bot.model.image import Resolved
from bot.model.uses import Pin
from bot.plan.sources import Sources
from bot.ports import History, Tree, Upstreams
from bot.upstream.engines import Engine

T = TypeVar("T")
# A tag may look like an id (`20260901`), and what reads as one is never taken for a name.
_DIGITS = re.compile(r"[0-9a-f]{4,64}")
_WORDS = {Missing: "missing", Unreachable: "unreachable", Refusal: "refused"}
_NO_RELEASE = frozenset({"date", "commit", "dev", "channel"})
# Variants of a release that hold its sources as they are.
_PLAIN = frozenset({"", "runtime", "devel", "slim", "framework"})


class Trees:
    """`engine` and `source` (its address in the layout) are None where nobody knows them. `unread` says of each thing that was
    asked for in vain why, as a word for `Facts.unknown`."""

    def __init__(self, sources: Sources, layout: Layout, engine: str | None, new: Resolved) -> None:
        self._sources, self._layout, self._upstreams = sources, layout, sources.upstreams
        self.engine: Engine | None = sources.engines.get(engine or "")
        self.source = layouts.source_of(layout, new.reference.name)
        self.repository = layouts.repository_of(layout, new.reference.name)
        self.coupled = {one.name: one for one in layout.preflight.coupled}
        self.unread: dict[str, str] = {}
        self._histories: dict[str, History | None] = {}
        self._trees: dict[str, Tree | None] = {}

    @cached_property
    def history(self) -> History | None:
        """The engine's history."""
        return self.history_of(self.source or "")

    def history_of(self, source: str) -> History | None:
        """The history of an upstream by its address or name; None without one."""
        address = layouts.address_of(self._layout, source) if source else ""
        if address not in self._histories:
            self._histories[address] = self._asked(address, lambda up: up.history(address)) if address else None
        return self._histories[address]

    def commit(self, image: Resolved) -> str | None:
        """The commit that an image was built from: its own word where the engine's history knows it (a label may be a base
        image's), else that of its release tag there, else its own word all the same."""
        told, version = image.facts.commit, self.version(image)
        if version is None or (told is not None and (self.history is None or self._tried(told, self.history))):
            return told
        return self._tagged(self.history, [f"v{version}", version]) or told

    def version(self, image: Resolved) -> str | None:
        """The release that an image's tag names: `0.5.19` of `v0.5.19-cu130`; None of a nightly, a development build, or a variant
        that somebody built with more than the release in it."""
        told = fields(image.reference.tag, self._sources.schemes).fields if image.reference.tag else {}
        if "version" not in told or told.keys() & _NO_RELEASE or not _PLAIN.issuperset(str(told.get("variant", "")).split("-")):
            return None
        parts = (f"{sign}{told[name]}" for name, sign in (("rc", "rc"), ("alpha", "a"), ("beta", "b"), ("post", ".post"))
                 if name in told)
        return f"{told['version']}{''.join(parts)}"

    def tree(self, image: Resolved) -> Tree | None:
        """The engine's files as an image has them: the sources at its commit, else the wheel of its release."""
        key = image.reference.text
        if key not in self._trees:
            self._trees[key] = self._of_commit(self.source, self.commit(image)) or self._released(image)
        return self._trees[key]

    def at(self, commit: str | None) -> Tree | None:
        """The engine's files at a commit."""
        return self._of_commit(self.source, commit)

    def consumer(self, pin: Pin) -> tuple[Tree | None, str]:
        """The files of a coupled part as it is pinned, and the folder in which its modules lie there: a wheel has none."""
        known = self.coupled.get(pin.name)
        folder = known.folder if known else ""
        if pin.version:
            found = self.wheel(pin.package, pin.version)
            if found is not None:
                return found, ""
            tagged = self._tagged(self.history_of(pin.source), [f"v{pin.version}", pin.version]) if pin.source else None
            return self._of_commit(pin.source, tagged), folder
        named = pin.commit or (self._tagged(self.history_of(pin.source), [pin.ref]) if pin.ref and pin.source else None)
        return self._of_commit(pin.source, named), folder

    def wheel(self, package: str, version: str) -> Tree | None:
        return self._asked(f"{package} {version}", lambda up: up.wheel(package, version))

    def versions(self, package: str) -> tuple[str, ...]:
        """What is published of a package, newest first."""
        return tuple(self._asked(package, lambda up: up.versions(package)) or ())

    def elsewhere(self, source: str, ref: str) -> Tree | None:
        """The files of a third repository at a branch, tag or commit."""
        return self._of_commit(source, self._tagged(self.history_of(source), [ref]))

    def why(self) -> str:
        """Why nothing can be read, as a word for `Facts.unknown`."""
        return next(iter(self.unread.values()), "not-asked" if self._upstreams is None else "missing")

    def _released(self, image: Resolved) -> Tree | None:
        """The wheel of the release that the image's tag names, where the layout says that its repository is built from an engine's
        sources: the tag of a runtime that holds an engine is the runtime's version."""
        version = self.version(image)
        return self.wheel(self.engine.package, version) if self.engine and self.source and version else None

    def _of_commit(self, source: str | None, commit: str | None) -> Tree | None:
        if not source or not commit:
            return None
        return self._asked(f"{source}@{commit}", lambda up: up.tree(source, commit))

    def _tagged(self, history: History | None, names: Iterable[str]) -> str | None:
        forms = (form for name in names for form in (
            (name, f"refs/tags/{name}", f"refs/heads/{name}") if _DIGITS.fullmatch(name) else (name,)))
        for form in forms:
            found = self._tried(form, history)
            if found is not None:
                return found
        return None

    def _tried(self, name: str, history: History | None) -> str | None:
        try:
            return history.full(name) if history is not None else None
        except BumpbotError:
            return None

    def _asked(self, about: str, ask: Callable[[Upstreams], T]) -> T | None:
        if self._upstreams is None:
            self.unread.setdefault(about, "not-asked")
            return None
        try:
            return ask(self._upstreams)
        except BumpbotError as error:
            self.unread.setdefault(about, next((word for kind, word in _WORDS.items() if isinstance(error, kind)), "unreadable"))
            if not isinstance(error, Missing):  # what is not there was worth a try; that it was not is the check's to tell
                self._sources.say(f"{about}: {error}")
            return None
