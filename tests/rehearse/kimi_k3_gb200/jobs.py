"""Jobs of the guest's workflows as lines of scenario.yaml: names as GitHub shows them, artifacts as the guest names them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.rehearse.kimi_k3_gb200 import numbers
from tests.rehearse.kimi_k3_gb200.numbers import Eval

POOL = "cluster:gb200-nv"


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


def scored(score: Eval) -> str:
    """What the job's last step prints of an eval: each score against the threshold."""
    shares = (("strict-match", score.strict / score.asked), ("flexible-extract", score.flexible / score.asked))
    return "\n".join(
        f"{'PASS' if share >= 0.9 else 'FAIL'}: gsm8k exact_match,{kind} = {share:.4f} ({'>=' if share >= 0.9 else '<'} 0.9)"
        for kind, share in shares
    )


def run(number: int, workflow: str, event: str, action: str | None, attempts: list[list[Job]]) -> str:
    """One run of a story, with the jobs of each of its attempts."""
    text = f"      - id: {number}\n        workflow: {workflow}\n        event: {event}\n" + (
        f"        action: {action}\n" if action else ""
    )
    return (
        text
        + "        attempts:\n"
        + "".join("          - jobs:\n" + "".join(job.yaml() for job in jobs) for jobs in attempts)
    )
