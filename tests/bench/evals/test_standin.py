"""The stand-in for lm_eval beside exports that the real one (0.4.13) wrote: the same keys, kinds and readings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.rehearse.engine.process import beside
from bot.results import collect
from tests.bench.evals.asking import group, suite
from tests.fakes.tools import lm_eval

RECORDED = Path(__file__).parents[1] / "fixtures" / "lm_eval"
# What the stand-in leaves out of a task's configuration; nobody reads it.
UNREAD = {f"configs.*.{name}" for name in (
    "dataset_path", "dataset_kwargs", "test_split", "doc_to_text", "doc_to_target", "unsafe_code", "description", "target_delimiter",
    "fewshot_delimiter", "fewshot_config", "num_fewshot", "metric_list", "repeats", "filter_list", "should_decontaminate",
    "dataset_name")}
NAMES = {"toys": "both", "toy_a": "a", "toy_b": "b"}


def shape(value: Any, place: str = "") -> set[tuple[str, str]]:
    """Every key path with the kind of its value; names of tasks are one `*`."""
    if place in UNREAD:
        return set()
    if isinstance(value, dict):
        return {(place, "object")}.union(*(shape(each, f"{place}.{'*' if key in (*NAMES, *NAMES.values()) else key}".strip("."))
                                            for key, each in value.items()))
    if isinstance(value, list):
        return {(place, "list")}.union(*(shape(each, f"{place}[]") for each in value))
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {(place, "number" if number or value == "N/A" else type(value).__name__)}


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, lm_eval.__file__, *words], cwd=folder, capture_output=True, text=True, timeout=20)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in's own exports of a group of two, some questions of each."""
    folder = tmp_path_factory.mktemp("standin")
    for name in ("a", "b"):
        suite(folder / "tasks", name, 30, more="generation_kwargs: {max_gen_toks: 64}\n")
    group(folder / "tasks", "both", "a", "b")
    (folder / "q.json").write_text(json.dumps({"a": [1, 4, 5], "b": [0, 29]}))
    with beside("--model", "acme/toy", "--ttft-ms", "0", "--itl-ms", "0", "--wrong", "1") as server:
        told = {"model": "acme/toy", "base_url": f"{server.url}/v1/chat/completions", "num_concurrent": 2, "max_retries": 2,
                "timeout": 5, "tokenized_requests": False, "max_gen_toks": 64}
        done = run("run", "--tasks", "both", "--seed", "0,1,1,1", "--include_path", "tasks", "--model", "local-chat-completions", "--model_args",
                   json.dumps(told), "--apply_chat_template", "--output_path", "out", "--log_samples", "--samples", "q.json", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out" / "acme__toy"


class TestTheStandIn:
    def test_writes_results_of_the_shape_of_the_real_ones(self, written: Path) -> None:
        (mine,) = written.glob("results_*.json")
        assert shape(json.loads(mine.read_text())) == shape(json.loads((RECORDED / "results.json").read_text()))

    def test_writes_answers_of_the_shape_of_the_real_ones(self, written: Path) -> None:
        (mine,) = written.glob("samples_a_*.jsonl")
        theirs = [json.loads(line) for line in (RECORDED / "samples_toy_a.jsonl").read_text().splitlines()]
        ours = [json.loads(line) for line in mine.read_text().splitlines()]
        assert {(line["doc_id"], line["filter"]) for line in ours} == {
            (place, name) for place in (1, 4, 5) for name in ("strict-match", "flexible-extract")}
        assert shape(ours) == shape(theirs)

    def test_gives_the_parsers_what_the_real_one_gives_them(self, written: Path) -> None:
        files = [(f"x/{path.name}", path.open("rb")) for path in sorted(written.iterdir())]
        found = collect(files, recipe="toy")
        assert {(row.task, row.stat, row.n) for row in found.rows} == {
            (task, stat, n) for task, n in (("a", 3), ("b", 2), ("both", 5)) for stat in ("strict", "flexible")}
        assert {one.task: one.marks for one in found.samples}["b"].count("-") == 28

    @pytest.mark.parametrize("words", [("--limit", "x"), ("--num_fewshot", "5"), ("--trust_remote_code",), ("--mode", "dummy"),
                                       ("--model", "dummy", "--apply_chat_template"), ("--model", "local-chat-completions", "--model_args", "{}")])
    def test_takes_no_other_words(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        assert run("run", "--tasks", "a", *words, folder=tmp_path).returncode == 2


class TestTheRecordedExports:
    def test_of_a_group_under_two_filters_with_questions_picked_are_read_whole(self) -> None:
        found = collect([(f"x/{name}", (RECORDED / file).open("rb")) for name, file in (
            ("results_2026-11-30.json", "results.json"), ("samples_toy_a_2026-11-30.jsonl", "samples_toy_a.jsonl"))], recipe="toy")
        assert {(row.task, row.stat, row.n, row.correct, row.point.concurrency) for row in found.rows} == {
            (task, stat, n, right, 4) for task, n, right in (("toy_a", 6, 4), ("toy_b", 5, 4), ("toys", 11, 8)) for stat in ("strict", "flexible")}
        (answers,) = found.samples
        assert (answers.n, answers.correct, answers.cut, answers.wrong) == (6, 4, 0, 2)
