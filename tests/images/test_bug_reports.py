"""What users of other update tools reported about tags, order and choice, and what holds here. The ids are the reports'."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from bot.images.choose import Choice
from bot.images.policy import kind_of
from bot.images.reference import parse, with_digest
from bot.images.tags import explain, fields
from bot.model.image import Platform
from bot.model.outcome import Disposition
from bot.model.policy import Hint
from tests.images.offered import NOW, SCHEMES, chosen, current, digest, offer

DAY = timedelta(days=1)
FIX, BREAK = "b" * 40, "c" * 40
NIGHTLY = "nightly-dev-cu13-202609{:02}-1a2b3c{:02}".format


def told(found: Choice) -> str:
    return "\n".join((*found.reasons, *found.unknown, *(f"{tag}: {why}" for tag, why in found.lost.items())))


class TestWhatWins:
    @pytest.mark.parametrize(("now", "offered", "winner"), [
        pytest.param("v1.2.0-slim", ["v1.3.0-slim-bookworm", "v1.3.0-slim-devel", "v1.3.0"], None, id="BR021-a-wider-suffix"),
        pytest.param("v1.2.0-slim-cu130", ["v1.3.0-cu130-slim"], "v1.3.0-cu130-slim", id="BR021-the-set-in-another-order"),
        pytest.param("v1.2.0-cu129", ["v1.3.0-cu130", "v1.3.0-cu129-arm64"], None, id="BR021-another-toolkit"),
        pytest.param("1.2.0-alpine", ["1.3.0-alpha.1", "1.3.0-alpine"], "1.3.0-alpine", id="BR022-a-system"),
        pytest.param("1.2.0-alpha.1", ["1.2.0-alpha.2", "1.2.0-alpine"], "1.2.0-alpha.2", id="BR022-an-early-build"),
        pytest.param("1.2.0", ["1.3.0-alpha.1", "1.3.0-alpine"], None, id="BR022-neither"),
        pytest.param("v1.2.0", ["9999999", "9a2b3c4", "nightly-9a2b3c4d"], None, id="BR023-a-hash-is-no-version"),
        pytest.param("1a2b3c4", ["9a2b3c4", "2.0.0", "99999999999"], None, id="BR023-nor-a-later-hash"),
        pytest.param("1.2.0-7", ["1.2.0-12", "1.3.0-2"], "1.3.0-2", id="BR027-the-next-minor"),
        pytest.param("1.2.0-r7", ["1.2.0-r12", "1.2.0-r9"], "1.2.0-r12", id="BR027-the-next-build"),
        pytest.param("v1.9.0", ["v1.10.0-rc.1", "v1.8.9", "v1.7.0"], None, id="BR029-only-older-ones-are-listed"),
    ])
    def test_is_newer_by_typed_fields_and_of_the_same_suffix(self, now: str, offered: list[str], winner: str | None) -> None:
        found = chosen(now, offered)
        assert found.winner == winner
        assert set(found.lost) == set(offered) - {winner}

    def test_is_reported_as_missing_where_the_tag_that_runs_is_gone_br029(self) -> None:
        assert "v1.9.0, which the recipe runs, is not among the registry's tags" in chosen("v1.9.0", ["v1.8.9"]).reasons

    def test_is_a_release_though_latest_is_another_variant_br028(self) -> None:
        tags = [offer("latest", ("a", 3)), offer("v1.3.0", ("a", 3)), offer("v1.4.0-alpine", ("b", 3))]
        assert chosen("v1.2.0-alpine", tags, channel="stable").winner == "v1.4.0-alpine"
        assert kind_of(fields("v1.4.0-alpine", SCHEMES)) == "release"

    def test_of_a_branch_and_a_hash_is_the_later_commit_br032(self) -> None:
        line = {"abc1234": 1, "9bc1234": 2, "0bc1234": 3}

        def history(a: str, b: str) -> Any:
            return {-1: "older", 0: "same", 1: "newer"}[(line[a] > line[b]) - (line[a] < line[b])]

        tags = [f"feat-x-{commit}" for commit in line]
        assert chosen(tags[0], tags, ancestry=history).winner == "feat-x-0bc1234"
        blind = chosen(tags[0], tags)
        assert blind.winner is None and blind.disposition is None and "repository's history" in told(blind)

    def test_holds_every_commit_it_must_or_the_empty_range_is_told_br074(self) -> None:
        early, late = offer("v1.1.0", contains={FIX: False, BREAK: False}), offer("v1.2.0", contains={FIX: True, BREAK: True})
        rules: dict[str, Any] = {"must_have": (FIX,), "must_not_have": (BREAK,)}
        empty = "no newer tag is known to hold every commit that it must and none that it must not"
        found = chosen("v1.0.0", [early, late], **rules)
        assert found.winner is None and empty in found.reasons
        assert FIX in found.lost["v1.1.0"] and BREAK in found.lost["v1.2.0"]
        between = offer("v1.1.1", ("a", 1), contains={FIX: True, BREAK: False})
        assert chosen("v1.0.0", [early, between, late], **rules).winner == "v1.1.1"
        waiting = chosen("v1.0.0", [early, between, late], minimum_age=2 * DAY, **rules)
        assert waiting.winner is None and empty not in waiting.reasons


class TestALateNightly:
    def test_leaves_the_recipe_on_the_bytes_it_runs_and_not_on_an_older_image_br034(self) -> None:
        found = chosen(current(NIGHTLY(9, 9), "a"), [offer(NIGHTLY(9, 9), ("a", 1)), offer(NIGHTLY(1, 1), ("b", 9)), "latest"])
        assert (found.winner, found.disposition) == (None, Disposition.ALREADY_CURRENT)
        assert found.reasons == (f"nothing in the repository follows {NIGHTLY(9, 9)}",)

    def test_is_replaced_by_the_newest_on_its_own_line_and_that_is_told_br035(self) -> None:
        wanted = Hint(use=NIGHTLY(10, 10), by="issue 7")
        found = chosen(NIGHTLY(1, 1), [offer(NIGHTLY(8, 8), ("a", 2)), offer(NIGHTLY(7, 7), ("b", 3)),
                                       "nightly-dev-20260909-1a2b3c77"], hints=(wanted,))
        assert found.winner == NIGHTLY(8, 8) and "first seen by us 2026-09-08 12:00 UTC" in found.reasons
        assert found.reasons[-1].endswith(f"{NIGHTLY(10, 10)}: the registry lists no such tag")


class TestATagOverOtherBytes:
    PUSHED = offer("v1.0.0", ("a", 9), ("b", 5), ("c", 4), ("d", 1))

    def test_waits_for_quiet_and_several_pushes_are_one_candidate_br002(self) -> None:
        pinned = current("v1.0.0", "a")
        waits = chosen(pinned, [self.PUSHED], quiet=2 * DAY)
        assert waits.winner is None and "pushed again 2026-09-09" in waits.lost["v1.0.0"]
        found = chosen(pinned, [self.PUSHED], quiet=2 * DAY, at=NOW + 2 * DAY)
        assert found.winner == "v1.0.0" and told(found).count("3 pushes since 2026-09-05 are taken as one") == 1

    def test_is_told_with_both_digests_br007(self) -> None:
        found = chosen(current("v1.0.0", "a", measured=date(2026, 9, 2)), [self.PUSHED])
        assert digest("c") in told(found) and digest("d") in told(found)

    def test_without_a_digest_where_the_fleet_takes_one_is_told_br006(self) -> None:
        now = current("v1.0.0", digest=digest("d"))
        found = chosen(now, [self.PUSHED])
        for other in (chosen(now, [self.PUSHED], pin=False), chosen(now, [self.PUSHED, "v1.1.0"])):
            assert "would pin what it runs" not in told(other)
        assert f"the recipe names no digest, though the fleet takes one: @{digest('d')} would pin what it runs" in found.reasons


class TestAPin:
    CHILD = next(one for one in offer("v1.1.0", ("b", 3)).platforms or () if one.architecture == "arm64")

    @pytest.mark.parametrize("now", [
        pytest.param(current("v1.1.0", digest=CHILD.digest), id="BR012-a-child-of-the-index"),
        pytest.param(current("v1.0.0", digest=digest("a"), platforms=(CHILD,)), id="BR018-only-the-others-changed"),
    ])
    def test_of_one_platform_moves_only_with_that_platform(self, now: Any) -> None:
        found = chosen(now, [offer("v1.1.0", ("b", 3))], platform="linux/arm64")
        assert (found.winner, found.disposition) == (None, Disposition.ALREADY_CURRENT)

    @pytest.mark.parametrize(("platform", "winner"), [
        pytest.param("linux/arm64", None, id="BR012"), pytest.param(None, None, id="BR012-on-any-hardware"),
        pytest.param("linux/amd64", "v1.1.0", id="BR019-the-other-platforms-image"),
    ])
    def test_of_one_platform_is_not_replaced_by_the_index_that_holds_it(self, platform: str | None, winner: str | None) -> None:
        children = tuple(Platform(os="linux", architecture=arch, digest=digest(seed), size=1)
                         for arch, seed in (("arm64", "e"), ("amd64", "f")))
        index = offer("v1.1.0", ("e", 9), ("b", 3), platforms=children)
        found = chosen(current("v1.1.0", "e"), [index], platform=platform)
        assert (found.winner, found.disposition) == (winner, None if winner else Disposition.ALREADY_CURRENT)

    def test_keeps_the_text_of_its_tag_br069_br070(self) -> None:
        assert with_digest(parse("a/b:v1.1.0"), digest("a")).text == f"a/b:v1.1.0@{digest('a')}"


class TestAReason:
    @pytest.mark.parametrize(("a", "b", "why"), [
        pytest.param("v1.2.0-slim", "v1.3.0-slim-bookworm", "os differs: none, bookworm", id="BR021"),
        pytest.param("1.2.0-alpine", "1.3.0-alpha.1", "os differs: alpine, none", id="BR022"),
        pytest.param("1a2b3c4", "v2.0.0", "only one tag has a version", id="BR023"),
        pytest.param("feat-x-1a2b3c4", "feat-y-9a2b3c4", "variant differs: feat-x, feat-y", id="BR032"),
    ])
    def test_is_given_where_there_is_no_order(self, a: str, b: str, why: str) -> None:
        assert explain(a, b, SCHEMES) == ("incomparable", why)
