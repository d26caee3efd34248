"""One image for some recipes: all sites together or none, told as a diff that git takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from bot.errors import BadInput, Refusal
from bot.layout import Layout, load
from bot.recipe import edit
from bot.recipe.engine import follows, moved, stated
from bot.recipe.files.diff import unified
from bot.recipe.scope import proved
from bot.recipe.shelf import Shelf, matches
from bot.recipe.sites import sites, where

DCP16 = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
NEW = "vllm/vllm-openai:nightly-dev-arm64-cu13-3696c77@sha256:42e17a3c600c043c45e0623e4568cd4d5903dd76525a85f5df6ca6fa65358b12"
OLD = "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef"
ROOT = "benchmarks/multi_node/srt-slurm-recipes/"


def master(image: str, config: str = "recipes/a.yaml", **more: str) -> str:
    extra = "".join(f"          - {name}={value}\n" for name, value in more.items())
    return (f"k1:\n  image: {image}\n  scenarios:\n    fixed-seq-len:\n    - search-space:\n      - prefill:\n"
            f"          additional-settings:\n          - CONFIG_FILE={config}\n{extra}")


def tree_of(make_tree: Any, files: Mapping[str, str]) -> Any:
    return make_tree({path: text.encode() for path, text in files.items()})


class TestTheSeedsBump:
    def test_changes_three_lines_in_two_files(self, excerpt: Any, inferencex: Layout) -> None:
        made = edit.move(excerpt, inferencex, [DCP16], NEW)
        assert len(made.files) == 2
        assert [line for line in made.diff.splitlines() if re.match(r"[+-] ", line)] == [
            f'-  container: "{OLD}"', f'+  container: "{NEW}"', f'-    image: "{OLD}"', f'+    image: "{NEW}"',
            f"-  image: {OLD}", f"+  image: {NEW}"]
        assert [site.path for site in made.sites] == [f"{DCP16}.image", "model.container", "identity.container.image"]
        assert made.findings == ()

    def test_changes_the_same_in_the_whole_repository(self, snapshot: Any, inferencex: Layout) -> None:
        made = edit.move(snapshot, inferencex, [DCP16], NEW)
        assert [(site.file.rpartition("/")[2], site.line) for site in made.sites] == [
            ("nvidia-master.yaml", 8209), ("agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml", 6),
            ("agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml", 13)]
        for file, data in made.files.items():
            before = snapshot.files[file].splitlines()
            assert sum(a != b for a, b in zip(before, data.splitlines(), strict=True)) == (1 if "configs/" in file else 2)

    def test_touches_the_image_column_of_its_five_rows_alone(self, excerpt: Any, inferencex: Layout) -> None:
        made, fault, unmade = proved(excerpt, inferencex, [DCP16], edit.move(excerpt, inferencex, [DCP16], NEW))
        assert (made.changed_rows, made.other_rows_changed, made.only_image, fault, unmade) == (5, 0, True, None, "")

    def test_done_twice_is_an_empty_diff(self, excerpt: Any, inferencex: Layout) -> None:
        once = edit.move(excerpt, inferencex, [DCP16], NEW)
        again = edit.move(excerpt.after(once.files), inferencex, [DCP16], NEW)
        assert again.diff == "" and again.files == {} and len(again.sites) == 3

    def test_undone_gives_the_same_bytes(self, excerpt: Any, inferencex: Layout) -> None:
        there = edit.move(excerpt, inferencex, [DCP16], NEW)
        back = edit.move(excerpt.after(there.files), inferencex, [DCP16], OLD)
        assert {path: excerpt.files[path] for path in back.files} == back.files


class TestLinkedFiles:
    def test_provenance_keeps_its_own_form_of_the_registry(self, make_tree: Any, inferencex: Layout) -> None:
        image = "nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc24"
        linked = (f'model:\n  container: "{image}"\nidentity:\n  container:\n    image: {image.replace("#", "/")}\n'
                  "  frameworks:\n    tensorrt_llm: 1.3.0rc24\n")
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master(image), f"{ROOT}a.yaml": linked})
        made = edit.move(tree, inferencex, ["k1"], "nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc25")
        assert made.files[f"{ROOT}a.yaml"].decode() == linked.replace("rc24", "rc25")
        assert made.findings == ()

    def test_provenance_without_the_sign_of_enroot_never_gets_it(self, make_tree: Any, inferencex: Layout) -> None:
        linked = "model: {container: nvcr.io/a/b:1.1}\nidentity: {container: {image: nvcr.io/a/b:1.1}}\n"
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master("nvcr.io/a/b:1.1"), f"{ROOT}a.yaml": linked})
        made = edit.move(tree, inferencex, ["k1"], "nvcr.io#a/b:1.2")
        assert made.files[f"{ROOT}a.yaml"].decode() == linked.replace("nvcr.io/a/b:1.1}\ni", "nvcr.io#a/b:1.2}\ni").replace("1.1", "1.2")

    @pytest.mark.parametrize("said", ["docker.io/vllm/vllm-openai:v0.20.1", "docker.io/vllm/vllm-openai:v0.20.1@sha256:" + "a" * 64,
                                      "vllm/vllm-openai:v0.20.1", "vllm/vllm-openai:v0.20.1@sha256:" + "a" * 64])
    def test_provenance_keeps_its_registry_and_its_digest_or_goes_without(self, make_tree: Any, inferencex: Layout, said: str) -> None:
        image, new = (f"vllm/vllm-openai:v0.{minor}@sha256:{letter * 64}" for minor, letter in (("20.1", "a"), ("22.0", "b")))
        linked = f"model: {{container: {image}}}\nidentity: {{container: {{image: {said}}}}}\n"
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master(image), f"{ROOT}a.yaml": linked})
        made = edit.move(tree, inferencex, ["k1"], new)
        assert made.files[f"{ROOT}a.yaml"].decode() == linked.replace("0.20.1", "0.22.0").replace("a" * 64, "b" * 64)
        assert made.findings == ()

    def test_an_alias_stays_and_is_told(self, make_tree: Any, inferencex: Layout) -> None:
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master("lmsysorg/sglang:v0.5.17-cu130"), f"{ROOT}a.yaml":
                       "model:\n  container: dynamo-sglang\nidentity:\n  container: { image: lmsysorg/sglang:v0.5.17-cu130 }\n"
                       "  frameworks: { dynamo: 1.3.0, sglang: 0.5.17 }\n"})
        made = edit.move(tree, inferencex, ["k1"], "lmsysorg/sglang:v0.5.18-cu130")
        assert made.files[f"{ROOT}a.yaml"].decode() == (
            "model:\n  container: dynamo-sglang\nidentity:\n  container: { image: lmsysorg/sglang:v0.5.18-cu130 }\n"
            "  frameworks: { dynamo: 1.3.0, sglang: 0.5.18 }\n")
        assert any("alias dynamo-sglang" in finding for finding in made.findings)

    def test_what_disagreed_before_stays_and_is_told(self, make_tree: Any, inferencex: Layout) -> None:
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master("vllm/vllm-openai:v0.20.1"),
                                   f"{ROOT}a.yaml": "model:\n  container: vllm/vllm-openai:v0.21.0\n"})
        made = edit.move(tree, inferencex, ["k1"], "vllm/vllm-openai:v0.22.0")
        assert list(made.files) == ["configs/nvidia-master.yaml"]
        assert any("model.container says vllm/vllm-openai:v0.21.0" in finding for finding in made.findings)

    def test_a_base_with_variants_is_one_file(self, make_tree: Any, inferencex: Layout) -> None:
        image = "vllm/vllm-openai:v0.20.1"
        text = master(image, "recipes/a.yaml:override_x[0]", EVAL_CONFIG_FILE="recipes/b.yaml")
        linked = {f"{ROOT}{name}.yaml": f"base:\n  model:\n    container: {image}\noverride_x:\n  name: [y]\n" for name in "ab"}
        made = edit.move(tree_of(make_tree, {"configs/amd-master.yaml": text, **linked}), inferencex, ["k1"],
                         "vllm/vllm-openai:v0.22.0")
        assert sorted(made.files) == [f"{ROOT}a.yaml", f"{ROOT}b.yaml", "configs/amd-master.yaml"]

    def test_a_variant_that_names_the_image_again_moves_too(self, make_tree: Any, inferencex: Layout) -> None:
        image = "vllm/vllm-openai:v0.20.1"
        linked = (f"base:\n  model: {{ container: {image} }}\noverride_x:\n  model:\n    container: '{image}'\n"
                  f"zip_override_y:\n  model:\n    container: [{image}, dynamo-vllm, \"{image}\"]\n")
        tree = tree_of(make_tree, {"configs/amd-master.yaml": master(image), f"{ROOT}a.yaml": linked})
        made = edit.move(tree, inferencex, ["k1"], "vllm/vllm-openai:v0.22.0")
        assert made.files[f"{ROOT}a.yaml"].decode() == linked.replace("v0.20.1", "v0.22.0")

    def test_a_second_image_in_the_settings_stays_unless_it_is_the_same(self, make_tree: Any, inferencex: Layout) -> None:
        image, other = "ghcr.io/tile-ai/tilert:1", "vllm/vllm-openai:v0.26.0"
        text = master(image, PREFILL_IMAGE=other, CLIENT_IMAGE=image)
        made = edit.move(tree_of(make_tree, {"configs/nvidia-master.yaml": text}), inferencex, ["k1"], "ghcr.io/tile-ai/tilert:2")
        assert f"PREFILL_IMAGE={other}\n" in made.files["configs/nvidia-master.yaml"].decode()
        assert f"CLIENT_IMAGE={image}\n" in made.files["configs/nvidia-master.yaml"].decode()
        twin = edit.move(tree_of(make_tree, {"configs/nvidia-master.yaml": master(image, PREFILL_IMAGE=image)}), inferencex, ["k1"],
                         "ghcr.io/tile-ai/tilert:2")
        assert "PREFILL_IMAGE=ghcr.io/tile-ai/tilert:2\n" in twin.files["configs/nvidia-master.yaml"].decode()

    def test_a_shared_file_moves_with_all_its_recipes_or_not_at_all(self, make_tree: Any, inferencex: Layout) -> None:
        text = master("a/b:1") + master("a/b:1").replace("k1:", "k2:")
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": "model:\n  container: a/b:1\n"})
        with pytest.raises(Refusal, match="shared with k2"):
            edit.move(tree, inferencex, ["k1"], "a/b:2")
        assert len(edit.move(tree, inferencex, ["k1", "k2"], "a/b:2").sites) == 3

    def test_what_one_recipe_disagrees_with_and_another_moves_is_not_said_to_stay(self, make_tree: Any, inferencex: Layout) -> None:
        text = master("a/b:1") + master("a/b:2").replace("k1:", "k2:")
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": "model:\n  container: a/b:2\n"})
        made = edit.move(tree, inferencex, ["k1", "k2"], "a/b:3")
        assert made.files[f"{ROOT}a.yaml"] == b"model:\n  container: a/b:3\n" and made.findings == ()

    def test_files_outside_the_repository_are_told(self, make_tree: Any, inferencex: Layout) -> None:
        made = edit.move(tree_of(make_tree, {"configs/nvidia-master.yaml": master("a/b:1")}), inferencex, ["k1"], "a/b:2")
        assert made.findings == ("k1: CONFIG_FILE=recipes/a.yaml names a file outside this repository; it stays",)

    @pytest.mark.parametrize(("text", "path"), [
        ("recipes/vllm/a.yaml", f"{ROOT}vllm/a.yaml"), ("recipes/a.yaml:zip_override_x[1]", f"{ROOT}a.yaml"),
        ("benchmarks/multi_node/a.yaml", "benchmarks/multi_node/a.yaml"), ("a.yaml", "benchmarks/multi_node/llm-d-recipes/a.yaml"),
        ("./recipes/vllm/a.yaml", f"{ROOT}vllm/a.yaml"), ("recipes//vllm/./a.yaml:x", f"{ROOT}vllm/a.yaml"), ("./a.yaml", "benchmarks/multi_node/llm-d-recipes/a.yaml"),
        (".//recipes/../a.yaml", None), ("//recipes/a.yaml", None), ("./", None), (".", None), ("", None),
        ("recipes/../recipes/a.yaml", f"{ROOT}a.yaml"),
        ("recipes/../.github/workflows/x.yml", None), ("../recipes/a.yaml", None), ("/etc/passwd", None), ("recipes/../../x.yaml", None), ("elsewhere/a.yaml", None)])
    def test_the_three_styles_of_naming_a_file(self, inferencex: Layout, text: str, path: str | None) -> None:
        assert inferencex.recipes[0].linked is not None
        assert where(text, inferencex.recipes[0].linked) == path


    def test_a_linked_file_moves_however_its_path_is_spelt(self, make_tree: Any, inferencex: Layout) -> None:
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master("a/b:1", "./recipes//a.yaml", EVAL_CONFIG_FILE="recipes/a.yaml"),
                                   f"{ROOT}a.yaml": "model:\n  container: a/b:1\n"})
        made = edit.move(tree, inferencex, ["k1"], "a/b:2")
        assert sorted(made.files) == [f"{ROOT}a.yaml", "configs/nvidia-master.yaml"] and made.findings == ()

    @pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "null\n", "\ufeff"])
    def test_an_empty_linked_file_is_told(self, make_tree: Any, inferencex: Layout, text: str) -> None:
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master("a/b:1"), f"{ROOT}a.yaml": text})
        assert edit.move(tree, inferencex, ["k1"], "a/b:2").findings == (f"{ROOT}a.yaml is linked and empty",)


class TestRefusals:
    def test_an_unknown_recipe_names_close_ones(self, excerpt: Any, inferencex: Layout) -> None:
        with pytest.raises(Refusal, match="did you mean kimik3-fp4"):
            edit.move(excerpt, inferencex, ["kimik3-fp4-gb200"], NEW)

    @pytest.mark.parametrize("text", ["", "a b:1", "repo:tag@sha256:abc", "repo:tag\n", "https://x/y:1", "UPPER/case:1 "])
    def test_what_is_no_reference(self, excerpt: Any, inferencex: Layout, text: str) -> None:
        with pytest.raises(Refusal, match="no image reference"):
            edit.move(excerpt, inferencex, [DCP16], text)

    def test_a_recipe_key_that_stands_twice(self, make_tree: Any, inferencex: Layout) -> None:
        tree = tree_of(make_tree, {f"configs/{maker}-master.yaml": "k1: {image: a/b:1}\n" for maker in ("amd", "nvidia")})
        with pytest.raises(BadInput, match="stands in configs/amd-master.yaml too"):
            edit.move(tree, inferencex, ["k1"], "a/b:2")

    @pytest.mark.parametrize(("text", "path"), [("image: {tag: v0.25.0}", ".image.tag"), ("image: {name: foo, tag: v0.25.0}", ".image.tag"),
                                                ("imageTag: v0.25.0", ".imageTag"), ("version: 0.25.0", ".version")])
    def test_a_part_of_an_image_is_none(self, make_tree: Any, text: str, path: str) -> None:
        layout = load(f"version: 1\nrecipes: [{{files: r.yaml, image: [{path}]}}]\n")
        with pytest.raises((Refusal, BadInput), match="part of an image|no image"):
            edit.move(tree_of(make_tree, {"r.yaml": f"name: r\n{text}\n"}), layout, ["r"], "a/b:v2")

    def test_a_workflow_is_never_edited(self, make_tree: Any) -> None:
        layout = load('version: 1\nrecipes: [{files: [".github/**"]}]\n')
        tree = tree_of(make_tree, {".github/workflows/ci.yml": "name: ci\nimage: a/b:1\n"})
        with pytest.raises(Refusal, match=r"\.github/workflows/ci\.yml is not to be edited by a bump"):
            edit.move(tree, layout, ["ci"], "a/b:2")

    def test_one_bad_file_leaves_all_files_as_they_were(self, make_tree: Any, inferencex: Layout) -> None:
        text = master("a/b:1", EVAL_CONFIG_FILE="recipes/b.yaml")
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": "model:\n  container: a/b:1\n",
                                   f"{ROOT}b.yaml": "model:\n  container: a/b:1\n  container: a/b:1\n"})
        with pytest.raises(BadInput, match="b.yaml:3: container: this key stands twice"):
            edit.move(tree, inferencex, ["k1"], "a/b:2")


class TestPlainRepositories:
    LAYOUT = """
