"""Failures with one line for a person: what is wrong, where, what to do about it, and the exit code that goes with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import errors
from bot.errors import BadArguments, BadInput, Broken, BumpbotError, Conflict, Missing, Refusal, Unreachable

CODES = {Refusal: 1, BadInput: 1, BadArguments: 2, Unreachable: 3, Missing: 1, Conflict: 1, Broken: 1}


class TestEachFailure:
    @pytest.mark.parametrize(("kind", "code"), CODES.items())
    def test_carries_the_exit_code_of_the_contract(self, kind: type[BumpbotError], code: int) -> None:
        assert kind("x").exit_code == code

    def test_none_was_left_out_of_the_table(self) -> None:
        made = {item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, BumpbotError)}
        assert made - {BumpbotError} == set(CODES)

    @pytest.mark.parametrize("kind", [kind for kind in CODES if kind is not BadInput])
    def test_says_what_is_wrong_and_then_what_to_do(self, kind: type[BumpbotError]) -> None:
        told = kind("no runner is free", "ask for one")
        assert str(told) == "no runner is free: ask for one"
        assert (told.reason, told.hint) == ("no runner is free", "ask for one")

    def test_without_a_hint_it_is_the_reason_alone(self) -> None:
        assert str(Refusal("no")) == "no" and Refusal("no").hint == ""

    def test_a_refusal_is_no_outage_and_no_broken_ledger(self) -> None:
        with pytest.raises(Refusal):
            raise Refusal("no")
        assert not any(issubclass(one, other) for one in CODES for other in CODES if one is not other)


class TestBadInput:
    @pytest.mark.parametrize(("place", "shown"), [
        ({}, "wrong: mend it"), ({"file": "a.yaml"}, "a.yaml: wrong: mend it"),
        ({"file": "a.yaml", "line": 3}, "a.yaml:3: wrong: mend it"),
        ({"file": "a.yaml", "line": 3, "key": "jobs.1"}, "a.yaml:3: jobs.1: wrong: mend it"),
        ({"key": "jobs"}, "jobs: wrong: mend it"),
        ({"file": "a.yaml", "key": "jobs"}, "a.yaml: jobs: wrong: mend it"), ({"line": 3}, "3: wrong: mend it")])
    def test_stands_behind_its_place(self, place: dict, shown: str) -> None:
        assert str(BadInput("wrong", "mend it", **place)) == shown

    def test_keeps_its_place_for_whoever_tells_it_otherwise(self) -> None:
        told = BadInput("wrong", "mend it", file="a.yaml", line=3, key="jobs")
        assert (told.file, told.line, told.key, told.hint) == ("a.yaml", 3, "jobs", "mend it")
        assert told.reason == "a.yaml:3: jobs: wrong"

    @given(st.text("a/.:é", min_size=1), st.none() | st.integers(1, 10**6), st.text("a.[]é"))
    def test_loses_nothing_of_what_it_was_given(self, file: str, line: int | None, key: str) -> None:
        told = str(BadInput("wrong", "mend it", file=file, line=line, key=key))
        assert told.startswith(file) and key in told and told.endswith("wrong: mend it")
        assert line is None or f":{line}:" in told
