"""Bumps that people made, made again: site by site what the edit wrote and what people wrote, and why where they differ.

The finder of sites is the test's own, over PyYAML's nodes and the keys that people know the guest's files by: it must not
share a mistake with the one it judges. A difference has a reason only where a rule of REASONS gives it from the bytes
alone; no rule knows a commit.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import yaml
from msgspec import Struct

from bot.errors import Refusal
from bot.layout import Layout
from bot.ports import Tree
from bot.recipe import edit
from bot.recipe.shelf import Shelf
from bot.recipe.sites import references

ENGINES = {"vllm", "sglang", "tensorrt_llm"}
Where = tuple[str | int, ...]


class Bump(Struct, frozen=True, kw_only=True):
    """One commit of people: the keys it moved, each with its image before and after, the two trees, the files to compare."""

    commit: str
    keys: dict[str, tuple[str, str]]
    before: Tree
    after: Tree
    files: tuple[str, ...]


class Spot(Struct, frozen=True):
    """A site in one version of a file: what it says, its line, and what it is (image, container, provenance, setting, engine)."""

    value: str
    line: bytes
    role: str


class Case(Struct, frozen=True, kw_only=True):
    """A site on which the edit and people differ. `pairs` are the images (before, after) of the recipes that hold its file."""

    file: str
    where: Where
    before: str
    ours: str
    theirs: str | None
    role: str
    pairs: frozenset[tuple[str, str]]
    refused: bool

    def was(self, said: str | None) -> bool:
        return self._names(said, [old for old, _ in self.pairs])

    def becomes(self, said: str | None) -> bool:
        return self._names(said, [new for _, new in self.pairs])

    def _names(self, said: str | None, images: list[str]) -> bool:
        """Whether a site says one of these images; a version, whether a tag holds it."""
        if said is None:
            return False
        if self.role == "engine":
            return any(said in image.rpartition(":")[2] for image in images)
        return _plain(said.rpartition("=")[2]) in map(_plain, images)


class Told(Struct, frozen=True, kw_only=True):
    """How a bump compares. Sites: `moved` and `stayed` are equal, the others have a reason or none. `lines` counts the moved
    ones whose whole line is equal. `masters` tells of each master file in which people changed nothing but lines of
    images whether its bytes are equal."""

    commit: str
    moved: int
    stayed: int
    lines: int
    masters: dict[str, bool]
    reasons: dict[str, tuple[Case, ...]]
    unexplained: tuple[Case, ...]
    refusals: tuple[str, ...]


def _plain(image: str) -> str:
    return image.replace("#", "/", 1)


def _alias(image: str) -> bool:
    return not re.search(r"[/:#@]", image)


# The first that holds is the reason. What the edit leaves alone comes before what people left alone.
REASONS: tuple[tuple[str, Callable[[Case], bool]], ...] = (
    ("people removed the site", lambda case: case.theirs is None),
    ("the edit of its recipe is refused", lambda case: case.refused),
    ("no recipe of the bump links the file", lambda case: not case.pairs and case.ours == case.before),
    ("people put an image in place of an alias", lambda case: case.ours == case.before and case.role == "container" and
     _alias(case.before)),
    ("it disagreed with its recipe before", lambda case: case.ours == case.before and case.role != "image" and
     not case.was(case.before)),
    ("no version stands in the tag", lambda case: case.ours == case.before and case.role == "engine" and
     not case.becomes(case.theirs)),
    ("people left the old image behind", lambda case: case.theirs == case.before and case.was(case.before) and
     case.becomes(case.ours)),
)


def told(bump: Bump, layout: Layout) -> Told:
    """The bump made again from the tree before it, and compared with the tree after it."""
    shelf = Shelf(bump.before)
    made, refusals = again(shelf, bump, layout)
    pairs = _pairs(shelf, bump, layout)
    equal: Counter[str] = Counter()
    reasons: dict[str, list[Case]] = defaultdict(list)
    masters: dict[str, bool] = {}
    for file in sorted({*bump.files, *pairs}):
        was, now = bump.before.read(file), bump.after.read(file)
        if was is None or now is None:
            continue
        ours = made.get(file, was)
        if _is_master(file) and _images_only(was, now):
            masters[file] = ours == now
        for case in _cases(file, was, ours, now, pairs, refusals, equal):
            reasons[next((name for name, holds in REASONS if holds(case)), "")].append(case)
    unexplained = reasons.pop("", [])
    return Told(commit=bump.commit, moved=equal["moved"], stayed=equal["stayed"], lines=equal["lines"], masters=masters,
                reasons={name: tuple(cases) for name, cases in reasons.items()}, unexplained=tuple(unexplained),
                refusals=tuple(refusals.values()))


def again(shelf: Shelf, bump: Bump, layout: Layout) -> tuple[dict[str, bytes], dict[str, str]]:
    """The bump made again: the files as edited, and why keys were refused."""
    made: dict[str, bytes] = {}
    refusals: dict[str, str] = {}
    for image in dict.fromkeys(new for _, new in bump.keys.values()):
        keys = [key for key, (_, new) in bump.keys.items() if new == image]
        try:
            made |= edit.move(_Over(bump.before, made) if made else shelf, layout, keys, image).files
        except Refusal as refusal:
            refusals |= dict.fromkeys(keys, str(refusal))
    return made, refusals


class _Over:
    """A tree with some files changed."""

    def __init__(self, tree: Tree, files: Mapping[str, bytes]) -> None:
        self._tree, self._files = tree, dict(files)

    def read(self, path: str) -> bytes | None:
        return self._files[path] if path in self._files else self._tree.read(path)

    def paths(self, prefix: str = "") -> Iterable[str]:
        return self._tree.paths(prefix)


def _pairs(shelf: Shelf, bump: Bump, layout: Layout) -> Mapping[str, Mapping[str, tuple[str, str]]]:
    """file -> key -> (old, new), for the linked files of the keys that moved, as they were linked before."""
    found: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for key, pair in bump.keys.items():
        home = shelf.home(layout, key)
        assert home.entry.linked is not None
        for _, file in references(home, home.entry.linked):
            if file:
                found[file][key] = pair
    return found


def _cases(file: str, was: bytes, ours: bytes, now: bytes, pairs: Mapping[str, Mapping[str, tuple[str, str]]],
           refusals: Mapping[str, str], equal: Counter[str]) -> Iterator[Case]:
    first, third = spots(was), spots(now)
    second = third if ours == now else first if ours == was else spots(ours)
    for where, spot in first.items():
        mine, theirs = second[where], third.get(where)
        if theirs is not None and mine.value == theirs.value:
            equal["stayed" if spot.value == mine.value else "moved"] += 1
            equal["lines"] += spot.value != mine.value and mine.line == theirs.line
            continue
        keys = pairs.get(file, {})
        yield Case(file=file, where=where, before=spot.value, ours=mine.value, theirs=theirs.value if theirs else None,
                   role=spot.role, pairs=frozenset(keys.values()), refused=bool(keys.keys() & refusals.keys()))


def _is_master(file: str) -> bool:
    return file.endswith("-master.yaml")


def _images_only(was: bytes, now: bytes) -> bool:
    first, second = was.split(b"\n"), now.split(b"\n")
    return len(first) == len(second) and all(
        re.match(rb"  image: ", old) and re.match(rb"  image: ", new)
        for old, new in zip(first, second, strict=True) if old != new)


class _Nodes(yaml.CSafeLoader):
    """Nodes without their types, which are half of the work and say nothing of a site."""

    def resolve(self, kind: object, value: object, implicit: object) -> str:
        return ""


def spots(data: bytes) -> dict[Where, Spot]:
    """Every site of a file by its path, the document's number first."""
    lines = re.split(rb"\r\n|\r|\n", data)
    return {where: Spot(node.value, lines[node.start_mark.line], role)
            for number, root in enumerate(yaml.compose_all(data, Loader=_Nodes))
            for where, node in _scalars(root, (number,)) if (role := _role(where, node.value))}