version: 1
recipes:
  - files: deploy/*.yaml
    key: .metadata.name
    image: [".spec.template.spec.containers.*.image"]
"""
    MANIFEST = """# web
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  template:
    spec:
      containers:
      - name: engine
        image: %s   # moved by bumpbot
      - name: sidecar
        image: nginx:1.27
"""

    def test_manifests_of_several_documents(self, make_tree: Any) -> None:
        layout = load(self.LAYOUT)
        text = "---\n".join([self.MANIFEST % ("one", "a/b:1"), self.MANIFEST % ("two", "a/b:1"), "kind: Service\n"])
        made = edit.move(tree_of(make_tree, {"deploy/all.yaml": text, "deploy/sub/x.yaml": "x"}), layout, ["two"], "a/b:2")
        assert made.files["deploy/all.yaml"].decode() == "a/b:2".join(text.rsplit("a/b:1", 1))
        assert [site.line for site in made.sites] == [23]

    def test_a_missing_image_is_one_line_with_its_place(self, make_tree: Any) -> None:
        with pytest.raises(BadInput, match="deploy/a.yaml:1: one: this recipe names no image"):
            sites(tree_of(make_tree, {"deploy/a.yaml": "metadata: {name: one}\n"}), load(self.LAYOUT), "one")

    @pytest.mark.parametrize(("glob", "path", "fits"), [
        ("configs/{amd,nvidia}-master.yaml", "configs/amd-master.yaml", True),
        ("configs/*-master.yaml", "configs/deprecated/x-master.yaml", False),
        ("a/**/c.yaml", "a/c.yaml", True), ("a/**/c.yaml", "a/b/b/c.yaml", True), ("a/**", "a/b/c", True),
        ("*.yaml", "a.yml", False), ("a?.yaml", "ab.yaml", True), ("a.b", "axb", False)])
    def test_globs(self, glob: str, path: str, fits: bool) -> None:
        assert matches(glob, path) is fits


class TestTheDiff:
    @pytest.mark.parametrize(("before", "after", "lines"), [
        (b"a\nb\n", b"a\nc\n", [" a", "-b", "+c"]),
        (b"a\nb", b"a\nc", [" a", "-b", "\\ No newline at end of file", "+c", "\\ No newline at end of file"]),
        (b"a\r\n", b"b\r\n", ["-a\r", "+b\r"]),
    ])
    def test_is_what_git_writes(self, before: bytes, after: bytes, lines: list[str]) -> None:
        text = unified({"x/y": before}, {"x/y": after})
        assert text.split("\n")[:3] == ["diff --git a/x/y b/x/y", "--- a/x/y", "+++ b/x/y"]
        assert text.split("\n")[4:-1] == lines

    def test_counts_lines_of_the_whole_file(self) -> None:
        before = b"".join(b"%d\n" % n for n in range(100))
        text = unified({"f": before}, {"f": before.replace(b"\n50\n", b"\nx\n")})
        assert "@@ -48,7 +48,7 @@\n" in text


class TestEngineVersions:
    @pytest.mark.parametrize(("image", "version"), [
        ("vllm/vllm-openai:v0.20.0-ubuntu2404", "0.20.0"),
        ("nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc22.post1", "1.3.0rc22.post1"),
        ("lmsysorg/sglang:v0.5.13.post1-cu130", "0.5.13.post1"), ("lmsysorg/sglang:nightly-dev-cu13-20260805-211ee642", None),
        ("vllm/vllm-openai:v0.25.1@sha256:" + "0" * 64, "0.25.1"), ("host:5000/a/b", None), ("vllm/vllm-openai:kimi-k3", None)])
    def test_a_tag_states_its_version_or_nothing(self, image: str, version: str | None) -> None:
        assert stated(image) == version

    def test_a_written_version_is_held_against_the_tag(self) -> None:
        sha = "vllm/vllm-openai:nightly-5e35a6f4f9bbc217c599692157ca985c894373f7"
        cases = SimpleNamespace(same=follows("0.25.1", "a/b:v0.25.1"), other=follows("0.25.1", "a/b:v0.26.0"),
                                commit=follows("0.26.1rc1.dev255+g5e35a6f4f", sha), strange=follows("0.1.dev1+gb6bbf29dd", sha),
                                unknown=follows("0.1.dev1", "a/b:kimi-k3"))
        assert vars(cases) == {"same": True, "other": False, "commit": True, "strange": False, "unknown": None}

    def test_it_moves_to_what_the_new_tag_states_and_else_to_nothing(self) -> None:
        assert moved("0.25.1", "a/b:v0.25.1", "a/b:v0.26.0-cu130") == "0.26.0"
        assert moved("nightly-1", "a/b:nightly-1", "a/b:nightly-2") == "nightly-2"
        assert moved("0.25.1", "a/b:v0.25.1", "a/b:nightly-2") is None

    @pytest.mark.parametrize(("version", "old", "new", "made"), [
        ("0.25.0", "v0.25.0", "v0.26.0-cu130", "0.26.0"), ("v0.25.0", "v0.25.0", "v0.26.0", "v0.26.0"),
        ("v0.25.0", "v0.25.0-cu130", "v0.26.0", "v0.26.0"), ("nightly-abc", "nightly-abc", "v0.26.0", "v0.26.0"),
        ("v0.26.0-cu130", "v0.26.0-cu130", "nightly-abc", "nightly-abc"), ("0.1.dev1", "kimi-k3", "v0.29.0", "0.29.0")])
    def test_it_keeps_the_form_in_which_it_stands(self, version: str, old: str, new: str, made: str) -> None:
        assert moved(version, f"a/b:{old}", f"a/b:{new}") == made
        assert moved(made, f"a/b:{new}", f"a/b:{old}") in (version, None)

    @pytest.mark.parametrize(("image", "new", "left"), [
        ("vllm/vllm-openai:v0.25.0", "vllm/vllm-openai:v0.26.0", "sglang"), ("lmsysorg/sglang:v0.25.0", "lmsysorg/sglang:v0.26.0", "vllm"),
        ("rocm/sgl-dev:v0.25.0", "rocm/sgl-dev:v0.26.0", "vllm")])
    def test_another_engines_is_not_this_images_though_it_reads_alike(self, make_tree: Any, inferencex: Layout, image: str, new: str,
                                                                    left: str) -> None:
        linked = f"model: {{container: {image}}}\nidentity: {{frameworks: {{vllm: 0.25.0, sglang: 0.25.0}}}}\n"
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master(image), f"{ROOT}a.yaml": linked})
        text = edit.move(tree, inferencex, ["k1"], new).files[f"{ROOT}a.yaml"].decode()
        assert text == linked.replace("0.25.0", "0.26.0").replace(f"{left}: 0.26.0", f"{left}: 0.25.0")

    def test_an_image_of_another_engine_brings_no_version_of_this_one(self, make_tree: Any, inferencex: Layout) -> None:
        linked = "model: {container: vllm/vllm-openai:v0.25.0}\nidentity: {frameworks: {vllm: 0.25.0}}\n"
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master("vllm/vllm-openai:v0.25.0"), f"{ROOT}a.yaml": linked})
        made = edit.move(tree, inferencex, ["k1"], "lmsysorg/sglang:v0.5.1")
        assert "frameworks: {vllm: 0.25.0}" in made.files[f"{ROOT}a.yaml"].decode()
        assert any("still says 0.25.0; lmsysorg/sglang:v0.5.1 holds another engine" in finding for finding in made.findings)

    def test_a_version_that_cannot_be_told_is_a_finding(self, make_tree: Any, inferencex: Layout) -> None:
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master("a/b:v1.2.0"), f"{ROOT}a.yaml":
                       "model: {container: a/b:v1.2.0}\nidentity: {frameworks: {vllm: 1.2.0}}\n"})
        made = edit.move(tree, inferencex, ["k1"], "a/b:nightly-2")
        assert "vllm: 1.2.0" in made.files[f"{ROOT}a.yaml"].decode()
        assert any("still says 1.2.0" in finding for finding in made.findings)


class TestTheWholeRepository:
    def test_every_recipe_has_its_sites_and_known_drift_is_told(self, snapshot: Any, inferencex: Layout) -> None:
        shelf = Shelf(snapshot)
        found = [sites(shelf, inferencex, key) for key in shelf.homes(inferencex)]
        assert len(found) == 208 and len({one.image for one in found}) == 94
        assert {one.key for one in found if any(remark.kind == "disagrees" for remark in one.remarks)} == {
            "dsv4-fp4-gb200-dynamo-vllm-mtp2", "dsv4-fp4-gb200-dynamo-vllm-mtp2-nosynthetic"}
