"""The only reader of packaged data: knowledge, templates, layout presets and scenarios, in a checkout or in a wheel."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any

from bot.errors import BadInput, Missing
from bot.strict import parse

PACKAGE = "bot"
# A checkout keeps these beside the package, a wheel inside it.
_BESIDE = frozenset({"templates"})


class PackagedAssets:
    """Satisfies the Assets port. Paths use `/`, relative to the package; `templates/...` is found in both homes."""

    def __init__(self, package: Path | None = None) -> None:
        self._package = package if package is not None else Path(str(files(PACKAGE)))

    def text(self, path: str) -> str:
        """A file's text; Missing when this installation does not carry it."""
        place = self._place(path)
        if not place.is_file():
            raise Missing(f"{path} is not packaged here", "reinstall bumpbot, or run it from a checkout")
        try:
            return place.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise BadInput("not UTF-8", f"look at byte {error.start}", file=path) from None

    def folder(self, path: str) -> Path:
        """A folder on disk, to be copied or read by who owns its format."""
        place = self._place(path)
        if not place.is_dir():
            raise Missing(f"the folder {path} is not packaged here", "reinstall bumpbot, or run it from a checkout")
        return place

    def knowledge(self, name: str) -> Any:
        """knowledge/<name>.yaml as plain values; rooms that want records read `text` through their own type."""
        path = f"knowledge/{name}.yaml"
        return parse(self.text(path), file=path)[0]

    def templates(self, language: str) -> Iterator[tuple[str, str]]:
        """(name relative to the language's folder, text) of every template, in the order of their names."""
        root = self.folder(f"templates/{language}")
        for place in sorted(root.rglob("*")):
            if place.is_file() and not place.name.startswith("."):
                name = place.relative_to(root).as_posix()
                yield name, self.text(f"templates/{language}/{name}")

    def names(self, path: str) -> tuple[str, ...]:
        """What lies directly in a folder: scenarios, presets, languages; without hidden and compiled files."""
        return tuple(sorted(p.name for p in self.folder(path).iterdir() if not p.name.startswith((".", "__"))))

    def _place(self, path: str) -> Path:
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts or "\\" in path or "\0" in path:
            raise BadInput(f"{path!r} is no path of packaged data", "relative, with /, without ..")
        inside = self._package.joinpath(*parts)
        beside = self._package.parent.joinpath(*parts)
        return beside if parts[0] in _BESIDE and not inside.exists() and beside.exists() else inside
