"""Which artifacts count for which job, and what becomes of those that do not hold."""

from __future__ import annotations

import io
import json
import random
import tarfile
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.model.forge import Artifact
from bot.model.run import Job
from bot.wake.artifacts import fitting, points_of
from tests.fakes.facts import PROPOSAL
from tests.results.made import agentic
from tests.wake.made import NAMES, OOM, artifact, job, judged, result, score, tputs, zipped


class TestWhoseItIs:
    def names(self, artifacts: Sequence[Artifact], one: Job, *others: Job) -> list[str]:
        found = fitting(NAMES, artifacts, (one, *others), one)
        return [each.name for each in (*found.logs, *found.results)]

    @pytest.mark.parametrize(("name", "why"), [
        ("bmk_r_conc8_n0", "another concurrency"), ("eval_r_conc4_n0", "an eval's"), ("other_conc4", "a name nobody expects"),
        ("BMK_r_conc4", "written otherwise"), ("bmk_r_conc44_n0", "44 is not 4"), ("results_bmk", "the collector's"),
        ("", "no name")])
    def test_a_name_that_does_not_fit_is_nobody_s(self, name: str, why: str) -> None:
        assert self.names([artifact(1, name)], job()) == [], why

    @pytest.mark.parametrize("name", [
        "bmk_r_conc4_n0", "bmk_r_conc4", "bmk_r_conc1x4x16_n0", "bmk_r", "multi_server_logs_r_conc4_x"])
    def test_a_name_that_fits_is_the_job_s(self, name: str) -> None:
        assert self.names([artifact(1, name)], job()) == [name]

    @pytest.mark.parametrize(("minutes", "fits"), [(-0.1, False), (0, True), (30, True), (60, True), (61, True), (63, False)])
    def test_it_was_uploaded_in_the_job_s_time(self, minutes: float, fits: bool) -> None:
        assert bool(self.names([artifact(1, "bmk_r_conc4_n0", minutes)], job())) is fits

    def test_an_eval_s_belongs_to_the_eval_s_job(self) -> None:
        both = job(1), job(2, role="eval")
        held = [artifact(1, "bmk_r_conc4_n0"), artifact(2, "eval_r_conc4_n0"), artifact(3, "eval_server_logs_r_conc4_n0")]
        assert self.names(held, both[0], both[1]) == ["bmk_r_conc4_n0"]
        assert self.names(held, both[1], both[0]) == ["eval_server_logs_r_conc4_n0", "eval_r_conc4_n0"]

    def test_the_second_attempt_s_is_not_the_first_s_though_it_came_soon_after(self) -> None:
        first, second = job(1, ends=60), job(2, attempt=2, begins=60.5, ends=None)
        held = [artifact(1, "bmk_r_conc4_n0", 59), artifact(2, "bmk_r_conc4_n0", 61)]
        assert [one.id for one in fitting(NAMES, held, (first, second), first).results] == [1]
        assert [one.id for one in fitting(NAMES, held, (first, second), second).results] == [2]

    @pytest.mark.parametrize(("name", "minutes", "whose"), [
        ("bmk_r_conc4_attempt1", 50, 1), ("bmk_r_conc4_attempt2", 80, 2), ("bmk_r_conc4_attempt1", 80, None),
        ("bmk_r_conc4_attempt2", 50, None), ("bmk_r_conc4_attempt3", 80, None), ("bmk_r_conc4_attempt", 80, 2)])
    def test_a_name_that_tells_an_attempt_is_of_that_one_alone(self, name: str, minutes: float, whose: int | None) -> None:
        both = job(1, ends=60), job(2, attempt=2, begins=70, ends=100)
        found = [one.id for one in both if fitting(NAMES, [artifact(1, name, minutes)], both, one).results]
        assert found == ([] if whose is None else [whose])

    @pytest.mark.parametrize("minutes", [-1, 65])
    def test_outside_its_job_s_time_it_is_noted_as_lost(self, minutes: float) -> None:
        held = [artifact(1, "bmk_r_conc4_n0", minutes), artifact(2, "server_logs_r_conc4", minutes), artifact(3, "bmk_r_conc8_n0", minutes)]
        found = fitting(NAMES, held, (job(),), job())
        assert (found.logs, found.results) == ((), ()) and len(found.notes) == 2
        assert all(said.endswith("Z, outside its job's time") for said in found.notes)
        assert found.lost == found.notes[:1] and found.lost[0].startswith("bmk_r_conc4_n0: uploaded 20")

    def test_of_the_other_attempt_it_is_no_note(self) -> None:
        both = job(1, ends=60), job(2, attempt=2, begins=70, ends=100)
        assert [fitting(NAMES, [artifact(1, "bmk_r_conc4_n0", 50)], both, one).notes for one in both] == [(), ()]

    def test_two_of_one_name_in_one_job_s_time_count_neither(self) -> None:
        held = [artifact(1, "bmk_r_conc4_n0", 50), artifact(2, "bmk_r_conc4_n0", 55), artifact(3, "bmk_r_conc4_n1", 55)]
        found = fitting(NAMES, held, (job(),), job())
        assert [one.id for one in found.results] == [3]
        assert found.notes == ("bmk_r_conc4_n0: 2 artifacts of this name in the job's time, none counts",)

    def test_one_that_expired_is_noted_not_read(self) -> None:
        found = fitting(NAMES, [artifact(1, "bmk_r_conc4_n0", expired=True)], (job(),), job())
        assert (found.results, found.notes) == ((), ("bmk_r_conc4_n0: expired",))

    def test_a_job_that_never_began_or_measures_nothing_has_none(self) -> None:
        held = [artifact(1, "bmk_r"), artifact(2, "server_logs_r")]
        assert self.names(held, job(begins=None)) == self.names(held, job(role="other", concurrency=None)) == []

    @given(st.text(max_size=60))
    def test_any_name_is_read(self, name: str) -> None:
        assert all(number >= 0 for number in points_of(name))
        assert points_of(f"bmk_conc{'9' * 5000}") == points_of("bmk_conc") == points_of("bmk_concx1") == frozenset()


