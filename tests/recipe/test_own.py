"""bumpbot's own recipes: the file that ships, and what a reader of it is told when a key does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import BadInput
from bot.recipe import own

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "recipes").glob("*.yaml"))


class TestWhatShips:
    @pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
    def test_every_recipe_loads_and_is_called_like_its_file(self, file: Path) -> None:
        recipe = own.load(file.read_bytes(), file.name)
        assert recipe.name == file.stem
        assert {point.kind for point in own.points(recipe)} == {"throughput", "eval"}

    def test_there_is_one(self) -> None:
        assert SHIPPED


class TestTheMetricOfAGate:
    @pytest.mark.parametrize("text", ["exact_match,strict-match", '"exact_match,strict-match"'])
    def test_the_filter_behind_an_unquoted_comma_is_part_of_it(self, text: str) -> None:
        data = SHIPPED[0].read_text().replace("exact_match,strict-match", text).encode()
        assert own.load(data, "r.yaml").evals[0].filtered == "exact_match,strict-match"

    def test_any_other_key_without_a_value_is_refused_with_its_line(self) -> None:
        data = SHIPPED[0].read_text().replace("exact_match,strict-match", "exact_match,strict-mtach").encode()
        with pytest.raises(BadInput, match=r"r.yaml:19: evals.0.strict-mtach: unknown key"):
            own.load(data, "r.yaml")
