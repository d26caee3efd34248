"""How one import stands: whether it is executed when its module is, and what would happen if it failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bot.upstream.imports.conditions import World, hedges, judge, settings
from bot.upstream.imports.failing import catcher, swallowed
from bot.upstream.imports.records import BODY, ELSE, FINALLY, Frame, Module, Statement

Failure = Literal["module", "name"]
BOTH: frozenset[Failure] = frozenset({"module", "name"})
NONE: frozenset[Failure] = frozenset()
Lacks = Callable[[Statement], "Failure | Literal['', 'unsure', 'foreign']"]
"""How a statement fails: for want of a module or of a name, not at all, nobody can tell, or it asks somebody else."""


class Standing(Struct, frozen=True):
    """`runs`: importing the module executes it, as far as anybody can tell; `never`: nothing does; `typing`: only a type checker
    reads it. `guards` are the failures that would be caught, or of which it is not sure that they happen at all;
    `needs` are settings (`config.chat_processor=vllm`) without which it is not executed."""

    runs: bool
    guards: frozenset[Failure] = NONE
    typing: bool = False
    never: bool = False
    needs: tuple[str, ...] = ()


class Standings:
    """All imports of one module. `world` says what is taken for granted, `lacks` what the provider lacks."""

    def __init__(self, read: Module, world: World, lacks: Lacks) -> None:
        self._read, self._world, self._lacks = read, world, lacks
        self._bodies: dict[int, Failure | Literal["", "unsure"]] = {}
        self._failing: dict[int, bool] = {}
        self._within: dict[tuple[int, int], list[tuple[Statement, int]]] | None = None

    def __iter__(self) -> Iterator[tuple[Statement, Standing]]:
        for statement in self._read.statements:
            standing = self.of(statement.frames, statement.lazy)
            yield statement, replace(standing, runs=standing.runs and not statement.lazy)

    def of(self, frames: tuple[Frame, ...], called: bool) -> Standing:
        """How what stands within these frames stands, once they are come to. `called`: by a call, which has its own reasons for
        most conditions; those that ask what the provider is are guards there too."""
        guards: frozenset[Failure] = NONE
        runs, typing, never = True, False, False
        for frame in frames:
            if frame.kind == "if":
                told = self._judged(frame)
                if told is False:
                    runs = False
                    typing |= self._judged(frame, typing=True) is not False
                    never |= not typing and self._judged(frame, main=True) is False
                elif told is None and (not called or hedges(frame.test)) and not self._fails(frame.at):
                    guards = BOTH
            elif frame.kind == "try" and frame.part not in (BODY, FINALLY):
                dead, unsure = self._after(frame)
                runs, never = runs and not dead, never or dead
                guards |= BOTH if unsure else NONE
        guards |= frozenset(kind for kind in BOTH if swallowed(frames, self._read.tries, kind))
        needs = tuple(need for frame in frames if frame.kind == "if" for need in settings(frame.test))
        return Standing(runs and not typing, guards, typing, never, needs)

    def _fails(self, at: int) -> bool:
        """Whether both sides of a condition fail by an import: then it guards neither. dynamo's `if have_new: from new import a`,
        `else: from old import a` fails for certain where both are gone."""
        if at and at not in self._failing:
            self._failing[at] = False
            self._failing[at] = all(self._side_fails(at, part) for part in (0, 1))
        return bool(at) and self._failing[at]

    def _side_fails(self, at: int, part: int) -> bool:
        if self._within is None:
            self._within = {}
            for statement in self._read.statements:
                for place, frame in enumerate(statement.frames):
                    if frame.kind == "if" and frame.at:
                        self._within.setdefault((frame.at, frame.part), []).append((statement, place))
        for statement, place in self._within.get((at, part), ()):
            lacking = self._lacks(statement)
            inner = self.of(statement.frames[place + 1:], False) if lacking in BOTH else None
            if inner and inner.runs and not inner.typing and lacking not in inner.guards and not statement.call:
                return True
        return False

    def _judged(self, frame: Frame, **changed: bool) -> bool | None:
        world: World = replace(self._world, **changed) if changed else self._world
        return judge(frame.test, world, self._read.flags)

    def _after(self, frame: Frame) -> tuple[bool, bool]:
        """Of a handler or an `else`: whether it surely does not run, and whether nobody can tell."""
        body = self._body(frame.at)
        if frame.part == ELSE:
            return body in BOTH, False
        if body == "":
            return True, False
        if body == "unsure":
            return False, True
        return catcher(self._read.tries[frame.at], body) != frame.part, False

    def _body(self, at: int) -> Failure | Literal["", "unsure"]:
        """How the body of a `try` ends: the failure that it surely has, none, or nobody can tell."""
        if at not in self._bodies:
            self._bodies[at] = "unsure"  # of an import within a handler of the same try, nothing is known meanwhile
            self._bodies[at] = self._judge_body(at)
        return self._bodies[at]

    def _judge_body(self, at: int) -> Failure | Literal["", "unsure"]:
        told: Failure | Literal["", "unsure"] = "unsure" if self._read.tries[at].mixed else ""
        asked = False
        for statement in self._read.statements:
            place = next((place for place, frame in enumerate(statement.frames)
                          if frame.kind == "try" and (frame.at, frame.part) == (at, BODY)), None)
            if place is None:
                continue
            inner = self.of(statement.frames[place + 1:], False)
            lacking = self._lacks(statement)
            if not inner.runs:
                continue
            if lacking in BOTH and lacking not in inner.guards:
                return lacking  # type: ignore[return-value]
            asked |= lacking != "foreign"
            told = "unsure" if lacking in ("foreign", "unsure") or inner.guards else told
        return told if asked else "unsure"
