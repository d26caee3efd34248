"""`check-imports`: whether a consumer finds in an engine's package all that it imports from it. No repository, no network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import msgspec
import typer

from bot.adapters.assets import PackagedAssets
from bot.adapters.process import LocalProcess
from bot.adapters.surveyor import ChildSurveyor
from bot.adapters.tree import FolderTree, LocalCommit, SubTree
from bot.adapters.ziptree import WheelTree
from bot.cli import environment
from bot.cli.output import as_json, note, table, working
from bot.cli.place import Place
from bot.errors import BadArguments
from bot.model.upstream import ImportsChecked, MissingImport
from bot.ports import Tree
from bot.upstream import engines, imports
from bot.upstream.engines import Engine

PATH_HINT = "name a wheel, a folder, REV[:path] of --repo, or FOLDER@REV[:path] of another repository"
ENGINE_HINT = "write --engine NAME=PATH, as in --engine sglang=sglang-0.5.19.whl"
HEADS = ("missing", "name", "where", "start path", "guarded", "lazy", "typing")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_REV = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/@{}^~+-]*")
_WHEEL = re.compile(r"([A-Za-z0-9_.]+)-([A-Za-z0-9_.!+]+)-.*\.whl")


def check(place: Place, asked: list[str], consumer: str, format_: str) -> None:
    """Prints what is missing; exit 1 where that, or what could not be read, may keep the consumer from starting."""
    known = engines.load(PackagedAssets().text("knowledge/engines.yaml"), file="knowledge/engines.yaml")
    pairs = [_pair(word) for word in asked]
    told: list[ImportsChecked] = []
    with working("reading the imports"), closing(ChildSurveyor(environment.cache())) as surveyor:
        tree = tree_of(place, consumer)
        for name, path in pairs:
            told.append(imports.checked(_engine(known, name), tree_of(place, path), tree, surveyor.survey, known=known,
                                        names=(_label(consumer), _label(path)), say=note))
    rows = [row for one in told for row in one.missing]
    for one in told:
        _unknown(one)
    if format_ == "json":
        as_json([_plain(row) for row in rows])
    else:
        _table(format_, rows)
        _summed(told, rows)
    if any(row.stops for row in rows) or any(one.unread_start for one in told):
        raise typer.Exit(1)


def tree_of(place: Place, text: str) -> Tree:
    """The files that an argument names: a wheel, a folder, or a commit's."""
    path = Path(text)
    if path.is_file():
        return WheelTree(path)
    if path.is_dir():
        if (path / "HEAD").is_file() and (path / "objects").is_dir():
            raise BadArguments(f"{text}: a bare repository", f"name a commit too: {text}@REV")
        return FolderTree(path)
    if path.exists():
        raise BadArguments(f"{text}: neither a file nor a folder", PATH_HINT)
    folder, at, rest = text.rpartition("@")
    while at and not Path(folder).is_dir():
        folder, at, more = folder.rpartition("@")
        rest = f"{more}@{rest}" if at else rest
    root, spec = (Path(folder), rest) if at and Path(folder).is_dir() else (place.repo, text)
    if text.endswith((".whl", ".zip", ".tar.gz")) or (root == place.repo and not _is_repository(root)):
        raise BadArguments(f"{text}: no such file or folder", PATH_HINT)
    return _commit(root, spec, text)


def _commit(root: Path, spec: str, text: str) -> Tree:
    rev, _, inside = spec.partition(":")
    if not _REV.fullmatch(rev):
        raise BadArguments(f"{text}: no such file or folder, and no revision either", PATH_HINT)
    found = LocalCommit.of(LocalProcess(), root, rev)
    if found is None:
        raise BadArguments(f"{text}: no such file, and no commit {rev} in {root}", PATH_HINT)
    if not inside.strip("/"):
        return found
    below = SubTree(found, inside)
    if not below.paths():
        raise BadArguments(f"{text}: no folder {inside} at {rev}", "name a folder of that commit")
    return below


def _is_repository(root: Path) -> bool:
    return (root / ".git").exists() or ((root / "HEAD").is_file() and (root / "objects").is_dir())


def _pair(word: str) -> tuple[str, str]:
    name, equals, path = word.partition("=")
    if not equals or not path or not _NAME.fullmatch(name):
        raise BadArguments(f"{word}: not NAME=PATH", ENGINE_HINT)
    return name, path


def _engine(known: Mapping[str, Engine], name: str) -> Engine:
    """The engine of that name, also by its package's or module's; a package that nobody listed is called as its module."""
    def plain(word: str) -> str:
        return word.lower().replace("-", "_").replace(".", "_")

    for other, engine in known.items():
        if plain(name) in {plain(word) for word in (other, engine.module, engine.package, *engine.called)}:
            return engine
    kernels = {plain(word): module for engine in known.values() for module, package in engine.kernels.items()
               for word in (module, package)}
    module = kernels.get(plain(name), name.replace("-", "_"))
    return Engine(repositories=(), module=module, package=name)


def _label(path: str) -> str:
    wheel = _WHEEL.fullmatch(Path(path).name)
    return f"{wheel[1]} {wheel[2]}" if wheel else path


def _plain(row: MissingImport) -> dict[str, object]:
    told: dict[str, object] = msgspec.to_builtins(row)
    return told


def _table(format_: str, rows: list[MissingImport]) -> None:
    def mark(flag: bool) -> str:
        return "yes" if flag else ""

    cells = [(row.module, row.name or "", f"{row.file}:{row.line}", mark(row.on_start_path), mark(row.guarded), mark(row.lazy),
              mark(row.typing)) for row in rows]
    if rows:
        table(format_, HEADS, cells)


def _summed(told: list[ImportsChecked], rows: list[MissingImport]) -> None:
    """The last line. What is not known is never called nothing."""
    counted, stops = sum(one.counted for one in told), sum(row.stops for row in rows)
    unsure = any(one.unknown or one.unread_start for one in told)
    if rows:
        note(f"{counted} imports looked at: {len(rows)} missing, {stops} of them keep it from starting")
    else:
        note(f"{counted} imports looked at: {'none is known to be missing' if unsure else 'nothing is missing'}")


def _unknown(told: ImportsChecked) -> None:
    for path in told.unread_start:
        note(f"{path} could not be read and is on the start path: what it needs is unknown")
    aside = sorted(set(told.unread) - set(told.unread_start))
    if aside:
        note(f"could not be read, off the start path: {', '.join(aside[:5])}{' ...' if len(aside) > 5 else ''}")
    if told.unknown:
        more = f" and {len(told.unknown) - 8} more" if len(told.unknown) > 8 else ""
        note(f"only running {told.provider} would tell: {', '.join(told.unknown[:8])}{more}")


