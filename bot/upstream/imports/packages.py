"""Where the modules of a package lie in a tree: a wheel, an unpacked site-packages, or a checkout of its sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from bot.ports import Tree

Kind = Literal["source", "namespace", "compiled", "stub"]
_INIT = "__init__"
# As Python's own finder looks: an extension before a source, a source before bytecode; a stub alone is no module yet.
_ENDS: tuple[tuple[str, Kind], ...] = ((".so", "compiled"), (".pyd", "compiled"), (".py", "source"), (".pyc", "compiled"),
                                       (".pyi", "stub"))
_HIDDEN = "__pycache__"
# Folders of a checkout that hold other things than what is installed.
_BESIDE = frozenset("""tests test testing examples example docs doc benchmarks benchmark deploy build dist third_party 3rdparty
container containers docker recipes scripts tools node_modules .github .git fern ci .buildkite fixtures""".split())
_BUILD_FILES = ("pyproject.toml", "setup.py", "setup.cfg", "CMakeLists.txt", ".gitignore", "MANIFEST.in", "hatch_build.py",
                "Cargo.toml")
_MADE = ("_version", "_pb2", "_pb2_grpc")


class Found(Struct, frozen=True, array_like=True):
    """One module: what it is, and the files that are it (several for a namespace's folders: none)."""

    kind: Kind
    path: str = ""
    package: bool = False


class Modules:
    """The modules below some folders of a tree, by dotted name."""

    def __init__(self, tree: Tree, roots: Sequence[str], tops: Iterable[str], paths: Sequence[str], *, installed: bool) -> None:
        self.tree, self.tops, self.installed = tree, frozenset(tops), installed
        self._found: dict[str, Found] = {}
        self._roots = tuple(roots)
        for root in roots:
            for path in paths:
                if path.startswith(root) and path[len(root):].partition("/")[0].partition(".")[0] in self.tops:
                    self._add(path[len(root):], path)

    def get(self, name: str) -> Found | None:
        return self._found.get(name)

    def __iter__(self) -> Iterator[tuple[str, Found]]:
        return iter(self._found.items())

    def sources(self) -> Iterator[tuple[str, str]]:
        """Every module of source text: its name and its file."""
        return ((name, found.path) for name, found in self._found.items() if found.kind == "source")

    def made_later(self, name: str) -> bool:
        """Whether a module that a checkout lacks comes there when it is built: by how it is called, or since a file of the build
        names it (`write_to = "vllm/_version.py"`). What is installed is built."""
        if self.installed:
            return False
        last = name.rpartition(".")[2]
        if last == _MADE[0] or last.endswith(_MADE[1:]):
            return True
        path = name.replace(".", "/")
        spelled = (f"{path}.", f"{path}/", f'"{name}"', f"'{name}'", f"{name.rpartition('.')[0].replace('.', '/')}/*.so")
        return any(word in text for text in self._build_texts() for word in spelled)

    def _build_texts(self) -> list[str]:
        folders = {"", *self._roots, *(f"{root}{top}/" for root in self._roots for top in self.tops)}
        texts = (self.tree.read(f"{folder}{name}") for folder in sorted(folders) for name in _BUILD_FILES)
        return [text.decode("utf-8", "replace") for text in texts if text]

    def _add(self, inside: str, path: str) -> None:
        folder, _, file = inside.rpartition("/")
        steps = folder.split("/") if folder else []
        if _HIDDEN in steps or any(not step.isidentifier() for step in steps):
            return
        for depth in range(1, len(steps) + 1):
            self._found.setdefault(".".join(steps[:depth]), Found("namespace", package=True))
        stem, kind = _module(file)
        if not kind or not stem.isidentifier() or (kind == "stub" and self.installed):
            return  # in a checkout a stub may stand for an extension that is not built yet
        name = ".".join(steps if stem == _INIT else [*steps, stem])
        if name:
            self._keep(name, Found(kind, path, stem == _INIT))

    def _keep(self, name: str, found: Found) -> None:
        """A package hides a module of the same name, that one a folder; an extension hides a source beside it."""
        there = self._found.get(name)
        if there is None or _rank(found) < _rank(there):
            self._found[name] = found


def _rank(found: Found) -> tuple[bool, bool, int]:
    return (found.kind == "namespace", not found.package,
            next((place for place, (end, _) in enumerate(_ENDS) if found.path.endswith(end)), len(_ENDS)))


def _module(file: str) -> tuple[str, Kind | None]:
    for end, kind in _ENDS:
        if file.endswith(end):
            return file.partition(".")[0], kind
    return "", None


def of(tree: Tree, top: str, folder: str = "", paths: Sequence[str] | None = None) -> Modules | None:
    """The modules of the top-level package `top`, wherever in the tree they lie; None where it is not in it. `folder` is where a
    checkout of its sources is known to keep them."""
    paths = list(tree.paths()) if paths is None else paths
    roots = _roots(paths, top, f"{folder.strip('/')}/" if folder.strip("/") else "")
    return Modules(tree, roots, [top], paths, installed=is_installed(paths, roots)) if roots else None


def tops(paths: Iterable[str]) -> list[str]:
    """The top-level modules of what is unpacked as an installer does it."""
    found = {path.partition("/")[0].partition(".")[0] for path in paths
             if _module(path.rpartition("/")[2])[1] and not path.partition("/")[0].endswith((".data", ".dist-info"))}
    return sorted(name for name in found if name.isidentifier())


def is_beside(folder: str) -> bool:
    """Whether a folder of a checkout holds other things than what is installed."""
    return folder in _BESIDE


def is_installed(paths: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether these are files as an installer leaves them, with what the build makes."""
    return any(_metadata(path, root) for path in paths for root in roots)


def _metadata(path: str, root: str) -> bool:
    folder, slash, _ = path[len(root):].partition("/") if path.startswith(root) else ("", "", "")
    return bool(slash) and folder.endswith((".dist-info", ".egg-info"))


def data_roots(paths: Iterable[str]) -> list[str]:
    """Folders of a wheel whose files are installed beside the others (`name-1.0.data/purelib/`)."""
    found = {"/".join(path.split("/")[:2]) + "/" for path in paths if path.partition("/")[0].endswith(".data")}
    return sorted(root for root in found if root.endswith((".data/purelib/", ".data/platlib/")))


def _roots(paths: Sequence[str], top: str, folder: str) -> list[str]:
    """Folders in which `top` lies, "" or ending in /. A regular package is one folder; a namespace's are all of them."""
    counts: dict[str, int] = {}
    regular: set[str] = set()
    inits = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2].startswith(f"{_INIT}.py")}
    for path in paths:
        steps = path.split("/")
        for place, step in enumerate(steps):
            last = place == len(steps) - 1
            if (step != top and not (last and step.partition(".")[0] == top)) or _HIDDEN in steps:
                continue
            if not _module(steps[-1])[1] or (place and "/".join(steps[:place]) in inits):
                continue
            root = "/".join(steps[:place]) + "/" if place else ""
            counts[root] = counts.get(root, 0) + 1
            if f"{root}{top}" in inits or last:
                regular.add(root)
            break
    data = [root for root in data_roots(paths) if root in counts]
    if "" in counts or data:
        return [*([""] if "" in counts else []), *data]
    likely = [root for root in counts if not _BESIDE & set(root.split("/"))] or list(counts)
    if folder in counts and (folder in regular or len(likely) == 1):
        return [folder]
    whole = [root for root in likely if root in regular]
    if whole:
        return [max(sorted(whole), key=lambda root: counts[root])]
    return sorted(likely)
