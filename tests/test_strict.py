"""Text from people into records: whatever they write, a record or one line with file, line, key and a hint."""

from __future__ import annotations

import json
import string
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import Meta, Struct

from bot import strict
from bot.errors import BadInput


class Job(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    gpus: int = 0
    minutes: float = 0.0


class Open(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="open", tag_field="do"):
    title: str


class Close(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="close", tag_field="do"):
    when: datetime | None = None


class Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    jobs: list[Job] = []
    by_name: dict[str, Job] = {}
    requests: dict[int, int] = {}
    facts: dict[Literal["model", "prefix"], Annotated[str, Meta(min_length=1)]] = {}
    deep: dict[str, dict[str, list[dict[str, int]]]] = {}
    steps: tuple[Open | Close, ...] = ()
    day: date | None = None
    anything: Any = None


def refused(text: str | bytes, kind: Any = Plan) -> BadInput:
    with pytest.raises(BadInput) as told:
        strict.load(kind, text, file="plan.yaml")
    assert "\n" not in str(told.value) and str(told.value).startswith("plan.yaml")
    return told.value


def refused_json(text: str | bytes, kind: Any = Plan) -> BadInput:
    with pytest.raises(BadInput) as told:
        strict.load_json(kind, text, file="plan.json")
    assert "\n" not in str(told.value) and str(told.value).startswith("plan.json")
    return told.value


# what is wrong -> (YAML, line, key, words of the reason, words of the hint)
PLACES = {
    "an unknown key at the top": ("jobs: []\ncolour: red\n", 2, "colour", "unknown key", "spelling"),
    "an unknown key in a list of records": ("jobs:\n- name: a\n- name: b\n  gpu: 1\n", 4, "jobs.1.gpu", "unknown key", "spelling"),
    "an unknown key in a mapping of records": (
        "by-name:\n  good: {name: a}\n  bad:\n    name: b\n    gpu: 1\n", 5, "by-name.bad.gpu", "unknown key", "spelling"),
    "a missing key in a list": ("jobs:\n- name: a\n- gpus: 2\n", 3, "jobs.1", "`name` is missing", "add it"),
    "a missing key in a mapping": ("by-name:\n  x:\n    gpus: 1\n", 2, "by-name.x", "`name` is missing", "add it"),
    "a value of a mapping": ("facts:\n  model: m\n  prefix: ''\n", 3, "facts.prefix", "length >= 1", "correct"),
    "a key of a mapping": ("facts:\n  model: m\n  colour: red\n", 3, "facts.colour", "colour", "correct"),
    "a value under a number": ("requests:\n  1: 8\n  16: many\n", 3, "requests.16", "`int`, got `str`", "correct"),
    "a key that is no number": ("requests:\n  1: 8\n  many: 16\n", 3, "requests.many", "`int`, got `str`", "correct"),
    "a value deep in mappings and lists": (
        "deep:\n  a: {b: [{c: 1}]}\n  d:\n    e: []\n    f:\n    - g: 1\n    - h: x\n", 7, "deep.d.f.1.h", "`int`", "correct"),
    "a step of no known kind": ("steps:\n- {do: open, title: t}\n- do: dance\n", 3, "steps.1.do", "dance", "correct"),
    "a step without its kind": ("steps:\n- title: t\n", 2, "steps.0", "`do` is missing", "add it"),
    "a step with another's key": ("steps:\n- do: close\n  title: t\n", 3, "steps.0.title", "unknown key", "spelling"),
    "a text that YAML took for a number": ("jobs:\n- name: 1.10\n", 2, "jobs.0.name", "`str`, got `float`", "quotes"),
    "a text that YAML took for a truth": ("jobs:\n- name: on\n", 2, "jobs.0.name", "`on` is a bool to some readers", "quote it"),
    "a text that YAML took for a day": ("jobs:\n- name: 2026-09-10\n", 2, "jobs.0.name", "got `date`", "quotes"),
    "a key that stands twice": ("jobs: []\njobs: []\n", 2, "jobs", "twice", "keep one"),
    "a key that stands twice, deep down": ("by-name:\n  a:\n    name: x\n    name: y\n", 4, "by-name.a.name", "twice", "keep one"),
    "a key that stands twice in a list": ("jobs:\n- {name: x,\n   gpus: 1, gpus: 2}\n", 3, "jobs.0.gpus", "twice", "keep one"),
    "a key that is a list": ("? [a]\n: 1\n", 1, "", "a key must be a word", "quote"),
    "a key that is nothing": ("jobs: []\n~: 1\n", 2, "", "a key must be a word", "quote"),
    "a key that is a day": ("by-name:\n  2026-09-10: {name: a}\n", 2, "by-name", "a key must be a word", "quote"),
    "an alias": ("jobs: &all []\nanything: *all\n", 2, "", "alias", "write the value out"),
    "a merge": ("by-name:\n  a:\n    <<: {name: x}\n", 3, "by-name.a", "merges", "write the value out"),
    "a tag on a mapping": ("anything: !!python/object:os.system {}\n", 1, "anything", "tag", "write the value out"),
    "a tag on a text": ("jobs:\n- name: !secret x\n", 2, "jobs.0.name", "`!secret`", "write the value out"),
    "bytes": ("anything: !!binary aGk=\n", 1, "anything", "`binary`", "write the value out"),
    "a set": ("anything: !!set {a, b}\n", 1, "anything", "`set`", "write the value out"),
    "an equals sign": ("jobs:\n- name: =\n", 2, "jobs.0.name", "`=`", "quote"),
    "infinity": ("anything:\n- .inf\n", 2, "anything.0", "finite", "null"),
    "not a number": ("jobs:\n- name: a\n  minutes: .nan\n", 3, "jobs.0.minutes", "finite", "null"),
    "a number beyond a double": ("jobs:\n- name: a\n  minutes: 1.0e+999\n", 3, "jobs.0.minutes", "finite", "null"),
    "a month that is none": ("anything: 2026-13-45\n", 1, "anything", "2026-13-45", "quote"),
    "a day for a moment": ("steps:\n- do: close\n  when: 2026-09-10\n", 3, "steps.0.when", "got `date`", "correct"),
    "a moment for a day": ("day: 2026-09-10 06:00:00\n", 1, "day", "got `datetime`", "correct"),
    "a tab": ("jobs:\n\t- name: a\n", 2, "", "cannot start any token", "mend"),
    "an open bracket": ("jobs: [\n", 2, "", "not YAML", "mend"),
    "two documents": ("jobs: []\n---\njobs: []\n", 2, "", "second document", "mend"),
    "a control character": ("jobs: []\nanything: a\x07b\n", 2, "", "character", "remove"),
    "a list for a record": ("- a\n", 1, "", "`object`, got `array`", "correct"),
    "nothing at all": ("", None, "", "`object`, got `null`", "correct"),
}


class TestTheLineThatIsTold:
    @pytest.mark.parametrize(("text", "line", "key", "reason", "hint"), PLACES.values(), ids=PLACES)
    def test_names_file_line_key_and_what_to_do(self, text: str, line: int | None, key: str, reason: str, hint: str) -> None:
        told = refused(text)
        assert (told.line, told.key) == (line, key)
        assert reason in told.reason and hint in told.hint

    def test_is_one_line_however_long_and_strange_the_value_is(self) -> None:
        told = refused('steps:\n- do: "' + "x\\n\\a\\u202e" * 5000 + '"\n')
        assert len(str(told)) < 500 and told.key == "steps.0.do" and str(told).isprintable()
        assert len(str(refused(f'"{"k" * 5000}": 1\n'))) < 500

    @given(st.lists(st.text("ab.[]`$ -", min_size=1, max_size=6), min_size=1, max_size=12, unique=True), st.data())
    def test_names_the_one_wrong_entry_of_a_mapping(self, names: list[str], data: st.DataObject) -> None:
        wrong = data.draw(st.integers(0, len(names) - 1))
        entries = [f"  {json.dumps(name)}: {{name: {'[]' if at == wrong else 'x'}}}" for at, name in enumerate(names)]
        told = refused("by-name:\n" + "\n".join(entries) + "\n")
        assert told.line == wrong + 2
        assert told.key == " ".join(f"by-name.{names[wrong]}.name".split())

    @given(st.dictionaries(st.sampled_from("abcdef"), st.dictionaries(st.sampled_from("uvw"), st.booleans())))
    def test_of_several_wrong_entries_the_first_is_named(self, made: dict[str, dict[str, bool]]) -> None:
        faults = [f"deep.{outer}.{inner}.0.x" for outer, held in made.items() for inner, good in held.items() if not good]
        text = json.dumps({"deep": {outer: {inner: [{"x": 1 if good else "bad"}] for inner, good in held.items()}
                                    for outer, held in made.items()}})
        if faults:
            assert refused_json(text).key == refused(text).key == faults[0]
        else:
            assert strict.load_json(Plan, text, file="x").deep.keys() == made.keys()


class TestLimits:
    @pytest.mark.parametrize("digits", [301, 4_300, 4_301, 100_000])
    @pytest.mark.parametrize("form", ["{}", "-{}", "{}.0", "0.{}", "0x{}"])
    def test_a_huge_number_is_no_crash(self, digits: int, form: str) -> None:
        text = form.format("7" * digits)
        told = refused(f"jobs:\n- name: a\n  minutes: {text}\n")
        assert (told.line, told.key) == (3, "jobs.0.minutes") and "too long" in told.reason
        if "x" not in form:
            assert refused_json(f'{{"jobs": [{{"name": "a", "minutes": {text}}}]}}').key == "jobs.0.minutes"

    def test_a_huge_number_as_a_key_is_no_crash(self) -> None:
        assert refused(f"requests:\n  {'7' * 5000}: 1\n").line == 2

    def test_three_hundred_digits_are_read(self) -> None:
        assert strict.load(Plan, f"anything: {'7' * 300}\n", file="x").anything == int("7" * 300)
        assert strict.json_value("7" * 300, file="x") == int("7" * 300)

    def test_digits_in_a_text_are_a_text(self) -> None:
        long = "7" * 5000
        assert strict.json_value(f'["{long}", "NaN", 1e300]', file="x") == [long, "NaN", 1e300]
        assert strict.load(Plan, f"anything: '{long}'\n", file="x").anything == long

    @pytest.mark.parametrize("text", [
        "anything: " + "[" * 100_000, "anything: " + "[" * 61 + "]" * 61, "anything: " + "{a: " * 61 + "1" + "}" * 61,
        "".join(f"{'  ' * level}a:\n" for level in range(200)), "- " * 5000 + "a\n"], ids=range(5))
    def test_a_depth_bomb_is_refused_in_yaml(self, text: str) -> None:
        assert "nested too deeply" in refused(text).reason

    @pytest.mark.parametrize("text", [
        "[" * 2_000_000, "[" * 900 + "]" * 900, "[" * 61 + "]" * 61, '{"a":' * 300_000, '{"a":' * 61 + "1" + "}" * 61,
        "[" * 61 + "NaN" + "]" * 61], ids=range(6))
    def test_a_depth_bomb_is_refused_in_json(self, text: str) -> None:
        assert "nested too deeply" in refused_json(text).reason or "not JSON" in refused_json(text).reason

    def test_sixty_levels_are_read(self) -> None:
        text = "[" * 60 + "]" * 60
        assert strict.json_value(text, file="x") == strict.load(list, text, file="x") == json.loads(text)

    def test_an_alias_bomb_is_refused_before_it_grows(self) -> None:
        pairs = zip("abcdefg", "bcdefgh", strict=True)
        bomb = "a: &a [x]\n" + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairs)
        assert refused(bomb).line == 2

    def test_a_document_of_too_many_nodes_is_refused(self) -> None:
        assert "too large" in refused("anything: [" + "1," * 400_000 + "]").reason

    @pytest.mark.parametrize("text", ["#" * 8_000_001, b"#" * 8_000_001], ids=["text", "bytes"])
    def test_a_file_of_too_many_bytes_is_refused(self, text: str | bytes) -> None:
        assert "larger than 8000000" in refused(text).reason
        assert "larger than 8000000" in refused_json(text).reason


