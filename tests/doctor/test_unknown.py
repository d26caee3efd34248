"""One story a check in which the answer is not known: hidden from the token, not asked, or not to be read. Nothing is guessed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.doctor.checks import CHECKS
from bot.rehearse.github.settings_state import Rules
from tests.cli.shell import bumpbot
from tests.doctor.worlds import APP_ID, NEEDED, World

Spoil = Callable[[World], object]
# What the token may not see, and the permission that the finding names. The App has none of these here.
HIDDEN = {
    "actions": "Administration: read", "starts": "Environments: read", "key": "Environments: read", "app-id": "Variables: read",
    "runners": "Self-hosted runners: read", "mode": "Variables: read", "key-elsewhere": "Secrets: read",
    "runner-groups": "Self-hosted runners: read", "forks": "Administration: read", "token-default": "Administration: read",
    "approvals": "Administration: read", "allowed": "Administration: read",
}
# Answers that every reader of the repository gets on github.com, and not on every server or with every token.
REFUSED = {
    "wake": "/actions/workflows", "smoke": "/actions/workflows", "sweep": "/actions/workflows", "labels": "/labels",
    "environment": "/environments/", "bump-branches": "/rules/branches/", "ledger-branch": "/rules/branches/",
    "default-branch": "/rules/branches/", "rights": "/apps/",
}


def app_sees_little(world: World) -> None:
    world.settings.apps["bumpbot"] = dict(NEEDED)
    world.token = "bumpbot[bot]"


class TestWhatATokenMayNotSee:
    def test_is_unknown_with_the_permission_that_would_show_it(self, world: World) -> None:
        app_sees_little(world)
        found = world.findings()
        assert {name for name, one in found.items() if one["state"] == "unknown"} == set(HIDDEN)
        assert {name: needed for name, needed in HIDDEN.items() if needed not in found[name]["mend"]} == {}
        assert all("(403)" in found[name]["seen"] for name in HIDDEN)

    def test_is_no_fault(self, world: World) -> None:
        app_sees_little(world)
        assert world.doctor().code == 0

    @pytest.mark.parametrize(("check", "path"), REFUSED.items(), ids=REFUSED)
    @pytest.mark.parametrize("status", [403, 404])
    def test_is_unknown_also_where_a_server_refuses_more(self, world: World, check: str, path: str, status: int) -> None:
        world.token, world.ours = "bumpbot[bot]", True
        world.refuse(path, status)
        found = world.findings()[check]
        # An environment that is not there and one that may not be seen are both 404.
        expected = "wrong" if (check, status) == ("environment", 404) else "unknown"
        assert found["state"] == expected and (expected == "wrong" or f"({status})" in found["seen"]), found


class TestWhoPassesByARule:
    def locked(self, world: World, *apps: int) -> None:
        world.settings.rulesets[9] = Rules(name="all", include=("refs/heads/bumpbot/**",), rules=({"type": "creation"},), apps=apps)

    def test_is_unknown_to_who_may_not_see_the_list(self, world: World) -> None:
        self.locked(world, APP_ID)
        world.token = "contributor"
        found = world.findings()["bump-branches"]
        assert (found["state"], "bypass list" in found["mend"]) == ("unknown", True)

    def test_is_the_app_for_the_app_itself_and_for_who_administers(self, world: World) -> None:
        self.locked(world, APP_ID)
        assert world.findings()["bump-branches"]["state"] == "good"
        world.token, world.ours = "bumpbot[bot]", True
        assert world.findings()["bump-branches"]["state"] == "good"

    def test_is_wrong_when_another_app_does(self, world: World) -> None:
        self.locked(world, 4)
        assert world.findings()["bump-branches"]["state"] == "wrong"


class TestAToken:
    def test_whose_owner_the_forge_does_not_name_is_unknown(self, world: World) -> None:
        world.token, world.ours = "bumpbot[bot]", True
        world.refuse("/graphql", 404)
        assert world.findings()["token"]["state"] == "unknown"

    def test_that_is_fine_grained_does_not_tell_what_it_may_do(self, world: World) -> None:
        world.token, world.ours = "maintainer", True
        found = world.findings(BUMPBOT_TOKEN=world.fine_grained())
        assert (found["token"]["state"], found["rights"]["state"]) == ("good", "unknown")
        assert "contents: write" in found["rights"]["mend"]


class TestAFileThatCannotBeRead:
    @pytest.mark.parametrize("text", ["on: &a {workflow_dispatch: {}}\njobs: {b: *a}\n", "{", "- a\n", "on: !!x y\n"])
    def test_is_not_guessed(self, world: World, text: str) -> None:
        world.put({".github/workflows/smoke.yml": text})
        found = world.findings()["smoke"]
        assert (found["state"], "smoke.yml" in found["seen"]) == ("unknown", True)

    def test_leaves_open_whether_it_wakes_the_bot(self, world: World) -> None:
        world.put({".github/workflows/wake.yml": "{"})
        assert world.findings()["wake"]["state"] == "unknown"

    def test_is_named_where_its_environment_is_computed(self, world: World) -> None:
        text = "on: push\njobs:\n  a:\n    environment: ${{ vars.X }}\n    steps: [{run: 'x ${{ secrets.BUMPBOT_APP_PRIVATE_KEY }}'}]\n"
        world.put({".github/workflows/more.yml": text})
        assert world.findings()["key-jobs"]["state"] == "unknown"

    def test_makes_a_layout_that_is_broken_leave_what_needs_it_open(self, world: World) -> None:
        world.put({".github/bumpbot.yml": "version: 2\n"})
        found = world.findings()
        assert found["layout"]["state"] == "wrong"
        assert {name for name in ("smoke", "sweep", "labels", "bump-branches", "ledger", "images") if found[name]["state"] != "unknown"} == set()


class TestOffline:
    def test_only_files_count_and_the_rest_is_unknown(self, world: World, tmp_path: Path) -> None:
        folder = world.checkout(tmp_path / "clone")
        done = bumpbot("--offline", "--repo", folder, "doctor", "--format", "json")
        states = {one["check"]: one["state"] for one in done.json}
        assert done.code == 0
        assert {name: states[name] for name in ("layout", "key-jobs", "key-code", "pinned", "images")} == {
            "layout": "good", "key-jobs": "good", "key-code": "good", "pinned": "good", "images": "not needed"}
        assert {name for name, state in states.items() if state == "unknown"} >= {"repository", "token", "environment", "smoke", "wake"}

    def test_finds_what_files_alone_show(self, world: World, tmp_path: Path) -> None:
        folder = world.checkout(tmp_path / "clone")
        (folder / ".github/workflows/sweep.yml").write_text("on: push\njobs: {}\n")
        done = bumpbot("--offline", "--repo", folder, "doctor")
        assert (done.code, "has no workflow_dispatch" in done.out) == (1, True)


def test_every_check_has_a_story_here_or_can_only_be_right_or_wrong(world: World) -> None:
    told = {*HIDDEN, *REFUSED, "token", "layout", "repository", "ledger", "images", "key-jobs"}
    never = {check.name for check in CHECKS} - told
    assert never == {"key-code", "pinned"}
