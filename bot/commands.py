"""Slash commands: one table of what may be asked and by whom, and how a command is found in a comment's text.

The forge shows a comment as Markdown, and what it shows as a quote, as code or not at all is nobody's command: so the text is
read by a parser of Markdown, and only what it calls plain text is looked at.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, get_args

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from bot.model.forge import Permission
from bot.model.order import Objection, Word
from bot.model.text import Text

Means = Literal["answer", "ending", "approval", "asked"]


class Command(Struct, frozen=True, kw_only=True):
    """One row: its word, the least permission that may give it, what becomes of it (an answer alone, the bump's ending, an
    approval of the sweep, a run that is asked for), and its line of help."""

    word: Word
    needs: Permission
    means: Means
    help: Text


COMMANDS: dict[Word, Command] = {row.word: row for row in (
    Command(word="status", needs="write", means="answer",
            help=Text("tells where the bump stands and what comes next", "说明本次升级的当前状态与下一步")),
    Command(word="stop", needs="write", means="ending",
            help=Text("ends the bump; its runs are stopped, the pull request is left as it is",
                      "结束本次升级，停止其所有运行，PR 保持原样")),
    Command(word="smoke", needs="write", means="asked",
            help=Text("runs the smoke of the present head once more; the full sweep waits for it",
                      "对当前 head 重新运行冒烟测试，完整扫描等待其结果")),
    Command(word="sweep", needs="write", means="approval",
            help=Text("asks for the full sweep, which starts by itself once the smoke has passed",
                      "请求完整扫描，冒烟通过后自动开始")),
    Command(word="retry", needs="write", means="asked",
            help=Text("runs what failed once more, which spends no repair; a bump that is over is opened again",
                      "重新运行失败的部分，不消耗修复次数；已结束的升级将重新开启")),
    Command(word="help", needs="write", means="answer", help=Text("lists these commands", "列出这些命令")),
)}

LIMIT = 65_536  # characters of a comment, the forge's own limit: a longer text is no comment of any forge
SAID = 20
_BEGUN = re.compile(r"(?:\A|[\r\n])/bump", re.IGNORECASE)  # most comments have no such line, and need no reading
# As the forge reads comments: CommonMark with tables and strikethrough.
_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_RANKS = tuple(reversed(get_args(Permission)))


def may(permission: Permission, command: Command | None) -> bool:
    """Whether somebody of this permission may give the command; one that does not exist asks for what the others ask."""
    needs = command.needs if command else "write"
    return _RANKS.index(permission) >= _RANKS.index(needs)


class Spoken(Struct, frozen=True, kw_only=True):
    """A command as it stands in a text. `word` None: none that is known, `said` is what stood there, if it can be repeated."""

    word: Word | None
    said: str = ""
    objection: Objection | None = None


def parse(body: str) -> Spoken | None:
    """The first command of a comment, None where there is none: a line that the forge shows as plain text, as it was written."""
    if len(body) > LIMIT or not _BEGUN.search(body):
        return None
    found = (spoken for line in _plain_lines(body) if (spoken := _spoken(line)) is not None)
    return next(found, None)


def _plain_lines(body: str) -> Iterator[str]:
    """Lines of paragraphs outside quotes and tables in which nothing is marked up: what is shown there is what was typed, from
    the left edge on. A formula is no plain text to a forge, though Markdown alone does not know it."""
    source, quotes = re.split(r"\r\n|\n|\r", body), 0
    for before, token in pairwise(_MARKDOWN.parse(body)):
        quotes += before.nesting if before.type.startswith("blockquote") else 0
        if token.type == "inline" and before.type == "paragraph_open" and not quotes and "$$" not in token.content:
            first, last = token.map or (0, 0)
            shown = _shown(token.children or [])
            yield from (line for line, typed in zip(shown, source[first:last], strict=False) if line == typed.rstrip(" \t"))


def _shown(pieces: Sequence[Token]) -> Iterator[str | None]:
    """The lines of a paragraph as they are shown; None for one that lies in something marked up, or holds any."""
    depth, plain, line = 0, True, ""
    for piece in pieces:
        depth += piece.nesting
        if piece.type in ("softbreak", "hardbreak"):
            yield line if plain else None
            plain, line = depth == 0, ""
        else:
            plain = plain and depth == 0 and piece.type == "text"
            line += piece.content
    yield line if plain else None


def _spoken(line: str) -> Spoken | None:
    """A line that begins with /bump, followed by blanks and one word; letters that nobody sees make it none."""
    name, rest = line[:5], line[5:]
    if not name.isascii() or name.lower() != "/bump" or (rest and rest[0] not in " \t") or any(map(_unseen, rest)):
        return None
    said, *more = rest.split() or [""]
    plain = said.isascii() and re.fullmatch(r"[a-z0-9-]+", said.lower())
    word = next((word for word in COMMANDS if plain and word == said.lower()), None)
    if word is None:
        return Spoken(word=None, said=said.lower()[:SAID] if plain else "", objection="unknown-word")
    return Spoken(word=word, said=word, objection="extra-words" if more else None)


def _unseen(letter: str) -> bool:
    """A control, an invisible letter, a turn of the writing's direction, or a blank that only looks like one."""
    return letter not in " \t" and unicodedata.category(letter)[0] in "CZ"
