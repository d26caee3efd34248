"""Byte-exact edits: the scalar changes, its quotes, comments and neighbours do not."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import BadInput, Refusal
from bot.recipe.files import splice
from bot.recipe.files.document import Document

OLD, NEW = "vllm/vllm-openai:v0.25.1", "vllm/vllm-openai:v0.26.0@sha256:" + "a" * 64


class TestReplacingAnImage:
    @pytest.mark.parametrize("text", [
        "image: {}\n",
        "image: '{}'\n",
        'image: "{}"  # pinned: see waiver\n',
        "# é ü 漢字 😀 before the site\nimage: {}\n",
        "a: 1\r\nimage: {}\r\nb: 2\r\n",
        "\ufeffimage: {}\n",
        "image: {}",
        "---\n# head\nimage: {}\n...\n",
        "image: &pin {}\n",
        "image: !!str {}\n",
        "image: >-\n  {}\nb: 1\n",
        "image: |\n  {}\n",
        "{{ name: x, image: {}, b: [1, 2] }}\n",
        "image:\n    {}\n",
    ], ids=["plain", "single", "double-and-comment", "non-ascii", "crlf", "bom", "no-final-newline", "markers", "anchor",
            "tag", "folded", "literal", "flow", "next-line"])
    def test_changes_those_characters_and_nothing_else(self, text: str) -> None:
        before, after = text.format(OLD).encode(), text.format(NEW).encode()
        path = ".image"
        was = OLD + "\n" if "|\n" in text else OLD
        now = NEW + "\n" if "|\n" in text else NEW
        assert splice.replace(before, path, was, now).data == after
        assert splice.replace(after, path, now, was).data == before

    def test_tells_line_path_and_what_stood_there(self) -> None:
        made = splice.replace(f"# one\n\nmodel:\n  container: '{OLD}'\n".encode(), "model.container", OLD, NEW, file="r.yaml")
        assert [(site.file, site.line, site.path, site.value) for site in made.sites] == [("r.yaml", 4, "model.container", OLD)]

    def test_edits_one_document_of_several(self) -> None:
        data = f"image: {OLD}\n---\nimage: {OLD}\n".encode()
        assert splice.replace(data, "image", OLD, NEW, document=1).data == f"image: {OLD}\n---\nimage: {NEW}\n".encode()

    def test_takes_keys_with_dots_as_a_sequence_or_quoted(self) -> None:
        data = f"qwen3.5-fp8:\n  image: {OLD}\nqwen3:\n  image: {OLD}\n".encode()
        wanted = data.replace(OLD.encode(), NEW.encode(), 1)
        assert splice.replace(data, ("qwen3.5-fp8", "image"), OLD, NEW).data == wanted
        assert splice.replace(data, '."qwen3.5-fp8".image', OLD, NEW).data == wanted

    def test_refuses_when_the_place_says_something_else(self) -> None:
        with pytest.raises(Refusal, match="does not hold"):
            splice.replace(b"image: other:1\n", "image", OLD, NEW)

    def test_refuses_to_reach_a_second_place_through_an_alias(self) -> None:
        with pytest.raises(Refusal, match="alias"):
            splice.replace(f"image: &a {OLD}\nother: *a\n".encode(), "image", OLD, NEW)

    def test_moves_both_places_of_an_alias_when_both_are_named(self) -> None:
        data = f"c:\n- image: &a {OLD}\n- image: *a\n".encode()
        assert splice.replace(data, "c.*.image", OLD, NEW).data == data.replace(OLD.encode(), NEW.encode())

    def test_quotes_a_value_that_could_not_stand_plain(self) -> None:
        assert splice.replace(b"a: x\n", "a", "x", "y: #z").data == b"a: 'y: #z'\n"
        assert splice.replace(b"{a: x, b: 1}\n", "a", "x", "p, q").data == b"{a: 'p, q', b: 1}\n"
        assert splice.replace(b"a: x\n", "a", "x", "1.10").data == b"a: '1.10'\n"

    def test_keeps_escapes_of_double_quotes_readable(self) -> None:
        made = splice.replace(b'a: "tab\\there"\n', "a", "tab\there", 'say "x"').data
        assert yaml.safe_load(made) == {"a": 'say "x"'} and made.startswith(b'a: "')


class TestRefusingBrokenInput:
    @pytest.mark.parametrize(("data", "word", "line"), [
        (b"a: 1\nimage: x\nimage: y\n", "twice", 3),
        (b"a: 1\na: 2\nimage: x\n", "twice", 2),
        (b"image: [x\n", "not YAML", 2),
        (b"image: \xff\n", "not UTF-8", None),
        (b"image: &a [*a]\n", "itself", 1),
        (b"a: " + b"[" * 80 + b"]" * 80 + b"\n", "nested", 1),
        (b"image: x\x07y\n", "not YAML", None),
        ("image: x # \x85 \u2028 \u2029\n# \x85\na: ]\n".encode(), "not YAML", 3),
        (("# \x85\na: " + "[" * 90 + "\n").encode(), "nested too deeply", 2),
    ])
    def test_names_the_file_and_the_line(self, data: bytes, word: str, line: int | None) -> None:
        with pytest.raises(BadInput, match=word) as caught:
            splice.replace(data, "image", "x", "y", file="r.yaml")
        assert caught.value.file == "r.yaml" and caught.value.line == line

    def test_bears_a_double_key_far_from_the_path(self) -> None:
        """A recipe of the snapshot has one (compilation-config), and its image must still move."""
        data = b"deep:\n  a: 1\n  a: 2\nimage: x\n"
        assert splice.replace(data, "image", "x", "z").data == b"deep:\n  a: 1\n  a: 2\nimage: z\n"

    def test_many_aliases_cost_no_time(self) -> None:
        levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20))
        data = f"a0: &a0 [x]\n{levels}image: x\n".encode()
        assert splice.replace(data, "image", "x", "z").data.endswith(b"image: z\n")


class TestDropping:
    @pytest.mark.parametrize(("before", "path", "after"), [
        ("a: 1\nb: 2\nc: 3\n", "b", "a: 1\nc: 3\n"),
        ("a: 1\n# about b\nb: 2  # two\n# about c\nc: 3\n", "b", "a: 1\n# about b\n# about c\nc: 3\n"),
        ("a:\n  x: 1\n  y:\n    - 1\n    # inside\n    - 2\n\n# after\nb: 1\n", "a.y", "a:\n  x: 1\n\n# after\nb: 1\n"),
        ("a:\n  x: >-\n    long\n    text\n  y: 1\n", "a.x", "a:\n  y: 1\n"),
        ("a: 1\r\nb: 2\r\n", "a", "b: 2\r\n"),
        ("a: 1\nb: 2", "b", "a: 1"),
        ("a: 1\r\nb: 2", "b", "a: 1"),
        ("{a: 1, b: 2, c: 3}\n", "a", "{b: 2, c: 3}\n"),
        ("{ a: 1, b: 2 }\n", "b", "{ a: 1 }\n"),
        ("a: { x: 1 }\n", "a.x", "a: {  }\n"),
        ("a:\n  x: 1\nb: 2\n", "a.x", "a:\n  {}\nb: 2\n"),
        ("- a: 1\n  b: 2\n", "0.a", "- b: 2\n"),
        ("args:\n- --one\n- --two=x # why\n- --three\n", "args.1", "args:\n- --one\n- --three\n"),
        ("a: &x 1\nb: *x\nc: 2\n", "b", "a: &x 1\nc: 2\n"),
        ("a:\nb: 1\n", "a", "b: 1\n"),
        ("\ufeffa: 1\nb: 2\n", "a", "\ufeffb: 2\n"),
    ])
    def test_takes_the_keys_own_lines(self, before: str, path: str, after: str) -> None:
        assert splice.drop(before.encode(), path).data == after.encode()

    def test_tells_where_it_stood(self) -> None:
        site = splice.drop(b"frontend:\n  args:\n    dyn-chat-processor: vllm\n    router: kv\n",
                           "frontend.args.dyn-chat-processor", file="r.yaml").sites[0]
        assert (site.file, site.line, site.path, site.value) == ("r.yaml", 3, "frontend.args.dyn-chat-processor", "vllm")

    @pytest.mark.parametrize(("data", "path"), [
        (b"a: 1\n", "b"),
        (b"a: &x 1\nb: *x\n", "a"),
        (b"- 1\n", "0"),
        (b"{a: 1, # why\n b: 2}\n", "a"),
        (b"- a: 1 # why\n  b: 2\n", "0.a"),
    ], ids=["absent", "anchor-in-use", "only-item", "comment-inside", "comment-between"])
    def test_refuses_what_it_cannot_do_cleanly(self, data: bytes, path: str) -> None:
        with pytest.raises(Refusal):
            splice.drop(data, path)


class TestSetting:
    @pytest.mark.parametrize(("before", "path", "value", "after"), [
        ("a: 0.95 # was 0.98\n", "a", 0.9, "a: 0.9 # was 0.98\n"),
        ('env:\n  N: "3"\n', "env.N", 4, 'env:\n  N: "4"\n'),
        ("env:\n  N: '0'\n", "env.N", True, "env:\n  N: 'true'\n"),
        ("a: None\n", "a", 512, "a: 512\n"),
        ("a: x\n", "a", None, "a: null\n"),
        ("env:\n  A: '1'\nb: 2\n", "env.NEW", "0", "env:\n  A: '1'\n  NEW: \"0\"\nb: 2\n"),
        ("env:\n  A: '1'  # why\n", "env.NEW", 8, "env:\n  A: '1'  # why\n  NEW: 8\n"),
        ("env: {A: 1}\n", "env.NEW", 8, "env: {A: 1, NEW: 8}\n"),
        ("env: {}\n", "env.NEW", 8, "env: {NEW: 8}\n"),
        ("env:\r\n  A: 1\r\n", "env.NEW", 8, "env:\r\n  A: 1\r\n  NEW: 8\r\n"),
        ("env:\n  A: 1", "env.NEW", 8, "env:\n  A: 1\n  NEW: 8"),
    ])
    def test_changes_or_adds_one_value(self, before: str, path: str, value: object, after: str) -> None:
        assert splice.set_value(before.encode(), path, value).data == after.encode()

    def test_refuses_to_overwrite_a_mapping(self) -> None:
        with pytest.raises(Refusal, match="more than one value"):
            splice.set_value(b"a:\n  b: 1\n", "a", 1)

    def test_refuses_a_key_without_its_mapping(self) -> None:
        with pytest.raises(Refusal, match="no mapping"):
            splice.set_value(b"a: 1\n", "x.y", 1)


WORDS = st.text("abcxyz-_.09é😀", min_size=1, max_size=6).filter(lambda word: word[0] in "abcxyz")


class TestAnyMapping:
    @given(keys=st.lists(WORDS, min_size=2, max_size=6, unique=True), at=st.integers(0, 5), flow=st.booleans(),
           comments=st.booleans())
    def test_dropping_a_key_leaves_every_other_value_and_comment(
            self, keys: list[str], at: int, flow: bool, comments: bool) -> None:
        at %= len(keys)
        if flow:
            text = "m: {" + ", ".join(f"{key}: {n}" for n, key in enumerate(keys)) + "}\n"
        else:
            text = "m:\n" + "".join((f"  # about {n}\n" if comments else "") + f"  {key}: {n}\n" for n, key in enumerate(keys))
        made = splice.drop(text.encode(), ("m", keys[at])).data
        left = {key: n for n, key in enumerate(keys) if n != at}
        assert yaml.safe_load(made) == {"m": left}
        if comments and not flow:
            assert made.decode().count("# about") == len(keys)


class TestQuotes:
    """One place that needs quotes is no reason to change those of another."""

    TEXT = 'a:\n  image: "x/y:v0.25.0"\n  other: x/y:v0.25.0\n  version: 0.25.0\n  again: \'0.25.0\'\n'

    def moved(self, text: str, old: str, new: str) -> str:
        source = Document(text.encode())
        changes = [splice.Change(hit=hit, needle=needle, text=needle.replace(old, new)) for hit in source.find(".a.*")
                   if (needle := hit.node.value)]
        return splice.rewrite(source, changes).data.decode()

    def test_change_where_the_value_needs_them_and_nowhere_else(self) -> None:
        made = self.moved(self.TEXT, "0.25.0", "0.26")
        assert made == self.TEXT.replace("0.25.0", "0.26").replace("version: 0.26", "version: '0.26'")

    def test_that_were_needed_stay_when_it_is_undone(self) -> None:
        made = self.moved(self.moved(self.TEXT, "0.25.0", "0.26"), "0.26", "0.25.0")
        assert made == self.TEXT.replace("version: 0.25.0", "version: '0.25.0'")
