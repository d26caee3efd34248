"""The imports of a consumer against what a provider offers: what is missing, and whether that keeps it from starting."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.upstream import ImportsChecked, MissingImport
from bot.model.uses import Pin
from bot.ports import Tree
from bot.upstream.imports import packages, start, words
from bot.upstream.imports.offers import Provider
from bot.upstream.imports.packages import Modules
from bot.upstream.imports.records import STAR, Statement
from bot.upstream.imports.standing import NONE, Standing
from bot.upstream.imports.surveyed import Survey, Surveyed, absolute


def check(consumer: Modules, provider: Modules, survey: Survey, entries: Sequence[start.Entry], *, names: tuple[str, str],
          pin: Pin | None = None, platform: str | None = None) -> ImportsChecked:
    """Every import that the provider does not answer. `names` are the two in words for people; `platform` is what the GPUs are,
    where that is known: what only other machines import is then left out, and what these import is no guess."""
    offered = Provider(provider, survey, platform)
    files = Surveyed(survey, consumer.tree)
    # First, for this has every file fetched at once that is not here.
    named = words.naming(consumer.tree, [path for _, path in consumer.sources()], provider.tops, survey)
    begun = start.Start(consumer, files, offered, entries, platform)
    mentioning = {name for name, path in consumer.sources() if path in named}
    files.fetch({found.path for name in mentioning | set(begun.reached) if (found := consumer.get(name))})
    found = _Rows(begun, offered)
    for name in sorted(mentioning | set(begun.reached)):
        found.module(name)
    unread_start = {path for name in begun.reached if (path := _path(consumer, name)) in set(files.unread)} | found.unread
    return ImportsChecked(
        consumer=names[0], provider=names[1], pin=pin, counted=found.counted, unknown=tuple(sorted(found.unknown)),
        missing=tuple(sorted(found.rows, key=lambda row: (not row.stops, row.file, row.line, row.name or ""))),
        unread=tuple(sorted({*files.unread, *found.unread})), unread_start=tuple(sorted(unread_start)))


class _Rows:
    """Collects what is missing, module by module of the consumer."""

    def __init__(self, begun: start.Start, provider: Provider) -> None:
        self._begun, self._provider = begun, provider
        self.rows: set[MissingImport] = set()
        self.unknown: set[str] = set()
        self.unread: set[str] = set()
        self.counted = 0

    def module(self, name: str) -> None:
        """Looks at each import of one module that is not surely never executed."""
        found = self._begun.modules.get(name)
        for statement, standing in self._begun.standings(name):
            source = absolute(statement.module, statement.level, name, bool(found and found.package))
            if found and source and self._provider.owns(source) and not standing.never:
                self._asked(statement, standing, source, name, found.path)

    def _asked(self, statement: Statement, standing: Standing, source: str, name: str, file: str) -> None:
        there = self._provider.module(source)
        names = [original for original, _ in statement.names or () if original != STAR]
        self.counted += max(1, len(names))
        caught = self._begun.reached.get(name)
        on_path = standing.runs and caught is not None
        if statement.call and not on_path:
            return  # it may well be asked for what is not there
        guards = standing.guards | (caught or NONE if on_path else NONE)
        told: list[tuple[str | None, bool | None]] = [(None, there)] if there is not True else \
            [(one, self._provider.name(source, one)) for one in names]
        for one, answer in told:
            guarded = self._provider.failure(source, one) in guards
            if answer is False:
                self.rows.add(MissingImport(
                    module="." * statement.level + statement.module, name=one, file=file, line=statement.line, guarded=guarded,
                    lazy=statement.lazy, typing=standing.typing, on_start_path=on_path, needs=standing.needs))
            elif answer is None and on_path and not guarded:
                self._untold(source, one)

    def _untold(self, source: str, name: str | None) -> None:
        path = _path(self._provider.modules, source)
        if path in self._provider.files.unread:
            self.unread.add(path)
        else:
            self.unknown.add(f"{source}.{name}" if name else source)


def consumer_of(tree: Tree, called: Sequence[str], *, but: Sequence[str] = (), known: Sequence[tuple[str, str]] = (),
                at: tuple[str, str] | None = None) -> Modules:
    """The modules of a consumer in its tree: those of the package that has a part for an engine of these names, else all that
    are not `but` (the engine itself, in a folder that holds both). `known` are packages and where a checkout keeps them."""
    paths = list(tree.paths())
    placed = packages.of(tree, *at, paths) if at else None
    if placed:
        return placed
    for top, folder in known:
        found = packages.of(tree, top, folder, paths)
        if found and top not in but and any(found.get(f"{top}.{name}") for name in called):
            return found
    roots = _tops(paths, called, but)
    chosen = [pair for pair in roots if roots[pair]] or list(roots)
    folders = sorted({root for root, _ in chosen})
    return Modules(tree, folders, [top for _, top in chosen], paths, installed=packages.is_installed(paths, folders))


def scripts(tree: Tree, paths: Sequence[str]) -> list[str]:
    """The modules that a package's entry points name, those of test runners left out."""
    found: list[str] = []
    for path in paths:
        if path.endswith(".dist-info/entry_points.txt"):
            group = ""
            for line in (tree.read(path) or b"").decode("utf-8", "replace").splitlines():
                if line.startswith("["):
                    group = line.strip("[] ")
                elif "=" in line and group != "pytest11":
                    found.append(line.partition("=")[2].partition(":")[0].strip())
    return found


def _tops(paths: Sequence[str], called: Sequence[str], but: Sequence[str]) -> dict[tuple[str, str], bool]:
    """Folder and name of each top-level package, and whether it has a part for the engine."""
    inits = {path.rpartition("/")[0] for path in paths if path.endswith("/__init__.py")}
    data = packages.data_roots(paths)
    flat = packages.is_installed(paths, ["", *data])
    found: dict[tuple[str, str], bool] = {}
    for path in paths:
        root = next((root for root in data if path.startswith(root)), "")
        steps = path[len(root):].split("/")
        if not path.endswith(".py") or len(steps) < 2 or "__pycache__" in steps:
            continue
        place = 0 if flat else _outermost(steps, inits, called)
        if place is None or not steps[place].isidentifier() or steps[place] in but or steps[0].endswith(".data"):
            continue
        pair = (root + "".join(f"{step}/" for step in steps[:place]), steps[place])
        mine = len(steps) > place + 2 and steps[place + 1] in called or steps[place + 1].removesuffix(".py") in called
        found[pair] = found.get(pair, False) or mine
    return found


def _outermost(steps: Sequence[str], inits: set[str], called: Sequence[str]) -> int | None:
    """Where the top-level package of a file stands in its path, in a checkout: the outermost folder with an `__init__`, or the
    namespace around a folder that is called as the engine and is a package."""
    for place in range(len(steps) - 1):
        if packages.is_beside(steps[place]):
            return None
        if "/".join(steps[: place + 1]) in inits:
            return place - 1 if place and steps[place] in called else place
    return len(steps) - 2 if steps[-1].removesuffix(".py") in called else None


def _path(modules: Modules, name: str) -> str:
    found = modules.get(name)
    return found.path if found else ""

