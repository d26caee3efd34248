"""Which names a package offers, by its text alone."""

from __future__ import annotations

import pytest

from tests.upstream.imports_world import PART, missing, told


def offered(module: str, *, name: str = "wanted", **files: str) -> bool:
    """Whether `from engine.part import wanted` finds it in a module of this text."""
    engine = {"engine/__init__.py": "", "engine/part.py": module}
    engine |= {f"engine/{path.replace('__', '/')}.py": text for path, text in files.items()}
    return missing(engine, f"from engine.part import {name}\n") == {}


class TestANameIsThere:
    @pytest.mark.parametrize("module", [
        "wanted = 1\n", "wanted: int = 1\n", "def wanted(): ...\n", "async def wanted(): ...\n", "class wanted: ...\n",
        "import wanted\n", "import wanted.deep\n", "import numpy as wanted\n", "from os import path as wanted\n",
        "if x():\n    wanted = 1\n", "try:\n    import numpy as wanted\nexcept ImportError:\n    pass\n",
        "for wanted in (): ...\n", "with f() as wanted: ...\n", "a, (wanted, *b) = f()\n", "if (wanted := f()): ...\n",
        "def setup():\n    global wanted\n    wanted = 1\n", "globals()['wanted'] = 1\n",
        "del wanted\nwanted = 1\n", "__all__ = ['other']\nwanted = 1\n",
        "match f():\n    case {'x': wanted}: ...\n",
    ])
    def test_however_it_is_bound(self, module: str) -> None:
        assert offered(module)

    def test_in_a_submodule_of_a_package_or_of_a_folder_without_init(self) -> None:
        for init in ({"engine/part/__init__.py": ""}, {}):
            engine = {"engine/__init__.py": "", "engine/part/wanted.py": "", **init}
            assert missing(engine, "from engine.part import wanted\nimport engine.part.wanted\n") == {}

    @pytest.mark.parametrize("name", ["__name__", "__file__", "__doc__", "__class__", "__annotations__"])
    def test_as_every_module_has_it(self, name: str) -> None:
        assert offered("", name=name)


class TestANameIsMissing:
    @pytest.mark.parametrize("module", [
        "", "other = 1\n", "wanted: int\n", "def f():\n    wanted = 1\n", "wanted = 1\ndel wanted\n",
        "class C:\n    wanted = 1\n", "if TYPE_CHECKING:\n    from x import wanted\n", "if __name__ == '__main__':\n    wanted = 1\n",
        "[wanted for wanted in x]\n", "import numpy.wanted\n", "def f():\n    from x import wanted\n", "__all__ = ['wanted']\n",
        "# wanted\n'wanted'\n",
    ])
    def test_where_importing_binds_it_not(self, module: str) -> None:
        assert not offered(module)


class TestWhatIsHandedOn:
    def test_is_followed_through_a_star(self) -> None:
        assert offered("from engine.inner import *\n", inner="wanted = 1\n")
        assert offered("from .inner import *\n", inner="from engine.deep import *\n", deep="wanted = 1\n")
        assert not offered("from engine.inner import *\n", inner="other = 1\n")

    def test_is_what_all_says(self) -> None:
        assert not offered("from .inner import *\n", inner="__all__ = ['other']\nother = wanted = 1\n")
        assert offered("from .inner import *\n", name="_wanted", inner="__all__ = ['_wanted']\n_wanted = 1\n")
        assert not offered("from .inner import *\n", name="_wanted", inner="_wanted = 1\n")
        assert offered("from .inner import *\n", inner="__all__ = ['a']\n__all__ += ['wanted']\na = wanted = 1\n")
        assert offered("from .inner import *\n", inner="import x\n__all__ = ['a'] + x.__all__\nfrom x import wanted\n")

    def test_may_be_anything_that_another_package_has(self) -> None:
        assert offered("from torch import *\n")

    def test_goes_round_in_a_circle_once(self) -> None:
        assert not offered("from .inner import *\n", inner="from .part import *\n")

    def test_under_a_guard_is_there_only_where_its_source_is(self) -> None:
        guarded = "try:\n    from .inner import wanted\nexcept ImportError:\n    pass\n"
        assert offered(guarded, inner="wanted = 1\n")
        assert not offered(guarded, inner="other = 1\n")
        assert not offered(guarded)
        assert offered(guarded.replace("pass", "wanted = None"))


