"""A repository's settings as a person sets them and a token reads them: Actions, environments, secrets, variables, Apps.

Everything is state: what is mended here, over REST or by hand, is answered from then on. A setting that a token may not see is
refused with GitHub's words: 403 to Apps and jobs and to people without the role.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.rehearse.github.objects import fill, id_of, node
from bot.rehearse.github.runs import workflow_of
from bot.rehearse.github.settings_state import Environment
from bot.rehearse.github.verbs import Refused
from bot.rehearse.github.wire import LEVELS, REPO, Page, Request, Response, route

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub

PERMISSIONS, ENVIRONMENT = REPO + "/actions/permissions", REPO + "/environments/{environment}"
APPROVALS = ("first_time_contributors_new_to_github", "first_time_contributors", "all_external_contributors")


def sees(hub: LoopbackGitHub, request: Request, permission: str, role: str, *, write: bool = False) -> None:
    """403 where the asker lacks the role (a person) or the permission (an App); a job's own token never has one of these."""
    who = request.who
    if not who.bot:
        if LEVELS.index(who.permission) < LEVELS.index(role):
            raise Refused("Must have admin rights to Repository.", status=403)
        return
    granted = hub.settings.apps.get(who.login.removesuffix("[bot]"), {}).get(permission) if who.kind == "app" else None
    if granted not in (("write",) if write else ("read", "write")):
        raise Refused("Resource not accessible by integration", status=403)


