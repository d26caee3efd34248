"""Tag schemes as data: which patterns claim a tag, and the typed values of the fields they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

import re2
from msgspec import Struct

from bot.errors import BadInput
from bot.strict import load

CUSTOM = "custom"
# What must be the same on both sides before anything is ordered.
LABELS = ("cuda", "rocm", "gpu", "arch", "os", "channel", "variant")
NUMBERS = ("alpha", "beta", "rc", "post", "dev", "build")
FIELDS = ("version", *NUMBERS, "date", "time", "commit", *LABELS)
# Not fields of their own: what they hold is told by other fields.
_GROUPS = ("platform", "epoch")
_SHORTHAND = {"{V}": r"\d+(?:\.\d+){1,3}", "{D}": r"(?:20\d{6}|20\d\d-\d\d-\d\d)", "{H}": r"[0-9a-f]{7,40}",
              "{B}": r"[a-z][a-z0-9_]*(?:-[a-z][a-z0-9_]*)*"}
# A registry takes no longer tag, and one that lists some all the same gets no number of thousands of digits read.
_LONGEST = 128
_ARCH = {"x86_64": "amd64", "x86": "amd64", "aarch64": "arm64"}


class Word(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece of a platform suffix and the field it fills."""

    field: str
    pattern: str


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One scheme as `knowledge/tags.yaml` writes it."""

    id: str
    pattern: str
    why: str
    examples: tuple[str, str]
    but_not: str | None = None
    platform: tuple[str, ...] = ()


class Book(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    words: tuple[Word, ...]
    schemes: tuple[Entry, ...]


class Scheme:
    """An entry with its patterns compiled; linear time on any tag, so a registry cannot stall us with one."""

    def __init__(self, entry: Entry, words: Iterable[Word], file: str) -> None:
        self.entry, self.id = entry, entry.id
        self._whole = _compile(entry.pattern, entry.id, file)
        self._but_not = _compile(entry.but_not, entry.id, file) if entry.but_not else None
        self._words = tuple((w.field, _compile(w.pattern, w.field, file)) for w in words if w.field in entry.platform)
        unknown = set(entry.platform).union(map(_base, self._whole.groupindex)) - {*FIELDS, *_GROUPS}
        if unknown:
            raise BadInput(f"no tag field is called {sorted(unknown)[0]}", f"known are {', '.join(FIELDS)}",
                           file=file, key=entry.id)

    def read(self, tag: str) -> dict[str, str | int] | None:
        """The typed fields when this scheme claims the tag, else None."""
        found = self._whole.fullmatch(tag) if len(tag) <= _LONGEST else None
        if found is None or (self._but_not and self._but_not.search(tag)):
            return None
        raw: dict[str, list[str]] = {}
        groups = found.groupdict()
        suffix = groups.pop("platform", None)
        for name, value in groups.items():
            if value is not None:
                raw.setdefault(_base(name), []).append(value)
        if suffix is not None and not self._cut(suffix, raw):
            return None
        return _typed(raw)

    def _cut(self, suffix: str, raw: dict[str, list[str]]) -> bool:
        """Each piece of a suffix to its field; the pieces are a set, so variants are kept in one order."""
        variants: list[str] = []
        for piece in suffix.split("-"):
            word = self._word(piece)
            if word is None or (word[0] in raw and word[0] != "variant"):
                return False
            variants.append(word[1]) if word[0] == "variant" else raw.setdefault(word[0], []).append(word[1])
        if variants:
            raw.setdefault("variant", []).extend(sorted(variants))
        return True

    def _word(self, piece: str) -> tuple[str, str] | None:
        """The first field whose word the piece is, and its value: a day that does not exist is no date."""
        for field, pattern in self._words:
            if (found := pattern.fullmatch(piece)) and _TYPES[field]([found[1]]) is not None:
                return field, found[1]
        return None


def likely(tag: str, schemes: tuple[Scheme, ...]) -> tuple[Scheme, ...]:
    """The schemes whose pattern matches the whole tag, found in one pass over it: a repository lists thousands of tags."""
    if len(tag) > _LONGEST:
        return ()
    return tuple(schemes[place] for place in sorted(_sieve(schemes).Match(tag) or ()))


@lru_cache(maxsize=8)
def _sieve(schemes: tuple[Scheme, ...]) -> Any:
    sieve = re2.Set.FullMatchSet()
    for scheme in schemes:
        sieve.Add(_expanded(scheme.entry.pattern))
    sieve.Compile()
    return sieve


def read(text: str, *, file: str = "knowledge/tags.yaml") -> tuple[Scheme, ...]:
    """The schemes of a knowledge file; BadInput names the entry that does not hold."""
    book = load(Book, text, file=file)
    seen: set[str] = set()
    for entry in book.schemes:
        if entry.id in seen or entry.id == CUSTOM:
            raise BadInput(f"the scheme id {entry.id} is taken", "choose another", file=file, key=entry.id)
        seen.add(entry.id)
    return tuple(Scheme(entry, book.words, file) for entry in book.schemes)


def _typed(raw: dict[str, list[str]]) -> dict[str, str | int] | None:
    made: dict[str, str | int] = {}
    if "epoch" in raw:
        at = datetime.fromtimestamp(int(raw["epoch"][0]), UTC)
        raw |= {"date": [f"{at:%Y%m%d}"], "time": [f"{at:%H%M%S}"]}
    for name in FIELDS:
        if name not in raw:
            continue
        value = _TYPES[name](raw[name])
        if value is None:
            return None
        made[name] = value
    return made


def _number(values: list[str]) -> int:
    return int(values[0]) if values[0] else 0


def _day(values: list[str]) -> str | None:
    text = values[0].replace("-", "")
    year, month, day = (text[:4], text[4:6], text[6:]) if len(text) == 8 else ("2000", text[:2], text[2:])
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return None
    return f"{year}-{month}-{day}" if len(text) == 8 else f"--{month}-{day}"


def _time(values: list[str]) -> str | None:
    parts = re.findall("..", values[0])
    return ":".join(parts) if int(parts[0]) < 24 and all(int(part) < 60 for part in parts[1:]) else None


def _commit(values: list[str]) -> str | None:
    text = values[0]
    if not any(char.isdigit() for char in text):
        return None  # `decade`, `facade`: words
    return None if text.isdigit() and _moment(text) else text


def _moment(digits: str) -> bool:
    """Whether eight digits are a day, or twelve or fourteen a day and a time of it."""
    return len(digits) in (8, 12, 14) and _day([digits[:8]]) is not None and (len(digits) == 8 or _time([digits[8:]]) is not None)


def _toolkit(values: list[str]) -> str:
    """`129` is 12.9, `1301` is 13.0.1, `13` is 13, `13.0.1` stays."""
    text = values[0]
    if "." in text or len(text) <= 2:
        return text
    return ".".join([text[:2], *text[2:]])


def _rocm(values: list[str]) -> str:
    """`720` is 7.2.0, `72` is 7.2, `7.2.3` stays."""
    text = values[0]
    return text if "." in text else ".".join(text)


def _system(values: list[str]) -> str:
    text = values[0]
    return f"ubuntu{text[6:8]}.{text[8:]}" if text.startswith("ubuntu") and text[6:].isdigit() else text


_TYPES: dict[str, Callable[[list[str]], str | int | None]] = {
    "version": lambda v: v[0], **dict.fromkeys(NUMBERS, _number), "date": _day, "time": _time, "commit": _commit,
    "cuda": _toolkit, "rocm": _rocm, "gpu": lambda v: v[0].lower(), "arch": lambda v: _ARCH.get(v[0], v[0]), "os": _system,
    "channel": lambda v: v[0].replace("_", "-"), "variant": lambda v: "-".join(v),
}


def _base(group: str) -> str:
    return group.removesuffix("_2")


def _expanded(pattern: str) -> str:
    for short, whole in _SHORTHAND.items():
        pattern = pattern.replace(short, whole)
    return pattern


def _compile(pattern: str, name: str, file: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(_expanded(pattern), options=options)
    except re2.error as error:
        detail = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else error
        raise BadInput(f"not a pattern RE2 can run: {detail}", "no look-around, no back references", file=file,
                       key=name) from None
