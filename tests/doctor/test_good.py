"""A repository in which everything is set right, in its kinds; and one that people mend over the forge's own interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.rehearse.github.settings_state import Environment, Machine
from tests.cli.shell import bumpbot
from tests.doctor.worlds import APP_ID, REPOSITORY, TOKENS, WAKE, World, review


def ask(world: World, method: str, path: str, body: dict[str, Any]) -> int:
    """What a maintainer sends with `gh api`."""
    headers = {"Authorization": f"Bearer {TOKENS['maintainer']}"}
    return world.hub.handle(method, f"/repos/{REPOSITORY}/{path}", {}, headers, json.dumps(body).encode()).status


class TestAHealthyRepository:
    @pytest.mark.parametrize(("token", "ours"), [("maintainer", False), ("bumpbot[bot]", True)])
    def test_has_nothing_wrong_and_nothing_unknown(self, world: World, token: str, ours: bool) -> None:
        world.token, world.ours = token, ours
        done = world.doctor("--format", "json")
        assert done.code == 0
        assert {one["state"] for one in done.json} <= {"good", "not needed"}
        assert done.line.strip().startswith("2")  # 28 or 29 good

    def test_knows_the_app_s_permissions_when_its_login_is_given(self, world: World) -> None:
        assert world.findings(BUMPBOT_LOGIN="bumpbot[bot]")["rights"]["state"] == "good"

    def test_may_be_private_with_runners_of_its_own(self, world: World) -> None:
        world.settings.private, world.settings.groups = True, []
        world.settings.machines = [Machine(name="box", labels=("self-hosted", "H200", "Linux"))]
        found = world.findings()
        assert {found[name]["state"] for name in ("runners", "runner-groups")} == {"good"}
        assert found["forks"]["state"] == "not needed"

    def test_may_be_a_person_s(self, world: World) -> None:
        world.settings.personal, world.settings.private = True, True
        world.settings.machines = [Machine(name="box", labels=("self-hosted", "h200"))]
        assert world.doctor().code == 0

    def test_may_be_guarded_by_classic_protections(self, world: World) -> None:
        world.settings.rulesets.clear()
        off = {"enabled": False}
        world.settings.protections = {
            "main": {"required_pull_request_reviews": {"dismiss_stale_reviews": False, "require_code_owner_reviews": False,
                                                       "required_approving_review_count": 1},
                     "allow_force_pushes": off, "allow_deletions": off},
            "bumpbot/ledger": {"allow_force_pushes": off, "allow_deletions": off}}
        found = world.findings()
        assert {found[name]["state"] for name in ("default-branch", "ledger-branch")} == {"good"}
        world.settings.protections["main"]["allow_force_pushes"] = {"enabled": True}
        assert world.findings()["default-branch"]["seen"] == "main may be force-pushed"

    def test_may_have_no_runner_at_all(self, world: World) -> None:
        world.settings.groups = []
        world.put({"recipes/toy.yaml": None})
        found = world.findings()
        assert {found[name]["state"] for name in ("runners", "runner-groups", "images")} == {"not needed"}

    def test_may_select_its_actions_by_name(self, world: World) -> None:
        world.settings.allowed = "selected"
        world.settings.selected = {"github_owned_allowed": True, "verified_allowed": False, "patterns_allowed": []}
        assert world.findings()["allowed"]["state"] == "good"  # acme/tokens is of the same owner

    def test_may_keep_its_ledger_elsewhere(self, world: World, tmp_path: Path) -> None:
        found = world.findings(BUMPBOT_LEDGER=str(tmp_path / "ledger.git"))
        assert (found["ledger"]["state"], found["ledger-branch"]["state"]) == ("good", "not needed")
        assert not (tmp_path / "ledger.git").exists()


class TestAGuest:
    def test_whose_label_starts_the_sweep_needs_the_label_and_no_dispatch(self, world: World) -> None:
        world.put({".github/bumpbot.yml": f"""version: 1
