"""A bump's chain: what is written is read, and what was meddled with is found."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import BadInput, Broken
from bot.ledger import canonical, check_receipt, claim_entry, pending, receipt, record_entry, unfinished, verify
from bot.ledger.chain import decode, encode
from bot.model.action import Label
from bot.model.event import Scheduled
from tests.ledger.chains import HEAD, WHEN, facts, stored

replace = msgspec.structs.replace


def rewritten(chain, index, change):
    """The chain with one entry's JSON changed in place, as somebody with write access could."""
    one = chain[index]
    value = json.loads(encode(one.entry, one.path))
    change(value)
    data = canonical(value)
    return [*chain[:index], decode(one.path, data), *chain[index + 1 :]]


class TestBytes:
    def test_keys_are_sorted_text_is_utf8_and_one_line_ends_it(self):
        made = canonical({"b": 1, "a": "题", "c": {"z": None, "y": 1.5}})
        assert made == '{"a":"题","b":1,"c":{"y":1.5,"z":null}}\n'.encode()

    def test_an_entry_comes_back_as_it_went(self):
        entry = claim_entry([], wake="w", version="0.1", at=WHEN, event=Scheduled(at=WHEN), facts=facts(),
                            actions=[Label(name="go", head=HEAD)])
        data = encode(entry, "bumps/kimi-1/1.json")
        back = decode("bumps/kimi-1/1.json", data)
        assert back.entry == entry and back.canonical and back.sha256 == hashlib.sha256(data).hexdigest()

    def test_a_number_that_json_cannot_hold_is_refused_before_it_is_stored(self):
        subject = facts().subject
        limits = replace(subject.limits, point_minutes=float("nan"))
        entry = claim_entry([], wake="w", version="0.1", at=WHEN, event=Scheduled(at=WHEN), actions=[],
                            facts=replace(facts(), subject=replace(subject, limits=limits)))
        with pytest.raises(BadInput, match=r"1\.json: facts\.subject\.limits\.point_minutes"):
            encode(entry, "bumps/kimi-1/1.json")


class TestSchema:
    @pytest.mark.parametrize("change, told", [
        (lambda v: v.pop("wake"), "wake"),
        (lambda v: v.update(extra=1), "extra: unknown key"),
        (lambda v: v.update(n=0), "n: Expected `int` >= 1"),
        (lambda v: v.update(prev="abc"), "prev"),
        (lambda v: v["actions"][0].update(do="rm -rf"), "actions.0"),
        (lambda v: v["actions"][0].update(colour="red"), "actions.0.colour: unknown key"),
        (lambda v: v["event"].update(at="yesterday"), "event.at"),
        (lambda v: v.update(wake="a b\n"), "wake"),
    ])
    def test_an_entry_that_fails_it_is_one_line_with_file_and_key(self, change, told):
        with pytest.raises(BadInput) as caught:
            rewritten(stored(), 2, change)
        line = str(caught.value)
        assert line.startswith("bumps/kimi-1/3.json: ") and told in line and "\n" not in line

    @pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"n":1,"n":1}', b'{"n":NaN}', b"[" * 100_000])
    def test_bytes_that_are_no_entry_are_one_line_too(self, data):
        with pytest.raises(BadInput, match=r"^bumps/x/1\.json"):
            decode("bumps/x/1.json", data)


