"""Runs on a clock nobody waits for: runners, attempts, artifacts, cancellation, GPU-hours."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.rehearse.github import Concurrency, JobScript, RunScript, Workflow
from tests.rehearse.github_world import SMOKE, START, World, attempts, checked, one_job


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with checked(tmp_path, pools={"gb200": 2}) as made:
        yield made


def play(world: World, script: RunScript) -> int:
    world.plays("smoke.yml", script)
    return world.human.dispatch("smoke.yml", inputs={"recipe": "r"})


def job(name: str, minutes: float = 10, conclusion: str = "success", **more: Any) -> JobScript:
    return JobScript(name=name, pool="gb200", gpus=16, minutes=minutes, conclusion=conclusion, **more)


def states(world: World, run: int, **query: str) -> list[tuple[str, str, str | None]]:
    return [(j["name"], j["status"], j["conclusion"]) for j in world.get(f"actions/runs/{run}/jobs", **query)["jobs"]]


class TestQueues:
    def test_jobs_wait_for_a_runner_in_declared_order(self, world: World) -> None:
        run = play(world, attempts([job("c1", 60), job("c2", 90), job("c4", 30), job("eval", 5)]))
        assert [status for _, status, _ in states(world, run)] == ["in_progress", "in_progress", "queued", "queued"]
        world.clock.forward(60)
        assert [status for _, status, _ in states(world, run)] == ["completed", "in_progress", "in_progress", "queued"]
        world.clock.forward(30)
        assert states(world, run)[3] == ("eval", "in_progress", None)
        world.clock.forward(5)
        assert world.get(f"actions/runs/{run}")["conclusion"] == "success"

    def test_a_job_no_runner_took_has_no_runner_but_a_start_as_github_sends_it(self, world: World) -> None:
        run = play(world, attempts([job("a"), job("b"), job("c")]))
        world.clock.forward(1)
        waiting = world.get(f"actions/runs/{run}/jobs")["jobs"][2]
        assert (waiting["runner_id"], waiting["runner_name"]) == (None, None)
        assert waiting["started_at"] == waiting["created_at"] == "2026-09-10T06:00:00Z"

    def test_a_job_may_start_later_than_its_attempt(self, world: World) -> None:
        run = play(world, attempts([job("bench", 10), job("collect", 1, starts_after_minutes=10)]))
        world.clock.forward(9)
        assert states(world, run)[1][1] == "queued"
        world.clock.forward(1)
        assert [status for _, status, _ in states(world, run)] == ["completed", "in_progress"]

    def test_one_leap_over_hours_plays_everything_at_its_own_time(self, world: World) -> None:
        run = play(world, attempts([job("a", 60), job("b", 60), job("c", 45)]))
        world.clock.forward(600)
        jobs = world.get(f"actions/runs/{run}/jobs")["jobs"]
        assert [j["completed_at"][11:16] for j in jobs] == ["07:00", "07:00", "07:45"]
        assert world.get(f"actions/runs/{run}")["updated_at"] == "2026-09-10T07:45:00Z"

    def test_next_change_leads_a_player_from_step_to_step(self, world: World) -> None:
        play(world, attempts([job("a", 10), job("b", 25), job("c", 5, starts_after_minutes=40)]))
        seen = []
        while (when := world.hub.next_change()) is not None:
            seen.append((when - START).total_seconds() / 60)
            world.clock.at = when
            world.hub.tick()
        assert seen == [10, 25, 40, 45]

    def test_two_runs_share_the_pool(self, world: World) -> None:
        first = play(world, attempts([job("a", 30), job("b", 30)]))
        second = play(world, attempts([job("x", 30)]))
        assert states(world, second) == [("x", "queued", None)]
        world.clock.forward(30)
        assert (
            states(world, second) == [("x", "in_progress", None)]
            and world.get(f"actions/runs/{first}")["conclusion"] == "success"
        )


class TestAttempts:
    def test_rerun_failed_jobs_repeats_only_those_as_attempt_two(self, world: World) -> None:
        """The seed's 34449828534: the eval job failed at a package fetch and passed when run again."""
        run = play(world, attempts([job("bench", 60), job("eval", 5, "failure")], [job("eval", 20)], id=34449828534))
        world.clock.forward(60)
        assert world.get(f"actions/runs/{run}")["conclusion"] == "failure"
        assert world.ask("POST", f"actions/runs/{run}/rerun-failed-jobs").status == 201
        shown = world.get(f"actions/runs/{run}")
        assert (shown["id"], shown["run_attempt"], shown["status"], shown["conclusion"]) == (
            34449828534,
            2,
            "in_progress",
            None,
        )
        world.clock.forward(20)
        assert world.get(f"actions/runs/{run}")["conclusion"] == "success"
        assert states(world, run) == [("bench", "completed", "success"), ("eval", "completed", "success")]
        assert [row[2] for row in states(world, run, filter="all")] == ["success", "failure", "success"]
        assert world.get(f"actions/runs/{run}/attempts/1")["conclusion"] == "failure"
        assert [j["run_attempt"] for j in world.get(f"actions/runs/{run}/attempts/2/jobs")["jobs"]] == [1, 2]
        assert world.ask("GET", f"actions/runs/{run}/attempts/3").status == 404

    def test_it_is_refused_while_the_run_goes_on_and_when_nothing_failed(self, world: World) -> None:
        run = play(world, one_job(10))
        assert world.ask("POST", f"actions/runs/{run}/rerun-failed-jobs").status == 403
        world.clock.forward(10)
        assert world.ask("POST", f"actions/runs/{run}/rerun-failed-jobs").status == 403
        assert world.ask("POST", f"actions/runs/{run}/rerun").status == 201

    def test_what_no_attempt_scripts_fails_again_the_same_way(self, world: World) -> None:
        run = play(world, one_job(10, "failure"))
        for attempt in (2, 3):
            world.clock.forward(10)
            assert world.ask("POST", f"actions/runs/{run}/rerun-failed-jobs").status == 201
            world.clock.forward(10)
            shown = world.get(f"actions/runs/{run}")
            assert (shown["run_attempt"], shown["conclusion"]) == (attempt, "failure")


