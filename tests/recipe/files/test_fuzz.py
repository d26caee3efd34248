"""YAML that nobody wrote: the edit changes its sites and nothing else, and undoing it gives the same bytes."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from bot.errors import Refusal
from bot.recipe.files import splice
from bot.recipe.files.document import Document
from bot.recipe.files.meaning import says
from tests.recipe.files import yamls
from tests.recipe.files.yamls import Made

TAGS = st.from_regex(r"v[0-9]\.[0-9]{1,2}(rc[0-9]|\.post1)?(-cu130)?", fullmatch=True)
DIGESTS = st.sampled_from(["", "@sha256:" + "a1" * 32])
IMAGES = st.builds("{}/{}:{}{}".format, st.sampled_from(["vllm", "nvcr.io#nvidia", "nvcr.io/nvidia", "ghcr.io/a-b", "localhost:5000/x"]),
                   st.sampled_from(["x", "sglang", "release"]), TAGS, DIGESTS)


def moved(data: bytes, made: Made, old: str, new: str) -> bytes:
    source = Document(data, "r.yaml")
    changes = []
    for number, path, before in made.sites:
        hits = source.find(path, document=number)
        assert [hit.node.value.rstrip("\n") for hit in hits] == [before + old], (path, before)
        changes.append(splice.Change(hit=hits[0], needle=old, text=new, document=number))
    return splice.rewrite(source, changes).data


def said(data: bytes) -> list[tuple[str, str]]:
    """What PyYAML itself reads: every scalar with its type in the file's order, through aliases too."""
    found: list[tuple[str, str]] = []
    stack = [*reversed(list(yaml.compose_all(data, Loader=yaml.SafeLoader)))]
    while stack:
        node = stack.pop()
        if isinstance(node, yaml.ScalarNode):
            found.append((node.tag, node.value))
        else:
            found.append((node.tag, str(len(node.value))))
            parts = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
            stack += reversed(parts)
    return found


class TestYamlThatNobodyWrote:
    @given(made=yamls.files(), old=IMAGES, new=IMAGES)
    def test_changes_its_sites_and_nothing_else_and_can_be_undone(self, made: Made, old: str, new: str) -> None:
        before, wanted = made.data(old, old), made.data(new, old)
        after = moved(before, made, old, new)
        assert after == wanted
        assert moved(after, made, new, old) == before
        differing = [(one, other) for one, other in zip(said(before), said(after), strict=True) if one != other]
        assert differing == [((tag, text), (tag, text.replace(old, new))) for (tag, text), _ in differing]
        assert len(differing) == (len(made.sites) if old != new else 0)


# Where a plain text would be read as something else, or ends early.
TRAPS = ["1:30", "12:30:45", "no", "on", "0o7", "0x1f", "1e3", ".5", "1.10", "1_000", ".inf", "2001-01-01", "null", "~", "<<", "=", "",
         "y: #z", "x #y", "x:", "a: b", "p, q", "{a}", "[a]", "*a", "&a", "!x", "|", ">", "%a", "@x", "`x", "#x", "- a", "? b", "-", "---",
         "...", " lead", "trail ", "a'b", 'a"b', "\\", "a\tb", "a\nb", "\u2028", "\x85", "\ufeffx", "\x07", "\U0001f9ea", "x" * 3000]
FORMS = ["a: {}\n", "a: '{}'\n", 'a: "{}"\n', "{{a: {}, b: 1}}\n", "[{{b: 1}}, {}]\n", "- {}\n- b\n", "a: &x {}\nb: 1\n", "a: !!str {}\n",
         "? a\n: {}\n", "a:\n  {}\n", "a: >-\n  {}\nb: 1\n", "a: |-\n  {}\n"]


# What YAML 1.1 or 1.2 says it is, by the types in their specifications; PyYAML knows but a part of either.
OTHERWISE = ["12e5678", "1e5", "1E5", "-1e-5", "0o17", "0O17", "y", "n", "Y", "N", "Yes", "off", "TRUE", "0b1", "1_0", ".5", "+1", "-0x1F", "1.", "1._0",
             ".inf", "-.INF", ".NaN", "~", "null", "Null", "=", "<<", "", "010", "1:30", "1:30:45.5", "2024-1-2", "2024-01-02T03", "1234567", "0.20"]


