"""Comments and the pull request's body: found by marker and author, written once, then edited in place.

A comment is ours by the account that wrote it, never by its marker alone: anyone can paste a marker (SECURITY.md 5).
"""

from __future__ import annotations

import re

from bot.errors import Refusal
from bot.model.bump import Bump
from bot.model.forge import Comment
from bot.model.ledger import Receipt
from bot.model.record import Record
from bot.wake.context import Context

BEGIN, END = "<!-- bumpbot:begin -->", "<!-- bumpbot:end -->"
LIMIT = 65_536  # the forge's, in characters
# The innermost pair, so that a marker whose partner somebody deleted takes none of their text with it.
_BLOCK = re.compile(f"{re.escape(BEGIN)}(?:(?!{re.escape(BEGIN)}).)*?{re.escape(END)}", re.DOTALL)
_RECEIPT = re.compile(r"<!-- bumpbot:receipt n=([0-9]{1,9}) sha256=([0-9a-f]{64}) -->")
_POINTER = """The text that stood here is part of [the first comment](#issuecomment-{first}) now.

此处原有的内容现已并入[第一条评论](#issuecomment-{first})。"""


def say(context: Context, bump: Bump, pull: int, slot: str, record: Record, receipt: Receipt) -> int:
    """Writes or edits the comment of a slot, one comment a part; the id of its first part. Slot "body" is our part of the
    pull request, whose id is 0.

    Parts that a shorter text needs no more are left as a pointer to the first, and taken up again by a longer one.
    """
    parts = context.render.parts(record)
    if slot == "body":
        before = context.forge.pull(pull)
        after = body(before.body, bump, parts[0], receipt)
        if after != before.body:
            context.forge.edit_pull(pull, body=after)
        _rest(context, bump, pull, parts)
        return 0
    mine = _mine(context, bump, pull, slot)
    ids = [_write(context, pull, mine.get(number), marker(bump.id, slot, number), text)
           for number, text in enumerate(parts, start=1)]
    for number in sorted(mine.keys() - set(range(1, len(parts) + 1))):
        _write(context, pull, mine[number], marker(bump.id, slot, number), _POINTER.format(first=ids[0]))
    return ids[0]


def _rest(context: Context, bump: Bump, pull: int, parts: tuple[str, ...]) -> None:
    """What a pull request's text had no room for stands in comments, numbered on from it: no row is lost."""
    mine = _mine(context, bump, pull, "body") if len(parts) > 1 else {}
    for number, text in enumerate(parts[1:], start=2):
        _write(context, pull, mine.get(number), marker(bump.id, "body", number), text)


def body(before: str, bump: Bump, text: str, receipt: Receipt) -> str:
    """The pull request's body with only the text between our markers rewritten; every other character stays.

    Refusal when what others appended leaves no room.
    """
    hidden = f"<!-- bumpbot:receipt n={receipt.n} sha256={receipt.sha256} -->"
    block = f"{BEGIN}\n{text.rstrip()}\n\n{hidden}\n{END}"
    found = _block(before)
    if found is not None:
        after = f"{before[: found.start()]}{block}{before[found.end() :]}"
    else:
        after = f"{block}\n\n{before}" if before.strip() else f"{block}\n"
    if len(after) > LIMIT:
        raise Refusal(f"the pull request's text would have {len(after)} characters, and the forge takes {LIMIT}",
                      "shorten what was appended to it; the next wake goes on")
    return after


def receipt_of(text: str) -> Receipt | None:
    """The receipt that our part of a body carries; one that stands anywhere else is nobody's."""
    ours = _block(text)
    found = _RECEIPT.search(ours.group()) if ours else None
    return Receipt(n=int(found.group(1)), sha256=found.group(2)) if found else None


def marker(bump: str, slot: str, part: int) -> str:
    """The hidden last line of a comment of ours, by which it is found again."""
    return f"<!-- bumpbot:{bump}:{slot}:{part} -->"


def _block(text: str) -> re.Match[str] | None:
    """Our part of a body: the first that carries a receipt, for whoever explains our markers writes none."""
    found = list(_BLOCK.finditer(text))
    return next((block for block in found if _RECEIPT.search(block.group())), found[0] if found else None)


def _mine(context: Context, bump: Bump, pull: int, slot: str) -> dict[int, Comment]:
    """Our comments of a slot by their part; of two with one marker the older is kept up."""
    me = context.forge.me().casefold()
    last_line = re.compile(rf"<!-- bumpbot:{re.escape(bump.id)}:{re.escape(slot)}:([0-9]{{1,4}}) -->\s*\Z")
    found: dict[int, Comment] = {}
    for comment in sorted(context.forge.comments(pull), key=lambda comment: comment.id):
        marked = last_line.search(comment.body)
        if marked and comment.author.casefold() == me:
            found.setdefault(int(marked.group(1)), comment)
    return found


def _write(context: Context, pull: int, mine: Comment | None, mark: str, text: str) -> int:
    """A new comment, or the old one changed if it says something else; the forge may fold line ends and trim."""
    whole = f"{text.rstrip()}\n\n{mark}\n"
    if mine is None:
        return context.forge.comment(pull, whole).id
    if mine.body.replace("\r\n", "\n").strip() != whole.strip():
        context.forge.edit_comment(mine.id, whole)
    return mine.id
