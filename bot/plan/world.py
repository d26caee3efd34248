"""What forge, fleet and the guest's own files say of one candidate's family, as facts of the preflight. What cannot be had is
unknown, with a word that says why; nothing here decides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bot.doctor.runners import fits, hosted, known, unseen
from bot.doctor.token import lacking
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.layout import Layout
from bot.model.finding import Check
from bot.model.image import Candidate
from bot.model.preflight import Certified, Identity, Job, Load, Staged, Work
from bot.model.recipe import Point, Recipe
from bot.model.settings import App, Runner, Unseen
from bot.plan.sources import Sources
from bot.preflight import kept
from bot.preflight.mergeable import FRESH
from bot.recipe import fleets, words
from bot.recipe.shelf import Shelf

T = TypeVar("T")
ASKED: tuple[Check, ...] = ("identity", "runners", "staging", "mergeable", "certify", "names", "capacity", "overlap")
"""The checks whose facts are gathered here."""


@dataclass
class _Asked:
    """One gathering: the fields found so far, and why others are unknown."""

    sources: Sources
    layout: Layout
    tree: Shelf
    family: Sequence[Recipe]
    fields: dict[str, Any] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)

    def put(self, check: str, name: str, ask: Callable[[], Any]) -> None:
        """Asks for one field; what refuses, is missing or does not answer makes the check unknown."""
        try:
            self.fields[name] = ask()
        except _Unknown as why:
            self.unknown[check] = why.word
        except BumpbotError as error:
            said = next((word for kind, word in _WORDS if isinstance(error, kind)), "unreadable")
            self.unknown[check] = "old-git" if "cannot merge without a checkout" in error.reason else said
            self.sources.say(f"{check}: {error}")


class _Unknown(Exception):
    def __init__(self, word: str) -> None:
        self.word = word


_WORDS = ((Missing, "missing"), (Unreachable, "unreachable"), (Refusal, "refused"), (BadInput, "unreadable"))


def gather(sources: Sources, layout: Layout, tree: Shelf, family: Sequence[Recipe], candidate: Candidate,
           only: Collection[Check] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields of `Facts` that could be filled, and for each check that could not be why (a word of `bot.preflight.words`, a
    value behind a colon). With `only` no more is asked of the world than these checks need."""
    wanted = set(ASKED if only is None else only) - set(layout.preflight.off)
    asked = _Asked(sources, layout, tree, family)
    asked.fields |= {"capacity_limit": layout.preflight.capacity.limit, "idle_needed": layout.preflight.capacity.idle,
                     "jobs": _jobs(layout, family)}
    if wanted & {"runners", "staging", "capacity"}:
        asked.put("labels", "declared_labels", lambda: _declared(asked))
        asked.put("runners", "runners", lambda: _runners(asked))
    for check, (name, ask) in _FIELDS.items():
        if check in wanted:
            asked.put(check, name, lambda ask=ask: ask(asked))  # type: ignore[misc]
    return asked.fields, {check: why for check, why in asked.unknown.items() if check in wanted}


# -- forge ---------------------------------------------------------------------------------------------------------

def _identity(asked: _Asked) -> Identity:
    """Whose token it is by the forge's own word: what a workflow calls its bot is no proof (#3249)."""
    settings = asked.sources.settings
    if settings is None or not asked.sources.me:
        raise _Unknown("no-token")
    holder = settings.holder()
    if not holder.login:
        raise _Unknown("nameless")
    app = settings.app(holder.login.removesuffix("[bot]")) if holder.kind == "app" else None
    return Identity(login=holder.login, wanted=asked.layout.preflight.identity or None,
                    lacking=lacking(holder, app if isinstance(app, App) else None, settings.repository()))


def _runners(asked: _Asked) -> tuple[Runner, ...]:
    """Those that could be seen. Where part is hidden and a label is not among the rest, the check is unknown."""
    settings = asked.sources.settings
    if settings is None:
        raise _Unknown("not-asked")
    own, groups, private = settings.runners(), settings.runner_groups(), settings.repository().private
    there, hidden = tuple(known(own, groups, private=private)), unseen(own, groups)
    lost = [labels for labels in _labels(asked.family) if not any(fits(one, labels) for one in there)]
    if hidden is not None and lost:
        asked.unknown["runners"] = f"needs:{hidden.needs}"
    if isinstance(own, Unseen) and isinstance(groups, Unseen):
        raise _Unknown(f"needs:{hidden.needs if hidden else ''}")
    return there


def _declared(asked: _Asked) -> dict[str, tuple[str, ...]] | None:
    place = words.runners(asked.tree, asked.layout)
    said = asked.tree.plain(place) if place else None
    labels = said.get("labels") if isinstance(said, dict) else None
    if not isinstance(labels, dict):
        return None
    return {str(label): tuple(str(name) for name in names) for label, names in labels.items() if isinstance(names, list)}


