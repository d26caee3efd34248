"""Which machines a recipe's points may land on: the label that a job asks for, the runners that have it, the launcher of each."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from bot.doctor.runners import fits, hosted
from bot.model.preflight import Facts
from bot.model.recipe import Recipe
from bot.preflight.words import bare


def labels(runner: str) -> tuple[str, ...]:
    """The labels of a point's runner as a workflow asks for them together."""
    return tuple(part.strip() for part in runner.split(",") if part.strip())


def asked(facts: Facts, recipes: Sequence[Recipe] | None = None) -> dict[str, tuple[str, ...]]:
    """Every runner that the points and jobs of these recipes ask for and the forge does not host, with its labels."""
    family = facts.family if recipes is None else recipes
    keys = {recipe.key for recipe in family}
    named = [point.runner for recipe in family for point in recipe.points]
    named += [job.runner for job in facts.jobs if job.recipe in keys]
    found = {name: labels(name) for name in dict.fromkeys(named) if labels(name)}
    return {name: words for name, words in found.items() if not hosted(words)}


def machines(facts: Facts, words: Sequence[str]) -> tuple[str, ...]:
    """The names of the runners that have the labels, as the runners file and the forge's own list say."""
    declared = [name for word in words for name in (facts.declared_labels or {}).get(word, ())]
    registered = [one.name for one in facts.runners or () if fits(one, words)]
    return tuple(dict.fromkeys((*declared, *registered)))


def fleets(facts: Facts, words: Sequence[str]) -> tuple[str, ...]:
    """The fleets behind the labels: a runner is called by its fleet and a number (`h200-dgxc-slurm_03`). Without runners the
    label itself is the only name."""
    names = tuple(dict.fromkeys(name.rpartition("_")[0] or name for name in machines(facts, words)))
    return names or tuple(bare(word) for word in words if word.casefold() != "self-hosted")


def serves(name: str, words: Sequence[str], fleet: str) -> bool:
    """Whether what is said of `name` holds for a fleet behind these labels: the label, the fleet, or a glob of either."""
    said = bare(name)
    known = {bare(fleet), *(bare(word) for word in words)}
    return any(one == said or fnmatchcase(one, said) for one in known)
