"""The files of the stand-in: recorded ones with this run's own numbers, moments and words put in."""

from __future__ import annotations

import copy
import json
import shlex
import uuid
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import aiperf_numbers as numbers
from aiperf_sends import NS, Phase, Prompts, Sent, payload

RECORDED = Path(__file__).parents[2] / "bench/fixtures/aiperf"
NAMES = ("profile_export_aiperf.csv", "profile_export_console.txt", "server_metrics_export.csv")
"""Files that nobody reads: as they were recorded."""
_ID = uuid.uuid4().hex[:12]


@cache
def recorded(case: str, name: str = "profile_export_aiperf.json") -> Any:
    return json.loads((RECORDED / case / "out" / name).read_text(encoding="utf-8"))


@cache
def lines(case: str, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDED / case / "out" / name).read_text(encoding="utf-8").splitlines()]


class Keep:
    """Writes each request when it ends, as AIPerf does: what is killed leaves these."""

    def __init__(self, out: Path) -> None:
        self._raw = out / "raw_records" / "raw_records_record_processor_00000001.jsonl"
        self._export = out / "profile_export.jsonl"
        self._export.touch()
        self._gpus = out / "gpu_telemetry_export.jsonl"
        self._gpus.touch()

    def record(self, one: Sent, index: int) -> None:
        meta = metadata(one, index)
        with self._export.open("a", encoding="utf-8") as stream:
            stream.write(packed(exported(one, meta)))
        with self._raw.open("a", encoding="utf-8") as stream:
            stream.write(packed(raw(one, meta)))

    def close(self) -> None:
        """Nobody told of any GPU."""
        self._gpus.unlink()


