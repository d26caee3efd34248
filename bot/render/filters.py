"""How numbers, moments and words are written. Rounding happens here and nowhere else, from unrounded values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from bot.model.text import Text
from bot.render.columns import Column


def fixed(value: float, places: int) -> str:
    """Half away from zero on the shortest decimal that means this float: 0.125 is 0.13, as a person would round it."""
    step = Decimal(1).scaleb(-places)
    text = format(Decimal(repr(float(value))).quantize(step, rounding=ROUND_HALF_UP), "f")
    return text.removeprefix("-") if float(text) == 0 else text


def change(column: Column, old: float, new: float) -> str:
    """The delta as people read it: percent of the old value with its sign, or a plain difference for counts."""
    if column.delta == "difference":
        return signed(new - old, 0)
    if column.delta == "points":
        return f"{signed((new - old) * 100, 1)} pp"
    return "N/A" if old == 0 else f"{signed((new / old - 1) * 100, 1)}%"


def signed(value: float, places: int) -> str:
    text = fixed(value, places)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"


def value(column: Column, number: float, *, brief: bool = False) -> str:
    """One value in the metric's own precision."""
    return fixed(number, column.brief if brief and column.brief is not None else column.decimals)


def sha(oid: str) -> str:
    return f"`{oid[:9]}`"


def digest(text: str, places: int = 8) -> str:
    """`sha256:42e17a3c…`: enough to recognise; the whole stands in the recipe."""
    algorithm, _, rest = text.partition(":")
    return f"`{algorithm}:{rest[:places]}…`"


def moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M UTC")


def clock(at: datetime) -> str:
    return at.strftime("%H:%M UTC")


def day(at: datetime) -> str:
    return at.strftime("%Y-%m-%d")


def code(text: object) -> str:
    """A code span; a backtick in it would end it, so one cannot stand there."""
    return "`" + str(text).replace("`", "'") + "`"


def filters(language: str, glossary: Mapping[str, Text], metrics: Mapping[str, Column]) -> dict[str, Callable[..., Any]]:
    """The filters of one language's templates."""
    comma = {"en": ", ", "zh": "、"}[language]

    def word(term: str) -> str:
        """The one rendering a term has in this language."""
        return str(getattr(glossary[term], language))

    def listed(items: Iterable[object]) -> str:
        return comma.join(str(item) for item in items)

    return {
        "fixed": fixed, "signed": signed, "sha": sha, "digest": digest, "moment": moment, "clock": clock, "day": day,
        "code": code, "word": word, "listed": listed, "own": lambda text: getattr(text, language),
        "codes": lambda items: listed(code(item) for item in items),
        "hours": lambda hours: fixed(hours, 0 if abs(hours) >= 10 else 1),
        "known": lambda term: term in glossary,
        "value": lambda number, metric: value(metrics[metric], number),
    }