def _work(asked: _Asked) -> tuple[Work, ...]:
    if asked.sources.neighbours is None:
        raise _Unknown("not-asked")
    ours, files = {recipe.key for recipe in asked.family}, {recipe.file for recipe in asked.family}
    mine = asked.sources.branch
    near = (one for one in asked.sources.neighbours.work() if ours & set(one.recipes) or files & set(one.files))
    return tuple(one for one in near if not (mine and one.kind == "branch" and one.name == mine))


def _merge(asked: _Asked) -> Any:
    head, tip, neighbours = asked.sources.head, asked.sources.tip, asked.sources.neighbours
    if head is None:
        raise _Unknown(FRESH)
    if neighbours is None or tip is None:
        raise _Unknown("not-asked")
    return neighbours.merge(head, tip)


# -- fleet ---------------------------------------------------------------------------------------------------------

def _staged(asked: _Asked) -> tuple[Staged, ...]:
    """What is told by a file, a URL, a fleet of a rehearsal, and by the launchers."""
    told = asked.sources.fleet.staged() if asked.sources.fleet is not None else None
    read = fleets.staged(asked.tree, asked.layout, asked.family, _names(asked))
    if told is None and not read:
        raise _Unknown("not-told")
    return (*(told or ()), *read)


def _loads(asked: _Asked) -> tuple[Load, ...]:
    told = asked.sources.fleet.loads() if asked.sources.fleet is not None else None
    if told is not None:
        return tuple(told)
    runners = asked.fields.get("runners")
    if asked.layout.preflight.capacity.source != "runners":
        raise _Unknown("not-told")
    if runners is None:
        raise _Unknown(asked.unknown.get("runners", "not-asked"))
    return _counted(runners, asked.family)


def _counted(runners: Sequence[Runner], family: Sequence[Recipe]) -> tuple[Load, ...]:
    """The forge's own list as loads: a runner that is online is a node, one that is busy is in use. A label of which no runner
    is online has no load: that is another check's matter."""
    found = []
    for labels in _labels(family):
        there = [one for one in runners if one.online and fits(one, labels)]
        if there:
            name = next(label for label in reversed(labels))
            found.append(Load(cluster=name, nodes=len(there), idle=sum(not one.busy for one in there), source="actions/runners"))
    return tuple(found)


def _names(asked: _Asked) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """The names of the machines behind each set of labels."""
    declared, there = asked.fields.get("declared_labels") or {}, asked.fields.get("runners") or ()
    return {labels: tuple(dict.fromkeys([*(name for label in labels for name in declared.get(label, ())),
                                         *(one.name for one in there if fits(one, labels))])) for labels in _labels(asked.family)}


def _labels(family: Sequence[Recipe]) -> list[tuple[str, ...]]:
    """The label sets that points ask for and the forge does not host."""
    sets = dict.fromkeys(point.runner for recipe in family for point in recipe.points)
    split = (tuple(part.strip() for part in runner.split(",") if part.strip()) for runner in sets)
    return [labels for labels in split if labels and not hosted(labels)]


# -- the guest's own files -----------------------------------------------------------------------------------------

def _certified(asked: _Asked) -> tuple[Certified, ...]:
    file = asked.layout.preflight.certify.file
    if not file:
        raise _Unknown("not-told")
    data = asked.tree.read(file)
    if data is None:
        raise Missing(f"{file} is not there", "correct `preflight.certify.file` of the layout")
    return kept.certified(data, file, [recipe.key for recipe in asked.family])


def _jobs(layout: Layout, family: Sequence[Recipe]) -> tuple[Job, ...]:
    """One job a point, with its eval and the names of what it uploads."""
    return tuple(Job(recipe=point.recipe, runner=point.runner, task=point.eval.task if point.eval else "",
                     framework=point.eval.framework if point.eval else "", artifacts=_artifacts(layout, point))
                 for recipe in family for point in recipe.points)


def _artifacts(layout: Layout, point: Point) -> tuple[str, ...]:
    template = layout.preflight.artifact_name
    told = {"recipe": point.recipe, "runner": point.runner, "concurrency": str(point.concurrency), "topology": point.topology,
            "task": point.eval.task if point.eval else "", "attempt": "1"}
    for name, value in told.items():
        template = template.replace(f"{{{name}}}", value)
    return (template,) if template else ()


_FIELDS: dict[Check, tuple[str, Callable[[_Asked], Any]]] = {
    "identity": ("identity", _identity),
    "staging": ("staged", _staged),
    "capacity": ("loads", _loads),
    "overlap": ("work", _work),
    "mergeable": ("merge", _merge),
    "certify": ("certified", _certified),
}