@route("GET", "/apps/{slug}")
def app_of_slug(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    slug = request.args["slug"]
    if (permissions := hub.settings.apps.get(slug)) is None:
        raise Refused("Not Found", status=404)
    number, page = id_of(f"app {slug}"), f"{hub.url}/apps/{slug}"
    return fill("integration", page, {
        "id": number, "slug": slug, "name": slug, "node_id": node("App", number), "client_id": f"Iv1.{number:x}",
        "owner": hub.render.owner(), "html_url": page, "external_url": page, "permissions": permissions})


# -- Actions -------------------------------------------------------------------------------------------------------

@route("GET", PERMISSIONS)
def actions(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    sees(hub, request, "administration", "admin")
    own = hub.settings
    shown: dict[str, Any] = {"enabled": own.enabled}
    if own.enabled:
        shown |= {"allowed_actions": own.allowed, "sha_pinning_required": own.pinned}
    if own.allowed == "selected":
        shown["selected_actions_url"] = f"{hub.render.here}/actions/permissions/selected-actions"
    return shown


@route("PUT", PERMISSIONS)
def set_actions(hub: LoopbackGitHub, request: Request) -> Response:
    sees(hub, request, "administration", "admin", write=True)
    own, asked = hub.settings, request.fields
    own.enabled = bool(asked.get("enabled"))
    own.allowed, own.pinned = asked.get("allowed_actions", own.allowed), asked.get("sha_pinning_required", own.pinned)
    return Response(status=204)


@route("GET", PERMISSIONS + "/selected-actions")
def selected_actions(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    sees(hub, request, "administration", "admin")
    return dict(hub.settings.selected)


@route("PUT", PERMISSIONS + "/selected-actions")
def set_selected_actions(hub: LoopbackGitHub, request: Request) -> Response:
    sees(hub, request, "administration", "admin", write=True)
    hub.settings.selected |= request.fields
    return Response(status=204)


@route("GET", PERMISSIONS + "/workflow")
def token_defaults(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    sees(hub, request, "administration", "admin")
    return {"default_workflow_permissions": hub.settings.token, "can_approve_pull_request_reviews": hub.settings.may_approve}


@route("PUT", PERMISSIONS + "/workflow")
def set_token_defaults(hub: LoopbackGitHub, request: Request) -> Response:
    sees(hub, request, "administration", "admin", write=True)
    own, asked = hub.settings, request.fields
    own.token = asked.get("default_workflow_permissions", own.token)
    own.may_approve = asked.get("can_approve_pull_request_reviews", own.may_approve)
    return Response(status=204)


@route("GET", PERMISSIONS + "/fork-pr-contributor-approval")
def fork_approval(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    sees(hub, request, "administration", "admin")
    return {"approval_policy": hub.settings.approval}


@route("PUT", PERMISSIONS + "/fork-pr-contributor-approval")
def set_fork_approval(hub: LoopbackGitHub, request: Request) -> Response:
    sees(hub, request, "administration", "admin", write=True)
    if (asked := request.text("approval_policy")) not in APPROVALS:
        raise Refused("Validation Failed", field="approval_policy", code="invalid", resource="Repository")
    hub.settings.approval = asked
    return Response(status=204)


@route("PUT", REPO + "/actions/workflows/{workflow}/enable", needs="write")
def enable(hub: LoopbackGitHub, request: Request) -> Response:
    hub.settings.states.pop(workflow_of(hub, request).file, None)
    return Response(status=204)


# -- environments ----------------------------------------------------------------------------------------------------

def environment_of(hub: LoopbackGitHub, request: Request) -> Environment:
    """The environment a path names; 404 when there is none."""
    if (found := hub.settings.environments.get(request.args["environment"])) is None:
        raise Refused("Not Found", status=404)
    return found


def _environment(hub: LoopbackGitHub, name: str) -> dict[str, Any]:
    found, number = hub.settings.environments[name], id_of(f"environment {name}")
    rules = [{"id": number + 1, "node_id": node("Gate", number + 1), "type": "branch_policy"}] if found.policies is not None else []
    if found.reviewers:
        rules.append({"id": number + 2, "node_id": node("Gate", number + 2), "type": "required_reviewers", "reviewers": []})
    serves = {"protected_branches": found.protected, "custom_branch_policies": not found.protected}
    policy = None if found.policies is None else serves
    return fill("environment", f"{hub.render.here}/environments/{name}", {
        "id": number, "node_id": node("Environment", number), "name": name, "url": f"{hub.render.here}/environments/{name}",
        "html_url": f"{hub.url}/{hub.repository}/deployments/activity_log?environments_filter={name}",
        "protection_rules": rules, "deployment_branch_policy": policy})


@route("GET", ENVIRONMENT)
def get_environment(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    environment_of(hub, request)
    return _environment(hub, request.args["environment"])


@route("PUT", ENVIRONMENT)
def set_environment(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    sees(hub, request, "administration", "admin", write=True)
    name, policy = request.args["environment"], request.fields.get("deployment_branch_policy")
    found = hub.settings.environments.setdefault(name, Environment())
    found.policies = None if policy is None else found.policies or []
    found.protected = bool(policy and policy["protected_branches"])
    return _environment(hub, name)


def _policy(pair: tuple[str, str]) -> dict[str, Any]:
    number = id_of(f"policy {pair[1]} {pair[0]}")
    return {"id": number, "node_id": node("Policy", number), "name": pair[0], "type": pair[1]}


@route("GET", ENVIRONMENT + "/deployment-branch-policies")
def policies(hub: LoopbackGitHub, request: Request) -> Page:
    return Page(environment_of(hub, request).policies or [], _policy, "branch_policies")


@route("POST", ENVIRONMENT + "/deployment-branch-policies")
def add_policy(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    sees(hub, request, "administration", "admin", write=True)
    found, pair = environment_of(hub, request), (request.text("name"), request.text("type", required=False) or "branch")
    if found.policies is None or found.protected:
        raise Refused("Not Found", status=404)
    found.policies.append(pair)
    return _policy(pair)


# -- secrets and variables ---------------------------------------------------------------------------------------------

def _secret(name: str) -> dict[str, Any]:
    return fill("actions-secret", "", {"name": name})


def _variable(pair: tuple[str, str]) -> dict[str, Any]:
    return fill("actions-variable", "", {"name": pair[0], "value": pair[1]})


@route("GET", ENVIRONMENT + "/secrets")
def environment_secrets(hub: LoopbackGitHub, request: Request) -> Page:
    sees(hub, request, "environments", "write")
    return Page(environment_of(hub, request).secrets, _secret, "secrets")


@route("GET", ENVIRONMENT + "/variables")
def environment_variables(hub: LoopbackGitHub, request: Request) -> Page:
    sees(hub, request, "environments", "write")
    return Page(list(environment_of(hub, request).variables.items()), _variable, "variables")


@route("GET", REPO + "/actions/secrets")
def secrets(hub: LoopbackGitHub, request: Request) -> Page:
    sees(hub, request, "secrets", "write")
    return Page(hub.settings.secrets, _secret, "secrets")


@route("GET", REPO + "/actions/organization-secrets")
def shared_secrets(hub: LoopbackGitHub, request: Request) -> Page:
    sees(hub, request, "secrets", "write")
    return Page(hub.settings.shared_secrets, _secret, "secrets")


@route("GET", REPO + "/actions/variables")
def variables(hub: LoopbackGitHub, request: Request) -> Page:
    sees(hub, request, "actions_variables", "write")
    return Page(list(hub.settings.variables.items()), _variable, "variables")


@route("POST", REPO + "/actions/variables")
def make_variable(hub: LoopbackGitHub, request: Request) -> Response:
    sees(hub, request, "actions_variables", "write", write=True)
    hub.settings.variables[request.text("name").upper()] = request.text("value")
    return Response(status=201, value={})


@route("GET", REPO + "/actions/organization-variables")
def shared_variables(hub: LoopbackGitHub, request: Request) -> Page:
    sees(hub, request, "actions_variables", "write")
    return Page(list(hub.settings.shared_variables.items()), _variable, "variables")
