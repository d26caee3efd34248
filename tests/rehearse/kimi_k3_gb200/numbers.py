
"""The numbers of the scenario kimi-k3-gb200, and where each comes from.

SEED: printed in the report of the real bump (pull request 2956 of SemiAnalysisAI/InferenceX, 2026-09-10), to the digits
it prints; more digits are invented so that the printed ones, and the printed deltas, come out by rounding.
INVENTED: everything else (distributions, texts, times of single requests, shas of commits that the report does not name).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

RECIPE = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"  # SEED
OLD = "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef"  # SEED
NEW_TAG = "vllm/vllm-openai:nightly-dev-arm64-cu13-3696c77"  # SEED
NEW_DIGEST = "sha256:42e17a3c600c043c45e0623e4568cd4d5903dd76525a85f5df6ca6fa65358b12"  # SEED
NEW = f"{NEW_TAG}@{NEW_DIGEST}"
# SEED gives the ends (be4945a0...73f60d); the middle is INVENTED.
OLD_DIGEST = "sha256:be4945a0" + hashlib.sha256(b"kimi-k3-gb200 old digest").hexdigest()[:50] + "73f60d"
FINGERPRINT = (
    "a295bb2c321dd5df3fdb8c66ab5832bc7a22e170f57f03ee1652deac41317160"  # SEED (first ten digits), the rest computed
)
HEAD = "349aa162879bdae1c39ca71282f5f555c8aa2946"  # SEED
PRODUCER, PRODUCER_ATTEMPT, PRODUCER_PULL, DAY = 32424103771, 2, 2700, "2026-08-21"  # SEED
INITIAL, REPAIRED, SYNCHRONIZED, SWEEP, UNLABELED = (
    34446587513,
    34449828534,
    34461597759,
    34461599480,
    34473834826,
)  # SEED
NODES, GPUS = 4, 16  # SEED
ANSWERS = 1319  # SEED: gsm8k's test split


@dataclass(frozen=True, kw_only=True)
class Point:
    """One measured point. Rates in tokens per second, times in seconds; itl gives interactivity as 1/itl."""

    conc: int
    tput: float
    output: float
    ttft: float
    itl: float
    profiled: int
    duration: float = 3594.0
    warmup: int = 0
    warmup_invalid: int = 0
    profiling_invalid: int = 0

    @property
    def input(self) -> float:
        """Total minus output: tput is total per GPU over all 16."""
        return self.tput * GPUS - self.output

    @property
    def total(self) -> int:
        return self.profiled + self.profiling_invalid + self.warmup


# SEED: columns to the printed digits; profiled requests of c1..c8; c1's invalid 1 of 233 and warm-up 10 of 11.
# INVENTED: profiled requests of c16, which the report does not print.
BASELINE = (
    Point(
        conc=1,
        tput=917.3021,
        output=112.2619,
        ttft=2.1583,
        itl=0.0044810,
        profiled=232,
        warmup=11,
        warmup_invalid=10,
        profiling_invalid=1,
    ),
    Point(conc=2, tput=973.9583, output=131.3791, ttft=2.0781, itl=0.0045595, profiled=372),
    Point(conc=4, tput=1489.0468, output=164.4912, ttft=2.0698, itl=0.0047890, profiled=507),
    Point(conc=8, tput=2161.7822, output=220.2284, ttft=15.3688, itl=0.0050900, profiled=840),
    Point(conc=16, tput=2300.0613, output=236.1794, ttft=48.4652, itl=0.0051492, profiled=889),
)
# SEED: the smoke's table; 3594 s of profiling; 7 invalid of 241 profiled, 10 of 11 in warm-up.
SMOKE = Point(
    conc=1,
    tput=955.5078,
    output=117.3314,
    ttft=1.5868,
    itl=0.0043345,
    profiled=234,
    duration=3594.0,
    warmup=11,
    warmup_invalid=10,
    profiling_invalid=7,
)
# SEED: the interim table and its accounting. Warm-up totals are what is left of the printed totals. The report's words
# for c8, "68/1000 (warmup 90)", fit no reading in which 900 were profiled and none of them was invalid; kept are 68 of
# 1000 invalid, 900 profiled, none of these invalid, so 100 warm-up requests of which 68 were invalid.
FULL = (
    Point(
        conc=1,
        tput=970.9582,
        output=117.4273,
        ttft=1.5886,
        itl=0.0042806,
        profiled=238,
        duration=3596.2,
        warmup=14,
        warmup_invalid=11,
    ),
    Point(
        conc=2,
        tput=1036.2217,
        output=142.9136,
        ttft=1.3448,
        itl=0.0043392,
        profiled=390,
        duration=3597.5,
        warmup=27,
        warmup_invalid=22,
        profiling_invalid=2,
    ),
    Point(
        conc=4,
        tput=1553.7139,
        output=170.4208,
        ttft=1.4079,
        itl=0.0044390,
        profiled=517,
        duration=3595.8,
        warmup=51,
        warmup_invalid=44,
    ),
    Point(
        conc=8,
        tput=2320.8146,
        output=244.6713,
        ttft=7.7304,
        itl=0.0047818,
        profiled=900,
        duration=3598.1,
        warmup=100,
        warmup_invalid=68,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Eval:
    """One gsm8k result: strict and flexible correct answers of those asked; how many were cut and how many wrong."""

    conc: int
    strict: int
    flexible: int
    asked: int = ANSWERS
    cut: int = 0
    wrong: int = 0


# SEED: the rates of 1319, to four digits; of c16 the cut and wrong answers and the median length of them all.
CUT, WRONG, MEDIAN, BASELINE_MEDIAN = 219, 29, 258, 293
BASELINE_EVAL = Eval(conc=16, strict=1283, flexible=1282)  # 0.9727, 0.9719; 36 wrong, none without a final line
EVALS = (
    Eval(conc=2, strict=1077, flexible=1199),
    Eval(conc=4, strict=1054, flexible=1191),
    Eval(conc=16, strict=1071, flexible=1196, cut=CUT, wrong=WRONG),
)


def row(image: str, conc: int) -> dict[str, Any]:
    """The generated matrix row of the recipe at one concurrency."""
    side = {"tp": 16, "dcp-size": 16, "ep": 1, "dp-attn": False, "pp": 1, "pcp-size": 1}
    return {
        "image": image,
        "model": "moonshotai/Kimi-K3",
        "model-prefix": "kimik3",
        "precision": "fp4",
        "framework": "dynamo-vllm",
        "runner": "cluster:gb200-nv",
        "spec-decoding": "mtp",
        "prefill": {
            "num-worker": 1,
            **side,
            "additional-settings": [
                "SYNTHETIC_ACCEPTANCE=true",
                "SYNTHETIC_ACCEPTANCE_LENGTH=3.36",
                "CONFIG_FILE=recipes/vllm/kimi-k3/agentic/agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml",
            ],
        },
        "decode": {"num-worker": 0, **side},
        "conc": [conc],
        "kv-offloading": "dram",
        "total-cpu-dram-gb": 96,
        "duration": 3600,
        "exp-name": f"kimik3_p1x16_d0x16_conc{conc}_kvdram-mooncake",
        "disagg": False,
        "scenario-type": "agentic-coding",
        "kv-offload-backend": {"name": "mooncake", "version": "0.3.12.post1"},
    }


def fingerprint(image: str) -> str:
    """SHA-256 of the row without what differs between points: the guest's own formula."""
    kept = {key: value for key, value in row(image, 1).items() if key not in ("conc", "exp-name", "recipe-fingerprint")}
    return hashlib.sha256(
        json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    ).hexdigest()


def result_name(conc: int, runner: str, *, published: bool) -> str:
    """RESULT_FILENAME of the guest's multi-node template; runs of its sweep carry the fingerprint, dispatches do not."""
    side = "tp16-pp1-dcp16-pcp1-ep1-dpfalse"
    tail = f"_recipe-{fingerprint(NEW)[:16]}" if published else ""
    return (
        f"kimik3_p1x16_d0x16_conc{conc}_kvdram-mooncake_fp4_dynamo-vllm_prefill-{side}-nw1_decode-{side}-nw0"
        f"_disagg-false_spec-mtp_conc{conc}_{runner}{tail}"
    )


def at(hour: int, minute: int, second: float = 0.0) -> datetime:
    """A moment of the day of the bump."""
    whole = int(second)
    return datetime(2026, 9, 10, hour, minute, whole, round((second - whole) * 1_000_000), tzinfo=UTC)
