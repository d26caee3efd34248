"""The schema and `load` agree: what one refuses the other refuses, as far as a schema can say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import yaml

from bot.errors import BadInput
from bot.layout import load, resolve, schema
from tests.layout.test_layout import PRESETS

TAKES = jsonschema_rs.validator_for(schema())
# What needs two keys side by side, or an engine.
BEYOND = re.compile(r"among (the primary labels|the inputs)|is no regular expression|has a group|nobody closes|is run by nothing|a sweep by label"
                    r"|no preset is called")
WRONG: tuple[Any, ...] = (None, 1, "", "a b{", "../x", "/x", "[", ".a.*.b", "(", [], [""], ["{a"], ["../x"], [1], {}, {"x": "{y}"}, {"x": 1}, True)
BASE = "recipes: [{files: a, linked: {files: [b], roots: [{prefix: a, folder: b}]}}]\n"
FULL = """recipes: [{files: [a], key: '*', facts: {model: .m}, linked: {within: [.a], settings: [A], image: [.b], provenance: [.c], engine: [.d]}}]
fixed: [{where: {model: x}, why: y}]
mentions: [a]
generator: inferencex
generator-command: x
generator-files: [y]
ledger: a/b
policies: {x: {channel: pinned, reason: y, hints: [{use: z}]}}
sweep: {workflow: w, start: label, label: a, modifiers: [b], drafts: false, needs: c}
changelog: {file: a, pull: 'https://x/{number}', scenario-names: [b], placeholders: [c]}
baselines: {url: 'https://x'}
evals: {task: a, otherwise: 0.5}
limits: {repairs: 1, gpu-hours: 2.5}
"""


def refused(value: Any) -> str:
    """Why `load` does not take it, "" where it does."""
    try:
        resolve(msgspec.json.encode(value), PRESETS, "f.yml")
    except BadInput as fault:
        return str(fault)
    return ""


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every key, and the first item of every list and of every mapping of names."""
    yield path
    named = path[-1:] in (("sources",), ("hardware",), ("inputs",), ("arguments",))
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    items = items[:1] if named or isinstance(value, list) else items
    for step, held in items:
        yield from places(held, (*path, step))