class TestBytes:
    @pytest.mark.parametrize("data", [b"jobs: []\nanything: \xff\n", "jobs: []".encode("utf-16"), b"\xed\xa0\x80"])
    def test_what_is_not_utf_8_is_refused(self, data: bytes) -> None:
        assert "not UTF-8" in refused(data).reason and "byte" in refused(data).hint
        assert "not UTF-8" in refused_json(data).reason

    def test_a_byte_order_mark_is_nothing_in_yaml_and_refused_in_json(self) -> None:
        assert strict.load(Plan, b"\xef\xbb\xbfjobs: []\n", file="x") == Plan()
        assert "byte order mark" in refused_json(b"\xef\xbb\xbf{}").reason

    def test_half_a_character_is_no_crash(self) -> None:
        refused("anything: \ud800\n")
        refused('anything: "\\ud800"\n')


class TestMoments:
    @pytest.mark.parametrize(("text", "meant"), [
        ("2026-09-10T06:40:00Z", datetime(2026, 9, 10, 6, 40, tzinfo=UTC)),
        ("2026-09-10 06:40:00", datetime(2026, 9, 10, 6, 40, tzinfo=UTC)),
        ("2026-09-10T06:40:00+02:00", datetime(2026, 9, 10, 4, 40, tzinfo=UTC)),
        ('"2026-09-10T06:40:00Z"', datetime(2026, 9, 10, 6, 40, tzinfo=UTC))])
    def test_a_timestamp_of_yaml_is_an_aware_moment(self, text: str, meant: datetime) -> None:
        (step,) = strict.load(Plan, f"steps:\n- do: close\n  when: {text}\n", file="x").steps
        assert isinstance(step, Close) and step.when == meant and step.when.utcoffset() is not None
        assert step.when - meant == timedelta(0)

    def test_a_day_of_yaml_is_a_day(self) -> None:
        assert strict.load(Plan, "day: 2026-09-10\n", file="x").day == date(2026, 9, 10)

    @pytest.mark.parametrize("text", ["2026-09-10T06:00:00+99:99", "2026-02-30", "0000-01-01", "2026-09-10T25:00:00Z"])
    def test_one_that_never_was_is_refused_with_its_line(self, text: str) -> None:
        assert refused(f"jobs: []\nanything: {text}\n").line == 2


