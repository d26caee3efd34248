"""Where a consumer starts, where the modules of either lie, and whom an import asks."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.upstream.engines import Engine
from tests.upstream.imports_world import ENGINE, PART, missing, told

THERE = {"engine/__init__.py": ""}
GONE = "import engine.gone\n"
META = {"part-1.dist-info/METADATA": "Name: part\n", "engine-2.dist-info/METADATA": "Name: engine\n"}


def stopping(consumer: dict[str, str], engine: dict[str, str] | None = None, **said) -> list[str]:
    """Files with an import that keeps the consumer from starting."""
    return [row.file for row in told(engine or THERE, consumer, **said).missing if row.stops]


class TestTheStart:
    def test_is_the_package_for_the_engine_its_main_and_what_they_import(self) -> None:
        files = {"part/engine/__init__.py": GONE, "part/engine/__main__.py": "from . import args\n" + GONE, "part/engine/args.py": GONE,
                 "part/engine/other.py": GONE, "part/other/__init__.py": GONE}
        assert stopping(files) == ["part/engine/__init__.py", "part/engine/__main__.py", "part/engine/args.py"]
        assert {row.file for row in told(THERE, files).missing if not row.stops} == {"part/engine/other.py", "part/other/__init__.py"}

    def test_executes_each_package_above_a_module(self) -> None:
        files = {**PART, "part/engine/main.py": "import part.a.b\n", "part/__init__.py": GONE, "part/a/__init__.py": GONE,
                 "part/a/b.py": GONE}
        assert stopping(files) == ["part/__init__.py", "part/a/__init__.py", "part/a/b.py"]

    @pytest.mark.parametrize("line", ["from part.engine import sub", "from . import sub", "import part.engine.sub",
                                      "from .sub import x", "from part.engine.sub import *", "from part.engine import *"])
    def test_executes_a_submodule_however_it_is_asked_for(self, line: str) -> None:
        files = {**PART, "part/engine/main.py": line, "part/engine/sub.py": GONE, "part/engine/__init__.py": "__all__ = ['sub']\n"}
        assert stopping(files) == ["part/engine/sub.py"]

    def test_executes_no_submodule_of_which_the_package_has_the_name(self) -> None:
        files = {**PART, "part/engine/__init__.py": "sub = 1\n", "part/engine/main.py": "from part.engine import sub\n",
                 "part/engine/sub.py": GONE}
        assert stopping(files) == []

    def test_may_be_a_module_and_may_be_called_otherwise(self) -> None:
        assert stopping({"part/eng.py": GONE}) == ["part/eng.py"]
        assert stopping({"part/deeper/eng/__init__.py": GONE, "part/__init__.py": ""}) == ["part/deeper/eng/__init__.py"]

    def test_of_who_has_no_package_for_the_engine_is_its_own_and_its_scripts(self) -> None:
        files = {**META, "plugin/__init__.py": GONE, "plugin/run.py": GONE, "plugin/other.py": GONE,
                 "part-1.dist-info/entry_points.txt": "[console_scripts]\nrun = plugin.run:main\n[pytest11]\nx = plugin.other\n"}
        said: list[str] = []
        assert stopping(files, say=said.append) == ["plugin/__init__.py", "plugin/run.py"]
        assert len(said) == 1 and "no package for engine" in said[0]

    def test_of_a_known_engine_is_what_its_command_runs_and_the_server_that_it_calls(self) -> None:
        known = {"engine": ENGINE, "other": Engine(repositories=(), module="serving", package="serving", servers=("serving.http",),
                                                   commands=("python3 -m serving.launch", "serving serve"))}
        files = {**META, "serving/__init__.py": "", "serving/launch.py": f"if __name__ == '__main__':\n    {GONE}",
                 "serving/http.py": GONE, "serving/idle.py": GONE}
        assert stopping(files, known=known) == ["serving/http.py", "serving/launch.py"]

    def test_may_be_told_to_go_further(self) -> None:
        files = {**PART, "part/engine/main.py": "", "part/front/engine_processor.py": GONE, "part/front/__init__.py": ""}
        assert stopping(files) == []
        assert stopping(files, extra=["part.front.engine_processor"]) == ["part/front/engine_processor.py"]

    def test_that_cannot_be_parsed_is_unknown_and_never_nothing(self) -> None:
        done = told(THERE, {**PART, "part/engine/main.py": "def (", "part/engine/other.py": "import engine\ndef ("})
        assert (done.unread_start, done.unread) == (("part/engine/main.py",), ("part/engine/main.py", "part/engine/other.py"))


class TestAnImport:
    @pytest.mark.parametrize("line", ["import engineering", "from engine_x import y", "import part.engine", "from .engine import x",
                                      "from ..engine import main", "engine.gone()", "x = engine.srt.gone"])
    def test_of_something_else_is_none_of_the_engines(self, line: str) -> None:
        assert missing(THERE, f"{line}\n") == {}

    def test_asks_for_each_name(self) -> None:
        found = missing({"engine/__init__.py": "a = 1\n"}, "from engine import a, b, c as d\nfrom engine import *\n")
        assert set(found) == {"engine.b", "engine.c"}

    def test_of_a_missing_module_is_one_row(self) -> None:
        done = told(THERE, {**PART, "part/engine/main.py": "from engine.gone import a, b\n"})
        assert [(row.module, row.name) for row in done.missing] == [("engine.gone", None)]

    def test_below_what_is_no_package_is_missing(self) -> None:
        assert set(missing({"engine/__init__.py": "", "engine/flat.py": "x = 1\n"}, "import engine.flat.deep\n")) == {"engine.flat.deep"}

    def test_of_what_the_build_makes_is_missing_only_where_it_is_built(self) -> None:
        line = "from engine._version import version\nfrom engine.rpc_pb2 import X\nimport engine._C\nimport engine.gone\n"
        checkout = {"engine/__init__.py": "", "setup.py": 'ext = CMakeExtension(name="engine._C")\n'}
        assert set(missing(checkout, line)) == {"engine.gone"}
        assert set(missing({**checkout, **META}, line)) == {"engine._version", "engine.rpc_pb2", "engine._C", "engine.gone"}

    def test_of_a_stub_alone_is_missing_where_it_is_built(self) -> None:
        engine = {"engine/__init__.py": "", "engine/made.pyi": "x: int\n"}
        assert missing(engine, "import engine.made\n") == {}
        assert set(missing({**engine, **META}, "import engine.made\n")) == {"engine.made"}

    def test_of_a_part_that_another_package_may_bring_is_not_missing(self) -> None:
        assert missing({"engine/here/__init__.py": ""}, "import engine.elsewhere\nimport engine.here.gone\n").keys() == {"engine.here.gone"}


class TestWhereModulesLie:
    @pytest.mark.parametrize("place", ["", "python/", "src/", "lib/python3.12/site-packages/", "engine-2.data/purelib/"])
    def test_is_found_by_what_is_there(self, place: str) -> None:
        engine = {f"{place}engine/__init__.py": "", f"{place}engine/here.py": ""}
        assert set(missing(engine, "import engine.here\nimport engine.gone\n")) == {"engine.gone"}

    def test_is_where_the_whole_package_is_and_not_where_its_name_stands(self) -> None:
        engine = {"python/engine/__init__.py": "", "python/engine/a.py": "", "python/engine/b.py": "", "tests/engine/__init__.py": "",
                  "tests/engine/gone.py": "", "examples/engine/run.py": "", "tools/engine.py": ""}
        assert set(missing(engine, "import engine.a\nimport engine.gone\n")) == {"engine.gone"}

    def test_of_a_namespace_is_each_folder(self) -> None:
        engine = {"one/engine/a/__init__.py": "", "two/engine/b/__init__.py": ""}
        assert set(missing(engine, "import engine.a\nimport engine.b\nimport engine.b.gone\n")) == {"engine.b.gone"}

    @pytest.mark.parametrize("place", ["", "components/src/", "python/"])
    def test_of_a_consumer_may_be_below_a_folder(self, place: str) -> None:
        files = {f"{place}{path}": text for path, text in PART.items()}
        noise = {"examples/engine/__init__.py": GONE, "tests/engine/test_it.py": GONE, "docs/engine/conf.py": GONE} if place else {}
        assert stopping({**files, f"{place}part/engine/main.py": GONE, **noise}) == [f"{place}part/engine/main.py"]

    def test_of_a_known_consumer_is_known(self) -> None:
        known = {"engine": ENGINE, "part": Engine(repositories=(), module="part", package="part", folder="deep/src")}
        files = {"deep/src/part/engine/__init__.py": GONE, "other/engine/__init__.py": GONE}
        assert stopping(files, known=known) == ["deep/src/part/engine/__init__.py"]

    def test_leaves_out_the_engine_beside_the_consumer(self) -> None:
        files = {**META, **PART, "part/engine/main.py": "", "engine/__init__.py": GONE, "engine/engine.py": GONE}
        assert told(files, files).missing == ()

    def test_what_is_compiled_once_hides_what_lies_beside_it(self) -> None:
        done = told({"engine/__init__.py": "", "engine/a.py": "", "engine/a.abi3.so": b"", "engine/__pycache__/gone.cpython-312.pyc": b""},
                    {**PART, "part/engine/main.py": "from engine.a import x\nimport engine.gone\n"})
        assert (done.unknown, [row.module for row in done.missing]) == (("engine.a.x",), ["engine.gone"])


class TestATreeThatDoesNotHoldIt:
    def test_is_said_with_what_it_holds(self) -> None:
        with pytest.raises(BadInput, match="no module engine in it: it has other"):
            told({"other/__init__.py": ""}, PART)
        with pytest.raises(BadInput, match="no Python module at all"):
            told({"README": ""}, PART)
        with pytest.raises(BadInput, match="part 1: no Python module"):
            told(THERE, {"README": ""})
