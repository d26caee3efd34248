"""Under which names the published-baseline API keeps a model."""

from __future__ import annotations

import pytest

from bot.adapters.published_names import key_of, shown


class TestTheModelsName:
    @pytest.mark.parametrize(("prefix", "key"), [("gptoss-fp4", "gptoss120b"), ("dsv4pro", "dsv4"), ("kimik3", "kimik3")])
    def test_has_aliases(self, prefix, key):
        assert key_of(prefix) == key

    @pytest.mark.parametrize(("description", "name"), [(None, None), ({"name": "model"}, None), ([{"name": "model", "schema": {
        "enum": ["MiniMax-M3", 7]}}], "MiniMax-M3"), ([{"name": "model", "schema": {"enum": ["MiniMax-M3-A", "MiniMax-M3-B"]}}], None)])
    def test_is_taken_from_a_description_only_where_one_alone_fits(self, description, name):
        assert shown("minimaxm3", description) == name
