"""The image that ran: what a job's logs say of it decides whether its numbers count, point by point."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bot.layout import Layout
from bot.model.bump import Judged
from bot.model.image import Candidate
from bot.model.result import Baseline, Cell, Row
from tests.fakes.facts import bump, resolved, subject
from tests.wake.made import NAMES, Forge, artifact, job, judged, log, look, result, score, zipped

OLD, NEW = "v0.27.1", "v0.29.0"
IMAGE = f"vllm/vllm-openai:{NEW}"
SQUASH = f"vllm_vllm-openai_{NEW}.sqsh"


def facts(*points: int) -> Any:
    rows = tuple(Row(point=Cell(recipe="r", concurrency=conc), metric="tput_per_gpu", value=900.0, unit="tok/s/GPU")
                 for conc in points or (1, 2, 4))
    baseline = Baseline(date="2026-08-21", image="old", run=1, attempt=1, head=None, pull=None, fingerprint=None, rows=rows)
    return bump("proposal", candidate=Candidate(old=resolved(OLD), new=resolved(NEW), text=IMAGE),
                plan=replace(subject().plan, baseline=baseline))


def says(version: str, squash: str = "") -> str:
    cached = f"[ERROR] File already exists: /mnt/containers/{squash}\n" if squash else ""
    return f"{cached}(EngineCore pid=8) INFO 09-10 07:00:00 [core.py:97] Initializing a V1 LLM engine (v{version}) with config: model='m'\n"


def run(*points: tuple[int, str | None], stage: str = "sweep", **more: Any) -> Judged:
    """A run of these points, each with what its log holds (None: there is no log)."""
    jobs = [job(conc, concurrency=conc) for conc, _ in points]
    held = [result(conc, conc, image=IMAGE) for conc, _ in points]
    held += [log(100 + conc, conc, text) for conc, text in points if text is not None]
    found = judged(jobs, *held, of=more.pop("of", facts()), stage=stage, **more)
    assert found is not None
    return found


def states(found: Judged) -> dict[int, str]:
    return {one.concurrency: one.state for one in found.proofs}


class TestASweepWhoseServersSayWhatTheyAre:
    def test_counts_at_every_point(self) -> None:
        found = run((1, says("0.29.0")), (2, says("0.29.0")), (4, says("0.29.0")))
        assert states(found) == {1: "proven", 2: "proven", 4: "proven"} and found.verdict
        assert not any("image-not-proven" in reason for reason in found.verdict.reasons)
        assert [(one.kind, one.value, one.concurrency, one.line) for one in found.reported][0] == ("version", "0.29.0", 1, 1)

    def test_loses_the_point_that_a_stale_cache_served_and_only_that(self) -> None:
        found = run((1, says("0.29.0")), (2, says("0.27.1", SQUASH)), (4, says("0.29.0")))
        (stale,) = [one for one in found.proofs if one.contradicted]
        assert (stale.concurrency, stale.old, stale.ran, stale.cache) == (2, True, "vLLM 0.27.1", SQUASH)
        assert found.verdict and found.verdict.verdict == "inconclusive"
        marked = {one.point.concurrency for one in found.verdict.findings if one.point
                  and any(reason.startswith("image-not-proven") for reason in one.reasons)}
        assert marked == {2} and "image-not-proven:vLLM 0.27.1" in found.verdict.reasons
        assert not any(gate.startswith("image") for gate in found.gates)

    @pytest.mark.parametrize("text", [None, "", "nothing of interest\n", "INFO loading weights\n" * 50, "\x00\xff" * 500])
    def test_is_unproven_where_the_log_says_nothing(self, text: str | None) -> None:
        found = run((4, text))
        assert states(found) == {4: "unproven"} and found.verdict
        assert found.verdict.verdict == "inconclusive" and "image-not-proven" in found.verdict.reasons

    def test_of_a_fleet_without_such_logs_is_believed_where_its_layout_says_so(self) -> None:
        held = [result(4, 4, image=IMAGE)]
        layout = Layout(artifacts=replace(NAMES, proof="harness"))
        found = look(Forge(held), [job(4)], of=facts(), stage="sweep", layout=layout)
        assert states(found) == {4: "claimed"} and not any("image" in reason for reason in found.verdict.reasons)


class TestASweepOfWhichOnePointIsNotJudged:
    """A saturated point, or one without a baseline, is in no pool; that the old image ran there counts all the same."""

    def over(self, text: str | None, *, published: tuple[int, ...] = (1, 2, 4), queue: float = 1.0) -> Judged:
        of = facts(*published)
        ttft = tuple(Row(point=Cell(recipe="r", concurrency=conc), metric="ttft", stat="p50", value=queue if conc == 4 else 0.1,
                         unit="s") for conc in published)
        plan = of.subject.plan
        rows = tuple(replace(row, run=number) for number in (1, 2, 3) for row in (*plan.baseline.rows, *ttft))
        of = replace(of, subject=replace(of.subject, plan=replace(plan, baseline=replace(plan.baseline, rows=rows))))
        return run((1, says("0.29.0")), (2, says("0.29.0")), (4, text), of=of)

    def test_is_open_where_the_old_image_ran_at_its_saturated_point(self) -> None:
        found = self.over(says("0.27.1"))
        assert found.verdict.verdict == "inconclusive" and "image-not-proven:vLLM 0.27.1" in found.verdict.reasons

    def test_is_open_where_nobody_says_what_ran_there(self) -> None:
        assert self.over("").verdict.verdict == "inconclusive" and "image-not-proven" in self.over("").verdict.reasons

    def test_is_open_where_the_point_has_no_baseline(self) -> None:
        found = self.over(says("0.27.1"), published=(1, 2))
        assert found.verdict.verdict == "inconclusive" and "image-not-proven:vLLM 0.27.1" in found.verdict.reasons

    def test_is_judged_where_the_candidate_ran_there(self) -> None:
        assert not any("image" in reason for reason in self.over(says("0.29.0")).verdict.reasons)


class TestAnEvalsServer:
    def test_is_another_than_that_of_the_throughput_beside_it(self) -> None:
        jobs = [job(1), job(2, role="eval")]
        held = [result(1, 4, image=IMAGE), log(3, 4, says("0.29.0")), score(2), log(4, name="eval_server_logs_conc4", text=says("0.27.1"))]
        found = judged(jobs, *held, of=facts(), stage="sweep")
        assert {(one.role, one.state) for one in found.proofs} == {("throughput", "proven"), ("eval", "stale")}
        assert "image-not-proven:vLLM 0.27.1" in found.verdict.reasons
        assert not [one for one in found.verdict.findings if one.metric == "eval"]


class TestASmoke:
    def test_that_met_a_stale_cache_breaks_its_gate(self) -> None:
        found = run((4, says("0.27.1", SQUASH)), stage="smoke")
        assert found.gates == ("image:c4",)

    def test_that_only_says_nothing_breaks_none(self) -> None:
        assert run((4, ""), stage="smoke").gates == ()

    def test_that_failed_under_another_image_says_so_too(self) -> None:
        text = says("0.27.1") + "ERROR 09-10 07:00:00 [core.py:1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
        found = judged([job(conclusion="failure")], log(text=text), of=facts(), stage="smoke")
        assert found.failures[0].triage.class_ == "oom" and found.gates == ("image:c4",)

    def test_of_several_nodes_names_the_one_that_ran_something_else(self) -> None:
        files = {"n1_agg_w0.out": says("0.29.0"), "n2_agg_w1.out": says("0.27.1")}
        held = [result(1, 4, image=IMAGE), (artifact(3, "server_logs_r_conc4_n0"), zipped(files))]
        (proof,) = judged([job(1)], *held, of=facts(), stage="smoke").proofs
        assert (proof.state, proof.nodes, proof.of) == ("conflicting", ("n2",), 2)

    def test_in_archives_within_the_artifact_is_heard_as_well(self) -> None:
        held = [result(1, 4, image=IMAGE), (artifact(3, "server_logs_r_conc4_n0"), zipped({"a.zip": zipped({"w0.log": says("0.29.0")})}))]
        assert judged([job(1)], *held, of=facts(), stage="smoke").proofs[0].state == "proven"


class TestASecondAttempt:
    def test_is_proven_by_its_own_log_and_not_by_the_firsts(self) -> None:
        jobs = [job(1, conclusion="failure"), job(2, attempt=2, begins=70, ends=130)]
        held = [log(3, text=says("0.27.1")), result(4, image=IMAGE, minutes=130), log(5, text=says("0.29.0"), minutes=130)]
        found = judged(jobs, *held, of=facts(), stage="smoke")
        assert [(one.state, one.ran) for one in found.proofs] == [("proven", "vLLM 0.29.0")]

    def test_can_be_kept_in_the_ledger(self) -> None:
        found = run((4, says("0.27.1", SQUASH)))
        assert msgspec.json.decode(msgspec.json.encode(found), type=Judged) == found
