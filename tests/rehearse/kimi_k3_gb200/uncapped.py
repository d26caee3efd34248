"""kimi-k3-gb200-uncapped: the same bump where repair 2 can be paid. From that repair on everything here is INVENTED.

Rates and times are near the record's, so that the comparison reads like one; nobody measured them. Requests are kept for
c1 alone: with the pin of repair 2 none fails, so of the other points the aggregate tells as much (all answered, none
dropped) in a hundredth of the bytes. For the same reason answers are kept for the sampled eval and not for the sweep's.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from tests.rehearse.kimi_k3_gb200 import evals, logs, numbers, own, requests, setting
from tests.rehearse.kimi_k3_gb200.history import SCOPED
from tests.rehearse.kimi_k3_gb200.jobs import Job, bench, evaluation, result, run, scored
from tests.rehearse.kimi_k3_gb200.numbers import Eval, Point, at

SAMPLE, LOWEST, HIGHEST, SYNCHRONIZED, SWEEP, UNLABELED = (
    34450120935,
    34452218871,
    34457702160,
    34464391027,
    34464393514,
    34483117608,
)
SAMPLED = Eval(conc=16, strict=98, flexible=98, asked=100, wrong=2)
SMOKED = {
    1: Point(conc=1, tput=958.8316, output=117.6021, ttft=1.5934, itl=0.0043206, profiled=236, warmup=11),
    16: Point(conc=16, tput=2468.1107, output=253.9082, ttft=31.6047, itl=0.0049037, profiled=954, duration=3597.4, warmup=180),
}
SWEPT = (
    Point(conc=1, tput=966.2148, output=116.9873, ttft=1.5961, itl=0.0042921, profiled=237, duration=3595.1, warmup=14),
    Point(conc=2, tput=1031.5806, output=141.7724, ttft=1.3692, itl=0.0043507, profiled=388, duration=3596.8, warmup=27),
    Point(conc=4, tput=1549.0352, output=169.8467, ttft=1.4215, itl=0.0044531, profiled=515, duration=3596.3, warmup=51),
    Point(conc=8, tput=2311.4410, output=243.5502, ttft=7.8049, itl=0.0047992, profiled=897, duration=3597.9, warmup=100),
    Point(conc=16, tput=2472.6493, output=254.4130, ttft=31.2876, itl=0.0048955, profiled=957, duration=3598.2, warmup=180),
)
SCORES = (
    Eval(conc=2, strict=1284, flexible=1283),
    Eval(conc=4, strict=1276, flexible=1277),
    Eval(conc=16, strict=1280, flexible=1280),
    Eval(conc=1, strict=1281, flexible=1282),
    Eval(conc=8, strict=1281, flexible=1281),
)
# Minutes a job holds its nodes, the runner that is free when its turn comes, and when it then starts.
POINTS = {
    1: (110.4, 0, at(11, 35, 12)),
    2: (111.5, 1, at(11, 35, 12)),
    4: (113.1, 2, at(11, 35, 12)),
    8: (114.2, 3, at(11, 35, 12)),
    16: (116.9, 0, at(13, 25, 36)),
}
EVALS = {
    2: (14.1, 1, at(13, 26, 42)),
    4: (14.6, 2, at(13, 28, 18)),
    16: (13.8, 3, at(13, 29, 24)),
    1: (29.3, 1, at(13, 40, 48)),
    8: (16.2, 2, at(13, 42, 54)),
}
ABOUT = """  The bump of Kimi-K3 on GB200 under the bot's own policy, where repair 2 can be paid: Dynamo moves to the first commit that
  parses tool calls only for requests that declare tools, the smoke passes stage by stage, and the sweep validates the image.
  From repair 2 on it is invented, its sweep above all: the real bump ended before it, and nobody has run this.
"""
ATTRIBUTION = """  After the public record of pull request 2956 of SemiAnalysisAI/InferenceX up to the two faults that it found; what answers
  them here, every run, number, log line and answer of it, is invented (tests/rehearse/kimi_k3_gb200 says how). The guest's
  files, images, baseline and upstream are those of kimi-k3-gb200.
"""
OWN = """  own:
    policy:
      # Off as in kimi-k3-gb200: this story is of what runs find.
      checks: {imports: false, contains: false}
      smoke: {stages: [evals, lowest, highest]}
      repairs: {max: 5}
      infra_retries: 2
      # More than anything here costs: two smokes that end at once, one whole smoke, one sweep.
      caps: {gpu_hours: 640}
      style: full
    until: 2026-09-10T20:00:00Z
    expect: {outcome: validated, cause: verdict, repairs_used: 2}