recipes: [{{files: recipes/*.yaml, key: .name}}]
allow: [{world.image}]
sweep: {{workflow: sweep.yml, start: label, label: go}}
""", ".github/workflows/sweep.yml": "on: {pull_request: {types: [labeled]}}\njobs: {}\n"})
        found = world.findings()
        assert found["sweep"]["seen"].endswith("started by the label go")
        assert found["smoke"]["state"] == found["runners"]["state"] == found["images"]["state"] == "not needed"
        assert found["labels"]["seen"] == "go is missing"

    def test_without_an_app_hears_where_the_bot_stops(self, world: World) -> None:
        world.settings.environments["bumpbot"].secrets.clear()
        world.put({".github/bumpbot.yml": "version: 1\npreset: own\nsweep: {start: label, label: go, primary: [go], fail-fast: []}\n"})
        seen = world.findings()["starts"]["seen"]
        assert "the label go would start no sweep. The bot stops at the draft's branch" in seen


class TestMending:
    """Each with the request that `gh api` sends; afterwards nothing is wrong."""

    def mended(self, world: World, check: str) -> None:
        found = world.findings()[check]
        assert found["state"] == "good", found

    def test_an_environment(self, world: World) -> None:
        world.settings.environments["bumpbot"] = Environment(secrets=["BUMPBOT_APP_PRIVATE_KEY"])
        policy = {"protected_branches": False, "custom_branch_policies": True}
        assert world.findings()["environment"]["state"] == "wrong"
        assert ask(world, "PUT", "environments/bumpbot", {"deployment_branch_policy": policy}) == 200
        assert world.findings()["environment"]["seen"] == "bumpbot serves nothing"
        assert ask(world, "POST", "environments/bumpbot/deployment-branch-policies", {"name": "main"}) == 200
        self.mended(world, "environment")

    @pytest.mark.parametrize(("check", "spoil", "path", "body"), [
        ("token-default", {"token": "write"}, "workflow",
         {"default_workflow_permissions": "read", "can_approve_pull_request_reviews": False}),
        ("approvals", {"may_approve": True}, "workflow",
         {"default_workflow_permissions": "read", "can_approve_pull_request_reviews": False}),
        ("forks", {"approval": "first_time_contributors"}, "fork-pr-contributor-approval",
         {"approval_policy": "all_external_contributors"}),
        ("actions", {"enabled": False}, "", {"enabled": True, "allowed_actions": "all"}),
        ("allowed", {"allowed": "selected", "selected": {"github_owned_allowed": False}}, "selected-actions",
         {"github_owned_allowed": True, "verified_allowed": False, "patterns_allowed": []}),
    ])
    def test_a_setting_of_actions(self, world: World, check: str, spoil: dict[str, Any], path: str, body: dict[str, Any]) -> None:
        for name, value in spoil.items():
            setattr(world.settings, name, value)
        assert world.findings()[check]["state"] == "wrong"
        assert ask(world, "PUT", f"actions/permissions/{path}".rstrip("/"), body) == 204
        self.mended(world, check)

    def test_a_ruleset(self, world: World) -> None:
        world.settings.rulesets.clear()
        made = {"name": "main", "target": "branch", "enforcement": "active",
                "conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
                "bypass_actors": [{"actor_id": APP_ID, "actor_type": "Integration", "bypass_mode": "always"}],
                "rules": [{"type": "deletion"}, {"type": "non_fast_forward"}, review()]}
        assert world.findings()["default-branch"]["state"] == "wrong"
        assert ask(world, "POST", "rulesets", {**made, "enforcement": "disabled"}) == 201
        assert world.findings()["default-branch"]["state"] == "wrong"
        assert ask(world, "POST", "rulesets", made) == 201
        self.mended(world, "default-branch")

    def test_a_workflow_a_label_and_a_variable(self, world: World) -> None:
        world.settings.states["sweep.yml"], world.settings.variables = "disabled_manually", {}
        world.hub.store.labels.clear()
        assert {world.findings()[name]["state"] for name in ("sweep", "labels", "app-id")} == {"wrong"}
        assert ask(world, "PUT", "actions/workflows/sweep.yml/enable", {}) == 204
        assert ask(world, "POST", "actions/variables", {"name": "BUMPBOT_APP_ID", "value": str(APP_ID)}) == 201
        for name in ("sweep-enabled", "full-sweep-enabled", "full-sweep-fail-fast", "bumpbot-handoff"):
            assert ask(world, "POST", "labels", {"name": name}) == 201
        assert world.doctor().code == 0

    def test_is_not_for_who_does_not_administer(self, world: World) -> None:
        headers = {"Authorization": f"Bearer {TOKENS['bumpbot[bot]']}"}
        body = json.dumps({"enabled": False}).encode()
        assert world.hub.handle("PUT", f"/repos/{REPOSITORY}/actions/permissions", {}, headers, body).status == 403


def test_a_personal_token_in_place_of_an_app_needs_no_apps_id(world: World) -> None:
    token = WAKE.replace("app-id: ${{ vars.BUMPBOT_APP_ID }}", "scope: bumps").replace("private-key:", "token:")
    world.put({".github/workflows/wake.yml": token})
    world.settings.variables = {}
    assert world.findings()["app-id"]["state"] == "not needed"


def test_doctor_changes_nothing(world: World) -> None:
    """Reads alone; GraphQL's question is a POST and changes nothing."""
    sent: list[tuple[str, str]] = []
    world.hub.exchanges.append(lambda seen: sent.append((seen.method, seen.path)))
    before = world.hub.git.refs()
    assert world.doctor().code == 0
    assert {method for method, path in sent if path != "/graphql"} == {"GET"}
    assert world.hub.git.refs() == before


def test_this_repository_s_own_files_hold() -> None:
    done = bumpbot("--offline", "doctor", "--format", "json")
    wrong = {one["check"]: one["seen"] for one in done.json if one["state"] == "wrong" and one["check"] in ("layout", "pinned", "key-code")}
    assert wrong == {}