class TestWhatCannotStandPlain:
    @pytest.mark.parametrize("text", OTHERWISE)
    def test_for_any_reader_is_quoted(self, text: str) -> None:
        """A chart's reader is Go's: the short name of a commit that is digits and one e was infinite there."""
        assert splice.replace(b"a: old # c\n", "a", "old", text).data == f"a: '{text}' # c\n".encode()
        assert splice.replace(b"{a: old}\n", "a", "old", text).data == f"{{a: '{text}'}}\n".encode()

    @pytest.mark.parametrize("text", ["v1", "1.2.3", "1e", "e5", "0x", "12e5678f", "12e5678-cu130", "nightly", "yes-1", "2024-01-02-x", "0.20.0rc1", "latest"])
    def test_is_no_text_that_all_read_alike(self, text: str) -> None:
        assert splice.replace(b"a: old # c\n", "a", "old", text).data == f"a: {text} # c\n".encode()

    @pytest.mark.parametrize("form", ["a: |-\n  {}\n", "a: '{}'\n", 'a: "{}"\n'])
    def test_stands_where_everything_is_text(self, form: str) -> None:
        assert splice.replace(form.format("old").encode(), "a", "old", "1e5").data == form.format("1e5").encode()

    @given(form=st.sampled_from(FORMS), text=st.one_of(st.sampled_from(TRAPS), st.text(st.characters(exclude_categories=("Cs",)))))
    @example(form=FORMS[0], text="\uffff")
    @example(form=FORMS[-2], text="\n")
    @example(form=FORMS[3], text="0?")
    def test_is_quoted_and_read_back_as_it_was_meant(self, form: str, text: str) -> None:
        """A block is edited inside or refused; every other form can hold any text."""
        path = (0,) if form[0] == "-" else (1,) if form[0] == "[" else ("a",)
        before = form.format("old/image:v1").encode()
        try:
            after = splice.replace(before, path, "old/image:v1", text).data
        except Refusal:
            assert form.startswith(("a: >", "a: |"))
            return
        plain = yaml.load(form.format("old/image:v1"), Loader=yaml.SafeLoader)
        plain[path[0]] = text
        assert yaml.load(after, Loader=yaml.SafeLoader) == plain
        start, _, end = form.format("\0").encode().partition(b"\0")
        assert after.startswith(start.rstrip(b"'\"")) and after.endswith(end.lstrip(b"'\""))


ENTRIES = ["k{n}:\n  image: old\n", "k{n}: {image: old}\n", "k{n}:\n  image: 'old'\n  x: |\n    t\n", "k{n}:\n  image: old # c\n\n# d\n",
           "k{n}:\n  a: >+\n    x\n\n  image: old\n", "'k{n}': !!map\n  image: old\n"]
JUNK = ["\n", "\n\n", " ", "\t", ":", ": ", "- ", "? ", "#", " #", "'", '"', "[", "]", "{", "}", ",", "|", ">\n", "---\n", "...\n", "\n---", "a",
        "b: 1", "&a ", "*a", "!t ", "%TAG ! x\n", "\ufeff", "\r", "\x85", "\u2028", "old", "new", "k2: ", "<<: "]


class TestTheProof:
    @given(entries=st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=4), at=st.integers(0, 3), junk=st.lists(st.sampled_from(JUNK), max_size=4),
           wide=st.tuples(st.integers(0, 9), st.integers(0, 9)), end=st.sampled_from(["", "...\n", "# e\n"]))
    @example(entries=[ENTRIES[0]] * 2, at=0, junk=["new"], wide=(0, 1), end="")
    @example(entries=[ENTRIES[0]] * 2, at=0, junk=["new", "\n", "...\n"], wide=(0, 1), end="")
    def test_believes_no_text_that_reads_otherwise_elsewhere(
            self, entries: list[str], at: int, junk: list[str], wide: tuple[int, int], end: str) -> None:
        """It reads again only the entry that was edited: whatever is put there, the rest of the file must say the same."""
        text = "".join(entry.replace("{n}", str(number)) for number, entry in enumerate(entries)) + end
        path = (f"k{at % len(entries)}", "image")
        source = Document(text.encode(), "r.yaml")
        start, stop = source.span(source.find(path)[0].node)
        made = text[:start - wide[0]] + "".join(junk) + text[stop + wide[1]:]
        for goal in ("new", "old"):
            if says(source, made, {(0, path): goal}):
                differing = [other for one, other in zip(said(text.encode()), said(made.encode()), strict=True) if one != other]
                assert differing in ([], [("tag:yaml.org,2002:str", goal)])