class TestALazyModule:
    @pytest.mark.parametrize(("body", "has"), [
        ("    if name == 'wanted':\n        return 1\n    raise AttributeError(name)\n", True),
        ("    if name == 'other':\n        return 1\n    raise AttributeError(name)\n", False),
        ("    if name in TABLE:\n        return TABLE[name]\n    raise AttributeError(name)\n", True),
        ("    if name in OTHERS:\n        return 1\n    raise AttributeError(name)\n", False),
        ("    if name not in OTHERS:\n        raise AttributeError(name)\n    return 1\n", False),
        ("    try:\n        at = OTHERS[name]\n    except KeyError:\n        raise AttributeError(name) from None\n    return at\n", False),
        ("    at = TABLE.get(name)\n    if at is None:\n        raise AttributeError(name)\n    return at\n", True),
        ("    at = OTHERS.get(name)\n    if not at:\n        raise AttributeError(name)\n    return at\n", False),
        ("    if name in ('a', 'b') or name in OTHERS:\n        return 1\n    raise AttributeError(name)\n", False),
        ("    if name.startswith('_'):\n        raise AttributeError(name)\n    return other(name)\n", True),
        ("    return getattr(somewhere, name)\n", True),
        ("    if name in make():\n        return 1\n    raise AttributeError(name)\n", True),
    ])
    def test_answers_for_the_names_of_its_tables_or_for_any(self, body: str, has: bool) -> None:
        tables = "TABLE = {'wanted': 1, **{'x': 2}}\nOTHERS = {'other': 1}\n"
        assert offered(f"{tables}def __getattr__(name):\n{body}") is has

    def test_whose_table_grows_may_answer_for_any(self) -> None:
        body = "def __getattr__(name):\n    if name in TABLE:\n        return 1\n    raise AttributeError(name)\n"
        assert not offered(f"TABLE = {{'other': 1}}\n{body}")
        assert offered(f"TABLE = {{'other': 1}}\nTABLE.update(more())\n{body}")
        assert offered(f"TABLE = {{'other': 1}}\nTABLE[f()] = 1\n{body}")


class TestWhatOnlyRunningWouldShow:
    @pytest.mark.parametrize("module", [
        "globals().update(make())\n", "globals().update(**make())\n", "for n in x:\n    globals()[n] = 1\n", "import sys\nsys.modules[__name__] = Lazy()\n",
        "import sys\nsetattr(sys.modules[__name__], n, 1)\n", "exec(code)\n", "def register():\n    globals()[n] = 1\nregister()\n",
        "import sys\nthis = sys.modules[__name__]\nsetattr(this, n, 1)\n",
    ])
    def test_is_unknown_and_told_as_that(self, module: str) -> None:
        done = told({"engine/__init__.py": "", "engine/part.py": module},
                    {**PART, "part/engine/main.py": "from engine.part import wanted\n"})
        assert (done.missing, done.unknown, done.unread_start) == ((), ("engine.part.wanted",), ())

    @pytest.mark.parametrize("end", ["so", "cpython-312-x86_64-linux-gnu.so", "abi3.so", "pyd", "pyi"])
    def test_is_a_compiled_modules_name(self, end: str) -> None:
        done = told({"engine/__init__.py": "", f"engine/part.{end}": b"\0"},
                    {**PART, "part/engine/main.py": "import engine.part\nfrom engine.part import wanted\n"})
        assert (done.missing, done.unknown) == ((), ("engine.part.wanted",))

    def test_is_a_module_that_a_package_puts_in_place(self) -> None:
        engine = {"engine/__init__.py": "import sys\nsys.modules['engine.old'] = make()\n"}
        assert missing(engine, "from engine.old import x\nimport engine.other\n").keys() == {"engine.other"}
        assert missing({"engine/__init__.py": "__path__ = extend(__path__)\n"}, "import engine.other\n") == {}

    def test_is_a_file_that_cannot_be_parsed(self) -> None:
        done = told({"engine/__init__.py": "", "engine/part.py": "def ("},
                    {**PART, "part/engine/main.py": "from engine.part import wanted\n"})
        assert (done.missing, done.unread_start) == ((), ("engine/part.py",))
