"""A file is known by its first 64 KiB, however large it is and whatever stands first in it; and it is not read beyond limits."""

from __future__ import annotations

import json

import pytest

from bot.errors import BadInput
from bot.results import PARSERS, collect, read
from bot.results.claims import HEAD, claim
from tests.results.made import agentic, encoded, eval_row, fixed, jsonl, lm_results, request, row, sample, stream, summary
from tests.results.made_tools import burst, counter, own_row, published, repeats, report, server, sglang_run, sweep, vllm_run

LONG = "x" * 200_000
CONCS = range(1, 1500)


def many(task: str) -> dict:
    whole = lm_results(task=task)
    return whole | {"results": {f"{task}_{index}": whole["results"][task] for index in range(800)}}


BIG = {
    "inferencex-agentic": encoded([agentic(conc) for conc in CONCS]),
    "inferencex-fixed": encoded([fixed(conc) for conc in CONCS]),
    "inferencex-eval": encoded([eval_row(conc) for conc in CONCS]),
    "inferencex-api": encoded([published(conc) for conc in CONCS]),
    "inferencex-run-stats": encoded({f"cluster-{n}": {"n_success": 1, "total": 2} for n in range(3000)}),
    "lm-eval-results": encoded(many("gsm8k")),
    "lm-eval-samples": jsonl([{"doc_id": 0, "doc": {"question": LONG}, "target": LONG, **sample(0, "so", True)}]),
    "aiperf-records": jsonl([request(n) for n in range(1000)]),
    "aiperf-summary": json.dumps(summary() | {"telemetry_data": LONG}, indent=2).encode(),
    "aiperf-runs": encoded(sweep() | {"best_configurations": LONG}),
    "aiperf-server-metrics": encoded(server(**{f"vllm:metric_{n}": counter(1.0) for n in range(1000)})),
    "vllm-bench": encoded(vllm_run() | {"itls": [[0.01] * 200] * 200, "generated_texts": [LONG]}),
    "sglang-bench": jsonl([sglang_run(8, server_info={"internal_states": [LONG]})]),
    "campaign-rows": jsonl([burst(n) for n in range(500)]),
    "rows": encoded([row(conc) for conc in CONCS]),
    "bench-report": encoded(report(rows=[own_row(4, float(n)) for n in range(1000)])),
}


class TestAHead:
    def test_is_tried_for_every_format(self) -> None:
        assert set(BIG) == {parser.FORMAT for parser in PARSERS} and all(len(data) > HEAD for data in BIG.values())

    @pytest.mark.parametrize("name", sorted(BIG))
    def test_tells_one_format_wherever_it_is_cut(self, name) -> None:
        for end in (HEAD, HEAD - 1, HEAD // 2, HEAD // 16):
            assert [parser.FORMAT for parser in PARSERS if parser.sniff(BIG[name][:end], "x/some.json")] == [name]

    def test_of_repeats_is_no_summary_of_one_run(self) -> None:
        assert claim(encoded(repeats()), "x.json").FORMAT == "aiperf-runs"

    def test_of_the_published_answer_is_nobodys(self) -> None:
        answer = [{"id": "1", "hardware": "b200", "framework": "vllm", "conc": 4, "isl": 8192, "benchmark_type": "single_turn",
                   "config_id": 3, "metrics": {"tput_per_gpu": 3.0}, "date": "2026-09-03"}]
        assert claim(encoded(answer), "benchmarks.json") is None


class TestALimit:
    def test_on_a_document_is_told(self, monkeypatch) -> None:
        monkeypatch.setattr(read, "MAX_DOCUMENT", 1000)
        with pytest.raises(BadInput, match="larger than 1000 bytes"):
            collect([("results_bmk/agg_bmk.json", stream(BIG["inferencex-fixed"]))], recipe="r")

    def test_on_a_line_names_it(self) -> None:
        lines = jsonl([request(0)]) + b'{"metadata": {"benchmark_phase": "' + b"x" * read.MAX_LINE + b'"}}\n'
        with pytest.raises(BadInput, match="a line of more than") as raised:
            collect([("a_conc1_/profile_export.jsonl", stream(lines))], recipe="r")
        assert raised.value.line == 2

    @pytest.mark.parametrize("wrong", [10**16, 1.5e300])
    def test_on_a_count_is_told(self, wrong) -> None:
        with pytest.raises(BadInput, match="whole number"):
            collect([("b/r.json", stream(agentic(num_requests_successful=wrong)))], recipe="r")
