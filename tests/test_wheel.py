"""A guest needs no checkout: the wheel carries every file that the bot reads, and runs from anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="hatchling, which requirements.lock holds, builds the wheel")

ROOT = Path(__file__).parents[1]
# folder in the tree -> folder in the wheel
DATA = {
    "templates": "bot/templates",
    "bot/knowledge": "bot/knowledge",
    "bot/layout/presets": "bot/layout/presets",
    "bot/rehearse/scenarios": "bot/rehearse/scenarios",
}
NEVER = ("tests/", ".ci/", "recipes/", ".github/")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built without a network."""
    into = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(into)],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return next(into.glob("*.whl"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files in a folder far from the tree."""
    into = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(into)
    return into


def run(unpacked: Path, cwd: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Python with the unpacked wheel first on its path, in an empty folder with an empty home."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(unpacked), "HOME": str(cwd), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *argv], cwd=cwd, env=env, capture_output=True, text=True, timeout=120)


class TestTheWheel:
    @pytest.mark.parametrize("folder", DATA)
    def test_carries_every_data_file(self, wheel: Path, folder: str) -> None:
        here = {
            f"{DATA[folder]}/{path.relative_to(ROOT / folder).as_posix()}"
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert here, f"{folder} is empty"
        assert here - set(zipfile.ZipFile(wheel).namelist()) == set()

    def test_carries_every_module_and_nothing_of_the_tests(self, wheel: Path) -> None:
        names = zipfile.ZipFile(wheel).namelist()
        here = {path.relative_to(ROOT).as_posix() for path in (ROOT / "bot").rglob("*.py")}
        assert here - set(names) == set()
        assert [name for name in names if name.startswith(NEVER)] == []

    def test_carries_licence_and_notice(self, wheel: Path) -> None:
        names = zipfile.ZipFile(wheel).namelist()
        assert {name.rpartition("/")[2] for name in names if "/licenses/" in name} == {"LICENSE", "NOTICE"}

    def test_runs_far_from_the_tree(self, unpacked: Path, tmp_path: Path) -> None:
        where = run(unpacked, tmp_path, "-c", "import bot; print(bot.__file__)")
        assert Path(where.stdout.strip()).is_relative_to(unpacked), where.stderr
        shown = run(unpacked, tmp_path, "-m", "bot", "rehearse", "--help")
        assert shown.returncode == 0, shown.stderr
        assert "--as-it-happened" in shown.stdout
