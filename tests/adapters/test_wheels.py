"""Wheels by name and version through pip: what it is asked, what is kept, and what its failures mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bot.adapters import wheels
from bot.adapters.wheels import Wheels
from bot.errors import BadInput, Missing, Unreachable
from tests.adapters.wheel_files import wheel

NONE = b"ERROR: Could not find a version that satisfies the requirement (from versions: none)\nERROR: No matching distribution found\n"


class Pip:
    """An index behind pip: package -> version -> the file's name. `fails`: it does not answer."""

    def __init__(self, packages: Mapping[str, Mapping[str, str]], fails: bytes = b"") -> None:
        self.packages, self.fails = packages, fails
        self.asked: list[Sequence[str]] = []
        self.env: Mapping[str, str] = {}

    def run(self, argv: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None, limit_s: float = 60.0,
            stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        self.asked.append(argv)
        self.env = env or {}
        if self.fails:
            return 1, b"", self.fails
        if "index" in argv:
            versions = self.packages.get(argv[-1])
            return (0, f"{argv[-1]} (x)\nAvailable versions: {', '.join(versions)}\n".encode(), b"") if versions else (1, b"", NONE)
        name, _, version = argv[-1].partition("==")
        file = self.packages.get(name, {}).get(version)
        if file is None or ("cp312" in file and "--platform" not in argv):
            return 1, b"", NONE
        wheel(Path(argv[argv.index("--dest") + 1]) / file, {"toy/__init__.py": ""}, name="toy", version=version)
        return 0, b"", b""


INDEX = {"toy": {"1.0": "toy-1.0-py3-none-any.whl", "2.0": "toy-2.0-cp312-cp312-manylinux_2_34_x86_64.whl"}}


class TestAWheel:
    def test_is_fetched_once_and_kept(self, tmp_path: Path) -> None:
        pip = Pip(INDEX)
        assert Wheels(pip, tmp_path, {}).wheel("toy", "1.0").read("toy/__init__.py") == b""
        assert Wheels(pip, tmp_path, {}).wheel("Toy", "1.0").paths("toy/") == ["toy/__init__.py"]
        assert len(pip.asked) == 1 and pip.asked[0][:4] == [sys.executable, "-I", "-m", "pip"]
        assert [file.name for file in (tmp_path / "wheels").iterdir()] == ["toy-1.0-py3-none-any.whl"]

    def test_for_another_python_is_taken_too(self, tmp_path: Path) -> None:
        assert Wheels(Pip(INDEX), tmp_path, {}).wheel("toy", "2.0").paths("toy/") == ["toy/__init__.py"]

    def test_is_kept_nowhere_beyond_the_process_without_a_folder(self) -> None:
        assert Wheels(Pip(INDEX), None, {}).wheel("toy", "1.0").read("toy/__init__.py") == b""

    def test_that_was_of_no_use_for_longest_makes_room(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(wheels, "MAX_BYTES", 1)
        made = Wheels(Pip(INDEX), tmp_path, {})
        made.wheel("toy", "1.0")
        made.wheel("toy", "2.0")
        assert [file.name for file in (tmp_path / "wheels").glob("*.whl")] == [INDEX["toy"]["2.0"]]

    def test_that_is_not_there_is_missing_and_an_index_that_is_silent_unreachable(self, tmp_path: Path) -> None:
        with pytest.raises(Missing, match=r"toy 3\.0: the index has no such wheel"):
            Wheels(Pip(INDEX), tmp_path, {}).wheel("toy", "3.0")
        silent = b"WARNING: Retrying after connection broken by NewConnectionError\n" + NONE
        for said in (silent, b"ERROR: HTTP error 503 while getting https://index.example/secret\n"):
            with pytest.raises(Unreachable) as caught:
                Wheels(Pip(INDEX, said), tmp_path, {}).wheel("toy", "3.0")
            assert "secret" not in str(caught.value)
        with pytest.raises(Missing, match="no pip"):
            Wheels(Pip(INDEX, b"/usr/bin/python: No module named pip"), tmp_path, {}).wheel("toy", "1.0")

    @pytest.mark.parametrize(("name", "version"), [("../x", "1"), ("--index-url", "1"), ("toy", "1 --pre"), ("toy", "-1"), ("", "1"),
                                                   ("toy[x]", "1"), ("toy @ https://x", "1")])
    def test_has_a_name_and_a_version_that_are_no_options(self, tmp_path: Path, name: str, version: str) -> None:
        pip = Pip(INDEX)
        with pytest.raises(BadInput):
            Wheels(pip, tmp_path, {}).wheel(name, version)
        assert pip.asked == []


class TestTheEnvironment:
    def test_of_pip_has_its_configuration_and_no_token_of_ours(self, tmp_path: Path) -> None:
        pip = Pip(INDEX)
        env = {"PIP_INDEX_URL": "i", "HTTPS_PROXY": "p", "SSL_CERT_FILE": "c", "HOME": "h", "BUMPBOT_TOKEN": "t", "GITHUB_TOKEN": "t",
               "PYTHONPATH": "x", "SOMEHOME": "x"}
        Wheels(pip, tmp_path, env).wheel("toy", "1.0")
        assert set(pip.env) == {"PIP_INDEX_URL", "HTTPS_PROXY", "SSL_CERT_FILE", "HOME"}


class TestTheVersions:
    def test_come_newest_first_and_each_once(self, tmp_path: Path) -> None:
        index = {"toy": dict.fromkeys(["1.2", "1.10", "2.0rc1", "1.10.post1", "2.0.dev3", "not-a-version"], "x")}
        assert Wheels(Pip(index), tmp_path, {}).versions("toy") == ["2.0rc1", "2.0.dev3", "1.10.post1", "1.10", "1.2"]

    def test_of_what_is_not_there_are_missing(self, tmp_path: Path) -> None:
        with pytest.raises(Missing):
            Wheels(Pip(INDEX), tmp_path, {}).versions("nothing")

    def test_are_asked_for_again_after_an_hour(self, tmp_path: Path) -> None:
        pip = Pip({"toy": {"1.0": "toy-1.0-py3-none-any.whl"}})
        wheels = Wheels(pip, tmp_path, {})
        first, asked = wheels.versions("toy"), len(pip.asked)
        assert Wheels(pip, tmp_path, {}).versions("toy") == first == ["1.0"] and len(pip.asked) == asked
        os.utime(tmp_path / "wheels" / "toy.versions", (0, 0))
        assert wheels.versions("toy") == first and len(pip.asked) == 2 * asked
