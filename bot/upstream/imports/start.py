"""What starting a consumer executes: from its package for the engine, module by module (CONTRACTS `check-imports`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from bot.upstream.imports.conditions import World
from bot.upstream.imports.offers import Provider
from bot.upstream.imports.packages import Modules
from bot.upstream.imports.records import STAR, Module, Statement
from bot.upstream.imports.standing import BOTH, NONE, Failure, Standing, Standings
from bot.upstream.imports.surveyed import Surveyed, absolute

_MAIN = "__main__"
Reached = dict[str, frozenset[Failure]]


class Entry(Struct, frozen=True):
    """A module where a start begins. `main`: it is run (`python -m`), not only imported."""

    module: str
    main: bool = False


class Start:
    """Walks from the entries and remembers, for each module that is executed, the failures that somebody above it catches."""

    def __init__(self, modules: Modules, files: Surveyed, provider: Provider, entries: Sequence[Entry],
                 platform: str | None = None) -> None:
        self.modules, self.files, self.provider = modules, files, provider
        self.reached: Reached = {}
        self._mains = {entry.module for entry in entries if entry.main}
        self._platform = platform
        self._walk(entries)

    def standings(self, name: str) -> Iterator[tuple[Statement, Standing]]:
        """Every import of a module and how it stands; nothing for one that could not be read."""
        found = self.modules.get(name)
        read = self.files.get(found.path) if found and found.kind == "source" else None
        if read is None or found is None:
            return iter(())
        world = World(main=name in self._mains, platform=self._platform,
                      has=lambda module: self.provider.module(module) if self.provider.owns(module) else None)
        return iter(Standings(read, world, lambda one: lacks(self.provider, one, name, found.package)))

    def _walk(self, entries: Sequence[Entry]) -> None:
        waiting: Reached = {}
        for entry in entries:
            self._add(waiting, self._above(entry.module), NONE)
        while waiting:
            self.files.fetch({found.path for name in waiting if (found := self.modules.get(name)) and found.kind == "source"})
            self.provider.prepare(self._asked(waiting))
            following: Reached = {}
            for name, caught in waiting.items():
                if self.reached.get(name, BOTH | {"new"}) <= caught:  # type: ignore[operator]
                    continue  # meanwhile reached in a less safe way
                caught = self.reached[name] = caught & self.reached.get(name, BOTH)
                for statement, standing in self.standings(name):
                    if standing.runs and not standing.never:
                        self._add(following, self._targets(statement, name), caught | standing.guards)
            waiting = following

    def _add(self, waiting: Reached, names: Sequence[str], caught: frozenset[Failure]) -> None:
        """A module that is reached in two ways is as safe as the less safe of them."""
        for name in names:
            waiting[name] = caught & waiting.get(name, BOTH)

    def _asked(self, names: Mapping[str, object]) -> set[str]:
        """The provider's modules that these ask for names."""
        asked: set[str] = set()
        for name in names:
            found = self.modules.get(name)
            read: Module | None = self.files.get(found.path) if found and found.kind == "source" else None
            for statement in read.statements if read else ():
                source = absolute(statement.module, statement.level, name, bool(found and found.package))
                if source and statement.names and self.provider.owns(source):
                    asked.add(source)
        return asked

    def _above(self, name: str) -> list[str]:
        """A module of the consumer and the packages that importing it executes first."""
        parts = name.split(".")
        above = [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        return [one for one in above if self.modules.get(one)] if self.modules.get(name) else \
            [one for one in above[:-1] if self.modules.get(one)]

    def _targets(self, statement: Statement, name: str) -> list[str]:
        """The consumer's own modules that an import executes."""
        found = self.modules.get(name)
        source = absolute(statement.module, statement.level, name, bool(found and found.package))
        if not source or source.partition(".")[0] not in self.modules.tops:
            return []
        below = []
        for original, _ in statement.names or ():
            wanted = self._listed(source) if original == STAR else [original]
            below += [f"{source}.{one}" for one in wanted if self._is_submodule(source, one)]
        return [one for target in (source, *below) for one in self._above(target)]

    def _listed(self, source: str) -> Sequence[str]:
        found = self.modules.get(source)
        read = self.files.get(found.path) if found and found.kind == "source" else None
        return (read.exported or ()) if read else ()

    def _is_submodule(self, source: str, name: str) -> bool:
        """Whether a name is had by importing a submodule: the package does not bind it itself."""
        if self.modules.get(f"{source}.{name}") is None:
            return False
        found = self.modules.get(source)
        read = self.files.get(found.path) if found and found.kind == "source" else None
        return not (read and name in read.names)


def entries(modules: Modules, called: Sequence[str], extra: Sequence[str] = ()) -> list[Entry]:
    """Where the consumer starts for an engine of these names: its package for that engine, and that one's `__main__`; `extra` are
    modules that options make it run. Empty where it has no such package: the nearest below its own counts."""
    found = [name for name, one in modules if name.rpartition(".")[2] in called and name.count(".") >= 1
             and (one.kind == "source" or modules.get(f"{name}.{_MAIN}"))]
    near = min((name.count(".") for name in found), default=0)
    starts = [name for name in found if name.count(".") == near and not _aside(name)]
    made = [Entry(name) for name in sorted(starts)]
    made += [Entry(f"{name}.{_MAIN}", main=True) for name in sorted(starts) if modules.get(f"{name}.{_MAIN}")]
    for name in extra:
        main = f"{name}.{_MAIN}"
        made += [Entry(name, main=modules.get(main) is None)] if modules.get(name) else []
        made += [Entry(main, main=True)] if modules.get(main) else []
    return made


def own(modules: Modules, scripts: Sequence[str], run: Sequence[str] = ()) -> list[Entry]:
    """Where a consumer starts that has no package for the engine: its own top-level packages, the modules of its scripts, and those
    that are `run` (`python3 -m`)."""
    made = [Entry(top) for top in sorted(modules.tops) if modules.get(top)]
    made += [Entry(f"{top}.{_MAIN}", main=True) for top in sorted(modules.tops) if modules.get(f"{top}.{_MAIN}")]
    made += [Entry(name) for name in dict.fromkeys(scripts) if modules.get(name)]
    return made + [Entry(name, main=True) for name in dict.fromkeys(run) if modules.get(name)]


def lacks(provider: Provider, statement: Statement, name: str, package: bool) -> Failure | str:
    """How an import fails against the provider (standing.Lacks)."""
    source = absolute(statement.module, statement.level, name, package)
    if not source or not provider.owns(source):
        return "foreign"
    there = provider.module(source)
    if there is not True:
        return "unsure" if there is None else "module"
    names = [original for original, _ in statement.names or () if original != STAR]
    told = [provider.name(source, original) for original in names]
    if False in told:
        return provider.failure(source, names[told.index(False)])
    return "unsure" if None in told else ""


def _aside(name: str) -> bool:
    return bool({"tests", "test", "testing", "examples", "benchmarks"} & set(name.split(".")))
