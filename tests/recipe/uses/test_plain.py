"""What a recipe of somebody's own form pins and passes in its own file. A pin there was overlooked, and a server that cannot start
would have been sent to a GPU."""

import pytest

from bot.adapters.assets import PackagedAssets
from bot.layout.load import load
from bot.recipe.read import read
from bot.recipe.uses import uses
from bot.rehearse.told import TreeTold
from bot.upstream import engines

ENGINES = engines.load(PackagedAssets().text("knowledge/engines.yaml"), file="engines.yaml")
COUPLED = """preflight:
  coupled:
    - {name: dynamo, package: ai-dynamo, module: dynamo, commit: [.dynamo.hash], version: [.dynamo.version]}
scope: {files: ["deploy/*.yaml"], keys: [dynamo.version]}
allow: [docker.io/lmsysorg/sglang]
"""
ALONE = "version: 1\nrecipes: [{files: deploy/*.yaml, key: .name, image: [.image]}]\n" + COUPLED
KEYED = "version: 1\nrecipes: [{files: deploy/*.yaml, key: '*', image: [.image]}]\n" + COUPLED
RECIPE = "image: lmsysorg/sglang:v0.5.12\n{0}dynamo: {{{1}}}\n"


def found(layout, text):
    known, tree = load(layout), TreeTold({"deploy/glm.yaml": text})
    return uses(tree, known, (read(tree, known, "glm"),), ENGINES)


class TestAPinInTheRecipesOwnFile:
    @pytest.mark.parametrize(("layout", "text", "line", "key"), [
        (ALONE, "name: glm\n" + RECIPE.format("", "version: 1.1.0"), 3, "dynamo.version"),
        (KEYED, "glm:\n  " + RECIPE.format("  ", "version: 1.1.0"), 3, "glm.dynamo.version"),
    ])
    def test_is_read_where_it_stands_and_is_ours_to_move(self, layout, text, line, key):
        (pin,) = found(layout, text).pins
        assert (pin.text, pin.at.file, pin.at.line, pin.at.key, pin.owned) == ("dynamo 1.1.0", "deploy/glm.yaml", line, key, True)

    @pytest.mark.parametrize("layout", [ALONE, KEYED])
    def test_is_not_ours_where_its_key_is_out_of_scope(self, layout):
        text = RECIPE.format("  " if layout is KEYED else "", "hash: 81d0555ee23519cea80a42b4fe824e30368b7300")
        (pin,) = found(layout, ("glm:\n  " if layout is KEYED else "name: glm\n") + text).pins
        assert (pin.commit, pin.owned) == ("81d0555ee23519cea80a42b4fe824e30368b7300", False)

    def test_of_an_entry_without_one_is_none(self):
        assert found(KEYED, "glm:\n  image: lmsysorg/sglang:v0.5.12\n").pins == ()


class TestTheEnginesOptionsInTheRecipesOwnFile:
    def test_are_options_of_its_server(self):
        text = "name: glm\n" + RECIPE.format("", "version: 1.1.0") + "backend:\n  sglang_config: {aggregated: {tp-size: 8}}\n"
        assert ("--tp-size", "8") in [(one.name, one.value) for one in found(ALONE, text).options]
