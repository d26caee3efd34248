"""What an image's labels prove against its tag, and what is told of two digests that share one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.errors import Refusal
from bot.images.judge import Declined, judge
from bot.images.labels import VERSION, differences
from bot.images.policy import Policy
from bot.images.reference import parse
from bot.images.tags import read
from bot.model.image import Candidate, ImageFacts, Resolved

SCHEMES = read((Path(__file__).parents[2] / "bot" / "knowledge" / "tags.yaml").read_text(encoding="utf-8"))
DAY = datetime(2026, 8, 17, 9, tzinfo=UTC)
POLICY = Policy(allow=("docker.io/x/engine",))


def image(tag: str, seed: str, version: str | None = None, *, created: datetime | None = DAY, facts: ImageFacts = ImageFacts(),
          **labels: str) -> Resolved:
    told = labels | ({VERSION: version} if version is not None else {})
    return Resolved(reference=parse(f"x/engine:{tag}"), kind="index", digest="sha256:" + seed * 64, platforms=(), created=created,
                    labels=told, facts=facts)


class TestAVersionLabel:
    """A mis-click published one major version under another one's tag, and who followed the tag was upgraded. (BR008)"""

    @pytest.mark.parametrize(("old", "new", "said"), [
        ("3.5.0", "4.0.0", "the tag says 3.6.0, the label says 4.0.0"), ("v3.5.0", "v3.7.0", "the label says v3.7.0"),
        ("3.5", "3.60.0+cu130", r"the label says 3.60.0\+cu130"), ("3.5.0", "4 @everyone", "the label says (not shown)"),
    ])
    def test_that_says_another_version_than_its_tag_refuses_the_image(self, old: str, new: str, said: str) -> None:
        found = judge(image("v3.5.0", "1", old), image("v3.6.0", "2", new), POLICY, SCHEMES)
        assert isinstance(found, Declined) and found.disposition is None
        with pytest.raises(Refusal, match=said.replace("(", r"\(").replace(")", r"\)")):
            found.refuse()

    def test_of_a_tag_that_floats_within_a_version_is_held_to_what_the_tag_names(self) -> None:
        old = image("v3.1", "1", "3.1.7")
        assert isinstance(judge(old, image("v3.1", "2", "3.1.8", created=DAY + timedelta(1)), POLICY, SCHEMES), Candidate)
        assert isinstance(judge(old, image("v3.1", "2", "4.0.0", created=DAY + timedelta(1)), POLICY, SCHEMES), Declined)

    @pytest.mark.parametrize(("old", "new"), [
        ("3.5.0", "3.6.0"), ("3.5.0", "v3.6.0-rc1"), ("3.5", "3.6"), ("24.04", "22.04"), ("24.04", "4.0.0"), (None, "4.0.0"),
        ("3.5.0", None), ("3.5.0", "main"), ("main", "4.0.0"), ("03.5.0", "3.06.0"),
    ])
    def test_that_fits_or_is_a_base_images_or_no_version_proves_nothing(self, old: str | None, new: str | None) -> None:
        assert isinstance(judge(image("v3.5.0", "1", old), image("v3.6.0", "2", new), POLICY, SCHEMES), Candidate)


class TestTwoDigestsOfOneTag:
    """Rebuilds of a release differ in base packages, and nobody could see in what. (BR003)"""

    def test_tell_times_facts_and_labels_that_differ(self) -> None:
        old = image("v3.5.0", "1", facts=ImageFacts(cuda="13.0.1", arch_list="9.0 10.0a"), base="a/b:1", same="x", gone="1")
        new = image("v3.5.0", "2", facts=ImageFacts(cuda="13.0.2", arch_list="9.0 10.0a 12.0"), base="a/b:2", same="x", created=DAY + timedelta(hours=5))
        told = ("the same tag over other bytes: created 2026-08-17T09:00:00+00:00, now 2026-08-17T14:00:00+00:00; "
                "cuda 13.0.1, now 13.0.2; arch_list 9.0+10.0a, now 9.0+10.0a+12.0; label base a/b:1, now a/b:2; label gone 1, now none")
        assert differences(old, new) == told
        found = judge(old, new, POLICY, SCHEMES)
        assert isinstance(found, Candidate) and told in found.reasons

    def test_say_where_to_look_when_nothing_told_differs(self) -> None:
        assert str(differences(image("v3.5.0", "1"), image("v3.5.0", "2"))).endswith("what differs lies in the layers")

    def test_show_no_text_of_a_stranger(self) -> None:
        old, new = image("v1.0", "1"), image("v1.0", "2", **{f"l{number}": "@all\n![x](y)" for number in range(9)}, **{"<b>": "1"})
        told = str(differences(old, new))
        assert not set("@!<\n") & set(told) and "and 5 other labels" in told and "(not shown)" in told

    def test_are_no_two_tags_and_no_same_digest(self) -> None:
        assert differences(image("v3.5.0", "1"), image("v3.6.0", "2")) is None
        assert differences(image("v3.5.0", "1", a="1"), image("v3.5.0", "1", a="2")) is None
