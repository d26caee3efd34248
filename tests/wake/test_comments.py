"""What stands on the pull request: ours by author and marker, written once, edited in place; what others wrote stays."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.errors import Refusal
from bot.model.forge import Comment, Pull
from bot.model.ledger import Receipt
from bot.wake import comments
from bot.wake.comments import BEGIN, END, LIMIT, body, marker, receipt_of
from tests.fakes.facts import ME, START, bump, pull

BUMP = bump("proposal")
ONE, TWO = Receipt(n=1, sha256="a" * 64), Receipt(n=2, sha256="b" * 64)
HIDDEN = f"<!-- bumpbot:receipt n=9 sha256={'f' * 64} -->"


@dataclass
class Forge:
    """Comments and one pull request; every write is counted."""

    held: list[Comment] = field(default_factory=list)
    request: Pull = field(default_factory=lambda: pull("a" * 40))
    writes: int = 0
    reads: int = 0

    def me(self) -> str:
        return ME

    def comments(self, number: int) -> list[Comment]:
        self.reads += 1
        return list(self.held)

    def comment(self, number: int, text: str, author: str = ME) -> Comment:
        self.writes += author == ME
        made = Comment(id=len(self.held) + 1, author=author, bot=author == ME, body=text, created=START, updated=START)
        self.held.append(made)
        return made

    def edit_comment(self, comment: int, text: str) -> Comment:
        self.writes += 1
        assert self.held[comment - 1].author == ME, "only ours may be edited"
        self.held[comment - 1] = replace(self.held[comment - 1], body=text)
        return self.held[comment - 1]

    def pull(self, number: int) -> Pull:
        return self.request

    def edit_pull(self, number: int, *, body: str) -> Pull:
        self.writes += 1
        self.request = replace(self.request, body=body)
        return self.request


def say(forge: Forge, *parts: str, slot: str = "attempt-0", receipt: Receipt = ONE) -> int:
    context: Any = SimpleNamespace(forge=forge, render=SimpleNamespace(parts=lambda record: parts))
    record: Any = None
    return comments.say(context, BUMP, 7, slot, record, receipt)


def texts(forge: Forge) -> list[str]:
    return [comment.body.partition("\n\n<!--")[0] for comment in forge.held]


class TestAComment:
    def test_is_written_once_and_edited_in_place(self) -> None:
        forge = Forge()
        assert say(forge, "first") == 1 == say(forge, "second")
        assert texts(forge) == ["second"] and forge.writes == 2
        assert forge.held[0].body.endswith(f"{marker('b', 'attempt-0', 1)}\n")

    def test_that_says_the_same_is_left_alone(self) -> None:
        forge = Forge()
        say(forge, "same")
        for kept in ("same\r\n\r\n", "same\n\n"):
            forge.held[0] = replace(forge.held[0], body=f"{kept}{marker('b', 'attempt-0', 1)}")
            say(forge, "same")
        assert forge.writes == 1

    def test_is_one_a_slot_and_a_bump(self) -> None:
        forge = Forge()
        ids = [say(forge, slot, slot=slot) for slot in ("attempt-0", "attempt-1", "attempt-10", "final")]
        forge.comment(7, f"another bump's\n\n{marker('b2', 'final', 1)}\n")
        assert ids == [1, 2, 3, 4] and say(forge, "again", slot="attempt-1") == 2
        assert texts(forge)[:4] == ["attempt-0", "again", "attempt-10", "final"]

    def test_with_our_marker_by_another_account_is_neither_edited_nor_counted(self) -> None:
        forge = Forge()
        forge.comment(7, f"forged\n\n{marker('b', 'attempt-0', 1)}\n", author="mallory")
        assert say(forge, "ours") == 2 == say(forge, "ours, edited")
        assert texts(forge) == ["forged", "ours, edited"]

    def test_of_ours_that_quotes_the_marker_is_another(self) -> None:
        forge = Forge()
        forge.comment(7, f"> {marker('b', 'attempt-0', 1)}\n\nquoted by us")
        assert say(forge, "ours") == 2

    def test_is_the_older_of_two_with_one_marker(self) -> None:
        forge = Forge()
        for text in ("older", "newer"):
            forge.comment(7, f"{text}\n\n{marker('b', 'attempt-0', 1)}\n")
        forge.held.reverse()
        forge.held = [forge.held[1], forge.held[0]]
        assert say(forge, "edited") == 1 and texts(forge) == ["edited", "newer"]

    def test_is_ours_however_the_login_is_written(self) -> None:
        forge = Forge()
        forge.held = [Comment(id=1, author=ME, bot=True, body=f"x\n\n{marker('b', 'final', 1)}", created=START, updated=START)]
        forge.me = ME.upper  # type: ignore[method-assign]
        assert say(forge, "y", slot="final") == 1

    def test_is_looked_for_once_however_many_parts_it_has(self) -> None:
        forge = Forge()
        say(forge, "1", "2", "3")
        assert forge.reads == 1

    @pytest.mark.parametrize("number", ["99999", "-1", "٣", "1 ", ""])
    def test_with_a_number_that_is_no_part_is_not_ours(self, number: str) -> None:
        forge = Forge()
        forge.comment(7, f"x\n\n<!-- bumpbot:b:attempt-0:{number} -->\n")
        assert say(forge, "ours") == 2


class TestParts:
    def test_that_are_not_needed_any_more_point_to_the_first(self) -> None:
        forge = Forge()
        assert say(forge, "1", "2", "3") == 1
        assert say(forge, "all") == 1
        assert texts(forge)[0] == "all" and all("(#issuecomment-1)" in text for text in texts(forge)[1:])
        assert all(comment.body.endswith(f"{marker('b', 'attempt-0', n)}\n") for n, comment in enumerate(forge.held, 1))

    def test_are_blanked_once(self) -> None:
        forge = Forge()
        say(forge, "1", "2", "3")
        say(forge, "all")
        before = forge.writes
        say(forge, "all")
        assert forge.writes == before

    def test_are_taken_up_again(self) -> None:
        forge = Forge()
        say(forge, "1", "2", "3")
        say(forge, "all")
        say(forge, "4", "5")
        assert texts(forge)[:2] == ["4", "5"] and "#issuecomment-1" in texts(forge)[2] and len(forge.held) == 3

    @given(st.lists(st.tuples(st.sampled_from(["a", "b", "a-1"]), st.lists(st.sampled_from("xyz"), min_size=1, max_size=4)),
                    max_size=12), st.data())
    def test_whatever_was_said_before_the_last_words_stand_and_others_are_untouched(
        self, sayings: list[tuple[str, list[str]]], data: st.DataObject
    ) -> None:
        forge, last, foreign = Forge(), dict[str, list[str]](), dict[int, str]()
        for slot, parts in sayings:
            if data.draw(st.booleans()):
                forged = f"{data.draw(st.text(max_size=5))}\n\n{marker('b', slot, data.draw(st.integers(1, 4)))}\n"
                foreign[forge.comment(7, forged, author="mallory").id] = forged
            say(forge, *parts, slot=slot)
            last[slot] = parts
        for slot, parts in last.items():
            ours = {n: comment for comment in forge.held if comment.author == ME
                    for n in range(1, 9) if comment.body.endswith(f"{marker('b', slot, n)}\n")}
            assert [ours[n].body.partition("\n")[0] for n in range(1, len(parts) + 1)] == parts
            assert all("#issuecomment-" in comment.body for n, comment in ours.items() if n > len(parts))
            assert len({comment.id for comment in ours.values()}) == len(ours)
        assert {comment.id: comment.body for comment in forge.held if comment.author != ME} == foreign
        assert sum(comment.author == ME for comment in forge.held) == sum(
            max(len(parts) for other, parts in sayings if other == slot) for slot in last)


outside = st.lists(st.sampled_from([*"ab \n\r#<>-!|", BEGIN, END, HIDDEN, "é", "\u2028"]), max_size=12).map("".join)


class TestTheBody:
    def test_is_edited_only_when_our_part_changes(self) -> None:
        forge = Forge()
        assert [say(forge, "state", slot="body") for _ in range(2)] == [0, 0]
        assert forge.writes == 1 and forge.request.body == body("", BUMP, "state", ONE)
        say(forge, "state", slot="body", receipt=TWO)
        assert forge.writes == 2 and receipt_of(forge.request.body) == TWO

    def test_keeps_what_stood_there_before_us(self) -> None:
        assert body("  What I wrote\n", BUMP, "ours", ONE).endswith(f"{END}\n\n  What I wrote\n")

    @given(outside, outside, st.text(max_size=20), st.text(max_size=20))
    def test_keeps_every_character_outside_our_markers(self, above: str, below: str, old: str, new: str) -> None:
        for mark in (BEGIN, END, HIDDEN):
            above, below = above.replace(mark, "x"), below.replace(mark, "x")
        first = above + body("", BUMP, old, ONE) + below
        second = body(first, BUMP, new, TWO)
        assert second.startswith(f"{above}{BEGIN}\n{new.rstrip()}") and second.endswith(f"{END}\n{below}")
        assert receipt_of(second) == TWO and body(second, BUMP, new, TWO) == second

    @given(outside, st.text("xyz\n<", max_size=20))
    def test_takes_at_most_one_block_of_markers_where_they_are_strewn(self, before: str, text: str) -> None:
        once, block = body(before, BUMP, text, ONE), body("", BUMP, text, ONE).removesuffix("\n")
        head, _, tail = once.partition(block)
        if once not in (f"{block}\n\n{before}", f"{block}\n"):
            assert before.startswith(head) and before.endswith(tail)
            gone = before[len(head) : len(before) - len(tail)]
            assert gone.startswith(BEGIN) and gone.endswith(END) and gone.count(BEGIN) == 1

    @given(outside, st.text("xyz\n<", max_size=20))
    def test_is_found_again_where_markers_are_strewn(self, before: str, text: str) -> None:
        before = before.replace(HIDDEN, "")
        once, twice = body(before, BUMP, text, ONE), body(body(before, BUMP, text, ONE), BUMP, text, TWO)
        assert receipt_of(once) == ONE and receipt_of(twice) == TWO
        assert twice == once.replace(f"n=1 sha256={ONE.sha256}", f"n=2 sha256={TWO.sha256}")

    def test_whose_end_marker_was_deleted_keeps_what_follows(self) -> None:
        torn = f"{BEGIN}\nold\n\nmy notes\n"
        after = body(torn, BUMP, "new", ONE)
        assert "my notes" in after
        assert "my notes" in body(after, BUMP, "newer", TWO) and "newer" in body(after, BUMP, "newer", TWO)

    def test_is_ours_where_the_receipt_stands_not_where_somebody_explains_the_markers(self) -> None:
        explained = f"Between {BEGIN} and {END} the bot writes.\n\n"
        mine = explained + body("", BUMP, "old", ONE)
        after = body(mine, BUMP, "new", TWO)
        assert after.startswith(explained) and "old" not in after and receipt_of(after) == TWO

    def test_that_would_be_too_long_is_refused_and_nothing_sent(self) -> None:
        forge = Forge()
        forge.request = replace(forge.request, body="x" * LIMIT)
        with pytest.raises(Refusal, match="65536"):
            say(forge, "ours", slot="body")
        assert forge.writes == 0
        room = LIMIT - len(body("", BUMP, "", ONE)) - 1
        assert len(body("x" * room, BUMP, "", ONE)) == LIMIT


class TestTheReceipt:
    @pytest.mark.parametrize("text", [
        "", HIDDEN, f"{HIDDEN}\n{BEGIN}\nours\n{END}\n{HIDDEN}", f"{BEGIN}\n{HIDDEN}", f"{HIDDEN}{END}",
        f"{BEGIN}\n<!-- bumpbot:receipt n={'9' * 5000} sha256={'f' * 64} -->\n{END}",
        f"{BEGIN}\n<!-- bumpbot:receipt n=1 sha256=short -->\n{END}",
        f"{BEGIN}\n<!-- bumpbot:receipt n=-1 sha256={'f' * 64} -->\n{END}"])
    def test_outside_our_block_or_of_another_form_is_none(self, text: str) -> None:
        assert receipt_of(text) is None

    def test_of_our_block_is_the_one_whatever_stands_around_it(self) -> None:
        text = f"{HIDDEN}\n{body('', BUMP, 'x', TWO)}\n{HIDDEN}"
        assert receipt_of(text) == TWO
        assert receipt_of(text.replace("\n", "\r\n")) == TWO
