"""What a scan asks of the engines' repositories: the order of commits, and the commits that a policy names."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from msgspec.structs import replace

from bot.adapters.process import LocalProcess
from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.told import CloneHistory
from bot.errors import Missing, Unreachable
from bot.model.image import ImageFacts, Platform, Resolved
from bot.model.upstream import Commit
from tests.fakes.upstream_git import Repository
from tests.scan.test_asking import Registry, digest, scan

FIX = "f" * 40
LINE = ["a1", "b2", "c3", "d4", "e5"]  # oldest first
MINE, NEXT, LAST = (f"nightly-{name * 20}" for name in ("b2", "c3", "e5"))
SOURCES = "sources: {docker.io/x/engine: 'https://github.com/x/engine'}"


class Commits:
    """The main line of x/engine, and which of its commits each commit holds; it counts what it is asked."""

    def __init__(self, holds: dict[str, bool] | None = None) -> None:
        self.holds, self.listed, self.asked = holds or {}, list[tuple[str, frozenset[str]]](), list[tuple[str, str]]()
        self.down = False

    def history(self, repository: str, until: Collection[str]) -> tuple[Commit, ...]:
        self.listed.append((repository, frozenset(until)))
        if self.down:
            raise Unreachable("api.github.com is down", "wait")
        shas = [name * 20 for name in LINE]
        made = [Commit(sha=sha, title="", date="", parents=tuple(shas[number - 1:number])) for number, sha in enumerate(shas)]
        return tuple(reversed(made))

    def contains(self, repository: str, commit: str, head: str) -> bool:
        self.asked.append((commit, head))
        if head not in self.holds:
            raise Missing(f"{repository} {head}: not there (404)", "check the commit")
        return self.holds[head]


def nightlies(*tags: str) -> Registry:
    registry = Registry()
    registry.tags["docker.io/x/engine"] = {tag: tag for tag in tags}
    return registry


class TestTagsOfCommits:
    def test_are_ordered_by_the_main_line_of_the_engine(self) -> None:
        commits = Commits()
        found, = scan(nightlies(MINE, LAST, NEXT, f"nightly-{'a1' * 20}"), f"x/engine:{MINE}", commits=commits, more=SOURCES).lines
        assert (found.candidate or "").startswith(f"x/engine:{LAST}@") and "history" in found.reasons[0]
        assert commits.listed == [("x/engine", frozenset({"b2" * 20}))]

    def test_of_many_recipes_cost_one_listing(self) -> None:
        commits = Commits()
        scan(nightlies(MINE, NEXT, LAST), f"x/engine:{MINE}", f"x/engine:{NEXT}", commits=commits, more=SOURCES)
        assert commits.listed == [("x/engine", frozenset({"b2" * 20, "c3" * 20}))]

    def test_on_no_main_line_stay_without_an_order_and_win_nothing(self) -> None:
        found, = scan(nightlies(MINE, f"nightly-{'99' * 20}"), f"x/engine:{MINE}", commits=Commits(), more=SOURCES).lines
        assert found.candidate is None and any("does not know both" in one for one in found.unknown)

    def test_whose_history_does_not_answer_say_so(self) -> None:
        commits = Commits()
        commits.down = True
        found, = scan(nightlies(MINE, LAST), f"x/engine:{MINE}", commits=commits, more=SOURCES).lines
        assert found.candidate is None and "the history of its commits: api.github.com is down: wait" in found.unknown

    @pytest.mark.parametrize(("image", "more"), [(f"x/engine:{MINE}", ""), ("x/engine:v1.0.0", SOURCES)])
    def test_are_all_that_a_history_is_asked_about(self, image: str, more: str) -> None:
        commits = Commits()
        scan(nightlies(MINE, LAST, "v1.0.0", "v1.1.0"), image, commits=commits, more=more)
        assert commits.listed == commits.asked == []


class Labelled(Registry):
    """A registry whose images say which commit they were built from."""

    def resolve(self, wanted: Any) -> Resolved:
        built = {digest("new"): "e5" * 20, digest("middle"): "c3" * 20}.get(wanted.digest)
        labels = {"org.opencontainers.image.revision": built} if built else {}
        return Resolved(reference=wanted, kind="index", digest=wanted.digest, labels=labels, facts=ImageFacts(commit=built),
                        platforms=(Platform(os="linux", architecture="arm64", digest=digest("x"), size=1),))


class TestCommitsOfThePolicy:
    RULE = f"must-have: [{FIX}]"

    def test_are_asked_of_the_image_that_would_win_by_its_label(self) -> None:
        commits = Commits({"e5" * 20: True})
        found, = scan(Labelled(v1_0_0="old", v1_0_5="middle", v1_1_0="new"), "x/engine:v1.0.0", policy=self.RULE, commits=commits,
                      more=SOURCES).lines
        assert (found.candidate or "").startswith("x/engine:v1.1.0@") and f"contains {FIX}" in found.reasons
        assert commits.asked == [(FIX, "e5" * 20)]

    def test_that_it_lacks_make_room_for_the_next(self) -> None:
        commits, unwanted = Commits({"e5" * 20: True, "c3" * 20: False}), f"must-not-have: [{FIX}]"
        found, = scan(Labelled(v1_0_0="old", v1_0_5="middle", v1_1_0="new"), "x/engine:v1.0.0", policy=unwanted, commits=commits,
                      more=SOURCES).lines
        assert (found.candidate or "").startswith("x/engine:v1.0.5@") and [head for _, head in commits.asked] == ["e5" * 20, "c3" * 20]

    @pytest.mark.parametrize("content", ["new", "unlabelled"])
    def test_that_nobody_can_tell_are_unknown_and_nothing_is_taken(self, content: str) -> None:
        found, = scan(Labelled(v1_0_0="old", v1_1_0=content), "x/engine:v1.0.0", policy=self.RULE, commits=Commits(), more=SOURCES).lines
        assert found.candidate is None and any(f"whether it contains {FIX}" in one for one in found.unknown)

    def test_may_be_pull_requests_where_the_whole_history_tells_and_else_are_unknown(self, tmp_path) -> None:
        upstream = Repository(tmp_path / "engine.git")
        begun, fixed = upstream.commit("Begin"), upstream.commit("Fix the store (#53)")
        history = CloneHistory(Clone(LocalProcess(), str(upstream.folder), tmp_path / "cache"))

        class Built(Labelled):
            def resolve(self, wanted: Any) -> Resolved:
                return replace(super().resolve(wanted), labels={"org.opencontainers.image.revision": at[wanted.digest]})

        at = {digest("new"): fixed, digest("old"): begun}
        rule = "must-have: ['#53', other/part#9]"
        for histories, candidate in (({"histories": {"x/engine": history}.get}, "x/engine:v1.1.0@"), ({}, "")):
            found, = scan(Built(v1_0_0="old", v1_1_0="new"), "x/engine:v1.0.0", policy=rule, commits=Commits(), more=SOURCES,
                          **histories).lines
            assert (found.candidate or "")[:16] == candidate
            told = (*found.reasons, *found.unknown)
            assert any("contain" in one and "pull request 53" in one for one in told) and not any("#53" in one for one in told)

    @pytest.mark.parametrize("form", ["#53", "x/engine#53"])
    def test_that_it_holds_and_must_not_make_room_for_the_next_also_as_pull_requests(self, form: str, tmp_path) -> None:
        upstream = Repository(tmp_path / "engine.git")
        begun, middle, broke = upstream.commit("Begin"), upstream.commit("Go on"), upstream.commit("Break the store (#53)")
        history = CloneHistory(Clone(LocalProcess(), str(upstream.folder), tmp_path / "cache"))

        class Built(Labelled):
            def resolve(self, wanted: Any) -> Resolved:
                return replace(super().resolve(wanted), labels={"org.opencontainers.image.revision": at[wanted.digest]})

        at = {digest("new"): broke, digest("middle"): middle, digest("old"): begun}
        found, = scan(Built(v1_0_0="old", v1_0_5="middle", v1_1_0="new"), "x/engine:v1.0.0", policy=f"must-not-have: ['{form}']",
                      commits=Commits(), more=SOURCES, histories={"x/engine": history}.get).lines
        assert (found.candidate or "").startswith("x/engine:v1.0.5@")

    def test_are_asked_by_a_hint_too_and_answer_it(self) -> None:
        commits = Commits({"e5" * 20: False})
        found, = scan(Labelled(v1_0_0="old", v1_1_0="new"), "x/engine:v1.0.0", policy=f"hints: [{{contains: {FIX}, by: issue 9}}]",
                      commits=commits, more=SOURCES).lines
        assert found.candidate is not None and any("issue 9" in one and "does not contain it" in one for one in found.reasons)

    def test_of_which_each_image_lacks_another_leave_none_and_say_so(self) -> None:
        """No published image held both needed fixes, and it came out on the machines. (BR074)"""
        other = "d" * 40

        class Halves(Commits):
            def contains(self, repository: str, commit: str, head: str) -> bool:
                return super().contains(repository, commit, head) == (commit == FIX)

        commits = Halves({"e5" * 20: True, "c3" * 20: False})
        found, = scan(Labelled(v1_0_0="old", v1_0_5="middle", v1_1_0="new"), "x/engine:v1.0.0",
                      policy=f"must-have: [{FIX}, {other}]", commits=commits, more=SOURCES).lines
        assert found.candidate is None
        assert {head for _, head in commits.asked} == {"e5" * 20, "c3" * 20}
        assert "no newer tag is known to hold every commit that it must and none that it must not" in found.reasons
