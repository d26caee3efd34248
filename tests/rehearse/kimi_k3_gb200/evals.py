
"""Result files of the evals: lm-eval's gsm8k in the sweep, the vendor's two tool-call cases in the smoke.

SEED: scores, counts of cut and wrong answers, median lengths, the words of the failed tool-call case. INVENTED: every
question and answer; they come from a few templates and belong to no data set.
"""

from __future__ import annotations

import json
import math
import random
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.rehearse.kimi_k3_gb200 import numbers
from tests.rehearse.kimi_k3_gb200.numbers import ANSWERS, MEDIAN, Eval

NAMES = ("Mei", "Omar", "Lena", "Tariq", "Ines", "Kofi", "Yuki", "Pavel")
THINGS = ("tiles", "apples", "tickets", "screws", "pages", "stamps", "bottles", "seeds")
FILLERS = (
    " This follows from what the question states.",
    " Nothing else changes the count.",
    " So that part is settled.",
    " We keep this number for the next step.",
    " Then we go on.",
)
# A word for each length, to bring an answer to an exact one.
WORDS = ("", "a", "so", "and", "then", "count", "number", "counted", "together", "carefully")


def write(folder: Path, name: str, result: Eval, ended: datetime, *, samples: bool, published: bool = True) -> None:
    """eval_<name>: meta_env.json, results and, where they were kept, samples."""
    target = folder / f"eval_{name}"
    target.mkdir(parents=True)
    stamp = f"{ended:%Y-%m-%dT%H-%M-%S.%f}"
    (target / "meta_env.json").write_text(json.dumps(_meta(result.conc, published), indent=1) + "\n")
    (target / f"results_{stamp}.json").write_text(json.dumps(gsm8k(result), indent=1) + "\n")
    if samples:
        lines = (json.dumps(one, separators=(",", ":")) for one in make_samples(result))
        (target / f"samples_gsm8k_{stamp}.jsonl").write_text("\n".join(lines) + "\n")


def _meta(conc: int, published: bool) -> dict[str, Any]:
    return {
        "model": "moonshotai/Kimi-K3",
        "infmax_model_prefix": "kimik3",
        "hw": "cluster:gb200-nv",
        "framework": "dynamo-vllm",
        "precision": "fp4",
        "spec_decoding": "mtp",
        "is_multinode": True,
        "conc": conc,
        "prefill_tp": 16,
        "prefill_ep": 1,
        "prefill_num_workers": 1,
        "decode_tp": 16,
        "decode_ep": 1,
        "decode_num_workers": 0,
        "dp_attention": "false",
        "scenario_type": "agentic-coding",
        "image": numbers.NEW,
        "recipe_fingerprint": numbers.fingerprint(numbers.NEW) if published else "",
    }


def gsm8k(result: Eval) -> dict[str, Any]:
    scores: dict[str, Any] = {"alias": "gsm8k", "sample_len": result.asked}
    for name, correct in (("strict-match", result.strict), ("flexible-extract", result.flexible)):
        share = correct / result.asked
        scores[f"exact_match,{name}"] = share
        scores[f"exact_match_stderr,{name}"] = math.sqrt(share * (1 - share) / (result.asked - 1))
    return {
        "results": {"gsm8k": scores},
        "group_subtasks": {},
        "versions": {"gsm8k": 3.0},
        "n-shot": {"gsm8k": 5},
        "higher_is_better": {"gsm8k": {"exact_match": True}},
        "n-samples": {"gsm8k": {"original": ANSWERS, "effective": result.asked}},
        "config": {"model": "local-chat-completions", "limit": None if result.asked == ANSWERS else float(result.asked)},
        "lm_eval_version": "0.4.13",
        "model_name": "moonshotai/Kimi-K3",
    }


