"""What stands around the bump in a rehearsal's world: other people's work, the bot's rights, runners, foreign histories."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.adapters.github.settings import GitHubSettings
from bot.doctor.runners import unseen
from bot.errors import BadInput, Refusal
from bot.rehearse import scenario
from bot.rehearse.world import World
from tests.rehearse.small_scenario import SCENARIO, write
from tests.rehearse.test_upstream_facts import ENGINE, MOVED, ROOT, STRAY, TIP, facts
from tests.rehearse.test_world import git, living

WORK = """neighbours:
  - {by: bob, branch: bob/toy, title: "Try another engine", message: try, replace: {recipes/toy.yaml: {"name: toy": "name: toy\\nimage: x"}}}
  - {by: ada, branch: ada/notes, message: notes, append: {log.txt: "mine\\n"}}
"""


def around(more: str) -> str:
    return SCENARIO.replace("variants:\n", f"{more}variants:\n", 1)


def get(world: World, path: str, **query: str) -> Any:
    head = {"Authorization": f"Bearer {world.tokens['bot']}"}
    return httpx.get(f"{world.github_url}/repos/{world.repository}{path}", params=query, headers=head, timeout=10)


class TestOtherPeoplesWork:
    def test_it_is_open_when_the_story_begins_and_nobody_hears_of_it(self, tmp_path: Path) -> None:
        with living(tmp_path, around(WORK)) as world:
            (pull,) = get(world, "/pulls").json()
            assert (pull["number"], pull["user"]["login"], pull["head"]["ref"]) == (6, "bob", "bob/toy")
            assert [one["filename"] for one in get(world, "/pulls/6/files").json()] == ["recipes/toy.yaml"]
            assert git(world, "show", "bob/toy:recipes/toy.yaml") == "name: toy\nimage: x"
            assert git(world, "show", "ada/notes:log.txt") == "first line\nmine"
            assert world.hub.drain() == [] and world.report()["pulls"] == []

    def test_a_number_that_is_asked_for_is_given_and_the_next_pull_request_has_its_own(self, tmp_path: Path) -> None:
        text = around(WORK.replace("by: bob,", "by: bob, number: 7,"))
        with living(tmp_path, text) as world:
            assert [pull.number for pull in world.hub.pulls()] == [7]
            world.hub.person("ada").push("ada/more", {"a.txt": b"a"}, "more")
            assert world.hub.person("ada").open("ada/more", "More") == 8

    def test_it_can_be_opened_while_the_story_runs(self, tmp_path: Path) -> None:
        event = '{do: open, at: 2026-01-05T10:12:00Z, by: bob, branch: bob/late, title: Late, message: late, write: {a.txt: "a"}}\n      - '
        text = SCENARIO.replace("{do: push", f"{event}{{do: push", 1)
        with living(tmp_path, text) as world:
            heard = [payload["pull_request"]["title"] for name, payload in world.deliveries() if name == "pull_request_target"]
            assert heard == ["Late"]

    @pytest.mark.parametrize(("old", "new", "key", "words"), [
        ("by: bob,", "by: eve,", "neighbours.0.by", "`eve` is nobody"),
        ("branch: ada/notes", "branch: bob/toy", "neighbours.1.branch", "is taken"),
        ("branch: ada/notes", "branch: ada..notes", "neighbours.1.branch", "no name of a branch"),
        ("branch: bob/toy", "branch: -bob", "neighbours.0.branch", "no name of a branch"),
        ("branch: bob/toy", "branch: main", "neighbours.0.branch", "is taken"),
        ('"name: toy":', '"name: boy":', "neighbours.0.replace.recipes/toy.yaml", "0 times"),
        ("{recipes/toy.yaml: {", "{recipes/boy.yaml: {", "neighbours.0.replace.recipes/boy.yaml", "no file recipes/boy.yaml"),
    ])
    def test_work_that_cannot_be_done_is_told_before_the_start(self, old: str, new: str, key: str, words: str, tmp_path: Path) -> None:
        assert WORK.count(old) == 1
        with pytest.raises(BadInput, match=words) as fault:
            scenario.load(write(tmp_path, around(WORK.replace(old, new))))
        assert fault.value.key == key and fault.value.line

    def test_a_replacement_that_meets_nothing_while_the_story_runs_is_told(self, tmp_path: Path) -> None:
        text = SCENARIO.replace('append: {log.txt: "second line\\n"}', "replace: {log.txt: {nothing: something}}")
        with living(tmp_path, text) as world, pytest.raises(Refusal, match="holds 'nothing' 0 times"):
            list(world.deliveries())


class TestWhatTheBotMay:
    @pytest.mark.parametrize(("permission", "may"), [("write", True), ("read", False)])
    def test_its_permission_is_the_scenarios(self, permission: str, may: bool, tmp_path: Path) -> None:
        text = SCENARIO.replace("  bot: bumpbot[bot]\n", f"  bot: bumpbot[bot]\n  permission: {permission}\n")
        with living(tmp_path, text) as world:
            assert get(world, "").json()["permissions"]["push"] is may

    def test_runners_are_seen_as_they_are_registered_at_that_moment(self, tmp_path: Path) -> None:
        fleet = """fleet:
  runners:
    - {name: gpu-0, labels: [self-hosted, gpu], busy: true}
    - {name: gpu-1, labels: [self-hosted, gpu], at: 2026-01-05T10:10:00Z}