def packed(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n"


def metadata(one: Sent, index: int) -> dict[str, Any]:
    made = copy.deepcopy(lines("whole", "profile_export.jsonl")[0]["metadata"])
    at = list(made)
    identity = str(uuid.uuid4())
    made |= {"session_num": one.number, "x_request_id": identity, "x_correlation_id": identity, "root_correlation_id": identity,
             "conversation_id": f"session_{one.number:06d}", "credit_issued_ns": one.began - 1_000_000,
             "request_start_ns": one.began, "request_ack_ns": one.began + 1_000_000, "request_end_ns": one.ended,
             "benchmark_phase": one.phase, "phase_index": index, "phase_name": one.phase, "phase_kind": one.phase}
    if one.phase == "profiling":
        at.insert(at.index("phase_name"), "profiling_index")
        made["profiling_index"] = 0
    if one.error is not None and not one.responses:
        at.remove("request_ack_ns")
    return {key: made[key] for key in at}


def exported(one: Sent, meta: dict[str, Any]) -> dict[str, Any]:
    if one.error is not None:
        return {"metadata": meta, "metrics": {}, "error": one.error}
    shape = next(line for line in lines("whole" if one.payload["stream"] else "plain", "profile_export.jsonl") if line["metrics"])
    told = numbers.of(one)
    metrics = {}
    for name, value in shape["metrics"].items():
        mine = told.get(name, value["value"])
        if mine is not None:
            metrics[name] = {"value": mine, "unit": value["unit"]}
    return {"metadata": meta, "metrics": metrics}


def raw(one: Sent, meta: dict[str, Any]) -> dict[str, Any]:
    headers = dict(lines("whole" if one.payload["stream"] else "plain", "profile_export_raw.jsonl")[0]["request_headers"])
    made: dict[str, Any] = {"metadata": meta, "start_perf_ns": one.began_perf, "request_headers": headers}
    if one.status is not None:
        made["status"] = one.status
    made["responses"] = one.responses
    if one.error is not None:
        made["error"] = one.error
    return made | {"payload": one.payload}


def inputs(asked: dict[str, Any], prompts: Prompts, out: Path) -> None:
    data = [{"session_id": f"session_{at:06d}", "payloads": [payload(asked, *prompt)]} for at, prompt in enumerate(prompts.made)]
    document(out / "inputs.json", {"data": data})


def document(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")


def all_of(asked: dict[str, Any], phases: list[Phase], cancelled: bool, out: Path) -> None:
    """Every file of a run that ended by itself or was asked to."""
    for name in NAMES:
        (out / name).write_bytes((RECORDED / "whole" / "out" / name).read_bytes())
    document(out / "profile_export_aiperf.json", summary(asked, phases, cancelled))
    metrics = copy.deepcopy(recorded("whole", "server_metrics_export.json")) | {"benchmark_id": _ID}
    document(out / "server_metrics_export.json", metrics)
    if len(phases) > 1:
        manifest(asked, phases, cancelled, out)
    parts = sorted((out / "raw_records").glob("*.jsonl"))
    (out / "profile_export_raw.jsonl").write_bytes(b"".join(part.read_bytes() for part in parts))
    for part in parts:
        part.unlink()
    (out / "raw_records").rmdir()
    ready = json.dumps({"ready": True, "was_cancelled": cancelled, "partial": False}, separators=(",", ":"))
    (out / ".aiperf_results_ready.json").write_text(ready, encoding="utf-8")


def summary(asked: dict[str, Any], phases: list[Phase], cancelled: bool, *, alone: bool = False) -> dict[str, Any]:
    """The summary of a run; `alone` of its last phase only, as it lies under phases/."""
    phase = phases[-1]
    failed = [one.error for one in phase.requests if one.error is not None]
    shape = copy.deepcopy(recorded("plain" if not asked.get("--streaming") else "faults" if failed else "whole"))
    told = numbers.summary(phase)
    made: dict[str, Any] = {}
    for name, value in shape.items():
        if isinstance(value, dict) and "unit" in value:
            if failed or name not in ("error_request_count", "context_overflow_count", "adj_request_latency"):
                made[name] = {"unit": value["unit"], **told.get(name, {key: each for key, each in value.items() if key != "unit"})}
        else:
            made[name] = value
    made |= {"benchmark_id": _ID, "was_cancelled": cancelled, "is_complete": not cancelled, "error_summary": errors(failed),
             "start_time": moment(phase.began), "end_time": moment(phase.ended), "input_config": config(asked),
             "run_info": {"benchmark_id": _ID, "random_seed": int(asked["--random-seed"]), "trial": 0, "cli_command": command(asked)}}
    warm = next((each for each in phases if each.name == "warmup" and each.requests), None)
    if warm is None or alone:
        made.pop("warmup_metrics", None)
    else:
        told = numbers.summary(warm)
        made["warmup_metrics"] = {name: {"unit": value["unit"], **told[name]} if name in told else value
                                  for name, value in recorded("whole")["warmup_metrics"].items()}
    if cancelled:
        made["incomplete_reason"] = recorded("stopped")["incomplete_reason"]
    if alone:
        made.pop("telemetry_data", None)
    return made


def errors(failed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}
    for error in failed:
        one = known.setdefault(json.dumps(error, sort_keys=True), {"error_details": error, "count": 0})
        one["count"] += 1
    return list(known.values())


def config(asked: dict[str, Any]) -> dict[str, Any]:
    """What was asked, as the recorded configuration has it."""
    made: dict[str, Any] = copy.deepcopy(recorded("whole")["input_config"])
    made["models"]["items"][0]["name"] = asked["--model-names"]
    made["endpoint"] |= {"urls": [asked["--url"]]}
    if not asked.get("--streaming"):
        made["endpoint"].pop("streaming", None)
    phases = []
    for phase, count in zip(made["phases"], ("--warmup-request-count", "--request-count"), strict=True):
        if int(asked[count]):
            phases.append(phase | {"requests": int(asked[count]), "concurrency": int(asked["--concurrency"])})
    made["phases"] = phases
    if "--isl" in asked:
        lengths = {"isl": {"mean": float(asked["--isl"])}}
        lengths |= {"osl": {"mean": float(asked["--osl"])}} if "--osl" in asked else {}
        made["datasets"][0] |= {"entries": int(asked["--num-dataset-entries"]), "random_seed": int(asked["--random-seed"]),
                                "prompts": lengths}
    else:
        made["datasets"] = [{"name": "main", "type": "file", "path": asked.get("--input-file", "")}]
    made["artifacts"]["dir"] = asked["--output-artifact-dir"]
    made["tokenizer"]["name"] = asked["--tokenizer"]
    return made


def manifest(asked: dict[str, Any], phases: list[Phase], cancelled: bool, out: Path) -> None:
    shape = copy.deepcopy(recorded("whole", "phase_manifest.json"))
    for at, (told, phase) in enumerate(zip(shape["phases"], phases, strict=True)):
        failed = [one.error for one in phase.requests if one.error is not None]
        told |= {"start_ns": phase.began, "end_ns": phase.ended, "error_request_count": len(failed),
                 "error_summary": errors(failed), "total_request_count": len(phase.requests),
                 "successful_request_count": len(phase.requests) - len(failed),
                 "was_cancelled": cancelled and phase.name == "profiling"}
        place = out / "phases" / phase.name
        document(place / "profile_export_aiperf.json", summary(asked, phases[: at + 1], cancelled, alone=True))
        for name in ("profile_export_aiperf.csv", "server_metrics.json"):
            (place / name).write_bytes((RECORDED / "whole/out/phases" / phase.name / name).read_bytes())
    document(out / "phase_manifest.json", shape)


def command(asked: dict[str, Any]) -> str:
    return " ".join(["aiperf profile", *(name if value is True else f"{name} {shlex.quote(value)}" for name, value in asked.items())])


def moment(ns: int) -> str:
    return datetime.fromtimestamp(ns / NS, tz=UTC).replace(tzinfo=None).isoformat()
