
"""scenario.yaml: the world around the bump and what happened in it, as YAML with its reasons."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.rehearse.kimi_k3_gb200 import numbers
from tests.rehearse.kimi_k3_gb200.numbers import INITIAL, NEW, REPAIRED, SWEEP, SYNCHRONIZED, UNLABELED

POOL = "cluster:gb200-nv"
HEAD = """version: 1
name: kimi-k3-gb200
about: >-
  The bump of Kimi-K3 on GB200 of 2026-09-10: the frontend cannot import its chat processor from the new image, the repair
  that removes it passes a small smoke, and the full sweep fails its eval gate because answers are cut.
attribution: >-
  After the public record of pull request 2956 of SemiAnalysisAI/InferenceX. Files of repo/ are from that repository,
  Apache-2.0, see repo/NOTICE. Numbers are those of the record to its printed digits; more digits, log lines, requests and
  questions are invented (tests/rehearse/make_kimi_k3_gb200.py says which).
clock: {start: 2026-09-10T06:35:00Z}
repository: {owner: SemiAnalysisAI, name: InferenceX, branch: main, first_number: 2956}
layout: inferencex
recipe: %(recipe)s
# Real digests are declared: bytes that we could make up do not have them.
registry: {declared_digests: true}
accounts:
  bot: bumpbot[bot]
  default: github-actions[bot]
  people:
    - {login: maintainer-a, name: Maintainer A, email: maintainer-a@example.com, permission: admin}
    - {login: engineer-b, name: Engineer B, email: engineer-b@example.com, permission: write}
    - {login: engineer-c, name: Engineer C, email: engineer-c@example.com, permission: write}
    - {login: passer-by, name: Passer By, email: passer-by@example.com, permission: read}
workflows:
  - file: e2e-tests.yml
    name: e2e Test
    run_name: "e2e Test - {inputs.test-name}"
    triggers:
      workflow_dispatch:
        inputs: [generate-cli-command, test-name, ref, duration-override, require-power, power-producer-sha, agentx-fast, eval-limit,
                 swebench-gen-mode, changelog-base-ref, changelog-head-ref, trim-conc, all-evals, evals-only, fail-fast, pr-labels-json,
                 klaud-run]
  - file: run-sweep.yml
    name: Run Sweep
    run_name: "Run Sweep - {title}"
    triggers:
      push: {branches: [main], paths: [perf-changelog.yaml]}
      pull_request: {types: [ready_for_review, synchronize, labeled, unlabeled], branches: [main], paths: [perf-changelog.yaml]}
    labels: [sweep-enabled, full-sweep-enabled, non-canary-full-sweep-enabled, full-sweep-fail-fast, full-sweep-fail-fast-no-canary]
    modifiers: [all-evals, evals-only, agentx-fast, skip_queue, ci-patchwork, engine-patch, ci-patchwork-waived, ci-checklist-complete]
    # Drafts sweep here since September.
    drafts: true
    group: "sweep-{number}-active"
    cancel_in_progress: true
pools:
  # Four registered runners, each one allocation of four nodes: a fifth job waits.
  - {label: "cluster:gb200-nv", capacity: 4}
# The wake workflow's cron, at minutes 5, 20, 35 and 50.
schedule: {first: 2026-09-10T06:35:00Z, minutes: 15}
variants:
  as-it-happened:
    # The policy that bot had: no look at imports before a GPU was asked for, a smoke that ran a two-case eval and took its
    # warnings as notes, and a session whose rest did not pay for a second smoke and a second sweep.
    policy:
      checks: {imports: false, contains: false}
      smoke: {arguments: [--trim-conc], evals: as-generated, warnings: note}
      repairs: {max: 5}
      infra_retries: 2
      caps: {gpu_hours: 320}
      style: full
    until: 2026-09-10T16:00:00Z
    expect: {outcome: failed, cause: gate, repairs_used: 1}
    events:
      - {do: dispatch, at: 2026-09-10T06:40:00Z, by: maintainer-a, recipe: %(recipe)s,
         image: "%(image)s"}