class TestNumbers:
    def test_a_whole_number_is_a_float_where_a_float_is_asked_for(self) -> None:
        for made in (strict.load(Plan, "jobs: [{name: a, minutes: 30}]", file="x"),
                     strict.load_json(Plan, '{"jobs": [{"name": "a", "minutes": 30}]}', file="x")):
            assert made.jobs[0].minutes == 30.0 and isinstance(made.jobs[0].minutes, float)

    @pytest.mark.parametrize("value", ["1.0", "1.5", "true", '"1"', "null", "[1]"])
    def test_nothing_else_is_a_whole_number(self, value: str) -> None:
        assert refused(f"jobs:\n- name: a\n  gpus: {value}\n").key == "jobs.0.gpus"
        assert refused_json(f'{{"jobs": [{{"name": "a", "gpus": {value}}}]}}').key == "jobs.0.gpus"


class TestJson:
    @pytest.mark.parametrize(("text", "key", "reason"), [
        ('{"jobs": [], "jobs": []}', "jobs", "twice"),
        ('{"by-name": {"a": {"name": "x", "name": "y"}}}', "by-name.a.name", "twice"),
        ('{"jobs": [{"name": "a"}, {"name": "b", "gpus": 1, "gpus": 1}]}', "jobs.1.gpus", "twice"),
        ('{"anything": [1, NaN]}', "anything.1", "NaN is not a JSON number"), ('{"anything": -Infinity}', "anything", "-Infinity"),
        ('{"jobs": [{"name": "a", "minutes": 1e999}]}', "jobs.0.minutes", "1e999 is not a finite number"),
        ('{"by-name": {"a": {"name": "x"}, "b": {"gpus": 1}}}', "by-name.b", "`name` is missing"),
        ('{"by-name": {"a": {"name": "x"}, "b": {"name": "x", "q": 1}}}', "by-name.b.q", "unknown key"),
        ('{"facts": {"model": 1}}', "facts.model", "`str`, got `int`"),
        ('{"requests": {"1": 2, "3": "4"}}', "requests.3", "`int`"),
        ('{"requests": {"x": 2}}', "requests.x", "`int`"),
        ('{"steps": [{"do": "close", "when": "yesterday"}]}', "steps.0.when", "Invalid"),
        ("[]", "", "`object`, got `array`")])
    def test_a_fault_is_told_by_its_path(self, text: str, key: str, reason: str) -> None:
        told = refused_json(text)
        assert told.key == key and reason in told.reason and told.hint

    @pytest.mark.parametrize("before", ["", "[", "[1,", "[1, ", "[\t", '{"a":', '{"a":\n', "[-", "-", "[0.5, -"])
    @pytest.mark.parametrize("number", ["1e999", "1.5E+400", "20e309"])
    def test_a_number_that_no_double_holds_is_seen_wherever_one_may_stand(self, before: str, number: str) -> None:
        text = f"{before}{number}" + {"[": "]", "{": "}"}.get(before[:1], "")
        with pytest.raises(BadInput, match="is not a finite number"):
            strict.json_value(text, file="x")

    @pytest.mark.parametrize(("text", "line"), [
        ('{\n"jobs": [,]}', 2), ('{"a": 1\n\n', 3), ("", 1), ("{} {}", 1), ("{'a': 1}", 1), ("\x00", 1)])
    def test_what_is_no_json_is_told_by_its_line(self, text: str, line: int) -> None:
        told = refused_json(text)
        assert told.line == line and "not JSON" in told.reason and "column" in told.hint

    def test_numbers_as_keys_are_text_in_json_and_still_numbers(self) -> None:
        assert strict.load_json(Plan, '{"requests": {"1": 8, "16": 32}}', file="x").requests == {1: 8, 16: 32}

    def test_plain_values_are_checked_like_a_file(self) -> None:
        assert strict.convert(Job, {"name": "a"}, file="x") == Job(name="a")
        with pytest.raises(BadInput, match=r"^GET /runs: name: Expected `str`, got `int`: correct the value$"):
            strict.convert(Job, {"name": 1}, file="GET /runs")


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(string.printable)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4), max_leaves=20)


