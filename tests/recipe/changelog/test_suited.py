"""The keys and kinds of workload of an entry, compared with the guest's recipes."""

from __future__ import annotations

import pytest

from bot.errors import Refusal
from bot.layout import Layout
from bot.recipe.changelog import Entry
from bot.recipe.changelog.suited import suits
from bot.recipe.shelf import Shelf
from tests.recipe.conftest import MemoryTree

FIXED, AGENTIC = "dsv4-fp4-b200-vllm", "dsv4-fp4-b200-vllm-agentic-mtp"


def entry(*keys: str, scenarios: tuple[str, ...] = ()) -> Entry:
    return Entry(keys=keys, description=("x",), link="https://github.com/SemiAnalysisAI/InferenceX/pull/9", scenarios=scenarios)


class TestAnEntry:
    @pytest.mark.parametrize(("keys", "scenarios"), [
        ((FIXED,), ()), ((FIXED,), ("fixed-seq-len",)), ((AGENTIC,), ("agentic-coding",)), ((FIXED, AGENTIC), ("fixed-seq-len", "agentic-coding")),
    ])
    def test_of_what_stands_there_fits(self, excerpt: MemoryTree, inferencex: Layout, keys: tuple[str, ...], scenarios: tuple[str, ...]) -> None:
        assert suits(Shelf(excerpt), inferencex, entry(*keys, scenarios=scenarios)) == ()

    @pytest.mark.parametrize(("keys", "scenarios", "said"), [
        ((FIXED,), ("agentic-coding",), f"{FIXED} has no scenario agentic-coding: it has fixed-seq-len"),
        ((AGENTIC,), ("fixed-seq-len",), "it has agentic-coding"),
        ((FIXED, AGENTIC), ("agentic-coding",), f"{FIXED} has no scenario"),
        ((FIXED,), ("fixed-seq-len", "agentic-coding"), "none of these recipes has the scenario agentic-coding: they have fixed-seq-len"),
        ((FIXED.upper(),), (), f"did you mean {FIXED}"), ((FIXED, "dsv4-fp4-b200"), (), f"did you mean {FIXED}"), (("zz",), (), "known: "),
    ])
    def test_of_another_is_refused(self, excerpt: MemoryTree, inferencex: Layout, keys: tuple[str, ...], scenarios: tuple[str, ...],
                                   said: str) -> None:
        with pytest.raises(Refusal, match=said.replace(".", r"\.")):
            suits(Shelf(excerpt), inferencex, entry(*keys, scenarios=scenarios))

    def test_of_recipes_that_cannot_be_read_is_not_known(self, excerpt: MemoryTree, inferencex: Layout) -> None:
        lame = excerpt.after({"configs/runners.yaml": b"hardware: [1]\n", "configs/amd-master.yaml": b"[\n"})
        [note] = suits(Shelf(lame), inferencex, entry("mi355x-key"))
        assert note.startswith("whether mi355x-key is a recipe is not known: configs/amd-master.yaml")
        assert suits(Shelf(MemoryTree({})), inferencex, entry("a"))[0].startswith("whether the keys are those of recipes is not known")
        text = excerpt.files["configs/nvidia-master.yaml"].replace(b"    fixed-seq-len:\n", b"    fixed-seq-len: 3\n    x:\n", 1)
        [note] = suits(Shelf(excerpt.after({"configs/nvidia-master.yaml": text})), inferencex, entry(FIXED, scenarios=("fixed-seq-len",)))
        assert note.startswith(f"whether {FIXED} has such a scenario is not known")

    def test_of_a_layout_whose_recipes_name_no_scenario_is_not_known(self, inferencex: Layout, own: Layout) -> None:
        tree = MemoryTree({"recipes/toy.yaml": b"name: toy\nimage: a/b:1\n"})
        [note] = suits(Shelf(tree), own, entry("toy", scenarios=("chat",)))
        assert "scenarios is not known" in note
