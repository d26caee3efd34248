"""Which concurrency and which repetition a file belongs to when it does not say so itself.

An eval's concurrency, and the image that it asked, stand in `meta_env.json`, the first also in `_conc<N>` of its names; a
request export's in the summary that the same load generator wrote beside it. A name like `conc1x2x4` is a list and tells
nothing about one file. Repetitions lie in folders of their own: `profile_runs/run_0002`, `trial_0002`, `repeat_2`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from msgspec import Struct

from bot.results.read import count, document, mapping

META = "meta_env.json"
_CONC = re.compile(r"(?:^|[_\-.])conc(?:urrency)?[_\-]?(?P<conc>[1-9]\d{0,6})(?![\dx])")
_REPEAT = re.compile(r"(?:^|[_\-.])(?:run|trial|rep|repeat|repetition|r)[_\-]?(?P<repeat>\d{1,4})(?=$|[_\-.])")
_RUNS = re.compile(r"(?:^|/)(?:profile_runs(?:/.*)?|aggregate(?:/.*)?|(?:run|trial|rep|repeat|repetition)_?\d{1,4})$")
_Told = dict[str, set[int]]


class Beside:
    """What files say of the files around them. Two that say two things of one folder say nothing."""

    def __init__(self) -> None:
        self._here: _Told = {}
        self._repeats: _Told = {}
        self._clients: _Told = {}

    def tell(self, name: str, concurrency: int | None, *, client: int | None = None) -> None:
        """The file `name` knows the load of its folder; `client` is what the tool that wrote it sent at once, which is
        believed only where nothing says more. Where a tool put its repeats into folders, each knows it for the others."""
        here = folder(name)
        for told, place, value in ((self._here, here, concurrency), (self._repeats, _base(here), concurrency),
                                   (self._clients, here, client)):
            if place is not None and value is not None:
                told.setdefault(place, set()).add(value)

    def at(self, place: str) -> int | None:
        """The one concurrency told in a folder."""
        return _one(self._here.get(place))

    def elsewhere(self, place: str) -> int | None:
        """What the other repeats of a folder's point tell, or else the client that ran there."""
        base = _base(place)
        return (_one(self._repeats.get(base)) if base is not None else None) or _one(self._clients.get(place))


def _base(place: str) -> str | None:
    """The folder in which the repeats lie of which `place` is one; None where it is none."""
    base = _RUNS.sub("", place)
    return None if base == place else base


def _one(told: set[int] | None) -> int | None:
    return next(iter(told)) if told and len(told) == 1 else None


def folder(name: str) -> str:
    """The folder that a file lies in."""
    return name.rpartition("/")[0]


def is_meta(name: str) -> bool:
    """Whether this is the environment file that lies beside an eval's results."""
    return name.rsplit("/", 1)[-1] == META


class Meta(Struct, frozen=True, kw_only=True):
    """What an eval's environment file tells of the results beside it; None where it does not."""

    concurrency: int | None = None
    image: str | None = None


def of_meta(stream: BinaryIO, name: str) -> Meta:
    """The one concurrency that an eval's environment file names (none when it names several), and the image that ran."""
    meta: Mapping[str, Any] = mapping(document(stream, name), name, "")
    image = meta.get("image")
    return Meta(concurrency=_concurrency(meta, name), image=image if isinstance(image, str) and image else None)


def _concurrency(meta: Mapping[str, Any], name: str) -> int | None:
    for key in ("conc", "completed_eval_concs", "eval_concs"):
        found = meta.get(key)
        if isinstance(found, list):
            found = found[0] if len(found) == 1 else None
        if isinstance(found, str):
            found = int(found) if found.isdigit() and len(found) < 8 else None
        if found is not None:
            return count(found, name, key, least=1)
    return None


def of_name(part: str) -> int | None:
    """The concurrency in one file or folder name; None where it has none or a list of them."""
    found = _CONC.search(part)
    return int(found["conc"]) if found else None


def repetition(name: str) -> int | None:
    """The repetition that a path names, the nearest name first; None where it names none."""
    for part in reversed(name.split("/")):
        found = _REPEAT.search(part)
        if found:
            return int(found["repeat"])
    return None


def resolve(name: str, beside: Beside) -> int | None:
    """Nearest first: the file's own name, then folder by folder upwards what a file in it told, or the folder's name."""
    *folders, own = name.split("/")
    found = of_name(own)
    while found is None and folders:
        found = beside.at("/".join(folders)) or of_name(folders[-1])
        folders.pop()
    return found or beside.at("") or beside.elsewhere(folder(name))