class TestCancelling:
    def test_running_jobs_need_their_time_and_waiting_ones_none(self, world: World) -> None:
        run = play(world, attempts([job("a", 60), job("b", 60), job("c", 60)]))
        world.clock.forward(30)
        assert world.ask("POST", f"actions/runs/{run}/cancel").status == 202
        assert [row[1:] for row in states(world, run)] == [
            ("in_progress", None),
            ("in_progress", None),
            ("completed", "cancelled"),
        ]
        world.clock.forward(seconds=40)
        assert world.get(f"actions/runs/{run}")["conclusion"] == "cancelled"
        assert world.ask("POST", f"actions/runs/{run}/cancel").status == 409

    def test_at_once_where_the_caller_says_so(self, tmp_path: Path) -> None:
        with checked(tmp_path, cancel_seconds=0) as world:
            run = play(world, one_job(60))
            world.ask("POST", f"actions/runs/{run}/cancel")
            assert world.get(f"actions/runs/{run}")["status"] == "completed"

    def test_a_failure_before_the_cancellation_leaves_the_run_cancelled(self, world: World) -> None:
        run = play(world, attempts([job("a", 5, "failure"), job("b", 60)]))
        world.clock.forward(10)
        world.ask("POST", f"actions/runs/{run}/cancel")
        world.clock.forward(1)
        assert world.get(f"actions/runs/{run}")["conclusion"] == "cancelled"
        assert [row[2] for row in states(world, run)] == ["failure", "cancelled"]


