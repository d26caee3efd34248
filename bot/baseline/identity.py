"""What a published row says of itself, and a recipe's point of itself, in one spelling: the identity that stands in for a
fingerprint where a row was published without one (CONTRACT.md 7.4, points 2 to 6).

Two recipes that differ in one of these are two configurations, however near they lie. What neither side tells, the serving
arguments above all, a match by identity cannot see; a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.model.baseline import Configuration, Question
from bot.model.recipe import Point, Recipe
from bot.results.lines import framework, hardware, precision
from bot.results.topology import topology, workload

AGENTIC = "agentic-coding"
"""The one workload that has no lengths."""
_SIZED = re.compile(r"(\D+)(\d*)")
# Widths that published rows have not always named.
_UNTOLD = ("PP", "DCP", "PCP")


def question(recipe: Recipe) -> Question:
    """What is asked for a recipe as it stands: one configuration a fingerprint, with the concurrencies that share it."""
    points = [point for point in recipe.points if point.kind == "throughput"]
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(point.fingerprint, []).append(point)
    gates = dict.fromkeys(point.eval for point in recipe.points if point.eval)
    return Question(
        recipe=recipe.key, model=recipe.prefix or recipe.model, image=recipe.image, evals=tuple(gates),
        hardware=hardware(recipe.hardware), framework=framework(recipe.framework), precision=precision(recipe.precision),
        configurations=tuple(_configuration(recipe, fingerprint, found) for fingerprint, found in groups.items()),
    )


def _configuration(recipe: Recipe, fingerprint: str, points: Sequence[Point]) -> Configuration:
    one = points[0]
    known = bool(one.speculation and one.topology)  # only a generated matrix has words that published rows use too
    return Configuration(
        fingerprint=fingerprint, topology=one.topology, workload=one.workload,
        concurrencies=tuple(sorted({point.concurrency for point in points})),
        identity=_joined(recipe.hardware, recipe.framework, recipe.precision, one.speculation, plain(one.topology),
                         one.workload, one.offload) if known else "",
    )


def of_row(row: Mapping[str, Any]) -> str:
    """A published row's identity; empty where it does not tell its topology or workload. Sizes must stand where the
    configuration's other sizes do."""
    told, work = topology(row), workload(row)
    if not told or not work:
        return ""
    words = [row.get(name) for name in ("hardware", "framework", "precision", "spec_method")]
    if not all(isinstance(word, str) or word is None for word in words):
        return ""
    offload = row.get("offload_mode")
    return _joined(*(word or "" for word in words), plain(told), work, offload if isinstance(offload, str) else "off")


def agrees(told: str | None, work: str | None, wanted: Configuration) -> bool:
    """Whether what was measured can be of this configuration by its topology and workload. A fingerprint covers both, and a
    file may be written by hand: points of TP8 stood under a TP4 recipe's fingerprint and were compared with it. What one side
    does not tell contradicts nothing, such as a size that rows did not name when they were published."""
    if work and wanted.workload and work != wanted.workload:
        return False
    if not told or not wanted.topology:
        return True
    mine, theirs = (plain(text).split(" x ") for text in (told, wanted.topology))
    return len(mine) == len(theirs) and all(_same_role(_role(one), _role(other)) for one, other in zip(mine, theirs, strict=True))


def _role(text: str) -> dict[str, str]:
    """`4D TP4/EP8/DPA` as its sizes by their names; the one worker of a plain server is not counted."""
    workers, _, sizes = text.rpartition(" ")
    parts = (_SIZED.fullmatch(part) for part in sizes.split("/"))
    return {"workers": workers or "1P", **{part[1]: part[2] for part in parts if part}}


def _same_role(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(one.get(name, "1") == other.get(name, "1") for name in {*one, *other}
               if name not in _UNTOLD or (name in one and name in other))


def plain(text: str) -> str:
    """`1P(TP8/EP8) x 4D(TP4)` and `1P TP8/EP8 x 4D TP4` are one topology."""
    return " ".join(text.replace("(", " ").replace(")", " ").split())


def _joined(machine: str, engine: str, weights: str, speculation: str, *rest: str) -> str:
    spec = speculation.lower() or "none"
    *told, offload = rest
    return "|".join([hardware(machine), framework(engine), precision(weights), spec, *told,
                     "off" if offload in ("", "none", "off") else "on"])
