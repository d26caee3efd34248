"""`ledger publish` holds what was uploaded against when the run's jobs ran, as GitHub tells it (SECURITY.md rule 5)."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.githubs import Asked, Reply, odd
from tests.cli.publishing import RUN, Runs
from tests.cli.shell import Done
from tests.fakes.uploads import Uploads

BEGAN = datetime(2026, 9, 1, 12)
STEM = "bench_toy_conc1"


def at(minutes: float) -> str:
    return f"{BEGAN + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"


def job(name: str, attempt: int = 1, span: tuple[float, float | None] = (0, 30)) -> dict[str, Any]:
    """A job as GitHub lists it; what a workflow calls has its caller's name before its own."""
    return {"id": abs(hash((name, attempt))) % 10**6, "run_id": RUN, "run_attempt": attempt, "name": f"sweep / {name}", "status": "completed",
            "conclusion": "success", "started_at": at(span[0]), "completed_at": None if span[1] is None else at(span[1]), "labels": [],
            "runner_id": 7, "runner_name": "r", "created_at": at(-1)}


class Forge:
    """GitHub as it tells of the run: every job for half an hour, each artifact at its 29th minute, but for what a test changes."""

    def __init__(self, made: Uploads, *, uploaded: dict[str, float | None] | None = None, jobs: list[dict[str, Any]] | None = None) -> None:
        moments: dict[str, float | None] = {one.name: 29.0 for one in made.folder.iterdir()} | (uploaded or {})
        self.artifacts = [{"id": at_, "name": name, "size_in_bytes": 1, "expired": False, "created_at": at(minute)}
                          for at_, (name, minute) in enumerate(moments.items()) if minute is not None]
        self.jobs = [job("plan"), *map(job, (one.name for one in made.jobs))] if jobs is None else jobs

    def __call__(self, asked: Asked) -> Reply:
        key = "jobs" if asked.path.split("?")[0].endswith(f"/actions/runs/{RUN}/jobs") else "artifacts"
        found = getattr(self, key)
        return Reply(200, {"total_count": len(found), key: found})


def published(runs: Runs, made: Uploads, forge: Any, attempt: int = 1) -> Done:
    with odd(forge) as github:
        return runs.publish(made, env={"GITHUB_TOKEN": "t", "GITHUB_API_URL": github.url, "GITHUB_RUN_ATTEMPT": str(attempt)})


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


class TestAnArtifact:
    @pytest.mark.parametrize("minute", [0, 30, 31.9])
    def test_of_its_job_s_time_counts_clocks_of_runners_being_what_they_are(self, runs: Runs, minute: float) -> None:
        made = runs.uploads("toy")
        done = published(runs, made, Forge(made, uploaded={f"{STEM}_attempt1": minute}))
        assert done.code == 0 and runs.held("toy") is not None, done.err

    @pytest.mark.parametrize(("minute", "said"), [
        (-0.1, f"{STEM}_attempt1: uploaded 2026-09-01 11:59:54Z, and its job ran from 2026-09-01 12:00:00Z to 2026-09-01 12:30:00Z"),
        (32.1, f"{STEM}_attempt1: uploaded 2026-09-01 12:32:06Z, and its job ran"), (None, "GitHub lists none of this name in the run")])
    def test_of_another_time_is_no_evidence(self, runs: Runs, minute: float | None, said: str) -> None:
        made = runs.uploads("toy")
        done = published(runs, made, Forge(made, uploaded={f"{STEM}_attempt1": minute}))
        assert done.code == 1 and "refused: toy c1: " in done.err and said in done.err, done.err
        assert runs.held("toy") is None

    def test_is_told_on_the_run_s_page_in_both_languages(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        published(runs, made, Forge(made, uploaded={f"{STEM}_attempt1": 90}))
        page = runs.page.read_text()
        assert "not uploaded while its job ran" in page and "并非在所属任务运行期间上传" in page

    def test_of_a_name_that_github_lists_twice_is_none(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        forge = Forge(made)
        forge.artifacts.append({**forge.artifacts[0], "id": 99, "name": f"{STEM}_attempt1"})
        assert "GitHub lists 2 of this name in the run" in published(runs, made, forge).err

    def test_of_logs_is_held_to_the_same(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        done = published(runs, made, Forge(made, uploaded={"logs_toy_conc1_attempt1": 90}))
        assert done.code == 1 and "logs_toy_conc1_attempt1: uploaded" in done.err and runs.held("toy") is None


class TestAnotherAttempt:
    """The first attempt ended at 30, the second began at 40; one job ran again."""

    def again(self, runs: Runs, *, uploaded: dict[str, float | None], second: bool = True) -> Done:
        made = runs.uploads("toy")
        made.measured(made.jobs[0], attempt=2)
        jobs = [job(one.name) for one in made.jobs] + ([job(made.jobs[0].name, 2, (40, 70))] if second else [])
        return published(runs, made, Forge(made, uploaded=uploaded, jobs=jobs), attempt=2)

    def test_s_artifact_counts_when_its_own_job_uploaded_it(self, runs: Runs) -> None:
        done = self.again(runs, uploaded={f"{STEM}_attempt2": 69, "logs_toy_conc1_attempt2": 69})
        assert done.code == 0 and runs.held("toy") is not None, done.err

    def test_s_job_cannot_be_filled_in_by_the_first_nor_does_the_first_s_result_stay(self, runs: Runs) -> None:
        done = self.again(runs, uploaded={f"{STEM}_attempt2": 29, "logs_toy_conc1_attempt2": 69})
        assert done.code == 1 and f"{STEM}_attempt2: uploaded 2026-09-01 12:29:00Z" in done.err and runs.held("toy") is None
        assert "toy c1: no results were uploaded" in done.err

    def test_s_artifact_may_not_bear_the_first_s_name(self, runs: Runs) -> None:
        done = self.again(runs, uploaded={f"{STEM}_attempt1": 69, f"{STEM}_attempt2": 69, "logs_toy_conc1_attempt2": 69})
        assert done.code == 1 and f"{STEM}_attempt1: uploaded 2026-09-01 13:09:00Z" in done.err

    def test_in_which_the_job_did_not_run_uploads_nothing(self, runs: Runs) -> None:
        done = self.again(runs, uploaded={}, second=False)
        assert done.code == 1 and f"{STEM}_attempt2: this job did not run in attempt 2" in done.err and runs.held("toy") is None


class TestTheForge:
    def test_that_tells_no_times_keeps_everything_from_being_published(self, runs: Runs) -> None:
        made = runs.uploads("toy")
        done = published(runs, made, lambda asked: Reply(403, {"message": "Resource not accessible by integration"}))
        assert done.code == 1 and "actions: read" in done.line and runs.held("toy") is None
        assert "not published" in runs.page.read_text()

    def test_that_nobody_may_ask_is_told(self, runs: Runs) -> None:
        done = runs.publish(runs.uploads("toy"))
        assert done.code == 0 and "upload times were not held against the jobs': GITHUB_TOKEN is not set" in done.err
