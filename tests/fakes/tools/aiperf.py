"""Stands in for `aiperf profile` (0.13): a few real requests, and the files of a real run with this run's own numbers.

What nobody reads of the files is as it was recorded (tests/bench/fixtures/aiperf). Standard library only: it must start at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import aiperf_sends as sends
import aiperf_told as told
import aiperf_writes as writes
from aiperf_words import FLAGS, FORMATS, PUBLIC, VALUES


class Refused(Exception):
    """What the command line parser of AIPerf refuses: a title and lines for its box."""


def main(argv: list[str]) -> int:
    if argv == ["--version"]:
        print("0.13.0")
        return 0
    if argv[:1] == ["plugins"]:
        kind, name = argv[1:]
        there = {"public_dataset_loader": PUBLIC, "custom_dataset_loader": FORMATS}[kind]
        print(f"Type: {name}\n\n{name} dataset from {'GitHub' if name == 'spec_bench' else 'HuggingFace'}" if name in there else f"Not found: {kind}:{name}\n\nAvailable: {', '.join(there)}")
        return 0
    try:
        asked = parsed(argv)
    except Refused as error:
        told.box("Error", str(error))
        return 1
    out = Path(asked["--output-artifact-dir"])
    (out / "logs").mkdir(parents=True, exist_ok=True)
    (out / "raw_records").mkdir(exist_ok=True)
    told.begin(out / "logs" / "aiperf.log")
    told.say("INFO", "Starting AIPerf System")
    if problem := unstaged(asked):
        told.exit_errors("dataset_manager", "Configure Profiling", "CommandError", problem)
        print(f"Log File: {out / 'logs' / 'aiperf.log'}\n", flush=True)
        return 1
    return profile(asked, out)


def parsed(argv: list[str]) -> dict[str, Any]:
    """The words as a table. A word that is not one of ours, or twice there, is refused as AIPerf does."""
    if argv[:1] != ["profile"]:
        raise Refused(f'Unknown command "{argv[0] if argv else ""}".')
    asked: dict[str, Any] = {"--concurrency": "1", "--ui": "dashboard", "--warmup-request-count": "0"}
    given = set()
    rest = iter(argv[1:])
    for word in rest:
        if word in given:
            raise Refused(f"Parameter {word} specified multiple times.")
        given.add(word)
        if word in FLAGS:
            asked[word] = True
        elif word in VALUES:
            value = next(rest, None)
            if value is None:
                raise Refused(f'Command "profile" parameter {word} requires an argument.')
            asked[word] = value
        else:
            raise Refused(f'Unknown option: "{word}".')
    for word in ("--concurrency", "--request-count", "--random-seed"):
        if not str(asked.get(word, "")).isdigit():
            raise Refused(f"Invalid value for {word}: unable to convert {asked.get(word)!r} into int.")
    kind = asked.get("--custom-dataset-type")
    if kind is not None and kind not in FORMATS:
        raise Refused(f"1 validation error for CLIConfig custom_dataset_type Input should be {', '.join(map(repr, FORMATS))} "
                      f"[type=enum, input_value={kind!r}, input_type=str]")
    if "--isl" in asked and ("--input-file" in asked or "--public-dataset" in asked):
        raise Refused("--isl is only supported with synthetic datasets; remove --input-file / --public-dataset")
    return asked


def unstaged(asked: dict[str, Any]) -> str:
    """Why the tokenizer cannot be loaded; it is never fetched here."""
    name, revision = asked["--tokenizer"], asked.get("--tokenizer-revision", "main")
    model = Path(os.environ.get("HF_HOME", "/nowhere")) / "hub" / f"models--{name.replace('/', '--')}"
    ref = model / "refs" / revision
    snapshot = model / "snapshots" / (ref.read_text().strip() if ref.is_file() else revision)
    if (snapshot / "tokenizer.json").is_file():
        return ""
    return (f"Failed to load tokenizer '{name}': OSError: Tokenizer '{name}' (revision '{revision}') is not present in the "
            "HuggingFace cache. Run online once to populate the cache, or unset HF_HUB_OFFLINE/TRANSFORMERS_OFFLINE.")


def profile(asked: dict[str, Any], out: Path) -> int:
    cancelled = threading.Event()

    def interrupted(number: int, frame: FrameType | None) -> None:
        told.say("WARNING", f"Signal {number} received, initiating graceful shutdown")
        cancelled.set()

    signal.signal(signal.SIGINT, interrupted)
    try:
        prompts = sends.prompts(asked)
    except (OSError, ValueError, KeyError) as error:
        told.exit_errors("dataset_manager", "Configure Profiling", "CommandError", f"Dataset configuration failed: {error!r}")
        return 1
    writes.inputs(asked, prompts, out)
    keep = writes.Keep(out)
    phases = [("warmup", int(asked["--warmup-request-count"])), ("profiling", int(asked["--request-count"]))]
    done: list[sends.Phase] = []
    for name, count in ((name, count) for name, count in phases if count):
        at = len(done)
        told.say("NOTICE", f"Phase {name} ({name}) started | phase_index={at} | target: {count} requests")
        phase = sends.run(name, at, count, prompts, asked, cancelled, keep.record)
        done.append(phase)
        failed = sum(one.error is not None for one in phase.requests)
        told.say("NOTICE", f"Phase {name} ({name}) complete | completed={len(phase.requests)}, cancelled=0, errors={failed}")
        if cancelled.is_set():
            break
    keep.close()
    profiled = next((phase for phase in done if phase.name == "profiling"), None)
    good = [one for one in profiled.requests if one.error is None] if profiled else []
    if not good:
        many = len(profiled.requests) if profiled else 0
        told.exit_errors("system_controller", "export_results", "Unknown",
                         f"All {many} inference request(s) failed. No successful responses were collected — check the server URL, "
                         "endpoint path, and response format. See prior log output for per-request error details.")
        return 1
    writes.all_of(asked, done, cancelled.is_set() or bool(profiled and profiled.given_up), out)
    print(f"Benchmark Duration: {profiled.seconds if profiled else 0:.2f} sec", flush=True)
    return 0


if __name__ == "__main__":
    time.tzset()
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
