"""A changelog without an entry: comments, blank lines, nothing. Whoever appends to it, checks it or looks at it agrees."""

from __future__ import annotations

import pytest
import yaml
from msgspec.structs import replace

from bot.errors import BadInput
from bot.layout import Changelog, Layout, resolve
from bot.recipe import changelog
from bot.recipe.changelog import Entry
from bot.wake import syncing
from tests.recipe.conftest import ROOT

STYLE = Changelog(file="log.yaml", keys="recipes", link="pull", pull="https://github.com/o/r/pull/{number}", flags=("quiet", "all"),
                  counts=("at-least",), apart=(("quiet", "all", "at-least"),), placeholders=("XXX",))
ENTRY = Entry(keys=("a",), description=("Update.",), link="https://github.com/o/r/pull/7")
OTHER = replace(ENTRY, keys=("b",), link="https://github.com/o/r/pull/8")
TEXT = changelog.text_of(ENTRY, STYLE).encode()
NONE = [(b"", b""), (b"# one\n", b"\n"), (b"# one\n\n", b""), (b"\n", b""), (b"# one\n#\n\n# two\n", b"\n"), (b"\n\n\n", b""), (b"  # in\n", b"\n")]


class TestAFileWithoutAnEntry:
    @pytest.mark.parametrize(("base", "gap"), NONE)
    def test_takes_its_first_behind_what_it_says(self, base: bytes, gap: bytes) -> None:
        made = changelog.append(base, ENTRY, STYLE)
        assert made == changelog.sync(base, ENTRY, STYLE) == base + gap + TEXT
        assert changelog.check(base, made, STYLE) == () and yaml.safe_load(made)[0]["recipes"] == ["a"]
        assert changelog.append(made, OTHER, STYLE).startswith(made)

    @pytest.mark.parametrize(("base", "gap"), NONE)
    def test_is_no_fault_to_anybody(self, base: bytes, gap: bytes) -> None:
        assert changelog.check(base, base, STYLE) == changelog.barred(base, STYLE) == () and not syncing.broken(base, STYLE)
        assert changelog.state(base, base, ENTRY, STYLE) == "absent"
        assert changelog.state(base, base + gap + TEXT, ENTRY, STYLE) == "present"

    def test_becomes_none_when_all_is_deleted_or_its_comment_changed(self) -> None:
        assert changelog.check(TEXT, b"# one\n", STYLE) == changelog.check(TEXT, b"", STYLE) == ("entries were deleted",)
        assert changelog.check(b"# one\n", b"# two\n", STYLE) == ("nothing is appended and history changed",)
        assert changelog.check(b"# one\n", b"# two\n\n" + TEXT, STYLE)

    @pytest.mark.parametrize(("base", "head"), [
        (b"# one\n", b"# one\n" + TEXT), (b"# one\n", b"# one\n\n\n" + TEXT), (b"", b"\n" + TEXT), (b"# one\n\n", b"# one\n\n\n" + TEXT),
        (b"", b"# one\n\n" + TEXT), (b"# one\n", b"# one\n\n" + TEXT + b"\n"),
    ])
    def test_wants_exactly_one_blank_line_before_its_first(self, base: bytes, head: bytes) -> None:
        assert changelog.check(base, head, STYLE)

    @pytest.mark.parametrize("base", [
        b"# one", b"# one\r\n", b"#\tone\n", b"\xef\xbb\xbf# one\n", b"---\n", b"[]\n", b"null\n", b"# one\n...\n", b"{}\n", b"\xff\n", b"a\n",
    ])
    def test_that_holds_anything_else_is_broken_to_everybody(self, base: bytes) -> None:
        assert changelog.barred(base, STYLE) and syncing.broken(base, STYLE)
        for act in (changelog.append, changelog.sync):
            with pytest.raises(BadInput, match=r"log\.yaml: .*|log\.yaml:\d+: .*") as told:
                act(base, ENTRY, STYLE)
            assert "main branch" in str(told.value)

    def test_is_our_own(self, own: Layout) -> None:
        data = (ROOT / "perf-changelog.yaml").read_bytes()
        assert own.changelog is not None
        made = changelog.append(data, ENTRY, own.changelog)
        assert made.startswith(data) and changelog.check(data, made, own.changelog) == ()


class TestTheLastLineOfAFile:
    @pytest.mark.parametrize("end", [b"...\n", b"---\n"])
    def test_after_which_no_entry_can_follow_is_told_before_one_is_tried(self, end: bytes) -> None:
        assert changelog.barred(TEXT + end, STYLE)

    def test_that_is_not_ended_is_no_place_for_an_entry(self) -> None:
        base, head = TEXT[:-1], TEXT[:-1] + b"\n" + changelog.text_of(OTHER, STYLE).encode()
        assert changelog.check(base, head, STYLE) == ("history: does not end with a newline",)


