"""Published baselines: which rows are ours, what their run was, and what is said of the rest."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from bot.adapters.http import make_client
from bot.adapters.published import ApiSource, FileSource, PublishedBaselines
from bot.errors import BadInput, Unreachable
from bot.results.metrics import parse
from tests.adapters.fake_registry import FakeClock

METRICS = parse((Path(__file__).parents[2] / "bot" / "knowledge" / "metrics.yaml").read_text(encoding="utf-8"))
SAMPLE = Path(__file__).parents[3] / "shared" / "data" / "inferencex-api" / "benchmarks.sample.json"
IMAGE, PRINT, HEAD = "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef", "a2" * 32, "34" * 20
ASK = {"model": "kimik3", "image": IMAGE, "fingerprint": PRINT}


def row(conc: int, *, date: str = "2026-08-21", run: int = 324, attempt: int = 2, **more) -> dict:
    return {"hardware": "gb200", "framework": "dynamo-vllm", "model": "kimik3", "precision": "fp4", "spec_method": "dspark",
            "disagg": False, "is_multinode": True, "prefill_tp": 16, "prefill_ep": 1, "prefill_dp_attention": False,
            "prefill_num_workers": 1, "decode_tp": 16, "decode_ep": 1, "decode_dp_attention": False, "decode_num_workers": 1,
            "num_prefill_gpu": 16, "num_decode_gpu": 16, "benchmark_type": "agentic_traces", "isl": None, "osl": None,
            "conc": conc, "image": IMAGE, "recipe_fingerprint": PRINT, "date": date,
            "run_url": f"https://forge.example/o/n/actions/runs/{run}/attempts/{attempt}",
            "metrics": {"tput_per_gpu": 917.3 + conc, "median_ttft": 2.158, "p99_ttft": 9.5, "median_itl": 0.00448,
                        "output_tput_tps": 112.26, "dcp_size": 16, "dcp_size_note": 1, "mean_ttft": None}, **more}


def evaluation(conc: int | None, value: float, *, run: int = 324, timestamp: str = "2026-08-21T05:00:00Z", **more) -> dict:
    return {**{key: value for key, value in row(1).items() if key in ("hardware", "framework", "model", "precision",
                                                                      "spec_method", "decode_tp")},
            "task": "gsm8k", "conc": conc, "date": "2026-08-21", "timestamp": timestamp,
            "run_url": f"https://forge.example/o/n/actions/runs/{run}",
            "metrics": {"em_strict": value, "em_flexible": 0.97, "n_eff": 1319}, **more}


INFO = {"runs": [], "runConfigs": [{"github_run_id": "324", "head_sha": HEAD}, {"github_run_id": "999", "head_sha": "1" * 40}],
        "changelogs": [{"workflow_run_id": "999", "pr_link": "https://forge.example/o/n/pull/9"},
                       {"workflow_run_id": "324", "pr_link": "https://forge.example/o/n/pull/2700"}]}


class Api:
    """Answers by route and query; `fails` names routes that answer 500."""

    def __init__(self, days: dict[str, list[dict]], *, latest: str = "", evals=(), info=INFO, fails=()) -> None:
        self.days, self.latest, self.evals, self.info, self.fails = days, latest, list(evals), info, fails
        self.asked: list[httpx.URL] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url)
        route, query = request.url.path.rsplit("/", 1)[1], request.url.params
        if route in self.fails:
            return httpx.Response(500)
        if route == "benchmarks":
            if query["model"] != "Kimi-K3":
                return httpx.Response(400, json={"error": "Unknown model"})
            day = query.get("date") or self.latest or max(self.days)
            return httpx.Response(200, json=self.days.get(day, []))
        if route == "availability":
            listed = [{"model": "kimik3", "date": day} for day in self.days]
            return httpx.Response(200, json=[*listed, {"model": "dsr1", "date": "2027-01-01"}])
        return httpx.Response(200, json=self.evals if route == "evaluations" else self.info)

    def port(self) -> PublishedBaselines:
        client = make_client(transport=httpx.MockTransport(self))
        return PublishedBaselines(ApiSource(FakeClock(), base_url="https://api.example/api/v1", client=client), METRICS)

    def baseline(self, **more):
        return self.port().baseline("kimi", **{**ASK, **more})


class TestABaseline:
    def test_names_its_day_run_attempt_head_and_pull_request(self):
        found = Api({"2026-08-21": [row(1), row(2)]}, evals=[evaluation(16, 0.9727)]).baseline()
        assert (found.date, found.run, found.attempt, found.head, found.pull) == ("2026-08-21", 324, 2, HEAD, 2700)
        assert (found.image, found.fingerprint, found.source) == (IMAGE, PRINT, "https://api.example/api/v1/benchmarks")

    def test_rows_are_in_canonical_metrics_and_name_their_point(self):
        found = Api({"2026-08-21": [row(2), row(1)]}).baseline()
        first = {(r.metric, r.stat): r for r in found.rows if r.point.concurrency == 1}
        assert {key: r.value for key, r in first.items()} == {
            ("tput_per_gpu", None): 918.3, ("ttft", "p50"): 2.158, ("ttft", "p99"): 9.5, ("itl", "p50"): 0.00448,
            ("output_tput", None): 112.26}
        one = first["ttft", "p50"]
        assert (one.unit, one.run, one.attempt, one.head, one.image) == ("s", 324, 2, HEAD, IMAGE)
        assert (one.point.recipe, one.point.workload, one.point.topology, one.point.fingerprint) == (
            "kimi", "agentic-coding", "TP16/DCP16", PRINT)

    def test_evals_are_those_of_the_producing_run_and_configuration(self):
        found = Api({"2026-08-21": [row(1), row(16)]}, evals=[
            evaluation(16, 0.9727), evaluation(16, 0.5, run=9), evaluation(16, 0.4, hardware="b200"),
            evaluation(16, 0.3, timestamp="2026-08-20T00:00:00Z"), evaluation(1, 1.5)]).baseline()
        evals = [r for r in found.rows if r.metric == "eval"]
        strict = [r for r in evals if r.stat == "strict"]
        assert [(r.task, r.value, r.n, r.correct, r.point.concurrency, r.unit) for r in strict] == [
            ("gsm8k", 0.9727, 1319, 1283, 16, "share")]
        assert {r.stat for r in evals} == {"strict", "flexible"}, "both filters gate, so both are kept"

    def test_right_answers_are_not_made_up_where_the_share_does_not_tell_them(self):
        found = Api({"2026-08-21": [row(1)]}, evals=[evaluation(1, 0.97273, metrics={"score": 0.9355, "n_eff": 20})]).baseline()
        assert [(r.value, r.n, r.correct) for r in found.rows if r.metric == "eval"] == [(0.9355, 20, None)]

    def test_is_looked_for_on_earlier_days_when_another_topology_took_the_curve(self):
        other = row(1, date="2026-09-01", recipe_fingerprint="ff" * 32)
        api = Api({"2026-08-21": [row(1)], "2026-08-01": [row(1, date="2026-08-01")], "2026-09-01": [other]})
        assert api.baseline().date == "2026-08-21"
        assert not any(url.params.get("date") == "2026-08-01" for url in api.asked if url.path.endswith("benchmarks"))

    def test_takes_the_newest_attempt_of_a_point_and_says_when_runs_are_mixed(self):
        found = Api({"2026-08-21": [row(1), row(1, attempt=1, metrics={"tput_per_gpu": 1.0}), row(2, run=300)]}).baseline()
        assert [(r.point.concurrency, r.value, r.run, r.head) for r in found.rows if r.metric == "tput_per_gpu"] == [
            (1, 918.3, 324, HEAD), (2, 919.3, 300, None)]
        assert "points-from-runs:300, 324" in found.notes

    def test_an_image_in_enroots_spelling_is_the_same_image(self):
        rows = [row(1, image="nvcr.io/nvidia/x:1.3.0rc9")]
        assert Api({"2026-08-21": rows}).baseline(image="nvcr.io#nvidia/x:1.3.0rc9").run == 324


class TestNone:
    @pytest.mark.parametrize("ask", [{"image": "vllm/vllm-openai:v0.25.1"}, {"fingerprint": "00" * 32}, {"fingerprint": ""},
                                     {"model": "nobody"}])
    def test_is_told_where_nothing_matches(self, ask):
        assert Api({"2026-08-21": [row(1), row(2, recipe_fingerprint=""), row(4, image=None)]}).baseline(**ask) is None

    def test_an_api_that_does_not_answer_is_unreachable_and_not_none(self):
        with pytest.raises(Unreachable):
            Api({"2026-08-21": []}, fails=("benchmarks",)).baseline()


class TestWhatIsMissing:
    def test_is_a_note_each(self):
        found = Api({"2026-08-21": [row(1)]}, info={}, evals=[]).baseline()
        assert (found.head, found.pull) == (None, None)
        assert found.notes == ("head-unpublished:324", "pull-unpublished:324",
                               "evals-unpublished",
                               "requests-unpublished")

    def test_routes_that_fail_leave_the_points(self):
        found = Api({"2026-08-21": [row(1)]}, fails=("workflow-info", "evaluations")).baseline()
        assert len(found.rows) == 5 and len(found.notes) == 3

    def test_a_row_without_a_run_says_so(self):
        found = Api({"2026-08-21": [row(1, run_url=None)]}, evals=[evaluation(1, 0.9)]).baseline()
        assert found.run is None and "run-unpublished" in found.notes
        assert not [r for r in found.rows if r.metric == "eval"]


class TestAFile:
    def document(self, **more) -> str:
        return json.dumps({"benchmarks": [row(1)], "evaluations": [evaluation(1, 0.9)], "workflow-info": INFO, **more})

    def read(self, text: str):
        return PublishedBaselines(FileSource(text, name="baseline.json"), METRICS).baseline("kimi", **ASK)

    def test_answers_as_the_api_does(self):
        kept = {"run": 324, "accounting": [{"concurrency": 1, "total": 252, "profiled": 234, "warmup_invalid": 11,
                                            "profiling_invalid": 7}], "samples": [], "head": HEAD}
        found = self.read(self.document(companions=[kept]))
        assert (found.run, found.head, found.pull, found.source) == (324, HEAD, 2700, "baseline.json/benchmarks")
        assert found.accounting[0].invalid == 18 and found.notes == ()

    def test_may_be_the_rows_alone(self):
        found = self.read(json.dumps([row(1)]))
        assert found.run == 324 and found.head is None and found.notes

    @pytest.mark.parametrize(("text", "said"), [
        ("{}", "benchmarks"), ("7", "benchmarks"), ("{", "not JSON"), ('{"benchmarks": [], "benchmarks": []}', "twice")])
    def test_that_does_not_hold_is_bad_input_with_its_name(self, text, said):
        with pytest.raises(BadInput, match=f"baseline.json.*{said}"):
            self.read(text)

    def test_with_a_companion_that_does_not_hold_is_bad_input(self):
        with pytest.raises(BadInput, match="companion|accounting"):
            self.read(self.document(companions=[{"run": 324, "accounting": [{"concurrency": "one"}]}]))


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the recorded API answer lies beside the checkout and is absent")
class TestARecordedAnswer:
    def test_is_read_whole(self):
        text = SAMPLE.read_text(encoding="utf-8")
        rows = json.loads(text)
        first = rows[0]
        found = PublishedBaselines(FileSource(text, name="sample"), METRICS).baseline(
            "dsv4", model="dsv4", image=first["image"], fingerprint=first["recipe_fingerprint"])
        assert found.date == first["date"] and found.run == 33554397154
        assert {r.point.concurrency for r in found.rows} == {
            r["conc"] for r in rows if r["recipe_fingerprint"] == first["recipe_fingerprint"] and r["date"] == first["date"]}
        assert {r.point.workload for r in found.rows} == {"8k1k"} and {r.point.topology for r in found.rows} == {"TP8/EP8/DPA"}
        ttft = next(r for r in found.rows if (r.metric, r.stat, r.point.concurrency) == ("ttft", "p50", first["conc"]))
        assert ttft.value == first["metrics"]["median_ttft"]
