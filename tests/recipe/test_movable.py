"""Which images `plan` and `bump` refuse to move, each for its reason, before anybody is asked anything."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bot.errors import Refusal
from bot.layout import Layout
from bot.plan import movable
from bot.recipe.movable import obstacles, require
from bot.recipe.read import family
from bot.recipe.shelf import Shelf
from tests.recipe.test_move import ROOT, master, tree_of

IMAGE = "vllm/vllm-openai:v0.25.0"
LINKED = f"model:\n  container: {IMAGE}\n"


def guest(make_tree: Any, text: str = master(IMAGE), linked: str = LINKED) -> Any:
    return tree_of(make_tree, {"configs/nvidia-master.yaml": text, f"{ROOT}a.yaml": linked})


def kinds(tree: Any, layout: Layout, *keys: str) -> list[str]:
    return [one.kind for one in obstacles(tree, layout, keys or ("k1",))]


class TestARecipeIsMoved:
    def test_when_its_files_agree(self, make_tree: Any, inferencex: Layout) -> None:
        assert movable(guest(make_tree), inferencex, "k1") == ("k1",)

    def test_when_a_container_is_an_alias(self, make_tree: Any, inferencex: Layout) -> None:
        assert kinds(guest(make_tree, linked="model:\n  container: dynamo-sglang\n"), inferencex) == []

    def test_when_one_image_is_spelled_in_two_ways(self, make_tree: Any, inferencex: Layout) -> None:
        text, linked = master("nvcr.io/nvidia/a/b:1"), "model:\n  container: nvcr.io#nvidia/a/b:1\n"
        assert kinds(guest(make_tree, text, linked), inferencex) == []

    def test_when_a_written_version_is_an_older_ones(self, make_tree: Any, inferencex: Layout) -> None:
        """An image whose tag states no version leaves the written one behind: that must not end all later bumps."""
        linked = f"{LINKED}identity:\n  frameworks:\n    vllm: 0.19.0\n"
        assert kinds(guest(make_tree, linked=linked), inferencex) == []


class TestARecipeIsRefused:
    def test_when_its_files_disagree_already(self, make_tree: Any, inferencex: Layout) -> None:
        tree = guest(make_tree, linked="model:\n  container: vllm/vllm-openai:v0.24.0\n")
        with pytest.raises(Refusal, match=r"a\.yaml:2: model\.container says vllm/vllm-openai:v0\.24\.0, the recipe .*v0\.25\.0"):
            movable(tree, inferencex, "k1")

    @pytest.mark.parametrize("setting", ["PREFILL_IMAGE", "CLIENT_IMAGE"])
    def test_when_it_runs_a_second_image(self, make_tree: Any, inferencex: Layout, setting: str) -> None:
        tree = guest(make_tree, master(IMAGE, **{setting: "lmsysorg/sglang:v0.5.15"}))
        with pytest.raises(Refusal, match=f"{setting} names a second image, lmsysorg/sglang:v0.5.15: move both images by hand"):
            movable(tree, inferencex, "k1")

    def test_when_a_file_that_it_names_lies_elsewhere(self, make_tree: Any, inferencex: Layout) -> None:
        tree = guest(make_tree, master(IMAGE, "recipes/elsewhere.yaml"))
        said = "CONFIG_FILE=recipes/elsewhere.yaml names a file outside this repository"
        with pytest.raises(Refusal, match=said):
            require(tree, inferencex, ["k1"])
        nowhere = replace(inferencex, preflight=replace(inferencex.preflight, elsewhere=()))
        with pytest.raises(Refusal, match=said):
            movable(tree, nowhere, "k1")

    def test_only_after_the_checks_where_the_layout_says_in_which_repository_it_lies(self, make_tree: Any, inferencex: Layout) -> None:
        """#2913: what stands there may prove that the image does not fit, which is worth more than that it cannot be moved."""
        tree = guest(make_tree, master(IMAGE, "recipes/elsewhere.yaml"))
        assert movable(tree, inferencex, "k1") == ("k1",)

    def test_when_its_launcher_does_not_read_the_image(self, make_tree: Any, inferencex: Layout) -> None:
        text = master(IMAGE).replace("  scenarios:", "  framework: dynamo-sglang\n  runner: h100-multinode\n  scenarios:")
        with pytest.raises(Refusal, match=r"launch_h100-dgxc-slurm\.sh .* does not read the recipe's image: change the launcher first"):
            movable(guest(make_tree, text), inferencex, "k1")
        assert kinds(guest(make_tree, text.replace("h100-", "h200-")), inferencex) == []

    def test_when_a_recipe_outside_its_family_would_move_too(self, make_tree: Any, inferencex: Layout) -> None:
        tree = guest(make_tree, master(IMAGE) + master(IMAGE).replace("k1:", "other:"))
        with pytest.raises(Refusal, match=r"a\.yaml is shared with other, outside k1: put the recipes into one family"):
            movable(tree, inferencex, "k1")
        assert kinds(tree, inferencex, "k1", "other") == []

    def test_with_every_reason_at_once(self, make_tree: Any, inferencex: Layout) -> None:
        tree = guest(make_tree, master(IMAGE, "recipes/elsewhere.yaml", CLIENT_IMAGE="a/b:1"))
        assert sorted(kinds(tree, inferencex)) == ["outside", "second-image"]
        with pytest.raises(Refusal, match=r"CLIENT_IMAGE .*; k1: CONFIG_FILE"):
            require(tree, inferencex, ["k1"])


class TestAFamily:
    def test_is_a_recipe_and_its_sibling_of_the_same_image(self, make_tree: Any, inferencex: Layout) -> None:
        pair = master(IMAGE) + master(IMAGE).replace("k1:", "k1-mtp:")
        assert family(guest(make_tree, pair), inferencex, "k1-mtp") == ("k1", "k1-mtp")

    def test_is_left_by_a_sibling_that_runs_another_image(self, make_tree: Any, inferencex: Layout) -> None:
        pair = master(IMAGE) + master("vllm/vllm-openai:v0.24.0", "recipes/b.yaml").replace("k1:", "k1-mtp:")
        assert family(guest(make_tree, pair), inferencex, "k1") == ("k1",)

    def test_that_is_named_moves_together_or_not_at_all(self, make_tree: Any, inferencex: Layout) -> None:
        one, two = inferencex.families.groups[0]
        text = master(IMAGE).replace("k1:", f"{one}:") + master("vllm/vllm-openai:v0.24.0").replace("k1:", f"{two}:")
        assert "family" in kinds(guest(make_tree, text), inferencex, one, two)
        with pytest.raises(Refusal, match="one family run different images"):
            movable(guest(make_tree, text), inferencex, two)


class TestTheRealRepository:
    def test_the_recipes_that_cannot_move_are_those_its_people_know(self, snapshot: Any, inferencex: Layout) -> None:
        shelf, found = Shelf(snapshot), dict[str, set[str]]()
        for key in shelf.homes(inferencex):
            for one in obstacles(shelf, inferencex, [key]):
                found.setdefault(one.kind, set()).add(key)
        mtp2 = {"dsv4-fp4-gb200-dynamo-vllm-mtp2", "dsv4-fp4-gb200-dynamo-vllm-mtp2-nosynthetic"}
        assert found.pop("disagrees") == found.pop("shared") == mtp2
        assert found.pop("launcher") == {"dsr1-fp8-h100-dynamo-sglang"}
        assert found.pop("second-image") == {"glm5.1-fp8-b200-tilert", "dsv4-fp4-mi355x-sglang-disagg-agentic-hicache-mtp"}
        assert len(found.pop("outside")) == 23 and not found