class TestResults:
    def test_become_rows_of_the_point_with_run_attempt_and_head(self) -> None:
        found = judged([job()], result())
        assert tputs(found) == [900.0] and found.seen == (1,) and found.failures == ()
        assert {(row.run, row.attempt, row.head, row.point.concurrency) for row in found.rows} == {(9, 1, PROPOSAL, 4)}

    def test_of_an_eval_become_scores(self) -> None:
        found = judged([job(2, role="eval")], score())
        assert {(one.task, one.concurrency, one.value) for one in found.scores} == {("gsm8k", 4, 0.95)}

    def test_may_lie_in_an_archive_within(self) -> None:
        inner = io.BytesIO()
        with tarfile.open(fileobj=inner, mode="w:gz") as archive:
            data = json.dumps(agentic(4)).encode()
            entry = tarfile.TarInfo("r_conc4.json")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        assert tputs(judged([job()], (artifact(1, "bmk_r_conc4"), zipped({"all.tar.gz": inner.getvalue()})))) == [917.3]

    def test_that_say_another_concurrency_than_their_job_do_not_count(self) -> None:
        lying = artifact(1, "bmk_r_n0"), zipped({"a.json": agentic(8)})
        found = judged([job()], lying)
        assert found.rows == () == found.accounting
        assert any("says concurrency 8, which is not this job's" in note for note in found.notes)

    def test_of_a_job_for_many_points_count_for_each_it_names(self) -> None:
        many = artifact(1, "bmk_r_conc1x4_n0"), zipped({f"r_conc{n}.json": agentic(n, 100.0 * n) for n in (1, 4, 8)})
        assert tputs(judged([job()], many)) == [100.0, 400.0]

    @pytest.mark.parametrize("data", [
        b"", b"not a zip", zipped({})[:10], b"PK\x03\x04" + bytes(100), zipped({"r_conc4.json": json.dumps(agentic(4))[:-9]}),
        zipped({"r_conc4.json": json.dumps(agentic(4)).encode() + b"\xff"}),
        zipped({"r_conc4.json": json.dumps(agentic(4)).replace("917.3", "NaN")}), zipped({"r_conc4.json": b'{"hw":' + b"[" * 9999}),
        zipped({"r_conc4.json": agentic(4, tput=-1.0)}), zipped({"r_conc4.json": agentic(conc="four")}), zipped({"a.zip": b"PK"}),
        zipped({"r_conc4.json": agentic(4, image="\ud800")})], ids=range(12))
    def test_that_do_not_hold_are_a_note_and_take_no_other_with_them(self, data: bytes) -> None:
        found = judged([job()], (artifact(1, "bmk_bad_conc4_n0"), data), result(2))
        assert tputs(found) == [900.0]
        assert any(note.startswith("bmk_bad_conc4_n0") for note in found.notes)
        assert all("\n" not in note and len(note) < 400 for note in found.notes)

    def test_that_contradict_each_other_count_neither(self) -> None:
        found = judged([job()], result(1, tput=900.0, name="bmk_a_conc4"), result(2, tput=901.0, name="bmk_b_conc4"))
        assert tputs(found) == [] and any("bmk_a_conc4 and bmk_b_conc4" in note for note in found.notes)

    @pytest.mark.parametrize("error", [Missing("gone"), BadInput("more than 512 MB"), Refusal("redirected")])
    def test_that_cannot_be_fetched_are_a_note(self, error: Exception) -> None:
        found = judged([job()], (artifact(1, "bmk_gone_conc4"), error), result(2))
        assert tputs(found) == [900.0] and f"bmk_gone_conc4: {error}" in found.notes

    def test_that_the_forge_cannot_give_now_are_asked_for_later(self) -> None:
        with pytest.raises(Unreachable):
            judged([job()], (artifact(1, "bmk_r_conc4"), Unreachable("down")))

    def test_that_are_no_results_are_named(self) -> None:
        found = judged([job()], (artifact(1, "bmk_r_conc4"), zipped({"readme.txt": "hello"})))
        assert found.notes == ("bmk_r_conc4/readme.txt: not-a-result",)

    def test_with_names_of_any_kind_give_notes_of_one_line(self) -> None:
        found = judged([job()], (artifact(1, "bmk_\n\u202e" + "x" * 5000), b"no zip"))
        assert len(found.notes) == 1 and found.notes[0].isprintable() and len(found.notes[0]) < 400


