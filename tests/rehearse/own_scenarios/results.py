"""What a job of the own benchmark uploads: rows in their normal form, lm-eval's own documents, the server's log."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.rehearse.own_scenarios.numbers import INPUT, OUTPUT, QUESTIONS, REPEATS, REQUESTS, Measured

TASK = "gsm8k"
THINGS = ("crates", "spools", "panels", "boxes", "trays", "drums")
PARTS = ("bolts", "lamps", "tiles", "valves", "fuses", "hooks")


def rows(measured: Measured, point: Mapping[str, object], told: Mapping[str, object]) -> list[dict[str, object]]:
    """The rows of one point. `told` is run, attempt, head and the image that ran."""
    values = (
        ("tput_per_gpu", None, measured.total_per_gpu, "tok/s/GPU"),
        ("output_tput", None, measured.output, "tok/s"),
        ("input_tput", None, measured.output * INPUT / OUTPUT, "tok/s"),
        ("ttft", "p50", measured.ttft, "s"),
        ("ttft", "p99", measured.ttft * 1.41, "s"),
        ("itl", "p50", measured.itl, "s"),
        ("intvty", "p50", 1 / measured.itl, "tok/s/user"),
        ("profiled_requests", None, float(REQUESTS[measured.conc] * REPEATS), "requests"),
    )
    return [{"point": dict(point), "metric": metric, "stat": stat, "value": value, "unit": unit, "n": REQUESTS[measured.conc] * REPEATS,
             **told, "flags": []} for metric, stat, value, unit in values]


def eval_rows(correct: tuple[int, int], n: int, point: Mapping[str, object], told: Mapping[str, object]) -> list[dict[str, object]]:
    """The score of a whole eval under both of its filters."""
    return [{"point": dict(point), "metric": "eval", "task": TASK, "stat": stat, "value": right / n, "unit": "share", "n": n,
             "correct": right, **told, "flags": []} for stat, right in zip(("strict", "flexible"), correct, strict=True)]


def write_rows(folder: Path, made: list[dict[str, object]]) -> None:
    """rows.jsonl of a `bench_...` artifact."""
    folder.mkdir(parents=True)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in made))


def write_eval(folder: Path, *, conc: int, image: str, ended: datetime, asked: int, correct: tuple[int, int]) -> None:
    """An `eval_...` artifact: scores, the environment they were measured in and, of a sample, every answer."""
    folder.mkdir(parents=True)
    stamp = f"{ended:%Y-%m-%dT%H-%M-%S.%f}"
    meta = {"conc": conc, "image": image, "framework": "sglang", "hw": "h200", "precision": "fp8"}
    (folder / "meta_env.json").write_text(json.dumps(meta, indent=1) + "\n")
    (folder / f"results_{stamp}.json").write_text(json.dumps(_scores(asked, correct), indent=1) + "\n")
    if asked < QUESTIONS:
        lines = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in _samples(asked, correct, str(folder.name)))
        (folder / f"samples_{TASK}_{stamp}.jsonl").write_text(lines)


def _scores(asked: int, correct: tuple[int, int]) -> dict[str, Any]:
    scores: dict[str, Any] = {"alias": TASK, "sample_len": asked}
    for name, right in zip(("strict-match", "flexible-extract"), correct, strict=True):
        share = right / asked
        scores[f"exact_match,{name}"] = share
        scores[f"exact_match_stderr,{name}"] = math.sqrt(share * (1 - share) / (asked - 1))
    return {
        "results": {TASK: scores}, "group_subtasks": {}, "versions": {TASK: 3.0}, "n-shot": {TASK: 5},
        "higher_is_better": {TASK: {"exact_match": True}}, "n-samples": {TASK: {"original": QUESTIONS, "effective": asked}},
        "config": {"model": "local-chat-completions", "limit": None if asked == QUESTIONS else float(asked)},
        "model_name": "northwind/Larch-72B",
    }


def _samples(asked: int, correct: tuple[int, int], name: str) -> list[dict[str, Any]]:
    """One line for each answer and filter. The questions are made here and belong to no data set."""
    rng, made = random.Random(name), []
    wrong = set(rng.sample(range(asked), asked - correct[0]))
    for index in range(asked):
        crates, each, more = rng.randint(3, 19), rng.randint(4, 60), rng.randint(2, 90)
        thing, part = rng.choice(THINGS), rng.choice(PARTS)
        truth = crates * each + more
        given = truth + rng.choice((-10, 10, 1)) if index in wrong else truth
        question = f"A store has {crates} {thing} of {each} {part} each and receives {more} more. How many {part} is that?"
        text = f"{crates} {thing} hold {crates} * {each} = {crates * each} {part}. With {more} more that is {given}.\n#### {given}"
        for filtered in ("strict-match", "flexible-extract"):
            made.append({"doc_id": index, "doc": {"question": question}, "target": f"#### {truth}", "resps": [[text]],
                         "filtered_resps": [str(given)], "filter": filtered, "metrics": ["exact_match"],
                         "exact_match": float(given == truth)})
    return made


def write_server_log(folder: Path, *, image: str, key: str, began: datetime, minutes: float, conc: int, ran: str, cache: str) -> None:
    """server.log of a job that went well. `ran` is the version that the server reports, `cache` the squash file it came from,
    where the launcher kept one."""
    folder.mkdir(parents=True)
    lines, batches = _start(image, key, ran, cache), 6
    ready = began + timedelta(seconds=170)
    told = [(began + timedelta(seconds=6 + 14 * at), line) for at, line in enumerate(lines)]
    told.append((ready, "The server is fired up and ready to roll!"))
    step = (began + timedelta(minutes=minutes) - ready) / (batches + 1)
    told += [(ready + step * (at + 1), f"Decode batch, #running-req: {conc}, #token: {conc * (1024 + OUTPUT // 2)}, "
              f"token usage: {min(0.92, conc * 0.0041):.2f}, cuda graph: True, #queue-req: 0") for at in range(batches)]
    told.append((began + timedelta(minutes=minutes) - timedelta(seconds=12), "SIGTERM received. Draining requests and shutting down..."))
    (folder / "server.log").write_text("".join(f"[{at:%Y-%m-%d %H:%M:%S}] {line}\n" for at, line in told))


def write_failed_fetch(folder: Path, *, image: str, key: str, began: datetime) -> None:
    """The log of a job whose node could not fetch the load generator; its server never began."""
    folder.mkdir(parents=True)
    told = [
        (2, f"pulling {image}"),
        (41, "pull complete"),
        (43, f"serving {key} needs the load generator: uv pip install aiperf==0.12.0"),
        (44, "Using Python 3.12.11 environment at: /opt/bench"),
        (75, "  x Failed to download `aiperf==0.12.0`"),
        (75, "  |-> Failed to fetch: `https://packages.northwind.example/wheels/aiperf-0.12.0-py3-none-any.whl`"),
        (75, "  |-> Request failed after 3 retries"),
        (75, "  `-> dns error: failed to lookup address information: Temporary failure in name resolution"),
        (76, "the load generator could not be installed; nothing was measured"),
    ]
    (folder / "server.log").write_text("".join(f"[{began + timedelta(seconds=at):%Y-%m-%d %H:%M:%S}] {line}\n" for at, line in told))


def _start(image: str, key: str, ran: str, cache: str) -> list[str]:
    return [
        f"image {image}",
        *([f"using cached squash file /scratch/squash/{cache}"] if cache else []),
        f"recipe {key}",
        f"sglang version: {ran}",
        "server_args=ServerArgs(model_path='northwind/Larch-72B', tp_size=4, context_length=16384, chunked_prefill_size=8192, "
        "mem_fraction_static=0.85, max_running_requests=160, kv_cache_dtype='fp8_e4m3')",
        "Init torch distributed begin.",
        "Init torch distributed ends. mem usage=0.91 GB",
        "Load weight begin. avail mem=138.20 GB",
        "Load weight end. type=LarchForCausalLM, dtype=torch.bfloat16, avail mem=119.62 GB, mem usage=18.58 GB.",
        "KV Cache is allocated. #tokens: 1912344, K size: 48.73 GB, V size: 48.73 GB",
        "Capture cuda graph begin. This can take up to several minutes.",
        "Capture cuda graph end. Time elapsed: 41.18 s.",
        "max_total_num_tokens=1912344, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=160",
    ]
