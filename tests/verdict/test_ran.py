"""Rows beside what their servers said of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.adapters.assets import PackagedAssets
from bot.cli.wiring import knowledge
from bot.model.result import Reported, Row
from bot.verdict.ran import questioned
from tests.verdict.made import curve

KNOWN = knowledge(PackagedAssets())
NEW, OLD = "vllm/vllm-openai:v0.29.0", "vllm/vllm-openai:v0.28.0"


def rows(image: str | None, *, metric: str | None = None) -> list[Row]:
    return [replace(row, image=image, metric=metric or row.metric) for row in curve()]


def said(version: str, concurrency: int = 0) -> Reported:
    return Reported(kind="version", value=version, file=str(Path("logs/server.log")), line=3, concurrency=concurrency, engine="vllm")


def flags(mine: list[Row], *reported: Reported, old: str | None = OLD) -> dict[int, set[str]]:
    told = questioned(mine, rows(old), reported, schemes=KNOWN.schemes, engines=KNOWN.reported.images)
    return {conc: {flag for row in told if row.point.concurrency == conc for flag in row.flags} for conc in (1, 2)}


class TestRows:
    def test_whose_server_says_their_version_stay(self) -> None:
        assert flags(rows(NEW), said("0.29.0")) == {1: set(), 2: set()}

    def test_whose_server_says_another_are_flagged_with_it(self) -> None:
        (flag,) = flags(rows(NEW), said("0.28.0"))[1]
        assert flag.startswith("image-not-proven:") and "0.28.0" in flag

    def test_are_flagged_point_by_point(self) -> None:
        told = flags(rows(NEW), said("0.28.0", 2), said("0.29.0", 1))
        assert told[1] == set() and told[2]

    @pytest.mark.parametrize("image", [None, "not an image"])
    def test_that_name_no_image_contradict_nothing(self, image) -> None:
        assert flags(rows(image), said("0.28.0")) == {1: set(), 2: set()}

    def test_without_a_named_baseline_are_weighed_all_the_same(self) -> None:
        assert flags(rows(NEW), said("0.28.0"), old=None)[1] and not flags(rows(NEW), said("0.29.0"), old=None)[1]
