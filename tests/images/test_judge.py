"""Which image may take another's place, which may not, and what is said either way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.errors import BadInput, Refusal
from bot.images.judge import Declined, judge
from bot.images.policy import Policy
from bot.images.provenance import REVISION, commit_of, contradiction, repushed, settle
from bot.images.reference import parse
from bot.images.tags import read
from bot.model.image import Candidate, ImageFacts, Platform, Resolved
from bot.model.outcome import Disposition
from bot.model.policy import Hint

SCHEMES = read((Path(__file__).parents[2] / "bot" / "knowledge" / "tags.yaml").read_text(encoding="utf-8"))
DAY = datetime(2026, 8, 17, 9, tzinfo=UTC)
POLICY = Policy(allow=("docker.io/vllm/vllm-openai", "nvcr.io/nvidia/x"), platform="linux/arm64")


def digest(seed: str) -> str:
    return "sha256:" + (seed * 64)[:64]


def image(text: str, seed: str, *, created: datetime | None = DAY, arches=("amd64", "arm64"), children: str = "",
          **facts) -> Resolved:
    children = children or seed
    platforms = tuple(Platform(os="linux", architecture=arch, digest=digest(children + arch[:1].replace("m", "")), size=1)
                      for arch in arches)
    return Resolved(reference=parse(text), kind="index", digest=digest(seed), platforms=platforms, created=created, **facts)


CURRENT = image("vllm/vllm-openai:v0.25.1", "1")
NEWER = image("vllm/vllm-openai:v0.27.1", "2", created=DAY + timedelta(days=9))


def judged(new: Resolved, *, old: Resolved = CURRENT, policy: Policy = POLICY, **more) -> Candidate | Declined:
    return judge(old, new, policy, SCHEMES, **more)


class TestACandidate:
    def test_is_pinned_and_says_what_makes_it_newer(self):
        found = judged(NEWER)
        assert isinstance(found, Candidate)
        assert found.text == f"vllm/vllm-openai:v0.27.1@{digest('2')}"
        assert found.reasons == ("newer (version: 0.27.1, 0.25.1)",)

    def test_stays_without_a_digest_where_the_fleet_takes_none(self):
        assert judged(NEWER, policy=replace(POLICY, pin=False)).text == "vllm/vllm-openai:v0.27.1"

    def test_is_spelt_as_the_recipe_spells_its_image(self):
        old = image("nvcr.io#nvidia/x:1.3.0rc9", "1")
        assert judged(image("nvcr.io/nvidia/x:1.3.0rc14", "2"), old=old).text == f"nvcr.io#nvidia/x:1.3.0rc14@{digest('2')}"

    def test_of_a_moved_tag_is_ordered_by_creation(self):
        found = judged(image("vllm/vllm-openai:v0.25.1", "2", created=DAY + timedelta(days=1)))
        assert isinstance(found, Candidate) and "created 2026-08-18" in found.reasons[0]

    def test_of_another_repository_is_ordered_by_creation_whatever_the_tags_say(self):
        other = image("nvcr.io/nvidia/x:v0.1.0", "2", created=DAY + timedelta(days=1))
        found = judged(other)
        assert isinstance(found, Candidate) and "another repository" in found.reasons[0]
        assert isinstance(judged(replace(other, created=DAY - timedelta(days=1))), Declined)

    def test_leaves_a_label_that_the_policy_frees(self):
        new = image("vllm/vllm-openai:v0.27.1-cu130", "2", created=None)
        assert isinstance(judged(new), Declined)
        assert isinstance(judged(new, policy=replace(POLICY, free=frozenset({"cuda"}))), Candidate)

    def test_of_a_commit_tag_is_ordered_by_creation_when_no_history_is_given(self):
        old = image("vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef", "1")
        new = image("vllm/vllm-openai:nightly-dev-arm64-cu13-3696c77", "2", created=DAY + timedelta(days=15))
        found = judged(new, old=old)
        assert isinstance(found, Candidate) and "only by a repository's history" in found.reasons[0]

    @pytest.mark.parametrize(("history", "said"), [("newer", "history: bbbbbbb, aaaaaaa"), ("incomparable", "created 2026-08-18"),
                                                   (None, "created 2026-08-18")])
    def test_whose_tags_do_not_order_is_ordered_by_the_commits_that_both_were_built_from(self, history, said):
        old, new = (replace(image(f"vllm/vllm-openai:{tag}", tag[0], created=DAY + timedelta(days=after)),
                            facts=ImageFacts(commit=commit))
                    for tag, commit, after in (("kimi-k3", "aaaaaaa", 0), ("deepseek", "bbbbbbb", 1)))
        found = judged(new, old=old, ancestry=lambda one, other: history)
        assert isinstance(found, Candidate) and said in found.reasons[0]
        back = judged(new, old=old, ancestry=lambda one, other: "older")
        assert isinstance(back, Declined) and "older than the current image" in back.reason

    def test_tells_that_the_baselines_tag_was_pushed_again(self):
        old = replace(CURRENT, pushed=datetime(2026, 9, 3, tzinfo=UTC))
        found = judged(NEWER, old=old, measured="2026-08-21")
        assert found.repushed == old.pushed and "cannot be verified" in found.reasons[-1]

    def test_in_place_of_one_that_is_pinned_to_another_platform_says_so(self):
        # BR019, BR020: a file for several architectures was pinned to the digest of one.
        single = replace(CURRENT, kind="manifest", platforms=CURRENT.platforms[:1], reference=parse(f"vllm/vllm-openai:v0.25.1@{digest('1a')}"))
        found = judged(NEWER, old=single)
        assert found.reasons[1] == ("the recipe runs linux/arm64 and names an image of linux/amd64 alone; "
                                    "the digest of an index serves every platform it lists")
        assert found.text.endswith(NEWER.digest) and NEWER.kind == "index"
        assert len(judged(NEWER).reasons) == 1

    def test_tells_a_contradiction_of_tag_and_time(self):
        found = judged(image("vllm/vllm-openai:v0.27.1", "2", created=DAY - timedelta(days=9)))
        assert "created 2026-08-08, before the current image" in found.reasons[1]


class TestReleaseHintsWhereSomebodyNamesTheImage:
    @pytest.mark.parametrize(("use", "answer", "how"), [
        ("v0.27.1", "taken", "same"), ("v0.26.0", "taken", "newer"), ("v0.29.0", "not-taken", "older"),
        ("kimi-k3", "not-taken", "incomparable")])
    def test_to_use_a_tag_are_answered_by_order_alone(self, use: str, answer: str, how: str) -> None:
        found = judged(NEWER, policy=replace(POLICY, hints=(Hint(use=use, by="ann"),)))
        hint, = found.hints
        assert (hint.what, hint.by, hint.answer, hint.how, hint.beside) == (use, "ann", answer, how, "v0.27.1")
        assert (": taken" in hint.said) == (answer == "taken")

    @pytest.mark.parametrize(("holds", "answer", "how"), [(True, "taken", "contains"), (False, "not-taken", "lacks"),
                                                          (None, "unknown", "unknown")])
    def test_to_have_a_commit_by_what_is_known_of_it(self, holds: bool | None, answer: str, how: str) -> None:
        found = judged(NEWER, policy=replace(POLICY, hints=(Hint(contains="b" * 40),)), contains={"b" * 40: holds})
        assert [(hint.of, hint.answer, hint.how) for hint in found.hints] == [("commit", answer, how)]


class TestNoCandidate:
    FIX = "f" * 40

    @pytest.mark.parametrize(("rule", "holds", "said"), [
        ("must_have", False, "does not contain"), ("must_have", None, "is not known"), ("must_not_have", True, "contains"),
        ("must_not_have", None, "is not known"),
    ])
    def test_when_it_lacks_a_commit_that_the_policy_wants_or_holds_one_that_it_must_not(self, rule, holds, said):
        wants = replace(POLICY, **{rule: (self.FIX,)})
        found = judged(NEWER, policy=wants, contains={self.FIX: holds})
        assert isinstance(found, Declined) and said in found.reason and self.FIX in found.reason
        assert isinstance(judged(NEWER, policy=wants, contains={self.FIX: rule == "must_have"}), Candidate)

    def test_when_the_bytes_are_the_same(self):
        found = judged(replace(NEWER, digest=CURRENT.digest))
        assert found.disposition is Disposition.ALREADY_CURRENT

    def test_when_only_other_platforms_changed(self):
        # BR018
        found = judged(image("vllm/vllm-openai:v0.27.1", "2", children="1"))
        assert found.disposition is Disposition.ALREADY_CURRENT and "linux/arm64" in found.reason

    def test_when_the_recipe_is_pinned_with_a_reason(self):
        found = judged(NEWER, policy=replace(POLICY, keep="waits for a kernel"))
        assert found.disposition is Disposition.PINNED and "kernel" in found.reason

    @pytest.mark.parametrize(("new", "said"), [
        (image("lmsysorg/sglang:v0.27.1", "2"), "not on the layout's list"),
        (image("vllm/vllm-openai:v0.27.1", "2", arches=("amd64",)), "has no linux/arm64 (it has linux/amd64)"),
        (image("vllm/vllm-openai:v0.24.0", "2", created=DAY + timedelta(days=30)), "older than the current"),
        (image("vllm/vllm-openai:kimi-k3", "2", created=None), "cannot be ordered"),
        (image("vllm/vllm-openai:kimi-k3", "2", created=DAY), "cannot be ordered"),
        (image("vllm/vllm-openai:kimi-k3", "2", created=DAY - timedelta(1)), "older than the current"),
    ])
    def test_by_a_rule_that_a_person_hears_of(self, new, said):
        found = judged(new)
        assert isinstance(found, Declined) and found.disposition is None
        with pytest.raises(Refusal, match=said.replace("(", r"\(").replace(")", r"\)")) as caught:
            found.refuse()
        assert caught.value.hint


class TestProvenance:
    def test_is_the_label_before_the_tag(self):
        tag = image("vllm/vllm-openai:nightly-dev-arm64-cu13-3696c77", "1")
        assert commit_of(tag, SCHEMES) == ("3696c77", "tag")
        labelled = replace(tag, labels={REVISION: "3696C77" + "0" * 33})
        assert commit_of(labelled, SCHEMES) == ("3696c77" + "0" * 33, "label")
        assert commit_of(CURRENT, SCHEMES) == (None, "none")
        assert settle(labelled, SCHEMES).provenance == "label" and settle(labelled, SCHEMES).facts.commit.startswith("3696c77")

    def test_a_label_that_is_no_hash_is_none(self):
        assert commit_of(replace(CURRENT, labels={REVISION: "main"}), SCHEMES) == (None, "none")

    def test_tag_and_label_or_day_and_creation_may_contradict(self):
        tag = image("x/y:nightly-dev-cu13-20260815-a5ba081f", "1", labels={REVISION: "b" * 40})
        assert "label says" in contradiction(tag, SCHEMES)
        assert contradiction(image("x/y:nightly-dev-cu13-20260815-a5ba081f", "1"), SCHEMES) is None
        assert "created on 2026-08-17" in contradiction(image("x/y:nightly_202607231538", "1"), SCHEMES)
        assert "created on 2026-08-17" in contradiction(image("x/y:nightly-dev-cu13-20260814-a5ba081f", "1"), SCHEMES)
        assert "2026-09-01" in contradiction(image("x/y:main-abc1234-1788300000", "1"), SCHEMES)
        assert contradiction(image("x/y:dev-nightly-0101", "1"), SCHEMES) is None

    def test_a_push_counts_from_the_day_after_the_measurement(self):
        pushed = replace(CURRENT, pushed=datetime(2026, 8, 21, 23, tzinfo=UTC))
        assert repushed(pushed, "2026-08-21") is None
        assert repushed(pushed, "2026-08-20") == pushed.pushed
        assert repushed(CURRENT, "2026-08-20") is None
        with pytest.raises(BadInput, match="yesterday"):
            repushed(pushed, "yesterday")
