"""Rulesets and self-hosted runners as a token reads them; state lies in `settings`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bot.rehearse.github.objects import fill, id_of, node
from bot.rehearse.github.settings import sees
from bot.rehearse.github.settings_state import Group, Machine, Rules
from bot.rehearse.github.verbs import Refused
from bot.rehearse.github.wire import REPO, Page, Request, Response, route

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub

GROUPS = "/orgs/{org}/actions/runner-groups"
FIRST = 9_000_001


@route("GET", REPO + "/rules/branches/{branch...}")
def branch_rules(hub: LoopbackGitHub, request: Request) -> Page:
    """Every active rule that holds for a name, whether or not a branch of that name exists."""
    found = [{**rule, "ruleset_source_type": "Repository", "ruleset_source": hub.repository, "ruleset_id": number}
             for number, rules in hub.settings.rules_of(request.args["branch"], hub.render.branch) for rule in rules.rules]
    return Page(found, dict)


@route("POST", REPO + "/rulesets")
def make_ruleset(hub: LoopbackGitHub, request: Request) -> Response:
    sees(hub, request, "administration", "admin", write=True)
    asked, number = request.fields, FIRST + len(hub.settings.rulesets)
    include = (asked.get("conditions") or {}).get("ref_name", {}).get("include", [])
    if not re.fullmatch("active|disabled|evaluate", request.text("enforcement")):
        raise Refused("Validation Failed", field="enforcement", code="invalid", resource="Ruleset")
    hub.settings.rulesets[number] = Rules(
        name=request.text("name"), include=tuple(include), rules=tuple(asked.get("rules", ())),
        apps=tuple(actor["actor_id"] for actor in asked.get("bypass_actors", ()) if actor["actor_type"] == "Integration"),
        active=asked["enforcement"] == "active")
    return Response(status=201, value=_ruleset(hub, request, number))


@route("GET", REPO + "/rulesets/{id}")
def get_ruleset(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    if (number := request.number("id")) not in hub.settings.rulesets:
        raise Refused("Not Found", status=404)
    return _ruleset(hub, request, number)


def _ruleset(hub: LoopbackGitHub, request: Request, number: int) -> dict[str, Any]:
    """Who passes by is shown to who may change the ruleset, as on GitHub."""
    rules, who = hub.settings.rulesets[number], request.who
    slug = who.login.removesuffix("[bot]")
    passes = who.kind == "app" and id_of(f"app {slug}") in rules.apps
    shown = {
        "id": number, "name": rules.name, "target": "branch", "source_type": "Repository", "source": hub.repository,
        "enforcement": "active" if rules.active else "disabled", "node_id": node("Ruleset", number),
        "conditions": {"ref_name": {"include": list(rules.include), "exclude": []}}, "rules": list(rules.rules),
        "current_user_can_bypass": "always" if passes else "never",
    }
    try:
        sees(hub, request, "administration", "admin", write=True)
    except Refused:
        return fill("repository-ruleset", hub.render.here, shown)
    actors = [{"actor_id": app, "actor_type": "Integration", "bypass_mode": "always"} for app in rules.apps]
    return fill("repository-ruleset", hub.render.here, {**shown, "bypass_actors": actors})


# -- runners -----------------------------------------------------------------------------------------------------------

def _machine(machine: Machine) -> dict[str, Any]:
    labels = [{"id": id_of(f"label {name}") if name != "self-hosted" else 1, "name": name,
               "type": "read-only" if name == "self-hosted" else "custom"} for name in machine.labels]
    return fill("runner", "", {"id": id_of(f"runner {machine.name}"), "name": machine.name, "os": "linux", "labels": labels,
                               "status": "online" if machine.online else "offline", "busy": machine.busy})


@route("GET", REPO + "/actions/runners")
def runners(hub: LoopbackGitHub, request: Request) -> Page:
    sees(hub, request, "administration", "admin")
    return Page(hub.settings.machines, _machine, "runners")


def _owned(hub: LoopbackGitHub, request: Request) -> None:
    """Groups are the organisation's: its owners see them, and Apps that were granted so."""
    if hub.settings.personal or request.args["org"] != hub.repository.split("/")[0]:
        raise Refused("Not Found", status=404)
    sees(hub, request, "organization_self_hosted_runners", "admin")


def _number(group: Group) -> int:
    return id_of(f"group {group.name}")


@route("GET", GROUPS)
def groups(hub: LoopbackGitHub, request: Request) -> Page:
    _owned(hub, request)

    def shown(group: Group) -> dict[str, Any]:
        url = f"{hub.url}/orgs/{request.args['org']}/actions/runner-groups/{_number(group)}"
        return fill("runner-groups-org", url, {
            "id": _number(group), "name": group.name, "visibility": "all" if group.everywhere else "selected",
            "allows_public_repositories": group.public, "restricted_to_workflows": group.workflows is not None,
            "selected_workflows": list(group.workflows or ())})

    return Page(hub.settings.groups, shown, "runner_groups")


@route("GET", GROUPS + "/{group}/runners")
def group_runners(hub: LoopbackGitHub, request: Request) -> Page:
    _owned(hub, request)
    found = next((group for group in hub.settings.groups if _number(group) == request.number("group")), None)
    if found is None:
        raise Refused("Not Found", status=404)
    return Page(found.machines, _machine, "runners")
