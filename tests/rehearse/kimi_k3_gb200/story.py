"""scenario.yaml of kimi-k3-gb200: the bump as it happened, run by run, and beside it what the bot's own policy makes of it."""

from __future__ import annotations

from tests.rehearse.kimi_k3_gb200 import numbers, own, setting
from tests.rehearse.kimi_k3_gb200.jobs import Job, bench, evaluation, result, run, scored
from tests.rehearse.kimi_k3_gb200.numbers import INITIAL, REPAIRED, SWEEP, SYNCHRONIZED, UNLABELED

ABOUT = """  The bump of Kimi-K3 on GB200 of 2026-09-10: the frontend cannot import its chat processor from the new image, the repair
  that removes it passes a small smoke, and the full sweep fails its eval gate because answers are cut.
  Beside it, as `own`, the same bump under the bot's own policy, whose two runs are invented.
"""
ATTRIBUTION = """  After the public record of pull request 2956 of SemiAnalysisAI/InferenceX. Files of repo/ are from that repository,
  Apache-2.0, see repo/NOTICE. Numbers are those of the record to its printed digits; more digits, log lines, requests and
  questions are invented (tests/rehearse/make_kimi_k3_gb200.py says which).
"""
PAST = """  as-it-happened:
    # The policy that bot had: no look at imports before a GPU was asked for, a smoke that ran a two-case eval and took its
    # warnings as notes, and a session whose rest did not pay for a second smoke and a second sweep.
    policy:
      checks: {imports: false, contains: false}
      smoke: {stages: [trim], arguments: [--trim-conc], evals: as-generated, warnings: note}
      repairs: {max: 5}
      infra_retries: 2
      caps: {gpu_hours: 320}
      style: full
    until: 2026-09-10T16:00:00Z
    expect: {outcome: failed, cause: gate, repairs_used: 1}
"""


def write() -> str:
    text = setting.world("kimi-k3-gb200", ABOUT, ATTRIBUTION) + PAST + setting.asked() + setting.pushed()
    text += "    runs:\n"
    text += run(INITIAL, "e2e-tests.yml", "workflow_dispatch", None, [initial()])
    text += run(REPAIRED, "e2e-tests.yml", "workflow_dispatch", None, list(repaired()))
    text += run(SYNCHRONIZED, "run-sweep.yml", "pull_request", "synchronize", [sweep(uploads=False)])
    text += run(SWEEP, "run-sweep.yml", "pull_request", "labeled", [sweep(uploads=True)])
    text += run(UNLABELED, "run-sweep.yml", "pull_request", "unlabeled", [[Job(name="reuse-sweep-gate", minutes=0.2)]])
    return text + own.write()


def initial() -> list[Job]:
    """Both jobs fail after about 25 minutes: 13.5 GPU-hours."""
    logs = [f"multinode_server_logs_{result(1, slot, published=False)}" for slot in (0, 1)]
    return [
        Job(name="get-jobs", minutes=1.5),
        Job(
            name=bench(1),
            at=2,
            minutes=25.1,
            runner="gb200-nv_0",
            fails=True,
            uploads=(logs[0],),
            log="Run failed: no agentic results; expected 1, found 0",
        ),
        Job(
            name=evaluation(1),
            at=2,
            minutes=25.4,
            runner="gb200-nv_1",
            fails=True,
            uploads=(f"eval_{logs[1]}",),
            log="no results*.json",
        ),
    ]


def repaired() -> tuple[list[Job], list[Job]]:
    """The jobs wait 18 minutes for runners that other people's jobs hold, then run: teardown at 09:01. Attempt 2 is the eval."""
    name, again = result(1, 2, published=False), result(1, 3, published=False)
    first = [
        Job(name="get-jobs", minutes=1.5),
        Job(
            name=bench(1),
            at=18,
            minutes=96.4,
            runner="gb200-nv_2",
            uploads=(f"bmk_agentic_{name}", f"agentic_{name}", f"multinode_server_logs_{name}"),
        ),
        Job(
            name=evaluation(1),
            at=18,
            minutes=11.6,
            runner="gb200-nv_3",
            fails=True,
            uploads=(f"eval_multinode_server_logs_{again}",),
            log="no results*.json",
        ),
    ]
    name = result(1, 0, published=False)
    second = [
        Job(
            name=evaluation(1),
            at=1,
            minutes=23.2,
            runner="gb200-nv_0",
            uploads=(f"eval_{name}", f"eval_multinode_server_logs_{name}"),
            log="PASS: kimi_tool_call_schema score = 0.5",
        )
    ]
    return first, second


def sweep(*, uploads: bool) -> list[Job]:
    """Ten jobs for four runners, in the order in which the guest's matrix queues them; c16 would run on past the story."""
    slots = {1: 0, 2: 1, 4: 2, 8: 3}
    minutes = {1: 110.2, 2: 111.7, 4: 112.9, 8: 114.6, 16: 117.5}
    jobs = [Job(name="check-changelog", minutes=0.6, always=True), Job(name="setup", minutes=2.2)]
    for conc in (1, 2, 4, 8, 16):
        slot = slots.get(conc, 0)
        name = result(conc, slot, published=True)
        kinds = ("bmk_agentic", "agentic", "multinode_server_logs") if uploads and conc != 16 else ()
        jobs.append(
            Job(
                name=bench(conc),
                at=3.5,
                minutes=minutes[conc],
                runner=f"gb200-nv_{slot}",
                uploads=tuple(f"{kind}_{name}" for kind in kinds),
            )
        )
    scores = {score.conc: score for score in numbers.EVALS}
    for conc, slot, took in ((2, 1, 14.2), (4, 2, 14.8), (16, 3, 13.6), (1, 1, 29.0), (8, 2, 30.0)):
        jobs.append(_eval_job(conc, slot, took, scores.get(conc), uploads=uploads))
    return jobs


def _eval_job(conc: int, slot: int, took: float, score: numbers.Eval | None, *, uploads: bool) -> Job:
    if score is None:
        return Job(name=evaluation(conc), at=3.5, minutes=took, runner=f"gb200-nv_{slot}")
    name = result(conc, slot, published=True)
    names = (f"eval_{name}", f"eval_multinode_server_logs_{name}") if uploads else ()
    return Job(
        name=evaluation(conc),
        at=3.5,
        minutes=took,
        runner=f"gb200-nv_{slot}",
        fails=True,
        uploads=names,
        log=scored(score),
    )