class TestGpuHours:
    def test_every_attempt_counts_and_what_never_ran_does_not(self, world: World) -> None:
        run = play(world, attempts([job("a", 60), job("b", 30, "failure"), job("c", 60)], [job("b", 15)]))
        world.clock.forward(90)
        world.ask("POST", f"actions/runs/{run}/rerun-failed-jobs")
        world.clock.forward(15)
        (made,) = world.hub.runs_made()
        assert made.gpu_hours == pytest.approx(16 * (60 + 30 + 60 + 15) / 60)
        assert (made.id, made.attempt, made.workflow, made.event, made.conclusion) == (
            run,
            2,
            "smoke.yml",
            "workflow_dispatch",
            "success",
        )

    def test_a_cancelled_job_counts_until_it_let_go(self, world: World) -> None:
        run = play(world, attempts([job("a", 60), job("b", 60), job("never", 60)]))
        world.clock.forward(30)
        world.ask("POST", f"actions/runs/{run}/cancel")
        world.clock.forward(5)
        made = world.hub.runs_made()[0]
        assert made.gpu_hours == pytest.approx(2 * 16 * (30 * 60 + 40) / 3600)
        assert [job.gpu_hours for job in made.jobs][2] == 0

    @settings(max_examples=25)
    @given(
        minutes=st.lists(st.integers(0, 120), min_size=1, max_size=7),
        runners=st.integers(1, 3),
        leap=st.integers(1, 60),
    )
    def test_the_size_of_the_steps_changes_nothing(self, tmp_path_factory: pytest.TempPathFactory, minutes: list[int],
                                                   runners: int, leap: int) -> None:
        def ends(step: int) -> list[object]:
            with checked(tmp_path_factory.mktemp("w"), pools={"gb200": runners}) as world:
                play(world, attempts([job(f"j{n}", length) for n, length in enumerate(minutes)]))
                for _ in range(-(-1000 // step)):
                    world.hub.engine.settle(world.clock.forward(step))
                return [(j.started, j.completed) for j in world.hub.runs_made()[0].jobs]

        whole = ends(1000)
        assert ends(leap) == whole
        busy = sorted(edge for start, end in whole for edge in ((start, 1), (end, -1)))  # type: ignore[misc]
        level = 0
        for _, change in sorted(busy, key=lambda edge: (edge[0], edge[1])):
            level += change
            assert level <= runners


class TestDeliveries:
    def test_a_run_is_told_when_requested_and_when_completed(self, world: World) -> None:
        run = play(world, one_job(10, "failure"))
        world.clock.forward(10)
        world.ask("POST", f"actions/runs/{run}/rerun-failed-jobs")
        found = [(event, payload.get("action"), payload.get("workflow_run", {}).get("run_attempt"))
                 for event, payload in world.hub.drain()]
        assert found == [
            ("workflow_dispatch", None, None),
            ("workflow_run", "requested", 1),
            ("workflow_run", "completed", 1),
            ("workflow_run", "requested", 2),
        ]
        assert world.hub.drain() == []

    def test_run_searches(self, world: World) -> None:
        first = play(world, one_job(10))
        world.clock.at = START + timedelta(days=1)
        second = play(world, one_job(10, "failure"))
        world.clock.forward(10)

        def found(**query: str) -> list[int]:
            return [run["id"] for run in world.get("actions/runs", **query)["workflow_runs"]]

        assert found() == [second, first]
        assert (
            found(created=">=2026-09-11") == found(created="2026-09-11") == found(created="2026-09-11..*") == [second]
        )
        assert found(created="<2026-09-11T06:00:00Z") == found(status="success") == [first]
        assert found(status="failure", event="workflow_dispatch", actor="maintainer", branch="main") == [second]
        assert found(event="push") == found(head_sha="0" * 40) == []
        assert [r["id"] for r in world.get("actions/workflows/smoke.yml/runs")["workflow_runs"]] == [second, first]


class TestAnyOrder:
    QUEUE = Workflow(file="smoke.yml", name="Smoke", triggers=SMOKE.triggers, concurrency=Concurrency(group="gpu"))
    STEPS = st.lists(st.sampled_from(["start", "cancel", "rerun", "forward"]), min_size=1, max_size=20)

    @settings(max_examples=30)
    @given(steps=STEPS, swift=st.booleans())
    def test_a_group_never_holds_more_than_one_running_and_one_pending(
        self, tmp_path_factory: pytest.TempPathFactory, steps: list[str], swift: bool
    ) -> None:
        queue = replace(self.QUEUE, concurrency=Concurrency(group="gpu", cancel_in_progress=swift))
        with checked(tmp_path_factory.mktemp("w"), workflows=(queue,)) as world:
            for step in steps:
                last = world.hub.store.runs[max(world.hub.store.runs)].id if world.hub.store.runs else 0
                if step == "start":
                    play(world, one_job(10, "failure"))
                elif step == "forward":
                    world.clock.forward(7)
                elif last:
                    world.ask("POST", f"actions/runs/{last}/{'cancel' if step == 'cancel' else 'rerun-failed-jobs'}")
                states = [run.status for run in world.runs() if run.status != "completed"]
                assert states.count("pending") <= 1 and len(states) - states.count("pending") <= 1
            world.clock.forward(600)
            assert {run.status for run in world.runs()} <= {"completed"} and world.hub.next_change() is None
