"""The imports of what is pinned beside the engine, and of the engine on its kernel wheel, as files at the plan's commits say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from bot.errors import BumpbotError
from bot.model.image import Resolved
from bot.model.upstream import ImportsChecked
from bot.model.uses import Pin, Uses
from bot.plan.sources import Sources
from bot.plan.trees import Trees
from bot.ports import Tree
from bot.upstream.imports import coupled, fits, kernels, lacking, newer, pinned

IMAGES = 8
"""So many other images are looked at for one whose kernels fit."""
Others = Callable[[], Sequence[tuple[str, str | None]]]
"""Published images with the commits that they were built from, newest first; asked for only where one is wanted."""


def checked(sources: Sources, trees: Trees, old: Resolved, new: Resolved, uses: Uses, vendor: str,
            others: Others) -> tuple[tuple[ImportsChecked, ...] | None, str]:
    """Each part, and why some could not be looked at (a word for `Facts.unknown`, "" where all could). `vendor` is what the GPUs
    are: cuda or rocm, "" where nobody knows."""
    if trees.engine is None or sources.surveyor is None:
        return None, "not-asked"
    tree = trees.tree(new)
    if tree is None:
        return None, trees.why()
    asked = _Asked(sources, trees, tree, trees.tree(old), _called(trees, new), uses, vendor)
    made = [*asked.parts(), *asked.kernels(others)]
    return (tuple(made), asked.lacking) if made or not asked.lacking else (None, asked.lacking)


class _Asked:
    """One plan's questions; `lacking` is why the last one that could not be answered was not."""

    def __init__(self, sources: Sources, trees: Trees, new: Tree, old: Tree | None, called: str, uses: Uses, vendor: str) -> None:
        assert trees.engine is not None and sources.surveyor is not None
        self._trees, self._engine, self._survey = trees, trees.engine, sources.surveyor.survey
        self._new, self._old, self._called, self._uses, self._vendor = new, old, called, uses, vendor
        self._known = sources.engines
        self.lacking = ""

    def parts(self) -> Iterator[ImportsChecked]:
        """Each part that is pinned beside the engine, and the newest version of it that would fit where it does not."""
        for pin in self._uses.pins:
            consumer, folder = self._trees.consumer(pin)
            if consumer is None:
                self.lacking = self._trees.why()
                continue
            try:
                told = self._part(pin, consumer, folder, self._old)
                yield replace(told, fits=self._newer(pin)) if any(row.stops for row in told.missing) else told
            except BumpbotError:
                self.lacking = "unreadable"

    def kernels(self, others: Others) -> Iterator[ImportsChecked]:
        """The engine against the kernel wheel that it pins, and the newest other image that fits where this one does not."""
        try:
            made = self._kernels(self._new, self._old)
            if not made and pinned(self._engine, self._new, self._vendor or None):
                self.lacking = self._trees.why()
            for told in made:
                yield replace(told, fits=self._fitting(others())) if told.missing and lacking(told) else told
        except BumpbotError:
            self.lacking = "unreadable"

    def _part(self, pin: Pin, consumer: Tree, folder: str, old: Tree | None) -> ImportsChecked:
        return coupled(pin, consumer, self._engine, self._new, old, self._survey, known=self._known, called=self._called,
                       uses=self._uses, folder=folder, vendor=self._vendor or None)

    def _newer(self, pin: Pin) -> str | None:
        listed = newer(self._trees.versions(pin.package), pin.version) if pin.version else []
        return fits(listed, lambda version: self._trees.wheel(pin.package, version), lambda tree: self._part(pin, tree, "", None))

    def _kernels(self, new: Tree, old: Tree | None) -> tuple[ImportsChecked, ...]:
        return kernels(self._engine, new, old, self._survey, self._trees.wheel, known=self._known, called=self._called,
                       vendor=self._vendor or None)

    def _fitting(self, others: Sequence[tuple[str, str | None]]) -> str | None:
        for name, commit in others[:IMAGES]:
            tree = self._trees.at(commit)
            made = self._kernels(tree, self._old) if tree is not None else ()
            if made and not any(map(lacking, made)):
                return name
        return None


def _called(trees: Trees, image: Resolved) -> str:
    name = trees.engine.package if trees.engine else image.reference.name
    return f"{name} {trees.version(image) or image.reference.tag or (trees.commit(image) or '')[:12]}"
