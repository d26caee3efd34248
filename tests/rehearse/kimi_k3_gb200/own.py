"""What the bot's own policy makes of the same bump: a smoke in stages, the sweep's own gsm8k gate first.

SEED: the frontend's error, and that the repaired frontend cuts about a sixth of the answers, of which the flexible filter
takes more than half for right. INVENTED: both runs, for nobody asked 100 questions first: their ids, times, questions and
answers, and how many of the 100 were cut.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.rehearse.kimi_k3_gb200 import evals, logs, setting
from tests.rehearse.kimi_k3_gb200.jobs import Job, evaluation, result, run, scored
from tests.rehearse.kimi_k3_gb200.numbers import Eval, at

FIRST, SECOND = 34446590822, 34448317406  # INVENTED
SAMPLED = Eval(conc=16, strict=78, flexible=88, asked=100, cut=18, wrong=4)  # INVENTED
HEALTHY = 13  # minutes until the server of a sampled eval answers, INVENTED
SLOTS = {FIRST: 1, SECOND: 3}
OWN = """  own:
    # bumpbot's own policy in the same world: a smoke in stages, a sample of the sweep's own eval first. Both faults stand in
    # files too; the checks that read these are off, for this story is of what a run costs that finds them.
    policy:
      checks: {imports: false, contains: false}
      smoke: {stages: [evals, lowest, highest]}
      repairs: {max: 5}
      infra_retries: 2
      # Repair 1 fits behind one failed stage: with the smoke and the sweep after it 202.7. Repair 2 behind two does not.
      caps: {gpu_hours: 212}
      style: full
    until: 2026-09-10T16:00:00Z
    expect: {outcome: budget-exhausted, cause: budget, repairs_used: 1}
"""


def write() -> str:
    """The variant `own` of kimi-k3-gb200."""
    return OWN + setting.asked() + "    runs:\n" + runs()


def runs() -> str:
    """The first stage of the initial attempt and of repair 1, as lines of scenario.yaml."""
    return "".join(
        run(number, "e2e-tests.yml", "workflow_dispatch", None, [jobs]) for number, jobs in ((FIRST, first()), (SECOND, second()))
    )


def first() -> list[Job]:
    """The eval's frontend cannot import its chat processor, as in the record: 6.8 GPU-hours, and none for a benchmark."""
    return [
        Job(name="get-jobs", minutes=1.5),
        Job(
            name=evaluation(16),
            at=2,
            minutes=25.4,
            runner=f"gb200-nv_{SLOTS[FIRST]}",
            fails=True,
            uploads=(f"eval_multinode_server_logs_{_name(FIRST)}",),
            log="no results*.json",
        ),
    ]


def second() -> list[Job]:
    """It waits for a runner as in the record, then 100 questions are enough to see that answers are cut."""
    return [
        Job(name="get-jobs", minutes=1.5),
        Job(
            name=evaluation(16),
            at=18,
            minutes=21.6,
            runner=f"gb200-nv_{SLOTS[SECOND]}",
            fails=True,
            uploads=(f"eval_{_name(SECOND)}", f"eval_multinode_server_logs_{_name(SECOND)}"),
            log=scored(SAMPLED),
        ),
    ]


def artifacts(folder: Path) -> None:
    """What both runs upload, below the scenario's folder. Each cut answer is a call that the frontend dropped."""
    logs.failed_start(
        folder / f"artifacts/{FIRST}/1",
        f"eval_multinode_server_logs_{_name(FIRST)}",
        5,
        at(6, 43, 12),
        at(7, 5, 52.904),
    )
    into, stopped = folder / f"artifacts/{SECOND}/1", at(7, 46, 31)
    evals.write(into, _name(SECOND), SAMPLED, stopped - timedelta(seconds=48.6), samples=True, published=False)
    logs.served(
        into,
        f"eval_multinode_server_logs_{_name(SECOND)}",
        13,
        at(7, 25, 41),
        stopped,
        warnings=SAMPLED.cut,
        requests=SAMPLED.cut,
        title=f"eval finished: {SAMPLED.asked} requests",
        healthy=HEALTHY,
    )


def _name(number: int) -> str:
    return result(16, SLOTS[number], published=False)
