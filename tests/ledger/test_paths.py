"""Where things lie: a file for every name, and for no two names the same."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.ledger.paths import claim_path, results_folder


class TestAFilesName:
    @pytest.mark.parametrize("name", ["a", ".a", "a/b c", "配方", "x" * 200, "x" * 224, "配" * 200])
    def test_is_one_that_a_file_system_takes(self, name: str) -> None:
        assert max(len(part.encode()) for part in claim_path(name).split("/")) <= 255 and not claim_path(name).split("/")[1].startswith(".")
        assert results_folder(name).count("/") == 2

    def test_of_two_long_names_is_not_the_same(self) -> None:
        assert claim_path("x" * 224 + "a") != claim_path("x" * 224 + "b") and claim_path("x" * 224) == claim_path("x" * 224)

    def test_is_that_of_something(self) -> None:
        with pytest.raises(BadInput):
            claim_path("")
