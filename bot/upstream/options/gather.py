"""Reads an engine's parser files and those that they take options, fields and checks from, until all is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from bot.ports import Tree
from bot.upstream.engines import Engine
from bot.upstream.options.build import build
from bot.upstream.options.facts import Survey, Surveyed

ROUNDS = 6
MAX_FILES = 160
_SKIPPED = ("/test/", "/tests/", "/benchmark/", "/benchmarks/")


def surveyed(tree: Tree, engine: Engine, survey: Survey, name: str = "") -> Surveyed:
    """One engine's tree (sources, a wheel, or installed packages). Files that cannot be read are `unread`, never empty."""
    return Gatherer(tree, engine, survey).run(name or engine.module)


def root(tree: Tree, engine: Engine) -> str:
    """What stands before the module's folder in this tree: `python/` in sources, nothing in a wheel."""
    for prefix in dict.fromkeys((f"{engine.folder}/" if engine.folder else "", "")):
        if tree.paths(f"{prefix}{engine.module}/"):
            return prefix
    return ""


class Gatherer:
    """One look at one tree."""

    def __init__(self, tree: Tree, engine: Engine, survey: Survey) -> None:
        self.tree, self.engine, self.survey = tree, engine, survey
        self.root = root(tree, engine)
        self.files = {path.removeprefix(self.root) for path in tree.paths(f"{self.root}{engine.module}/") if path.endswith(".py")}
        self.known: dict[str, Any] = {}

    def run(self, name: str) -> Surveyed:
        parsers = [path for path in self.engine.parsers if path in self.files]
        checks = [path for path in sorted(self.files) if path.startswith(self.engine.checks)] if self.engine.checks else []
        self._take(list(dict.fromkeys([*parsers, *(path for path in self.engine.environment if path in self.files), *checks])))
        for _ in range(ROUNDS):
            wanted = [path for path in dict.fromkeys(self._wanted()) if path not in self.known][:MAX_FILES - len(self.known)]
            if not wanted:
                break
            self._take(wanted)
        found = build(name, self.engine, self.known, parsers, self.resolve)
        found.mentioned = self._mentioned
        return found

    def _take(self, paths: Sequence[str]) -> None:
        if paths:
            found = self.survey("options", self.tree, [self.root + path for path in paths])
            self.known |= {path: found.get(self.root + path) for path in paths}

    def _wanted(self) -> Iterator[str]:
        """Files of the names by which what is known points elsewhere."""
        for path, facts in list(self.known.items()):
            if facts is None or path in self.engine.environment:
                continue
            for name in _names(facts):
                if (found := self.resolve(path, name)) and found[0] != path:
                    yield found[0]
            yield from self._exports(path, facts)

    def _exports(self, path: str, facts: Mapping[str, Any]) -> Iterator[str]:
        """Of a package that only hands names on, the modules that they come from, where somebody asked for them."""
        if not path.endswith("/__init__.py"):
            return
        module = path.removesuffix("/__init__.py").replace("/", ".")
        asked = {origin.partition(":")[2] for place, other in self.known.items() if other
                 for said in other["imports"].values() if (origin := _absolute(place, said)).startswith(f"{module}:")}
        for name in asked:
            if (found := self.resolve(path, name)) and found[0] != path:
                yield found[0]

    def resolve(self, path: str, name: str, depth: int = 0) -> tuple[str, str] | None:
        """The file that defines a name used in a file, and its name there; also through packages that hand it on."""
        facts = self.known.get(path)
        if not facts or depth > 6:
            return None
        head, _, rest = name.partition(".")
        if head in facts["classes"] or head in facts["constants"] or head in facts["defaults"] or any(
                one["name"] == head and not one["class"] for one in facts["functions"]):
            return path, name
        origin = _absolute(path, facts["imports"].get(head, ""))
        if not origin.startswith((f"{self.engine.module}.", f"{self.engine.module}:")):
            return None
        module, _, inner = origin.partition(":")
        for said, whole in ((module, inner), (f"{module}.{inner}" if inner else module, "")):
            file = self._file(said)
            if file is None:
                continue
            wanted = ".".join(part for part in (whole, rest) if part)
            if file in self.known and wanted:
                return self.resolve(file, wanted, depth + 1) or (file, wanted)
            if whole or rest:
                return file, wanted
        return None

    def _file(self, module: str) -> str | None:
        path = module.replace(".", "/")
        return next((one for one in (f"{path}.py", f"{path}/__init__.py") if one in self.files), None)

    def _mentioned(self, kind: str) -> Mapping[str, Set[str]] | None:
        """All names of a kind in the engine's sources, and in which files; None where some file could not be read."""
        paths = [path for path in sorted(self.files) if not any(part in f"/{path}" for part in _SKIPPED)]
        found = self.survey("names", self.tree, [self.root + path for path in paths])
        said: dict[str, set[str]] = {}
        for path in paths:
            facts = found.get(self.root + path)
            if facts is None:
                return None
            for name in facts[kind]:
                said.setdefault(name, set()).add(path)
        return said


def _names(facts: Mapping[str, Any]) -> Iterator[str]:
    """The names in a file that stand for options, fields or checks of another."""
    for one in facts["classes"].values():
        yield from (base for base in one["bases"] if base)
        for made in one["fields"].values():
            yield from _of(made.get("default"), made.get("choices"))
    for one in facts["options"]:
        yield from _of(one.get("default"), one.get("choices"))
        if "field" in one:
            yield one["field"][0]
    for call in facts["calls"]:
        yield call["name"]
        yield from call["given"]
    for function in facts["functions"]:
        for call in function["calls"]:
            given = [*call["given"], *call["named"].values()]
            if call["name"].endswith(("Config", "Args")) or any(map(_config, given)):
                yield call["name"]


def _of(*values: Any) -> Iterator[str]:
    for one in values:
        if isinstance(one, dict):
            yield from (one[word] for word in ("of", "make", "asks") if word in one)
            yield from _of(*one.get("with", {}).values())


def _absolute(path: str, said: str) -> str:
    """`..utils:name` as it is from the top, by the place of the file that says so."""
    dots = len(said) - len(said.lstrip("."))
    if not dots:
        return said
    package = path.split("/")[:-1]
    base = ".".join(package[:len(package) - dots + 1])
    module, _, name = said[dots:].partition(":")
    return f"{base}.{module}:{name}" if module else f"{base}:{name}"


def _config(part: Sequence[Any]) -> bool:
    """Whether an argument is a configuration as a whole: `self`, `args`, `server_args`."""
    if list(part[:1]) != ["attr"] or len(part) != 2:
        return False
    return part[1] in ("self", "cfg", "config") or str(part[1]).endswith("args")
