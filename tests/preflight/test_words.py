"""Words for people: our own pass no filter for other people's text, a number agrees with its noun, Chinese is Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from bot.model.finding import Checked
from bot.model.preflight import Certified, Identity, Job, Load, Staged
from bot.model.settings import Runner
from bot.model.upstream import ArchRefused, Change, Choice, Contained, Held, ImportsChecked, MissingImport, OptionsChecked
from bot.model.uses import Uses
from bot.preflight import arch, capacity, certify, contains, identity, imports, options, parity, runners, staging
from bot.preflight.words import _WHY, apart, image, safe, shape, why
from tests.preflight.worlds import KEY, facts, point, recipe

NAME = "vllm-project/vllm"
OURS = recipe(point(1, runner="self-hosted,h200"))
WISH = Change(repository=NAME, pull=600, wanted="must-have")
LACKS = Choice(name="v0.29.0", commit="ab" * 20, held=(Held(change=WISH, holds=False),))
ONE = MissingImport(file="a.py", line=1, module="x", name="y", guarded=True, lazy=False, on_start_path=True, typing=False)


def every() -> Iterator[Checked]:
    """Findings with one of everything, and lists that are put together here."""
    yield runners.check(facts(OURS, runners=()))
    yield runners.check(facts(OURS, runners=(Runner(name="a", labels=("self-hosted", "h200"), online=False),)))
    yield runners.check(facts(OURS, unknown={"runners": "needs:Administration: read and the organisation's Self-hosted runners: read"}))
    yield capacity.check(facts(loads=(Load(cluster="h200-dgxc", nodes=1, idle=0),)))
    yield arch.check(facts(arch=(ArchRefused(hardware="h200", said="8.0 8.9;10.0+PTX", at="arch_list", hard=True),)))
    yield staging.check(facts(staged=(Staged(runner="h200-dgxc", images=("x",), models=("y",)),)))
    yield contains.check(facts(contained=(Contained(of=NAME, candidate=LACKS, clash=("must-have pull request 600: in no tag",)),)))
    yield contains.check(facts(contained=(Contained(of=NAME, candidate=replace(LACKS, held=(Held(change=WISH, holds=None),))),)))
    yield imports.check(facts(imports=(ImportsChecked(consumer="sglang 0.5", provider="kernel 0.4", kernel=True, counted=1,
                                                      missing=(ONE,)),)))
    yield replace(options.check(facts(options=OptionsChecked(engine="vllm", counted=1, parsers=("a.py",)))), findings=())
    yield options.check(replace(facts(options=OptionsChecked(engine="vllm", counted=1, parsers=("a.py",))),
                                uses=Uses(engine="vllm", unread=("a.sh:1",))))
    yield identity.check(facts(identity=Identity(login="a", lacking=("pull_requests: write", "actions: write"))))
    yield certify.check(facts(certified=(Certified(recipe=KEY, task="gsm8k", points=1),), jobs=(Job(recipe=KEY, runner="x", task="y"),)))
    two = recipe(point(1, topology="2P(TP8) x 1D(TP8/EP8)"), point(4, task="gsm8k", topology="2P(TP8) x 1D(TP8/EP8)"))
    yield parity.check(facts(two, smoke=(two.points[1],)))


def said() -> list[tuple[str, str]]:
    """All texts of those in English and Chinese, evidence as English."""
    found = []
    for checked in every():
        texts = [checked.about, checked.unknown]
        for one in checked.findings:
            texts += [one.what, one.next, one.release.says if one.release else None]
            found.append((one.evidence, ""))
        found += [(text.en, text.zh) for text in texts if text]
    return found


class TestWordsOfOurs:
    def test_pass_no_filter_for_others(self) -> None:
        """`self-hosted_h100` is a label that nobody has, `8.0_8.9` no architecture, `Administration:_read` no right."""
        for text in (part for pair in said() for part in pair):
            rest = text.replace("pull_requests", "")
            assert not re.search(r"\w*_\w*", rest), text

    def test_number_and_noun_agree(self) -> None:
        for english, _ in said():
            assert not re.search(r"(?<![\w./])1 (?:[a-z]+ )?[a-z]{3,}s\b", english), english

    def test_chinese_is_set_as_chinese(self) -> None:
        for _, chinese in said():
            assert not re.search(r"\s[，。；、：）]|（\s", chinese), chinese
            assert not re.search(r"[a-z]+ (?:of|and|or|the|with|is) [a-z]+", chinese), chinese
            assert not chinese or re.search(r"[\u4e00-\u9fff]", chinese), chinese


class TestAReason:
    @pytest.mark.parametrize("word", sorted(_WHY))
    def test_is_chinese_in_chinese(self, word: str) -> None:
        rest = re.sub(r"\b(?:git|App|2\.38)\b", "", why(word).zh)
        assert re.search(r"[\u4e00-\u9fff]", rest) and not re.search(r"[a-z]{2,}", rest)

    def test_names_rights_once_each_and_in_words(self) -> None:
        told = why("needs:Administration: read and the organisation's Self-hosted runners: read and Administration: read")
        assert told.en.endswith("it needs Administration: read and the organisation's Self-hosted runners: read")
        assert told.zh.endswith("所需权限：Administration: read，以及组织的 Self-hosted runners: read")

    def test_of_somebody_else_is_shown_safely(self) -> None:
        assert "`" not in why("needs:`@x`: <b>").en and "<" not in why("needs:`@x`: <b>").zh


class TestAReference:
    @pytest.mark.parametrize("text", ["a/b:1@sha256:" + "0a" * 32, "nvcr.io#nvidia/x:1", "localhost:5000/a/b:1", "a/b@sha256:" + "0a" * 32])
    def test_is_shown_whole(self, text: str) -> None:
        assert image(text) == text

    @pytest.mark.parametrize("text", ["a/b:1@claude", "a/b#1", "a b", "a/b:1@sha256:zz", "a`b", "a/b@sha256:" + "0a" * 32 + "@x"])
    def test_that_is_none_is_shown_safely(self, text: str) -> None:
        assert image(text) == safe(text) and not re.search(r"[@#`\s]", image(text))


class TestLists:
    def test_in_one_text_are_told_apart(self) -> None:
        assert apart("self-hosted,h100") == "self-hosted, h100" and apart("8.0 8.9;10.0+PTX") == "8.0, 8.9, 10.0+PTX"

    def test_of_a_topology_keep_their_brackets(self) -> None:
        assert shape("2P(TP8) x 1D(TP8/EP8)") == "2P(TP8) x 1D(TP8/EP8)" and shape("a`<b>") == "a_b_"


class TestWhatToDoAboutChanges:
    def test_speaks_of_one_wish_where_there_is_one(self) -> None:
        found, = contains.check(facts(contained=(Contained(of=NAME, candidate=LACKS, clash=("a",)),))).findings
        assert "drop the wish (pull request 600 of vllm-project/vllm)" in found.next.en and "两" not in found.next.zh
        found, = contains.check(facts(contained=(Contained(of=NAME, candidate=LACKS, clash=("a", "b")),))).findings
        assert "one of these wishes" in found.next.en
