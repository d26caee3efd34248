"""Help as a newcomer reads it: every command, 80 columns wide, with an example that exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
import typer.main

from bot.cli.app import app
from tests.cli.shell import bumpbot

# Words of CONTRACTS section 1 that are not built: help and README may not speak of them.
ABSENT = ("dashboard", "verify")


def commands(group: object = None, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command's words."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name)


each_command = pytest.mark.parametrize("words", list(commands()), ids=" ".join)


class TestEachCommand:
    @each_command
    def test_has_an_example_that_calls_it(self, words: tuple[str, ...]) -> None:
        shown = " ".join(bumpbot(*words, "--help").out.split())
        example = re.search(r"Example: (bumpbot .*?)(?: Exit:| Arguments:| Options:)", shown)
        assert example, shown
        called = [word for word in shlex.split(example[1]) if not word.startswith("-")]
        assert " ".join(words) in " ".join(called)

    @each_command
    def test_fits_eighty_columns_and_goes_to_standard_output(self, words: tuple[str, ...]) -> None:
        done = bumpbot(*words, "--help", env={"COLUMNS": "80"})
        assert (done.code, done.err) == (0, "")
        assert max(map(len, done.out.splitlines())) <= 80

    @each_command
    def test_names_no_command_that_does_not_exist(self, words: tuple[str, ...]) -> None:
        told = re.findall(r"bumpbot ([a-z-]+)", bumpbot(*words, "--help").out)
        assert not set(told) & set(ABSENT)

    @pytest.mark.parametrize("words", ["rehearse", "compare", "replay", "triage", "check-imports", "wake", "bench", "changelog check",
                                       "layout check"])
    def test_whose_exit_code_means_more_says_so(self, words: str) -> None:
        assert re.search(r"Exit: .*\b[01]\b", bumpbot(*words.split(), "--help").out)


class TestTheList:
    def test_tells_each_command_whole_and_every_exit_code(self) -> None:
        shown = bumpbot("--help", env={"COLUMNS": "80"}).out
        assert "..." not in shown[shown.index("Commands:"):]
        assert all(f"{code} " in shown[shown.index("Exit codes:"):] for code in range(4))

    @pytest.mark.parametrize("name", ABSENT)
    def test_pretends_nothing(self, name: str) -> None:
        assert bumpbot(name).code == 2
        assert not re.search(rf"^  {name} ", bumpbot("--help").out, re.MULTILINE)
