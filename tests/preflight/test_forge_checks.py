"""Identity, merging and other people's work: what the forge says before anything is opened."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bot.model.preflight import Identity, Merge, Work
from bot.preflight import identity, mergeable, overlap
from tests.preflight.worlds import KEY, clean, facts, only

TEXT = "vllm/vllm-openai:v0.29.0"


class TestTheTokensIdentity:
    @pytest.mark.parametrize("wanted", [None, "Klaud-Cold", "klaud-cold"])
    def test_is_that_of_the_rules(self, wanted: str | None) -> None:
        assert clean(identity.check(facts(identity=Identity(login="Klaud-Cold", wanted=wanted))))

    @pytest.mark.parametrize("login", ["github-actions[bot]", "someone", "Klaud-Cold[bot]"])
    def test_that_is_another_stops(self, login: str) -> None:
        """#3249, #3282, #3286, #3291, #3312, #3317: `Candidate ownership mismatch`."""
        found = only(identity.check(facts(identity=Identity(login=login, wanted="Klaud-Cold"))))
        assert (found.action, found.class_, found.who) == ("stop", "credential", "operator")
        assert found.evidence == f"token of {login}, wanted Klaud-Cold"
        assert found.release is not None and found.release.subject == "login Klaud-Cold"

    def test_that_lacks_a_right_stops(self) -> None:
        found = only(identity.check(facts(identity=Identity(login="bumpbot[bot]", lacking=("actions: write",)))))
        assert (found.action, found.class_) == ("stop", "credential") and found.evidence == "bumpbot[bot] lacks actions: write"

    def test_that_nobody_tells_is_unknown(self) -> None:
        assert identity.check(facts()).unknown is not None
        checked = identity.check(facts(identity=Identity(login="", wanted="Klaud-Cold")))
        assert checked.findings == () and checked.unknown is not None


class TestMerging:
    def test_without_conflicts_is_fine(self) -> None:
        assert clean(mergeable.check(facts(merge=Merge(head="a" * 40, base="b" * 40))))

    def test_of_two_appends_is_mended_first(self) -> None:
        """#3010, #3012: validated once the branch had been synced."""
        merge = Merge(head="a" * 40, base="b" * 40, conflicts=("perf-changelog.yaml",), appends=True)
        found = only(mergeable.check(facts(merge=merge)))
        assert (found.action, found.class_, found.who) == ("repair-first", "changelog-conflict", "bot")
        assert found.evidence == "merge-tree bbbbbbbbbbbb aaaaaaaaaaaa: perf-changelog.yaml"

    def test_of_other_files_asks(self) -> None:
        merge = Merge(head="a" * 40, base="b" * 40, conflicts=("configs/nvidia-master.yaml", "perf-changelog.yaml"))
        assert only(mergeable.check(facts(merge=merge))).action == "ask"

    def test_is_no_question_before_there_is_a_branch(self) -> None:
        assert clean(mergeable.check(facts(unknown={"mergeable": "no-head"})))

    def test_that_could_not_be_tried_is_unknown(self) -> None:
        checked = mergeable.check(facts(unknown={"mergeable": "old-git"}))
        assert checked.unknown is not None and "2.38" in checked.unknown.zh


def work(**more: Any) -> Work:
    told = {"kind": "pull", "name": "#77", "by": "ada", "recipes": (KEY,), "image": "vllm/vllm-openai:v0.28.0", "url": "https://x/77"}
    return Work(**told | more)


class TestOtherPeoplesWork:
    def test_on_other_recipes_is_none_of_ours(self) -> None:
        assert clean(overlap.check(facts(work=(work(recipes=("other",)),))))

    def test_that_moves_the_same_recipe_asks(self) -> None:
        found = only(overlap.check(facts(work=(work(),))))
        assert (found.action, found.where) == ("ask", "https://x/77")
        assert found.evidence == f"#77 by ada: {KEY} -> vllm/vllm-openai:v0.28.0"

    @pytest.mark.parametrize(("changed", "action"), [
        ({"image": None}, "ask"), ({"kind": "branch", "name": "claude/x"}, "note"), ({"kind": "claim", "name": "b"}, "ask"),
        ({"kind": "claim", "name": "b", "ours": True}, "stop"), ({"draft": True}, "ask"),
    ])
    def test_weighs_as_much_as_it_stands_in_the_way(self, changed: dict[str, Any], action: str) -> None:
        assert only(overlap.check(facts(work=(work(**changed),)))).action == action

    def test_on_other_recipes_of_the_same_file_is_one_note(self) -> None:
        told = facts()
        every = tuple(work(name=f"#{number}", recipes=("other",), files=(told.family[0].file, "x.yaml")) for number in (3, 4))
        found = only(overlap.check(replace(told, work=(*every, work(recipes=("other",), files=("x.yaml",))))))
        assert (found.action, found.evidence) == ("note", f"{told.family[0].file}: #3, #4")
        assert found.what is not None and "2 open pull requests" in found.what.en

    def test_is_not_our_own_pull_request(self) -> None:
        assert overlap.check(facts(work=(work(ours=True),))).findings == ()

    def test_with_the_same_image_is_said_to_be_the_same(self) -> None:
        what = only(overlap.check(facts(work=(work(image=TEXT),)))).what
        assert what is not None and "same image" in what.en and "同一镜像" in what.zh

    def test_shows_no_name_as_it_came(self) -> None:
        found = only(overlap.check(facts(work=(work(kind="branch", name="x/@claude `run` | y", by="a b"),))))
        assert found.evidence.startswith("x/_claude_run_y by a_b:") and "@" not in (found.what or found.next).en

    def test_that_could_not_be_asked_is_unknown(self) -> None:
        assert overlap.check(facts()).unknown is not None
