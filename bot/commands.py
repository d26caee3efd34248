"""Slash commands: one table of what may be asked and by whom, and how a command is found in a comment's text.

The forge shows a comment as Markdown, and what it shows as a quote, as code or not at all is nobody's command. So a line
counts only where every reading of what stands above it leaves it plain text; where two readings differ it does not.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, get_args

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
            help=Text("runs what failed once more, which spends no repair", "重新运行失败的部分，不消耗修复次数")),
    Command(word="help", needs="write", means="answer", help=Text("lists these commands", "列出这些命令")),
)}

LIMIT = 65_536  # characters of a comment, the forge's own limit: a longer text is no comment of any forge
SAID = 20
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
    """The first command of a comment, None where there is none. Linear in the text's length."""
    if len(body) > LIMIT:
        return None
    page = _Page()
    for line in re.split(r"\r\n|\n|\r", body):
        if page.plain and (spoken := _spoken(line)):
            return spoken
        if not page.read(line):
            return None
    return None


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


# ------------------------------------------------------------------------------- what stands above a line, as Markdown

_FENCE = re.compile(r"(?P<ticks>`{3,})[^`]*|(?P<tildes>~{3,}).*", re.DOTALL)
_MARKER = r"(?:[-+*]|[0-9]{1,9}[.)])"
_LISTED = re.compile(rf"[ \t]*{_MARKER}(?:[ \t]|\Z)")
_QUOTED = re.compile(rf"[ \t]*(?:{_MARKER}[ \t]+)*>")
_TAG = re.compile(r"<[A-Za-z/!?]")
_LINK = re.compile(r"!?\[[^\[\]]*\](?:\([^\s()<>\"']*\)|(?![(:\[]))")
_RAW = ("script", "pre", "style", "textarea")
_MOST, _TICKS = 4, 64  # readings of a text, and runs of backticks in a line, that are still followed

# What a line may lie in: None is nothing; a fence by its letters, a block of HTML by what ends it ("" is an empty line).
_Block = tuple[Literal["fence", "html"], str] | None


class _Page:
    """What has been read of a text: every block the next line may lie in, and whether the lines just above may hold it.

    Whoever reads only from the left edge need not know the lists and quotes inside which a block began, save where the
    block's first line is indented: then it may have ended with its list, and both readings are kept.
    """

    def __init__(self) -> None:
        self._inside: set[_Block] = {None}
        self._dubious = self._hidden = self._list = False
        self._blank = True

    @property
    def plain(self) -> bool:
        """Whether a line at the left edge is plain text here, in every reading."""
        return not (self._dubious or self._hidden) and self._inside == {None}

    def read(self, line: str) -> bool:
        """One more line of the text; False once it has too many readings to follow them."""
        before = self._inside
        if not line.strip(" \t"):
            self._inside = {None if block == ("html", "") else block for block in before}
            self._dubious, self._blank = False, True
            return True
        if _LISTED.match(line):
            self._list = True
        elif self._blank and line[0] not in " \t":
            self._list = False  # nothing continues a list from the left edge after an empty line
        self._blank = False
        self._inside = {after for block in before for after in self._after(block, line)}
        bare = _without_code(line)
        if any(block is None or block[0] == "html" for block in before):
            self._comment(line if bare is None else bare)
        ended = None not in before and self._inside == {None}
        self._dubious = not (ended or _block(line)) and (self._dubious or bare is None or _open(line, bare))
        return len(self._inside) <= _MOST

    def _comment(self, line: str) -> None:
        """Hidden text, however the forge takes it: between <!-- and --> nobody means to command."""
        begins, ends = line.rfind("<!--"), line.rfind("-->")
        if begins != ends:
            self._hidden = begins > ends

    def _after(self, block: _Block, line: str) -> set[_Block]:
        """The blocks that the line after this one may lie in."""
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if block is None:
            found = _begun(text) if indent < 4 else {None}
            return found | {None} if self._list and indent > 1 else found
        kind, end = block
        if kind == "html":
            return {block} if not _ends(end, line) else {None}
        rest = text.rstrip(" \t")
        closed = indent < 4 and len(rest) >= len(end) and not rest.strip(end[0])
        return {None} if closed else {block}


def _begun(text: str) -> set[_Block]:
    """What a line begins, in every reading, its indentation taken off."""
    fence = _FENCE.fullmatch(text)
    if fence:
        return {("fence", fence["ticks"] or text[: len(text) - len(text.lstrip("~"))])}
    if not _TAG.match(text):
        return {None}
    raw = re.match(rf"<({'|'.join(_RAW)})(?:[\s>]|\Z)", text, re.IGNORECASE | re.ASCII)
    ends = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}
    end = next((end for begin, end in ends.items() if text.startswith(begin)), None)
    if end:
        return {None} if end in text else {("html", end)}
    if raw or text.startswith("<!"):  # renderers of different age do not agree on these
        end = "</" if raw else ">"
        return {None, ("html", "")} | (set() if _ends(end, text) else {("html", end)})
    return {None, ("html", "")}


def _block(line: str) -> bool:
    """Whether a line is a fence, or hidden text from end to end: then it belongs to no paragraph in any reading, and what
    was open above it is closed."""
    text = line.lstrip(" ")
    hidden = text.startswith("<!--") and "-->" in text
    return len(line) - len(text) < 4 and bool(hidden or _FENCE.fullmatch(text))


def _ends(end: str, line: str) -> bool:
    """Whether a line holds the end of a block of HTML; one that ends with an empty line has none."""
    if end == "</":
        return any(f"</{name}>" in line.lower() for name in _RAW)
    return bool(end) and end in line


def _without_code(line: str) -> str | None:
    """The line without its code spans; None when one may go on below it."""
    ticks = list(re.finditer(r"`+", line))
    if "\\`" in line or len(ticks) > _TICKS:
        return None
    kept, at = [], 0
    while ticks:
        begin = ticks.pop(0)
        end = next((index for index, one in enumerate(ticks) if len(one[0]) == len(begin[0])), None)
        if end is None:
            return None
        kept.append(line[at: begin.start()])
        at, ticks = ticks[end].end(), ticks[end + 1:]
    return "".join([*kept, line[at:]])


def _open(line: str, bare: str) -> bool:
    """Whether what a line begins may hold the next one: a quote, a tag, a link's text or title, a formula."""
    if _QUOTED.match(line) or _TAG.search(bare) or "$$" in bare or ("\\" in bare and "[" in bare):
        return True
    return "[" in _LINK.sub("", bare)
