"""What upstream's files say of a candidate: whether what is coupled still finds what it imports, and whether the engine still
takes what the recipe asks for, on its hardware. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from bot.errors import BumpbotError
from bot.model.image import Resolved
from bot.model.recipe import Recipe
from bot.model.upstream import ArchRefused, Commit, ImportsChecked, OptionsChecked
from bot.model.uses import Pin, Uses
from bot.plan.sources import Sources
from bot.plan.trees import Trees
from bot.ports import Tree
from bot.upstream import arch, patches
from bot.upstream import options as parsers
from bot.upstream.engines import Engine
from bot.upstream.imports.coupled import coupled, fits, kernels, newer

Found = tuple[dict[str, Any], dict[str, str]]


def gathered(sources: Sources, trees: Trees, old: Resolved, new: Resolved, uses: Uses, lead: Recipe) -> Found:
    """(fields of Facts, why others are missing) of imports, options, architecture and carried patches."""
    found: dict[str, Any] = {}
    if uses.carried and trees.repository:
        found["carried"] = patches.carried(trees.history, uses.carried, trees.commit(new), trees.repository)
    asked = sources.surveyor is not None and sources.upstreams is not None
    tree = trees.tree(new) if asked and trees.engine is not None else None
    if trees.engine is None or tree is None:
        # What the image says of itself needs no sources: it may have no code for these GPUs at all.
        listed = arch.refused(uses, lead.hardware, _facts(new), _facts(old))
        why = "not-asked" if not asked else trees.why() if trees.engine else "no-engine"
        return {**found, **({"arch": listed} if listed else {})}, dict.fromkeys(("imports", "options", "arch"), why)
    reader, unknown = _Reader(sources, trees, trees.engine, tree, (old, new), uses, lead), dict[str, str]()
    for name, ask in (("imports", reader.imports), ("options", reader.options), ("arch", reader.arch)):
        try:
            found[name] = ask()
        except BumpbotError as error:
            sources.say(f"{name}: {error}")
            unknown[name] = "unreadable"
    if reader.lacking:
        unknown["imports"] = f"missing:{reader.lacking[0]}"
    return found, unknown


class _Reader:
    """The engine's two trees with what the recipe uses of them."""

    def __init__(self, sources: Sources, trees: Trees, engine: Engine, tree: Tree, images: tuple[Resolved, Resolved], uses: Uses,
                 lead: Recipe) -> None:
        self._sources, self._trees, self._uses, self._lead = sources, trees, uses, lead
        self._engine, self._tree = engine, tree
        self._old, self._new = images
        self._before = trees.tree(self._old)
        self._vendor = arch.vendor(lead.hardware)
        self._since, self._head = trees.commit(self._old), trees.commit(self._new)
        self.lacking: list[str] = []
        self._consumers: dict[str, Tree] = {}

    def imports(self) -> tuple[ImportsChecked, ...]:
        """Each coupled part against the engine, then the engine against its own kernel wheel."""
        return (*self._parts(), *kernels(
            self._engine, self._tree, self._before, self._survey, self._trees.wheel, known=self._sources.engines,
            called=self._called(), vendor=self._vendor))

    def options(self) -> OptionsChecked:
        """What the engine's parsers, and those of a coupled front end, do with what is used."""
        engines, name = self._sources.engines, self._uses.engine or ""
        new = parsers.surveyed(self._tree, self._engine, self._survey, name)
        old = parsers.surveyed(self._before, self._engine, self._survey, name) if self._before is not None else None
        made = parsers.checked(self._uses, name, self._engine, old, new, vendor=self._vendor, touched=self._touched,
                               models={"model": self._lead.model.rpartition("/")[2]})
        for part, consumer in self._consumers.items():
            other = engines.get(part)
            if other is not None and any(used.program.startswith(f"{other.module}.") for used in self._uses.options):
                same = parsers.surveyed(consumer, other, self._survey, part)
                more = parsers.checked(self._uses, part, other, same, same, vendor=self._vendor)
                made = replace(made, changed=(*made.changed, *more.changed), parsers=(*made.parsers, *more.parsers),
                               counted=made.counted + more.counted)
        return made

    def arch(self) -> tuple[ArchRefused, ...]:
        """What of image and engine leaves the recipe's hardware out."""
        return arch.refused(self._uses, self._lead.hardware, _facts(self._new), _facts(self._old), engine=self._engine,
                            tree=self._tree, before=self._before, survey=self._survey)

    def _parts(self) -> Iterator[ImportsChecked]:
        for pin in self._uses.pins:
            consumer, folder = self._trees.consumer(pin)
            if consumer is None:
                self.lacking.append(pin.text)
                continue
            self._consumers[pin.name] = consumer
            made = self._coupled(pin, consumer, folder)
            yield replace(made, fits=self._fits(pin)) if any(one.stops for one in made.missing) else made

    def _coupled(self, pin: Pin, consumer: Tree, folder: str) -> ImportsChecked:
        return coupled(pin, consumer, self._engine, self._tree, self._before, self._survey, known=self._sources.engines,
                               called=self._called(), uses=self._uses, folder=folder, vendor=self._vendor)

    def _fits(self, pin: Pin) -> str | None:
        """The newest version of a part that misses nothing; asked only where the pinned one cannot start."""
        versions = self._trees.versions(pin.package)
        after = newer(versions, pin.version) if pin.version else versions
        return fits(after, lambda version: self._trees.wheel(pin.package, version),
                            lambda consumer: self._coupled(pin, consumer, ""))

    def _survey(self, name: str, tree: Tree, paths: Sequence[str]) -> Any:
        surveyor = self._sources.surveyor
        return surveyor.survey(name, tree, paths) if surveyor is not None else {}

    def _called(self) -> str:
        name, version = self._uses.engine or "", self._trees.version(self._new) or (self._head or "")[:12]
        return f"{name} {version or self._new.reference.tag or ''}".strip()

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
