"""Comments and the pull request's body: found by marker and author, written once, then edited in place.

A comment is ours by the account that wrote it, never by its marker alone: anyone can paste a marker (SECURITY.md 5).
"""

from __future__ import annotations

import re

from bot.model.bump import Bump
from bot.model.ledger import Receipt
from bot.model.record import Record
from bot.wake.context import Context

BEGIN, END = "<!-- bumpbot:begin -->", "<!-- bumpbot:end -->"
_OURS = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), re.DOTALL)
_RECEIPT = re.compile(r"<!-- bumpbot:receipt n=([0-9]+) sha256=([0-9a-f]{64}) -->")


def say(context: Context, bump: Bump, pull: int, slot: str, record: Record, receipt: Receipt) -> int:
    """Writes or edits the comment of a slot; the id of its first part. Slot "body" is our part of the pull request."""
    parts = context.render.parts(record)
    if slot == "body":
        before = context.forge.pull(pull)
        after = body(before.body, bump, parts[0], receipt)
        if after != before.body:
            context.forge.edit_pull(pull, body=after)
        return 0
    ids = [_part(context, bump, pull, slot, number, text) for number, text in enumerate(parts, start=1)]
    return ids[0]


def body(before: str, bump: Bump, text: str, receipt: Receipt) -> str:
    """The pull request's body with only the text between our markers rewritten; what others appended stays."""
    hidden = f"<!-- bumpbot:receipt n={receipt.n} sha256={receipt.sha256} -->"
    block = f"{BEGIN}\n{text.rstrip()}\n\n{hidden}\n{END}"
    if _OURS.search(before):
        return _OURS.sub(lambda _: block, before, count=1)
    return f"{block}\n\n{before.lstrip()}" if before.strip() else f"{block}\n"


def receipt_of(text: str) -> Receipt | None:
    """The receipt that our part of a body carries."""
    ours = _OURS.search(text)
    found = _RECEIPT.search(ours.group(0)) if ours else None
    return Receipt(n=int(found.group(1)), sha256=found.group(2)) if found else None


def marker(bump: str, slot: str, part: int) -> str:
    return f"<!-- bumpbot:{bump}:{slot}:{part} -->"


def _part(context: Context, bump: Bump, pull: int, slot: str, part: int, text: str) -> int:
    mark = marker(bump.id, slot, part)
    whole = f"{text.rstrip()}\n\n{mark}\n"
    mine = _find(context, bump, pull, mark)
    if mine is None:
        return context.forge.comment(pull, whole).id
    if mine[1] != whole:
        context.forge.edit_comment(mine[0], whole)
    return mine[0]


def _find(context: Context, bump: Bump, pull: int, mark: str) -> tuple[int, str] | None:
    me = context.forge.me()
    for comment in context.forge.comments(pull):
        if comment.author == me and mark in comment.body:
            return comment.id, comment.body
    return None