class TestRubbish:
    @settings(max_examples=150)
    @given(st.integers(0, 2**32), st.integers(1, 12), st.booleans())
    def test_no_damage_to_an_archive_crashes_the_wake(self, seed: int, wounds: int, logs: bool) -> None:
        whole = zipped({"node1_worker_0.log": OOM, "r_conc4.json": agentic(4), "in.zip": zipped({"a.log": "x"})})
        data, chance = bytearray(whole), random.Random(seed)
        for _ in range(wounds):
            data[chance.randrange(len(data))] = chance.randrange(256)
        name = "server_logs_r_conc4" if logs else "bmk_r_conc4"
        found = judged([job(conclusion="failure")], (artifact(1, name), bytes(data[: chance.randrange(len(data)) + 1])),
                       (artifact(2, f"{name}_b"), bytes(data)))
        assert found is not None and len(found.failures) == 1

    @settings(max_examples=150)
    @given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)),
           st.sampled_from(sorted(agentic(4))))
    def test_no_value_in_a_result_file_crashes_the_wake(self, value: Any, key: str) -> None:
        found = judged([job()], (artifact(1, "bmk_r_conc4"), zipped({"r_conc4.json": json.dumps(agentic(4) | {key: value})})))
        assert found is not None and found.seen == (1,)
        msgspec.json.encode(found)
