"""What a run's artifacts say: which count for which job, and what becomes of those that do not hold."""

from __future__ import annotations

import io
import json
import random
import tarfile
import zipfile
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, BinaryIO

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.adapters.assets import PackagedAssets
from bot.cli.wiring import knowledge
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.layout import Layout
from bot.layout.records import Artifacts
from bot.model.bump import Judged
from bot.model.forge import Artifact
from bot.model.result import Baseline, Cell, Row
from bot.model.run import Job
from bot.wake.artifacts import fitting, points_of
from bot.wake.evidence import NO_LOG, judge
from tests.fakes.facts import PROPOSAL, bump, later, run, subject
from tests.results.made import agentic, eval_row

NAMES = Artifacts(results=("bmk_*", "eval_*"), logs=("*server_logs_*",), evals=("eval_*",))
KNOWN = knowledge(PackagedAssets())
OOM = "ERROR 09-10 07:00:00 [core.py:1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


def zipped(files: dict[str, Any]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, (str, bytes)) else json.dumps(value))
    return made.getvalue()


def artifact(number: int, name: str, minutes: float = 60.0, **changed: Any) -> Artifact:
    return replace(Artifact(id=number, name=name, size=1, created=later(minutes), expired=False), **changed)


def job(number: int = 1, *, role: str = "throughput", concurrency: int | None = 4, name: str | None = None, attempt: int = 1,
        conclusion: str | None = "success", begins: float | None = 0, ends: float | None = 60, gpus: int = 16) -> Job:
    return Job(id=number, name=name or f"{role} c{concurrency}", attempt=attempt, gpus=gpus, role=role, concurrency=concurrency,
               status="completed" if ends is not None else "in_progress", conclusion=conclusion if ends is not None else None,
               started=later(begins) if begins is not None else None, completed=later(ends) if ends is not None else None)


class Forge:
    """Artifacts by id: their zip's bytes, or the error that fetching them raises."""

    def __init__(self, held: Sequence[tuple[Artifact, bytes | Exception]]) -> None:
        self.held, self.fetched = {one.id: (one, data) for one, data in held}, []

    def artifacts(self, run: int) -> list[Artifact]:
        return [one for one, _ in self.held.values()]

    def download(self, number: int, into: BinaryIO, limit: int) -> int:
        self.fetched.append(number)
        data = self.held[number][1]
        if isinstance(data, Exception):
            raise data
        return into.write(data)


def judged(jobs: Sequence[Job], *held: tuple[Artifact, bytes | Exception], known: Sequence[Judged] = (), of: Any = None,
           stage: str = "smoke", status: str = "completed") -> Judged | None:
    return look(Forge(held), jobs, known=known, of=of, stage=stage, status=status)


def look(forge: Forge, jobs: Sequence[Job], *, known: Sequence[Judged] = (), of: Any = None, stage: str = "smoke",
         status: str = "completed") -> Judged | None:
    context: Any = SimpleNamespace(forge=forge, layout=Layout(artifacts=NAMES), knowledge=KNOWN)
    return judge(context, of or bump("proposal"), run(9, stage, PROPOSAL, *jobs, status=status), known)


def result(number: int = 1, conc: int = 4, tput: float = 900.0, minutes: float = 60.0, name: str = "", **changed: Any) -> Any:
    return artifact(number, name or f"bmk_r_conc{conc}_n0", minutes, **changed), zipped({f"r_conc{conc}.json": agentic(conc, tput)})


def score(number: int = 2, conc: int = 4, strict: float = 0.95, minutes: float = 60.0) -> Any:
    return artifact(number, f"eval_r_conc{conc}_n0", minutes), zipped({"agg_eval.json": [eval_row(conc, strict, strict)]})


def log(number: int = 3, conc: int = 4, text: str | bytes = OOM, minutes: float = 60.0, name: str = "") -> Any:
    return artifact(number, name or f"server_logs_r_conc{conc}_n0", minutes), zipped({"node1_worker_0.log": text})


def tputs(found: Judged | None) -> list[float]:
    return [row.value for row in found.rows if row.metric == "tput_per_gpu"] if found else []


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