def _scalars(root: yaml.Node, where: Where) -> Iterator[tuple[Where, yaml.ScalarNode]]:
    stack = [(where, root)]
    while stack:
        where, node = stack.pop()
        if isinstance(node, yaml.MappingNode):
            stack += [((*where, key.value), item) for key, item in node.value]
        elif isinstance(node, yaml.SequenceNode):
            stack += [((*where, at), item) for at, item in enumerate(node.value)]
        else:
            yield where, node


def _role(where: Where, value: str) -> str | None:
    tail = where[-2:]
    if len(where) == 3 and tail[1] == "image":
        return "image"
    if tail == ("model", "container"):
        return "container"
    if tail == ("container", "image"):
        return "provenance"
    if len(where) > 2 and where[-2] == "frameworks" and where[-1] in ENGINES:
        return "engine"
    return "setting" if isinstance(where[-1], int) and re.match(r"[A-Z_]*IMAGE=", value) else None


def recorded(folder: Path, name: str) -> list[Bump]:
    """The bumps of one archive of the replay, in the order recorded."""
    keys: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for line in (folder / f"{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        keys[row["commit"][:12]][row["key"]] = (row["old_image"], row["new_image"])
    files: dict[str, dict[str, dict[str, bytes]]] = defaultdict(lambda: {"before": {}, "after": {}})
    with tarfile.open(fileobj=io.BytesIO((folder / f"{name}.tar.xz").read_bytes())) as archive:
        for member in archive:
            stream = archive.extractfile(member)
            if stream is not None:
                commit, when, path = member.name.removeprefix("./").split("/", 2)
                files[commit][when][path.replace("__", "/")] = stream.read()
    return [Bump(commit=commit, keys=moved, before=Files(files[commit]["before"]), after=Files(files[commit]["after"]),
                 files=tuple(sorted(files[commit]["before"].keys() - {"perf-changelog.yaml"}))) for commit, moved in keys.items()]


class Files:
    """Files in memory as a tree."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> list[str]:
        return [path for path in sorted(self.files) if path.startswith(prefix)]
