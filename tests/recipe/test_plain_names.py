"""What recipes of a plain repository are called, and what is told where some cannot be read or found."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.errors import BadInput, BumpbotError
from bot.layout import Layout, RecipeFiles
from bot.recipe.shelf import Shelf
from bot.recipe.sites import sites
from tests.recipe.test_plain_files import deployment, files, layout

NAMED = "{files: 'deploy/*.yaml', key: .name}"
GOOD = "name: good\nimage: a/b:1\n"


def why(shelf: Shelf, found: object, key: str) -> str:
    with pytest.raises(BumpbotError) as caught:
        shelf.home(found, key)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestANames:
    @pytest.mark.parametrize(("path", "name"), [
        ("Dockerfile", "Dockerfile"), ("docker/serving/Dockerfile", "docker-serving-Dockerfile"), ("x.Dockerfile", "x.Dockerfile"),
        ("a b/Dockerfile", "a-b-Dockerfile"), ("döcker/Dockerfile", "d-cker-Dockerfile"),
    ])
    def test_of_a_dockerfile_is_its_path(self, path: str, name: str) -> None:
        tree = files()
        tree.files[path] = b"FROM a/b:1\n"
        for key in (".name", "'*'", ".services.*"):
            assert list(Shelf(tree).homes(layout(f"{{files: '**/*', key: {key}}}"))) == [name]

    def test_may_stand_in_the_layout(self) -> None:
        tree = files(Dockerfile="FROM a/b:1 AS x\nFROM c/d:1 AS y\n", values_yaml="image: a/b:1\n")
        found = layout("{files: Dockerfile, key: one, image: [.FROM.x]}, {files: Dockerfile, key: two, image: [.FROM.y]}, "
                       "{files: values.yaml, key: three}")
        assert list(Shelf(tree).homes(found)) == ["one", "two", "three"]

    def test_may_stand_in_the_dockerfile(self) -> None:
        tree = files(Dockerfile="ARG NAME=serving\nFROM a/b:1\n")
        assert list(Shelf(tree).homes(layout("{files: Dockerfile, key: .ARG.NAME}"))) == ["serving"]

    def test_of_the_layout_is_refused_for_two_files_with_both_named(self) -> None:
        shelf, found = Shelf(files(a_yaml="image: a/b:1\n", b_yaml="image: a/b:1\n")), layout("{files: '*.yaml', key: one}")
        assert "b.yaml:1: one: the recipe one stands in a.yaml too" in why(shelf, found, "one")

    def test_that_lacks_its_dot_is_told_from_a_path(self) -> None:
        shelf, found = Shelf(files(a_yaml=deployment("x", "a/b:1"))), layout("{files: a.yaml, key: metadata.name}")
        assert "`key: metadata.name` would be the recipe's own name: write the path .metadata.name" in str(shelf.faults(found)[0])

    def test_that_stands_twice_hides_no_other(self) -> None:
        shelf, found = Shelf(files(**{f"deploy__{name}_yaml": GOOD for name in "abc"}, deploy__d_yaml="name: d\nimage: a/b:1\n")), layout(NAMED)
        assert list(shelf.homes(found)) == ["d"]
        assert "deploy/b.yaml:1: good: the recipe good stands in deploy/a.yaml too" in why(shelf, found, "good")


class TestABrokenFile:
    @pytest.mark.parametrize(("text", "said"), [
        (b"name: bad\nimage: [\n", "deploy/bad.yaml:3: not YAML"), (b"name: bad\n\xff\n", "deploy/bad.yaml: not UTF-8"),
        (b"name: bad\nname: bad\nimage: a/b:1\n", "deploy/bad.yaml:2: name: this key stands twice"), (b"[" * 100, "nested too deeply"),
        (b"a: &a [*a]\nname: bad", "deploy/bad.yaml:1: "), (b"? [bad]\n: 1\n", "a key must be a word"),
    ])
    def test_hides_no_recipe_of_another(self, text: bytes, said: str) -> None:
        tree = files(deploy__good_yaml=GOOD)
        tree.files["deploy/bad.yaml"] = text
        shelf, found = Shelf(tree), layout(NAMED)
        assert list(shelf.homes(found)) == ["good"] and list(shelf.broken(found)) == ["deploy/bad.yaml"]
        assert said in str(shelf.broken(found)["deploy/bad.yaml"]) and said in why(shelf, found, "bad")

    def test_is_named_to_who_asks_for_a_recipe_that_may_be_in_it(self) -> None:
        shelf = Shelf(files(deploy__good_yaml=GOOD, deploy__x_yaml="name: wanted\nimage: [\n", deploy__y_yaml="name: [\n", Dockerfile="RUN x\n"))
        found = layout(f"{NAMED}, {{files: Dockerfile}}")
        assert why(shelf, found, "wanted") == "the recipe wanted cannot be read: deploy/x.yaml:3: not YAML: did not find expected " \
                                              "node content: mend the line"
        assert "the recipe Dockerfile cannot be read: Dockerfile: there is no FROM" in why(shelf, found, "Dockerfile")
        assert "no recipe is called other" in why(shelf, found, "other") and "not read: deploy/y.yaml:2" in why(shelf, found, "other")

    def test_is_also_a_dockerfile_among_recipes_of_a_generator(self, own: Layout) -> None:
        entries = (*own.recipes, RecipeFiles(files="Dockerfile"))
        found = replace(own, recipes=entries)
        shelf = Shelf(files(Dockerfile="FROM a/b:1\n"))
        assert shelf.homes(found) == {} and "is no recipe that the generator `own`" in why(shelf, found, "Dockerfile")

    def test_leaves_what_its_other_documents_say(self) -> None:
        shelf = Shelf(files(deploy__a_yaml=f"{GOOD}---\nname: x\nname: y\n"))
        assert list(shelf.homes(layout(NAMED))) == ["good"] and len(shelf.broken(layout(NAMED))) == 1

    def test_at_the_image_alone_is_that_recipes_own_fault(self) -> None:
        shelf = Shelf(files(deploy__a_yaml="name: x\nspec: {image: a/b:1, image: a/b:2}\n"))
        found = layout("{files: deploy/a.yaml, image: [.spec.image]}")
        assert list(shelf.homes(found)) == ["x"] and shelf.faults(found) == ()
        with pytest.raises(BadInput, match=r"deploy/a\.yaml:2: image: this key stands twice"):
            sites(shelf, found, "x")


class TestAnEntryThatFindsNothing:
    @pytest.mark.parametrize(("entry", "said"), [
        ("{files: nowhere/*.yaml}", "no file fits nowhere/*.yaml"), ("{files: [a/*, b/*]}", "no file fits a/*, b/*"),
        ("{files: deploy/*.yaml, key: .nme}", "no recipe is in the files of deploy/*.yaml: nothing stands at .nme"),
        ("{files: deploy/*.yaml, image: [.img]}", "no recipe is in the files of deploy/*.yaml: no image stands at .img"),
    ])
    def test_says_so_also_to_who_asks_for_a_recipe(self, entry: str, said: str) -> None:
        shelf, found = Shelf(files(deploy__a_yaml=GOOD)), layout(entry)
        assert shelf.empty(found) == (said,) and said in why(shelf, found, "ghost")

    def test_is_none_where_one_of_its_globs_does(self) -> None:
        assert Shelf(files(deploy__a_yaml=GOOD)).empty(layout("{files: [old/*.yaml, deploy/*.yaml]}")) == ()