class TestAFailedJob:
    def test_is_told_by_the_first_error_of_its_log(self) -> None:
        found = judged([job(conclusion="failure")], log())
        (failure,) = found.failures
        assert failure.triage.class_ == "oom" and (failure.job, failure.attempt, failure.minutes) == ("throughput c4", 1, 60.0)

    @pytest.mark.parametrize("held", [
        [], [(artifact(3, "server_logs_r_conc4_n0"), b"no zip")], [log(3, conc=8)],
        [(artifact(3, "server_logs_r_conc4_n0"), Missing("gone"))]], ids=["none", "rubbish", "other", "gone"])
    def test_without_a_readable_log_failed_for_an_unknown_reason(self, held: list) -> None:
        (failure,) = judged([job(conclusion="failure")], *held).failures
        assert (failure.triage.class_, failure.triage.first_error, failure.triage.confidence) == (None, None, "unknown")
        assert NO_LOG in failure.triage.notes

    def test_with_one_readable_log_is_told_by_that(self) -> None:
        rubbish = artifact(2, "server_logs_bad_conc4"), zipped({"x.tar.gz": b"rubbish"})
        found = judged([job(conclusion="failure")], rubbish, log())
        assert found.failures[0].triage.class_ == "oom"
        assert any("server_logs_bad_conc4" in note for note in found.failures[0].triage.notes) and found.notes

    def test_may_bring_results_that_do_not_hold_as_well(self) -> None:
        found = judged([job(conclusion="failure")], log(), (artifact(1, "bmk_r_conc4"), b"no zip"))
        assert found.failures[0].triage.class_ == "oom" and found.rows == ()

    def test_whose_scores_break_a_gate_failed_by_that(self) -> None:
        of = bump("proposal", plan=replace(subject().plan, thresholds={"gsm8k": 0.9}))
        held = score(strict=0.7), log(3, name="eval_server_logs_conc4")
        found = judged([job(2, role="eval", conclusion="failure")], *held, of=of)
        assert found.failures[0].triage.class_ == "eval-gate" and [one.passed for one in found.scores] == [False, False]

    def test_that_was_cancelled_before_it_began_took_no_time(self) -> None:
        (failure,) = judged([job(conclusion="cancelled", begins=None)]).failures
        assert (failure.triage.class_, failure.minutes) == ("cancelled-by-concurrency", 0.0)

    @pytest.mark.parametrize("conclusion", ["failure", "timed_out", "startup_failure", "action_required", None])
    def test_is_one_whatever_word_the_forge_has_for_it(self, conclusion: str | None) -> None:
        one = replace(job(), conclusion=conclusion)
        assert len(judged([one]).failures) == 1

    @pytest.mark.parametrize("conclusion", ["success", "skipped", "neutral"])
    def test_is_none_that_passed_or_was_skipped(self, conclusion: str) -> None:
        found = judged([job(conclusion=conclusion)], log())
        assert found.failures == () and found.notes == ()


