"""Who in the repository runs the candidate already, as the excerpt of InferenceX and small repositories tell it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.errors import BadInput
from bot.images.reference import parse
from bot.layout import Layout, resolve
from bot.model.result import Cell, Row
from bot.recipe.read import family, keys
from bot.recipe.shelf import Shelf
from bot.recipe.siblings import siblings
from tests.recipe.conftest import preset

DIGEST, OTHER = "sha256:" + "4" * 64, "sha256:" + "5" * 64
TAG = "vllm/vllm-openai:nightly-dev-arm64-cu13-3696c77"
GUEST = """
version: 1
recipes:
  - files: deploy.yaml
    key: "*"
    image: [.image]
    facts: {hardware: .runner, framework: .engine}
allow: [docker.io/vllm/vllm-openai]
changelog: {file: changes.yaml, pull: "https://github.com/a/b/pull/{number}"}
"""
DEPLOY = f"""
pinned: {{image: "{TAG}@{DIGEST}", runner: "cluster:gb300-nv", engine: vllm}}
tagged: {{image: "docker.io/{TAG}", runner: gb300, engine: vllm}}
repushed: {{image: "{TAG}@{OTHER}", runner: gb300, engine: vllm}}
longer: {{image: "{TAG}-x", runner: gb300, engine: vllm}}
elsewhere: {{image: "vllm/vllm-openai:v0.29.0", runner: gb200, engine: vllm}}
ours: {{image: "vllm/vllm-openai:v0.27.0", runner: gb200, engine: vllm}}
"""
CHANGES = f"""- recipes:
    - pinned
  description:
    - "From v0.27.0 to {TAG.partition(":")[2]}"
  pr-link: https://github.com/a/b/pull/7
- recipes:
    - pin*
  description:
    - "Four more points"
  pr-link: https://github.com/a/b/pull/8
- recipes:
    - tagged
  description:
    - "Use {TAG.partition(":")[2]}-x for a day"
  pr-link: https://github.com/a/b/pull/9
"""


@pytest.fixture
def guest() -> Layout:
    return resolve(GUEST, {})


@pytest.fixture
def shelf(make_tree: Any) -> Shelf:
    return Shelf.of(make_tree({"deploy.yaml": DEPLOY.encode(), "changes.yaml": CHANGES.encode()}))


def found(shelf: Shelf, layout: Layout, image: str = f"{TAG}@{DIGEST}", **told: Any) -> dict[str, Any]:
    return {one.recipe: one for one in siblings(shelf, layout, ["ours"], parse(image), **told)}


class TestWhoRunsIt:
    def test_a_digest_says_more_than_a_tag_and_another_digest_is_another_image(self, shelf: Shelf, guest: Layout) -> None:
        assert {key: one.same for key, one in found(shelf, guest).items()} == {"pinned": "digest", "tagged": "tag"}

    def test_what_a_tag_is_known_to_hold_decides(self, shelf: Shelf, guest: Layout) -> None:
        held = {f"docker.io/{TAG}": OTHER, "docker.io/vllm/vllm-openai:v0.29.0": DIGEST}
        assert {key: one.same for key, one in found(shelf, guest, digests=held).items()} == {"pinned": "digest", "elsewhere": "digest"}

    def test_the_family_itself_is_no_sibling(self, shelf: Shelf, guest: Layout) -> None:
        alone = siblings(shelf, guest, ["pinned", "tagged", "ours"], parse(f"{TAG}@{DIGEST}"))
        assert alone == ()

    def test_on_which_hardware(self, shelf: Shelf, guest: Layout) -> None:
        assert found(shelf, guest)["pinned"].hardware == "gb300"


class TestSinceWhen:
    def test_the_changelogs_entry_that_names_the_whole_tag_says_it(self, shelf: Shelf, guest: Layout) -> None:
        both = found(shelf, guest)
        assert both["pinned"].since == "PR #7"
        assert both["tagged"].since is None  # its entry names a longer tag

    def test_with_the_day_where_history_tells_it(self, shelf: Shelf, guest: Layout) -> None:
        assert found(shelf, guest, dated={7: "2026-09-04"}.get)["pinned"].since == "2026-09-04, PR #7"

    def test_without_a_changelog_that_can_be_read_nobody_knows(self, guest: Layout, make_tree: Any) -> None:
        for data in (b"", b"a: [", b"- x\n"):
            shelf = Shelf.of(make_tree({"deploy.yaml": DEPLOY.encode(), "changes.yaml": data}))
            assert found(shelf, guest)["pinned"].since is None


class TestWithWhat:
    def test_pins_are_told_as_they_are_given(self, shelf: Shelf, guest: Layout) -> None:
        assert found(shelf, guest, pins=lambda key: (f"dynamo of {key}",))["tagged"].pins == ("dynamo of tagged",)

    def test_pins_of_a_recipe_that_cannot_be_read_are_left_out(self, shelf: Shelf, guest: Layout) -> None:
        def broken(key: str) -> tuple[str, ...]:
            raise BadInput("no mapping", "mend it", file="x.yaml")

        assert found(shelf, guest, pins=broken)["pinned"].pins == ()

    def test_evals_with_threshold_and_the_lowest_known_score(self, excerpt: Any, inferencex: Layout) -> None:
        shelf, told = Shelf.of(excerpt), []
        for key in keys(shelf, inferencex):
            image = shelf.home(inferencex, key).text(".image") or ""
            rows = [Row(point=Cell(recipe=key, concurrency=16), metric="eval", task="gsm8k", value=value, unit="share")
                    for value in (0.97, 0.95)]
            told += [text for one in siblings(shelf, inferencex, [], parse(image), scored=lambda key, rows=rows: rows)
                     for text in one.evals if text.en.startswith("gsm8k")]
        assert told
        assert all(text.en.startswith("gsm8k, scored 0.9500 or more") for text in told)
        assert all(text.zh.startswith("gsm8k，得分不低于 0.9500") for text in told)


class TestTheRecordedRepository:
    def test_every_recipe_is_answered_and_what_runs_an_image_is_found_from_the_other_side_too(self, snapshot: Any) -> None:
        layout, shelf = preset("inferencex"), Shelf.of(snapshot)
        key = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
        image = parse(shelf.home(layout, key).text(".image") or "")
        others = siblings(shelf, layout, family(shelf, layout, key), image)
        for other in others:
            back = siblings(shelf, layout, [other.recipe], parse(other.image))
            assert key in {one.recipe for one in back}


