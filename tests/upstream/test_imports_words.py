"""Which files name a package at all: nothing else of them is looked at."""

from __future__ import annotations

import pytest

from bot.upstream.imports.words import naming, survey
from tests.upstream.imports_world import Files, surveyed

FILES = Files({"a.py": "import engine.part\n", "b.py": "x = call('engines')\n", "c.py": "import eng, ine\n",
               "d.py": b"\xff engine", "large.py": "x = 1\n" * 400_000})


class TestWords:
    def test_a_name_is_found_wherever_it_stands_and_in_what_is_no_python(self) -> None:
        assert naming(FILES, ["a.py", "b.py", "c.py", "d.py"], {"engine"}, surveyed) == {"a.py", "b.py", "d.py"}
        assert naming(FILES, ["c.py"], {"engine", "eng"}, surveyed) == {"c.py"}

    def test_what_could_not_be_read_may_name_anything(self) -> None:
        assert naming(FILES, ["large.py"], {"engine"}, surveyed) == {"large.py"}

    @pytest.mark.parametrize("text", ["from énginé import x", "__import__('_engine_2')", "engine"])
    def test_they_are_the_files_own(self, text: str) -> None:
        told = survey(text.encode(), "a.py").split(b"\n")
        assert told == sorted(set(told)) and all(word in text.encode() for word in told)
