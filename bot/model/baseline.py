"""Nouns for what is asked of published baselines, and for what a source of them answers."""

from __future__ import annotations

from msgspec import Struct

from bot.model.recipe import EvalSpec
from bot.model.result import Baseline


class Configuration(Struct, frozen=True, kw_only=True):
    """One row of a recipe's search space: its concurrencies share a topology, a workload and a fingerprint.

    `identity` is everything else that a published row tells of itself (`bot.baseline.identity`); it stands in for the
    fingerprint where a row has none, and is empty where nothing but a fingerprint could tell.
    """

    fingerprint: str
    concurrencies: tuple[int, ...]
    identity: str = ""
    topology: str = ""
    workload: str = ""


class Question(Struct, frozen=True, kw_only=True):
    """Every point of one recipe as it is before the bump, with the image it has then. `model` is the short name under which
    its model is published, `hardware`, `framework` and `precision` are in the words of the recipe."""

    recipe: str
    model: str
    image: str
    configurations: tuple[Configuration, ...]
    evals: tuple[EvalSpec, ...] = ()
    hardware: str = ""
    framework: str = ""
    precision: str = ""


class Aside(Struct, frozen=True, kw_only=True):
    """A published point that is not ours: what it was instead, so that a reason can be given. `run` measured it, at
    `concurrency` (0: not told); `topology` is what it names, where that can be why."""

    image: str
    fingerprint: str
    identity: str
    date: str
    run: int | None = None
    topology: str = ""
    concurrency: int = 0


class Offer(Struct, frozen=True, kw_only=True):
    """What a source holds for a question. Each of `sets` is what one run measured of one configuration with the image asked
    for; `asides` is what was published beside them; `notes` say what the source could not tell, in words of the glossary."""

    sets: tuple[Baseline, ...] = ()
    asides: tuple[Aside, ...] = ()
    notes: tuple[str, ...] = ()
