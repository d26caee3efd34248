"""`make install` on a machine that lacks something says in one line what to install, and installs nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="make is absent")


def make(tmp_path: Path, python: str, *target: str) -> subprocess.CompletedProcess[str]:
    """make with another Python and an environment folder of its own; nothing in the tree is written."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    argv = ["make", "-C", str(ROOT), *target, f"PYTHON={python}", f"VENV={tmp_path / 'venv'}"]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)


def pretend(tmp_path: Path, code: str) -> str:
    """A python3 that runs `code` before the script it is given."""
    program = tmp_path / "python3"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}\nimport sys, runpy; del sys.argv[0]\n"
                       'sys.path[0] = ""; runpy.run_path(sys.argv[0], run_name="__main__")\' "$@"\n')
    program.chmod(0o755)
    return str(program)


class TestInstall:
    def test_without_venv_names_the_debian_package(self, tmp_path: Path) -> None:
        done = make(tmp_path, pretend(tmp_path, 'import sys; sys.modules["ensurepip"] = None'), "install")
        assert done.returncode != 0
        assert "apt-get install python3" in done.stderr and "-venv" in done.stderr
        assert "Traceback" not in done.stderr and not (tmp_path / "venv").exists()

    def test_on_an_old_python_says_which_one_is_needed(self, tmp_path: Path) -> None:
        done = make(tmp_path, pretend(tmp_path, "import sys; sys.version_info = (3, 9, 2)"), "install")
        assert done.returncode != 0
        assert "needs Python 3.11 or newer" in done.stderr and "is 3.9" in done.stderr
        assert "Traceback" not in done.stderr and not (tmp_path / "venv").exists()

    def test_alone_tells_what_can_be_made(self, tmp_path: Path) -> None:
        done = make(tmp_path, "python3")
        assert done.returncode == 0
        assert "make demo" in done.stdout and "make test" in done.stdout
