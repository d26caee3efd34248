"""Which missing imports keep a consumer from starting: guards, and what is executed at all."""

from __future__ import annotations

import pytest

from tests.upstream.imports_world import PART, flags, missing, told

ENGINE = {"engine/__init__.py": "", "engine/new.py": "def run(): ...\n", "engine/both.py": "run = 1\n"}
START = {"on_start_path"}


def row(main: str, **more: str):
    """The one row about `engine.gone`."""
    found = missing(ENGINE, main, **more)
    assert set(found) == {"engine.gone"}, found
    return found["engine.gone"]


class TestAnImportThatIsNotGuarded:
    @pytest.mark.parametrize("main", [
        "import engine.gone\n",
        "from engine.gone import run\n",
        "class Main:\n    from engine.gone import run\n",
        "with open('x') as file:\n    import engine.gone\n",
        "if not False:\n    import engine.gone\n",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import engine.gone\n",
        "try:\n    pass\nfinally:\n    import engine.gone\n",
        "try:\n    import engine.gone\nexcept ImportError as error:\n    raise RuntimeError('install engine') from error\n",
        "try:\n    import engine.gone\nexcept ImportError:\n    print('no engine')\n    sys.exit(1)\n",
        "try:\n    import engine.gone\nexcept OSError:\n    pass\n",
        "try:\n    try:\n        import engine.gone\n    except ImportError:\n        raise\nexcept KeyError:\n    pass\n",
        "import importlib\nengine = importlib.import_module('engine.gone')\n",
        "import sys\nif sys.platform.startswith('x'):\n    pass\nimport engine.gone\n",
        "import sys\nif sys.platform == 'linux':\n    import engine.gone\n",
        "import sys\nif sys.version_info >= (3, 8):\n    import engine.gone\n",
        "import sys\nPY3 = sys.version_info[0] >= 3\nif PY3:\n    import engine.gone\n",
        "import sys\nif sys.version_info.major == 2 or sys.version_info[:2] < (3, 6):\n    pass\nelse:\n    import engine.gone\n",
        "for each in [1]:\n    import engine.gone\n",
        "for each in x:\n    pass\nelse:\n    import engine.gone\n",
        "while 0:\n    pass\nelse:\n    import engine.gone\n",
        "match 1:\n    case 1:\n        import engine.gone\n",
        "match x:\n    case _:\n        import engine.gone\n",
        "try:\n    try:\n        import engine.gone\n    except ImportError:\n        raise RuntimeError\nexcept ImportError:\n    pass\n",
        "try:\n    try:\n        import engine.gone\n    except ImportError:\n        sys.exit(1)\nexcept Exception:\n    pass\n",
        "try:\n    import engine.gone\nexcept ImportError:\n    assert False, 'install engine'\n",
        "def leave(why):\n    print(why)\n    sys.exit(1)\ntry:\n    import engine.gone\nexcept ImportError:\n    leave('x')\n",
        "@contextmanager\ndef timed():\n    try:\n        yield\n    finally:\n        stop()\nwith timed():\n    import engine.gone\n",
    ])
    def test_stops(self, main: str) -> None:
        assert row(main).stops and flags(row(main)) == START

    def test_is_told_with_file_and_line_of_the_statement(self) -> None:
        found = row("import os\n\nfrom engine.gone import (\n    run,\n)\n")
        assert (found.module, found.name, found.file, found.line) == ("engine.gone", None, "part/engine/main.py", 3)

    def test_stops_also_where_a_name_alone_is_gone_and_only_missing_modules_are_caught(self) -> None:
        main = "try:\n    from engine.both import gone\nexcept ModuleNotFoundError:\n    gone = None\n"
        assert missing(ENGINE, main)["engine.both.gone"].stops
        assert not missing(ENGINE, main.replace("ModuleNotFoundError", "ImportError"))["engine.both.gone"].stops