def put(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """A copy with `new` at the path; without the key where `new` is ..."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if new is ... and len(path) == 1:
        del copy[path[0]]  # type: ignore[arg-type]
    else:
        copy[path[0]] = put(value[path[0]], path[1:], new)  # type: ignore[index,call-overload]
    return copy


class TestTheSchemaAndTheCheck:
    @pytest.mark.parametrize("text", [BASE, FULL, PRESETS["own"]], ids=["small", "full", "own"])
    def test_agree_on_every_key_that_is_wrong_or_left_out(self, text: str) -> None:
        """An entry without `files` was fine to every editor, and refused by `layout check`."""
        value, apart = yaml.safe_load(text), []
        assert not refused(value) and TAKES.is_valid(value)
        for path in places(value):
            for new in (..., *WRONG) if path else ({},):
                made = put(value, path, new)
                said = refused(made)
                if bool(said) == TAKES.is_valid(made) and not BEYOND.search(said):
                    apart.append((path, new, said))
        assert apart == []

    @pytest.mark.parametrize("text", [
        "{}", "recipes: []", "recipes: [{}]", "recipes: [{key: .a}]", "recipes: [{files: []}]", "recipes: [{files: a, keys: .name}]",
        "recipes: [{files: a, image: .image}]", "recipes: [{files: a, image: []}]", "recipes: [{files: 1}]", "recipes: [{files: a, key: 'a b'}]",
        "recipes: [{files: a, key: '.a[x]'}]", "recipes: [{files: '{a'}]", "recipes: [{files: 'a[bc]'}]", "recipes: [{files: [a, ../b]}]",
        "recipes: [{files: a, linked: {file: x}}]", "preset: own\nrecipes: []", "preset: null", "preset: own\nsmoke: {workflow: ''}",
        BASE + "smoke: {inputs: {}}", BASE + "sweep: {workflow: w, start: label}", BASE + "changelog: {}", BASE + "generator-command: x",
        BASE + "generator-files: [x]", BASE + "generator: own\ngenerator-command: x", BASE + "jobs: x", BASE + "policies: {'{a': {channel: stable}}",
        BASE + "policy: {channel: pinned}", BASE + "policy: {hints: [{by: x}]}", BASE + "policy: {hints: [{use: a, contains: b}]}",
        BASE + "forbidden: [' ']", BASE + "artifacts: {logs: ['{a,b}*']}", BASE + "scope: {files: [/x]}", BASE + "scope: {keys: ['{']}",
        BASE + "mentions: [../x]", BASE + "fixed: [{where: {model: '['}, why: x}]", BASE + "allow: [a]", BASE + "sources: {a: b}",
    ])
    def test_both_refuse(self, text: str) -> None:
        value = yaml.safe_load(text)
        assert refused(value) and not TAKES.is_valid(value)

    @pytest.mark.parametrize("text", [
        "preset: own", "preset: own\nsmoke: {ref: dev}", "preset: inferencex\ngenerator-command: python3 x.py", BASE + "smoke: null",
        "recipes: [{files: [a, 'b/**/{c,d}.yaml'], key: '*', image: ['.a.\"b.c\".*[0]', '.']}]", "recipes: [{files: a, key: chat}]",
        "recipes: [{files: a, key: '.a.\"b.c\"[0].*'}]", BASE + "generator: inferencex\ngenerator-command: x 'y z'\ngenerator-files: [a/*.py]",
        BASE + "generator-command: ''\ngenerator-files: []", BASE + "jobs: '^(?P<concurrency>[0-9]+)$'", BASE + "artifacts: {logs: ['[ab]*']}",
        BASE + "policy: {hints: [{use: a, contains: ''}, {contains: b, by: c}]}", BASE + "sweep: {workflow: w, start: label, label: x}",
    ])
    def test_both_take(self, text: str) -> None:
        value = yaml.safe_load(text)
        assert not refused(value) and TAKES.is_valid(value)

    def test_a_path_that_fails_late_costs_no_time(self) -> None:
        assert not TAKES.is_valid({"recipes": [{"files": "a", "image": ["." + "a" * 5_000 + "["], "key": "." + "a" * 5_000 + "["}]})


class TestPatternsThatCannotRun:
    @pytest.mark.parametrize(("text", "said"), [
        ("jobs: '(('\n", "f.yml:2: jobs: is no regular expression: missing ), unterminated subpattern"),
        ("jobs: '(?P<concurrency>x){9999999999}'\n", "f.yml:2: jobs: is no regular expression"),
        ("jobs: c[0-9]+\n", "f.yml:2: jobs: has no group `concurrency`"),
        ("jobs: '(?P<concurrency>.)(?P<recepie>.)'\n", "f.yml:2: jobs: has a group `recepie`, which nothing reads: known: concurrency, eval, recipe"),
        ("artifacts:\n  logs: [a, '{b,c}']\n", "f.yml:3: artifacts.logs.1: holds braces, which say nothing in names of artifacts"),
        ("policies:\n  x: {}\n  'a{b': {}\n", "f.yml:4: policies.a{b: has a brace without its partner"),
        ("scope:\n  files: ['{a,{b,c}}']\n", "f.yml:3: scope.files.0: has a brace without its partner, or one in another: write {a,b}"),
        ("scope:\n  keys: ['a[0]']\n", "f.yml:3: scope.keys.0: holds brackets, which are no pattern here: write {a,b}"),
        ("mentions: [a, ../b]\n", "f.yml:2: mentions.1: leaves the repository"),
        ("forbidden: [a, ' \u3000']\n", "f.yml:2: forbidden.1: stands in every text"),
        ("fixed: [{where: {model: 'a}'}, why: x}]\n", "f.yml:2: fixed.0.where.model: has a brace"),
        ("generator: inferencex\ngenerator-command: \"python3 'x\"\n", "f.yml:3: generator-command: has a quote that nobody closes"),
        ("generator-command: python3 x.py\n", "f.yml:2: generator-command: is run by nothing: `generator` is none: write `generator: inferencex`"),
        ("base: main\ngenerator-files: [a]\n", "f.yml:3: generator-files: is run by nothing"),
        ("generator: own\ngenerator-command: x\n", "f.yml:3: generator-command: is run by nothing: `generator` is own"),
    ])
    def test_are_told_when_the_layout_is_loaded(self, text: str, said: str) -> None:
        with pytest.raises(BadInput) as caught:
            load("recipes: [{files: a}]\n" + text, file="f.yml")
        assert str(caught.value).startswith(said)

    def test_of_a_preset_are_not_held_against_a_file_that_turns_its_generator_off(self) -> None:
        assert resolve("preset: inferencex\ngenerator: none\n", PRESETS).generator == "none"
