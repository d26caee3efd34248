"""Every signature carries its own example: first match over it is its own id, over all others it is not, in linear time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bot.diagnose.signatures import CLASSES, ELLIPSIS, Matcher, load, match
from bot.errors import BadInput

FILE = Path(__file__).parents[2] / "bot/knowledge/signatures.yaml"
SIGNATURES = load(FILE.read_text(), "signatures.yaml")
IDS = [signature.id for signature in SIGNATURES]
ENTRY = """
signatures:
  - id: {id}
    pattern: "{pattern}"
    class: oom
    scope: stop
    example: "boom 7"
    excerpt: "{excerpt}"
    cause: {{en: a, zh: b}}
"""


def last(text: str) -> str:
    return text.splitlines()[-1]


def prefix_repeated(signature: object, size: int) -> str:
    """The example without its last character, again and again: what nearly matches, at every place."""
    example = signature.example.replace("\n", " ")
    return (example[:-1] * (size // max(1, len(example) - 1) + 1))[:size]


class TestEveryEntry:
    @pytest.mark.parametrize("signature", SIGNATURES, ids=IDS)
    def test_the_first_match_over_its_example_is_itself(self, signature):
        found = match(SIGNATURES, last(signature.example), signature.example)
        assert found and found[0].id == signature.id

    @pytest.mark.parametrize("signature", SIGNATURES, ids=IDS)
    def test_over_all_other_examples_the_first_match_is_another(self, signature):
        others = [other for other in SIGNATURES if other.id != signature.id]
        assert all(match(SIGNATURES, last(o.example), o.example)[0].id != signature.id for o in others)

    @pytest.mark.parametrize("signature", SIGNATURES, ids=IDS)
    def test_its_own_prefix_repeated_to_a_megabyte_stays_linear(self, signature):
        def cost(size: int) -> float:
            text = prefix_repeated(signature, size)
            best = float("inf")
            for _ in range(5):
                begin = time.perf_counter()
                signature.search(text, text)
                best = min(best, time.perf_counter() - begin)
            return best

        signature.search("warm up", "warm up")
        # Ten times the text: ten times the work if linear, a hundred times if not. Below a millisecond a clock tells nothing.
        assert cost(1_000_000) < 40 * max(cost(100_000), 1e-3)

    @pytest.mark.parametrize("signature", SIGNATURES, ids=IDS)
    def test_its_excerpt_holds_no_line_of_the_log_and_both_languages_speak(self, signature):
        found = signature.search(last(signature.example), signature.example)
        excerpt = signature.fill(found)
        assert "{" not in excerpt and "\n" not in excerpt
        assert signature.cause.en and signature.cause.zh and signature.cause.en != signature.cause.zh

    @pytest.mark.parametrize("signature", SIGNATURES, ids=IDS)
    def test_the_matcher_that_asks_all_at_once_agrees(self, signature):
        found = Matcher(SIGNATURES)(last(signature.example), signature.example)
        assert found and found[0].id == signature.id

    def test_every_class_that_can_show_in_a_log_has_a_signature(self):
        silent = {"baseline-gap"}
        assert {signature.class_ for signature in SIGNATURES if signature.class_} == set(CLASSES) - silent


class TestExcerpt:
    def test_a_capture_that_could_speak_on_the_forge_is_left_out(self):
        (signature,) = load(ENTRY.format(id="a", pattern="boom (?P<x>.+)", excerpt="boom {x}"), "s.yaml")
        assert signature.fill(signature.search("boom vllm.a_b/c:1+2-3")) == "boom vllm.a_b/c:1+2-3"
        for hostile in ("@everyone", "a b", "`x`", "x|y", "a\u202eb", "l" * 121):
            assert signature.fill(signature.search(f"boom {hostile}")) == f"boom {ELLIPSIS}"


class TestBadKnowledge:
    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"pattern": "boom (?=7)"}, "RE2"),
            ({"pattern": "bang"}, "own example"),
            ({"pattern": "(?:boom)?"}, "empty line"),
            ({"excerpt": "see {y}"}, "names no group"),
            ({"id": "Not_An_Id"}, "lower-case"),
        ],
    )
    def test_is_told_with_file_line_and_key(self, changes, says):
        entry = {"id": "a", "pattern": "boom", "excerpt": "boom", **changes}
        with pytest.raises(BadInput, match=says) as told:
            load(ENTRY.format(**entry), "s.yaml")
        assert told.value.file == "s.yaml" and told.value.line and "signatures." in told.value.key

    def test_the_same_id_twice_is_refused(self):
        entry = ENTRY.format(id="a", pattern="boom", excerpt="boom")
        with pytest.raises(BadInput, match="twice"):
            load(entry + entry.split("signatures:\n")[1], "s.yaml")

    def test_an_unknown_class_is_refused(self):
        with pytest.raises(BadInput, match="class"):
            load(ENTRY.format(id="a", pattern="boom", excerpt="boom").replace("oom\n", "bad-luck\n"), "s.yaml")


class TestAllAtOnce:
    LINES = [*(last(one.example) for one in SIGNATURES), *(f"{last(one.example)} {last(two.example)}" for one, two in
             zip(SIGNATURES, SIGNATURES[1:] + SIGNATURES[:1], strict=True)), "nothing that anybody knows", ""]

    @pytest.mark.parametrize("gives_up", [False, True])
    def test_find_what_each_by_itself_finds_first(self, gives_up):
        """Two examples in a line fit two signatures at least: the first of the file is meant."""
        found = Matcher(SIGNATURES)
        if gives_up:  # as an automaton that is out of memory answers
            found._which = type("", (), {"Match": lambda self, line: None})()
        for line in self.LINES:
            for block in ("", *(one.example for one in SIGNATURES if one.spans), "nothing\nat all"):
                one, other = found(line, block), match(SIGNATURES, line, block)
                assert (one and (one[0].id, one[1].group())) == (other and (other[0].id, other[1].group())), (line, block)