class TestASecondAttempt:
    FIRST, SECOND = job(1, conclusion="failure"), job(2, attempt=2, begins=70, ends=130)

    def first(self) -> Judged:
        found = judged([self.FIRST], result(1, tput=900.0), log())
        assert found is not None and tputs(found) == [900.0]
        return found

    def test_replaces_the_first_s_rows(self) -> None:
        held = result(1, tput=900.0), log(), result(4, tput=950.0, minutes=130)
        found = judged([self.FIRST, self.SECOND], *held, known=[self.first()])
        assert tputs(found) == [950.0] and {row.attempt for row in found.rows} == {2} and found.seen == (1, 2)
        assert [failure.attempt for failure in found.failures] == [1]

    def test_looked_at_together_gives_the_same(self) -> None:
        held = result(4, tput=950.0, minutes=130), result(1, tput=900.0), log()
        one_look = judged([self.SECOND, self.FIRST], *held)
        assert one_look == judged([self.FIRST, self.SECOND], *held, known=[self.first()])

    def test_that_failed_without_results_leaves_none_of_the_first_s(self) -> None:
        again = replace(self.SECOND, conclusion="failure")
        found = judged([self.FIRST, again], result(1), log(), log(5, minutes=130), known=[self.first()])
        assert found.rows == () == found.accounting and [failure.attempt for failure in found.failures] == [1, 2]

    def test_of_an_eval_replaces_its_scores_and_no_throughput(self) -> None:
        jobs = [job(1), job(2, role="eval", conclusion="failure"), job(3, role="eval", attempt=2, begins=70, ends=130)]
        held = result(1), score(2, strict=0.5), score(3, strict=0.96, minutes=130)
        found = judged(jobs, *held)
        assert tputs(found) == [900.0] and {one.value for one in found.scores} == {0.96}
        assert {row.value for row in found.rows if row.metric == "eval"} == {0.96}

    def test_leaves_the_other_jobs_as_they_were(self) -> None:
        other = job(7, concurrency=8)
        found = judged([self.FIRST, other, self.SECOND], result(1), result(8, 8, 500.0), result(4, tput=950.0, minutes=130), log())
        assert sorted(tputs(found)) == [500.0, 950.0]

    def test_of_one_of_two_jobs_at_a_point_takes_nothing_from_the_other(self) -> None:
        sibling = job(7, name="throughput mtp c4")
        again = replace(self.SECOND, conclusion="failure")
        found = judged([self.FIRST, sibling, again], result(1))
        assert tputs(found) == [900.0]


class TestWhatWasJudged:
    def test_is_not_read_again(self) -> None:
        forge = Forge([result()])
        first = look(forge, [job()])
        assert look(forge, [job()], known=[first]) is first and forge.fetched == [1]

    def test_grows_by_the_jobs_that_ended_since(self) -> None:
        forge = Forge([result(), result(2, 8, 500.0)])
        first = look(forge, [job(), job(2, concurrency=8, ends=None)], status="in_progress")
        assert (tputs(first), first.seen) == ([900.0], (1,))
        assert sorted(tputs(look(forge, [job(), job(2, concurrency=8)], known=[first]))) == [500.0, 900.0]
        assert forge.fetched == [1, 2]

    def test_is_nothing_while_no_measuring_job_has_ended(self) -> None:
        assert judged([]) is None
        assert judged([job(ends=None), job(2, role="other", concurrency=None, gpus=0)], result(), status="in_progress") is None

    def test_leaves_out_jobs_without_a_gpu_that_measure_nothing(self) -> None:
        found = judged([job(), job(2, role="other", concurrency=None, gpus=0, conclusion="failure", name="collect")], result())
        assert (found.seen, found.failures) == ((1,), ())

    def test_of_a_measuring_job_without_a_gpu_counts_like_any_other(self) -> None:
        assert tputs(judged([job(gpus=0)], result())) == [900.0]

    def test_can_be_kept_in_the_ledger(self) -> None:
        found = judged([job(conclusion="failure")], result(), log(), (artifact(5, "bmk_\ud800_conc4"), b"no zip"))
        assert msgspec.json.decode(msgspec.json.encode(found), type=Judged) == found


class TestTheVerdict:
    def of(self, *rows: Row) -> Any:
        baseline = Baseline(date="2026-08-21", image="old", run=1, attempt=1, head=None, pull=None, fingerprint=None, rows=rows)
        return bump("proposal", plan=replace(subject().plan, baseline=baseline))

    def row(self, value: float = 900.0, unit: str = "tok/s/GPU") -> Row:
        return Row(point=Cell(recipe="r", concurrency=4), metric="tput_per_gpu", value=value, unit=unit)

    def test_of_a_sweep_is_made_against_the_baseline(self) -> None:
        assert judged([job()], result(), of=self.of(self.row()), stage="sweep").verdict is not None
        assert judged([job()], result(), of=self.of(self.row()), stage="smoke").verdict is None

    def test_that_cannot_be_made_is_none_and_a_note(self) -> None:
        found = judged([job()], result(), of=self.of(self.row(unit="s")), stage="sweep")
        assert found.verdict is None and any("no verdict" in note for note in found.notes) and tputs(found) == [900.0]


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
