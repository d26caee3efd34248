"""Layout files: presets, plain repositories, faults with file, line and key, and what rooms ask of a layout."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from bot.errors import BadInput
from bot.layout import Layout, editable, family, hardware, load, platform, resolve, rules, schema, source_of
from bot.layout.globs import matches

ROOT = Path(__file__).parents[2]
PRESETS = {path.stem: path.read_text() for path in (ROOT / "bot" / "layout" / "presets").glob("*.yml")}
PLAIN = """version: 1
recipes:
  - files: deploy/*.yaml            # globs
    key: .name
    image: [.image]
allow: [docker.io/vllm/vllm-openai, docker.io/lmsysorg/sglang]
"""


@pytest.fixture(scope="module")
def inferencex() -> Layout:
    return resolve("preset: inferencex\n", PRESETS)


class TestPlainFiles:
    def test_six_lines_are_enough(self) -> None:
        layout = load(PLAIN)
        assert layout.recipes[0].globs == ("deploy/*.yaml",) and layout.recipes[0].image == (".image",)
        assert layout.allow == ("docker.io/vllm/vllm-openai", "docker.io/lmsysorg/sglang")
        assert (layout.generator, layout.changelog, layout.smoke) == ("none", None, None)

    def test_bytes_are_taken_too(self) -> None:
        assert load(PLAIN.encode()) == load(PLAIN)


class TestPresets:
    @pytest.mark.parametrize("name", sorted(PRESETS))
    def test_stand_alone_and_fit_the_schema(self, name: str) -> None:
        assert load(PRESETS[name], file=name).recipes
        assert jsonschema_rs.validator_for(schema()).is_valid(yaml.safe_load(PRESETS[name]))

    def test_a_file_says_what_differs(self) -> None:
        text = "preset: inferencex\nbase: dev\nsmoke: {ref: dev, inputs: {fail-fast: 'false'}}\nallow: [docker.io/a/b]\n"
        layout = resolve(text, PRESETS)
        assert layout.smoke is not None
        assert (layout.base, layout.smoke.ref, layout.smoke.workflow) == ("dev", "dev", "e2e-tests.yml")
        assert layout.smoke.inputs["fail-fast"] == "false" and layout.smoke.inputs["ref"] == "{head}"
        assert layout.allow == ("docker.io/a/b",)

    def test_the_guest_preset_holds_the_guests_words(self, inferencex: Layout) -> None:
        assert inferencex.smoke is not None and inferencex.sweep is not None
        command = inferencex.smoke.inputs["generate-cli-command"]
        assert command == "test-config --config-files {file} --config-keys {keys} {arguments}"
        assert inferencex.smoke.title == "e2e Test - {test-name}"
        assert (inferencex.sweep.label, inferencex.sweep.drafts, inferencex.sweep.needs) == (
            "full-sweep-enabled", False, "perf-changelog.yaml")
        assert "@Klaud-Cold" in inferencex.forbidden and "/reuse-sweep-run" in inferencex.forbidden

    def test_an_unknown_preset_lists_the_known(self) -> None:
        with pytest.raises(BadInput, match=r"\.github/bumpbot.yml:1: preset: no preset is called 'x': presets: inferencex, own"):
            resolve("preset: x\n", PRESETS)


class TestFaults:
    @pytest.mark.parametrize(("text", "said"), [
        ("version: 1\nrecipes:\n- files: a\n  imag: [.x]\n", "f.yml:4: recipes.0.imag: unknown key"),
        ("version: 2\n", "f.yml:1: version"),
        ("version: 1\n", "recipes: no recipes are named"),
        ("recipes:\n- key: .name\n", "f.yml:2: recipes.0: the key `files` is missing: add it"),
        ("recipes:\n- files: []\n", "f.yml:2: recipes.0.files: Expected `array` of length >= 1"),
        ("recipes: [{files: ../x}]\n", "recipes.0.files: leaves the repository"),
        ("recipes: {files: a}\n", "f.yml:1: recipes: Expected `array`, got `object`"),
        ("recipes: [{files: a, image: .image}]\n", "f.yml:1: recipes.0.image: Expected `array`, got `str`"),
        ("recipes:\n- files: a\n  key: 'a b'\n", "f.yml:3: recipes.0.key: 'a b' is neither a path nor a name: a path starts with a dot"),
        ("recipes:\n- files: a\n  key: services.*\n", "f.yml:3: recipes.0.key: 'services.*' is neither a path nor a name"),
        ("recipes:\n- files: a\n  key: .a.*.b\n", "f.yml:3: recipes.0.key: has a * that is not its end: end with it, like .services.*"),
        ("recipes:\n- files: a\n  key: .a[x]\n", "f.yml:3: recipes.0.key: not a path: '.a[x]'"),
        ("recipes:\n- files: a\n  image: [.image, '.a[']\n", "f.yml:3: recipes.0.image.1: not a path: '.a['"),
        ("recipes:\n- files: a\n  facts: {model: '.a['}\n", "f.yml:3: recipes.0.facts.model: not a path: '.a['"),
        ("recipes:\n- files: a\n  linked:\n    within: ['.a[']\n", "f.yml:4: recipes.0.linked.within.0: not a path"),
        ("recipes:\n- files: a\n  linked: {files: [b, ../c]}\n", "f.yml:3: recipes.0.linked.files.1: leaves the repository"),
        ("recipes:\n- files: a\n  linked: {file: b}\n", "f.yml:3: recipes.0.linked.file: unknown key"),
        (PLAIN + "sweep: {workflow: w.yml, start: label}\n", "f.yml:7: sweep.label: a sweep by label needs the label"),
        (PLAIN + "sweep: {workflow: w.yml, label: a, primary: [b]}\n", "sweep.label: is not among the primary labels"),
        (PLAIN + "smoke: {inputs: {}}\n", "smoke.workflow: no workflow is named"),
        (PLAIN + "smoke: {workflow: w.yml, inputs: {x: '{secret}'}}\n", "{secret} is not known"),
        (PLAIN + "smoke: {workflow: w.yml, arguments: {lowest: [--conc, '{conc}']}}\n", "smoke.arguments.lowest.1: {conc} is not known"),
        (PLAIN + "smoke: {workflow: w.yml, arguments: {slowest: [x]}}\n", "slowest"),
        (PLAIN + "smoke: {workflow: w.yml, stages: []}\n", "smoke.stages"),
        (PLAIN + "sweep: {workflow: w.yml, start: label, label: a, primary: [a], fail-fast: [b]}\n", "sweep.fail-fast.0: is not among"),
        (PLAIN + "changelog: {file: c.yaml, pull: https://x/1}\n", "changelog.pull: has no {number}"),
        (PLAIN + "baselines: {url: 'http://example.org'}\n", "baselines.url: not an https address"),
        (PLAIN + "baselines: {url: 'https://ann:x@example.org'}\n", "baselines.url: not an https address without user, password"),
        (PLAIN + "baselines: {folder: ../x}\n", "baselines.folder: leaves the repository"),
        (PLAIN + "baselines: {folder: /etc}\n", "baselines.folder: leaves the repository"),
        (PLAIN + "baselines: {folder: 'days/*'}\n", "baselines.folder: is no glob"),
        (PLAIN + 'baselines: {folder: "a b\\u0007"}\n', "baselines.folder: holds what cannot be printed"),
        (PLAIN + "sources: {a/b: git@github.com:a/b}\n", "sources.a/b: not an https address"),
        (PLAIN + "repository: just-a-name\n", "repository: not an owner/name"),
        (PLAIN + "branch: ' x'\n", "branch: not a branch prefix"),
        (PLAIN.replace("vllm-openai,", "vllm-openai:v1,"), "f.yml:6: allow.0: not a registry/repository"),
        (PLAIN + "hardware: {h200: {platform: Linux}}\n", "f.yml:7: hardware"),
        (PLAIN + "a: &x 1\nb: *x\n", "aliases are not read here"),
        (PLAIN + "version: 1\n", "version: this key stands twice"),
        ("- 1\n", "f.yml"),
        ("a: [\n", "f.yml:2: not YAML"),
    ])
    def test_name_file_line_and_key(self, text: str, said: str) -> None:
        with pytest.raises(BadInput) as caught:
            load(text, file="f.yml")
        assert said in str(caught.value) and "\n" not in str(caught.value)

    def test_a_preset_keeps_the_line_of_the_file_that_is_wrong(self) -> None:
        with pytest.raises(BadInput, match=r"f.yml:3: smoke.inputs.x: \{oops\} is not known"):
            load("preset: own\nsmoke:\n  inputs: {x: '{oops}'}\n", file="f.yml", presets=PRESETS)


class TestQuestions:
    @pytest.mark.parametrize(("runner", "arm", "digests"), [
        ("cluster:gb200-nv", True, "proven"), ("gb200", True, "unproven"), ("gb300", True, "proven"),
        ("cluster:gb300-nv", True, "proven"),
        ("b200-dgxc", False, "unproven"), ("cluster:h200-dgxc", False, "proven"), ("mi355x-disagg", False, "unproven"),
        ("new", False, "unproven")])
    def test_hardware_is_found_by_its_longest_name(self, inferencex: Layout, runner: str, arm: bool, digests: str) -> None:
        assert platform(inferencex, runner) == ("linux/arm64" if arm else "linux/amd64")
        assert hardware(inferencex, runner).digests == digests

    @pytest.mark.parametrize(("runner", "digests"), [("self-hosted,h200", "proven"), ("self-hosted, linux, gb300", "proven"),
                                                     ("self-hosted,linux", "unproven")])
    def test_of_a_runners_several_labels_one_may_tell_it(self, runner: str, digests: str) -> None:
        assert hardware(resolve("preset: own\n", PRESETS), runner).digests == digests

    def test_families_fold_the_mtp_sibling_and_the_named_groups(self, inferencex: Layout) -> None:
        keys = ("a-mtp", "b", "a", "dsv4-fp4-gb200-dynamo-vllm-mtp2", "dsv4-fp4-gb200-dynamo-vllm-mtp2-nosynthetic", "a-mtp-mtp")
        assert family(inferencex, "a", keys) == ("a-mtp", "a")
        assert family(inferencex, "a-mtp", keys) == ("a-mtp", "a", "a-mtp-mtp")
        assert family(inferencex, "b", keys) == ("b",)
        assert len(family(inferencex, keys[3], keys)) == 2 and "zz" not in family(inferencex, "zz", keys)

    def test_engine_sources_go_by_repository(self, inferencex: Layout) -> None:
        assert source_of(inferencex, "docker.io/vllm/vllm-openai") == "https://github.com/vllm-project/vllm"
        assert source_of(inferencex, "nvcr.io/nvidia/tensorrt-llm/release") == "https://github.com/NVIDIA/TensorRT-LLM"
        assert source_of(inferencex, "docker.io/library/nginx") is None

    def test_a_bump_gets_the_layouts_rules(self, inferencex: Layout) -> None:
        found = rules(inferencex, branch="bumpbot/k1")
        assert found.sweep.start == "label" and found.sweep.label == "full-sweep-enabled" and not found.sweep.drafts
        assert (found.branch, found.base, found.changelog, found.style) == ("bumpbot/k1", "main", True, "full")


class TestTheSchema:
    TAKES = jsonschema_rs.validator_for(schema())

    def test_is_json(self) -> None:
        assert json.loads(json.dumps(schema()))["$ref"]

    def test_says_what_each_key_of_an_entry_means(self) -> None:
        entry = schema()["$defs"]["RecipeFiles"]["properties"]
        assert set(entry) == {"files", "key", "image", "facts", "linked"}
        assert all(len(key["description"]) > 20 for key in (*entry.values(), schema()["$defs"]["Linked"]["properties"]["files"]))

    def test_takes_what_the_pages_show(self) -> None:
        for page in ("README.md", "README_zh.md"):
            blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
            shown = [{"recipes": [{"files": "a"}], **yaml.safe_load(block)} for block in blocks if block.startswith(("version:", "policy:"))]
            assert len(shown) > 1 and all(self.TAKES.is_valid(value) for value in shown)


class TestWhatABumpMayEdit:
    @pytest.mark.parametrize(("file", "may"), [
        ("configs/nvidia-master.yaml", True), (".github/configs/amd-master.yaml", True), ("perf-changelog.yaml", True),
        ("benchmarks/multi_node/srt-slurm-recipes/vllm/a.yaml", True), ("runners/launch_gb200-nv.sh", False),
        ("configs/deprecated/nvidia-master.yaml", False), ("utils/matrix_logic/validation.py", False),
        (".github/workflows/run-sweep.yml", False), ("README.md", False)])
    def test_of_a_guest_is_recipes_linked_files_and_the_changelog(self, inferencex: Layout, file: str, may: bool) -> None:
        assert editable(inferencex, file) is may

    def test_is_never_a_workflow_whatever_the_layout_says(self) -> None:
        wide = resolve('recipes: [{files: ["**"]}]\nscope: {files: ["**"], keys: ["**"]}\n', PRESETS)
        assert editable(wide, "a/b.yaml") and not editable(wide, ".github/workflows/ci.yml")


class TestGlobs:
    @pytest.mark.parametrize(("glob", "text", "separator", "fits"), [
        ("*.image", "k1.image", ".", True), ("*.image", "a.b.image", ".", False), ("a.**", "a.b.c", ".", True),
        ("**.image", "a.b.image", ".", True), ("recipes/*.yaml", "recipes/a.yaml", "/", True), ("**/a.sh", "a.sh", "/", True),
        ("a?c", "abc", "/", True), ("a?c", "a/c", "/", False), ("{x,y}-*", "y-1", "/", True), ("a+b", "aab", "/", False)])
    def test_are_of_one_kind(self, glob: str, text: str, separator: str, fits: bool) -> None:
        assert matches(glob, text, separator) is fits