class TestVerify:
    def test_an_honest_chain_holds_and_so_does_none(self):
        assert verify(stored(7)) is None and verify([]) is None

    def test_a_missing_entry_is_found(self):
        chain = stored(5)
        assert "entry 1 is missing" in str(verify(chain[1:]))
        assert "entry 3 is missing" in str(verify(chain[:2] + chain[3:]))

    def test_a_tampered_entry_is_found_by_the_one_after_it(self):
        broken = verify(rewritten(stored(), 0, lambda v: v["actions"].pop()))
        assert isinstance(broken, Broken) and "bumps/kimi-1/2.json: entry 1 is not the one" in str(broken)

    def test_a_renumbered_entry_is_found(self):
        assert "calls itself entry 9" in str(verify(rewritten(stored(), 3, lambda v: v.update(n=9))))

    def test_the_first_entry_has_none_before_it(self):
        assert "names one before it" in str(verify(rewritten(stored(1), 0, lambda v: v.update(prev="0" * 64))))

    def test_an_entry_written_by_hand_is_found(self):
        last = stored()[-1]
        pretty = json.dumps(json.loads(encode(last.entry, last.path)), indent=1).encode()
        assert "not in canonical form" in str(verify([*stored()[:-1], decode(last.path, pretty)]))

    def test_a_lone_surrogate_is_no_crash(self):
        last = stored(1)[0]
        data = encode(last.entry, last.path).replace(b'"version":"0.1"', b'"version":"\\ud800"')
        assert "not in canonical form" in str(verify([decode(last.path, data)]))

    @pytest.mark.parametrize("index, change, told", [
        (0, lambda v: v.update(of=1), "a claim holds results"),
        (0, lambda v: v.update(facts=None), "cannot be replayed"),
        (0, lambda v: v["facts"].update(id="other"), "facts are those of 'other'"),
        (3, lambda v: v.update(of=2), "records claim 2, which is none"),
        (3, lambda v: v.update(of=None), "records claim None"),
        (3, lambda v: v.update(of=1), "claim 1 is recorded twice"),
        (3, lambda v: v["results"][0].update(index=2), "does not hold"),
        (3, lambda v: v["results"][0].update(index=-1), "does not hold"),
        (3, lambda v: v.update(actions=[{"do": "unlabel", "name": "x"}]), "a record holds actions"),
    ])
    def test_an_entry_that_makes_no_sense_is_found(self, index, change, told):
        assert told in str(verify(rewritten(stored(), index, change)))

    @settings(derandomize=True, deadline=None, max_examples=60)
    @given(st.data())
    def test_no_entry_but_the_last_can_be_swapped_dropped_or_changed_unseen(self, data):
        chain = stored(6)
        index = data.draw(st.integers(0, 4))
        meddled = data.draw(st.sampled_from([
            lambda: chain[:index] + chain[index + 1 :],
            lambda: [*chain[:index], chain[index + 1], chain[index], *chain[index + 2 :]],
            lambda: rewritten(chain, index, lambda v: v.update(wake="other")),
            lambda: rewritten(chain, index, lambda v: v.update(at="2027-01-01T00:00:00Z")),
        ]))()
        assert isinstance(verify(meddled), Broken)


class TestReceipt:
    def test_it_holds_while_the_chain_only_grows(self):
        mark = receipt(stored(3))
        assert mark.n == 3 and receipt([]) is None
        assert check_receipt(stored(3), mark.n, mark.sha256) is None
        assert check_receipt(stored(6), mark.n, mark.sha256) is None

    def test_a_shortened_chain_holds_in_itself_and_fails_the_receipt(self):
        mark, short = receipt(stored(4)), stored(3)
        assert verify(short) is None
        told = str(check_receipt(short, mark.n, mark.sha256))
        assert "shortened: the pull request remembers entry 4, the ledger ends at 3" in told
        assert check_receipt([], mark.n, mark.sha256) is not None

    def test_a_last_entry_rewritten_in_good_form_fails_it(self):
        mark = receipt(stored())
        meddled = rewritten(stored(), 3, lambda v: v["results"][0].update(ok=False))
        assert verify(meddled) is None
        assert "entry 4 is not the one" in str(check_receipt(meddled, mark.n, mark.sha256))

    @pytest.mark.parametrize("n", [0, -1])
    def test_a_receipt_of_nothing_does_not_hold(self, n):
        assert check_receipt(stored(), n, "0" * 64) is not None


class TestUnfinished:
    def waiting(self, run):
        return [*stored(2), replace(stored(3)[2], entry=replace(stored(3)[2].entry, run=run))]

    def test_a_recorded_claim_is_finished(self):
        assert unfinished(stored(4), WHEN + timedelta(days=1), lambda run: True) == () == pending(stored(4))

    def test_a_claim_whose_run_goes_on_is_left_to_it(self):
        chain, asked = self.waiting("123/1"), []
        assert unfinished(chain, WHEN + timedelta(days=1), lambda run: asked.append(run) or False) == ()
        assert asked == ["123/1"] and [s.entry.n for s in pending(chain)] == [3]

    def test_a_claim_whose_run_is_over_is_finished_at_once(self):
        assert [s.entry.n for s in unfinished(self.waiting("123/1"), WHEN, lambda run: True)] == [3]

    @pytest.mark.parametrize("minutes, count", [(14.9, 0), (15, 1), (90, 1)])
    def test_a_claim_without_a_run_waits_fifteen_minutes(self, minutes, count):
        found = unfinished(self.waiting(None), WHEN + timedelta(minutes=minutes), lambda run: pytest.fail("asked"))
        assert len(found) == count

    def test_a_late_record_names_the_claim_it_finishes(self):
        chain = self.waiting(None)
        entry = record_entry(chain, 3, wake="later", version="0.1", at=WHEN, results=[])
        assert (entry.n, entry.of, entry.prev) == (4, 3, chain[-1].sha256)
