"""The quick reading of a request export against the strict one: whatever is done to its lines, both say the same."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.adapters.processes import Processes
from bot.errors import BadInput
from bot.results.aiperf import blocks as module
from bot.results.aiperf.blocks import Reader, blocks, joined
from bot.results.aiperf.records import parse
from bot.results.parsed import Context
from tests.results.exports import export, line

GOOD = [line(n) for n in range(24)]
DATA = export(GOOD)
KEYS = ("metadata", "metrics", "x_request_id", "conversation_id", "request_start_ns", "request_end_ns", "benchmark_phase",
        "was_cancelled", "time_to_first_token", "inter_token_latency", "request_latency", "output_sequence_length",
        "input_sequence_length", "value", "unit", "agent_depth", "http_req_blocked", "worker_id", "inter_chunk_latency")


def said(data: bytes, *, quick: bool, size: int = 1 << 18) -> Any:
    """All that a reader says of these bytes, in a form that two readers can be compared in."""
    reader = Reader("x", quick=quick)
    told = joined(map(reader, blocks(io.BytesIO(data), size)))
    said = told.said
    ids = [(first + at, one) for first, run in said.ids for at, one in enumerate(run.split("\n"))]
    wave = sorted(pair for pair in said.early if said.first_end is not None and pair[0] < said.first_end)
    numbers = [*said.ttft], [*said.itl], [*said.latency], said.osl, said.isl, said.begun, said.first_end, said.last, wave
    counts = said.lines, said.total, said.kept, said.invalid, said.kinds, said.conversations, said.broken
    return told.fault, counts, numbers, ids


def alike(data: bytes) -> None:
    strict = said(data, quick=False)
    for size in (1 << 18, 3000):
        assert said(data, quick=True, size=size) == strict


class TestTheQuickReading:
    @settings(max_examples=150, deadline=None)
    @given(at=st.integers(0, len(DATA) - 1), cut=st.integers(0, 3), put=st.sampled_from(
        [b"", b"\"", b"{", b"}", b",", b":", b"\n", b" ", b"0", b"-", b".", b"9", b"a", b"\\", b"\xff", b"\xc3\xa9", b"[", b"NaN", b"null", b"}{", b"}\n{", b"true"]))
    @example(at=len(DATA) // 2, cut=len(DATA), put=b"")
    def test_says_of_bytes_that_were_changed_anywhere_what_the_strict_one_says(self, at, cut, put) -> None:
        alike(DATA[:at] + put + DATA[at + cut :])

    @settings(max_examples=150, deadline=None)
    @given(key=st.sampled_from(KEYS), number=st.integers(0, 23), other=st.sampled_from(
        [b"1", b"-1", b"1.0", b"1e3", b"\"a\"", b"null", b"true", b"[]", b"{}", b"{\"value\":1,\"unit\":\"ms\"}", b"{\"value\":7.5,\"unit\":\"s\"}", b"\"profiling\"",
         b"\"ms\"", b"\"tokens\"", b"99999999999999999999", b"\"\\u0041\"", b"\"\\ud800\"", b"\"a:b\"", b"\"a\\nb\""]), twice=st.booleans())
    def test_says_of_keys_told_twice_or_otherwise_what_the_strict_one_says(self, key, number, other, twice) -> None:
        lines = DATA.splitlines(keepends=True)
        told = f'"{key}":'.encode()
        before, found, after = lines[number].partition(told)
        end = next((at for at, letter in enumerate(after.decode()) if letter in ",}" and key not in ("metadata", "metrics")), 0)
        lines[number] = before + told + other + b"," + found + after if twice else before + told + other + after[end:]
        alike(b"".join(lines))

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.sampled_from(["good", "short", "failed", "warm", "dropped", "blank", "mute", "backwards", "other"]), max_size=60), st.randoms(use_true_random=False))
    def test_says_of_any_mixture_of_lines_what_the_strict_one_says(self, kinds, rng: random.Random) -> None:
        made = []
        for number, kind in enumerate(kinds):
            told: dict[str, Any] = {"ttft": rng.uniform(1, 90), "gap": rng.uniform(0, 9), "osl": rng.randint(2, 90)}
            told |= {"short": {"gap": None, "osl": 1}, "failed": {"error": "E"}, "warm": {"phase": "warmup"}, "dropped": {"was_cancelled": True},
                     "mute": {"x_request_id": None}, "backwards": {"request_end_ns": 5}, "other": {"worker_id": "é"}}.get(kind, {})
            made.append(b"  \n" if kind == "blank" else export([line(number, **told)]))
        alike(b"".join(made))

    def test_is_what_reads_a_file_like_those_that_aiperf_writes(self, monkeypatch) -> None:
        strictly: list[bytes] = []
        reading = module.record_of
        monkeypatch.setattr(module, "record_of", lambda data, name: strictly.append(data) or reading(data, name))
        said(export([*GOOD, line(30, gap=None, osl=1), line(31, error="E"), *(line(n) for n in range(40, 90))]), quick=True, size=4000)
        assert len(strictly) == 3  # the first of either shape, and the error

    def test_hides_no_key_told_twice_behind_a_line_that_lacks_another(self) -> None:
        lines = DATA.splitlines(keepends=True)
        lines[9] = lines[9].replace(b'"http_req_blocked":{"value":0.0,"unit":"ms"},', b"")
        lines[12] = lines[12].replace(b'"time_to_first_token":', b'"time_to_first_token":{"value":1.0,"unit":"ms"},"time_to_first_token":')
        told = said(b"".join(lines), quick=True)
        assert told[0] is not None and told[0][2] == 13
        alike(b"".join(lines))


class TestSeveralProcesses:
    def test_say_of_a_file_what_one_says(self, tmp_path) -> None:
        file = tmp_path / "profile_export.jsonl"
        file.write_bytes(export([line(n, error="E" if n % 17 == 5 else None) for n in range(400)]))
        told = []
        for spread in (None, Processes(3, least=20_000)):
            with file.open("rb") as stream:
                told.append(parse(stream, "x", Context(recipe="r", spread=spread)))
                assert stream.read() == b""
        assert told[0] == told[1]

    @pytest.mark.parametrize("at", [3, 300, 399])
    def test_name_the_line_that_does_not_hold_in_whichever_part_it_is(self, tmp_path, at) -> None:
        file, lines = tmp_path / "profile_export.jsonl", [line(n) for n in range(400)]
        lines[at]["metrics"]["request_latency"]["value"] = -1.0
        file.write_bytes(export(lines))
        with file.open("rb") as stream, pytest.raises(BadInput, match="negative") as raised:
            parse(stream, "x", Context(recipe="r", spread=Processes(3, least=20_000)))
        assert raised.value.line == at + 1

    def test_leave_a_small_file_and_what_is_no_file_to_one(self, tmp_path) -> None:
        file = tmp_path / "profile_export.jsonl"
        file.write_bytes(DATA)
        with file.open("rb") as stream:
            assert Processes(3)(stream, len) is None and stream.tell() == 0
        assert Processes(3, least=10)(io.BytesIO(DATA), len) is None
