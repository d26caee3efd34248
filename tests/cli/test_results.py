"""triage and compare over files of a job."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import ROOT, bumpbot
from tests.results.made import encoded, fixed, jsonl, lm_results, request
from tests.results.made_tools import vllm_run

RUN = ROOT / "bot" / "rehearse" / "scenarios" / "kimi-k3-gb200" / "artifacts" / "34446587513"
TRIAGE = ["signature", "class", "first_error", "file", "line", "node", "confidence", "others", "warnings", "repair"]
FINDING = ["metric", "point", "baseline", "new", "delta", "interval", "unit", "n", "finding", "void", "reasons", "recipe", "how"]


def rows(file: Path, factor: float = 1.0, run: int = 1) -> Path:
    """Four points of a curve, in the normal form of CONTRACTS, so many times as good as they were."""
    values = [("tput_per_gpu", None, 100.0, "tok/s/GPU"), ("ttft", "p50", 0.5, "s"), ("itl", "p50", 0.01, "s")]
    made = [
        {"point": {"recipe": "toy", "concurrency": conc, "workload": "chat", "topology": "TP4", "fingerprint": None},
         "metric": metric, "stat": stat, "value": value * conc * factor if stat is None else value / factor, "unit": unit,
         "n": 500, "run": run, "attempt": 1, "head": "a" * 40, "image": None, "flags": []}
        for conc in (1, 4, 16, 64) for metric, stat, value, unit in values
    ]
    file.write_text(json.dumps(made))
    return file


class TestTriage:
    def test_json_has_the_keys_of_the_contract(self) -> None:
        done = bumpbot("triage", RUN, "--format", "json")
        assert (done.code, done.err) == (0, "")
        told = done.json
        assert set(TRIAGE) <= set(told) and "class_" not in told
        assert (told["class"], told["signature"]) == ("moved-module", "vllm-cli-args-moved")
        assert told["repair"] == "native-chat-processor"
        assert told["first_error"] == "ModuleNotFoundError: No module named 'vllm.entrypoints.openai.cli_args'"
        assert told["file"].endswith("watchtower-navy-cn01_frontend_0.out") and told["line"] == 18

    @pytest.mark.parametrize("format_", ["table", "markdown"])
    def test_for_a_person_says_the_same(self, format_: str) -> None:
        out = bumpbot("triage", RUN, "--format", format_).out
        assert "moved-module" in out and "native-chat-processor" in out and "cause" in out

    def test_an_archive_is_opened(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
            for file in sorted(RUN.rglob("*frontend*.out")):
                archive.write(file, file.name)
        assert bumpbot("triage", tmp_path / "logs.zip", "--format", "json").json["class"] == "moved-module"

    def test_unknown_is_an_answer(self, tmp_path: Path) -> None:
        (tmp_path / "server.log").write_text("all is well\n")
        told = bumpbot("triage", tmp_path, "--format", "json")
        assert told.code == 0
        assert (told.json["class"], told.json["first_error"], told.json["confidence"]) == (None, None, "unknown")

    def test_escape_sequences_of_a_log_do_not_reach_the_terminal(self, tmp_path: Path) -> None:
        (tmp_path / "server.log").write_text("Traceback (most recent call last):\n  File 'x'\nRuntimeError: \x1b[2J\x1b[31mgone\n")
        assert "\x1b" not in bumpbot("triage", tmp_path).out


class TestCompare:
    def told(self, tmp_path: Path, factor: float, *more: str | Path) -> tuple[int, dict[str, Any]]:
        new, old = rows(tmp_path / "new.json", factor, run=2), rows(tmp_path / "old.json")
        done = bumpbot("compare", new, "--baseline", old, *more, "--format", "json")
        assert done.err == ""
        return done.code, done.json

    def test_json_has_the_keys_of_the_contract(self, tmp_path: Path) -> None:
        _, told = self.told(tmp_path, 1.0)
        assert list(told) == ["verdict", "reasons", "findings", "rerun"]
        assert told["findings"] and all(set(FINDING) <= set(found) for found in told["findings"])

    def test_a_repeat_confirms_and_the_exit_code_follows_the_verdict(self, tmp_path: Path) -> None:
        for factor, verdict, code in ((1.3, "improved", 0), (1.0, "neutral", 0), (0.7, "regressed", 1)):
            again = rows(tmp_path / "again.json", factor, run=3)
            got, told = self.told(tmp_path, factor, "--repeat", again)
            assert (told["verdict"], got) == (verdict, code), told["reasons"]

    def test_baselines_are_all_words_up_to_the_next_option(self, tmp_path: Path) -> None:
        new, one, two = rows(tmp_path / "new.json", run=5), rows(tmp_path / "one.json"), rows(tmp_path / "two.json", run=2)
        many = bumpbot("compare", new, "--baseline", one, two, "--format", "json")
        each = bumpbot("compare", new, "--baseline", one, "--baseline", two, "--format", "json")
        single = bumpbot("compare", new, "--baseline", one, "--format", "json")
        assert many == each
        assert "baseline-single" in single.json["reasons"] and "baseline-single" not in many.json["reasons"]

    def test_a_person_reads_what_to_run_again(self, tmp_path: Path) -> None:
        new, old = rows(tmp_path / "new.json", 0.7, run=2), rows(tmp_path / "old.json")
        found, again = bumpbot("compare", new, "--baseline", old).out.split("\n\n")
        assert found.startswith("inconclusive: not-confirmed") and "-30.0%" in found
        assert [line.split()[0] for line in again.splitlines()] == ["run", "c1", "c4", "c16", "c64"]
        assert all("suspect:" in line for line in again.splitlines()[1:])

    def test_answers_without_their_scores_are_scored(self, tmp_path: Path) -> None:
        def answers(name: str, right: int) -> Path:
            told = [{"doc_id": n, "target": f"#### {n}", "resps": [[f"#### {n}"]], "filtered_resps": [str(n)], "filter": "strict-match",
                     "metrics": ["exact_match"], "exact_match": float(n < right), "doc_hash": f"{n:064x}"} for n in range(40)]
            file = tmp_path / name / "conc4_x" / "samples_gsm8k_2026-09-10T11.jsonl"
            file.parent.mkdir(parents=True)
            file.write_text("".join(json.dumps(one) + "\n" for one in told))
            return tmp_path / name

        done = bumpbot("compare", answers("new", 0), "--baseline", answers("old", 36), "--format", "json")
        assert done.code == 1 and done.json["verdict"] == "regressed"
        (found,) = [one for one in done.json["findings"] if one["metric"] == "eval"]
        assert (found["new"], found["baseline"], found["n"], found["task"]) == (0.0, 0.9, 40, "gsm8k")

    def test_points_are_named_by_what_tells_them_apart(self, tmp_path: Path) -> None:
        other = json.loads(rows(tmp_path / "other.json").read_text())
        for row in other:
            row["point"]["topology"] = "TP8"
        (tmp_path / "other.json").write_text(json.dumps(other))
        both = [rows(tmp_path / "one.json"), tmp_path / "other.json"]
        out = bumpbot("compare", *both, "--baseline", *both).out
        assert "TP4 c16" in out and "TP8 c16" in out and "toy" not in out

    def test_an_option_before_the_new_results_leaves_none(self, tmp_path: Path) -> None:
        old, new = rows(tmp_path / "old.json"), rows(tmp_path / "new.json")
        assert bumpbot("compare", "--baseline", old, new).code == 2
        assert bumpbot("compare", "--baseline", old, "--", new).code in (0, 1)

    def test_the_recipe_that_artifacts_do_not_name_is_null(self, tmp_path: Path) -> None:
        for name in ("new.json", "old.json"):
            text = json.loads(rows(tmp_path / name, run=1 if name == "old.json" else 2).read_text())
            (tmp_path / name).write_text(json.dumps([{**row, "point": {**row["point"], "recipe": None}} for row in text]))
        told = bumpbot("compare", tmp_path / "new.json", "--baseline", tmp_path / "old.json", "--format", "json").json
        assert {found["point"]["recipe"] for found in told["findings"] if found["point"]} == {None}

    def test_a_metric_that_nobody_knows_is_named_and_leaves_nothing_good(self, tmp_path: Path) -> None:
        known = json.loads(rows(tmp_path / "known.json").read_text())
        odd = [{**row, "metric": "time_to_token", "stat": None} for row in known]
        (tmp_path / "odd.json").write_text(json.dumps([row for row in odd if row == next(
            one for one in odd if one["point"] == row["point"])]))
        done = bumpbot("compare", tmp_path / "odd.json", "--baseline", tmp_path / "odd.json", "--format", "json")
        assert done.code == 1 and done.line.endswith("no such metric is known: time_to_token")

    def test_nothing_measured_is_inconclusive(self, tmp_path: Path) -> None:
        (tmp_path / "none.json").write_text("[]")
        done = bumpbot("compare", tmp_path / "none.json", "--baseline", rows(tmp_path / "old.json"), "--format", "json")
        assert done.code == 1 and done.json["verdict"] == "inconclusive"
        assert done.line.endswith("holds no result")

    def test_a_server_that_was_down_is_told_and_no_number_is_made_of_it(self, tmp_path: Path) -> None:
        (tmp_path / "run_conc4").mkdir()
        (tmp_path / "run_conc4" / "profile_export.jsonl").write_bytes(
            jsonl([request(number, error="ClientConnectorError") for number in range(6)]))
        done = bumpbot("compare", tmp_path / "run_conc4", "--baseline", rows(tmp_path / "old.json"), "--format", "json")
        assert done.code == 1 and done.json["verdict"] == "inconclusive"
        assert "run_conc4/profile_export.jsonl: nothing was measured, 6 of 6 requests failed: ClientConnectorError" in done.line

    @pytest.mark.parametrize("where", ["run", "run_conc4"])
    def test_where_all_fail_is_no_better_than_where_nearly_all_do(self, tmp_path: Path, where: str) -> None:
        def export(name: str, failed: int, of: int = 41) -> Path:
            (tmp_path / name).mkdir(parents=True)
            (tmp_path / name / "profile_export.jsonl").write_bytes(jsonl(
                [request(number, talk=str(number), error="E" if number < failed else None) for number in range(of)]))
            return tmp_path / name

        old = export("old/run_conc4", 0)
        for failed in (40, 41):
            name = export(f"new{failed}/{where if failed == 41 else 'run_conc4'}", failed)
            told = bumpbot("compare", name, "--baseline", old, "--format", "json").json
            assert told["verdict"] == "regressed"
            (found,) = [one for one in told["findings"] if one["metric"] == "invalid_requests"]
            assert found["new"] == failed / 41
            assert found["point"]["concurrency"] == (None if where == "run" and failed == 41 else 4)

    def test_a_benchmark_of_which_all_failed_is_regressed(self, tmp_path: Path) -> None:
        for name, told in (("new", {"completed": 0, "failed": 100}), ("old", {"failed": 0})):
            (tmp_path / f"{name}.jsonl").write_bytes(jsonl([vllm_run(conc, **told) for conc in (1, 4, 16)]))
        told = bumpbot("compare", tmp_path / "new.jsonl", "--baseline", tmp_path / "old.jsonl", "--format", "json").json
        assert told["verdict"] == "regressed" and {found["metric"] for found in told["findings"]} == {"invalid_requests"}

    def test_what_holds_nothing_is_one_line_and_no_verdict(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        old = rows(tmp_path / "old.json")
        for argv in ((tmp_path / "empty", "--baseline", old), (old, "--baseline", tmp_path / "empty"),
                     (old, "--baseline", old, "--repeat", tmp_path / "empty")):
            done = bumpbot("compare", *argv)
            assert (done.code, done.out) == (1, "") and "empty: no result in it" in done.line

    def test_a_fault_is_told_with_the_whole_path(self, tmp_path: Path) -> None:
        for side in ("new", "old"):
            (tmp_path / side / "in").mkdir(parents=True)
            (tmp_path / side / "in" / "agg_bmk.json").write_text(json.dumps([fixed(4)]) if side == "new" else "[{")
        done = bumpbot("compare", tmp_path / "new" / "in", "--baseline", tmp_path / "old" / "in")
        assert (done.code, done.out) == (1, "") and f"{tmp_path}/old/in/agg_bmk.json:1: not JSON" in done.line

    def test_an_artifact_as_github_gives_it_is_opened(self, tmp_path: Path) -> None:
        (tmp_path / "old.json").write_text(json.dumps([fixed(conc) for conc in (4, 8, 16)]))
        (tmp_path / "folder").mkdir()
        for where in ("a.zip", "folder/a.zip"):
            with zipfile.ZipFile(tmp_path / where, "w") as archive:
                archive.writestr("results/agg_bmk.json", (tmp_path / "old.json").read_text())
                archive.writestr("logs/server.log", "all is well")
        for new in ("a.zip", "folder"):
            told = bumpbot("compare", tmp_path / new, "--baseline", tmp_path / "old.json", "--format", "json")
            assert (told.code, told.json["verdict"]) == (0, "neutral")
        (tmp_path / "cut.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:90])
        done = bumpbot("compare", tmp_path / "cut.zip", "--baseline", tmp_path / "old.json")
        assert (done.code, done.out) == (1, "") and "cut.zip: not a whole archive" in done.line

    def test_an_eval_needs_no_concurrency(self, tmp_path: Path) -> None:
        def results(name: str, strict: float) -> Path:
            (tmp_path / name).mkdir()
            (tmp_path / name / "results_x.json").write_bytes(encoded(lm_results(strict, n=1000)))
            return tmp_path / name

        old, told_load = results("old", 0.95), results("eval_conc16", 0.95)
        for new, strict, verdict in (("good", 0.95, "neutral"), ("bad", 0.60, "regressed")):
            made = results(new, strict)
            for one in (made, made / "results_x.json"):
                for base in (old, told_load):
                    told = bumpbot("compare", one, "--baseline", base, "--format", "json").json
                    assert [found["finding"] for found in told["findings"] if found["stat"] == "strict"] == [verdict]
                    at = {found["point"]["concurrency"] for found in told["findings"] if found["point"]}
                    assert at == {None if base == old else 16}

    def test_a_pipe_is_refused_at_once(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        done = bumpbot("compare", tmp_path / "pipe", "--baseline", rows(tmp_path / "old.json"))
        assert (done.code, done.out) == (1, "") and "neither a file nor a folder" in done.line

    def test_another_line_is_no_counterpart(self, tmp_path: Path) -> None:
        for name, told in (("new", {"hw": "h200"}), ("old", {"hw": "cluster:b200-dgxc"}), ("same", {"hw": "b200"})):
            (tmp_path / f"{name}.json").write_text(json.dumps([fixed(conc, **told) for conc in (4, 8, 16)]))
        other, one = (bumpbot("compare", tmp_path / f"{name}.json", "--baseline", tmp_path / "old.json", "--format", "json").json
                      for name in ("new", "same"))
        assert (other["verdict"], other["findings"]) == ("inconclusive", []) and "workload-mismatch" in other["reasons"]
        assert one["verdict"] == "neutral"

    def test_a_line_goes_by_the_only_recipe_of_the_other_side(self, tmp_path: Path) -> None:
        (tmp_path / "new.json").write_text(json.dumps([fixed(conc, tput=100.0) for conc in (1, 4, 16)]))
        told = json.loads(rows(tmp_path / "old.json").read_text())
        point = {"recipe": "mine", "workload": None, "topology": None}
        (tmp_path / "old.json").write_text(json.dumps([{**row, "point": {**row["point"], **point}} for row in told]))
        told = bumpbot("compare", tmp_path / "new.json", "--baseline", tmp_path / "old.json", "--format", "json").json
        assert {found["point"]["recipe"] for found in told["findings"] if found["point"]} == {"mine"}

    def test_a_result_without_its_concurrency_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "run.json").write_text(json.dumps(vllm_run(None)))
        done = bumpbot("compare", tmp_path / "run.json", "--baseline", rows(tmp_path / "old.json"))
        assert done.code == 1 and "the concurrency is nowhere told" in done.line

    def test_a_unit_that_is_none_is_told_with_its_file(self, tmp_path: Path) -> None:
        new = json.loads(rows(tmp_path / "new.json").read_text())
        (tmp_path / "new.json").write_text(json.dumps([row | {"unit": "furlongs"} for row in new]))
        done = bumpbot("compare", tmp_path / "new.json", "--baseline", rows(tmp_path / "old.json"))
        assert done.code == 1 and "new.json: unit: " in done.line and "furlongs" in done.line

    def test_for_a_person_the_verdict_comes_first(self, tmp_path: Path) -> None:
        argv = ("compare", rows(tmp_path / "new.json", 0.7, run=2), "--baseline", rows(tmp_path / "old.json"))
        for format_ in ("table", "markdown"):
            lines = bumpbot(*argv, "--format", format_).out.splitlines()
            assert lines[0].strip("*").startswith(("regressed", "inconclusive"))
            assert any("-30.0%" in line for line in lines)

    @pytest.mark.parametrize(("text", "said"), [
        ('[{"point": {"concurrency": 1}, "metric": "ttft", "value": NaN}]', "NaN"),
        ('[{"point": {"concurrency": 0}, "metric": "ttft", "value": 1.0}]', "concurrency"),
        ('[{"point": {"concurrency": 1}, "metric": "ttft", "value": 1.0, "foo": [', "not JSON"),
        ('[{"point": {"concurrency": 1}, "metric": "ttft", "value": 1e308}]', "1e+308 is more than 1e+12"),
        ('[{"point": {"concurrency": 1}, "metric": "eval", "value": 0.9, "n": 9}]', "a score without its task"),
        ("hello", "no result that is known here"), ("{}", "no result that is known here"),
    ])
    def test_a_file_that_holds_nonsense_is_one_line_with_its_name(self, tmp_path: Path, text: str, said: str) -> None:
        (tmp_path / "new.json").write_text(text)
        done = bumpbot("compare", tmp_path / "new.json", "--baseline", rows(tmp_path / "old.json"))
        assert (done.code, done.out) == (1, "")
        assert "new.json" in done.line and said in done.line