"""


def write() -> str:
    """scenario.yaml."""
    text = setting.world("kimi-k3-gb200-uncapped", ABOUT, ATTRIBUTION, shares="kimi-k3-gb200") + OWN
    text += setting.asked() + setting.pushed() + "    runs:\n" + own.runs()
    for number, job in ((SAMPLE, _sampled()), (LOWEST, _smoked(1)), (HIGHEST, _smoked(16))):
        text += run(number, "e2e-tests.yml", "workflow_dispatch", None, [[Job(name="get-jobs", minutes=1.5), job]])
    text += run(SYNCHRONIZED, "run-sweep.yml", "pull_request", "synchronize", [_sweep(uploads=False)])
    text += run(SWEEP, "run-sweep.yml", "pull_request", "labeled", [_sweep(uploads=True)])
    gate = [Job(name="reuse-sweep-gate", minutes=0.2)]
    return text + run(UNLABELED, "run-sweep.yml", "pull_request", "unlabeled", [gate])


def artifacts(folder: Path) -> None:
    """What every run uploads, below the scenario's folder."""
    own.artifacts(folder)
    _eval(folder / f"artifacts/{SAMPLE}/1", SAMPLED, 0, (at(7, 49, 40), at(8, 9, 50)), published=False)
    _point(folder / f"artifacts/{LOWEST}/1", SMOKED[1], 1, (at(8, 14, 20), at(9, 48, 40)), published=False)
    _point(folder / f"artifacts/{HIGHEST}/1", SMOKED[16], 2, (at(9, 53, 20), at(11, 30, 30)), published=False)
    into = folder / f"artifacts/{SWEEP}/1"
    for point in SWEPT:
        took, slot, began = POINTS[point.conc]
        _point(into, point, slot, _inside(began, took), published=True)
    for score in SCORES:
        took, slot, began = EVALS[score.conc]
        _eval(into, score, slot, _inside(began, took), published=True)


def _inside(began: datetime, minutes: float) -> tuple[datetime, datetime]:
    """First and last moment of a job's logs: it is set up before them and uploads them after."""
    return began + timedelta(seconds=20), began + timedelta(minutes=minutes, seconds=-70)


def _sampled() -> Job:
    name = result(16, 0, published=False)
    return Job(
        name=evaluation(16),
        at=2.5,
        minutes=21.2,
        runner="gb200-nv_0",
        uploads=(f"eval_{name}", f"eval_multinode_server_logs_{name}"),
        log=scored(SAMPLED),
    )


def _smoked(conc: int) -> Job:
    took, slot = {1: (95.8, 1), 16: (98.6, 2)}[conc]
    return Job(name=bench(conc), at=3, minutes=took, runner=f"gb200-nv_{slot}", uploads=_uploads(conc, slot, published=False))


def _sweep(*, uploads: bool) -> list[Job]:
    """Ten jobs for four runners, in the order in which the guest's matrix queues them."""
    jobs = [Job(name="check-changelog", minutes=0.6, always=True), Job(name="setup", minutes=2.2)]
    for conc, (took, slot, _) in POINTS.items():
        names = _uploads(conc, slot, published=True) if uploads else ()
        jobs.append(Job(name=bench(conc), at=3.5, minutes=took, runner=f"gb200-nv_{slot}", uploads=names))
    for score in SCORES:
        took, slot, _ = EVALS[score.conc]
        name = result(score.conc, slot, published=True)
        names = (f"eval_{name}", f"eval_multinode_server_logs_{name}") if uploads else ()
        jobs.append(
            Job(
                name=evaluation(score.conc),
                at=3.5,
                minutes=took,
                runner=f"gb200-nv_{slot}",
                uploads=names,
                log=scored(score),
            )
        )
    return jobs


def _uploads(conc: int, slot: int, *, published: bool) -> tuple[str, ...]:
    name = result(conc, slot, published=published)
    kinds = ("bmk_agentic", *(("agentic",) if conc == 1 else ()), "multinode_server_logs")
    return tuple(f"{kind}_{name}" for kind in kinds)


def _point(into: Path, point: Point, slot: int, span: tuple[datetime, datetime], *, published: bool) -> None:
    """A benchmark job's artifacts: it measures for an hour that ends a little before its logs do."""
    name, (began, stopped) = result(point.conc, slot, published=published), span
    start = stopped - timedelta(seconds=point.duration + 3 * point.warmup + 240)
    requests.write(into, name, point, start, published=published, exported=point.conc == 1)
    title = f"profiling finished: {point.profiled} requests in {point.duration:.0f} s"
    healthy = int((start - began).total_seconds() // 60) - 1
    logs.served(
        into,
        f"multinode_server_logs_{name}",
        1 + 4 * slot,
        began,
        stopped,
        warnings=0,
        requests=1,
        title=title,
        pin=SCOPED,
        healthy=healthy,
    )


def _eval(into: Path, score: Eval, slot: int, span: tuple[datetime, datetime], *, published: bool) -> None:
    """An eval job's artifacts. Of the sweep's the answers are left out: 1319 of them twice are more than all the rest."""
    name, (began, stopped) = result(score.conc, slot, published=published), span
    sampled = score.asked < numbers.ANSWERS
    evals.write(into, name, score, stopped - timedelta(seconds=41.3), samples=sampled, published=published)
    logs.served(
        into,
        f"eval_multinode_server_logs_{name}",
        1 + 4 * slot,
        began,
        stopped,
        warnings=0,
        requests=1,
        title=f"eval finished: {score.asked} requests",
        pin=SCOPED,
        healthy=own.HEALTHY if sampled else 6,
    )
