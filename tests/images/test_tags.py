"""Tag schemes: each claims its own, fields are typed, and nothing is called newer that is not."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput
from bot.images.schemes import CUSTOM, LABELS
from bot.images.tags import claims, compare, explain, fields, read

FILE = Path(__file__).parents[2] / "bot" / "knowledge" / "tags.yaml"
SNAPSHOT = Path(__file__).parents[3] / "shared" / "inferencex" / "snapshot"
SCHEMES = read(FILE.read_text(encoding="utf-8"))
EXAMPLES = [(scheme.id, example) for scheme in SCHEMES for example in scheme.entry.examples]
TURNED = {"older": "newer", "newer": "older", "same": "same", "incomparable": "incomparable"}


def order(a: str, b: str, ancestry=None, **options) -> str:
    found = compare(a, b, SCHEMES, ancestry, **options)
    assert compare(b, a, SCHEMES, (lambda x, y: TURNED.get(ancestry(y, x))) if ancestry else None, **options) == TURNED[found]
    return found


class TestTheKnowledge:
    @pytest.mark.parametrize(("scheme", "example"), EXAMPLES)
    def test_exactly_one_scheme_claims_each_example(self, scheme, example):
        assert list(claims(example, SCHEMES)) == [scheme]
        assert fields(example, SCHEMES).fields

    @pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.id)
    def test_every_entry_says_why_and_its_two_examples_order_or_say_that_they_do_not(self, scheme):
        assert scheme.entry.why and len(set(scheme.entry.examples)) == 2
        order(*scheme.entry.examples)

    def test_of_any_two_examples_only_those_with_the_same_labels_order(self):
        ordered = 0
        for a, b in itertools.combinations([example for _, example in EXAMPLES], 2):
            if order(a, b) != "incomparable":
                one, other = (fields(tag, SCHEMES).fields for tag in (a, b))
                assert {name for name in LABELS if name in one} == {name for name in LABELS if name in other}
                ordered += 1
        assert ordered > len(SCHEMES)

    def test_an_entry_that_does_not_hold_is_refused_with_its_name(self):
        entry = "schemes:\n- {id: x, pattern: '(?P<flavour>a)', why: w, examples: [a, b]}\nwords: []\n"
        with pytest.raises(BadInput, match="flavour"):
            read(entry)
        with pytest.raises(BadInput, match="RE2"):
            read(entry.replace("(?P<flavour>a)", "(?=a)"))
        with pytest.raises(BadInput, match="taken"):
            read("words: []\nschemes:\n" + "- {id: x, pattern: a, why: w, examples: [a, b]}\n" * 2)
        with pytest.raises(BadInput, match="examples"):
            read(entry.replace("[a, b]", "[a]"))

    def test_a_megabyte_of_its_own_prefix_does_not_stall_a_scheme(self):
        for _, example in EXAMPLES:
            prefixes = example[: len(example) // 2] * (200_000 // len(example))
            assert fields(prefixes, SCHEMES).scheme == CUSTOM, "no tag is as long as this"


class TestFields:
    @pytest.mark.parametrize(("tag", "scheme", "expected"), [
        ("1.3.0rc22.post1", "rc", {"version": "1.3.0", "rc": 22, "post": 1}),
        ("v0.5.8.post1-cu130-amd64", "release-post-variant", {"version": "0.5.8", "post": 1, "cuda": "13.0", "arch": "amd64"}),
        ("v0.21.0-ubuntu2404", "release-variant", {"version": "0.21.0", "os": "ubuntu24.04"}),
        ("v0.5.16-rocm720-mi35x-20260730", "release-rocm-dated",
         {"version": "0.5.16", "date": "2026-07-30", "rocm": "7.2.0", "gpu": "mi35x"}),
        ("nightly-dev-cu13-20260721-8905cbd4", "nightly-dev-date-sha",
         {"date": "2026-07-21", "commit": "8905cbd4", "cuda": "13", "channel": "nightly-dev"}),
        ("nightly-dev-x86_64-cu13.0.1-426e59f", "nightly-dev-arch-sha7",
         {"commit": "426e59f", "cuda": "13.0.1", "arch": "amd64", "channel": "nightly-dev"}),
        ("nightly_202607231538", "nightly-date", {"date": "2026-07-23", "time": "15:38", "channel": "nightly"}),
        ("dev-nightly-0820", "nightly-date", {"date": "--08-20", "channel": "dev-nightly"}),
        ("sglang-0.5.9-rocm720-mi35x-mori-0227-2", "engine-rocm-dated",
         {"version": "0.5.9", "build": 2, "date": "--02-27", "rocm": "7.2.0", "gpu": "mi35x", "variant": "sglang-mori"}),
        ("1.3.0-dev.1-cuda13", "release-dev", {"version": "1.3.0", "dev": 1, "cuda": "13"}),
        ("nightly-aarch64", "floating", {"arch": "arm64", "channel": "nightly"}),
        ("v0.12.0-aarch64-cu130", "release-variant", {"version": "0.12.0", "cuda": "13.0", "arch": "arm64"}),
        ("cu129-nightly-3ee2df30337a301164c46ae444b76ee67e71c106", "nightly-sha40",
         {"commit": "3ee2df30337a301164c46ae444b76ee67e71c106", "cuda": "12.9", "channel": "nightly"}),
    ])
    def test_are_typed_and_canonical(self, tag, scheme, expected):
        found = fields(tag, SCHEMES)
        assert (found.scheme, found.fields) == (scheme, expected)

    @pytest.mark.parametrize("tag", [
        "kimi-k3", "deepseek-v4-hopper", "v0.5.16-cu130-cu129", "v0.5.16-cu130-Experimental.Thing",
        "nightly_202613231538", "nightly_202607232538", "v1", "feat-something-facade0x", "x" * 128,
        "nightly-dev-20260230-8905cbd4",
    ])
    def test_what_no_scheme_reads_is_custom(self, tag):
        assert fields(tag, SCHEMES).scheme == "custom" and fields(tag, SCHEMES).fields == {}

    def test_eight_digits_that_are_a_day_are_no_commit(self):
        assert fields("nightly-20260820", SCHEMES).fields == {"date": "2026-08-20", "channel": "nightly"}
        assert fields("nightly-12345678", SCHEMES).fields == {"commit": "12345678", "channel": "nightly"}

    def test_a_word_of_hexadecimal_letters_is_no_commit(self):
        assert fields("feat-defaced", SCHEMES).scheme == "custom"

    @given(st.text(max_size=40))
    def test_of_any_text_are_read_without_failing(self, text):
        assert len(claims(text, SCHEMES)) <= 1


class TestOrder:
    @pytest.mark.parametrize(("a", "b"), [
        ("1.3.0rc9", "1.3.0rc14"),
        ("1.3.0rc18", "1.3.0rc22.post1"),
        ("1.3.0rc22", "1.3.0rc22.post1"),
        ("1.3.0rc24", "1.3.0"),
        ("1.3.0-dev.1-cuda13", "1.3.0-dev.2-cuda13"),
        ("1.1.0-dev.2", "1.1.0"),
        ("v0.9.2", "v0.10.0"),
        ("v0.5.12", "v0.5.12.post1"),
        ("v0.5.14-cu130", "v0.5.15.post1-cu130"),
        ("v0.5.9", "0.5.12"),
        ("v0.5.12-rocm720-mi35x", "v0.5.16-rocm720-mi35x-20260730"),
        ("v0.5.16-rocm720-mi35x-20260726", "v0.5.16-rocm720-mi35x-20260730"),
        ("v0.5.10rc0-rocm720-mi35x-20260415", "v0.5.10-rocm720-mi35x-20260414"),
        ("nightly-dev-cu13-20260721-8905cbd4", "nightly-dev-cu13-20260805-211ee642"),
        ("nightly-dev-cu13-20260721-8905cbd4", "nightly-dev-cu130-20260805-211ee642"),
        ("nightly_202607231538", "nightly_202608201032"),
        ("nightly_202607231538", "nightly_202607231539"),
        ("sglang-0.5.9-rocm720-mi35x-mori-0227-2", "sglang-0.5.9-rocm720-mi35x-mori-0227-10"),
        ("rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.3",
         "rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.4_20260612"),
        ("vllm-x86_64-cu13-0.25.1-7a33ba9", "vllm-x86_64-cu13-0.26.0-1a33ba9"),
    ])
    def test_is_by_number_and_day(self, a, b):
        assert order(a, b) == "older"

    @pytest.mark.parametrize(("a", "b", "why"), [
        ("v0.5.16-cu130", "v0.5.17-cu129", "cuda"),
        ("v0.5.16-cu130", "v0.5.17", "cuda"),
        ("v0.5.16-rocm720-mi30x", "v0.5.17-rocm720-mi35x", "gpu"),
        ("v0.5.12-rocm700-mi35x", "v0.5.12-rocm720-mi35x", "rocm"),
        ("v0.5.8.post1-cu130-amd64", "v0.5.9.post1-cu130-arm64", "arch"),
        ("v0.5.8.post1-cu130-amd64", "v0.5.15.post1-cu130", "arch"),
        ("v0.5.8-cu130-runtime", "v0.5.9-cu130", "variant"),
        ("v0.20.1-ubuntu2404", "v0.21.0-ubuntu2204", "os"),
        ("v0.25.1", "nightly-3ee2df30337a301164c46ae444b76ee67e71c106", "channel"),
        ("nightly-3ee2df30337a301164c46ae444b76ee67e71c106", "nightly-5e35a6f4f9bbc217c599692157ca985c894373f7", "history"),
        ("nightly-dev-arm64-cu13.0.1-75c2eef", "nightly-dev-arm64-cu13-3696c77", "history"),
        ("nightly-dev-cu13-20260721-8905cbd4", "nightly-dev-cu13-20260721-433429b1", "history"),
        ("v0.5.16-rocm720-mi35x", "v0.5.16-rocm720-mi35x-20260730", "only one tag has a date"),
        ("nightly_202607231538", "nightly-20260723", "only one tag has a time"),
        ("dev-nightly-0820", "dev-nightly-0821", "without a year"),
        ("rocm7.2.2_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.2.post",
         "rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.3", "rocm"),
        ("kimi-k3", "v0.25.1", "no scheme reads kimi-k3"),
        ("deepseekv4-cu129", "deepseekv4-cu130", "no scheme"),
    ])
    def test_is_refused_where_platform_history_or_a_field_is_missing(self, a, b, why):
        assert order(a, b) == "incomparable"
        assert why in explain(a, b, SCHEMES)[1]

    def test_of_one_tag_is_same_and_spelling_does_not_matter(self):
        assert order("kimi-k3", "kimi-k3") == "same"
        assert order("v0.5.16-cu130", "0.5.16-cuda13.0") == "same"
        assert order("nightly-3ee2df3", "nightly-3ee2df30337a301164c46ae444b76ee67e71c106") == "same"

    def test_a_field_that_the_recipe_frees_may_move(self):
        assert order("v0.5.16-cu129", "v0.5.17-cu130", free=frozenset({"cuda"})) == "older"
        assert order("v0.5.17-cu129", "v0.5.16-cu130", free=frozenset({"cuda"})) == "newer"


class TestHistory:
    LINE = ("1111111", "2222222", "3333333")

    def ancestry(self, a: str, b: str):
        if a not in self.LINE or b not in self.LINE:
            return None
        left, right = self.LINE.index(a), self.LINE.index(b)
        return "older" if left < right else "newer" if left > right else "same"

    def test_orders_commit_tags(self):
        assert order("nightly-dev-arm64-cu13-1111111", "nightly-dev-arm64-cu13-3333333", self.ancestry) == "older"
        assert order("feat-x-3333333", "feat-x-2222222", self.ancestry) == "newer"

    def test_that_knows_only_one_of_them_orders_nothing(self):
        assert order("feat-x-3333333", "feat-x-9999999", self.ancestry) == "incomparable"

    def test_that_diverged_orders_nothing(self):
        assert order("feat-x-3333333", "feat-x-2222222", lambda a, b: "incomparable") == "incomparable"

    def test_outweighs_the_day_that_a_tag_claims(self):
        a, b = "nightly-dev-20260721-2222222", "nightly-dev-20260805-1111111"
        assert order(a, b) == "older"
        assert order(a, b, self.ancestry) == "incomparable"
        assert "history says the opposite" in explain(a, b, SCHEMES, self.ancestry)[1]


VERSIONS = st.builds("{}.{}.{}".format, st.integers(0, 2), st.integers(0, 12), st.integers(0, 30))
SUFFIXES = st.sampled_from(["", ".post1", ".post12", "rc1", "rc14", "rc9", "rc9.post1"])
VARIANTS = st.sampled_from(["", "-cu129", "-cu130", "-cu130-arm64", "-ubuntu2404"])
RELEASES = st.builds("{}{}{}{}".format, st.sampled_from(["", "v"]), VERSIONS, SUFFIXES, VARIANTS)
NIGHTLIES = st.builds("nightly-dev-cu13-2026{:02}{:02}-{:07x}1".format, st.integers(1, 12), st.integers(1, 28),
                      st.integers(0, 16**7 - 1))
ANY = RELEASES | NIGHTLIES | st.sampled_from([example for _, example in EXAMPLES])


class TestOrderAsARelation:
    @given(ANY, ANY)
    def test_turning_the_pair_turns_the_answer(self, a, b):
        assert TURNED[compare(a, b, SCHEMES)] == compare(b, a, SCHEMES)

    @given(ANY, ANY, ANY)
    def test_it_is_transitive(self, a, b, c):
        if order(a, b) == order(b, c) == "older":
            assert order(a, c) == "older"

    @given(RELEASES, RELEASES)
    def test_a_lower_version_is_never_newer(self, a, b):
        left, right = (tuple(map(int, re.findall(r"\d+", fields(tag, SCHEMES).fields["version"]))) for tag in (a, b))
        if left < right:
            assert order(a, b) in ("older", "incomparable")


@pytest.mark.skipif(not SNAPSHOT.is_dir(), reason="the recorded repository lies beside the checkout and is absent")
class TestTheRecordedRepository:
    def test_at_most_twenty_of_its_tags_are_custom(self):
        lines = [line for file in sorted((SNAPSHOT / "configs").glob("*-master.yaml"))
                 for line in file.read_text(encoding="utf-8").splitlines()]
        images = [match[1].strip('"') for line in lines if (match := re.fullmatch(r"  image: *(\S+)", line))]
        tags = [image.partition("@")[0].rpartition(":")[2] for image in images]
        custom = [tag for tag in tags if fields(tag, SCHEMES).scheme == "custom"]
        assert len(tags) == 208 and set(custom) == {"kimi-k3", "deepseek-v4-hopper"} and len(custom) <= 20
