"""Slash commands in a comment's text: what counts as one, and what a reader of the comment would never take for one."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.commands import COMMANDS, LIMIT, Spoken, may, parse
from bot.model.forge import Permission
from bot.model.order import Word
from tests.render.catalogue import GLOSSARY

STOP = Spoken(word="stop", said="stop")
READER = MarkdownIt("commonmark", {"maxNesting": 100})


def shown(body: str) -> list[str]:
    """Lines that a reader sees as plain text outside every quote, by a Markdown parser that knows nothing of commands."""
    found, quotes = [], 0
    for token in READER.parse(body):
        quotes += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.type != "inline" or quotes:
            continue
        lines: list[list] = [[]]
        for child in token.children or ():
            if child.type in ("softbreak", "hardbreak"):
                lines.append([])
            else:
                lines[-1].append(child)
        found += ["".join(one.content for one in line) for line in lines
                  if all(one.type in ("text", "text_special") for one in line)]
    return found


class TestACommand:
    @pytest.mark.parametrize("word", get_args(Word))
    def test_is_a_line_of_its_own(self, word: str) -> None:
        assert parse(f"/bump {word}") == Spoken(word=word, said=word)
        assert parse(f"This looks flaky.\n/bump {word}\nThanks!") == Spoken(word=word, said=word)

    @pytest.mark.parametrize("body", [
        "/bump stop", "/bump STOP", "/Bump Stop", "/bump   stop", "/bump\tstop", "/bump stop  \t", "/bump stop\r\n", "a\r/bump stop",
        "hello\n\n/bump stop", "# A heading\n/bump stop", "- a list\n\n/bump stop", "> a quote\n\n/bump stop",
        "```\nls\n```\n/bump stop", "~~~ sh\n/bump smoke\n~~~\n\n/bump stop",
        "see `smoke` and [this](https://e.example/x)\n/bump stop", "- [x] done\n/bump stop", "5 < 6\n/bump stop",
        "<details>\n<summary>log</summary>\n\n```\n> x\n<!--\n```\n\n</details>\n\n/bump stop", "<!-- note -->\n/bump stop",
    ])
    def test_is_found_however_people_write_it(self, body: str) -> None:
        assert parse(body) == STOP

    @pytest.mark.parametrize("body", [
        "", "bump stop", "please /bump stop", "/bumpy stop", "/bump-stop", "/bump/stop", "/bump:stop", "//bump stop", "\\/bump stop",
        "@bumpbot stop", " /bump stop", "    /bump stop", "\t/bump stop", "* /bump stop", "1. /bump stop", "# /bump stop",
        "| /bump stop |", "`/bump stop`", "/bump stop`id`", "/bump *stop*", "\\/bump stop", "&#47;bump stop", " /bump stop", "- /bump stop", "**/bump stop**", "[/bump stop](https://e.example)",
    ])
    def test_is_nothing_that_only_looks_like_one(self, body: str) -> None:
        assert parse(body) is None

    @pytest.mark.parametrize("body", [
        "／bump stop", "⁄bump stop", "/bumр stop", "/ｂump stop", "/bump\u00a0stop", "/bump\u3000stop", "/bump\u2003stop",
        "\u200b/bump stop", "\ufeff/bump stop", "/\u200bbump stop", "/bump \u200bstop", "/bump stop\u200b", "/bump st\u00adop",
        "/bump \u202estop", "\u2066/bump stop\u2069", "/bump stop\u2028", "x\u2028/bump stop", "x\u2029/bump stop", "x\x0b/bump stop",
        "x\x0c/bump stop", "x\x85/bump stop", "/bump stop\x00", "/bump\x00stop", "/bump \x1bstop", "/bump \udcffstop",
    ])
    def test_holds_no_letter_that_deceives_the_eye(self, body: str) -> None:
        assert parse(body) is None

    @pytest.mark.parametrize("said", ["ѕtop", "ｓｔｏｐ", "ſtop", "SMO\u212aE", "停止", "stop!", "stop;ls", "$(stop)", "-" * 50])
    def test_with_a_word_of_other_letters_is_none_that_is_known(self, said: str) -> None:
        spoken = parse(f"/bump {said}")
        assert spoken is not None and (spoken.word, spoken.objection) == (None, "unknown-word")
        assert spoken.said == ("-" * 20 if said[0] == "-" else "")

    @pytest.mark.parametrize(("body", "said"), [("/bump restart", "restart"), ("/bump", ""), ("/bump accept now", "accept"),
                                                ("/bump RE-RUN", "re-run"), ("/bump stopp", "stopp")])
    def test_that_nobody_knows_is_told_so(self, body: str, said: str) -> None:
        assert parse(body) == Spoken(word=None, said=said, objection="unknown-word")

    @pytest.mark.parametrize("more", ["now", "please stop", "/bump smoke", "# comment", "停", "c16", "--force"])
    def test_has_nothing_after_its_word(self, more: str) -> None:
        assert parse(f"/bump stop {more}") == Spoken(word="stop", said="stop", objection="extra-words")

    def test_is_the_first_of_two_whatever_the_first_is(self) -> None:
        assert parse("/bump stop\n/bump smoke") == STOP
        assert parse("/bump foo\n/bump stop").objection == "unknown-word"
        assert parse("/bump stop now\n\n/bump stop").objection == "extra-words"
        assert parse("> /bump smoke\n\n/bump stop\n\n/bump sweep") == STOP


HIDDEN = [
    "> /bump stop", "> a\n/bump stop", "> > a\n> /bump stop", "- > a\n/bump stop", "1. - > a\n/bump stop", ">a\nb\n/bump stop",
    "```\n/bump stop\n```", "~~~\n/bump stop\n~~~", "````\n```\n/bump stop\n````", "~~~\n```\n/bump stop\n```\n~~~",
    "```\n/bump stop", "``` sh\n/bump stop\n```", "   ```\n/bump stop\n   ```", "```\n    ```\n/bump stop\n```",
    "```\n``` x\n/bump stop\n```", "~~~\n~~\n/bump stop\n~~~", "``` a`b\n```\n/bump stop", "- a\n\n  ```\n  /bump stop\n  ```",
    "text\n```\n/bump stop\n```", "<!--\n/bump stop\n-->", "<!--\n\n/bump stop\n\n-->", "text <!--\n/bump stop\n-->",
    "<!--\n```\n-->\n```\n/bump stop\n```", "<pre>\n\n/bump stop\n\n</pre>", "<pre>\n/bump stop\n</pre>",
    "<div>\n/bump stop\n</div>", "<script>\n\n/bump stop\n</script>", "<a title='\n/bump stop\n'>", "<?\n\n/bump stop\n?>",
    "<![CDATA[\n\n/bump stop\n]]>", "<!DOCTYPE\n\n/bump stop\n>", "`a\n/bump stop\nb`", "``a `b\n/bump stop\n``", "\\`a`\n/bump stop\n`",
    "# `a\nb `c\n/bump stop\nd`", '[foo]: /url "\n/bump stop\n"', "[foo\n/bump stop\n]: /url", '[a](b "\n/bump stop\n")',
    '![a](b (\n/bump stop\n))', "$$\n/bump stop\n$$", "a\n    b\n\n    /bump stop",
]
PIECES = ["/bump w", "/bump w", "/bump w", "> q", "> ```", "```", "~~~~", "````", "  ```", "   ~~~", "    ```", "- a", "- ```", "- > q",
          "1. a", "", "", "", "text", "`", "a `b` c", "`a", "b`", "a ``b", "<!--", "-->", "t <!--", "<div>", "</div>", "<a href='",
          "'>", "<pre>", "</pre>", "<a>", "<?", "?>", "<!X", ">", "<![CDATA[", "]]>", '[a](b "', '")', "[foo]: /u '", "'", "[foo",
          "]: /u", "[foo]:", "[x](y)", "# h", "---", "* * *", "\\`", "\t```", "-\t> x", "  - b", "<script>", "</script>", "``` x`y",
          "~~~ a`b", "| a |", "[a]", "1)", "   "]
PAGES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9)


class TestWhatAReaderSeesAsAQuoteOrAsCode:
    @pytest.mark.parametrize("body", HIDDEN)
    def test_is_never_a_command(self, body: str) -> None:
        assert parse(body) is None

    @pytest.mark.parametrize("body", [
        "- do:\n  ```\n  ls\n  ```\n/bump stop", "a <b>c</b>\n/bump stop", "[a] [b\n/bump stop", "a ` b\n/bump stop",
        "text <!--\n\n/bump stop\n\n-->", "- a\n  ```\n\n/bump stop", "- a\n/bump stop", "1. a\n\n/bump stop",
    ])
    def test_is_what_the_forge_shows_as_plain_text_however_near_it_comes(self, body: str) -> None:
        """An unclosed backtick, a comment that never was one, a fence that ended with its list: the reader sees a command."""
        assert "/bump stop" in shown(body) and parse(body) == STOP

    @pytest.mark.parametrize("end", ["\r\n", "\r"])
    def test_is_none_with_the_line_ends_of_any_system(self, end: str) -> None:
        assert [body for body in HIDDEN if parse(body.replace("\n", end))] == []

    @settings(max_examples=1500)
    @given(PAGES)
    @example(["- a", "  ```", "/bump w", "  ```", "/bump w"])
    @example(["<!--", "```", "-->", "```", "/bump w"])
    def test_is_none_whatever_stands_around_it(self, pieces: list[str]) -> None:
        """Each command has a word of its own, so that the one that is obeyed is found among those that are shown."""
        body = "\n".join(f"{piece}{number}" if piece == "/bump w" else piece for number, piece in enumerate(pieces))
        spoken = parse(body)
        assert spoken is None or f"/bump {spoken.said}" in shown(body)

    @given(st.lists(st.sampled_from(["text", "", "more `code` here", "/bump stop"]), max_size=6), st.sampled_from(["> ", ">", " > "]))
    def test_a_comment_quoted_whole_commands_nothing(self, lines: list[str], mark: str) -> None:
        assert parse("\n".join(mark + line for line in lines)) is None

    @given(st.lists(st.sampled_from(["text", "", "```", "~~~~", "> q", "/bump stop", "`", "-->"]), max_size=8),
           st.sampled_from("`~"), st.integers(5, 9))
    def test_nor_one_in_a_fence_that_nothing_in_it_closes(self, lines: list[str], letter: str, width: int) -> None:
        assert parse("\n".join([letter * width, *lines, letter * width])) is None

    @given(st.lists(st.sampled_from(["So:", "", "a `b` c", "- item", "# Title"]), max_size=5))
    def test_while_a_plain_text_does_not_hide_one(self, lines: list[str]) -> None:
        assert parse("\n".join([*lines, "/bump stop"])) == STOP


class TestALongComment:
    def test_longer_than_any_forge_takes_is_none(self) -> None:
        assert parse("/bump stop\n" + "x" * 1_000_000) is None
        assert parse("/bump stop\n" + "x" * (LIMIT - 11)) == STOP

    @pytest.mark.parametrize("piece", ["`", "``` ", "[", "![a](", "]", "<", "<!--", "> ", "- ", "-  ", "1. ", "~", "\\", " ", "\t", "`a", "a`b``",
                                       "<a ", "[x]: ", "$", "*a ", "**_", "&", "| a |\n", "```\n", "- ```\n  ~~~\n", "<!X\n", "`" * 7 + "a",
                                       "  ````\n- a\n"])
    def test_is_read_to_its_end_whatever_it_is_made_of(self, piece: str) -> None:
        """How long it takes is measured in benchmarks/: the parser is not ours, and 65,536 letters are all there are."""
        body = (piece * LIMIT)[: LIMIT - 13]
        found = parse(f"{body}\n\n/bump stop")
        assert found in (None, STOP) and (found == STOP) == ("/bump stop" in shown(f"{body}\n\n/bump stop"))


class TestTheTable:
    def test_has_a_row_for_every_word(self) -> None:
        assert tuple(COMMANDS) == get_args(Word)
        assert all(row.word == word for word, row in COMMANDS.items())

    def test_lets_only_people_with_write_access_command(self) -> None:
        allowed = [permission for permission in get_args(Permission) if may(permission, COMMANDS["status"])]
        assert allowed == ["admin", "maintain", "write"]
        assert {row.needs for row in COMMANDS.values()} == {"write"}
        assert not may("triage", None) and may("write", None)

    def test_helps_in_both_languages(self) -> None:
        assert all(row.help.en.isascii() and any("\u4e00" <= letter <= "\u9fff" for letter in row.help.zh) for row in COMMANDS.values())
        assert all(GLOSSARY.get(f"answer-{word}") for word in ("help", "status"))
