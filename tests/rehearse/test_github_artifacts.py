"""What a job leaves behind on the loopback GitHub: artifacts, never overwritten within an attempt, and logs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.rehearse.github import JobScript, RunScript, Upload
from tests.rehearse.github_world import World, attempts, checked, one_job


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with checked(tmp_path) as made:
        yield made


def play(world: World, script: RunScript) -> int:
    world.plays("smoke.yml", script)
    return world.human.dispatch("smoke.yml", inputs={"recipe": "r"})


def job(name: str, minutes: float = 10, conclusion: str = "success", artifacts: tuple[Upload, ...] = ()) -> JobScript:
    return JobScript(name=name, pool="gb200", minutes=minutes, conclusion=conclusion, artifacts=artifacts)


def states(world: World, run: int) -> list[str | None]:
    return [job["conclusion"] for job in world.get(f"actions/runs/{run}/jobs")["jobs"]]


class TestArtifacts:
    def folder(self, root: Path, text: str = "{}") -> Path:
        made = root / f"folder-{len(list(root.iterdir()))}"
        (made / "deep").mkdir(parents=True)
        (made / "deep" / "result.json").write_text(text)
        return made

    def fetch(self, world: World, artifact: dict[str, object]) -> zipfile.ZipFile:
        path = str(artifact["archive_download_url"]).removeprefix(world.hub.url)
        moved = world.ask("GET", path)
        assert moved.status == 302
        stored = world.hub.handle("GET", moved.headers["Location"].removeprefix(world.hub.url))
        assert stored.status == 200 and len(stored.body) == artifact["size_in_bytes"]
        return zipfile.ZipFile(io.BytesIO(stored.body))

    def test_one_appears_when_its_job_ends_and_lies_elsewhere(self, world: World, tmp_path: Path) -> None:
        run = play(world, one_job(10, "failure", artifacts=(Upload(name="results", folder=self.folder(tmp_path)),)))
        assert world.get(f"actions/runs/{run}/artifacts")["total_count"] == 0
        world.clock.forward(10)
        (artifact,) = world.get(f"actions/runs/{run}/artifacts")["artifacts"]
        assert artifact["created_at"] == "2026-09-10T06:10:00Z"
        assert self.fetch(world, artifact).read("deep/result.json") == b"{}"

    def test_two_attempts_hold_the_same_name_side_by_side(self, world: World, tmp_path: Path) -> None:
        uploads = [(Upload(name="results", folder=self.folder(tmp_path, text)),) for text in ("first", "second")]
        run = play(world, attempts([job("a", 5, "failure", artifacts=uploads[0])], [job("a", 5, artifacts=uploads[1])]))
        world.clock.forward(5)
        world.ask("POST", f"actions/runs/{run}/rerun-failed-jobs")
        world.clock.forward(5)
        found = world.get(f"actions/runs/{run}/artifacts", name="results")["artifacts"]
        assert [self.fetch(world, each).read("deep/result.json") for each in found] == [b"second", b"first"]

    def test_within_one_attempt_a_name_is_taken_once(self, world: World, tmp_path: Path) -> None:
        upload = (Upload(name="results", folder=self.folder(tmp_path)),)
        run = play(world, attempts([job("a", 5, artifacts=upload), job("b", 6, artifacts=upload)]))
        world.clock.forward(6)
        assert states(world, run) == ["success", "failure"]
        assert world.get(f"actions/runs/{run}/artifacts")["total_count"] == 1
        log = world.ask("GET", f"actions/jobs/{world.runs()[0].jobs[1].id}/logs").headers["Location"]
        assert b"(409) Conflict" in world.hub.handle("GET", log.removeprefix(world.hub.url)).body

    def test_a_wrong_address_shows_nothing(self, world: World, tmp_path: Path) -> None:
        run = play(world, one_job(1, artifacts=(Upload(name="r", folder=self.folder(tmp_path)),)))
        world.clock.forward(1)
        artifact = world.get(f"actions/runs/{run}/artifacts")["artifacts"][0]["id"]
        assert world.hub.handle("GET", f"/_storage/artifacts/{artifact}-{'0' * 64}.zip").status == 404
        assert world.ask("GET", f"actions/artifacts/{artifact}/tar").status == 404

    def test_a_script_that_cannot_be_played_is_told_before_anything_starts(self, world: World, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="no such folder"):
            play(world, one_job(artifacts=(Upload(name="r", folder=tmp_path / "missing"),)))
        with pytest.raises(ValueError, match="share a name"):
            play(world, attempts([job("a"), job("a")]))
        assert world.runs() == []


class TestLogs:
    def test_they_lie_elsewhere_once_the_job_is_over(self, world: World) -> None:
        run = play(world, one_job(10, log="first line\n"))
        number = world.get(f"actions/runs/{run}/jobs")["jobs"][0]["id"]
        assert world.ask("GET", f"actions/jobs/{number}/logs").status == 404
        world.clock.forward(10)
        answer = world.ask("GET", f"actions/jobs/{number}/logs")
        assert answer.status == 302
        assert world.hub.handle("GET", answer.headers["Location"].removeprefix(world.hub.url)).body == b"first line\n"
