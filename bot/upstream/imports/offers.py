"""What a package offers to those who import it: whether a module is there, and whether a name can be had from it."""

from __future__ import annotations

from typing import Literal

from bot.upstream.imports.conditions import World, judge
from bot.upstream.imports.packages import Found, Modules
from bot.upstream.imports.records import BODY, STAR, Lazy, Module, Statement, Want
from bot.upstream.imports.surveyed import Survey, Surveyed, absolute

_ALWAYS = frozenset("__name__ __doc__ __file__ __path__ __package__ __spec__ __loader__ __dict__ __builtins__ __cached__".split()) \
    | {"__annotations__", *dir(object)}
Asked = frozenset[tuple[str, str]]


class Provider:
    """Answers True (there), False (missing) or None: only running it would tell."""

    def __init__(self, modules: Modules, survey: Survey, platform: str | None = None) -> None:
        self.modules, self.files = modules, Surveyed(survey, modules.tree)
        self._world = World(platform=platform)
        self._answers: dict[tuple[str, str | None], bool | None] = {}
        self._by_module: set[tuple[str, str]] = set()

    def owns(self, module: str) -> bool:
        """Whether a module of that name could only be one of this package."""
        return module.partition(".")[0] in self.modules.tops

    def module(self, name: str) -> bool | None:
        """Whether a module can be imported."""
        if (name, None) not in self._answers:
            self._answers[name, None] = self._module(name)
        return self._answers[name, None]

    def name(self, module: str, name: str) -> bool | None:
        """Whether `from module import name` finds it, in a module that is there."""
        if (module, name) not in self._answers:
            self._answers[module, name] = self._name(module, name, frozenset())
        return self._answers[module, name]

    def failure(self, module: str, name: str | None) -> Literal["module", "name"]:
        """How an import fails of what is missing: a `__getattr__` that imports a missing module raises ModuleNotFoundError."""
        return "module" if name is None or (module, name) in self._by_module else "name"

    def prepare(self, modules: set[str]) -> None:
        """Has the files read of all modules that will be asked for names: one question instead of many."""
        files = {found.path for name in modules if (found := self.modules.get(name)) and found.kind == "source"}
        self.files.fetch(files)
        inner = {whole for name in modules for whole in self._sources_of(name)} - modules
        self.files.fetch({found.path for name in inner if (found := self.modules.get(name)) and found.kind == "source"})

    def _sources_of(self, name: str) -> set[str]:
        """The modules of this package that one module hands names on from."""
        found, read = self.modules.get(name), self._read(name)
        told = [absolute(one.module, one.level, name, bool(found and found.package))
                for one in read.statements if one.names and not one.lazy] if read else []
        return {whole for whole in told if whole and self.owns(whole)}

    def _read(self, name: str) -> Module | None:
        found = self.modules.get(name)
        return self.files.get(found.path) if found and found.kind == "source" else None

    def _module(self, name: str) -> bool | None:
        if self.modules.get(name) is not None:
            return True
        parts = name.split(".")
        if self.modules.made_later(name):
            return None
        for depth in range(1, len(parts)):
            above = ".".join(parts[:depth])
            found = self.modules.get(above)
            if found is None:
                return False if depth == 1 else self._module(above)
            if found.kind == "source" and not self._closed(above, name):
                return None
            if found.kind in ("compiled", "stub"):
                return None
            if found.kind == "namespace" and depth == 1 and self.modules.get(".".join(parts[:2])) is None:
                return None  # other packages may bring parts of it
        return False

    def _closed(self, above: str, name: str) -> bool:
        """Whether a package's own text leaves no other way for a submodule to be there."""
        read = self._read(above)
        if read is None:
            return False
        return not read.elsewhere and not any(name == made or name.startswith(f"{made}.") for made in read.registers)

    def _name(self, module: str, name: str, asked: Asked) -> bool | None:
        found = self.modules.get(module)
        if found is None or found.kind in ("compiled", "stub"):
            return None
        if name in _ALWAYS or self._submodule(module, name):
            return True
        if found.kind == "namespace":
            return self._beyond(module, name)
        read = self._read(module)
        if read is None:
            return None
        told = self._bound(module, found, read, name, asked | {(module, name)})
        if told or not found.package:
            return told
        return None if told is None else self._beyond(module, name)

    def _submodule(self, module: str, name: str) -> bool:
        return self.modules.get(f"{module}.{name}") is not None

    def _beyond(self, module: str, name: str) -> bool | None:
        """A submodule that is not in the tree: whether it can be elsewhere."""
        return None if self.module(f"{module}.{name}") is None else False

    def _bound(self, module: str, found: Found, read: Module, name: str, asked: Asked) -> bool | None:
        if name in read.names:
            return True
        told: list[bool | None] = [None] if read.dynamic else []
        for statement in read.statements:
            if not statement.lazy and name not in read.gone and self._runs(statement, read):
                told.append(self._imported(module, found, read, statement, name, asked))
        if read.lazy:
            told.append(self._lazily(module, found, read.lazy, name, asked))
        return True if True in told else None if None in told else False

    def _lazily(self, module: str, found: Found, lazy: Lazy, name: str, asked: Asked) -> bool | None:
        """Whether a module-level `__getattr__` gives the name: where it gets it from must have it too."""
        if not lazy.open and name not in lazy.names:
            return False
        for places in (places for wanting, places in lazy.wants if wanting == name):
            if all(self._had(module, found, want, asked) is False for want in places):
                sources = [absolute(want.module, want.level, module, found.package) for want in places]
                if all(source and self.module(source) is False for source in sources):
                    self._by_module.add((module, name))
                return False
        return None if lazy.open else True

    def _had(self, module: str, found: Found, want: Want, asked: Asked) -> bool | None:
        source = absolute(want.module, want.level, module, found.package)
        if source is None or not self.owns(source):
            return None
        there = self.module(source)
        if there is not True or not want.name or (source, want.name) in asked:
            return there
        return self._name(source, want.name, asked)

    def _runs(self, statement: Statement, read: Module) -> bool:
        """Whether importing the module may execute it."""
        tests = (frame.test for frame in statement.frames if frame.kind == "if")
        return all(judge(test, self._world, read.flags) is not False for test in tests)

    def _imported(self, module: str, found: Found, read: Module, statement: Statement, name: str, asked: Asked) -> bool | None:
        """Whether this import binds the name."""
        if statement.names is None:
            gone = self.owns(statement.module) and self.module(statement.module) is False
            return statement.bound == name and (self._arrives(statement, read) or not gone)
        source = absolute(statement.module, statement.level, module, found.package)
        star = any(original == STAR for original, _ in statement.names)
        originals = [original for original, bound in statement.names if bound == name]
        if not star and not originals:
            return False
        if source is None or not self.owns(source):
            return None if star else True
        if star:
            return self._exports(source, name, asked)
        if self._arrives(statement, read):
            return True  # were it missing, the package itself could not be imported
        if self.module(source) is not True:
            return self.module(source)
        return True if (source, originals[0]) in asked else self._name(source, originals[0], asked)

    def _arrives(self, statement: Statement, read: Module) -> bool:
        """Whether nothing would swallow its failure."""
        for frame in statement.frames:
            handlers = read.tries[frame.at].handlers if frame.kind == "try" and frame.part == BODY else ()
            if frame.kind == "with" or any(one.catches and not one.ends for one in handlers):
                return False
        return True

    def _exports(self, module: str, name: str, asked: Asked) -> bool | None:
        """Whether `from module import *` brings the name along."""
        found, read = self.modules.get(module), self._read(module)
        if (module, name) in asked or found is None or read is None:
            # A circle gives nothing new; a folder has no names; what cannot be read may have any.
            return False if (module, name) in asked or (found and found.kind == "namespace") else None
        listed = read.exported is not None
        if listed and name in (read.exported or ()):
            return True
        if listed and not read.exports_all and not read.exports_of:
            return False
        if not listed and name.startswith("_"):
            return False
        return self._bound(module, found, read, name, asked | {(module, name)})
