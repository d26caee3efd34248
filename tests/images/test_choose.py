"""Which tag takes an image's place, by which rule, and what is said of every other."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.model.outcome import Disposition
from bot.model.policy import Hint
from tests.images.offered import NOW, ago, chosen, current, digest, offer

DAY = timedelta(days=1)


class TestTheNewestTag:
    @pytest.mark.parametrize(("now", "tags", "winner"), [
        ("1.3.0rc9", ["1.3.0rc14", "1.3.0rc2"], "1.3.0rc14"),
        ("1.3.0rc14", ["1.3.0rc9"], None),
        ("1.3.0rc18", ["1.3.0rc22.post1", "1.3.0rc22"], "1.3.0rc22.post1"),
        ("1.3.0rc18", ["1.3.0rc22", "1.3.0"], "1.3.0"),
        ("v0.5.16-cu130", ["v0.5.17-cu129", "v0.5.17-cu131", "v0.5.17"], None),
        ("v0.5.16-cu130", ["v0.5.17-cu129", "v0.5.17-cu130"], "v0.5.17-cu130"),
        ("v0.5.12-rocm700-mi30x", ["v0.5.19-rocm700-mi35x", "v0.5.19-rocm720-mi30x"], None),
        ("v0.5.12-rocm700-mi30x", ["v0.5.19-rocm700-mi35x", "v0.5.19-rocm700-mi30x"], "v0.5.19-rocm700-mi30x"),
        ("v0.5.16-rocm720-mi35x-20260730", ["v0.5.17-rocm720-mi35x", "v0.5.16-rocm720-mi35x-20260802"],
         "v0.5.16-rocm720-mi35x-20260802"),
        ("nightly-dev-cu13-20260721-8905cbd4", ["nightly-dev-cu13-20260908-20ca564b", "nightly-dev-20260909-8874c51a"],
         "nightly-dev-cu13-20260908-20ca564b"),
        ("dev-cu13-20260721-8905cbd4", ["nightly-dev-cu13-20260908-20ca564b"], None),
        ("kimi-k3", ["kimi-k4", "v0.5.17"], None),
        ("v1.4.0", ["v1.5.0-7"], None),
        ("v1.4.0-7", ["v1.5.0", "v1.4.0-12", "v1.5.0-2"], "v1.5.0-2"),
        ("sglang-0.5.9-rocm720-mi35x-mori-0227", ["sglang-0.5.10-rocm720-mi35x-mori-0301-2"],
         "sglang-0.5.10-rocm720-mi35x-mori-0301-2"),
    ])
    def test_on_the_current_ones_own_line_wins(self, now: str, tags: list[str], winner: str | None) -> None:
        assert chosen(now, [now, *tags]).winner == winner

    def test_says_why_it_won_and_one_reason_for_each_other(self) -> None:
        found = chosen("v0.5.14-cu130", ["v0.5.14-cu130", "v0.5.17-cu130", "v0.5.16-cu130", "v0.5.9-cu130", "v0.5.17-cu129",
                                         "kimi-k3"])
        assert found.reasons[0] == "v0.5.17-cu130 is newer than v0.5.14-cu130 (version: 0.5.17, 0.5.14)"
        assert found.lost == {
            "kimi-k3": "incomparable: no scheme reads kimi-k3",
            "v0.5.16-cu130": "older than v0.5.17-cu130 (version: 0.5.16, 0.5.17)",
            "v0.5.17-cu129": "incomparable: cuda differs: 12.9, 13.0",
            "v0.5.9-cu130": "older: version: 0.5.9, 0.5.14",
        }

    def test_by_tags_alone_is_the_next_to_ask_about(self) -> None:
        found = chosen("v1.0.0", ["v1.0.0", "v1.1.0"], platform="linux/arm64")
        assert found.winner == "v1.1.0"
        own = "which digest v1.0.0 holds now"
        assert found.unknown == (own, "which digest v1.1.0 holds", "whether v1.1.0 holds linux/arm64",
                                 "when v1.1.0 appeared: no first sight yet")
        asked = chosen("v1.0.0", ["v1.0.0", offer("v1.1.0", ("a", 3))], platform="linux/arm64")
        assert (asked.winner, asked.unknown) == ("v1.1.0", (own,)) and "holds linux/arm64" in asked.reasons

    def test_may_leave_a_platform_field_that_the_policy_frees_and_prefers_the_current_one(self) -> None:
        free = frozenset({"cuda"})
        found = chosen("v0.5.16-cu130", ["v0.5.17-cu129", "v0.5.17-cu130", "v0.5.17-cu131"], free=free)
        assert found.winner == "v0.5.17-cu130"
        assert found.lost["v0.5.17-cu129"] == "the same build as v0.5.17-cu130 under other labels"
        assert chosen("v0.5.16-cu130", ["v0.5.17-cu129"], free=free).winner == "v0.5.17-cu129"
        assert chosen("v0.5.16-cu130", ["v0.5.17-cu129", "v0.5.17-cu131"], free=free).winner is None

    def test_that_has_no_order_with_another_is_not_taken_and_both_are_named(self) -> None:
        two = ["nightly-dev-cu13-20260908-20ca564b", "nightly-dev-cu13-20260908-4358a161"]
        found = chosen("nightly-dev-cu13-20260721-8905cbd4", [*two, "nightly-dev-cu13-20260801-aaaaaaa1"])
        assert (found.winner, found.disposition) == (None, None)
        assert found.reasons[0].startswith(f"{two[0]}, {two[1]} are newer and do not order among themselves")
        assert found.lost[two[0]].startswith(f"does not order against {two[1]}")
        assert found.lost["nightly-dev-cu13-20260801-aaaaaaa1"].startswith(f"older than {two[0]}")

    def test_of_a_commit_is_found_by_history_and_without_it_by_nothing(self) -> None:
        old, new = "nightly-dev-arm64-cu13.0.1-75c2eef", "nightly-dev-arm64-cu13-3696c77"
        blind = chosen(old, [old, new])
        assert (blind.winner, blind.disposition) == (None, None)
        assert "ordered only by a repository's history" in blind.lost[new]
        assert blind.unknown[0].startswith(f"whether {new} is newer: commits")

        def history(a: str, b: str) -> str:
            return "newer" if (a, b) == ("3696c77", "75c2eef") else "older"

        assert chosen(old, [old, new], ancestry=history).winner == new

    def test_missing_from_the_list_sends_nobody_back(self) -> None:
        found = chosen("v0.5.16-cu130", ["v0.5.9-cu130", "v0.5.12-cu130"])
        assert found.winner is None
        assert "v0.5.16-cu130, which the recipe runs, is not among the registry's tags" in found.reasons


class TestTheChannel:
    TAGS = ("v0.5.16", "v0.5.17", "v0.5.18rc1", "v0.5.18-dev.2", "nightly-20260908")

    @pytest.mark.parametrize(("channel", "now", "winner"), [
        ("stable", "v0.5.16", "v0.5.17"), ("lineage", "v0.5.16", "v0.5.17"), ("nightly", "v0.5.16", None),
        ("lineage", "v0.5.16rc2", "v0.5.18rc1"), ("stable", "v0.5.16rc2", "v0.5.17"),
        ("nightly", "nightly-20260801", "nightly-20260908"), ("stable", "nightly-20260801", None),
        ("lineage", "v0.5.15-dev.1", "v0.5.18rc1"), ("stable", "v0.5.16-alpha.1", "v0.5.17"), ("lineage", "v0.5.16-beta.1", "v0.5.18rc1"),
    ])
    def test_decides_which_kind_of_tag_is_taken(self, channel: str, now: str, winner: str | None) -> None:
        assert chosen(now, self.TAGS, channel=channel).winner == winner

    def test_says_of_what_kind_the_others_are(self) -> None:
        assert chosen("v0.5.16", self.TAGS, channel="stable").lost["v0.5.18rc1"] == (
            "a release candidate, and the policy takes releases only")

    def test_of_releases_takes_no_build_that_calls_itself_a_preview(self) -> None:
        found = chosen("v0.5.16-preview", ["v0.5.17-preview"], channel="stable")
        assert found.lost["v0.5.17-preview"] == "a development build, and the policy takes releases only"
        assert chosen("v0.5.16-preview", ["v0.5.17-preview"]).winner == "v0.5.17-preview"

    def test_that_offers_nothing_newer_leaves_the_recipe_where_it_is(self) -> None:
        found = chosen("v0.5.17", self.TAGS, channel="stable")
        assert found.disposition is Disposition.ALREADY_CURRENT
        assert found.reasons == ("nothing of the channel that the policy takes follows v0.5.17",)

    def test_pinned_moves_nothing_and_gives_its_reason(self) -> None:
        found = chosen("v0.5.16", self.TAGS, keep="waits for a kernel")
        assert (found.winner, found.disposition) == (None, Disposition.PINNED)
        assert found.reasons == ("pinned: waits for a kernel",) and set(found.lost) == set(self.TAGS) - {"v0.5.16"}

    def test_nothing_is_taken_from_a_repository_that_is_not_on_the_list(self) -> None:
        found = chosen("v0.5.16", self.TAGS, allow=("docker.io/vllm/vllm-openai",))
        assert found.disposition is Disposition.OBSERVED_ONLY and "not on the layout's list" in found.reasons[0]


class TestWaiting:
    TWO = ("v1.0.0", offer("v1.1.0", ("a", 3)), offer("v1.2.0", ("b", 1)))

    def test_for_an_age_counts_from_our_own_first_sight_and_the_older_tag_goes_first(self) -> None:
        found = chosen("v1.0.0", self.TWO, minimum_age=2 * DAY)
        assert found.winner == "v1.1.0" and "first seen by us 2026-09-07 12:00 UTC" in found.reasons
        assert found.lost["v1.2.0"] == "first seen by us 2026-09-09 12:00 UTC; it waits 2 days, until 2026-09-11 12:00 UTC"
        assert chosen("v1.0.0", self.TWO, minimum_age=2 * DAY, at=NOW + DAY).winner == "v1.2.0"

    def test_for_an_age_is_not_shortened_by_the_images_own_word(self) -> None:
        old = offer("v1.1.0", ("a", 1), created=ago(400))
        found = chosen("v1.0.0", [old], minimum_age=2 * DAY)
        assert found.winner is None and found.disposition is None
        assert found.reasons[0].startswith("v1.1.0 is newer and not taken: first seen by us 2026-09-09")

    def test_begins_at_the_first_look(self) -> None:
        found = chosen("v1.0.0", [offer("v1.1.0", digest=digest("a"))], minimum_age=2 * DAY)
        assert found.winner is None and "it waits 2 days from now" in found.lost["v1.1.0"]
        assert found.unknown == ("of v1.1.0, when it appeared: we had not seen it before",)

    def test_begins_anew_with_other_bytes_under_the_same_tag(self) -> None:
        assert chosen("v1.0.0", [offer("v1.1.0", ("a", 9), ("b", 1))], minimum_age=2 * DAY).winner is None
        moved_now = offer("v1.1.0", ("a", 9), digest=digest("b"))
        assert "2026-09-10 12:00" in chosen("v1.0.0", [moved_now], minimum_age=2 * DAY).lost["v1.1.0"]

    def test_for_quiet_folds_several_pushes_into_one(self) -> None:
        # BR002
        rebuilt = offer("v1.1.0", ("a", 9), ("b", 4), ("c", 3), ("d", 2))
        assert chosen("v1.0.0", [rebuilt], quiet=3 * DAY).lost["v1.1.0"] == (
            "pushed again 2026-09-08 12:00 UTC; it waits 3 days, until 2026-09-11 12:00 UTC")
        found = chosen("v1.0.0", [rebuilt], quiet=2 * DAY)
        assert found.winner == "v1.1.0"
        assert any("3 pushes since 2026-09-06 are taken as one" in reason for reason in found.reasons)
        assert chosen("v1.0.0", [offer("v1.1.0", ("a", 1))], quiet=3 * DAY).winner == "v1.1.0"

    def test_for_its_turn_holds_the_recipe_whatever_is_newest(self) -> None:
        lately, long_ago = (current("v1.0.0", moved=ago(days)) for days in (2, 8))
        found = chosen(lately, self.TWO, cadence=7 * DAY)
        assert (found.winner, found.disposition) == (None, None)
        assert found.lost["v1.2.0"] == ("the recipe moved 2026-09-08 12:00 UTC and moves once in 7 days: "
                                        "it waits until 2026-09-15 12:00 UTC")
        assert chosen(long_ago, self.TWO, cadence=7 * DAY).winner == "v1.2.0"
        assert "when the recipe last moved" in chosen("v1.0.0", self.TWO, cadence=7 * DAY).unknown


class TestWhatTheImageHolds:
    def test_a_platform_that_the_hardware_needs(self) -> None:
        amd = offer("v1.2.0", ("b", 3), arches=("amd64",))
        found = chosen("v1.0.0", [offer("v1.1.0", ("a", 3)), amd], platform="linux/arm64")
        assert found.winner == "v1.1.0" and found.lost["v1.2.0"] == "has no linux/arm64 (it has linux/amd64)"

    FIX, BREAK = "b" * 40, "c" * 40

    @pytest.mark.parametrize(("contains", "winner", "said"), [
        ({FIX: True, BREAK: False}, "v1.2.0", f"contains {FIX}"),
        ({FIX: False, BREAK: False}, "v1.1.0", f"does not contain {FIX}, which it must"),
        ({FIX: True, BREAK: True}, "v1.1.0", f"contains {BREAK}, which it must not"),
        ({FIX: None, BREAK: False}, "v1.1.0", f"whether it contains {FIX}, which it must, is not known"),
        ({FIX: True}, "v1.1.0", f"whether it contains {BREAK}, which it must not, is not known"),
    ])
    def test_commits_that_it_must_and_must_not_have(self, contains: dict, winner: str, said: str) -> None:
        good = offer("v1.1.0", contains={self.FIX: True, self.BREAK: False})
        found = chosen("v1.0.0", [good, offer("v1.2.0", contains=contains)], must_have=(self.FIX,), must_not_have=(self.BREAK,))
        assert found.winner == winner
        assert said in (found.reasons if winner == "v1.2.0" else (found.lost["v1.2.0"],))
        assert any("v1.2.0" in line and "is not known" in line for line in found.unknown) == ("is not known" in said)

    def test_a_day_that_its_time_of_creation_contradicts(self) -> None:
        odd = offer("nightly-dev-20260908-20ca564b", created=ago(100))
        assert "the tag says 2026-09-08, the image was created on 2026-06-02" in chosen(
            "nightly-dev-20260721-8905cbd4", [odd]).reasons

    def test_a_digest_that_a_hand_edit_dropped_is_missed_and_comes_back_with_the_next_move(self) -> None:
        # BR006
        edited = current("v1.0.0", digest=digest("a"))
        still = chosen(edited, [offer("v1.0.0", ("a", 9))], pin=True)
        assert f"the recipe names no digest, though the fleet takes one: @{digest('a')} would pin what it runs" in still.reasons
        moves = chosen(edited, [offer("v1.0.0", ("a", 9)), offer("v1.1.0", ("b", 9))], pin=True)
        assert moves.winner == "v1.1.0" and "the recipe names no digest; it is pinned to one with this move" in moves.reasons
        kept = [chosen(current("v1.0.0", "a"), [offer("v1.0.0", ("a", 9))], pin=True), chosen(edited, [offer("v1.0.0", ("a", 9))], pin=False)]
        assert not any("names no digest" in reason for each in kept for reason in each.reasons)

    def test_no_digest_where_the_fleet_takes_none(self) -> None:
        assert any("its tag alone" in reason for reason in chosen("v1.0.0", ["v1.1.0"], pin=False).reasons)


class TestHints:
    TAGS = ("v0.5.19-cu130", "v0.5.20-cu130", "v0.5.21rc1-cu130")

    @pytest.mark.parametrize(("use", "said"), [
        ("v0.5.20", "taken, v0.5.20-cu130 is it"), ("v0.5.19-cu130", "taken, v0.5.20-cu130 is newer (version: 0.5.20, 0.5.19)"),
        ("v0.5.21rc1-cu130", "not taken, v0.5.20-cu130 is older (version: 0.5.20, 0.5.21rc1); v0.5.21rc1-cu130: "
                             "a release candidate, and the current tag is a release"),
        ("v0.6.0", "not taken, v0.5.20-cu130 is older (version: 0.5.20, 0.6.0); v0.6.0: the registry lists no such tag"),
        ("kimi-k3", "not taken, v0.5.20-cu130 is not comparable (no scheme reads kimi-k3); kimi-k3: "
                    "the registry lists no such tag"),
    ])
    def test_to_use_a_tag_or_newer_are_answered(self, use: str, said: str) -> None:
        found = chosen("v0.5.18-cu130", self.TAGS, hints=(Hint(use=use, by="issue 7"),))
        assert found.reasons[-1] == f"hint: {use} or newer (issue 7): {said}"

    def test_are_fulfilled_by_an_image_that_runs_already(self) -> None:
        found = chosen("v0.5.20-cu130", self.TAGS, hints=(Hint(use="v0.5.19"),))
        assert found.reasons[-1].startswith("hint: v0.5.19 or newer: fulfilled already, v0.5.20-cu130 is newer")

    def test_are_answered_where_nothing_is_taken_too(self) -> None:
        assert chosen("v0.5.20-cu130", self.TAGS, hints=(Hint(use="v0.5.20-cu130"),)).reasons[-1] == (
            "hint: v0.5.20-cu130 or newer: fulfilled already, v0.5.20-cu130 is it")
        assert chosen("v0.5.20-cu130", self.TAGS, hints=(Hint(contains="b" * 40),)).reasons[-1] == (
            f"hint: what contains {'b' * 40}: not taken, nothing is taken")

    @pytest.mark.parametrize(("contains", "said"), [
        ({"b" * 40: True}, "taken, v2.0.0 contains it"), ({"b" * 40: False}, "not taken, v2.0.0 does not contain it"),
        ({}, "not known of v2.0.0"),
    ])
    def test_to_retry_when_a_fix_is_in_are_answered(self, contains: dict, said: str) -> None:
        found = chosen("v1.0.0", [offer("v2.0.0", contains=contains)], hints=(Hint(contains="b" * 40),))
        assert found.winner == "v2.0.0" and found.reasons[-1] == f"hint: what contains {'b' * 40}: {said}"
