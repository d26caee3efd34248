"""Results that do not hold: whose they were and why is kept, for "not measured" sends a reader looking for a job that failed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.errors import Missing
from tests.wake.made import artifact, job, judged, log, result, score, tputs, zipped


class TestARefusedResult:
    def test_is_kept_with_its_job_and_with_file_and_line(self) -> None:
        good = '{"point": {"recipe": "r", "concurrency": 4}, "metric": "ttft", "value": 0.5, "unit": "s"}\n'
        broken = artifact(1, "bmk_r_conc4_n0"), zipped({"r_conc4.jsonl": good + good[:40]})
        (one,) = judged([job()], broken, stage="sweep").refused
        assert (one.role, one.recipe, one.concurrency) == ("throughput", "r", 4)
        assert one.why.startswith("bmk_r_conc4_n0/r_conc4.jsonl:2:") and "JSON" in one.why

    @pytest.mark.parametrize(("held", "word"), [
        ((artifact(1, "bmk_r_conc4"), b"no zip"), "not a whole archive"),
        ((artifact(1, "bmk_r_conc4"), Missing("gone")), "gone"),
        ((artifact(1, "bmk_r_conc4", expired=True), b""), "expired"),
        (result(conc=4, tput=-1.0), "r_conc4.json"),
    ], ids=["rubbish", "gone", "expired", "negative"])
    def test_says_why_whatever_is_wrong(self, held: tuple, word: str) -> None:
        (one,) = judged([job()], held).refused
        assert word in one.why and "bmk_r_conc4" in one.why

    def test_is_what_is_no_result_at_all_where_nothing_else_is_there(self) -> None:
        foreign = {"readme.txt": "nothing", "cut.jsonl": '{"point": {"reci'}
        found = judged([job()], (artifact(1, "bmk_r_conc4_n0"), zipped(foreign)))
        assert [one.why for one in found.refused] == [f"bmk_r_conc4_n0/{name}: not-a-result" for name in sorted(foreign)]
        beside = artifact(1, "bmk_r_conc4_n0"), zipped({"readme.txt": "nothing"})
        assert judged([job()], beside, result(2, name="bmk_r_conc4_n1")).refused == ()

    def test_is_no_log(self) -> None:
        found = judged([job(conclusion="failure")], result(), (artifact(3, "server_logs_r_conc4_n0"), b"no zip"))
        assert found.refused == () and found.notes

    def test_beside_a_good_one_of_another_job_is_told_of_its_own_alone(self) -> None:
        found = judged([job(), job(2, role="eval")], result(), (score()[0], b"no zip"))
        assert [one.role for one in found.refused] == ["eval"] and tputs(found) == [900.0]

    def test_of_an_attempt_that_was_made_again_is_forgotten(self) -> None:
        again = job(2, attempt=2, begins=70, ends=130)
        bad = artifact(1, "bmk_r_conc4_n0"), b"no zip"
        first = judged([job(1, conclusion="failure")], bad, log())
        assert len(first.refused) == 1
        found = judged([job(1, conclusion="failure"), again], bad, log(), result(4, minutes=130), known=[first])
        assert found.refused == () and tputs(found) == [900.0]

    def test_is_forgotten_for_no_other_point(self) -> None:
        bad = artifact(1, "bmk_r_conc8_n0"), b"no zip"
        jobs = [job(3, concurrency=8), job(1, conclusion="failure"), replace(job(2, begins=70, ends=130), attempt=2)]
        assert [one.concurrency for one in judged(jobs, bad, result(4, minutes=130)).refused] == [8]
