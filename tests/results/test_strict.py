"""Every format, broken in every way in which files break: refused with the file's name, and nothing of it is used.

What one format alone can get wrong stands with that format.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bot.errors import BadInput
from bot.results import PARSERS, claim, collect, load_metrics
from tests.results.made import EXAMPLES, stream

METRICS = load_metrics((Path(__file__).parents[2] / "bot" / "knowledge" / "metrics.yaml").read_text())
FORMATS = sorted(EXAMPLES)
VALUES = {
    "inferencex-agentic": b'"total_tput_tps": 917.3',
    "inferencex-fixed": b'"tput_per_gpu": 1449.6',
    "inferencex-eval": b'"em_strict": 0.9727',
    "inferencex-api": b'"tput_per_gpu": 1449.6',
    "inferencex-run-stats": b'"n_success": 9',
    "lm-eval-results": b'"exact_match,strict-match": 1.0',
    "lm-eval-samples": b'"exact_match": 1.0',
    "aiperf-records": b'"value": 20.5',
    "aiperf-summary": b'"p50": 26.8',
    "aiperf-runs": b'"mean": 27.5',
    "aiperf-server-metrics": b'"total": 871.0',
    "vllm-bench": b'"median_ttft_ms": 110.0',
    "sglang-bench": b'"median_ttft_ms": 110.0',
    "campaign-rows": b'"end_offset_s": 2.5',
    "rows": b'"value": 100.0',
    "bench-report": b'"value": 917.3',
}
"""A value of each example that its parser reads."""
KEYED = {"inferencex-run-stats": r"^\Z", "aiperf-runs": r'"variation_values": \Z',
         "bench-report": r'"kinds": \Z'}
"""Objects in which every key has a meaning: clusters, what a sweep varied, and kinds of failures."""
NAMED = {"aiperf-records", "aiperf-summary", "aiperf-runs", "aiperf-server-metrics", "inferencex-run-stats", "inferencex-fixed",
         "inferencex-eval", "lm-eval-samples"}
"""Formats whose file is known by its name, also when nothing is in it."""


def read(name: str, data: bytes):
    return collect([(name, stream(data))], recipe="r", metrics=METRICS)


def refused(name: str, data: bytes, why: str | None = None) -> BadInput:
    with pytest.raises(BadInput, match=why) as raised:
        read(name, data)
    assert raised.value.file == name and str(raised.value).startswith(name)
    return raised.value


def silent(name: str, data: bytes) -> bool:
    """Whether nothing at all comes of a file that nobody claims."""
    told = read(name, data)
    return not (told.rows or told.accounting or told.samples or told.reported or told.reliability) and len(told.skipped) == 1


def planted(data: bytes, text: bytes, *, but: str = "never"):
    """`text` put at the beginning of each object that is not empty, one at a time; not of those that stand after `but`."""
    for found in re.finditer(rb"\{(?=\s*\")", data):
        if not re.search(but.encode(), data[: found.start()]):
            yield data[: found.end()] + text + data[found.end():]


class TestEveryFormat:
    def test_is_in_the_table(self) -> None:
        assert set(VALUES) == set(EXAMPLES) == {parser.FORMAT for parser in PARSERS}
        assert all(VALUES[name] in EXAMPLES[name][1] for name in FORMATS)

    @pytest.mark.parametrize("name", FORMATS)
    def test_whole_is_read(self, name) -> None:
        file, data = EXAMPLES[name]
        told = read(file, data)
        assert (told.rows or told.accounting or told.samples or told.reliability) and not told.skipped

    @pytest.mark.parametrize("name", FORMATS)
    def test_cut_at_any_tenth_is_refused(self, name) -> None:
        file, data = EXAMPLES[name]
        refusals = 0
        for tenth in range(10):
            part = data.rstrip()[: len(data) * tenth // 10]
            if name not in NAMED and claim(part, file) is None:
                assert silent(file, part)
            elif name != "sglang-bench" or not part.endswith(b"\n"):  # one whole line of two is a whole file of one
                refused(file, part)
                refusals += 1
        assert refusals >= 4

    @pytest.mark.parametrize("value", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1", b'"12"', b"true", b"[]", b"{}"])
    @pytest.mark.parametrize("name", FORMATS)
    def test_with_a_value_that_is_none_is_refused(self, name, value) -> None:
        file, data = EXAMPLES[name]
        key = VALUES[name].partition(b":")[0]
        error = refused(file, data.replace(VALUES[name], key + b": " + value, 1))
        assert error.line is not None if file.endswith(".jsonl") and name != "rows" else error.key

    @pytest.mark.parametrize("name", FORMATS)
    def test_with_a_key_twice_is_refused_at_every_depth(self, name) -> None:
        file, data = EXAMPLES[name]
        broken = list(planted(data, b'"zz": 1, "zz": 1, '))
        assert broken
        for one in broken:
            assert "zz" in refused(file, one, "twice").key

    @pytest.mark.parametrize("junk", [b'"zz": NaN, ', b'"zz": [1e999], ', b'"zz": ' + b"[" * 90 + b"]" * 90 + b", "],
                             ids=["NaN", "1e999", "deep"])
    @pytest.mark.parametrize("name", FORMATS)
    def test_with_rubbish_under_a_key_that_nobody_reads_is_refused(self, name, junk) -> None:
        file, data = EXAMPLES[name]
        for one in planted(data, junk):
            refused(file, one)

    @pytest.mark.parametrize("name", FORMATS)
    def test_may_carry_keys_of_a_later_version(self, name) -> None:
        file, data = EXAMPLES[name]
        found = list(planted(data, b'"zz": {"later": [1]}, ', but=KEYED.get(name, "never")))
        assert found
        for one in found:
            assert read(file, one) == read(file, data)

    @pytest.mark.parametrize("name", FORMATS)
    def test_empty_is_refused_or_named_as_no_result(self, name) -> None:
        file, _ = EXAMPLES[name]
        for data in (b"", b"\n"):
            if name in NAMED:
                refused(file, data)
            else:
                assert silent(file, data)

    @pytest.mark.parametrize("name", FORMATS)
    def test_with_a_byte_order_mark_is_refused(self, name) -> None:
        file, data = EXAMPLES[name]
        refused(file, b"\xef\xbb\xbf" + data)

    @pytest.mark.parametrize("name", FORMATS)
    def test_in_another_encoding_is_refused(self, name) -> None:
        file, data = EXAMPLES[name]
        for one in planted(data, b'"zz": "\xe9", '):
            refused(file, one, "UTF-8")
        if name in NAMED:
            refused(file, data.decode().encode("utf-16"))

    @pytest.mark.parametrize("name", FORMATS)
    def test_spoils_what_was_read_beside_it(self, name) -> None:
        file, data = EXAMPLES[name]
        good = [EXAMPLES[other] for other in FORMATS if other != name]
        files = [*good[:5], (file, data.replace(VALUES[name], VALUES[name].partition(b":")[0] + b": NaN", 1)), *good[5:]]
        with pytest.raises(BadInput) as raised:
            collect([(path, stream(content)) for path, content in files], recipe="r")
        assert raised.value.file == file

    @pytest.mark.parametrize("name", FORMATS)
    def test_told_twice_counts_once_and_told_otherwise_is_refused(self, name) -> None:
        file, data = EXAMPLES[name]
        copy = f"copy/{file}"
        once = collect([(file, stream(data))], recipe="r")
        assert collect([(copy, stream(data)), (file, stream(data))], recipe="r") == _moved(once, file, copy)
        other = data.replace(VALUES[name], VALUES[name].replace(b"9", b"7").replace(b"1", b"0"), 1)
        if name in ("aiperf-records", "lm-eval-results", "campaign-rows") or other == data:
            return
        for order in ([(file, data), (copy, other)], [(copy, other), (file, data)]):
            with pytest.raises(BadInput) as raised:
                collect([(path, stream(content)) for path, content in order], recipe="r")
            assert file in str(raised.value) and copy in str(raised.value)


def _moved(told, file, copy):
    """What the servers said of themselves is told by each file that says it."""
    from msgspec import structs

    reported = [structs.replace(one, file=path) for one in told.reported for path in (file, copy)]
    return structs.replace(told, reported=tuple(sorted(reported, key=lambda one: (one.concurrency, one.file, one.line or 0))))


def places(value, path=()):
    """Every place in a document."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


def put(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


class TestAnyValueAnywhere:
    @pytest.mark.parametrize("name", FORMATS)
    def test_is_read_or_refused_and_never_a_crash(self, name) -> None:
        file, data = EXAMPLES[name]
        lines = [json.loads(line) for line in data.splitlines()] if file.endswith(".jsonl") else [json.loads(data)]
        for path in places(lines[0]):
            for junk in (None, "x", "", [], {}, [[]], [{}], -1, 0, 1e300, 10**299, True, "9" * 50, {"a": None}):
                broken = [put(lines[0], path, junk), *lines[1:]]
                try:
                    read(file, "\n".join(json.dumps(one) for one in broken).encode())
                except BadInput as error:
                    assert error.file == file, (path, junk, error)