"""
        with living(tmp_path, around(fleet)) as world:
            seen: list[list[tuple[str, bool]]] = []
            for name, _ in world.deliveries():
                if name in ("workflow_dispatch", "schedule"):
                    runners: list[Mapping[str, Any]] = get(world, "/actions/runners").json()["runners"]
                    seen.append([(one["name"], one["busy"]) for one in runners])
            assert seen[0] == [("gpu-0", True)] and seen[1] == [("gpu-0", True), ("gpu-1", False)]

    def test_runners_that_are_told_are_all_there_are(self, tmp_path: Path) -> None:
        """With the organisation's groups hidden, a label that nobody has any more could only be unknown."""
        told = around("fleet:\n  runners:\n    - {name: gpu-0, labels: [self-hosted, gpu]}\n")
        with living(tmp_path, told) as world:
            settings = GitHubSettings(world.github_url, world.repository, world.tokens["bot"], world.clock)
            assert unseen(settings.runners(), settings.runner_groups()) is None

    def test_runners_that_nobody_told_of_are_not_the_bots_to_see(self, tmp_path: Path) -> None:
        with living(tmp_path) as world:
            assert get(world, "/actions/runners").status_code == 403

    def test_rights_that_are_told_are_all_that_it_has(self, tmp_path: Path) -> None:
        text = around("fleet: {runners: []}\n").replace("  bot: bumpbot[bot]\n", "  bot: bumpbot[bot]\n  grants: {}\n")
        with living(tmp_path, text) as world:
            assert get(world, "/actions/runners").status_code == 403


class TestForeignHistories:
    def compared(self, tmp_path: Path, base: str, head: str, text: str = ENGINE) -> Any:
        found = facts(tmp_path / "told", text)
        (tmp_path / "world").mkdir()
        with World(found, tmp_path / "world") as world:
            told = {"Authorization": f"Bearer {world.tokens['bot']}"}
            return httpx.get(f"{world.github_url}/repos/acme/engine/compare/{base}...{head}", headers=told, timeout=10)

    def test_a_comparison_that_nobody_told_is_answered_from_the_commits(self, tmp_path: Path) -> None:
        told = self.compared(tmp_path, "main", MOVED[:8]).json()
        assert (told["ahead_by"], told["behind_by"], told["status"]) == (0, 1, "behind")
        assert told["merge_base_commit"]["sha"] == MOVED

    def test_one_that_is_told_comes_first(self, tmp_path: Path) -> None:
        more = f"comparisons:\n  - {{base: {ROOT}, head: {TIP}, merge_base: {ROOT}, ahead: 900, behind: 0}}\n"
        assert self.compared(tmp_path, ROOT, TIP, ENGINE + more).json()["ahead_by"] == 900

    def test_an_impostor_is_compared_as_forges_do(self, tmp_path: Path) -> None:
        assert self.compared(tmp_path, TIP, STRAY).json()["status"] == "diverged"

    def test_a_commit_that_is_gone_is_not_found(self, tmp_path: Path) -> None:
        assert self.compared(tmp_path, "e" * 40, TIP).status_code == 404
