"""What `ledger publish` refuses: jobs that do not hold, artifacts that were tampered with, names that nobody planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bot.model.bench import Gate, Launched, Report, Said
from tests.cli.publishing import Runs
from tests.fakes.uploads import folders, packed, report, sealed


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


SAID, OTHER = Said(version="0.24.0"), f"sha256:{'e' * 64}"
CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "partial": ({"state": "partial", "reason": "out of time"}, "the measurement is partial: out of time"),
    "running": ({"state": "running"}, "the measurement is running: nobody says why"),
    "gate": ({"gates": (Gate(name="stream", passed=False, said="no finish reason"),)}, "the gate stream does not hold: no finish reason"),
    "digest": ({"launched": Launched(launcher="docker", image="vllm/vllm-openai:v0.25.1", digest=OTHER)}, "the image is not proven to have run"),
    "version": ({"said": SAID, "launched": Launched(launcher="process", image="vllm/vllm-openai:v0.25.1")}, "the image is not proven to have run"),
    "nothing": ({"rows": ()}, "no speed was measured"),
}


class TestAJobThatDoesNotHold:
    @pytest.mark.parametrize("name", CHANGED)
    def test_is_one_line_and_keeps_its_recipe_out_of_the_ledger(self, runs: Runs, name: str) -> None:
        changed, said = CHANGED[name]
        made = runs.uploads("toy", honest=False)
        for job in made.jobs:
            made.measured(job, **(changed if job is made.jobs[0] else {}))
        lines = runs.refused(made)
        assert len(lines) == 1 and said in lines[0], lines

    def test_that_ran_from_another_digest_than_its_neighbours_is_refused_with_them(self, runs: Runs) -> None:
        made = runs.uploads("toy", honest=False)
        for job in made.jobs:
            other = {"launched": Launched(launcher="docker", image=job.point.image, digest=OTHER),
                     "rows": tuple(replace(row, image=f"{job.point.image}@{OTHER}") for row in report(job).rows)}
            made.measured(job, **(other if job is made.jobs[0] else {}))
        line, = runs.refused(made)
        assert line.startswith("toy: its jobs ran different images under one name: sha256:ddd")

    def test_that_uploaded_nothing_is_told_as_that(self, runs: Runs) -> None:
        made = runs.uploads("toy", honest=False)
        for job in made.jobs[1:]:
            made.measured(job)
        assert runs.refused(made) == ["toy c1: no results were uploaded"]

    def test_with_a_value_that_is_no_number_is_refused(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        job = made.jobs[0]
        results, logs = folders(runs.folder / "nan", report(job))
        results["bench.json"] = results["bench.json"].replace(b"900.0", b"NaN")
        results.pop("rows.jsonl")
        made.put(f"{job.results}_attempt1", packed(sealed(results, logs)))
        made.put(f"{job.logs}_attempt1", packed(logs))
        line, = runs.refused(made)
        assert "NaN" in line


def _value(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return {**results, "bench.json": results["bench.json"].replace(b"900.0", b"999.0")}


def _other(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return sealed({"bench.json": msgspec.json.encode(other)}, logs)


def _more(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return {**results, "extra.json": b"{}"}


def _less(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return {path: data for path, data in results.items() if path != "rows.jsonl"}


def _unsealed(results: dict[str, bytes], logs: dict[str, bytes], other: Report) -> dict[str, bytes]:
    return {path: data for path, data in results.items() if path != "SHA256SUMS"}


TAMPERED = {_value: "results/bench.json has another SHA-256", _other: "these are results of another point: id is not as planned",
            _more: "results/extra.json is not in SHA256SUMS", _less: "results/rows.jsonl is missing", _unsealed: "SHA256SUMS is missing"}


class TestAnArtifact:
    @pytest.mark.parametrize("change", TAMPERED, ids=lambda change: change.__name__.strip("_"))
    def test_that_was_tampered_with_is_refused(self, runs: Runs, change: Any) -> None:
        made = runs.uploads("toy")
        job, next_ = made.jobs[0], made.jobs[1]
        results, logs = folders(runs.folder / "mine", report(job))
        made.put(f"{job.results}_attempt1", packed(change(results, logs, report(next_))))
        made.put(f"{job.logs}_attempt1", packed(logs))
        assert f"toy c1: {TAMPERED[change]}" in runs.refused(made)

    @pytest.mark.parametrize("data", [b"no archive", packed({"bench.json": b"{}"})[:60], packed({"../bench.json": b"{}"}), packed({"/etc/x": b""}),
                                      packed({}, links={"bench.json": "/etc/passwd"}), packed({"a.gz": b"x" * 99}), b""],
                             ids=["none", "cut", "out of its folder", "absolute", "a link", "another file", "empty"])
    def test_that_is_no_honest_archive_is_refused(self, runs: Runs, data: bytes) -> None:
        made = runs.uploads("toy")
        made.put(f"{made.jobs[0].results}_attempt1", data)
        line, = runs.refused(made)
        assert line.startswith("toy c1: ") and "root:" not in line

    def test_of_a_name_that_stands_twice_counts_neither_time(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        made.put("bench_toy_conc1_attempt1", packed({"bench.json": b"{}"}), again="-2")
        assert runs.refused(made) == ["toy c1: 2 artifacts are called bench_toy_conc1_attempt1, none counts", "toy c1: no results were uploaded"]

    @pytest.mark.parametrize("name", ["bench_other_conc1_attempt1", "eval_toy_conc1_attempt1", "bench_toy_conc1", "bench_toy_conc1_attempt1x", "x`$(touch y)",
                                      "bench_toy_conc1_attempt0"])
    def test_that_nobody_planned_fails_the_run_and_takes_nothing_from_what_holds(self, runs: Runs, name: str) -> None:
        made = runs.uploads("toy")
        made.put(name, packed({}))
        done = runs.publish(made)
        assert done.code == 1 and "an artifact that no job of the plan uploads: " in done.err and "`" not in done.err
        assert runs.held("toy") is not None

    def test_with_another_plan_in_it_is_not_taken_for_the_plan(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        made.put("plan_attempt1", packed({"jobs.json": made.data.replace(b'"threshold": 0.9', b'"threshold": 0.1')}))
        done = runs.publish(made)
        assert done.code == 1 and "the plan is not among the artifacts" in done.line