class TestAGuardedImport:
    @pytest.mark.parametrize("main", [
        "try:\n    import engine.gone\nexcept ImportError:\n    gone = None\n",
        "try:\n    import engine.gone\nexcept ModuleNotFoundError:\n    gone = None\n",
        "try:\n    import engine.gone\nexcept (ImportError, OSError):\n    gone = None\n",
        "try:\n    import engine.gone\nexcept Exception:\n    gone = None\n",
        "try:\n    import engine.gone\nexcept:\n    gone = None\n",
        "try:\n    import engine.gone\nexcept ImportError as error:\n    if error.name != 'engine.gone':\n        raise\n",
        "try:\n    import engine.gone\nexcept SOME_ERRORS:\n    gone = None\n",
        "import contextlib\nwith contextlib.suppress(ImportError):\n    import engine.gone\n",
        "from contextlib import suppress\nwith suppress(ModuleNotFoundError):\n    from engine.gone import run\n",
        "with try_import() as found:\n    import engine.gone\n",
        "import sys\nif sys.version_info >= (3, 12):\n    import engine.gone\n",
        "import engine\nif Version(engine.__version__) >= Version('9'):\n    import engine.gone\n",
        "if is_npu():\n    import engine.gone\n",
        "import os\nif os.environ.get('X'):\n    import engine.gone\n",
        "from contextlib import suppress as quiet\nwith quiet(ImportError):\n    import engine.gone\n",
        "@contextlib.contextmanager\ndef maybe():\n    try:\n        yield\n    except ImportError:\n        pass\n"
        "with maybe():\n    import engine.gone\n",
        "class Maybe:\n    def __exit__(self, *why):\n        return True\nwith Maybe():\n    import engine.gone\n",
        "with contextlib.ExitStack() as stack:\n    stack.enter_context(contextlib.suppress(ImportError))\n    import engine.gone\n",
        "for each in x:\n    import engine.gone\n", "match x:\n    case 1:\n        import engine.gone\n",
        "for each in x:\n    if each:\n        break\nelse:\n    import engine.gone\n",
        "try:\n    try:\n        import engine.gone\n    except ImportError:\n        raise RuntimeError\nexcept Exception:\n    pass\n",
        "try:\n    try:\n        import engine.gone\n    except ImportError as error:\n        raise Ours from error\n"
        "except ImportError:\n    pass\n",
    ])
    def test_is_told_and_does_not_stop(self, main: str) -> None:
        assert flags(row(main)) == {"guarded", "on_start_path"}

    def test_guards_all_that_its_module_imports(self) -> None:
        main = "try:\n    from part import optional\nexcept ImportError:\n    optional = None\n"
        assert flags(row(main, part__optional="import part.deeper\n", part__deeper="import engine.gone\n")) \
            == {"guarded", "on_start_path"}

    def test_guards_nothing_that_is_imported_in_another_way_too(self) -> None:
        main = "try:\n    from part import optional\nexcept ImportError:\n    optional = None\nimport part.deeper\n"
        assert row(main, part__optional="import part.deeper\n", part__deeper="import engine.gone\n").stops


