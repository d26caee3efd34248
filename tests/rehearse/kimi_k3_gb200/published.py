
"""registry.yaml and baseline.json: what the world tells about images and published points."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from tests.rehearse.kimi_k3_gb200 import numbers
from tests.rehearse.kimi_k3_gb200.history import sha
from tests.rehearse.kimi_k3_gb200.numbers import BASELINE, BASELINE_EVAL, DAY, Point

RUN_URL = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/{run}/attempts/{attempt}"
REGISTRY = """# What the registry holds. Digests are those of the real bump's report where it prints them; made-up bytes cannot have
# them, so they are declared (scenario.yaml: registry.declared_digests). The middle of the old digest is invented.
docker.io:
  vllm/vllm-openai:
    nightly-dev-arm64-cu13.0.1-75c2eef:
      created: 2026-08-17T05:12:44Z
      # Moved after the baseline of 2026-08-21 was measured: its bytes cannot be verified any more.
      pushed: 2026-09-03T03:41:09Z
      digest: {old}
      platforms: [linux/arm64]
      labels: {{VLLM_BUILD_PIPELINE: local}}
      env: &none {{CUDA_VERSION: 13.0.1, TORCH_CUDA_ARCH_LIST: "8.7 8.9 9.0 10.0+PTX"}}
    nightly-dev-arm64-cu13-3696c77:
      created: 2026-09-02T02:26:31Z
      pushed: 2026-09-02T04:03:57Z
      digest: {new}
      platforms: [linux/arm64]
      labels: {{VLLM_BUILD_PIPELINE: local}}
      env: {{CUDA_VERSION: 13.0.1, TORCH_CUDA_ARCH_LIST: "8.7 8.9 9.0 10.0+PTX"}}
    kimi-k3:
      created: 2026-07-28T19:00:12Z
      pushed: 2026-07-28T20:31:50Z
      platforms: [linux/amd64, linux/arm64]
      env: {{CUDA_VERSION: 13.0.1, TORCH_CUDA_ARCH_LIST: "8.0 8.9 9.0 10.0 12.0"}}
    v0.29.0:
      created: 2026-09-09T14:08:55Z
      pushed: 2026-09-09T15:22:18Z
      platforms: [linux/amd64, linux/arm64]
      labels: {{org.opencontainers.image.revision: {release}}}
      env: {{CUDA_VERSION: 13.0.1, TORCH_CUDA_ARCH_LIST: "8.0 8.9 9.0 10.0 12.0"}}
"""


def write(folder: Path) -> None:
    text = REGISTRY.replace("&none ", "").format(old=numbers.OLD_DIGEST, new=numbers.NEW_DIGEST, release=sha("98dff2a"))
    (folder / "registry.yaml").write_text(text)
    (folder / "baseline.json").write_text(json.dumps(baseline(), indent=1) + "\n")


def baseline() -> dict[str, Any]:
    rows = [
        _row(1000 + point.conc, point.conc, _metrics(point), numbers.OLD, numbers.FINGERPRINT) for point in BASELINE
    ]
    rows += [_decoy_nospec(), _decoy_older()]
    return {
        "models": {"Kimi-K3": ["kimik3"]},
        "benchmarks": rows,
        "evaluations": _evaluations(),
        "runs": [
            _run(numbers.PRODUCER, numbers.PRODUCER_ATTEMPT, numbers.HEAD, DAY),
            _run(33585180264, 1, sha("5c0e91f"), "2026-09-04"),
        ],
        "changelogs": [
            {
                "workflow_run_id": str(numbers.PRODUCER),
                "date": DAY,
                "base_ref": sha("d10c7a5"),
                "head_ref": numbers.HEAD,
                "config_keys": [numbers.RECIPE, "kimik3-fp4-gb200-dynamo-vllm-agentic-mooncake-dcp16-agg"],
                "description": "Update the GB200 Pareto.",
                "pr_link": f"https://github.com/SemiAnalysisAI/InferenceX/pull/{numbers.PRODUCER_PULL}",
            }
        ],
        "companions": [_companion()],
    }


def _row(
    number: int,
    conc: int,
    metrics: dict[str, float],
    image: str,
    fingerprint: str,
    *,
    day: str = DAY,
    run: int = numbers.PRODUCER,
    attempt: int = numbers.PRODUCER_ATTEMPT,
    spec: str = "mtp",
) -> dict[str, Any]:
    return {
        "id": str(number),
        **_workers(spec),
        "benchmark_type": "agentic_traces",
        "offload_mode": "on",
        "isl": None,
        "osl": None,
        "conc": conc,
        "image": image,
        "recipe_fingerprint": fingerprint,
        "metrics": metrics,
        "date": day,
        "run_url": RUN_URL.format(run=run, attempt=attempt),
    }


def _workers(spec: str, hardware: str = "gb200", tp: int = 16) -> dict[str, Any]:
    return {
        "hardware": hardware,
        "framework": "dynamo-vllm",
        "model": "kimik3",
        "precision": "fp4",
        "spec_method": spec,
        "disagg": False,
        "is_multinode": True,
        "prefill_tp": tp,
        "prefill_ep": 1,
        "prefill_dp_attention": False,
        "prefill_num_workers": 1,
        "decode_tp": tp,
        "decode_ep": 1,
        "decode_dp_attention": False,
        "decode_num_workers": 1,
        "num_prefill_gpu": tp,
        "num_decode_gpu": tp,
    }


def _metrics(point: Point) -> dict[str, float]:
    """The API's flat names. Cache hits of c1 are SEED, of the others INVENTED."""
    hits = (0.871, 0.030) if point.conc == 1 else (0.8412, 0.0377)
    return {
        "tput_per_gpu": point.tput,
        "total_tput_tps": point.tput * 16,
        "output_tput_tps": point.output,
        "input_tput_tps": point.input,
        "output_tput_per_gpu": point.output / 16,
        "input_tput_per_gpu": point.input / 16,
        "median_ttft": point.ttft,
        "median_itl": point.itl,
        "median_intvty": 1 / point.itl,
        "duration_seconds": point.duration,
        "server_gpu_cache_hit_rate": hits[0],
        "server_cpu_cache_hit_rate": hits[1],
        "server_external_cache_hit_rate": hits[1],
        "prefill_dcp_size": 16.0,
        "dcp_size": 16.0,
    }