"""
PEOPLE = (
    (
        "08:10:00",
        "engineer-b",
        "[GB300] Kimi-K3 DSpark: refresh with lower stream interval (#2951)",
        2951,
        "Refresh with lower stream interval to collect correct client metrics.",
    ),
    (
        "08:47:00",
        "engineer-c",
        "[GB200] Kimi-K3: bump the router pin (#2954)",
        2954,
        "Move the router of the TP16, TEP16 and DEP16 arms to the version that the recipes install.",
    ),
)
PEOPLE_KEYS = {
    2951: "kimik3-fp4-gb300-dynamo-vllm-agentic-dspark-mooncake-dcp8-agg",
    2954: "kimik3-fp4-gb200-dynamo-vllm-agentic",
}


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job line: `at` minutes into the attempt, `minutes` long; artifacts it uploads, a line of log, its end."""

    name: str
    minutes: float
    at: float = 0.0
    runner: str = ""
    uploads: tuple[str, ...] = ()
    fails: bool = False
    log: str = ""
    always: bool = False

    def yaml(self) -> str:
        told = {"name": json.dumps(self.name), "minutes": self.minutes}
        if self.runner:
            told |= {"pool": json.dumps(POOL), "gpus": numbers.GPUS, "runner": self.runner}
        if self.at:
            told["after"] = self.at
        if self.fails:
            told["conclusion"] = "failure"
        if self.always:
            told["always"] = "true"
        if self.log:
            told["log"] = json.dumps(self.log)
        if self.uploads:
            told["artifacts"] = "".join(f"\n                  - {name}" for name in self.uploads)
        lines = [
            f"{key}: {value}" if not str(value).startswith("\n") else f"{key}:{value}" for key, value in told.items()
        ]
        return "              - " + "\n                ".join(lines) + "\n"


def bench(conc: int) -> str:
    """The name GitHub shows for a benchmark job, double spaces of the guest's template included."""
    return f"multi-node agentic / / p6.750 | kimik3 fp4 {POOL} dynamo-vllm (TP16/DCP16)  mtp dram KV offload mooncake c{conc}"


def evaluation(conc: int) -> str:
    return f"multi-node agentic eval / / p6.750 | kimik3 fp4 {POOL} dynamo-vllm (TP16/DCP16)  mtp dram KV offload mooncake c{conc} | eval-only"


def result(conc: int, slot: int, *, published: bool) -> str:
    return numbers.result_name(conc, f"gb200-nv_{slot}", published=published)


def write() -> str:
    text = HEAD % {"recipe": numbers.RECIPE, "image": NEW}
    for when, who, message, number, line in PEOPLE:
        text += _entry(when, who, message, number, line)
    text += "    runs:\n"
    text += _run(INITIAL, "e2e-tests.yml", "workflow_dispatch", None, [initial()])
    text += _run(REPAIRED, "e2e-tests.yml", "workflow_dispatch", None, list(repaired()))
    text += _run(SYNCHRONIZED, "run-sweep.yml", "pull_request", "synchronize", [sweep(uploads=False)])
    text += _run(SWEEP, "run-sweep.yml", "pull_request", "labeled", [sweep(uploads=True)])
    return text + _run(
        UNLABELED, "run-sweep.yml", "pull_request", "unlabeled", [[Job(name="reuse-sweep-gate", minutes=0.2)]]
    )


def _entry(when: str, who: str, message: str, number: int, line: str) -> str:
    """A changelog entry that somebody lands on main while the second smoke runs: the next append conflicts with it."""
    return (
        f"      - do: push\n        at: 2026-09-10T{when}Z\n        by: {who}\n        message: {json.dumps(message)}\n"
        "        append:\n          perf-changelog.yaml: |\n\n"
        f"            - config-keys:\n                - {PEOPLE_KEYS[number]}\n              scenario-type:\n                - agentic-coding\n"
        f"              description:\n                - {json.dumps(line)}\n"
        f"              pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/{number}\n"
    )


def _run(number: int, workflow: str, event: str, action: str | None, attempts: list[list[Job]]) -> str:
    text = f"      - id: {number}\n        workflow: {workflow}\n        event: {event}\n" + (
        f"        action: {action}\n" if action else ""
    )
    return (
        text
        + "        attempts:\n"
        + "".join("          - jobs:\n" + "".join(job.yaml() for job in jobs) for jobs in attempts)
    )


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
    lines = "\n".join(
        f"{'PASS' if hit / numbers.ANSWERS >= 0.9 else 'FAIL'}: gsm8k exact_match,{kind} = {hit / numbers.ANSWERS:.4f} "
        f"({'>=' if hit / numbers.ANSWERS >= 0.9 else '<'} 0.9)"
        for kind, hit in (("strict-match", score.strict), ("flexible-extract", score.flexible))
    )
    names = (f"eval_{name}", f"eval_multinode_server_logs_{name}") if uploads else ()
    return Job(
        name=evaluation(conc), at=3.5, minutes=took, runner=f"gb200-nv_{slot}", fails=True, uploads=names, log=lines
    )
