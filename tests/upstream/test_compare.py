"""What lies between two images: counted, ranked, and every doubt said."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.process import LocalProcess
from bot.adapters.upstream.clone import Clone
from bot.adapters.upstream.told import CloneHistory
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.model.upstream import Comparison
from bot.model.uses import Used, Uses, Written
from bot.upstream.compare import compared, stands
from bot.upstream.engines import Engine
from tests.fakes.upstream_git import Repository

NAME = "o/engine"
USES = Uses(engine="engine", words=("minimax_m3",),
            options=(Used(kind="option", name="--ep-size", value="4", at=Written(file="r.yaml")),))
ENGINE = Engine(repositories=(NAME,), module="engine", package="engine", folder="python", parsers=("engine/args.py",))


class Near:
    """Commits port over a clone, as the assembly makes one."""

    def __init__(self, history: CloneHistory) -> None:
        self.compare = history.compare


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "engine.git")
    made.commit("Begin", {"python/engine/args.py": "tp\n"})
    return made


def near(upstream: Repository) -> CloneHistory:
    return CloneHistory(Clone(LocalProcess(), str(upstream.folder), upstream.folder.parent / "cache"))


class TestAComparison:
    def test_tells_both_distances_from_the_main_line_and_what_concerns_the_recipe(self, upstream) -> None:
        old = upstream.tip("main")
        option = upstream.commit("Options anew (#5)", {"python/engine/args.py": "tp\nep_size: int\n"})
        upstream.commit("Nothing of ours (#6)", {"python/engine/args.py": "tp = 1\nep_size: int\n"})
        model = upstream.commit("Weights (#7)", {"python/engine/models/minimax_m3.py": "1\n"})
        dev = upstream.commit("On a branch", {"x": "1"}, branch="dev", onto=model)
        history = near(upstream)
        main_old, main_new, found = compared(Near(history), history, NAME, old, dev, USES, ENGINE)
        assert (main_old.ahead, main_old.behind, main_new.ahead, main_new.behind) == (0, 3, 1, 0)
        assert (found.ahead, found.behind, found.merge_base, found.doubts) == (4, 0, old, ())
        assert [(touch.commit.sha, touch.words, int(touch.rank)) for touch in found.touching] == [
            (option, ("--ep-size",), 5), (model, ("minimax_m3",), 3)]
        assert found.concerning == 2 and main_old.touching == main_new.touching == ()
        assert [stands(one) for one in (main_old, main_new, found)] == ["older", "newer", "newer"]

    def test_without_a_history_goes_by_titles(self, upstream) -> None:
        old = upstream.tip("main")
        upstream.commit("Tune MiniMax_M3 (#7)")
        found = compared(Near(near(upstream)), None, NAME, old, "main", USES, ENGINE)[-1]
        assert [int(touch.rank) for touch in found.touching] == [1]

    def test_of_an_unknown_commit_is_left_out(self, upstream) -> None:
        history = near(upstream)
        assert [one.base for one in compared(Near(history), history, NAME, None, "main", USES)] == ["main"]


class TestADoubt:
    def doubts(self, upstream, old: str, new: str) -> tuple[str, ...]:
        history = near(upstream)
        found = compared(Near(history), history, NAME, old, new, USES)[-1]
        return found.doubts

    def test_of_a_branch_that_was_rewritten_and_of_a_forks_commit(self, upstream) -> None:
        first, lost = upstream.tip("main"), upstream.commit("Lost")
        upstream.reset("main", first)
        new = upstream.commit("Another way")
        assert self.doubts(upstream, lost, new) == ("rewritten",) and self.doubts(upstream, first, lost) == ("impostor",)

    def test_of_what_runs_now_is_the_same_against_the_main_line(self, upstream) -> None:
        first, lost = upstream.tip("main"), upstream.commit("Lost")
        upstream.reset("main", first)
        new, history = upstream.commit("Another way"), near(upstream)
        assert [one.doubts for one in compared(Near(history), history, NAME, lost, new)] == [("rewritten",), (), ("rewritten",)]
        assert [one.doubts for one in compared(Near(history), history, NAME, new, lost)] == [(), ("impostor",), ("impostor",)]

    @pytest.mark.parametrize("place", ["heads", "tags"])
    @pytest.mark.parametrize("digits", ["deadbeef1", "ab" * 20, "ab" * 32])
    def test_of_an_id_is_not_taken_away_by_a_branch_or_tag_of_that_name(self, upstream, place, digits) -> None:
        upstream.tag("theirs", upstream.commit("Whatever they like"))
        packed = upstream.folder / "refs" / place / digits  # git itself would not make one of 40 digits; other hosts do
        packed.parent.mkdir(exist_ok=True)
        packed.write_text(f"{upstream.tip('main')}\n")
        history = near(upstream)
        found = compared(Near(history), history, NAME, "main", digits)[-1]
        assert (found.doubts, found.ahead, found.behind, found.touching) == (("gone",), None, None, ())
        assert history.full(f"refs/{place}/{digits}") == upstream.tip("main")

    def test_of_a_commit_that_is_gone(self, upstream) -> None:
        assert self.doubts(upstream, "ab" * 20, "main") == ("gone",)
        history = near(upstream)
        assert stands(compared(Near(history), history, NAME, "ab" * 20, "main")[-1]) is None

    def test_of_histories_that_share_nothing(self, upstream, tmp_path) -> None:
        upstream.git("fast-import", "--quiet", data=b"commit refs/heads/else\ncommitter c <c@example.org> 1 +0000\ndata 1\nx\n")
        other = upstream.git("rev-parse", "else").strip()
        history = near(upstream)
        found = compared(Near(history), history, NAME, other, "main")[-1]
        assert (found.merge_base, found.ahead, found.behind, found.doubts) == (None, 1, 1, ("rewritten",))
        assert stands(found) == "incomparable"

    @pytest.mark.parametrize(("error", "old", "doubt"), [
        (Missing("no", ""), "abcdef1", "gone"), (BadInput("two", ""), "abcdef1", "ambiguous"),
        (BadInput("broken", ""), "ab" * 20, "unreachable"), (Unreachable("down", ""), "abcdef1", "unreachable"),
        (Refusal("denied", ""), "abcdef1", "unreachable")])
    def test_of_what_nobody_answers(self, error, old, doubt) -> None:
        class Broken:
            def compare(self, repository, base, head):
                raise error

        found = compared(Broken(), None, NAME, old, "cd" * 20)[-1]
        assert found.doubts == (doubt,) and stands(found) is None and (found.ahead, found.behind) == (None, None)

    def test_of_a_list_that_was_cut(self) -> None:
        class Cut:
            def compare(self, repository, base, head):
                return Comparison(repository=repository, base=base, head=head, merge_base="ab" * 20, ahead=9, behind=0)

        assert compared(Cut(), None, NAME, "a" * 40, "b" * 40)[-1].doubts == ("truncated",)
