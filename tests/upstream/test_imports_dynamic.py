"""Names bound by word, and `__getattr__` in whatever form: what can be bounded is, the rest is unknown and never missing."""

from __future__ import annotations

import pytest

from tests.upstream.imports_world import PART, told


def answer(module: str, name: str = "wanted", **files: str) -> bool | None:
    """Whether `from engine.part import name` finds it; None: only running it would tell."""
    engine = {"engine/__init__.py": "", "engine/part.py": module, **{f"engine/{path}.py": text for path, text in files.items()}}
    done = told(engine, {**PART, "part/engine/main.py": f"from engine.part import {name}\n"})
    return None if done.unknown else not done.missing


class TestWhatOnlyBindsAnew:
    @pytest.mark.parametrize("text", [
        "for n in NAMES:\n    if n in globals():\n        globals()[n] = wrap(globals()[n])\n",
        "for n in make():\n    globals()[n] = wrap(globals()[n], n)\n",
        "for n in make():\n    if n in globals() and x:\n        globals()[n] = 1\n",
        "for n in list(globals()):\n    globals()[n] = 1\n",
        "for n, v in list(globals().items()):\n    globals()[n] = wrap(v)\n",
        "for n in dir():\n    setattr(sys.modules[__name__], n, 1)\n",
        "for n in make():\n    if hasattr(sys.modules[__name__], n):\n        setattr(sys.modules[__name__], n, 1)\n",
        "def wrap_all(n):\n    globals()[n] = wrap(globals()[n])\n",
        "globals().update({n: wrap(v) for n, v in globals().items()})\n",
    ])
    def test_makes_no_other_name_count_as_there(self, text: str) -> None:
        assert answer(f"import sys\nhere = 1\n{text}") is False
        assert answer(f"import sys\nhere = 1\n{text}", "here") is True


class TestWhatAListBounds:
    @pytest.mark.parametrize("text", [
        "for n in LIST:\n    globals()[n] = 1\n", "for n in ('here', 'x'):\n    globals()[n] = make(n)\n",
        "for n, v in {'here': 1}.items():\n    globals()[n] = v\n", "globals().update({'here': 1})\n", "globals().update(here=1)\n",
        "globals().update({n: 1 for n in LIST})\n", "for n in sorted(LIST):\n    setattr(sys.modules[__name__], n, 1)\n",
    ])
    def test_is_there_and_nothing_else(self, text: str) -> None:
        module = f"import sys\nLIST = ['here', 'x']\n{text}"
        assert (answer(module, "here"), answer(module)) == (True, False)

    @pytest.mark.parametrize("text", [
        "for n in LIST:\n    globals()['a' + n] = 1\n", "for n in LIST:\n    n = n.upper()\n    globals()[n] = 1\n",
        "LIST.append(x)\nfor n in LIST:\n    globals()[n] = 1\n", "globals().update(vars(other))\n",
        "for n in make():\n    globals()[n] = globals()[n] if n in globals() else 1\n",
        "for n in make():\n    if n not in globals():\n        globals()[n] = 1\n",
        "def put(LIST):\n    for n in LIST:\n        globals()[n] = 1\n",
    ])
    def test_is_unknown_where_it_does_not(self, text: str) -> None:
        assert answer(f"LIST = ['here', 'x']\n{text}") is None


class TestAGetattr:
    @pytest.mark.parametrize("text", [
        "__getattr__, __dir__, __all__ = attach(__name__, {})\n", "__getattr__ = lambda name: 1\n", "__getattr__ = make()\n",
        "from .other import __getattr__\n", "from .other import answer as __getattr__\n",
        "if x:\n    def __getattr__(name):\n        raise AttributeError\nelse:\n    def __getattr__(name):\n        return 1\n",
    ])
    def test_that_is_made_elsewhere_may_answer_any_name(self, text: str) -> None:
        assert answer(text, other="def __getattr__(name): ...\n") is None


TABLE = "T = {'wanted': '.new:wanted', 'lost': '.gone:lost', 'lacking': '.new:lacking'}\n"
SPLIT = "def __getattr__(name):\n    if name in T:\n        at, word = T[name].split(':')\n" \
        "        return getattr(import_module(at, __package__), word)\n    raise AttributeError\n"
BY_NAME = "def __getattr__(name):\n    at = T.get(name)\n    if at is None:\n        raise AttributeError\n" \
          "    return getattr(importlib.import_module({}), name)\n"
BESIDE = "def __getattr__(name):\n    if name == 'wanted':\n        from .new import wanted\n        return wanted\n" \
         "    elif name == 'lost':\n        from .gone import lost\n        return lost\n" \
         "    if name in ('lacking',):\n        from engine import new\n        from engine.new import lacking\n        return lacking\n" \
         "    raise AttributeError\n"


class TestWhereAGetattrGetsANameFrom:
    @pytest.mark.parametrize("text", [
        TABLE + SPLIT, BESIDE,
        "T = {'wanted': 'engine.new', 'lost': 'engine.gone', 'lacking': 'engine.new'}\n" + BY_NAME.format("at"),
        "T = {'wanted': 'new', 'lost': 'gone', 'lacking': 'new'}\n" + BY_NAME.format("f'.{at}', __package__"),
        "T = {'wanted': ('.new', 'wanted'), 'lost': ('.gone', 'x'), 'lacking': ('.new', 'x')}\n" + SPLIT.replace(".split(':')", ""),
    ])
    def test_must_have_it(self, text: str) -> None:
        files = {"new": "wanted = 1\n"}
        assert [answer(text, name, **files) for name in ("wanted", "lost", "lacking")] == [True, False, False]

    @pytest.mark.parametrize("text", [
        "T = {'lost': 'gone'}\n" + BY_NAME.format("f'.{at}_impl', __package__"),
        "T = {'lost': 'gone'}\n" + BY_NAME.format("where(at)"), "T = {'lost': 'gone'}\n" + BY_NAME.format("at"),
        "T = {'lost': '.gone'}\ndef __getattr__(name):\n    try:\n        return import_module(T[name])\n    except KeyError:\n"
        "        raise AttributeError\n    except ImportError:\n        return None\n",
        "def __getattr__(name):\n    if name == 'lost':\n        if x:\n            from .gone import lost\n        return 1\n"
        "    raise AttributeError\n",
        "def __getattr__(name):\n    if name == 'lost':\n        try:\n            from .gone import lost\n        except ImportError:\n"
        "            lost = None\n        return lost\n    raise AttributeError\n",
        "T = {'lost': 'engine.new.lost'}\ndef __getattr__(name):\n    at, _, word = T[name].rpartition('.')\n"
        "    return getattr(import_module(at), word)\n",
    ])
    def test_counts_only_where_it_is_surely_that(self, text: str) -> None:
        assert answer(text, "lost", new="lost = 1\n") is not False

    def test_fails_for_want_of_a_module_where_that_is_gone(self) -> None:
        main = "try:\n    from engine.part import {}\nexcept ModuleNotFoundError:\n    pass\n"
        engine = {"engine/__init__.py": "", "engine/part.py": TABLE + SPLIT, "engine/new.py": ""}
        rows = [told(engine, {**PART, "part/engine/main.py": main.format(name)}).missing[0] for name in ("lost", "lacking")]
        assert [row.guarded for row in rows] == [True, False]
