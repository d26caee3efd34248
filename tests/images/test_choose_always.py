"""What holds of every choice, whatever tags, looks and policy it is made of."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.images.choose import Choice, Current, Offer
from bot.images.policy import Policy
from bot.images.tags import Order, compare, fields
from tests.images.offered import NOW, OPEN, SCHEMES, chosen, current, digest, offer

TAGS = (
    "v0.5.8-cu130", "v0.5.12-cu130", "v0.5.14-cu130", "v0.5.15.post1-cu130", "v0.5.16-cu130", "v0.5.17-cu130", "v0.5.17",
    "v0.5.17-cu129", "v0.5.16-cu131", "v0.5.16rc9-cu130", "v0.5.16rc14-cu130", "v0.5.18-rocm720-mi30x", "v0.5.18-rocm720-mi35x",
    "v0.5.18-rocm720-mi35x-20260901", "nightly-dev-cu13-20260721-8905cbd4", "nightly-dev-cu13-20260901-20ca564b",
    "nightly-dev-cu13-20260901-4358a161", "nightly-dev-cu13.0-20260905-99999991", "nightly-dev-cu13.1-20260907-99999992",
    "nightly-dev-arm64-cu13.0.1-75c2eef", "nightly-dev-arm64-cu13-3696c77", "nightly-20260820", "latest", "kimi-k3",
    "1.3.0rc9", "1.3.0rc14", "1.3.0", "1.3.0-dev.1-cuda13",
)
# What a recipe runs: mostly something that others may follow, or hardly anything would ever win.
RUNNING = st.one_of(st.sampled_from(["v0.5.8-cu130", "v0.5.14-cu130", "1.3.0rc9", "nightly-dev-cu13-20260721-8905cbd4", "latest",
                                     "nightly-dev-arm64-cu13.0.1-75c2eef"]), st.sampled_from(TAGS))
SEEDS, FIX, BREAK = "abc", "b" * 40, "c" * 40
HISTORY = {"8905cbd4": 1, "20ca564b": 2, "75c2eef": 1, "3696c77": 2}
LOOKS = st.lists(st.tuples(st.sampled_from(SEEDS), st.sampled_from([0.5, 1, 3, 9, 30])), max_size=3, unique_by=lambda look: look[1])


def history(a: str, b: str) -> Order | None:
    """Some commits of one line; it knows no others."""
    one, other = HISTORY.get(a), HISTORY.get(b)
    if one is None or other is None:
        return None
    return "newer" if one > other else "older" if one < other else "same"


@st.composite
def offers(draw: Any, tags: Any = None) -> Offer:
    looks = sorted(draw(LOOKS), key=lambda look: -look[1])
    odd = draw(st.dictionaries(st.sampled_from([FIX, BREAK]), st.sampled_from([True, False, None])))
    said: dict[str, Any] = {"contains": {FIX: True, BREAK: False, **odd}}
    if not looks and draw(st.booleans()):
        said["digest"] = digest(draw(st.sampled_from(SEEDS)))
    if looks and draw(st.booleans()):
        said["arches"] = ("amd64",)
    return offer(draw(st.sampled_from(TAGS) if tags is None else tags), *looks, **said)


LISTED = st.lists(offers(), min_size=3, max_size=14, unique_by=lambda one: one.tag)
RECIPES = st.builds(lambda tag, runs, days: current(tag, runs, moved=NOW - timedelta(days=days) if days else None),
                    RUNNING, st.sampled_from([None, *SEEDS]), st.sampled_from([None, 1, 9]))
DAYS = st.sampled_from([timedelta(days=2), timedelta(days=5)])
# A few rules at a time: with all of them nothing ever wins, and then nothing is tested.
RULES = {
    "platform": st.just("linux/arm64"), "pin": st.just(False), "free": st.just(frozenset({"cuda"})),
    "channel": st.sampled_from(["stable", "nightly"]), "minimum_age": DAYS, "quiet": DAYS, "cadence": DAYS,
    "must_have": st.just((FIX,)), "must_not_have": st.just((BREAK,)),
}


@st.composite
def policies(draw: Any) -> Policy:
    names = draw(st.lists(st.sampled_from(sorted(RULES)), max_size=3, unique=True))
    return Policy(allow=OPEN.allow, **{name: draw(RULES[name]) for name in names})


POLICIES = policies()


def choice(now: Current, listed: list[Offer], policy: Policy) -> Choice:
    return chosen(now, listed, policy=policy, ancestry=history)


class TestEveryChoice:
    @given(RECIPES, LISTED, POLICIES, st.randoms(use_true_random=False))
    def test_is_the_same_however_the_tags_are_listed(self, now: Current, listed: list[Offer], policy: Policy, random: Any) -> None:
        mixed = list(listed)
        random.shuffle(mixed)
        assert choice(now, mixed, policy) == choice(now, listed, policy) == choice(now, [*listed, *mixed], policy)

    @given(RECIPES, LISTED, POLICIES)
    def test_gives_each_tag_that_does_not_win_one_reason(self, now: Current, listed: list[Offer], policy: Policy) -> None:
        found = choice(now, listed, policy)
        others = {one.tag for one in listed} - {now.tag, found.winner}
        assert set(found.lost) - {now.tag} == others and all(found.lost.values()) and found.reasons
        assert found.winner not in found.lost and not (found.winner and found.disposition)

    @given(RECIPES, LISTED, POLICIES)
    def test_never_goes_back(self, now: Current, listed: list[Offer], policy: Policy) -> None:
        found = choice(now, listed, policy)
        if found.winner in (None, now.tag):
            return
        assert compare(found.winner, now.tag, SCHEMES, history, free=policy.free) == "newer"
        for one in listed:  # another name of the bytes that run is what runs, and the winner is newer than that too
            if one.digest is not None and one.digest == now.runs and compare(one.tag, now.tag, SCHEMES, history) == "newer":
                assert compare(found.winner, one.tag, SCHEMES, history, free=policy.free | {"cuda"}) == "newer"

    @given(RECIPES, LISTED, POLICIES)
    def test_holds_to_every_rule_of_the_policy(self, now: Current, listed: list[Offer], policy: Policy) -> None:
        found = choice(now, listed, policy)
        if found.winner is None:
            return
        won = next(one for one in listed if one.tag == found.winner)
        told = fields(won.tag, SCHEMES).fields
        assert won.digest is None or won.digest != now.runs
        assert policy.channel != "stable" or ("version" in told and not told.keys() & {"rc", "dev", "channel", "commit"})
        assert policy.channel != "nightly" or "nightly" in str(told.get("channel"))
        assert policy.platform is None or won.platforms is None or any(one.architecture == "arm64" for one in won.platforms)
        assert all(won.contains.get(commit) is True for commit in policy.must_have)
        assert all(won.contains.get(commit) is False for commit in policy.must_not_have)
        firsts = [sight.at for sight in won.sights if won.digest in (None, sight.digest)]
        assert not policy.minimum_age or (firsts and firsts[0] <= NOW - policy.minimum_age)
        pushes = won.sights[1:]
        assert not pushes or pushes[-1].at <= NOW - policy.quiet or won.sights[-2].digest == won.sights[-1].digest
        assert now.moved is None or now.moved <= NOW - policy.cadence

    @given(RECIPES, LISTED, POLICIES, st.data())
    def test_is_not_changed_by_an_older_tag(self, now: Current, listed: list[Offer], policy: Policy, data: Any) -> None:
        before = choice(now, listed, policy)
        than = {now.tag, before.winner or now.tag}
        older = ["v0.0.1-cu130", *TAGS] if now.tag.endswith("-cu130") else TAGS
        older = [tag for tag in older if tag not in {one.tag for one in listed} | than
                 and "older" in {compare(tag, one, SCHEMES, history, free=policy.free) for one in than}]
        if not older:
            return
        added = data.draw(offers(st.sampled_from(older)))
        if before.winner != now.tag and compare(added.tag, now.tag, SCHEMES, history, free=policy.free) != "older":
            added = replace(added, digest=None)  # a newer name of what runs is news, and no older tag
        after = choice(now, [*listed, added], policy)
        assert {tag: why for tag, why in after.lost.items() if tag != added.tag} == before.lost
        assert (after.winner, after.disposition) == (before.winner, before.disposition)

    @given(LISTED, st.sampled_from(TAGS))
    @example([offer(tag) for tag in TAGS], "nightly-dev-cu13-20260721-8905cbd4")
    def test_does_not_know_an_order_that_nobody_told_it(self, listed: list[Offer], tag: str) -> None:
        found = chosen(tag, listed)
        assert found.winner is None or compare(found.winner, tag, SCHEMES) == "newer"
