"""Every image that people ran in ninety-six recorded commits, offered to every recipe of the recorded repository at once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.adapters.assets import PackagedAssets
from bot.adapters.clock import SystemClock
from bot.adapters.registry import OciRegistry
from bot.adapters.tree import FolderTree
from bot.cli.packaged import layout_from, presets, schemes
from bot.images.reference import parse
from bot.images.tags import compare
from bot.model.outcome import Disposition
from bot.model.scan import Scanned
from bot.rehearse.registry import Catalogue, ImageData, LoopbackRegistry
from bot.scan import Sources, scan

RECORDED = Path(__file__).parents[3] / "shared/inferencex"
pytestmark = pytest.mark.skipif(not RECORDED.is_dir(), reason="the recorded repository is not beside this one")
ASSETS, NOW = PackagedAssets(), datetime(2026, 9, 1, tzinfo=UTC)
SCHEMES = schemes(ASSETS)
LAYOUT = layout_from(ASSETS, presets(ASSETS)["inferencex"].encode(), file="inferencex")


def offered(lines: tuple[Scanned, ...]) -> Catalogue:
    """A registry each, with every tag that a recipe runs or a person moved one from or to."""
    rows = [json.loads(row) for name in ("open", "linked-open")
            for row in (RECORDED / f"replay/{name}.jsonl").read_text().splitlines()]
    texts = {text for row in rows for text in (row["old_image"], row["new_image"])} | {line.image for line in lines}
    found: Catalogue = defaultdict(lambda: defaultdict(dict))
    for each in map(parse, sorted(filter(None, texts))):
        if each.tag:
            found[each.registry][each.repository][each.tag] = ImageData(
                created=NOW, pushed=NOW, platforms=("linux/amd64", "linux/arm64"), labels={"which": each.text})
    return found


@pytest.fixture(scope="module")
def lines() -> Iterator[tuple[Scanned, ...]]:
    tree = FolderTree(RECORDED / "snapshot")
    present = scan(tree, LAYOUT, Sources(schemes=SCHEMES, now=NOW)).lines
    with ExitStack() as stack:
        served = {name: LoopbackRegistry(repositories) for name, repositories in offered(present).items()}
        for registry in served.values():
            registry.start()
            stack.callback(registry.stop)
        asked = OciRegistry(SystemClock(), override={name: registry.url for name, registry in served.items()})
        yield scan(tree, LAYOUT, Sources(schemes=SCHEMES, now=NOW, registry=asked)).lines


class TestEveryRecipe:
    def test_has_a_candidate_a_disposition_or_what_is_not_known(self, lines: tuple[Scanned, ...]) -> None:
        assert len(lines) == 208 and all(line.candidate or line.disposition or line.unknown for line in lines)
        assert all(line.reasons for line in lines)

    def test_is_offered_nothing_older_and_no_other_platform(self, lines: tuple[Scanned, ...]) -> None:
        for line in lines:
            won = parse(line.candidate).tag if line.candidate else line.tag
            assert compare(str(won), str(line.tag), SCHEMES) == ("newer" if line.candidate else "same"), line.recipe
            assert {name: value for name, value in line.lost.items() if not value} == {}

    def test_of_the_release_candidates_moves_to_the_last(self, lines: tuple[Scanned, ...]) -> None:
        """One bot went from rc14 to rc9, which sorts behind it as text."""
        told = {line.tag: line for line in lines if line.repository == "nvidia/tensorrt-llm/release"}
        assert {parse(line.candidate or "").tag for tag, line in told.items() if tag != "1.3.0rc24"} == {"1.3.0rc24"}
        assert told["1.3.0rc24"].disposition is Disposition.ALREADY_CURRENT and len(told) > 4

    def test_comes_to_what_it_came_to(self, lines: tuple[Scanned, ...]) -> None:
        """Frozen: more than the ninety-two that the best-known bot can move, which reads no history either."""
        assert sum(line.candidate is not None for line in lines) == 119

    def test_that_plan_would_refuse_says_so(self, lines: tuple[Scanned, ...]) -> None:
        barred = {line.recipe: line.reasons[-1] for line in lines if line.reasons[-1].startswith("plan refuses it: ")}
        assert "does not read the recipe's image" in barred["dsr1-fp8-h100-dynamo-sglang"]
        assert all(line.candidate for line in lines if line.recipe in barred) and 0 < len(barred) < 30
