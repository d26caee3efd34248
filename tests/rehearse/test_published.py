"""The published baselines on loopback, asked over HTTP and through the bot's own adapter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot import strict
from bot.rehearse import scenario
from bot.rehearse.published import LoopbackPublished, PublishedData
from tests.fakes import asked

SHIPPED = Path(scenario.__file__).parent / "scenarios/kimi-k3-gb200"
RECIPE = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
OLD = "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef"
FINGERPRINT = "a295bb2c321dd5df3fdb8c66ab5832bc7a22e170f57f03ee1652deac41317160"


@pytest.fixture(scope="module")
def published() -> Iterator[LoopbackPublished]:
    data = strict.load_json(PublishedData, (SHIPPED / "baseline.json").read_text(), file="baseline.json")
    held = LoopbackPublished(data)
    held.start()
    yield held
    held.stop()


def ask(published: LoopbackPublished, route: str, **params: str) -> Any:
    return httpx.get(f"{published.url}/api/v1/{route}", params=params).json()


class TestBenchmarks:
    def test_a_model_nobody_knows_is_refused(self, published: LoopbackPublished) -> None:
        answer = httpx.get(f"{published.url}/api/v1/benchmarks", params={"model": "Kimi-K9"})
        assert (answer.status_code, answer.json()) == (400, {"error": "Unknown model"})

    def test_an_exact_day_gives_the_rows_of_that_day(self, published: LoopbackPublished) -> None:
        assert {
            row["date"] for row in ask(published, "benchmarks", model="Kimi-K3", date="2026-08-14", exact="true")
        } == {"2026-08-14"}

    def test_without_a_day_each_line_shows_its_newest_day_only(self, published: LoopbackPublished) -> None:
        rows = ask(published, "benchmarks", model="Kimi-K3")
        assert {(row["spec_method"], row["date"]) for row in rows} == {("mtp", "2026-08-21"), ("none", "2026-08-21")}

    def test_up_to_an_earlier_day_the_older_rows_show(self, published: LoopbackPublished) -> None:
        rows = ask(published, "benchmarks", model="Kimi-K3", date="2026-08-20")
        assert [(row["conc"], row["image"][-7:]) for row in rows] == [(1, "728d3ad")]

    def test_a_run_gives_its_own_rows(self, published: LoopbackPublished) -> None:
        rows = ask(published, "benchmarks", model="Kimi-K3", runId="31771540022", exactRun="true")
        assert [row["date"] for row in rows] == ["2026-08-14"]
        assert ask(published, "benchmarks", model="Kimi-K3", runId="3177154002", exactRun="true") == []


class TestTheOtherRoutes:
    def test_a_days_runs_with_their_heads_and_changelog(self, published: LoopbackPublished) -> None:
        told = ask(published, "workflow-info", date="2026-08-21", benchmarkType="agentic_traces")
        assert [(run["github_run_id"], run["run_attempt"]) for run in told["runs"]] == [("32424103771", 2)]
        assert told["runConfigs"][0]["head_sha"] == "349aa162879bdae1c39ca71282f5f555c8aa2946"
        assert told["changelogs"][0]["pr_link"].endswith("/2700")

    def test_a_day_is_required(self, published: LoopbackPublished) -> None:
        assert httpx.get(f"{published.url}/api/v1/workflow-info").status_code == 400

    def test_another_kind_of_benchmark_had_no_run(self, published: LoopbackPublished) -> None:
        assert ask(published, "workflow-info", date="2026-08-21", benchmarkType="single_turn")["runs"] == []

    def test_evaluations_come_whole(self, published: LoopbackPublished) -> None:
        assert {row["hardware"] for row in ask(published, "evaluations")} == {"gb200", "gb300"}

    def test_availability_lists_the_days(self, published: LoopbackPublished) -> None:
        assert {row["date"] for row in ask(published, "availability")} == {"2026-08-14", "2026-08-21"}

    def test_what_the_api_does_not_have_is_404(self, published: LoopbackPublished) -> None:
        assert httpx.get(f"{published.url}/api/v1/companion").status_code == 404

    def test_the_companion_stands_apart_from_the_api(self, published: LoopbackPublished) -> None:
        told = httpx.get(f"{published.url}/companion", params={"run": "32424103771"}).json()
        assert [one["profiled"] for one in told["accounting"]] == [232, 372, 507, 840]
        assert (told["samples"][0]["cut"], told["samples"][0]["median_length"]) == (0, 293.0)
        assert httpx.get(f"{published.url}/companion", params={"run": "1"}).status_code == 404


class TestTheBotsAdapterReadsIt:
    def test_the_baseline_of_the_recipe_is_found_among_its_neighbours(self, published: LoopbackPublished) -> None:
        from datetime import UTC, datetime

        from bot.adapters.published import ApiSource, PublishedBaselines
        from bot.rehearse.clock import VirtualClock
        from bot.results import metrics

        text = (Path(metrics.__file__).parents[1] / "knowledge/metrics.yaml").read_text()
        source = ApiSource(
            VirtualClock(datetime(2026, 9, 10, tzinfo=UTC)),
            base_url=f"{published.url}/api/v1",
            companion_url=f"{published.url}/companion",
        )
        found = asked.baseline(
            PublishedBaselines(source, metrics.parse(text)), RECIPE, model="kimik3", image=OLD, fingerprint=FINGERPRINT
        )
        assert found is not None
        assert (found.date, found.run, found.attempt, found.pull) == ("2026-08-21", 32424103771, 2, 2700)
        assert {row.point.concurrency for row in found.rows} == {1, 2, 4, 8, 16}
        assert (found.accounting[0].profiling_invalid, found.accounting[0].profiled) == (1, 232)