def make_samples(result: Eval) -> list[dict[str, Any]]:
    """One row for each answer and filter. Of the cut answers as many end on the right number as the flexible score needs."""
    rng = random.Random(result.conc)
    whole = result.asked - result.cut
    kinds = ["cut"] * result.cut + ["wrong"] * result.wrong + ["right"] * (whole - result.wrong)
    rng.shuffle(kinds)
    lucky = set([i for i, kind in enumerate(kinds) if kind == "cut"][: result.flexible - result.strict])
    lengths = _lengths(whole, result.asked // 2 - result.cut, rng)
    rows = []
    for index, kind in enumerate(kinds):
        one = _answer(rng, kind, index in lucky, 0 if kind == "cut" else lengths.pop())
        for name in ("strict-match", "flexible-extract"):
            rows.append(_sample(index, one, name, hit=kind == "right" or (name != "strict-match" and index in lucky)))
    return rows


def _lengths(count: int, rank: int, rng: random.Random) -> list[int]:
    """Lengths of the complete answers. Cut ones are all shorter, so the median of everything lies at a known rank here."""
    below = [MEDIAN - rng.randint(1, 45) for _ in range(rank)]
    above = [MEDIAN + rng.randint(1, 70) for _ in range(count - rank - 1)]
    made = [*below, MEDIAN, *above]
    rng.shuffle(made)
    return made


def _answer(rng: random.Random, kind: str, lucky: bool, length: int) -> dict[str, Any]:
    """A worked answer. `cut`: it stops inside a sentence, before the line that begins with four hashes."""
    who, thing, a, b, c = (
        rng.choice(NAMES),
        rng.choice(THINGS),
        rng.randint(11, 89),
        rng.randint(2, 9),
        rng.randint(3, 40),
    )
    total = a * b + c
    given = total + rng.randint(1, 9) if kind == "wrong" else total
    question = f"{who} packs {b} boxes of {a} {thing} and {c} more. How many {thing} is that?"
    body = f"{who} packs {b} boxes with {a} {thing} in each, which makes {b} * {a} = {a * b} {thing}."
    last = f" Adding the {c} that lie beside the boxes gives {a * b} + {c} = {given} {thing}"
    if kind == "cut":
        text = body + rng.choice(FILLERS) + (last if lucky else last[: last.index("beside") + rng.randint(2, 5)])
    else:
        end = f"{last} in all.\n#### {given}"
        text = body + _pad(length - len(body) - len(end), rng) + end
    return {
        "kind": kind,
        "question": question,
        "target": total,
        "seen": given if lucky or kind != "cut" else c,
        "text": text,
    }


def _pad(size: int, rng: random.Random) -> str:
    """Sentences, then words, of exactly `size` characters together."""
    made = ""
    while (rest := size - len(made)) > 0:
        fitting = [filler for filler in FILLERS if len(filler) <= rest - 2]
        made += rng.choice(fitting) if fitting and rest > 20 else " " + WORDS[min(rest - 1, 9) if rest != 11 else 5]
    return made


def _sample(index: int, one: dict[str, Any], name: str, *, hit: bool) -> dict[str, Any]:
    target = f"#### {one['target']}"
    filtered = "[invalid]" if one["kind"] == "cut" and name == "strict-match" else str(one["seen"])
    return {
        "doc_id": index,
        "doc": {"question": one["question"]},
        "target": target,
        "resps": [[one["text"]]],
        "filtered_resps": [filtered],
        "filter": name,
        "metrics": ["exact_match"],
        "exact_match": 1.0 if hit else 0.0,
    }


def write_tool_calls(folder: Path, name: str) -> None:
    """eval_<name> of the smoke: two cases, one of them passed."""
    target = folder / f"eval_{name}"
    target.mkdir(parents=True)
    (target / "meta_env.json").write_text(json.dumps(_meta(1, published=False), indent=1) + "\n")
    results = {
        "results": {
            "kimi_tool_call_schema": {
                "alias": "kimi_tool_call_schema",
                "sample_len": 2,
                "score,none": 0.5,
                "score_stderr,none": "N/A",
            }
        },
        "versions": {"kimi_tool_call_schema": 1.0},
        "higher_is_better": {"kimi_tool_call_schema": {"score": True}},
        "n-samples": {"kimi_tool_call_schema": {"original": 2, "effective": 2}},
        "config": {"model": "kimi-vendor"},
        "model_name": "moonshotai/Kimi-K3",
    }
    (target / "results_2026-09-10T09-24-41.702551.json").write_text(json.dumps(results, indent=1) + "\n")
    why = "streamed response had no tool_calls (chunks=17, finish_reason=stop, content=)"
    cases = [
        {
            "doc_id": 0,
            "doc": {"case": "non-stream"},
            "target": "tool_calls",
            "resps": [["get_weather"]],
            "filter": "none",
            "metrics": ["score"],
            "score": 1.0,
        },
        {
            "doc_id": 1,
            "doc": {"case": "stream"},
            "target": "tool_calls",
            "resps": [[""]],
            "filter": "none",
            "metrics": ["score"],
            "score": 0.0,
            "error": why,
        },
    ]
    lines = "\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (target / "samples_kimi_tool_call_schema_2026-09-10T09-24-41.702551.jsonl").write_text(lines + "\n")
