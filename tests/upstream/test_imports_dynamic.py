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