class TestFieldsBesideTheUsual:
    @pytest.mark.parametrize(("more", "said"), [
        ("quiet: 2", "quiet is 2, not true or false"), ("quiet: 0", "quiet is 0, not true"), ("quiet: 1.0", "quiet is 1.0"),
        ('quiet: "true"', 'quiet is "true"'), ("quiet:", "quiet is null"), ("quiet: [true]", "quiet is a list"),
        ("at-least: true", "at-least is true, not a whole number from 1"), ("at-least: 0", "at-least is 0"), ("at-least: 1.0", "at-least is 1.0"),
        ("quiet: true\n  all: true", "quiet may not stand beside all"), ("quiet: true\n  at-least: 2", "quiet may not stand beside at-least"),
        ("quiet: true\n  all: true\n  at-least: 2", "beside all, at-least"), ("<<: {quiet: true}", "takes fields from elsewhere (<<)"),
        ("note: x", "unknown field note"), ("quiet: true\n  quiet: false", "stands twice"),
    ])
    def test_say_what_they_may_not(self, more: str, said: str) -> None:
        head = TEXT + f"  {more}\n".encode()
        for problems in (changelog.check(b"", head, STYLE), changelog.check(head, head, STYLE)):
            assert any(said in problem for problem in problems)

    @pytest.mark.parametrize("more", ["quiet: true\n  all: false", "all: true\n  at-least: 3", "quiet: yes\n  at-least:", "quiet: false\n  all: true"])
    def test_may_stand_there(self, more: str) -> None:
        assert changelog.check(b"", TEXT + f"  {more}\n".encode(), STYLE) == ()

    def test_are_the_layouts_to_name(self, inferencex: Layout) -> None:
        assert inferencex.changelog is not None
        assert inferencex.changelog.apart == (("append-only", "evals-only", "all-evals", "eval-min-prefill-ep"),)


class TestALink:
    @pytest.mark.parametrize("link", [
        "https://github.com/o/r/pull/\u0661\u0662", "https://github.com/o/r/pull/01", "https://github.com/o/r/pull/0", "https://github.com/o/r/pull/",
        "https://github.com/o/r/pull/7/files", "https://github.com/o/r/pull/7\n", "https://github.com/o/r/pull/x", "garbage", "\udcff", "",
    ])
    def test_that_is_no_pull_requests_is_refused_by_all(self, link: str) -> None:
        with pytest.raises(BadInput, match="no pull request's address"):
            changelog.append(b"", replace(ENTRY, link=link), STYLE)
        if link.isprintable():
            assert changelog.check(b"", TEXT.replace(ENTRY.link.encode(), link.encode()), STYLE)

    @pytest.mark.parametrize("link", ["garbage", "\udcff", "ftp://x/1", "https://a b", "https:/x", "https://x/\udcff", "https://x/:", "https://x/\u0661", "https://x/#a"])
    def test_is_some_address_where_the_layout_does_not_say(self, link: str) -> None:
        style = replace(STYLE, pull="")
        assert changelog.append(b"", replace(ENTRY, link="https://git.example/o/r/7"), style)
        with pytest.raises(BadInput, match="no pull request's address"):
            changelog.append(b"", replace(ENTRY, link=link), style)

    def test_alone_does_not_make_it_our_entry(self) -> None:
        theirs = changelog.append(b"", replace(OTHER, link=ENTRY.link), STYLE)
        assert changelog.state(b"", theirs, ENTRY, STYLE) == "absent"
        assert changelog.sync(theirs, ENTRY, STYLE) == theirs + b"\n" + TEXT


class TestADescription:
    @pytest.mark.parametrize("letter", ["\udcff", "\u202e", "\u2066", "\u200f", "\ufeff", "\x85", "\u2028", "\0", "\t", "\ufffe"])
    def test_that_hides_something_or_has_no_bytes_is_refused(self, letter: str) -> None:
        with pytest.raises(BadInput, match=f"control character U\\+{ord(letter):04X}"):
            changelog.append(b"", replace(ENTRY, description=("fine", f"bad {letter}x")), STYLE)

    @pytest.mark.parametrize("change", [{"keys": ("a", "a")}, {"keys": ("\udcff",)}, {"keys": ("\u0430",)}, {"scenarios": ("\udcff",)}])
    def test_does_not_help_keys_that_are_none(self, change: dict[str, tuple[str, ...]]) -> None:
        with pytest.raises(BadInput):
            changelog.append(b"", replace(ENTRY, **change), STYLE)


class TestALayout:
    def test_sets_apart_only_fields_that_it_names(self) -> None:
        text = "preset: own\nchangelog: {flags: [quiet], apart: [[quiet, loud]]}\n"
        with pytest.raises(BadInput, match="loud is neither a flag nor a count: known: quiet"):
            resolve(text, {"own": (ROOT / "bot" / "layout" / "presets" / "own.yml").read_text()})
