"""What upstream's files say of a candidate: whether what is coupled still finds what it imports, and whether the engine still
takes what the recipe asks for, on its hardware. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from bot.errors import BumpbotError
from bot.model.image import Resolved
from bot.model.recipe import Recipe
from bot.model.upstream import ArchRefused, Commit, OptionsChecked
from bot.model.uses import Uses
from bot.plan import imported, upstream
from bot.plan.sources import Sources
from bot.plan.trees import Trees
from bot.ports import Surveyor, Tree
from bot.upstream import arch, patches
from bot.upstream import options as parsers
from bot.upstream.engines import Engine

Found = tuple[dict[str, Any], dict[str, str]]


def gathered(sources: Sources, trees: Trees, old: Resolved, new: Resolved, uses: Uses, lead: Recipe) -> Found:
    """(fields of Facts, why others are missing) of imports, options, architecture and carried patches."""
    found, unknown = dict[str, Any](), dict[str, str]()
    if uses.carried and trees.repository:
        found["carried"] = patches.carried(trees.history, uses.carried, trees.commit(new), trees.repository)
    vendor = arch.vendor(lead.hardware)
    told, why = imported.checked(sources, trees, old, new, uses, vendor, lambda: upstream.newer(sources, trees, old, new))
    found |= {"imports": told} if told is not None else {}
    unknown |= {"imports": why} if why else {}
    tree = trees.tree(new) if sources.surveyor is not None and trees.engine is not None else None
    if trees.engine is None or tree is None or sources.surveyor is None:
        # What the image says of itself needs no sources: it may have no code for these GPUs at all.
        listed = arch.refused(uses, lead.hardware, _facts(new), _facts(old))
        asked = sources.surveyor is not None and sources.upstreams is not None
        reason = "not-asked" if not asked else trees.why() if trees.engine else "no-engine"
        return {**found, **({"arch": listed} if listed else {})}, {**dict.fromkeys(("options", "arch"), reason), **unknown}
    parts = _Parsers(sources, sources.surveyor, trees, trees.engine, tree, (old, new), uses, lead)
    asks: dict[str, Callable[[], Any]] = {"options": parts.options, "arch": parts.arch}
    for name, ask in asks.items():
        try:
            found[name] = ask()
        except BumpbotError as error:
            sources.say(f"{name}: {error}")
            unknown[name] = "unreadable"
    return found, unknown


class _Parsers:
    """The engine's two trees, for what is passed to it and what it runs on."""

    def __init__(self, sources: Sources, surveyor: Surveyor, trees: Trees, engine: Engine, tree: Tree,
                 images: tuple[Resolved, Resolved], uses: Uses, lead: Recipe) -> None:
        self._sources, self._survey, self._trees, self._uses, self._lead = sources, surveyor.survey, trees, uses, lead
        self._engine, self._tree = engine, tree
        self._old, self._new = images
        self._before, self._vendor = trees.tree(self._old), arch.vendor(lead.hardware)
        self._since, self._head = trees.commit(self._old), trees.commit(self._new)

    def options(self) -> OptionsChecked:
        """What the engine's parsers, and those of a coupled front end, do with what is used."""
        name = self._uses.engine or ""
        new = parsers.surveyed(self._tree, self._engine, self._survey, name)
        old = parsers.surveyed(self._before, self._engine, self._survey, name) if self._before is not None else None
        made = parsers.checked(self._uses, name, self._engine, old, new, vendor=self._vendor, touched=self._touched,
                               models={"model": self._lead.model.rpartition("/")[2]})
        for pin in self._uses.pins:
            other = self._sources.engines.get(pin.name)
            if other is None or not any(used.program.startswith(f"{other.module}.") for used in self._uses.options):
                continue
            consumer, _ = self._trees.consumer(pin)
            if consumer is not None:  # it is the same with either image
                same = parsers.surveyed(consumer, other, self._survey, pin.name)
                more = parsers.checked(self._uses, pin.name, other, same, same, vendor=self._vendor)
                made = replace(made, changed=(*made.changed, *more.changed), parsers=(*made.parsers, *more.parsers),
                               counted=made.counted + more.counted)
        return made

    def arch(self) -> tuple[ArchRefused, ...]:
        """What of image and engine leaves the recipe's hardware out."""
        return arch.refused(self._uses, self._lead.hardware, _facts(self._new), _facts(self._old), engine=self._engine,
                            tree=self._tree, before=self._before, survey=self._survey)

    def _touched(self, path: str, text: str) -> Commit | None:
        """The newest commit that changed how often a text stands in a file, behind the new image and not behind the old one."""
        history = self._trees.history
        if history is None or self._head is None:
            return None
        try:
            return next(iter(history.last_touched(self._head, path, since=self._since, text=text)), None)
        except BumpbotError:
            return None


def _facts(image: Resolved) -> dict[str, str]:
    facts = image.facts
    return {name: value for name in ("arch_list", "cuda", "rocm") if (value := getattr(facts, name))}
