"""Lines that name the old image and are no site: an edit leaves them, and they are told."""

from __future__ import annotations

from typing import Any

import pytest

from bot.layout import Layout, load
from bot.recipe.mentions import Mention, mentions, told
from tests.recipe.test_move import ROOT, master, tree_of

IMAGE = "vllm/vllm-openai:v0.21.0-cu130"


def found(tree: Any, layout: Layout, key: str = "k1") -> list[tuple[str, int, str]]:
    made = mentions(tree, layout, [key])
    return [(one.file.rpartition("/")[2], one.line, one.name) for one in made]


class TestAComment:
    def test_above_a_recipe_that_justifies_the_pin_is_told_and_the_site_is_not(self, make_tree: Any, inferencex: Layout) -> None:
        text = f"# v0.21.0 is the first with the fix\n# for this model.\n{master(IMAGE)}"
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": f"# of {IMAGE}.\nmodel: {{container: {IMAGE}}}\n"})
        assert found(tree, inferencex) == [("nvidia-master.yaml", 1, "v0.21.0"), ("a.yaml", 1, IMAGE)]

    def test_behind_the_image_on_its_own_line_is_told(self, make_tree: Any, inferencex: Layout) -> None:
        text = master(f"{IMAGE}  # pin: v0.21.0")
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": "model: {}\n"})
        assert found(tree, inferencex) == [("nvidia-master.yaml", 2, "v0.21.0")]

    def test_of_the_next_recipe_is_not_this_ones(self, make_tree: Any, inferencex: Layout) -> None:
        text = f"{master(IMAGE)}\n# k2 stays on v0.21.0\n{master('a/b:1').replace('k1:', 'k2:')}"
        assert found(tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": "model: {}\n"}), inferencex) == []

    @pytest.mark.parametrize("comment", ["v0.21.0-cu129", "0.21.01", "1.0.21.0", "v0.21.0.post1", "xv0.21.0"])
    def test_that_names_another_version_is_none(self, make_tree: Any, inferencex: Layout, comment: str) -> None:
        text = f"# {comment}\n{master(IMAGE)}"
        assert found(tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": "model: {}\n"}), inferencex) == []

    def test_with_a_tag_that_is_an_everyday_word_counts_by_the_whole_name_alone(self, make_tree: Any, inferencex: Layout) -> None:
        text = f"# the latest, at last\n# a/b:latest\n{master('a/b:latest')}"
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": "model: {}\n"})
        assert found(tree, inferencex) == [("nvidia-master.yaml", 2, "a/b:latest")]


class TestALinkedFile:
    @pytest.mark.parametrize("text", ["model: [{container: %s}]\n", "model: {container: {image: %s}}\n", "# %s\n"])
    def test_in_which_the_image_stands_where_nobody_looks_for_it_is_told(self, make_tree: Any, inferencex: Layout, text: str) -> None:
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": master(IMAGE), f"{ROOT}a.yaml": text % IMAGE})
        assert found(tree, inferencex) == [("a.yaml", 1, IMAGE)]


class TestASite:
    @pytest.mark.parametrize("value", ["|\n    a/b:1.2\n", "&x a/b:1.2\n", "\n    'a/b:1.2'\n"])
    def test_of_several_lines_is_no_mention(self, make_tree: Any, value: str) -> None:
        layout = load("version: 1\nrecipes: [{files: r.yaml}]\n")
        assert found(tree_of(make_tree, {"r.yaml": f"name: r\nimage: {value}"}), layout, "r") == []


class TestAVersionThatMayHaveToFollow:
    def test_is_told_with_its_line(self, make_tree: Any, inferencex: Layout) -> None:
        text = master("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.8.1.post1") + '  router: { version: "0.8.1.post1" }\n'
        tree = tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": "model: {}\n"})
        assert found(tree, inferencex) == [("nvidia-master.yaml", 9, "0.8.1.post1")]


class TestOtherFiles:
    LAYOUT = load('version: 1\nrecipes: [{files: r.yaml}]\nmentions: ["scripts/**/*.sh"]\n')

    def test_that_the_layout_names_count_by_the_whole_name(self, make_tree: Any) -> None:
        tree = tree_of(make_tree, {"r.yaml": "name: r\nimage: nvcr.io/a/b:1.3.0rc18\n", "other.sh": "nvcr.io/a/b:1.3.0rc18\n",
                                   "scripts/x/patch.sh": "# 1.3.0rc18\ndocker run nvcr.io#a/b:1.3.0rc18\n"})
        assert found(tree, self.LAYOUT, "r") == [("patch.sh", 2, "nvcr.io#a/b:1.3.0rc18")]

    def test_that_are_no_text_are_no_trouble(self, make_tree: Any) -> None:
        tree = make_tree({"r.yaml": b"name: r\nimage: a/b:1\n", "scripts/x.sh": b"\xff\x00 a/b:1 \n" + b"x" * 100_000})
        assert found(tree, self.LAYOUT, "r") == [("x.sh", 1, "a/b:1")]


class TestAProposal:
    def test_names_the_first_in_both_languages_and_counts_the_rest(self) -> None:
        note, = told([Mention(file="a.sh", line=at, name="x") for at in range(1, 8)])
        assert note.en.endswith("a.sh:1, a.sh:2, a.sh:3, a.sh:4, a.sh:5 and 2 more") and "a.sh:5 等 7 处" in note.zh

    def test_names_no_file_whose_name_could_not_stand_there(self) -> None:
        assert told([Mention(file="a @claude b.sh", line=1, name="x")]) == () == told([])