class TestWhateverIsWritten:
    @given(values)
    def test_json_is_read_as_json_reads_it(self, value: Any) -> None:
        assert strict.json_value(json.dumps(value), file="x") == value

    @given(values)
    def test_json_is_yaml_as_long_as_its_texts_are_printable(self, value: Any) -> None:
        try:
            made, _ = strict.parse(json.dumps(value), file="x")
        except BadInput:
            return  # YAML has rules of its own for long keys and floats such as 1e300
        assert json.dumps(made, sort_keys=True) == json.dumps(value, sort_keys=True) or "e" in json.dumps(value)

    @settings(max_examples=300)
    @given(st.text(st.sampled_from("ab:-[]{},&*!|>%@`\"'#?~.0123456789xe+= \n\t\u2028\ud800\x00é<"), max_size=40))
    @example("? ")
    @example("<<: *a")
    @example("!!int x")
    @example("0b_")
    @example("=: =")
    def test_text_is_a_value_or_one_line(self, text: str) -> None:
        for read in (lambda: strict.load(Plan, text, file="f"), lambda: strict.load_json(Plan, text, file="f"),
                     lambda: strict.load(dict[str, dict[str, int]], text, file="f")):
            try:
                read()
            except BadInput as told:
                assert "\n" not in str(told) and str(told).startswith("f") and told.hint

    @given(st.binary(max_size=60))
    def test_bytes_are_a_value_or_one_line(self, data: bytes) -> None:
        for read in (strict.load, strict.load_json):
            try:
                read(Plan, data, file="f")
            except BadInput as told:
                assert "\n" not in str(told) and told.hint

    @given(values)
    def test_any_value_becomes_a_record_or_one_line(self, value: Any) -> None:
        try:
            strict.convert(Plan, {"jobs": value, "by-name": {"a": value}, "steps": [value]}, file="f")
        except BadInput as told:
            assert "..." not in told.key and "\n" not in str(told)
