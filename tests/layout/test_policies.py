"""How images move: the same keys in a layout and in an own recipe, and the one policy that comes of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from msgspec.structs import replace

from bot.errors import BadInput
from bot.images.policy import policy
from bot.layout import Layout, load, resolve, schema, wanted
from bot.model.policy import Hint, Wanted
from bot.recipe import own
from bot.recipe.read import control, read
from bot.recipe.read import policy as policy_of
from tests.layout.test_layout import PLAIN, PRESETS

ALL = """policy:
  channel: lineage
  minimum-age-days: 2
  quiet-days: 1.5
  every-days: 7
  control-arm: never
policies:
  dsv4-*: {channel: stable, must-have: [0123456789abcdef]}
  dsv4-fp4-*: {channel: nightly}
  dsv4-fp4-b200-vllm: {channel: pinned, reason: waits for a kernel}
  kimik3-*: {may-change: [cuda], must-not-have: [fedcba9], hints: [{use: v0.29.0, by: issue 7}, {contains: 0123abc}]}
"""
RECIPE = (Path(__file__).parents[2] / "recipes" / "glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5.yaml").read_text()


def said(text: str = ALL) -> Layout:
    return load(PLAIN + text, file="f.yml")


class Files:
    """The files of one revision."""

    def __init__(self, **files: str) -> None:
        self.files = {name.replace("__", "/") + ".yaml": text.encode() for name, text in files.items()}

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> list[str]:
        return [path for path in self.files if path.startswith(prefix)]


class TestALayoutsPolicies:
    def test_fit_the_schema_and_each_key_is_described(self) -> None:
        assert jsonschema_rs.validator_for(schema()).is_valid(yaml.safe_load(PLAIN + ALL))
        for name in ("Wanted", "Hint"):
            assert all(key["description"] for key in schema()["$defs"][name]["properties"].values())

    @pytest.mark.parametrize(("key", "channel", "age"), [
        ("glm5", "lineage", 2), ("dsv4-fp8-h200-vllm", "stable", 2), ("dsv4-fp4-h200-vllm", "nightly", 2),
        ("dsv4-fp4-b200-vllm", "pinned", 2), ("kimik3-fp4", "lineage", 2),
    ])
    def test_of_those_that_fit_a_recipe_the_closest_counts_key_by_key(self, key: str, channel: str, age: float) -> None:
        found = wanted(said(), key)
        assert (found.channel, found.minimum_age_days) == (channel, age)

    def test_join_key_by_key(self) -> None:
        assert wanted(said(), "dsv4-fp4-h200-vllm").must_have == ("0123456789abcdef",)
        assert wanted(said(), "glm5", Wanted(quiet_days=0)).quiet_days == 0

    def test_name_changes_by_commit_and_by_pull_request_of_any_repository(self) -> None:
        text = "policy: {must-have: ['#54853', ai-dynamo/dynamo#9001, 0123abc], must-not-have: [o/n@0123abc]}\n"
        found = wanted(said(text), "any")
        assert (found.must_have, found.must_not_have) == (("#54853", "ai-dynamo/dynamo#9001", "0123abc"), ("o/n@0123abc",))
        assert jsonschema_rs.validator_for(schema()).is_valid(yaml.safe_load(PLAIN + text))

    @pytest.mark.parametrize(("text", "told"), [
        ("policy: {chanel: stable}\n", "f.yml:7: policy.chanel: unknown key"),
        ("policy: {channel: newest}\n", "f.yml:7: policy.channel"),
        ("policy: {channel: pinned}\n", "f.yml:7: policy.reason: a pin needs its reason"),
        ("policy: {channel: pinned, reason: '  '}\n", "f.yml:7: policy.reason: a pin needs its reason"),
        ("policies:\n  a:\n    channel: pinned\n", "f.yml:8: policies.a.reason: a pin needs its reason"),
        ("policy: {minimum-age-days: -1}\n", "f.yml:7: policy.minimum-age-days"),
        ("policy: {must-have: [main]}\n", "f.yml:7: policy.must-have.0"),
        ("policy: {must-have: ['#0']}\n", "f.yml:7: policy.must-have.0"),
        ("policy: {must-not-have: [o/n#]}\n", "f.yml:7: policy.must-not-have.0"),
        ("policy: {must-have: [o/n@main]}\n", "f.yml:7: policy.must-have.0"),
        ("policy: {may-change: [version]}\n", "f.yml:7: policy.may-change.0"),
        ("policy: {hints: [{by: me}]}\n", "f.yml:7: policy.hints.0: a hint names a tag or a commit"),
        ("policy: {hints: [{use: v1, contains: 0123abc}]}\n", "f.yml:7: policy.hints.0: a hint names a tag or a commit"),
        ("policy: {channel: null}\n", "f.yml:7: policy.channel"),
        ("policy: {control-arm: always}\n", "f.yml:7: policy.control-arm"),
    ])
    def test_that_do_not_hold_are_told_with_their_line(self, text: str, told: str) -> None:
        with pytest.raises(BadInput) as caught:
            said(text)
        assert told in str(caught.value)


SMOKE = "smoke: {workflow: w.yml, title: 't', inputs: {run: '{%s}', ref: '{head}', name: '{nonce}'}%s}\npolicy: {control-arm: same-day}\n"


class TestAControlArm:
    """A key that asks for a run that nothing can start is a fault of the file that says so."""

    @pytest.mark.parametrize("text", [SMOKE % ("points", ""), SMOKE % ("arguments", ", arguments: {repeat: [--conc, '{concurrencies}']}")])
    def test_is_dispatched_as_a_repeat_is(self, text: str) -> None:
        assert wanted(said(text), "any").control_arm == "same-day" and wanted(said(), "any").control_arm == "never"

    @pytest.mark.parametrize("preset", ["own", "inferencex"])
    def test_is_to_be_had_with_each_preset(self, preset: str) -> None:
        found = resolve(f"preset: {preset}\npolicy: {{control-arm: same-day}}\n", PRESETS)
        assert wanted(found, "any").control_arm == "same-day"

    @pytest.mark.parametrize(("text", "why"), [
        ("policy: {control-arm: same-day}\n", "f.yml:7: policy.control-arm: asks for a control arm, and no workflow"),
        ("policies:\n  dsv4-*: {control-arm: same-day}\n", "f.yml:8: policies.dsv4-*.control-arm: asks for a control arm, and no workflow"),
        (SMOKE.replace("{head}", "main") % ("points", ""), "f.yml:8: policy.control-arm: asks for a control arm, and no input of the smoke holds {head}"),
        (SMOKE.replace("{nonce}", "x") % ("points", ""), "no input of the smoke holds {nonce}"),
        (SMOKE % ("keys", ""), "nothing tells the smoke's workflow which points"),
        (SMOKE % ("arguments", ""), "nothing tells the smoke's workflow which points"),
    ])
    def test_that_nothing_can_start_is_told_with_its_line(self, text: str, why: str) -> None:
        with pytest.raises(BadInput) as caught:
            said(text)
        assert why in str(caught.value)

    def test_that_an_own_recipe_asks_for_is_told_when_it_is_planned(self) -> None:
        tree = Files(recipes__r=RECIPE.replace("policy: {channel: stable, minimum-age-days: 2}", "policy: {control-arm: same-day}"))
        layout = resolve("preset: own\n", PRESETS)
        recipe = read(tree, layout, "glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5")
        assert control(tree, layout, recipe)
        with pytest.raises(BadInput, match=r"recipes/r.yaml: policy.control-arm: asks for a control arm, and no workflow"):
            control(tree, replace(layout, smoke=None), recipe)


class TestOnePolicy:
    def test_of_what_people_wrote(self) -> None:
        found = policy(wanted(said(), "kimik3-fp4"), allow=("docker.io/a/b",), platform="linux/arm64", pin=False)
        assert (found.allow, found.platform, found.pin, found.keep) == (("docker.io/a/b",), "linux/arm64", False, None)
        assert (found.minimum_age, found.quiet, found.cadence) == (timedelta(days=2), timedelta(hours=36), timedelta(days=7))
        assert (found.free, found.must_not_have) == (frozenset({"cuda"}), ("fedcba9",))
        assert found.hints == (Hint(use="v0.29.0", by="issue 7"), Hint(contains="0123abc"))

    def test_of_nothing_is_the_recipes_own_line_without_a_wait(self) -> None:
        found = policy(wanted(load(PLAIN), "any"), allow=(), platform=None, pin=True)
        assert (found.channel, found.minimum_age, found.quiet, found.free) == ("lineage", timedelta(0), timedelta(0), frozenset())

    def test_of_a_pin_keeps_the_image_for_its_reason(self) -> None:
        found = policy(wanted(said(), "dsv4-fp4-b200-vllm"), allow=(), platform=None, pin=True)
        assert found.keep == "waits for a kernel"

    @pytest.mark.parametrize(("line", "channel", "days"), [
        ("policy: {channel: stable, minimum-age-days: 2}", "stable", 2), ("policy: {channel: nightly}", "nightly", 0),
        ("policy: {minimum-age-days: 3}", "stable", 3),
    ])
    def test_of_an_own_recipe_stands_over_the_presets(self, line: str, channel: str, days: float) -> None:
        layout = resolve("preset: own\n", PRESETS)
        tree = Files(recipes__r=RECIPE.replace("policy: {channel: stable, minimum-age-days: 2}", line))
        recipe = read(tree, layout, "glm5.3flash-fp8-h200-sglang-tp4ep4-mtp5")
        found = policy_of(tree, layout, recipe)
        assert (found.channel, found.minimum_age, found.platform) == (channel, timedelta(days=days), "linux/amd64")
        assert found.pin and "docker.io/lmsysorg/sglang" in found.allow and recipe.settings["channel"] == channel

    def test_of_an_own_recipe_that_is_pinned_without_a_reason_is_refused_with_its_line(self) -> None:
        text = RECIPE.replace("channel: stable", "channel: pinned")
        line = 1 + text[: text.index("policy:")].count("\n")
        with pytest.raises(BadInput, match=rf"r.yaml:{line}: policy.reason: a pin needs its reason"):
            own.load(text.encode(), "r.yaml")
