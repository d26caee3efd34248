"""Trees in memory, the presets, and the excerpt of InferenceX that the stories are told on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bot.layout import Layout, resolve

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
SHARED = ROOT.parent / "shared" / "inferencex"


class MemoryTree:
    """Files of one revision, as given; it counts reads so that a test can see what was looked at."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files, self.reads = dict(files), []

    def read(self, path: str) -> bytes | None:
        self.reads.append(path)
        return self.files.get(path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        return [path for path in sorted(self.files) if path.startswith(prefix)]

    def after(self, files: Mapping[str, bytes]) -> MemoryTree:
        return MemoryTree({**self.files, **files})


def folder(root: Path) -> MemoryTree:
    return MemoryTree({str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()})


def preset(name: str) -> Layout:
    folder = ROOT / "bot" / "layout" / "presets"
    return resolve(f"preset: {name}\n", {path.stem: path.read_text() for path in folder.glob("*.yml")})


@pytest.fixture(scope="session")
def inferencex() -> Layout:
    return preset("inferencex")


@pytest.fixture(scope="session")
def own() -> Layout:
    return preset("own")


@pytest.fixture
def excerpt() -> MemoryTree:
    return folder(DATA / "inferencex")


@pytest.fixture(scope="session")
def snapshot() -> MemoryTree:
    """The whole repository as recorded; absent on most machines."""
    if not (SHARED / "snapshot").is_dir():
        pytest.skip("the recorded snapshot is not beside this repository")
    return folder(SHARED / "snapshot")


@pytest.fixture
def make_tree() -> type[MemoryTree]:
    return MemoryTree
