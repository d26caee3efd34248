"""How numbers, moments and words are written. Rounding happens here and nowhere else, from unrounded values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from jinja2.runtime import Markup

from bot.render.columns import Column
from bot.render.safe import code, link, listed, name, plain, seen
from bot.render.words import Words


def fixed(value: float, places: int) -> Markup:
    """Half away from zero on the shortest decimal that means this float: 0.125 is 0.13, as a person would round it."""
    step = Decimal(1).scaleb(-places)
    text = format(Decimal(repr(float(value))).quantize(step, rounding=ROUND_HALF_UP), "f")
    return Markup(text.removeprefix("-") if float(text) == 0 else text)


def signed(value: float, places: int) -> Markup:
    """Rounded, with its sign; what rounds to nothing has none."""
    text = fixed(value, places)
    return text if text.startswith("-") or float(text) == 0 else Markup(f"+{text}")


def change(column: Column, old: float, new: float) -> Markup | None:
    """The delta as people read it: percent of the old value with its sign, a plain difference for counts, percentage
    points for shares; None where nothing can be divided by."""
    if column.delta == "difference":
        return signed(new - old, column.decimals)
    if column.delta == "points":
        return Markup(f"{signed((new - old) * 100, 1)} pp")
    return None if old == 0 else Markup(f"{signed((new / old - 1) * 100, 1)}%")


def share(fraction: float, *, points: bool = False) -> Markup:
    """A fraction as percent with its sign, or as percentage points."""
    return Markup(f"{signed(fraction * 100, 1)}{' pp' if points else '%'}")


def value(column: Column, number: float, *, brief: bool = False) -> Markup:
    """One value in the metric's own precision."""
    return fixed(number, column.brief if brief and column.brief is not None else column.decimals)


def rate(part: int, whole: int) -> Markup:
    """`7 / 241`, to be followed by its percentage where there is one."""
    return Markup(f"{part} / {whole}")


def percent(part: int, whole: int) -> Markup:
    """`2.9%`, below one percent two decimals: `0.43%`."""
    share = 100 * part / whole if whole else 0.0
    return Markup(f"{fixed(share, 2 if 0 < share < 1 else 1)}%")


def threshold(number: float) -> Markup:
    """A gate's threshold with two decimals, more only where it has more: 0.90, 0.925."""
    text = str(fixed(number, 4))
    return Markup(re.sub(r"(\.\d\d\d*?)0+$", r"\1", text))


def sha(oid: str) -> Markup:
    """Nine digits of a commit, as the forge abbreviates one."""
    return code(oid[:9])


def ref(text: str) -> Markup:
    """A commit short, a branch or tag as it is."""
    return sha(text) if re.fullmatch(r"[0-9a-f]{40}", text) else code(text)


def digest(text: str, places: int = 8) -> Markup:
    """`sha256:42e17a3c…`: enough to recognise; the whole stands in the recipe."""
    algorithm, _, rest = text.partition(":")
    return code(f"{algorithm}:{rest[:places]}…")


def moment(at: datetime) -> Markup:
    """`2026-09-10 09:36 UTC`; every time in a record is UTC."""
    return Markup(at.strftime("%Y-%m-%d %H:%M UTC"))


def clock(at: datetime) -> Markup:
    """`09:36 UTC`, for lines whose day stands above them."""
    return Markup(at.strftime("%H:%M UTC"))


def day(at: datetime) -> Markup:
    """`2026-09-10`."""
    return Markup(at.strftime("%Y-%m-%d"))


def size(count: int) -> Markup:
    """`812 B`, `1.5 kB`, `23.0 MB`: thousands, as the forge shows a file's size."""
    for unit, of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= of:
            return Markup(f"{fixed(count / of, 1)} {unit}")
    return Markup(f"{count} B")


def counted(number: int, noun: str) -> Markup:
    """`1 line`, `3 lines`: English alone needs it."""
    return Markup(f"{number} {noun}" if number == 1 else f"{number} {noun}s")


def filters(words: Words) -> dict[str, Callable[..., Any]]:
    """The filters of one language's templates."""

    def codes(items: Iterable[object]) -> Markup:
        return listed((code(item) for item in items), words.comma)

    def places(text: str) -> Markup:
        """Where something was seen: an address as a link, else a place in code."""
        if not text.startswith(("https://", "http://")):
            return code(seen(text))
        return link(seen(text.partition("://")[2].partition("/")[2] or text), text)

    return {
        "place": places,
        "fixed": fixed, "percent": percent, "rate": rate, "threshold": threshold, "counted": counted,
        "size": size,
        "sha": sha, "ref": ref, "digest": digest, "moment": moment, "clock": clock, "day": day,
        "code": code, "codes": codes, "name": name, "link": link, "listed": lambda items: listed(items, words.comma),
        "word": words.word, "told": words.told, "sentence": words.sentence, "own": lambda text: plain(words.own(text)),
        "settings": words.settings,
    }
