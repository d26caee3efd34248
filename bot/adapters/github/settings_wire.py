"""What is read of GitHub's answers about settings; keys that must be there and are not are BadInput, as in `records`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from bot.model.settings import App, BranchRule, Environment, Protection, Repository, Ruleset, Runner, RunnerGroup

REVIEWERS = {"required_reviewers": "a reviewer", "wait_timer": "a timer"}
PASSES = {"always": True, "exempt": True, "pull_requests_only": False, "never": False}


class _Wire(Struct, frozen=True, kw_only=True):
    pass


class _Owner(_Wire):
    login: str
    type: str = "User"


class _Rights(_Wire):
    push: bool = False


class RepositoryWire(_Wire):
    """GET /repos/{owner}/{repo}."""

    full_name: str
    default_branch: str
    private: bool
    owner: _Owner
    archived: bool = False
    disabled: bool = False
    permissions: _Rights | None = None

    def fact(self) -> Repository:
        return Repository(name=self.full_name, default_branch=self.default_branch, private=self.private, archived=self.archived,
                          disabled=self.disabled, organisation=self.owner.type == "Organization",
                          may_push=self.permissions.push if self.permissions else None)


class AppWire(_Wire):
    """GET /apps/{slug}."""

    id: int
    slug: str = ""
    client_id: str = ""
    permissions: Mapping[str, str] = {}

    def fact(self) -> App:
        return App(id=self.id, slug=self.slug, client_id=self.client_id, permissions=self.permissions)


class WorkflowWire(_Wire):
    path: str
    state: str


class ActionsWire(_Wire):
    enabled: bool
    allowed_actions: Literal["all", "local_only", "selected"] = "all"
    sha_pinning_required: bool = False


class SelectedWire(_Wire):
    github_owned_allowed: bool = False
    verified_allowed: bool = False
    patterns_allowed: tuple[str, ...] = ()


class TokenWire(_Wire):
    default_workflow_permissions: Literal["read", "write"]
    can_approve_pull_request_reviews: bool


class ForkWire(_Wire):
    approval_policy: str


class _Rule(_Wire):
    type: str
    wait_timer: int = 0


class _BranchPolicy(_Wire):
    protected_branches: bool
    custom_branch_policies: bool


class EnvironmentWire(_Wire):
    """GET .../environments/{name}; its name patterns are another answer."""

    name: str
    protection_rules: tuple[_Rule, ...] = ()
    deployment_branch_policy: _BranchPolicy | None = None

    @property
    def serves(self) -> Literal["any", "protected", "named"]:
        policy = self.deployment_branch_policy
        return "any" if policy is None else "named" if policy.custom_branch_policies else "protected"

    def fact(self, policies: tuple[PolicyWire, ...]) -> Environment:
        of = {kind: tuple(policy.name for policy in policies if policy.type == kind) for kind in ("branch", "tag")}
        return Environment(name=self.name, serves=self.serves, branches=of["branch"], tags=of["tag"],
                           waits=tuple(REVIEWERS[rule.type] for rule in self.protection_rules if rule.type in REVIEWERS))


class PolicyWire(_Wire):
    name: str
    type: str = "branch"


class SecretWire(_Wire):
    name: str


class VariableWire(_Wire):
    name: str
    value: str


class LabelWire(_Wire):
    name: str


class RunnerWire(_Wire):
    """One item of .../actions/runners."""

    name: str
    status: str
    labels: tuple[LabelWire, ...] = ()
    busy: bool = False

    def fact(self) -> Runner:
        return Runner(name=self.name, labels=tuple(label.name for label in self.labels), online=self.status == "online",
                      busy=self.busy)


class GroupWire(_Wire):
    """One item of /orgs/{org}/actions/runner-groups; its runners are another answer."""

    id: int
    name: str
    visibility: str
    allows_public_repositories: bool
    restricted_to_workflows: bool = False
    selected_workflows: tuple[str, ...] = ()

    def fact(self, runners: tuple[Runner, ...]) -> RunnerGroup:
        return RunnerGroup(id=self.id, name=self.name, everywhere=self.visibility == "all", public=self.allows_public_repositories,
                           workflows=self.selected_workflows if self.restricted_to_workflows else None, runners=runners)


class _Reviews(_Wire):
    required_approving_review_count: int = 0


class BranchRuleWire(_Wire):
    """One item of .../rules/branches/{branch}."""

    type: str
    ruleset_id: int = 0
    ruleset_source: str = ""
    parameters: Mapping[str, object] = {}

    def fact(self) -> BranchRule:
        count = self.parameters.get("required_approving_review_count")
        return BranchRule(kind=self.type, ruleset=self.ruleset_id, source=self.ruleset_source,
                          reviews=count if isinstance(count, int) else 0)


class _Actor(_Wire):
    actor_type: str
    actor_id: int | None = None
    bypass_mode: str = "always"


class RulesetWire(_Wire):
    """GET .../rulesets/{id}; who passes by is left out for who may not change it."""

    id: int
    name: str
    current_user_can_bypass: str | None = None
    bypass_actors: tuple[_Actor, ...] | None = None

    def fact(self) -> Ruleset:
        actors = None if self.bypass_actors is None else tuple(
            actor.actor_id for actor in self.bypass_actors
            if actor.actor_type == "Integration" and actor.actor_id is not None and actor.bypass_mode in ("always", "exempt"))
        return Ruleset(id=self.id, name=self.name, holder_passes=PASSES.get(self.current_user_can_bypass or ""), apps=actors)


class _Switch(_Wire):
    enabled: bool = False


class BranchWire(_Wire):
    protected: bool = False


class ProtectionWire(_Wire):
    """GET .../branches/{branch}/protection."""

    required_pull_request_reviews: _Reviews | None = None
    allow_force_pushes: _Switch = _Switch()
    allow_deletions: _Switch = _Switch()
    required_signatures: _Switch = _Switch()
    restrictions: Mapping[str, object] | None = None

    def fact(self) -> Protection:
        reviews = self.required_pull_request_reviews
        return Protection(reviews=reviews.required_approving_review_count if reviews else 0,
                          force_pushes=self.allow_force_pushes.enabled, deletions=self.allow_deletions.enabled,
                          restricted=self.restrictions is not None, signed=self.required_signatures.enabled)


class _Viewer(_Wire):
    login: str


class _Data(_Wire):
    viewer: _Viewer | None = None


class ViewerWire(_Wire):
    data: _Data | None = None


class UserWire(_Wire):
    login: str
