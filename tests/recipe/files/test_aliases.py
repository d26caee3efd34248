"""Recipes that share a value by an anchor: one that moves takes no other with it, and all that are named move together."""

from __future__ import annotations

from typing import Any

import pytest

from bot.errors import BadInput, Refusal
from bot.layout import load
from bot.recipe import edit
from bot.recipe.files.document import Document
from bot.recipe.scope import proved
from bot.recipe.sites import sites

LAYOUT = load('version: 1\nrecipes: [{files: m.yaml, key: "*"}]\n')
OLD, NEW = "vllm/vllm-openai:v0.20.0", "vllm/vllm-openai:v0.21.0"
TEXT = f"""base: &b
  image: &img {OLD}  # the anchor
  model: x
k1:
  image: *img  # as above
k2:
  <<: *b
  model: z
k3: {{image: *img, m: 1}}
k4:
  <<: {{image: {OLD}, a: 1}}
  image: "{OLD}"
"""


@pytest.fixture
def tree(make_tree: Any) -> Any:
    return make_tree({"m.yaml": TEXT.encode()})


def moved(tree: Any, *keys: str) -> str:
    made = edit.move(tree, LAYOUT, keys, NEW)
    _, fault, _ = proved(tree, LAYOUT, keys, made)
    assert fault is None
    return made.files["m.yaml"].decode()


class TestARecipeMovedAlone:
    @pytest.mark.parametrize(("key", "old"), [("k1", "k1:\n  image: *img"), ("k3", "k3: {image: *img")])
    def test_gets_a_value_of_its_own_in_place_of_the_alias(self, tree: Any, key: str, old: str) -> None:
        assert moved(tree, key) == TEXT.replace(old, old.replace("*img", NEW))

    def test_stands_where_its_alias_stands(self, tree: Any) -> None:
        assert [place.site.line for place in sites(tree, LAYOUT, "k1").places] == [5]

    def test_that_overrides_what_it_merges_is_its_own(self, tree: Any) -> None:
        assert moved(tree, "k4") == TEXT.replace(f'"{OLD}"', f'"{NEW}"')

    @pytest.mark.parametrize("keys", [("base",), ("k2",), ("base", "k2"), ("base", "k1", "k3")])
    def test_is_refused_where_others_use_the_value_that_it_has(self, tree: Any, keys: tuple[str, ...]) -> None:
        with pytest.raises(Refusal, match="an alias shares this value: name the recipes that use it too"):
            edit.move(tree, LAYOUT, keys, NEW)


class TestAllThatShareAValue:
    def test_move_by_the_anchor_alone(self, tree: Any) -> None:
        assert moved(tree, "k1", "k3", "base", "k2") == TEXT.replace(f"&img {OLD}", f"&img {NEW}")

    def test_of_whom_some_use_aliases_get_values_of_their_own(self, tree: Any) -> None:
        assert moved(tree, "k1", "k3") == TEXT.replace("*img", NEW)


SERVICES = load('version: 1\nrecipes: [{files: m.yaml, key: ".services.*"}]\n')
HOLDER = f"x-llm: &c {{image: {OLD}, tty: true}}\nservices:\n  a: {{<<: *c}}\n  b:\n    <<: *c\n    x: 1\n"


def of_services(make_tree: Any, text: str, *keys: str) -> str:
    tree = make_tree({"m.yaml": text.encode()})
    made = edit.move(tree, SERVICES, keys, NEW)
    assert proved(tree, SERVICES, keys, made)[1] is None
    assert edit.move(tree.after(made.files), SERVICES, keys, OLD).files == {"m.yaml": text.encode()}
    return made.files["m.yaml"].decode()


