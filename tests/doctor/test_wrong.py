"""One story a check in which it is wrong, in a repository where everything else is right."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.doctor.checks import CHECKS
from bot.rehearse.github.settings_state import Environment, Group, Machine, Rules
from tests.cli.worlds import RECIPE
from tests.doctor.worlds import DISPATCHED, PIN, WAKE, World, review

Spoil = Callable[[World], object]
SMOKE, SWEEP, WAKES = (f".github/workflows/{name}.yml" for name in ("smoke", "sweep", "wake"))
LAYOUT = ".github/bumpbot.yml"


def setting(**values: object) -> Spoil:
    """A setting of another value."""
    return lambda world: [setattr(world.settings, name, value) for name, value in values.items()]


def environment(**values: object) -> Spoil:
    return lambda world: [setattr(world.settings.environments["bumpbot"], name, value) for name, value in values.items()]


def file(path: str, text: str | None) -> Spoil:
    return lambda world: world.put({path: text})


def smoke(old: str, new: str, path: str = SMOKE) -> Spoil:
    """The dispatched workflow with another line."""
    text = DISPATCHED.format(name="Smoke")
    assert old in text
    return file(path, text.replace(old, new))


def wakes(old: str, new: str) -> Spoil:
    assert old in WAKE
    return file(WAKES, WAKE.replace(old, new))


def layout(line: str) -> Spoil:
    return lambda world: world.put({LAYOUT: f"version: 1\npreset: own\nallow: [{world.image}]\n{line}\n"})


def looks_as(login: str, *, ours: bool = True, then: Spoil = lambda world: None) -> Spoil:
    def spoil(world: World) -> None:
        world.token, world.ours = login, ours
        then(world)

    return spoil


def app(**permissions: str) -> Spoil:
    return looks_as("bumpbot[bot]", then=lambda world: world.settings.apps["bumpbot"].update(permissions))


def rule(*kinds: str, on: str, apps: tuple[int, ...] = ()) -> Spoil:
    rules = tuple(review(0) if kind == "pull_request" else {"type": kind} for kind in kinds)
    return lambda world: world.settings.rulesets.update({9: Rules(name="more", include=(f"refs/heads/{on}",), rules=rules, apps=apps)})


def group(**values: object) -> Spoil:
    return lambda world: [setattr(world.settings.groups[0], name, value) for name, value in values.items()]


# check, how it is spoiled, words of what was seen, words of how to mend it
WRONG: list[tuple[str, Spoil, str, str]] = [
    ("repository", setting(archived=True), "is archived", "/settings"),
    ("layout", layout("colour: blue"), "bumpbot.yml of main", "bumpbot layout check"),
    ("layout", layout("base: develop"), "moves recipes on develop, and there is no such branch", "base:"),
    ("layout", file("recipes/bad.yaml", "name: bad\n"), "recipes/bad.yaml", "correct the recipe"),
    ("token", looks_as("contributor"), "may not push to acme/recipes", "contents: write"),
    ("rights", app(workflows="write"), "may write workflows, and so could change those that guard its key", "/apps/bumpbot/permissions"),
    ("rights", app(administration="write", secrets="write"), "may write administration, secrets", "take these"),
    ("rights", app(contents="read"), "lacks contents: write", "give the App"),
    ("rights", looks_as("scoped"), "workflow, delete_repo is more than the bot needs", "/settings/tokens"),
    ("actions", setting(enabled=False), "Actions are disabled", "/settings/actions"),
    ("starts", environment(secrets=[]), "start no ci", "/settings/apps/new"),
    ("wake", file(WAKES, None), "no workflow on the default branch runs the bot", "wake.yml"),
    ("wake", setting(states={"wake.yml": "disabled_manually"}), "wake.yml is disabled by hand", "gh workflow enable wake.yml"),
    ("smoke", file(SMOKE, None), "smoke.yml is not on the default branch", "add it"),
    ("smoke", setting(states={"smoke.yml": "disabled_fork"}), "as in every new fork", "gh workflow enable smoke.yml --repo acme/recipes"),
    ("smoke", smoke("workflow_dispatch", "workflow_call"), "has no workflow_dispatch", "on: workflow_dispatch"),
    ("smoke", smoke('      points: {default: ""}\n', ""), "gives points, which the workflow does not declare", "agree"),
    ("smoke", smoke('points: {default: ""}', "points: {required: true}"), "points is required, and may be left empty", "agree"),
    ("smoke", smoke("nonce: {required: true}", "nonce: {required: true}\n      who: {required: true}"),
     "who is required, and the layout does not give it", "agree"),
    ("smoke", smoke("type: boolean", "type: choice, options: [yes please]"), "fail-fast is given 'true', and takes yes please", "agree"),
    ("smoke", layout("smoke: {ref: anybody}"), "dispatched from anybody", "ref: main"),
    ("sweep", smoke("commit: {required: true}", "sha: {required: true}", SWEEP), "gives commit, which", "agree"),
    ("environment", setting(environments={}), "there is no environment bumpbot", "name main alone"),
    ("environment", environment(policies=None), "serves every branch, so", "/settings/environments"),
    ("environment", environment(protected=True), "every protected branch", "name main alone"),
    ("environment", environment(policies=[("main", "branch"), ("bumpbot/*", "branch")]), "serves main, bumpbot/*", "name main alone"),
    ("environment", environment(policies=[("main", "branch"), ("v*", "tag")]), "tag v*", "name main alone"),
    ("environment", environment(policies=[]), "serves nothing", "name main alone"),
    ("environment", environment(reviewers=True), "every wake would wait for a reviewer", "take that rule"),
    ("key", environment(secrets=["OTHER"]), "does not hold BUMPBOT_APP_PRIVATE_KEY", "gh secret set BUMPBOT_APP_PRIVATE_KEY --env bumpbot"),
    ("app-id", setting(variables={}), "BUMPBOT_APP_ID is not set", "/settings/variables/actions"),
    ("app-id", looks_as("bumpbot[bot]", then=setting(variables={"BUMPBOT_APP_ID": "7"})), "is 7, and the App bumpbot is", "correct"),
    ("ledger", layout("ledger: acme/private"), "acme/private", "BUMPBOT_LEDGER_TOKEN"),
    ("bump-branches", rule("creation", on="bumpbot/**"), "forbids making branches on bumpbot/", "bypass"),
    ("bump-branches", looks_as("bumpbot[bot]", then=rule("required_signatures", on="**")), "demands signed commits", "bypass"),
    ("runners", group(machines=[Machine(name="a", labels=("self-hosted", "h200"), online=False)]), "is offline", "start the runner"),
    ("runners", group(machines=[Machine(name="a", labels=("self-hosted", "b200"))]), "no runner has [self-hosted, h200]", "register one"),
    ("runners", group(public=False), "no runner has", "register one"),
    ("mode", setting(variables={"BUMPBOT_MODE": "fast", "BUMPBOT_APP_ID": "1"}), "'fast', which is no mode", "off, observe, propose, act"),
    ("labels", lambda world: world.hub.store.labels.pop("full-sweep-fail-fast"), "full-sweep-fail-fast is missing",
     'gh label create "full-sweep-fail-fast" --repo acme/recipes'),
    ("images", lambda world: world.put({"recipes/toy.yaml": _recipe(world, ":v9")}), "v9", "docker login"),
    ("key-elsewhere", setting(secrets=["BUMPBOT_APP_PRIVATE_KEY"]), "a workflow of any branch can read", "delete it there"),
    ("key-elsewhere", setting(shared_secrets=["BUMPBOT_APP_PRIVATE_KEY"]), "repository or organisation", "delete it there"),
    ("key-jobs", wakes("    environment: bumpbot\n", ""), "the job wake names the key and names no environment", "environment: bumpbot"),
    ("key-jobs", wakes("environment: bumpbot", "environment: {name: other}"), "runs in other", "environment: bumpbot"),
    ("key-code", wakes("{ref: main}", "{ref: '${{ github.event.pull_request.head.sha }}'}"),
     "holds the key and checks out ${{ github.event.pull_request.head.sha }}", "leave `ref:` out"),
    ("key-code", wakes("  issue_comment:", "  pull_request: {}\n  issue_comment:"), "starts on pull_request", "pull_request_target"),
    ("key-code", wakes("      - run:", f"      - uses: actions/cache@{PIN}\n      - run:"), "restores a cache", "take the cache out"),
    ("runner-groups", setting(machines=[Machine(name="box")]), "public repository with runners of its own (box)", "runner group"),
    ("runner-groups", group(workflows=None), "lets any workflow in", "@refs/heads/main"),
    ("runner-groups", group(workflows=("acme/recipes/.github/workflows/benchmark.yml@refs/heads/dev",)), "not the default branch", "@refs"),
    ("default-branch", lambda world: world.settings.rulesets.pop(1), "needs no review and may be force-pushed and may be deleted",
     "/settings/rules/new"),
    ("ledger-branch", lambda world: world.settings.rulesets.pop(2), "bumpbot/ledger may be force-pushed and may be deleted",
     "/settings/rules/new"),
    ("ledger-branch", rule("pull_request", on="bumpbot/ledger"), "demands a pull request on bumpbot/ledger", "bypass"),
    ("forks", setting(approval="first_time_contributors"), "one merged typing fix", "all external contributors"),
    ("forks", setting(approval="first_time_contributors_new_to_github"), "new to github", "all external contributors"),
    ("token-default", setting(token="write"), "gets a token that writes", "Workflow permissions"),
    ("approvals", setting(may_approve=True), "could give the review", "untick"),
    ("approvals", environment(secrets=[]), "acts with a job's token, which may not open pull requests", "give it an App"),
    ("pinned", wakes(f"acme/tokens@{PIN}", "acme/tokens@v2"), "wake.yml: acme/tokens@v2", "full commit id"),
    ("pinned", file(".github/workflows/benchmark.yml", "on: {workflow_call: {}}\njobs: {a: {steps: [{uses: x/y@main}]}}"),
     "benchmark.yml: x/y@main", "full commit id"),
    ("allowed", setting(allowed="local_only"), f"may not run: actions/checkout@{PIN}", "allow them"),
    ("allowed", setting(allowed="selected", selected={"github_owned_allowed": False, "patterns_allowed": ["other/*"]}),
     "may not run: actions/checkout", "allow them"),
]


def _recipe(world: World, tag: str) -> str:
    return RECIPE.replace("{name}:v1.0.0", f"{world.image}{tag}").format(name=world.image)


class TestAWrongSetting:
    @pytest.mark.parametrize(("check", "spoil", "seen", "mend"), WRONG, ids=[f"{row[0]}: {row[2]}" for row in WRONG])
    def test_is_found_with_how_to_mend_it(self, world: World, check: str, spoil: Spoil, seen: str, mend: str) -> None:
        spoil(world)
        done = world.doctor("--format", "json")
        found = {one["check"]: one for one in done.json}[check]
        assert (found["state"], done.code) == ("wrong", 1), found
        assert seen in found["seen"]
        assert mend in f"{found['mend']} {found['at']}"

    def test_has_a_story_for_each_check(self) -> None:
        assert {row[0] for row in WRONG} == {check.name for check in CHECKS}

    def test_in_a_group_is_found_behind_a_good_one(self, world: World) -> None:
        world.settings.groups.append(Group(name="more", public=True, machines=[Machine(name="b")]))
        assert "more lets any workflow in" in world.findings()["runner-groups"]["seen"]

    def test_of_one_environment_is_not_that_of_another(self, world: World) -> None:
        world.settings.environments["staging"] = Environment(secrets=["BUMPBOT_APP_PRIVATE_KEY"])
        assert world.doctor().code == 0
