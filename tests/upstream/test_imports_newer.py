"""Files in the syntax of a newer Python than the bot's own."""

from __future__ import annotations

import pytest

from tests.upstream.imports_world import PART, missing, told

ENGINE = {"engine/__init__.py": ""}


class TestNewerSyntax:
    @pytest.mark.parametrize("text", [
        "type T = int\n", "type T[A] = list[A]\n", "class K[B: int = str](Base): pass\n",
        "def f[A, *Ts](x: A) -> A: return x\n", "async def f[\n    A,\n    B](\n        x): ...\n",
        "d = {}\ns = f\"{d[\"a\"]} {f\"{d['b']}\"} {{ }}\"\n", "s = f'{\n    x  # why\n}'\n", "s = f\"{'\\n'.join(x)}\"\n",
        "s = t'{x}'\n", "try:\n    pass\nexcept KeyError, ValueError:\n    pass\n", "s = '#' + rf\"\\d{x!r:>{width}}\" + f\"{d[\"a\"]}\"\n",
    ])
    def test_is_read_with_its_lines(self, text: str) -> None:
        text = f"type First = int\n{text}"
        found = missing(ENGINE, f"{text}import engine.gone\n")
        assert (found["engine.gone"].line, found["engine.gone"].stops) == (text.count("\n") + 1, True)
        engine = {**ENGINE, "engine/part.py": f"{text}class here[A]: pass\n"}
        assert set(missing(engine, "from engine.part import First, here, wanted\n")) == {"engine.part.wanted"}

    @pytest.mark.parametrize("text", ["def (", "print 'x'\n", "s = f'{x\n", "type = \n", "s = 'x\n", "x = " + "f'{" * 60])
    def test_is_not_what_no_python_reads(self, text: str) -> None:
        done = told(ENGINE, {**PART, "part/engine/main.py": f"{text}\nimport engine.gone\n"})
        assert done.unread_start == ("part/engine/main.py",)

    def test_leaves_strings_and_names_that_look_alike(self) -> None:
        text = "type First = int\n__all__ = ['type X = 1', 'here']\ntype = here = 1\nx = f'{here}'\n"
        engine = {**ENGINE, "engine/part.py": text, "engine/all.py": "from .part import *\n"}
        assert set(missing(engine, "from engine.all import here, x\n")) == {"engine.all.x"}
