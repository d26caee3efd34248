"""Which concurrency a file belongs to when it does not say so itself: from its name, then from the files beside it.

An eval's concurrency, and the image that it asked, stand in `meta_env.json`, the first also in `_conc<N>` of its names; a
request export's in the aggregate that the same load generator wrote beside it. A name like `conc1x2x4` is a list and tells
nothing about one file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from msgspec import Struct

from bot.results.read import count, document, mapping

META = "meta_env.json"
_CONC = re.compile(r"(?:^|[_\-.])conc[_\-]?(?P<conc>[1-9]\d{0,6})(?![\dx])")


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


def resolve(name: str, beside: Mapping[str, int]) -> int | None:
    """`beside`: folder -> the concurrency told by a file in it. Nearest first: own name, folder by folder upwards."""
    *folders, own = name.split("/")
    found = of_name(own)
    while found is None and folders:
        found = beside.get("/".join(folders)) or of_name(folders[-1])
        folders.pop()
    return found or beside.get("")
