"""bumpbot's own recipes: the file that ships, and what a reader of it is told when a key does not hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from bot.errors import BadInput
from bot.recipe import own

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "recipes").glob("*.yaml"))


class TestWhatShips:
    @pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
    def test_every_recipe_loads_and_is_called_like_its_file(self, file: Path) -> None:
        recipe = own.load(file.read_bytes(), file.name)
        assert recipe.name == file.stem
        assert {point.kind for point in own.points(recipe)} == {"throughput", "eval"}

    def test_there_is_one(self) -> None:
        assert SHIPPED


class TestTheMetricOfAGate:
    @pytest.mark.parametrize("text", ["exact_match,strict-match", '"exact_match,strict-match"'])
    def test_the_filter_behind_an_unquoted_comma_is_part_of_it(self, text: str) -> None:
        data = SHIPPED[0].read_text().replace("exact_match,strict-match", text).encode()
        assert own.load(data, "r.yaml").evals[0].filtered == "exact_match,strict-match"

    def test_any_other_key_without_a_value_is_refused_with_its_line(self) -> None:
        data = SHIPPED[0].read_text().replace("exact_match,strict-match", "exact_match,strict-mtach").encode()
        with pytest.raises(BadInput, match=r"r.yaml:19: evals.0.strict-mtach: unknown key"):
            own.load(data, "r.yaml")


class TestTheSchema:
    def test_takes_what_ships_and_no_unknown_key(self) -> None:
        schema = jsonschema_rs.validator_for(own.schema())
        plain = json.loads(json.dumps(yaml.safe_load(SHIPPED[0].read_text().replace("exact_match,strict-match", '"exact_match"'))))
        assert schema.is_valid(plain)
        assert not schema.is_valid({**plain, "foo": 1}) and not schema.is_valid({**plain, "serve": {"arguments": {}}})

    @pytest.mark.parametrize(("old", "new", "told"), [
        ("engine: {name: sglang,", "engine: {name: sglang, version: 1,", "engine"),
        ("gpus: 4,", "gpus: 0,", "hardware.gpus"), ("gpus: 4,", "gpus: many,", "hardware.gpus"),
        *(("output: 256,", f"output: 256, trace: {told},", f"workload.trace.{key}") for told, key in (
            ("{}", "dataset"), ("{dataset: a, file: b}", "dataset"), ("{dataset: --foo}", "dataset"), ("{file: a, format: f}", "sha256"),
            ("{file: ../a, format: f, sha256: x}", "file"), ("{file: /a, format: f}", "file"), ("{file: a, format: --f}", "format"))),
        ("name: sglang,", "name: a b,", "engine.name"), ("weights: fp8", 'weights: "fp8\\n::error::x"', "model.weights"),
        ("revision: eb9eb208eb0d988989d07a6a12d0fdeb5f52574a", "revision: x/../../y", "model.revision"),
        ("[self-hosted, h200]", '["a|b"]', "hardware.runner"), ("metric: exact_match", "metric: a b", "evals"),
        ("task: gsm8k", "task: a/../../b", "evals"),
        ("output: 256,", "output: 256, input: -1,", "workload.input"), ("repeats: 3", "repeats: 0", "workload.repeats"),
        ("1: 8,", "one: 8,", "workload.requests"), ("1: 8,", "1: 0,", "workload.requests"),
        ("threshold: 0.90", "threshold: 90", "evals"), ("failed_requests: 0.10", "failed-requests: 0.10", "gates"),
        ("channel: stable", "channel: weekly", "policy.channel"), ("image: lmsysorg", "image: \nold: lmsysorg", "image"),
        ("tp: 4\n", "tp: [4]\n", "serve.args"), ("name: glm", "name: a/glm", "name"),
        ("requests: {1: 8, 16: 32, 64: 256, 128: 512}", "requests: {}", "workload.requests"),
        ("1: 8,", "99999999999: 8,", "workload.requests"), ("repeats: 3", "repeats: 99999999999", "workload.repeats"),
        ("image: lmsysorg", "image: Lmsys org", "image"), ("@sha256:b1259f3", "@sha256:b12", "image"),
        ("https://github.com/sgl-project/sglang", '"ext::sh -c id"', "engine.source"), ("source: https:", "source: file:", "engine.source"),
        ("repo: zai-org", "repo: ../../zai-org", "model.repo"), ("kind: chat", 'kind: "a\\nb"', "workload.kind"),
        ("task: gsm8k", "task: ../gsm8k", "evals.0.task"), ("task: gsm8k", 'task: "a b|c"', "evals.0.task"),
        ("task: gsm8k", f"task: {'x' * 121}", "evals.0.task"), ("task: gsm8k", 'task: "-x"', "evals.0.task"),
        ("tp: 4\n", "tp: 64\n", "serve.args"), ("tp: 4\n", "tp: -4\n", "serve.args"),
        ("tp: 4\n", "tp: 4.5\n", "serve.args"), ("ep: 4\n", "ep: 64\n", "serve.args"), ("name: glm5", 'name: ""\nwas: glm5', "name")])
    def test_tells_file_line_and_key_of_what_does_not_hold(self, old: str, new: str, told: str) -> None:
        text = SHIPPED[0].read_text()
        assert old in text
        with pytest.raises(BadInput) as caught:
            own.load(text.replace(old, new, 1).encode(), "r.yaml")
        assert re.match(rf"r\.yaml:\d+: \S*{re.escape(told)}", str(caught.value)), str(caught.value)

    @pytest.mark.parametrize(("old", "new", "word"), [
        ("1: 8,", "1:30: 8,", "1:30"), ("1: 8,", "1: 1:30,", "1:30"), ("1: 8,", "010: 8,", "010"), ("1: 8,", "1_0: 8,", "1_0"),
        ("tp: 4\n", "tp: no\n", "no"), ("tp: 4\n", "tp: On\n", "On"), ("env: {}", "env: {A: yes}", "yes")])
    def test_takes_no_word_that_readers_of_yaml_read_differently(self, old: str, new: str, word: str) -> None:
        text = SHIPPED[0].read_text()
        assert old in text
        with pytest.raises(BadInput, match=rf"r\.yaml:\d+: .*`{word}` is a (int|bool) to some readers and something else to others"):
            own.load(text.replace(old, new, 1).encode(), "r.yaml")


class TestTheTopology:
    @pytest.mark.parametrize(("args", "said"), [
        ("tp: 4\n    ep: 4", "TP4/EP4"), ("tensor-parallel-size: 8", "TP8"), ("tp-size: 2\n    dp-size: 2", "TP2/DP2"),
        ("tensor-parallel-size: 4\n    enable-expert-parallel: true", "TP4/EP"), ("pipeline-parallel-size: 2", "PP2"), ("x: 1", "TP1")])
    def test_is_read_from_the_words_of_each_engine(self, args: str, said: str) -> None:
        text = SHIPPED[0].read_text().replace("tp: 4\n    ep: 4", args).replace("gpus: 4", "gpus: 8")
        assert own.topology(own.load(text.encode(), "r.yaml")) == said
