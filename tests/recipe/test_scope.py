"""The comparison of two matrices, row by row and field by field, and the words that ask a guest's generator for them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bot.errors import BadInput, Refusal
from bot.layout import Layout
from bot.recipe import edit, scope, words
from bot.recipe.rows import Row
from bot.recipe.scope import Side, contrast, side
from bot.recipe.shelf import Shelf
from tests.fakes.guests import DCP16, NEW, OTHER

AGENTIC = "dsv4-fp4-b200-vllm-agentic-mtp"
HELP = """usage: gen.py test-config --config-files FILES [FILES ...] [--no-evals | --evals-only] [-h]

options:
  --config-files FILES [FILES ...]
                        Files (see also
                        --old-files, and --older-files)
  --no-evals            Skips evals, unlike --all-evals
  -c, --conc CONC [CONC ...]
                        Only these
  -h, --help            show this help message and exit

more:
    --trim-conc, --trim   Trims
"""


def row(conc: int, image: str = "a:1", **more: Any) -> Row:
    return {"image": image, "exp-name": f"m_conc{conc}", "conc": conc, "tp": 8, **more}


def matrix(**parts: Any) -> Side:
    return Side(**{"family": {"k": [row(1), row(2)]}, "evals": [row(2, **{"eval-only": True})], "others": [row(4, "b:1")],
                   "other_evals": [row(4, "b:1", **{"eval-only": True})], **parts})


MOVED = {"family": {"k": [row(1, "a:2"), row(2, "a:2")]}, "evals": [row(2, "a:2", **{"eval-only": True})]}


class TestWhatHolds:
    def test_an_image_that_moves_with_all_its_rows(self) -> None:
        found, fault = contrast(matrix(), matrix(**MOVED))
        assert fault is None
        assert (found.changed_rows, found.other_rows_changed, found.only_image) == (2, 0, True)

    def test_nothing_at_all(self) -> None:
        found, fault = contrast(matrix(), matrix())
        assert fault is None and (found.changed_rows, found.other_rows_changed, found.only_image) == (0, 0, True)

    def test_rows_in_another_order(self) -> None:
        _, fault = contrast(matrix(), matrix(**{**MOVED, "family": {"k": [row(2, "a:2"), row(1, "a:2")]}}))
        assert fault is None


class TestWhatIsRefused:
    """Each with the first row and field that differs."""

    @pytest.mark.parametrize(("after", "said", "only_image", "others"), [
        ({"family": {"k": [row(1, "a:2")]}}, "k: the row m_conc2 at concurrency 2 vanished", False, 0),
        ({"family": {"k": [*MOVED["family"]["k"], row(8, "a:2")]}}, "k: the row m_conc8 at concurrency 8 came", False, 0),
        ({"family": {"k": [row(1, "a:2"), row(2, "a:2"), row(2, "a:2")]}}, "k: the row m_conc2 at concurrency 2 came", False, 0),
        ({"family": {"k": [row(1, "a:2"), row(2, "a:2", tp=4)]}}, "k: the row m_conc2 at concurrency 2: tp 8 -> 4", False, 0),
        ({"family": {"k": [row(1, "a:2"), row(2, "a:2", new="x")]}}, "concurrency 2: new null -> \"x\"", False, 0),
        ({"family": {"k": [row(1, "a:2"), row(2, "a:2", tp=8.0)]}}, "tp 8 -> 8.0", False, 0),
        ({"family": {"k": []}}, "the rows of k dropped to nothing", False, 0),
        ({"evals": []}, "evals of the family: the row m_conc2 at concurrency 2 vanished", False, 0),
        ({"others": [row(4, "b:2")]}, "another recipe: the row m_conc4 at concurrency 4: image \"b:1\" -> \"b:2\"", True, 1),
        ({"others": []}, "another recipe: the row m_conc4 at concurrency 4 vanished", True, 1),
        ({"other_evals": []}, "evals of other recipes: the row m_conc4 at concurrency 4 vanished", True, 1),
    ])
    def test_is_named(self, after: dict[str, Any], said: str, only_image: bool, others: int) -> None:
        found, fault = contrast(matrix(), matrix(**{**MOVED, **after}))
        assert fault is not None and said in fault
        assert (found.only_image, found.other_rows_changed) == (only_image, others)

    def test_a_field_that_is_true_is_not_one(self) -> None:
        _, fault = contrast(matrix(family={"k": [row(1, flag=1)]}), matrix(family={"k": [row(1, flag=True)]}))
        assert fault is not None and "flag 1 -> true" in fault

    def test_a_long_value_is_cut(self) -> None:
        _, fault = contrast(matrix(), matrix(others=[row(4, "b" * 1000)]))
        assert fault is not None and len(fault) < 250


class TestOurOwnRows:
    def test_prove_an_edit_with_nothing_but_the_files(self, excerpt: Any, inferencex: Layout) -> None:
        moved = edit.move(excerpt, inferencex, [DCP16], NEW)
        found, fault, _ = scope.proved(excerpt, inferencex, [DCP16], moved)
        assert fault is None
        assert (found.changed_rows, found.other_rows_changed, found.only_image, found.by) == (5, 0, True, "bumpbot")

    def test_tell_whose_rows_moved_too(self, excerpt: Any, inferencex: Layout) -> None:
        moved = edit.move(excerpt, inferencex, [DCP16, OTHER], NEW)
        found, fault, _ = scope.proved(excerpt, inferencex, [DCP16], moved)
        assert fault is not None and fault.startswith("another recipe: the row dsv4_8k1k at concurrency") and "image" in fault
        assert found.only_image and found.other_rows_changed > 0

    def test_name_the_evals_as_rows(self, excerpt: Any, inferencex: Layout) -> None:
        found = side(excerpt, inferencex, [DCP16]).evals
        assert [(each["eval-conc"], each["run-eval"], each["eval-only"]) for each in found] == [(16, True, True)]


class TestRecipesOfWhichNoRowCanBeMade:
    """A year ago the guest wrote its masters otherwise; and an edit may be asked for without the file of runners."""

    @pytest.fixture
    def bare(self, excerpt: Any, make_tree: Any) -> Any:
        return make_tree({path: data for path, data in excerpt.files.items() if path != "configs/runners.yaml"})

    def test_are_compared_by_their_entries(self, bare: Any, inferencex: Layout) -> None:
        found, fault, unmade = scope.proved(bare, inferencex, [DCP16], edit.move(bare, inferencex, [DCP16], NEW))
        assert (found.changed_rows, found.other_rows_changed, found.only_image, fault) == (0, 0, True, None)
        assert "has no host memory on record" in unmade

    @pytest.mark.parametrize(("key", "said"), [(DCP16, f"{DCP16}'s entry: the row {DCP16} at concurrency null: model"),
                                               (AGENTIC, f"another recipe's entry: the row {AGENTIC} at concurrency null: model")])
    def test_that_say_something_else_are_named(self, bare: Any, inferencex: Layout, key: str, said: str) -> None:
        moved = edit.move(bare, inferencex, [DCP16], NEW)
        file = "configs/nvidia-master.yaml"
        entry = moved.files[file].index(f"\n{key}:".encode())
        head, tail = moved.files[file][:entry], moved.files[file][entry:]
        other = {**moved.files, file: head + tail.replace(b"\n  model: ", b"\n  model: another/", 1)}
        found, fault, _ = scope.proved(bare, inferencex, [DCP16], msgspec.structs.replace(moved, files=other))
        assert fault is not None and fault.startswith(said)
        assert (found.only_image, found.other_rows_changed) == ((False, 0) if key == DCP16 else (True, 1))

    def test_are_those_of_an_old_form_too(self, make_tree: Any, inferencex: Layout) -> None:
        tree = make_tree({"configs/amd-master.yaml": b"k1:\n  image: a/b:1\n  seq-len-configs:\n  - isl: 1024\n"})
        found, fault, unmade = scope.proved(tree, inferencex, ["k1"], edit.move(tree, inferencex, ["k1"], "a/b:2"))
        assert found.only_image and fault is None and unmade == "configs/amd-master.yaml: k1: no row comes of it"


class TestASettingThatNamesTheImageAgain:
    def test_moves_with_it_and_is_no_fault(self, excerpt: Any, make_tree: Any, inferencex: Layout) -> None:
        file = "configs/nvidia-master.yaml"
        image = Shelf(excerpt).home(inferencex, DCP16).text(".image")
        assert image is not None
        text = excerpt.files[file].decode().replace("SYNTHETIC_ACCEPTANCE=true", f"PREFILL_IMAGE={image}")
        tree = make_tree({**excerpt.files, file: text.encode()})
        moved = edit.move(tree, inferencex, [DCP16], NEW)
        assert f"PREFILL_IMAGE={NEW}" in moved.files[file].decode()
        found, fault, _ = scope.proved(tree, inferencex, [DCP16], moved)
        assert fault is None and found.only_image and found.changed_rows == 5


class TestOwnRecipes:
    def test_are_not_held_up_by_a_neighbour_that_does_not_hold(self, make_tree: Any, own: Layout) -> None:
        good = (b"name: a\nimage: x/y:1\nengine: {name: vllm}\nmodel: {repo: m/n}\nhardware: {gpu: h200, gpus: 1}\n"
                b"workload: {kind: chat, requests: {1: 8}}\n")
        tree = make_tree({"recipes/a.yaml": good, "recipes/b.yaml": good.replace(b"name: a", b"name: b\nfoo: 1")})
        found, fault, _ = scope.proved(tree, own, ["a"], edit.move(tree, own, ["a"], "x/y:2"))
        assert (found.changed_rows, found.only_image, fault) == (1, True, None)
        with pytest.raises(BadInput, match=r"recipes/b\.yaml:2: foo"):
            scope.proved(tree, own, ["b"], edit.move(tree, own, ["b"], "x/y:2"))


class TestHelp:
    def test_options_are_those_listed_with_all_their_names(self) -> None:
        assert words.options(HELP) == {"--config-files", "--no-evals", "--conc", "--help", "--trim-conc", "--trim"}

    @pytest.mark.parametrize("text", ["", "usage: x [--all]\n", "--conc at the margin\n", "no options\n\n                --deep  x"])
    def test_nothing_else_is_one(self, text: str) -> None:
        assert words.options(text) == frozenset()

    @pytest.mark.parametrize(("said", "first"), [
        (["a", "--no-evals", "--trim-conc"], "--trim-conc"), (["--conc=1"], None), (["--other=1"], "--other"), (["-x", "a"], None)])
    def test_the_first_unknown_option_is_named(self, said: list[str], first: str | None) -> None:
        assert words.unknown(said, {"--no-evals", "--conc"}) == first


class TestQuestions:
    ALL = frozenset({"--no-evals", "--evals-only", "--runner-config", "--conc"})

    def asked(self, tree: Any, layout: Layout, known: frozenset[str]) -> dict[tuple[str, str], tuple[str, ...]]:
        return words.questions(Shelf(tree), layout, [DCP16], known)

    def test_ask_for_each_recipe_its_evals_and_all_others(self, excerpt: Any, inferencex: Layout) -> None:
        asked = self.asked(excerpt, inferencex, self.ALL)
        assert list(asked) == [("rows", DCP16), ("rows", "*"), ("evals", ""), ("evals", "*")]
        start = ("test-config", "--config-files", "configs/nvidia-master.yaml", "--runner-config", "configs/runners.yaml")
        assert asked["rows", DCP16] == (*start, "--config-keys", DCP16, "--no-evals")
        assert OTHER in asked["rows", "*"] and DCP16 not in asked["rows", "*"]
        assert asked["evals", ""] == (*start, "--config-keys", DCP16, "--evals-only")

    def test_use_no_option_that_is_not_known(self, excerpt: Any, inferencex: Layout) -> None:
        asked = self.asked(excerpt, inferencex, frozenset())
        assert list(asked) == [("rows", DCP16), ("rows", "*")]
        assert asked["rows", DCP16] == ("test-config", "--config-files", "configs/nvidia-master.yaml", "--config-keys", DCP16)

    def test_find_the_machines_where_they_lay_before(self, excerpt: Any, inferencex: Layout, make_tree: Any) -> None:
        old = make_tree({path.replace("configs/", ".github/configs/"): data for path, data in excerpt.files.items()})
        asked = self.asked(old, inferencex, self.ALL)
        assert asked["rows", DCP16][2:5] == (".github/configs/nvidia-master.yaml", "--runner-config", ".github/configs/runners.yaml")
        assert side(old, inferencex, [DCP16]).family == side(excerpt, inferencex, [DCP16]).family

    def test_come_with_recipes_machines_and_linked_files(self, excerpt: Any, inferencex: Layout) -> None:
        given = words.data(Shelf(excerpt), inferencex)
        linked = [path for path in excerpt.files if path.startswith("benchmarks/")]
        assert sorted(given) == sorted(["configs/nvidia-master.yaml", "configs/runners.yaml", *linked])

    def test_give_no_program_that_a_recipe_names(self, excerpt: Any, inferencex: Layout, make_tree: Any) -> None:
        files = dict(excerpt.files)
        master = files["configs/nvidia-master.yaml"].decode()
        name = "CONFIG_FILE=benchmarks/multi_node/x.py"
        files["configs/nvidia-master.yaml"] = master.replace(
            "CONFIG_FILE=recipes/vllm/kimi-k3/agentic/agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml", name).encode()
        files["benchmarks/multi_node/x.py"] = b"print()"
        assert name in files["configs/nvidia-master.yaml"].decode()
        assert not any(path.endswith(".py") for path in words.data(Shelf(make_tree(files)), inferencex))


class TestStages:
    KNOWN = frozenset({"--no-evals", "--evals-only", "--conc"})

    def staged(self, layout: Layout, **more: Any) -> Layout:
        assert layout.smoke is not None
        return msgspec.structs.replace(layout, smoke=msgspec.structs.replace(layout.smoke, **more))

    def test_stay_where_every_option_is_known(self, inferencex: Layout) -> None:
        assert words.settled(inferencex, self.KNOWN) == inferencex
        trimmed = self.staged(inferencex, stages=("trim",))
        assert words.settled(trimmed, self.KNOWN | {"--trim-conc"}) == trimmed

    def test_give_way_to_those_that_the_layout_names(self, inferencex: Layout) -> None:
        found = words.settled(self.staged(inferencex, stages=("trim",)), self.KNOWN)
        assert found.smoke is not None and found.smoke.stages == ("evals", "lowest")

    @pytest.mark.parametrize(("known", "more", "said"), [
        ({"--no-evals", "--evals-only"}, {}, "no option --conc, which the layout names for the smoke's lowest"),
        ({"--no-evals", "--conc"}, {}, "no option --evals-only, which the layout names for the smoke's evals"),
        (KNOWN, {"stages": ("trim",), "otherwise": {}}, "no option --trim-conc, which the layout names for the smoke's trim"),
    ])
    def test_are_refused_by_the_option_s_name(self, inferencex: Layout, known: set[str], more: dict[str, Any], said: str) -> None:
        with pytest.raises(Refusal, match=said):
            words.settled(self.staged(inferencex, **more), known)
