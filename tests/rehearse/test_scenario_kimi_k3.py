"""The shipped scenario: its numbers print as the record of the real bump prints them, and its story ends as that one did."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.diagnose import signatures
from bot.diagnose.triage import triage
from bot.rehearse import scenario
from tests.rehearse import make_kimi_k3_gb200
from tests.rehearse.kimi_k3_gb200 import numbers

FOLDER = Path(scenario.__file__).parent / "scenarios/kimi-k3-gb200"
INITIAL, REPAIRED, SWEEP = (
    FOLDER / "artifacts" / str(run) for run in (numbers.INITIAL, numbers.REPAIRED, numbers.SWEEP)
)

# concurrency: columns as printed: tput/GPU, output, median TTFT, median ITL, median interactivity
BASELINE = {
    1: ("917.30", "112.26", "2.158", "0.00448", "223.2"),
    2: ("973.96", "131.38", "2.078", "0.00456", "219.3"),
    4: ("1489.05", "164.49", "2.070", "0.00479", "208.8"),
    8: ("2161.78", "220.23", "15.369", "0.00509", "196.5"),
    16: ("2300.06", "236.18", "48.465", "0.00515", "194.2"),
}
FULL = {
    1: ("971.0 (+5.8%)", "117.4 (+4.6%)", "1.589 (-26.4%)", "0.00428 (-4.5%)", "233.6 (+4.7%)", 238),
    2: ("1036.2 (+6.4%)", "142.9 (+8.8%)", "1.345 (-35.3%)", "0.00434 (-4.8%)", "230.5 (+5.1%)", 390),
    4: ("1553.7 (+4.3%)", "170.4 (+3.6%)", "1.408 (-32.0%)", "0.00444 (-7.3%)", "225.3 (+7.9%)", 517),
    8: ("2320.8 (+7.4%)", "244.7 (+11.1%)", "7.730 (-49.7%)", "0.00478 (-6.1%)", "209.1 (+6.4%)", 900),
}
COLUMNS = (
    ("tput_per_gpu", ".1f"),
    ("output_tput_tps", ".1f"),
    ("median_ttft", ".3f"),
    ("median_itl", ".5f"),
    ("median_intvty", ".1f"),
)


def published(conc: int) -> dict[str, float]:
    rows = json.loads((FOLDER / "baseline.json").read_text())["benchmarks"]
    return next(
        row["metrics"] for row in rows if row["conc"] == conc and row["recipe_fingerprint"] == numbers.FINGERPRINT
    )


def measured(folder: Path, conc: int) -> dict[str, Any]:
    """An aggregate, flat, by the names that the published rows use."""
    file = next(folder.glob(f"bmk_agentic_*/*_conc{conc}.json"))
    made = json.loads(file.read_text())
    told = made["request_metrics"]
    return {
        "tput_per_gpu": told["throughput"]["per_gpu"]["total_tput_tps"],
        "output_tput_tps": told["throughput"]["output"]["tokens_per_second"],
        "input_tput_tps": told["throughput"]["input"]["tokens_per_second"],
        "median_ttft": told["latency"]["ttft"]["p50"],
        "median_itl": told["latency"]["itl"]["p50"],
        "median_intvty": told["latency"]["intvty"]["p50"],
        "whole": made,
    }


def printed(new: float, old: float, form: str) -> str:
    return f"{new:{form}} ({(new / old - 1) * 100:+.1f}%)"


def requests(folder: Path, conc: int) -> list[dict[str, Any]]:
    file = next(folder.glob(f"agentic_*_conc{conc}_*/aiperf_artifacts/profile_export.jsonl"))
    return [json.loads(line) for line in file.read_text().splitlines()]


def accounting(rows: list[dict[str, Any]]) -> Counter[tuple[str, bool]]:
    return Counter((row["metadata"]["benchmark_phase"], "error" in row) for row in rows)


class TestTheNumbersPrintAsTheRecordPrintsThem:
    @pytest.mark.parametrize("conc", BASELINE)
    def test_the_published_baseline(self, conc: int) -> None:
        row = published(conc)
        forms = (".2f", ".2f", ".3f", ".5f", ".1f")
        assert tuple(f"{row[name]:{form}}" for (name, _), form in zip(COLUMNS, forms, strict=True)) == BASELINE[conc]

    @pytest.mark.parametrize("conc", FULL)
    def test_the_interim_table_of_the_sweep_with_its_deltas(self, conc: int) -> None:
        new, old = measured(SWEEP / "1", conc), published(conc)
        assert tuple(printed(new[name], old[name], form) for name, form in COLUMNS) == FULL[conc][:5]
        assert new["whole"]["num_requests_successful"] == FULL[conc][5]

    def test_the_smokes_table(self) -> None:
        new, old = measured(REPAIRED / "1", 1), published(1)
        assert tuple(
            printed(new[name], old[name], form)
            for name, form in (
                ("tput_per_gpu", ".2f"),
                ("output_tput_tps", ".2f"),
                ("input_tput_tps", ".1f"),
                *COLUMNS[2:],
            )
        ) == (
            "955.51 (+4.2%)",
            "117.33 (+4.5%)",
            "15170.8 (+4.2%)",
            "1.587 (-26.5%)",
            "0.00433 (-3.3%)",
            "230.7 (+3.4%)",
        )
        assert f"{old['input_tput_tps']:.1f}" == "14564.6"
        assert round(new["whole"]["request_metrics"]["throughput"]["duration_seconds"]) == 3594
        assert new["whole"]["server_metrics"]["cache"]["gpu_cache_hit_rate"] == 0.961

    def test_a_delta_needs_the_unrounded_value(self) -> None:
        assert (
            printed(measured(SWEEP / "1", 1)["tput_per_gpu"], published(1)["tput_per_gpu"], ".2f") == "970.96 (+5.8%)"
        )
        assert printed(971.0, 917.3, ".1f") == "971.0 (+5.9%)"

    def test_the_evals_scores_and_their_threshold(self) -> None:
        for conc, strict, flexible in ((2, "0.8165", "0.9090"), (4, "0.7991", "0.9030"), (16, "0.8120", "0.9067")):
            scores = json.loads(next(SWEEP.glob(f"1/eval_kimik3*_conc{conc}_*/results_*.json")).read_text())["results"][
                "gsm8k"
            ]
            assert f"{scores['exact_match,strict-match']:.4f}" == strict
            assert f"{scores['exact_match,flexible-extract']:.4f}" == flexible


class TestTheRowsAgreeWithWhatIsSaidOfThem:
    @pytest.mark.parametrize(
        ("conc", "invalid", "total", "profiling"), [(1, 11, 252, 0), (2, 24, 419, 2), (4, 44, 568, 0), (8, 68, 1000, 0)]
    )
    def test_the_accounting_of_the_sweep(self, conc: int, invalid: int, total: int, profiling: int) -> None:
        counted = accounting(requests(SWEEP / "1", conc))
        assert counted.total() == total
        assert counted["profiling", True] == profiling
        assert counted["warmup", True] == invalid - profiling
        assert counted["profiling", False] == FULL[conc][5]

    def test_the_accounting_of_the_smoke(self) -> None:
        rows = requests(REPAIRED / "1", 1)
        assert accounting(rows) == {
            ("warmup", True): 10,
            ("warmup", False): 1,
            ("profiling", True): 7,
            ("profiling", False): 234,
        }
        bad = [row for row in rows if "error" in row and row["metadata"]["benchmark_phase"] == "profiling"]
        assert Counter(row["metadata"]["conversation_id"] for row in bad).most_common(1)[0][1] == 6
        assert {row["error"]["type"] for row in bad} == {"InvalidInferenceResultError"}

    @pytest.mark.parametrize("conc", FULL)
    def test_medians_and_rates_are_those_of_the_rows(self, conc: int) -> None:
        kept = [
            row
            for row in requests(SWEEP / "1", conc)
            if row["metadata"]["benchmark_phase"] == "profiling" and "error" not in row
        ]
        told = measured(SWEEP / "1", conc)
        assert statistics.median(
            row["metrics"]["time_to_first_token"]["value"] for row in kept
        ) / 1000 == pytest.approx(told["median_ttft"])
        window = max(row["metadata"]["request_end_ns"] for row in kept) - min(
            row["metadata"]["request_start_ns"] for row in kept
        )
        tokens = sum(row["metrics"]["output_sequence_length"]["value"] for row in kept)
        assert tokens / (window / 1e9) == pytest.approx(told["output_tput_tps"])

    def test_the_answers_of_c16(self) -> None:
        file = next(SWEEP.glob("1/eval_kimik3*_conc16_*/samples_gsm8k_*.jsonl"))
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        answers = {row["doc_id"]: row["resps"][0][0] for row in rows if row["filter"] == "strict-match"}
        assert len(answers) == 1319
        assert sum("#### " not in text for text in answers.values()) == 219
        assert statistics.median(map(len, answers.values())) == 258
        assert sum(row["exact_match"] for row in rows if row["filter"] == "strict-match") == 1071
        assert sum(row["exact_match"] for row in rows if row["filter"] == "flexible-extract") == 1196
        assert all(answers.values())

    def test_the_fingerprint_is_that_of_the_recipes_row(self) -> None:
        assert numbers.fingerprint(numbers.OLD) == numbers.FINGERPRINT
        assert measured(SWEEP / "1", 1)["whole"]["recipe_fingerprint"] == numbers.fingerprint(numbers.NEW)


class TestTheLogs:
    KNOWN = signatures.load(
        (Path(signatures.__file__).parents[1] / "knowledge/signatures.yaml").read_text(), "signatures.yaml"
    )

    def read(self, folder: Path) -> Any:
        streams = [(file.name, file.open("rb")) for file in sorted(folder.iterdir())]
        try:
            return triage(streams, self.KNOWN)
        finally:
            for _, stream in streams:
                stream.close()

    @pytest.mark.parametrize("kind", ["multinode_server_logs", "eval_multinode_server_logs"])
    def test_the_first_error_is_the_frontends_and_not_the_teardowns(self, kind: str) -> None:
        told = self.read(next((INITIAL / "1").glob(f"{kind}_*")))
        assert told.first_error == "ModuleNotFoundError: No module named 'vllm.entrypoints.openai.cli_args'"
        assert told.file.endswith("_frontend_0.out")

    def test_the_teardown_that_could_be_taken_for_a_cause_is_there(self) -> None:
        text = next((INITIAL / "1").glob("multinode_server_logs_*/watchtower-navy-cn04_agg_w3.out")).read_text()
        assert "sendBytes" in text and "watchdog" in text

    def test_the_retry_was_for_a_package_on_one_node(self) -> None:
        folder = next((REPAIRED / "1").glob("eval_multinode_server_logs_*"))
        assert self.read(folder).class_ == "package-fetch"
        assert [file.name for file in folder.iterdir() if "ResolutionImpossible" in file.read_text()] == [
            "watchtower-navy-cn04_agg_w3.out"
        ]

    def test_the_green_smoke_carried_74_warnings_in_11_requests(self) -> None:
        text = next((REPAIRED / "1").glob("multinode_server_logs_*/*_frontend_0.out")).read_text()
        found = [
            line.split("request_id=")[1].split()[0] for line in text.splitlines() if "kimi_k3_incomplete_call" in line
        ]
        assert (len(found), len(set(found))) == (74, 11)

    def test_its_engines_complain_only_when_they_are_taken_down(self) -> None:
        for file in next((REPAIRED / "1").glob("multinode_server_logs_*")).glob("*_agg_w*.out"):
            lines = [line for line in file.read_text().splitlines() if "sendBytes failed" in line]
            assert len(lines) == 4 and all(" 09:01:" in line for line in lines)


class TestTheFolder:
    def test_the_script_makes_these_bytes_again(self, tmp_path: Path) -> None:
        make_kimi_k3_gb200.make(tmp_path)
        made = {file.relative_to(tmp_path): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
        held = {file.relative_to(FOLDER): file.read_bytes() for file in FOLDER.rglob("*") if file.is_file()}
        assert made == {name: data for name, data in held.items() if name.parts[0] != "repo"}

    def test_it_is_small(self) -> None:
        assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 3_200_000

    def test_three_places_hold_the_old_image_in_the_recipes_files(self) -> None:
        recipe = next((FOLDER / "repo").rglob("agg-gb200-dcp16-dspark4-*.yaml")).read_text()
        assert recipe.count(numbers.OLD) == 2
        master = (FOLDER / "repo/configs/nvidia-master.yaml").read_text()
        assert master.split(f"{numbers.RECIPE}:\n")[1].split("\n")[0] == f"  image: {numbers.OLD}"

    def test_the_recipe_sets_what_only_the_old_frontend_path_takes_and_a_sibling_says_dynamo(self) -> None:
        texts = {file.name: file.read_text() for file in (FOLDER / "repo").rglob("*agentic.yaml")}
        assert [name for name, text in texts.items() if 'dyn-chat-processor: "vllm"' in text] == [
            "agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml"
        ]
        assert sum('dyn-chat-processor: "dynamo"' in text for text in texts.values()) == 4
