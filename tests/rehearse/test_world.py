"""The world of a rehearsal: what it starts, how its time passes, what it delivers, what it reports."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from bot.errors import Refusal
from bot.rehearse import scenario
from bot.rehearse.world import World
from tests.rehearse.small_scenario import SCENARIO, write

SHIPPED = Path(scenario.__file__).parent / "scenarios/kimi-k3-gb200"


@contextmanager
def living(tmp_path: Path, text: str = SCENARIO, *, name: str = "world") -> Iterator[World]:
    found = scenario.load(write(tmp_path / f"{name}-scenario", text))
    (tmp_path / name).mkdir()
    with World(found, tmp_path / name) as world:
        yield world


def git(world: World, *args: str) -> str:
    return subprocess.run(
        ["git", "-C", world.git_url, *args], capture_output=True, text=True, check=True
    ).stdout.strip()


class TestWhatStands:
    def test_the_repository_holds_the_scenarios_files_in_one_commit(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            assert git(world, "rev-list", "--count", "main") == "1"
            assert git(world, "show", "main:log.txt") == "first line"
            assert (
                git(world, "show", "-s", "--format=%an %ae %aI", "main")
                == "Ada ada@example.com 2026-01-05T10:00:00+00:00"
            )

    def test_the_same_scenario_makes_the_same_commit(self, tmp_path: Path) -> None:
        with living(tmp_path, name="one") as one, living(tmp_path, name="two") as two:
            assert git(one, "rev-parse", "main") == git(two, "rev-parse", "main")

    def test_a_clone_without_blobs_is_served(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            made = subprocess.run(
                [
                    "git",
                    "clone",
                    "--quiet",
                    "--bare",
                    "--filter=blob:none",
                    f"file://{world.git_url}",
                    str(tmp_path / "clone"),
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            assert (made.returncode, made.stderr) == (0, "")

    def test_every_address_answers(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            head = {"Authorization": f"Bearer {world.tokens['bot']}"}
            assert httpx.get(f"{world.github_url}/repos/acme/recipes", headers=head).json()["default_branch"] == "main"
            assert httpx.get(f"{world.published_url}/availability").json() == []
            assert httpx.get(f"{world.endpoints['registry.example']}/v2/").status_code == 401
            assert httpx.get(f"{world.companion_url}?run=1").status_code == 404

    def test_afterwards_nothing_answers(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            urls = [world.github_url, world.published_url, *world.endpoints.values()]
        for url in urls:
            with pytest.raises(httpx.ConnectError):
                httpx.get(url)

    def test_comparisons_of_other_repositories_come_from_upstream(self, tmp_path: Path) -> None:
        with World(scenario.load(SHIPPED, "as-it-happened"), tmp_path) as world:
            told = httpx.get(
                f"{world.github_url}/repos/vllm-project/vllm/compare/080a66a...3696c77",
                headers={"Authorization": f"Bearer {world.tokens['bot']}"},
            ).json()
            assert (told["ahead_by"], told["behind_by"], told["status"]) == (32, 0, "ahead")
            assert told["commits"][3]["commit"]["message"] == "Honor DSpark draft load config"
            told = httpx.get(
                f"{world.github_url}/repos/vllm-project/vllm/compare/75c2eef...3696c77",
                headers={"Authorization": f"Bearer {world.tokens['bot']}"},
            ).json()
            assert told["status"] == "diverged"


class TestHowTimePasses:
    def test_two_hours_pass_without_anybody_waiting(self, tmp_path: Path) -> None:
        began = time.monotonic()
        with living(tmp_path) as world:
            wakes = [world.clock.now() for name, _ in world.deliveries() if name == "schedule"]
        assert [f"{wake:%H:%M}" for wake in wakes] == ["10:05", "10:35", "11:05", "11:35"]
        assert time.monotonic() - began < 20

    def test_things_come_in_the_order_of_their_moments(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            told = [(f"{world.clock.now():%H:%M}", name) for name, _ in world.deliveries()]
        assert told == [
            ("10:05", "schedule"),
            ("10:10", "workflow_dispatch"),
            ("10:20", "push"),
            ("10:35", "schedule"),
            ("11:05", "schedule"),
            ("11:35", "schedule"),
        ]

    def test_a_dispatch_by_hand_carries_recipe_and_image(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            payload = next(payload for name, payload in world.deliveries() if name == "workflow_dispatch")
        assert payload["inputs"] == {"recipe": "toy", "image": "registry.example/acme/engine:2.0"}
        assert (payload["sender"]["login"], payload["repository"]["full_name"]) == ("ada", "acme/recipes")

    def test_whoever_sleeps_misses_wakes_and_gets_one(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            wakes = []
            for name, _ in world.deliveries():
                if name == "schedule":
                    wakes.append(f"{world.clock.now():%H:%M}")
                    world.clock.sleep(50 * 60 if len(wakes) == 1 else 0)
        assert wakes == ["10:05", "10:55", "11:05", "11:35"]

    def test_it_stops_when_told(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            seen = []
            for name, _ in world.deliveries():
                seen.append(name)
                world.stop()
        assert seen == ["schedule"]


class TestWhatPeopleAndMachinesDo:
    def test_a_push_adds_to_the_file_as_it_then_is(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            list(world.deliveries())
            assert git(world, "show", "main:log.txt") == "first line\nsecond line"
            assert git(world, "show", "-s", "--format=%ae %s", "main") == "ada@example.com grow"

    def test_a_tag_moves_at_its_moment(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            page = f"{world.endpoints['registry.example']}/v2/repositories/acme/engine/tags/2.0"
            seen = [(name, httpx.get(page).json()["tag_last_pushed"]) for name, _ in world.deliveries()]
        assert seen[0][1] == "2026-01-02T01:00:00Z"
        assert seen[-1][1] == "2026-01-05T10:40:00Z"

    def test_a_run_plays_its_script_and_its_end_wakes_the_bot(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            told = []
            for name, payload in world.deliveries():
                if name == "workflow_dispatch":
                    assert world.hub.person("bumpbot[bot]").dispatch("smoke.yml") == 901
                if name == "workflow_run":
                    told.append(
                        (
                            f"{world.clock.now():%H:%M}",
                            payload["workflow_run"]["id"],
                            payload["workflow_run"]["conclusion"],
                        )
                    )
            report = world.report()
            listed = httpx.get(
                f"{world.github_url}/repos/acme/recipes/actions/runs/901/artifacts",
                headers={"Authorization": f"Bearer {world.tokens['bot']}"},
            ).json()
        assert told == [("10:22", 901, "failure")]
        assert report["runs"] == [
            {
                "id": 901,
                "attempt": 1,
                "workflow": "smoke.yml",
                "event": "workflow_dispatch",
                "action": None,
                "conclusion": "failure",
                "gpu_hours": 8 * 12 / 60,
            }
        ]
        assert report["gpu_hours"] == 1.6
        assert [one["name"] for one in listed["artifacts"]] == ["logs"]
        assert world.unforeseen == ()

    def test_a_run_that_the_story_does_not_hold_fails_and_is_listed(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            for name, _ in world.deliveries():
                if name == "workflow_dispatch":
                    world.hub.person("bumpbot[bot]").dispatch("smoke.yml")
                    world.hub.person("bumpbot[bot]").dispatch("smoke.yml")
            assert [run["conclusion"] for run in world.report()["runs"]] == ["failure", "failure"]
            assert world.unforeseen == (("smoke.yml", "workflow_dispatch", None),)

    def test_people_act_on_the_newest_pull_request_and_the_report_shows_it(self, tmp_path: Path) -> None:
        events = "    events:\n" + "".join(
            f"      - {{at: 2026-01-05T10:{minute}:00Z, by: ada, {what}}}\n"
            for minute, what in (
                (30, "do: label, name: hold"),
                (31, "do: comment, body: please wait"),
                (32, "do: unlabel, name: hold"),
                (33, "do: close"),
            )
        )
        text = SCENARIO[: SCENARIO.index("    events:")] + events + SCENARIO[SCENARIO.index("    runs:") :]
        with living(tmp_path, text) as world:
            told = []
            for name, payload in world.deliveries():
                if name == "schedule" and not world.hub.pulls():
                    world.hub.person("bumpbot[bot]").push("bump/toy", {"recipes/toy.yaml": b"name: toy2\n"}, "bump")
                    world.hub.person("bumpbot[bot]").open("bump/toy", "Bump toy", draft=True)
                told.append((name, payload.get("action")))
            report = world.report()
        assert [one for one in told if one[0] != "schedule"] == [
            ("pull_request_target", "opened"),
            ("pull_request_target", "labeled"),
            ("issue_comment", "created"),
            ("pull_request_target", "unlabeled"),
            ("pull_request_target", "closed"),
        ]
        assert (report["pulls"][0]["number"], report["pulls"][0]["open"], report["pulls"][0]["draft"]) == (
            7,
            False,
            True,
        )
        assert [(made["body"], made["edits"], made["author"]) for made in report["comments"]] == [
            ("please wait", 0, "ada")
        ]

    @pytest.mark.parametrize("pull", ["newest", "7"])
    def test_a_person_pushes_to_a_pull_requests_branch(self, pull: str, tmp_path: Path) -> None:
        with living(tmp_path, SCENARIO.replace("message: grow", f"message: grow, pull: {pull}")) as world:
            told = []
            for name, payload in world.deliveries():
                if name == "schedule" and not world.hub.pulls():
                    world.hub.person("bumpbot[bot]").push("bump/toy", {"recipes/toy.yaml": b"name: toy2\n"}, "bump")
                    world.hub.person("bumpbot[bot]").open("bump/toy", "Bump toy", draft=True)
                told.append((name, payload.get("action")))
            assert git(world, "show", "bump/toy:log.txt") == "first line\nsecond line"
            assert git(world, "show", "-s", "--format=%ae", "bump/toy") == "ada@example.com"
            assert git(world, "show", "main:log.txt") == "first line"
        assert ("pull_request_target", "synchronize") in told and ("push", None) not in told

    @pytest.mark.parametrize(("pull", "said"), [("newest", "none of the bot's is open"), ("9", "push to pull request #9, which is not there")])
    def test_a_push_to_a_pull_request_that_is_not_there_is_told_in_one_line(self, pull: str, said: str, tmp_path: Path) -> None:
        text = SCENARIO.replace("message: grow", f"message: grow, pull: {pull}")
        with living(tmp_path, text) as world, pytest.raises(Refusal, match=f"at 10:20 ada would .*{said}"):
            list(world.deliveries())

    def test_a_person_who_comes_too_early_is_told_in_one_line(self, tmp_path: Path) -> None:
        text = SCENARIO.replace(
            'do: push, at: 2026-01-05T10:20:00Z, by: ada, message: grow, append: {log.txt: "second line\\n"}',
            "do: close, at: 2026-01-05T10:20:00Z, by: ada",
        )
        with (
            living(tmp_path, text) as world,
            pytest.raises(Refusal, match="at 10:20 ada would act on a pull request, but none of the bot's is open"),
        ):
            list(world.deliveries())
