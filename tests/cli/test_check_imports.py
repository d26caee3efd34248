"""`check-imports` as somebody types it: wheels, folders, commits, and every way to name none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.adapters.wheel_files import linked, wheel
from tests.cli.shell import Done, bumpbot

ENGINE = {"engine/__init__.py": "", "engine/new.py": "run = 1\n", "engine/lazy.py": "def __getattr__(name):\n    return 1\n"}
CONSUMER = {"part/engine/__init__.py": "from engine.old import run\n", "part/engine/other.py":
            "try:\n    from engine.new import run, walk\nexcept ImportError:\n    pass\n"}
GOOD = {"part/engine/__init__.py": "from engine.new import run\nfrom engine.lazy import some\n"}


def asked(engine: object, consumer: object, *more: str, **said) -> Done:
    return bumpbot("check-imports", "--engine", f"engine={engine}", "--consumer", str(consumer), *more, **said)


def folder(place: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    return place


def commit(place: Path, files: dict[str, str]) -> str:
    """Commits the files into a repository there, and tells the commit."""
    folder(place, files)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for argv in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"], ["commit", "--quiet", "--message=all"]):
        subprocess.run([*git, *argv], cwd=place, check=True)
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=place, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    return wheel(tmp_path / "engine-2.0-py3-none-any.whl", ENGINE, name="engine", version="2.0")


class TestTheAnswer:
    def test_is_what_is_missing_with_the_keys_of_the_contract(self, engine: Path, tmp_path: Path) -> None:
        done = asked(engine, folder(tmp_path / "part", CONSUMER), "--format", "json")
        assert done.code == 1
        assert [{name: row[name] for name in row if name != "needs"} for row in done.json] == [
            {"module": "engine.old", "name": None, "file": "part/engine/__init__.py", "line": 1, "guarded": False, "lazy": False,
             "typing": False, "on_start_path": True},
            {"module": "engine.new", "name": "walk", "file": "part/engine/other.py", "line": 2, "guarded": True, "lazy": False,
             "typing": False, "on_start_path": False}]

    def test_of_a_consumer_that_finds_all_is_an_empty_list_and_no_failure(self, engine: Path, tmp_path: Path) -> None:
        done = asked(engine, folder(tmp_path / "part", GOOD), "--format", "json")
        assert (done.code, done.json) == (0, [])
        assert "nothing is missing" not in done.out

    def test_for_people_is_a_table_and_a_sentence(self, engine: Path, tmp_path: Path) -> None:
        part = folder(tmp_path / "part", CONSUMER)
        shown = asked(engine, part)
        assert "part/engine/__init__.py:1" in shown.out and "1 of them keep it from starting" in shown.err
        assert asked(engine, part, "--format", "markdown").out.startswith("| missing | name |")
        assert "none is known to be missing" in asked(engine, folder(tmp_path / "good", GOOD)).err  # what is lazy is unknown
        sure = {"part/engine/__init__.py": "from engine.new import run\n"}
        assert "nothing is missing" in asked(engine, folder(tmp_path / "sure", sure)).err

    def test_of_several_engines_is_one_list(self, engine: Path, tmp_path: Path) -> None:
        other = wheel(tmp_path / "other.whl", {"other/__init__.py": ""})
        part = folder(tmp_path / "part", {**CONSUMER, "part/other.py": "import other.gone\n"})
        done = bumpbot("check-imports", "--engine", f"engine={engine}", "--engine", f"other={other}", "--consumer", part,
                       "--format", "json")
        assert {row["module"] for row in done.json if row["on_start_path"]} == {"engine.old", "other.gone"}

    def test_where_something_on_the_start_path_cannot_be_read_is_unknown_and_a_failure(self, engine: Path, tmp_path: Path) -> None:
        done = asked(engine, folder(tmp_path / "part", {"part/engine/__init__.py": "def (\n"}), "--format", "json")
        assert (done.code, done.json) == (1, [])
        assert "part/engine/__init__.py could not be read" in done.err


class TestAPath:
    def test_may_be_a_folder_a_wheel_or_a_commit(self, tmp_path: Path) -> None:
        there = commit(tmp_path / "repo", {f"python/{path}": text for path, text in ENGINE.items()})
        part = commit(tmp_path / "part", {f"src/{path}": text for path, text in CONSUMER.items()})
        subprocess.run(["git", "clone", "--quiet", "--bare", "part", "bare.git"], cwd=tmp_path, check=True)
        folder(tmp_path / "part", {"src/part/engine/__init__.py": ""})  # what lies there now is none of the commit's
        providers = ("HEAD", there[:9], "main:python", f"{tmp_path}/repo@{there}:python", tmp_path / "repo", tmp_path / "repo/python")
        consumers = (f"{tmp_path}/part@{part}", f"{tmp_path}/part@main:src", f"{tmp_path}/bare.git@main") * 2
        for provider, consumer in zip(providers, consumers, strict=True):
            done = asked(provider, consumer, "--repo", str(tmp_path / "repo"), "--format", "json")
            assert [row["module"] for row in done.json] == ["engine.old", "engine.new"], (provider, consumer, done.err)

    @pytest.mark.parametrize(("name", "module"), [("tensorrt-llm", "tensorrt_llm"), ("TensorRT_LLM", "tensorrt_llm"),
                                                  ("sglang-kernel", "sgl_kernel"), ("sgl_kernel", "sgl_kernel"), ("my-engine", "my_engine")])
    def test_has_a_name_that_is_an_engines_a_packages_or_a_modules(self, tmp_path: Path, name: str, module: str) -> None:
        provider = wheel(tmp_path / "x.whl", {f"{module}/__init__.py": ""})
        part = folder(tmp_path / "part", {f"part/{module}.py": f"import {module}.gone\n"})
        done = bumpbot("check-imports", "--engine", f"{name}={provider}", "--consumer", part, "--format", "json")
        assert [row["module"] for row in done.json] == [f"{module}.gone"]

    def test_of_trtllm_is_found_under_the_name_that_consumers_give_it(self, tmp_path: Path) -> None:
        provider = folder(tmp_path / "site", {"tensorrt_llm/__init__.py": ""})
        part = folder(tmp_path / "part", {"dynamo/trtllm/__init__.py": "import tensorrt_llm.gone\n"})
        done = bumpbot("check-imports", "--engine", f"tensorrt_llm={provider}", "--consumer", part, "--format", "json")
        assert [row["on_start_path"] for row in done.json] == [True]


class TestWhatIsNamedWrongly:
    @pytest.mark.parametrize("word", ["engine", "engine=", "=x", "-x=y", "a b=c"])
    def test_an_engine_is_not_name_and_path(self, tmp_path: Path, word: str) -> None:
        done = bumpbot("check-imports", f"--engine={word}", "--consumer", tmp_path)
        assert done.code == 2 and "NAME=PATH" in done.line

    @pytest.mark.parametrize("path", ["nothing.whl", "no/such/folder", "HEAD", "--version", "a b", "x@y@z"])
    def test_a_path_is_nowhere(self, engine: Path, tmp_path: Path, path: str) -> None:
        done = bumpbot("--repo", tmp_path, "check-imports", "--engine", f"engine={engine}", f"--consumer={path}")
        assert done.code == 2 and path in done.line

    def test_a_commit_or_a_folder_of_it_is_not_there(self, engine: Path, tmp_path: Path) -> None:
        commit(tmp_path / "repo", CONSUMER)
        for path, word in ((f"{tmp_path}/repo@gone", "no commit gone"), (f"{tmp_path}/repo@main:gone", "no folder gone")):
            done = asked(engine, path)
            assert done.code == 2 and word in done.line
        bare = tmp_path / "repo" / ".git"
        assert "name a commit too" in asked(engine, bare).line

    def test_a_file_is_no_wheel_or_none_that_anybody_built(self, engine: Path, tmp_path: Path) -> None:
        for name, data in (("text.whl", b"hello"), ("empty.whl", b""), ("cut.whl", engine.read_bytes()[:200])):
            (tmp_path / name).write_bytes(data)
            done = asked(engine, tmp_path / name)
            assert done.code == 1 and "not a wheel" in done.line and name in done.line
        assert "link" in asked(engine, linked(tmp_path / "linked.whl")).line

    def test_an_engine_is_not_in_its_tree(self, engine: Path, tmp_path: Path) -> None:
        done = bumpbot("check-imports", "--engine", f"vllm={engine}", "--consumer", folder(tmp_path / "part", GOOD))
        assert done.code == 1 and "no module vllm in it: it has engine" in done.line

    def test_a_consumer_has_no_python(self, engine: Path, tmp_path: Path) -> None:
        done = asked(engine, folder(tmp_path / "part", {"README": "hello"}))
        assert done.code == 1 and "no Python module" in done.line
