"""What a job's logs say of the image that ran: engines print their version, launchers the image, digest or squash file.

Squash caches are keyed by tag and one launcher hard-codes its image, so that a run measured an image nobody asked for; the
server's own word is the one that counts. The wordings are data with their own examples (`knowledge/reported.yaml`), in
linear time like the signatures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import re2
from msgspec import Struct

from bot import strict
from bot.diagnose.logs import Line
from bot.diagnose.words import node_of, role_of
from bot.errors import BadInput
from bot.model.result import Reported

Group = Literal["version", "commit", "digest", "image", "squash"]
VERSION = r"[0-9]+(?:\.[0-9]+)+[A-Za-z0-9.+_-]{0,80}"
_TAG = r":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
REFERENCE = rf"[a-z0-9][A-Za-z0-9._-]*(?::[0-9]+)?[/#][A-Za-z0-9._/-]+(?:(?:{_TAG})?@sha256:[0-9a-f]{{64}}|{_TAG})"
KEPT = 200
"""Of one job at most so many are kept: a log that claims a million versions proves nothing more."""
_CLIENTS = ("benchmark", "eval")
_FILE = "knowledge/reported.yaml"


class Engine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An engine whose version logs can tell; the tags of `images` (globs of registry/repository) name that version."""

    id: str
    name: str
    images: tuple[str, ...]


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One wording: a pattern whose only group holds what is said. `engine` None: a launcher's word, not a server's."""

    id: str
    pattern: str
    example: str
    says: str
    engine: str | None = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    engines: tuple[Engine, ...]
    entries: tuple[Entry, ...]


class Wording:
    """An entry with its pattern compiled."""

    def __init__(self, entry: Entry) -> None:
        self.entry, self.id, self.engine = entry, entry.id, entry.engine
        self.text = entry.pattern.replace("{V}", VERSION).replace("{R}", REFERENCE)
        self._pattern: Any = re2.compile(self.text, options=_options())
        self.groups: tuple[str, ...] = tuple(self._pattern.groupindex)

    def said(self, line: str) -> str | None:
        """What the line says, None where it does not speak of this."""
        found = self._pattern.search(line)
        return str(found[1]).rstrip(".") if found else None

    @property
    def kind(self) -> Literal["version", "commit", "digest", "image"]:
        """As `Reported` has it: a squash file's name is an image's."""
        return "image" if self.groups == ("squash",) else self.groups[0]  # type: ignore[return-value]


class Words:
    """All wordings asked at once; `engines` are those whose version some wording tells."""

    def __init__(self, engines: Sequence[Engine], wordings: Sequence[Wording]) -> None:
        self.engines, self.wordings = tuple(engines), tuple(wordings)
        unnamed = (re.sub(r"\(\?P<\w+>", "(?:", wording.text) for wording in wordings)
        self._any: Any = re2.compile("|".join(f"(?:{text})" for text in unnamed), options=_options())

    @property
    def images(self) -> Mapping[str, tuple[str, ...]]:
        """Engine -> the repositories whose tags name its version."""
        return {engine.id: engine.images for engine in self.engines}

    def name(self, engine: str) -> str:
        """How people write an engine's name."""
        return next((known.name for known in self.engines if known.id == engine), engine)

    def of(self, line: str) -> Iterator[tuple[Wording, str]]:
        """Every wording that a line is of, and what it says."""
        if self._any.search(line):
            for wording in self.wordings:
                if (said := wording.said(line)) is not None:
                    yield wording, said


class Listener:
    """Hears what logs say while somebody else reads them, so that nothing is unpacked twice."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._heard: dict[tuple[str, str, str, str], Reported] = {}

    def over(self, name: str, lines: Iterable[Line]) -> Iterator[Line]:
        """The same lines. A load generator's log names its own libraries, so engines are not heard there."""
        node, client = node_of(name) or "", role_of(name) in _CLIENTS
        for line in lines:
            for wording, said in self._words.of(line.text):
                key = wording.kind, wording.engine or "", said, node
                if key not in self._heard and len(self._heard) < KEPT and not (client and wording.engine):
                    self._heard[key] = Reported(kind=wording.kind, value=said, file=name, line=line.number,
                                                engine=wording.engine or "", node=node)
            yield line

    @property
    def reported(self) -> tuple[Reported, ...]:
        """Each distinct value once, and node by node only where the nodes differ."""
        found = sorted(self._heard.values(), key=lambda one: (one.kind, one.engine, one.value, one.node, one.file, one.line or 0))
        values: dict[tuple[str, str], set[str]] = {}
        for one in found:
            values.setdefault((one.kind, one.engine), set()).add(one.value)
        firsts = {(one.kind, one.engine, one.value): one for one in reversed(found)}
        return tuple(one for one in found
                     if (one.engine and len(values[one.kind, one.engine]) > 1) or firsts[one.kind, one.engine, one.value] is one)


def load(text: str, file: str = _FILE) -> Words:
    """The wordings of a YAML text; BadInput names the entry that does not hold."""
    book = strict.load(_File, text, file=file)
    engines, seen, made = {engine.id for engine in book.engines}, set[str](), []
    for entry in book.entries:
        if entry.id in seen:
            raise BadInput("this id stands twice", "rename one", file=file, key=f"entries.{entry.id}")
        if entry.engine is not None and entry.engine not in engines:
            raise BadInput(f"no engine is called {entry.engine}", "name one of `engines`", file=file, key=f"entries.{entry.id}")
        seen.add(entry.id)
        made.append(_wording(entry, file))
    return Words(book.engines, made)


def _wording(entry: Entry, file: str) -> Wording:
    try:
        made = Wording(entry)
    except re2.error as error:
        raise BadInput(f"not an RE2 pattern: {error.args[0] if error.args else error}", "RE2 has no look-around",
                       file=file, key=f"entries.{entry.id}") from None
    if len(made.groups) != 1 or made.groups[0] not in Group.__args__:  # type: ignore[attr-defined]
        raise BadInput("a pattern has exactly one group", f"name it {', '.join(Group.__args__)}",  # type: ignore[attr-defined]
                       file=file, key=f"entries.{entry.id}")
    if made.said(entry.example) != entry.says or made.said("") is not None:
        raise BadInput(f"the example says {made.said(entry.example)}, not {entry.says}", "mend one of them",
                       file=file, key=f"entries.{entry.id}")
    return made


def _options() -> Any:
    options = re2.Options()
    options.max_mem, options.log_errors = 64 << 20, False
    return options
