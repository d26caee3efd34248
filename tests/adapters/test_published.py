"""Published baselines: which rows are ours, what their run was, and what is said of the rest."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from bot.adapters.http import make_client
from bot.adapters.published import ApiSource, FileSource, PublishedBaselines
from bot.baseline import match
from bot.errors import BadInput, Unreachable
from bot.results.metrics import parse
from tests.adapters.fake_registry import FakeClock
from tests.fakes import asked

METRICS = parse((Path(__file__).parents[2] / "bot" / "knowledge" / "metrics.yaml").read_text(encoding="utf-8"))
SAMPLE = Path(__file__).parents[3] / "shared" / "data" / "inferencex-api" / "benchmarks.sample.json"
IMAGE, PRINT, HEAD = "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef", "a2" * 32, "34" * 20
ASK = {"model": "kimik3", "image": IMAGE, "fingerprint": PRINT}
WHAT = "gb200|dynamo-vllm|fp4|dspark|TP16/DCP16|agentic-coding|off"


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
    """Answers by route and query; `fails` names routes that answer 500. Without `history` that route does not exist."""

    def __init__(self, days: dict[str, list[dict]], *, latest: str = "", evals=(), info=INFO, fails=(), history=False,
                 answer=None, names=()) -> None:
        self.days, self.latest, self.evals, self.info, self.fails = days, latest, list(evals), info, fails
        self.history, self.answer, self.names = history, answer, ["Kimi-K3", *names]
        self.asked: list[httpx.URL] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url)
        route, query = request.url.path.rsplit("/", 1)[1], request.url.params
        if route in self.fails:
            return httpx.Response(500)
        if self.answer is not None and route == "benchmarks":
            return self.answer
        if route == "openapi.json":
            told = {"name": "model", "in": "query", "schema": {"enum": self.names}}
            return httpx.Response(200, json={"paths": {"/api/v1/benchmarks": {"get": {"parameters": [told]}}}})
        if route == "history":
            kind = query.get("benchmarkType") or [int(query["isl"]), int(query["osl"])]
            rows = [row for day in self.days.values() for row in day
                    if kind in (row.get("benchmark_type"), [row.get("isl"), row.get("osl")])]
            return httpx.Response(200, json=rows) if self.history else httpx.Response(404)
        if route == "benchmarks":
            if query["model"] not in self.names:
                return httpx.Response(400, json={"error": "Unknown model"})
            day = query.get("date") or self.latest or max(self.days)
            return httpx.Response(200, json=self.days.get(day, []))
        if route == "availability":
            listed = [{"model": "kimik3", "hardware": "gb200", "date": day} for day in self.days]
            others = [{"model": "dsr1", "date": "2027-01-01"}, {"model": "kimik3", "hardware": "b200", "date": "2027-01-02"}]
            return httpx.Response(200, json=[*listed, *others])
        return httpx.Response(200, json=self.evals if route == "evaluations" else self.info)

    def port(self) -> PublishedBaselines:
        client = make_client(transport=httpx.MockTransport(self))
        return PublishedBaselines(ApiSource(FakeClock(), base_url="https://api.example/api/v1", client=client), METRICS)

    def baseline(self, **more):
        return asked.baseline(self.port(), "kimi", **{**ASK, "hardware": "gb200", **more})

    def match(self, *concurrencies: int, **more):
        question = asked.asked("kimi", concurrencies=concurrencies, **{**ASK, "hardware": "gb200", **more})
        return match(self.port().offer(question), question)


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

    @pytest.mark.parametrize("history", [True, False])
    def test_is_looked_for_on_earlier_days_when_another_topology_took_the_curve(self, history: bool):
        other = row(1, date="2026-09-01", recipe_fingerprint="ff" * 32)
        api = Api({"2026-08-21": [row(1)], "2026-08-01": [row(1, date="2026-08-01", run=300)], "2026-09-01": [other]}, history=history)
        found = api.baseline()
        assert found.date == "2026-08-21" and [r.run for r in found.rows if r.metric == "ttft" and r.stat == "p50"] == [324, 300]
        dated = [url.params["date"] for url in api.asked if url.path.endswith("benchmarks") and "date" in url.params]
        assert dated == ([] if history else ["2026-09-01", "2026-08-21", "2026-08-01"])

    def test_is_asked_for_in_few_requests_and_none_twice(self):
        days = {f"2026-08-{day:02}": [row(1, date=f"2026-08-{day:02}", run=day)] for day in range(1, 29)}
        api = Api(days)
        port = api.port()
        for recipe in ("kimi", "kimi-mtp"):
            assert asked.baseline(port, recipe, **ASK) is not None
        assert len(api.asked) == len({str(url) for url in api.asked}) <= 14

    def test_points_that_the_last_run_did_not_repeat_are_those_of_the_run_before(self):
        api = Api({"2026-08-21": [row(1), row(2)], "2026-09-01": [row(1, date="2026-09-01", run=400)]}, history=True)
        found = api.baseline()
        assert {(r.point.concurrency, r.run) for r in found.rows if r.metric == "itl"} == {(1, 400), (1, 324), (2, 324)}

    def test_takes_the_newest_attempt_of_a_point_and_says_when_runs_are_mixed(self):
        found = Api({"2026-08-21": [row(1), row(1, attempt=1, metrics={"tput_per_gpu": 1.0}), row(2, run=300)]}).baseline()
        assert [(r.point.concurrency, r.value, r.run, r.head) for r in found.rows if r.metric == "tput_per_gpu"] == [
            (1, 918.3, 324, HEAD), (2, 919.3, 300, None)]

    def test_an_image_in_enroots_spelling_is_the_same_image(self):
        rows = [row(1, image="nvcr.io/nvidia/x:1.3.0rc9")]
        assert Api({"2026-08-21": rows}).baseline(image="nvcr.io#nvidia/x:1.3.0rc9").run == 324


class TestNone:
    @pytest.mark.parametrize(("ask", "why"), [
        ({"image": "vllm/vllm-openai:v0.25.1"}, f"other-image:{IMAGE}"), ({"fingerprint": "00" * 32}, "other-configuration"),
        ({"fingerprint": ""}, "other-configuration"), ({"model": "nobody"}, "model-unknown:nobody"),
        ({"hardware": "b300"}, "not-published")])
    def test_is_told_where_nothing_matches_with_what_there_is_instead(self, ask, why):
        api = Api({"2026-08-21": [row(1), row(2, recipe_fingerprint=""), row(4, image=None)]})
        assert api.match(8, **ask).missing == why

    def test_an_api_that_does_not_answer_is_unreachable_and_not_none(self):
        with pytest.raises(Unreachable):
            Api({"2026-08-21": []}, fails=("benchmarks",)).baseline()

    @pytest.mark.parametrize(("answer", "why"), [
        (httpx.Response(200, json={"rows": []}), "answer-unreadable"), (httpx.Response(200, text="<html>"), "answer-unreadable"),
        (httpx.Response(302, headers={"location": "https://else.example"}), "source-refused"),
        (httpx.Response(403), "source-refused")])
    def test_of_an_api_of_another_shape_is_a_reason_and_no_crash(self, answer, why):
        assert Api({}, answer=answer).match(1).missing == why


# what is changed in a published row -> what is said of it
NOT_HELD = {
    "a text for a concurrency": ({"conc": "1"}, "rows-refused:1"), "no concurrency": ({"conc": None}, "rows-refused:1"),
    "a list for an image": ({"image": []}, "rows-refused:1"), "a number for a day": ({"date": 20260821}, "rows-refused:1"),
    "a day that is none": ({"date": "yesterday"}, "rows-refused:1"), "no metrics": ({"metrics": [1]}, "rows-refused:1"),
    "a negative value": ({"metrics": {"tput_per_gpu": -1.0, "median_ttft": 2.0}}, "value-negative:1:tput_per_gpu"),
    "one beyond all measure": ({"metrics": {"tput_per_gpu": 1e301, "median_ttft": 2.0}}, "value-infinite:1:tput_per_gpu"),
}


class TestRowsThatDoNotHold:
    @pytest.mark.parametrize("what", NOT_HELD)
    def test_are_passed_over_with_a_note_and_take_no_other_with_them(self, what: str):
        changed, said = NOT_HELD[what]
        made = Api({"2026-08-21": [{**row(1), **changed}, row(2)]}).match(1, 2)
        assert said in made.notes and {r.point.concurrency for r in made.baseline.rows} >= {2}
        assert not [r for r in made.baseline.rows if r.value < 0 or r.value > 1e300]

    def test_say_nothing_of_values_that_nobody_reads_nor_of_another_recipes(self):
        rows = [row(1, metrics={"tput_per_gpu": 1.0, "made_up": -1.0}), row(2, recipe_fingerprint="00" * 32, metrics={"median_ttft": -1.0})]
        assert not [note for note in Api({"2026-08-21": rows}).match(1).notes if note.startswith("value-")]

    def test_of_which_none_is_left_say_so_at_their_point(self):
        made = Api({"2026-08-21": [row(1, metrics={"tput_per_gpu": -1.0}), row(2)]}).match(1, 2)
        assert [(one.point.concurrency, one.why) for one in made.absent] == [(1, "value-refused")]

    def test_told_twice_with_different_values_neither_is_taken(self):
        made = Api({"2026-08-21": [row(1), row(1, metrics={"tput_per_gpu": 1.0, "median_ttft": 2.158})]}).match(1)
        assert "points-contradict:1" in made.notes
        assert {r.metric for r in made.baseline.rows} == {"ttft", "itl", "output_tput"}

    def test_a_metric_under_two_names_is_one_value(self):
        found = Api({"2026-08-21": [row(1, metrics={"median_ttft": 2.0, "p50_ttft": 2.0})]}).baseline()
        assert [(r.metric, r.stat) for r in found.rows] == [("ttft", "p50")]


class TestRowsWithoutAFingerprint:
    def old(self, **more):
        return Api({"2026-08-21": [row(1, recipe_fingerprint=None, **more)]}).match(1, identity=WHAT)

    def test_match_by_everything_else_and_say_so(self):
        assert "fingerprint-unknown" in self.old().notes

    @pytest.mark.parametrize("other", [{"spec_method": "none"}, {"hardware": "b200"}, {"framework": "vllm"}, {"prefill_tp": 8},
                                       {"precision": "fp8"}, {"offload_mode": "on"}, {"image": "vllm/vllm-openai:v0.25.1"}, {"disagg": True},
                                       {"benchmark_type": "single_turn", "isl": 8192, "osl": 1024}, {"model": "kimik2"}])
    def test_never_match_where_one_of_them_differs(self, other):
        assert self.old(**other).baseline is None


class TestTheModelsName:
    def test_is_looked_up_in_the_apis_own_description_where_it_is_not_on_record(self):
        api = Api({"2026-08-21": [row(1, model="glm5.2")]}, names=["GLM-5", "GLM-5.2"])
        assert api.baseline(model="glm5.2").run == 324

    def test_rows_of_another_model_under_the_same_name_are_not_ours(self):
        api = Api({"2026-08-21": [row(1, model="minimaxm2.5")]}, names=["MiniMax-M2.5"])
        assert api.baseline(model="minimaxm2.5").run == 324 and api.match(1, model="minimaxm2.7").missing == "nothing-published"


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
        return asked.baseline(PublishedBaselines(FileSource(text, name="baseline.json"), METRICS), "kimi", **ASK)

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
        found = asked.baseline(
            PublishedBaselines(FileSource(text, name="sample"), METRICS), "dsv4", model="dsv4", image=first["image"], fingerprint=first["recipe_fingerprint"])
        assert found.date == first["date"] and found.run == 33554397154
        assert {r.point.concurrency for r in found.rows} == {
            r["conc"] for r in rows if r["recipe_fingerprint"] == first["recipe_fingerprint"] and r["date"] == first["date"]}
        assert {r.point.workload for r in found.rows} == {"8k1k"} and {r.point.topology for r in found.rows} == {"TP8/EP8/DPA"}
        ttft = next(r for r in found.rows if (r.metric, r.stat, r.point.concurrency) == ("ttft", "p50", first["conc"]))
        assert ttft.value == first["metrics"]["median_ttft"]