class TestWhatIsNotExecuted:
    @pytest.mark.parametrize(("main", "marks"), [
        ("def run():\n    import engine.gone\n", {"lazy"}),
        ("class Main:\n    async def run(self):\n        from engine.gone import run\n", {"lazy"}),
        ("def run():\n    try:\n        import engine.gone\n    except ImportError:\n        pass\n", {"lazy", "guarded"}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import engine.gone\n", {"typing"}),
        ("import typing\nif typing.TYPE_CHECKING:\n    import engine.gone\n", {"typing"}),
        ("from typing import TYPE_CHECKING as TC\nif TC:\n    import engine.gone\n", {"typing"}),
        ("import typing as t\nif t.TYPE_CHECKING and True:\n    import engine.gone\n", {"typing"}),
        ("if __name__ == '__main__':\n    import engine.gone\n", set()),
    ])
    def test_is_told_apart_and_does_not_stop(self, main: str, marks: set[str]) -> None:
        assert flags(row(main)) == marks

    def test_the_main_of_the_start_is(self) -> None:
        files = {**PART, "part/engine/__main__.py": "if __name__ == '__main__':\n    import engine.gone\n"}
        assert [found.stops for found in told(ENGINE, files).missing] == [True]

    def test_is_not_even_told_where_nothing_ever_executes_it(self) -> None:
        assert missing(ENGINE, "import sys\nif sys.platform == 'win32':\n    import engine.gone\n") == {}
        assert missing(ENGINE, "from importlib.util import find_spec\nif find_spec('engine.gone'):\n    import engine.gone\n") == {}


class TestAFallback:
    NEW_FIRST = "try:\n    from engine.new import run\nexcept ImportError:\n    from engine.gone import run\n"

    def test_that_is_not_come_to_is_not_missing(self) -> None:
        assert missing(ENGINE, self.NEW_FIRST) == {}

    def test_answers_for_what_is_gone(self) -> None:
        found = row("try:\n    from engine.gone import run\nexcept ImportError:\n    from engine.new import run\n")
        assert flags(found) == {"guarded", "on_start_path"}

    def test_that_is_come_to_and_fails_too_stops(self) -> None:
        found = missing(ENGINE, "try:\n    import engine.gone\nexcept ImportError:\n    import engine.older\n")
        assert (found["engine.gone"].stops, found["engine.older"].stops) == (False, True)

    def test_of_a_name_counts_as_one_of_a_module(self) -> None:
        found = missing(ENGINE, "try:\n    from engine.both import gone\nexcept ImportError:\n    import engine.older\n")
        assert found["engine.older"].stops

    def test_for_want_of_something_else_is_not_sure(self) -> None:
        found = row("try:\n    import flashinfer\nexcept ImportError:\n    import engine.gone\n")
        assert flags(found) == {"guarded", "on_start_path"}

    def test_inside_a_function_is_judged_alike(self) -> None:
        lazily = "def load():\n" + "".join(f"    {line}\n" for line in self.NEW_FIRST.splitlines())
        assert missing(ENGINE, lazily) == {}

    def test_else_runs_only_where_the_body_did(self) -> None:
        main = "try:\n    import engine.{}\nexcept ImportError:\n    pass\nelse:\n    import engine.gone2\n"
        assert "engine.gone2" not in missing(ENGINE, main.format("gone"))
        assert missing(ENGINE, main.format("new"))["engine.gone2"].stops


class TestAnOption:
    def test_under_which_an_import_runs_is_told(self) -> None:
        main = ("def parse(config):\n    if config.processor == 'engine':\n        try:\n            import engine.gone\n"
                "        except ModuleNotFoundError:\n            sys.exit(1)\n")
        found = row(main)
        assert flags(found) == {"lazy"} and found.needs == ("config.processor=engine",)


class TestTwoWays:
    """One of the sides of a condition runs, whatever it says."""

    BOTH = "if {}:\n    import engine.gone\nelse:\n    import engine.older\n"

    @pytest.mark.parametrize("test", ["os.environ.get('X')", "HAVE", "Version(v) > Version('1')", "is_npu()"])
    def test_that_both_fail_guard_neither(self, test: str) -> None:
        assert all(found.stops for found in missing(ENGINE, self.BOTH.format(test)).values())

    def test_of_which_one_works_guard_the_other(self) -> None:
        for there in ("pass", "import engine.new", "import numpy", "try:\n        import engine.older\n    except ImportError:\n        pass"):
            found = missing(ENGINE, self.BOTH.format("HAVE").replace("import engine.older", there))
            assert not any(row.stops for row in found.values())

    def test_without_an_else_guard(self) -> None:
        found = missing(ENGINE, "if HAVE:\n    import engine.gone\nelif X:\n    import engine.older\n")
        assert not any(row.stops for row in found.values())

    def test_or_more_are_judged_alike(self) -> None:
        main = "if A:\n    import engine.gone\nelif B:\n    if C:\n        import engine.c\n    else:\n        import engine.d\n" \
               "else:\n    import engine.e\n"
        assert all(found.stops for found in missing(ENGINE, main).values())
        found = missing(ENGINE, main.replace("engine.d", "engine.new"))
        assert len(found) == 3 and not any(row.stops for row in found.values())

    def test_of_a_match_are_judged_alike(self) -> None:
        main = "match x:\n    case 1:\n        import engine.gone\n    case _:\n        import engine.{}\n"
        assert [missing(ENGINE, main.format(name))["engine.gone"].stops for name in ("older", "new")] == [True, False]

    def test_that_fail_guard_nothing_around_them(self) -> None:
        main = "try:\n" + "".join(f"    {line}\n" for line in self.BOTH.format("HAVE").splitlines()) + "except ImportError:\n    pass\n"
        assert all(found.guarded for found in missing(ENGINE, main).values())

    def test_may_be_many(self) -> None:
        chain = "if a == 0:\n    pass\n" + "".join(f"elif a == {n}:\n    pass\n" for n in range(1, 900)) + "else:\n    import engine.{}\n"
        assert flags(missing(ENGINE, chain.format("gone"))["engine.gone"]) == {"guarded", "on_start_path"}
        assert row(chain.format("new") + "import engine.gone\n").stops
        many = {**ENGINE, "engine/many.py": chain.format("new") + "run = 1\n"}
        assert set(missing(many, "from engine.many import run, gone\n")) == {"engine.many.gone"}
