"""Must-have and must-not-have over real histories: ancestry, squashes, cherry-picks, reverts, re-lands, clashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.process import LocalProcess
from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.told import CloneHistory
from bot.errors import BadInput, Unreachable
from bot.model.upstream import Change
from bot.upstream.changes import about, parsed, wanted
from bot.upstream.contains import Published, contained, holds
from tests.fakes.upstream_git import Repository

NAME = "o/engine"
TITLE = "[Kernel] Make the fast path fast"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "engine.git")
    made.commit("Begin", {"fast.py": "slow = 1\n", "other.py": "a\nb\nc\n"})
    return made


def history(upstream: Repository) -> CloneHistory:
    return CloneHistory(Clone(LocalProcess(), str(upstream.folder), upstream.folder.parent / "cache"))


def must(text: str) -> Change:
    return parsed(text, NAME, "must-have")


def seen(upstream: Repository, text: str, *heads: str) -> list[bool | None]:
    told = history(upstream)
    return [holds(told, must(text), head).holds for head in heads]


class TestAChange:
    def test_is_held_by_what_came_after_it_and_not_by_what_came_before(self, upstream) -> None:
        before = upstream.tip("main")
        fix = upstream.commit(f"{TITLE} (#30)", {"fast.py": "fast\n"})
        after = upstream.commit("More", {"other.py": "x\n"})
        for text in (fix, fix[:9], "#30", f"{NAME}#30", f"{NAME}@{fix[:10]}"):
            assert seen(upstream, text, before, fix, after) == [False, True, True], text

    def test_of_which_nobody_ever_heard_is_unknown(self, upstream) -> None:
        assert seen(upstream, "#77", "main") == seen(upstream, "ab" * 20, "main") == [None]
        assert seen(upstream, upstream.tip("main"), "ab" * 20) == [None]
        assert holds(None, must("#77"), "main").holds is None

    def test_is_seen_on_a_release_branch_by_its_number_by_gits_note_and_by_its_patch(self, upstream) -> None:
        cut = upstream.tip("main")
        fix = upstream.commit(f"{TITLE} (#30)", {"fast.py": "fast\n"})
        heads = [upstream.commit(message, {"fast.py": "fast\n"}, branch=f"release/{number}", onto=cut) for number, message in enumerate((
            f"{TITLE} (#30) (#41)", f"Pick the fix\n\n(cherry picked from commit {fix})", f"[cherry-pick] {TITLE}", "By hand"))]
        other = upstream.commit("Something else (#30 is not in it)", {"other.py": "z\n"}, branch="release/9", onto=cut)
        for text in ("#30", fix):
            told = history(upstream)
            found = [holds(told, must(text), head) for head in (*heads, other)]
            assert [one.holds for one in found] == [True, True, True, True, False], text
            assert found[3].by == "patch-id" and found[3].commit == heads[3]

    def test_named_by_a_later_title_is_not_held_by_that(self, upstream) -> None:
        upstream.commit(f"{TITLE} (#30)", {"fast.py": "fast\n"}, branch="dev", onto=upstream.tip("main"))
        for title in ('Revert "Something (#30)" (#31)', "Follow-up to (#30) (#32)", "Fix what #30 broke (#33)"):
            upstream.commit(title, {"other.py": title})
        assert seen(upstream, "#30", "main", "dev") == [False, True]


class TestAChangeThatWasReverted:
    @pytest.mark.parametrize("message", [
        'Revert "{title} (#30)"\n\nThis reverts commit {sha}.', 'Revert "{title} (#30)" (#35)\n\nReverts o/engine#30',
        "Back it out again\n\nThis reverts commit {sha}, which hangs.", '[Bugfix] Revert "{title}" (#36)'])
    def test_is_not_held_behind_the_revert(self, upstream, message) -> None:
        fix = upstream.commit(f"{TITLE} (#30)", {"fast.py": "fast\n"})
        upstream.commit(message.format(title=TITLE, sha=fix), {"fast.py": "slow = 1\n"})
        assert seen(upstream, "#30", fix, "main") == seen(upstream, fix, fix, "main") == [True, False]

    def test_is_held_again_after_a_re_land(self, upstream) -> None:
        fix = upstream.commit(f"{TITLE} (#30)", {"fast.py": "fast\n"})
        revert = upstream.commit(f'Revert "{TITLE} (#30)" (#35)\n\nThis reverts commit {fix}.', {"fast.py": "slow = 1\n"})
        again = upstream.commit(f"Reland {TITLE} (#38)", {"fast.py": "fast\n"})
        assert seen(upstream, "#30", revert, again) == [False, True]
        upstream.commit(f'Revert "Reland {TITLE} (#38)" (#39)\n\nThis reverts commit {again}.', {"fast.py": "slow = 1\n"})
        assert seen(upstream, "#30", again, "main") == [True, False]

    def test_is_held_again_after_a_revert_of_the_revert_or_under_its_old_title(self, upstream) -> None:
        fix = upstream.commit(f"{TITLE} (#30)", {"fast.py": "fast\n"})
        revert = upstream.commit(f'Revert "{TITLE} (#30)" (#35)', {"fast.py": "slow = 1\n"})
        one = upstream.commit(f'Reapply "{TITLE} (#30)"\n\nThis reverts commit {revert}.', {"fast.py": "fast\n"}, branch="a", onto=revert)
        two = upstream.commit(f"{TITLE} (#44)", {"fast.py": "fast = 3\n"}, branch="b", onto=revert)
        assert seen(upstream, fix, one, two, "main") == [True, True, False]

    def test_elsewhere_is_still_held_where_the_revert_is_not(self, upstream) -> None:
        fix = upstream.commit(f"{TITLE} (#30)", {"fast.py": "fast\n"})
        kept = upstream.commit("A release", {"v": "1"}, branch="release/1", onto=fix)
        upstream.commit(f'Revert "{TITLE} (#30)" (#35)', {"fast.py": "slow = 1\n"})
        assert seen(upstream, "#30", kept, "main") == [True, False]


class TestAllThatIsPublished:
    """Nightlies n0..n5 of one line: the regression #19 comes with n2, the fix #53 with n4 (as in #2930)."""

    @pytest.fixture
    def tags(self, upstream) -> list[tuple[str, str | None]]:
        titles = ["Zero", "One", "Pin another attention kernel (#19)", "Three", "Repair the store's block table (#53)", "Five"]
        return [(f"n{number}", upstream.commit(title, {"log": title})) for number, title in enumerate(titles)][::-1]

    def ask(self, upstream, tags, candidate: int, *wishes: tuple[str, str], current: tuple[str, str | None] | None = None):
        told = history(upstream)
        changes = [parsed(text, NAME, wish) for text, wish in wishes]
        found, = contained(lambda repository: told, changes, [Published(of="x/engine", repository=NAME, candidate=tags[candidate],
                                                                        current=current, choices=tuple(tags))])
        return found

    def test_is_only_proposed_where_it_is_newer_than_what_runs(self, upstream, tags) -> None:
        wish = ("#19", "must-not-have")
        assert self.ask(upstream, tags, 0, wish, current=tags[-1]).best == "n1"
        found = self.ask(upstream, tags, 0, wish, current=tags[-2])
        assert (found.best, found.clash) == (None, ("must-not-have pull request 19 of o/engine: n2 to n5",))
        assert self.ask(upstream, tags, 3, ("#53", "must-have"), current=("custom", None)).best == "n5"
        assert self.ask(upstream, tags, 0, wish, current=("custom", None)).best is None

    def test_has_a_newest_that_fits(self, upstream, tags) -> None:
        found = self.ask(upstream, tags, 2, ("#53", "must-have"))
        assert (found.candidate.fits, found.best, found.clash) == (False, "n5", ())
        found = self.ask(upstream, tags, 0, ("#19", "must-not-have"))
        assert (found.candidate.fits, found.best) == (False, "n1")

    def test_has_none_where_what_must_be_there_came_after_what_must_not(self, upstream, tags) -> None:
        found = self.ask(upstream, tags, 0, ("#53", "must-have"), ("#19", "must-not-have"))
        assert found.best is None
        assert found.clash == ("must-have pull request 53 of o/engine: n4 to n5", "must-not-have pull request 19 of o/engine: n2 to n5")

    def test_has_one_in_between_where_the_wishes_leave_room(self, upstream, tags) -> None:
        assert self.ask(upstream, tags, 0, ("#19", "must-have"), ("#53", "must-not-have")).best == "n3"

    def test_of_no_known_commit_proves_nothing_and_is_no_choice(self, upstream, tags) -> None:
        found = self.ask(upstream, [*tags, ("custom", None)], 0, ("#53", "must-have"), ("#19", "must-not-have"))
        assert found.clash and found.best is None and [one.name for one in found.choices if one.fits is None] == ["custom"]
        assert self.ask(upstream, [("custom", None), *tags], 0, ("#53", "must-have")).candidate.fits is None

    def test_is_not_asked_about_other_repositories(self, upstream, tags) -> None:
        change = parsed("else/where#5", NAME, "must-have")
        assert contained(lambda repository: None, [change], [Published(of="x", repository=NAME, candidate=tags[0])]) == ()

    def test_is_unknown_where_the_history_does_not_answer(self, tags) -> None:
        def down(repository: str):
            raise Unreachable("no line", "wait")

        found, = contained(down, [must("#53")], [Published(of="x", repository=NAME, candidate=tags[0], choices=tuple(tags))])
        assert (found.candidate.fits, found.best, found.clash) == (None, None, ())


class TestTheWords:
    def test_of_a_policy_become_changes(self) -> None:
        made = wanted(("#5", "a/b#6"), ("abcdef1",), NAME)
        assert [(one.repository, one.pull, one.commit, one.wanted) for one in made] == [
            (NAME, 5, None, "must-have"), ("a/b", 6, None, "must-have"), (NAME, None, "abcdef1", "must-not-have")]
        assert [one.repository for one in wanted(("#5", "a/b#6"), (), None)] == ["a/b"]
        assert [about(text, NAME) for text in ("#5", "O/Engine#5", "a/b#5", "a/b@abcdef1", "abcdef1")] == [True, True, False, False, True]

    @pytest.mark.parametrize("text", ["", "#", "#0", "main", "a/b", "a/b#", "a#5", "../x#5", "abcdef", "#5 ", "a/b@main"])
    def test_that_name_no_change_are_bad_input(self, text) -> None:
        with pytest.raises(BadInput):
            parsed(text, NAME, "must-have")