def _decoy_nospec() -> dict[str, Any]:
    """A point of the sibling without speculation: same day, image and run, another recipe."""
    metrics = _metrics(Point(conc=8, tput=1711.4063, output=176.1185, ttft=9.8127, itl=0.0121871, profiled=611))
    return _row(1101, 8, metrics, numbers.OLD, hashlib.sha256(b"nospec sibling").hexdigest(), spec="none")


def _decoy_older() -> dict[str, Any]:
    """A point of the same recipe with the image before: an older day."""
    metrics = _metrics(Point(conc=1, tput=861.7744, output=105.3021, ttft=2.4409, itl=0.0047312, profiled=219))
    return _row(
        1102,
        1,
        metrics,
        "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-728d3ad",
        hashlib.sha256(b"older image").hexdigest(),
        day="2026-08-14",
        run=31771540022,
        attempt=1,
    )


def _evaluations() -> list[dict[str, Any]]:
    """SEED: this family's gsm8k at c16; the GB300 ones on the native processor, 0.965 to 0.973 (single values INVENTED)."""
    rows = [_evaluation(2001, 16, BASELINE_EVAL.strict, BASELINE_EVAL.flexible, DAY, numbers.PRODUCER, "gb200", 16)]
    rows += [
        _evaluation(2010 + i, conc, correct, correct, "2026-09-04", 33585180264, "gb300", 8)
        for i, (conc, correct) in enumerate(((4, 1273), (16, 1283)))
    ]
    return rows


def _evaluation(
    number: int, conc: int, strict: int, flexible: int, day: str, run: int, hardware: str, tp: int
) -> dict[str, Any]:
    n = numbers.ANSWERS
    error = {
        name: math.sqrt(hit / n * (1 - hit / n) / (n - 1))
        for name, hit in (("em_strict_se", strict), ("em_flexible_se", flexible))
    }
    return {
        "id": str(number),
        **_workers("mtp", hardware, tp),
        "conc": conc,
        "task": "gsm8k",
        "date": day,
        "metrics": {
            "em_strict": strict / n,
            "em_flexible": flexible / n,
            **error,
            "n_eff": float(n),
            "score": strict / n,
            "score_se": error["em_strict_se"],
        },
        "timestamp": f"{day}T21:40:02Z",
        "run_url": f"https://github.com/SemiAnalysisAI/InferenceX/actions/runs/{run}",
    }


def _run(number: int, attempt: int, head: str, day: str) -> dict[str, Any]:
    return {
        "github_run_id": str(number),
        "run_attempt": attempt,
        "name": "Run Sweep - Kimi K3 AgentX",
        "conclusion": "success",
        "html_url": f"https://github.com/SemiAnalysisAI/InferenceX/actions/runs/{number}",
        "created_at": f"{day}T14:02:33Z",
        "date": day,
        "head_sha": head,
        "benchmark_type": "agentic_traces",
    }


def _companion() -> dict[str, Any]:
    """SEED: profiled requests of c1..c8, c1's one invalid of 233 and ten of eleven in warm-up, 36 wrong answers, none
    without a final line, median length 293. Where only the profiled requests are known no accounting is made up."""
    first = BASELINE[0]
    known = [
        {
            "concurrency": point.conc,
            "total": point.profiled,
            "profiled": point.profiled,
            "warmup_invalid": 0,
            "profiling_invalid": 0,
        }
        for point in BASELINE[1:4]
    ]
    accounting = [
        {
            "concurrency": 1,
            "total": first.total,
            "profiled": first.profiled,
            "warmup_invalid": first.warmup_invalid,
            "profiling_invalid": first.profiling_invalid,
        },
        *known,
    ]
    samples = {
        "concurrency": 16,
        "task": "gsm8k",
        "n": numbers.ANSWERS,
        "correct": BASELINE_EVAL.strict,
        "cut": 0,
        "wrong": numbers.ANSWERS - BASELINE_EVAL.strict,
        "median_length": float(numbers.BASELINE_MEDIAN),
    }
    return {
        "run": numbers.PRODUCER,
        "attempt": numbers.PRODUCER_ATTEMPT,
        "head": numbers.HEAD,
        "pull": numbers.PRODUCER_PULL,
        "fingerprint": numbers.FINGERPRINT,
        "accounting": accounting,
        "samples": [samples],
    }