class TestAnAnchorOutsideTheRecipes:
    """`x-llm: &c {image: ...}` above the services is no recipe: the refusal told people to name what could not be named."""

    @pytest.mark.parametrize("text", [
        HOLDER, HOLDER + "  d: {<<: *c, image: x/y:1}\n", HOLDER + "  d: {image: x/y:1, <<: [*c]}\n",
        f"x-i: &i {OLD}\nservices:\n  a: {{image: *i}}\n  b: {{image: *i}}\n",
        f"x-a: &a {{image: {OLD}}}\nx-b: &b {{<<: *a, cmd: y}}\nservices:\n  a: {{<<: *b}}\n  b: {{<<: *a}}\n",
        f"x-a: [&a {{image: {OLD}}}]\nservices: {{a: {{<<: *a}}, b: {{<<: [*a]}}}}\n",
    ])
    def test_moves_with_all_recipes_that_use_it(self, make_tree: Any, text: str) -> None:
        assert of_services(make_tree, text, "a", "b") == text.replace(OLD, NEW)

    @pytest.mark.parametrize(("text", "keys"), [
        (HOLDER, ("a",)), (HOLDER + "other: {<<: *c}\n", ("a", "b")), (HOLDER + "other: [*c]\n", ("a", "b")),
        ("x-other: &o {image: x/y:1}\n" + HOLDER + "  d: {<<: [*c, *o]}\n", ("a", "b")),
        ("x-other: &o {image: x/y:1}\n" + HOLDER + "  d: {<<: [*o, *c]}\n", ("a", "b")),
        (HOLDER + "  d: {<<: *c, Image: x/y:1}\n", ("a", "b")), (HOLDER + "  d: {c: *c, image: x/y:1}\n", ("a", "b")),
        (HOLDER.replace("a: {<<: *c}", "a: {<<: *c, old: *c}"), ("a", "b")),
    ])
    def test_stays_where_somebody_else_reads_it(self, make_tree: Any, text: str, keys: tuple[str, ...]) -> None:
        with pytest.raises(Refusal, match="an alias shares this value"):
            of_services(make_tree, text, *keys)

    def test_stays_where_the_recipes_use_its_value_by_aliases_of_their_own(self, make_tree: Any) -> None:
        text = f"x-i: &i {OLD}\nservices:\n  a: {{image: *i}}\n  b: {{image: *i}}\nother: *i\n"
        alone = edit.move(make_tree({"m.yaml": text.encode()}), SERVICES, ["a"], NEW).files["m.yaml"].decode()
        assert alone == text.replace("a: {image: *i}", f"a: {{image: {NEW}}}")
        made = edit.move(make_tree({"m.yaml": text.encode()}), SERVICES, ["a", "b"], NEW).files["m.yaml"].decode()
        assert made == text.replace("image: *i", f"image: {NEW}")

    def test_costs_no_time_where_everything_merges_everything(self, make_tree: Any) -> None:
        chain = "".join(f"k{n}: &k{n} {{<<: [*k{n - 1}, *k{n - 1}], m{n}: 1}}\n" for n in range(1, 400))
        text = f"k0: &k0 {{image: {OLD}}}\n{chain}services:\n  a: {{<<: *k0}}\nother: {{<<: *k0}}\n"
        with pytest.raises(Refusal, match="an alias shares this value"):
            of_services(make_tree, text, "a")


class TestMerging:
    @pytest.mark.parametrize(("text", "path", "said"), [
        ("b: &b {i: 1}\nk: {<<: *b}\n", ".k.i", "1"), ("b: &b {i: 1}\nk: {<<: *b, i: 2}\n", ".k.i", "2"),
        ("a: &a {i: 1}\nb: &b {j: 2}\nk: {<<: [*a, *b]}\n", ".k.i", "1"), ("a: &a {i: 1}\nk: {<<: [*a, *a]}\n", ".k.i", "1"),
        ("a: &a {i: 1}\nb: &b {i: 2}\nk: {<<: [*a, *b], i: 3}\n", ".k.i", "3"), ("a: &a {i: 1}\nb: &b {<<: *a}\nk: {<<: *b}\n", ".k.i", "1"),
        ("b: &b {i: 1}\nk: {'<<': *b}\n", ".k.i", None), ("b: &b {i: {j: 1}}\nk: {<<: *b}\n", ".k.i.j", "1")])
    def test_finds_what_a_reader_of_the_file_finds(self, text: str, path: str, said: str | None) -> None:
        assert Document(text.encode()).scalar(path) == said

    def test_of_two_mappings_that_both_have_the_key_is_refused(self) -> None:
        """PyYAML 6.0.4 compares keys by their place in memory: of `image` it takes the last, of `i` the first."""
        text = b"a: &a {image: 1}\nb: &b {image: 2}\nk: {<<: [*a, *b]}\n"
        with pytest.raises(BadInput, match=r"m\.yaml:1: k\.<<\.0\.image: image stands in 2 of the mappings that k merges: readers differ"):
            Document(text, "m.yaml").find(".k.image")

    def test_leads_through_no_mapping_with_a_key_twice(self) -> None:
        with pytest.raises(BadInput, match="this key stands twice"):
            Document(b"b: &b {i: 1, i: 2}\nk: {<<: *b}\n").find(".k.i")

    def test_star_meets_each_key_once_and_no_merge(self) -> None:
        found = Document(b"b: &b {i: 1, j: 2}\nk: {<<: *b, i: 3}\n").find(".k.*")
        assert [(hit.steps[-1], hit.node.value) for hit in found] == [("i", "3"), ("j", "2")]
