"""Satisfies the Settings port on GitHub: reads only. What GitHub hides, it hides as a 403 to some tokens and as a 404 to
others; each question names the permission that would show the answer, and whether a 404 can mean "there is none"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from bot.adapters.github import settings_wire as wire
from bot.adapters.github.faults import Declined
from bot.adapters.github.reads import Api, address
from bot.adapters.github.records import reader
from bot.errors import Missing
from bot.model.settings import (
    ActionsPolicy,
    App,
    BranchRule,
    Environment,
    Holder,
    Protection,
    Repository,
    Ruleset,
    Runner,
    RunnerGroup,
    Seen,
    SelectedActions,
    TokenDefaults,
    TokenKind,
    Unseen,
)
from bot.ports import Clock

T = TypeVar("T")
W = TypeVar("W")
JOB = "github-actions[bot]"
SCOPES = "x-oauth-scopes"
VIEWER = "query { viewer { login } }"
# What every 403 says; other words tell more, such as what a plan lacks.
USUAL = ("Resource not accessible", "Must have", "Not Found")
NOT_PROTECTED = "Branch not protected"
# Fine-grained permissions, as GitHub's documentation names them.
ADMIN, ACTIONS, SECRETS, VARIABLES = "Administration: read", "Actions: read", "Secrets: read", "Variables: read"
ENVIRONMENTS, ISSUES, METADATA = "Environments: read", "Issues: read", "Metadata: read"
RUNNERS = "the organisation's Self-hosted runners: read"
OWNERS = "the App's owner, or a public App"


class GitHubSettings:
    """One repository (`owner/name`) as one token sees it."""

    def __init__(self, base_url: str, repository: str, token: str, clock: Clock, *,
                 transport: httpx.BaseTransport | None = None) -> None:
        self._api = Api(base_url, repository, token, clock, transport=transport)
        self._owner = repository.split("/")[0]
        self._finest = token.startswith("github_pat_")
        self._told: tuple[Repository, Mapping[str, str]] | None = None

    def repository(self) -> Repository:
        """Missing where the token may not see the repository at all."""
        return self._repository()[0]

    def holder(self) -> Holder:
        """By GraphQL's viewer, which names an App's account too; REST tells only people who they are."""
        scopes = self._repository()[1].get(SCOPES)
        login = self._login()
        named = tuple(scope.strip() for scope in (scopes or "").split(",") if scope.strip())
        kind: TokenKind = "fine-grained" if self._finest or scopes is None else "classic"
        if not login:
            kind = "installation"
        elif login.endswith("[bot]"):
            kind = "default" if login == JOB else "app"
        return Holder(kind=kind, login=login, scopes=named)

    def app(self, slug: str) -> Seen[App]:
        return self._asked(OWNERS, lambda: self._at(wire.AppWire, address("apps", slug)).fact())

    # -- Actions --------------------------------------------------------------------------------------------------

    def workflows(self) -> Seen[Mapping[str, str]]:
        def ask() -> Mapping[str, str]:
            return {found.path: found.state for found in self._list(wire.WorkflowWire, "actions", "workflows", key="workflows")}

        return self._asked(ACTIONS, ask)

    def actions(self) -> Seen[ActionsPolicy]:
        def ask() -> ActionsPolicy:
            found = self._get(wire.ActionsWire, "actions", "permissions")
            return ActionsPolicy(enabled=found.enabled, allowed=found.allowed_actions, pinned=found.sha_pinning_required)

        return self._asked(ADMIN, ask)

    def selected_actions(self) -> Seen[SelectedActions]:
        def ask() -> SelectedActions:
            found = self._get(wire.SelectedWire, "actions", "permissions", "selected-actions")
            return SelectedActions(github_owned=found.github_owned_allowed, verified=found.verified_allowed,
                                   patterns=found.patterns_allowed)

        return self._asked(ADMIN, ask)

    def token_defaults(self) -> Seen[TokenDefaults]:
        def ask() -> TokenDefaults:
            found = self._get(wire.TokenWire, "actions", "permissions", "workflow")
            return TokenDefaults(writes=found.default_workflow_permissions == "write",
                                 may_approve=found.can_approve_pull_request_reviews)

        return self._asked(ADMIN, ask)

    def fork_approval(self) -> Seen[str]:
        def ask() -> str:
            return self._get(wire.ForkWire, "actions", "permissions", "fork-pr-contributor-approval").approval_policy

        return self._asked(ADMIN, ask)

    # -- environments, secrets, variables, labels -------------------------------------------------------------------

    def environment(self, name: str) -> Seen[Environment | None]:
        def ask() -> Environment | None:
            try:
                found = self._get(wire.EnvironmentWire, "environments", name)
            except Missing:
                return None
            listed = self._list(wire.PolicyWire, "environments", name, "deployment-branch-policies",
                                key="branch_policies") if found.serves == "named" else ()
            return found.fact(listed)

        return self._asked(ACTIONS, ask)

    def secrets(self, environment: str | None = None) -> Seen[tuple[str, ...]]:
        places = self._places(environment, "secrets")

        def ask() -> tuple[str, ...]:
            return tuple(found.name for place in places for found in self._list(wire.SecretWire, *place, key="secrets"))

        return self._asked(ENVIRONMENTS if environment else SECRETS, ask)

    def variables(self, environment: str | None = None) -> Seen[Mapping[str, str]]:
        """The repository's own win over those of the organisation, as in a workflow."""
        places = self._places(environment, "variables")

        def ask() -> Mapping[str, str]:
            return {found.name: found.value for place in places for found in self._list(wire.VariableWire, *place, key="variables")}

        return self._asked(ENVIRONMENTS if environment else VARIABLES, ask)

    def labels(self) -> Seen[tuple[str, ...]]:
        return self._asked(ISSUES, lambda: tuple(found.name for found in self._list(wire.LabelWire, "labels")))

    # -- runners ----------------------------------------------------------------------------------------------------

    def runners(self) -> Seen[tuple[Runner, ...]]:
        return self._asked(ADMIN, lambda: tuple(
            found.fact() for found in self._list(wire.RunnerWire, "actions", "runners", key="runners")))

    def runner_groups(self) -> Seen[tuple[RunnerGroup, ...]]:
        """Those of the organisation that this repository may use; a person's repository has none."""
        repository = self.repository()
        if not repository.organisation:
            return ()
        place = address("orgs", self._owner, "actions", "runner-groups")

        def ask() -> tuple[RunnerGroup, ...]:
            read, runner = reader(wire.GroupWire, place), reader(wire.RunnerWire, place)
            groups = [read(data) for data in self._api.listed_at(
                place, key="runner_groups", visible_to_repository=repository.name.partition("/")[2])]
            return tuple(group.fact(tuple(
                runner(data).fact() for data in self._api.listed_at(f"{place}/{group.id}/runners", key="runners")))
                for group in groups)

        return self._asked(RUNNERS, ask)

    # -- rules --------------------------------------------------------------------------------------------------------

    def rules(self, branch: str) -> Seen[tuple[BranchRule, ...]]:
        """A branch's name stays whole in the path, slashes and all: GitHub routes it so."""
        place = f"{self._api.path('rules', 'branches')}/{quote(branch, safe='/')}"
        read = reader(wire.BranchRuleWire, place)
        return self._asked(METADATA, lambda: tuple(read(data).fact() for data in self._api.listed_at(place)))

    def ruleset(self, number: int) -> Seen[Ruleset]:
        return self._asked(METADATA, lambda: self._get(wire.RulesetWire, "rulesets", number).fact())

    def protection(self, branch: str) -> Seen[Protection | None]:
        place = f"{self._api.path('branches')}/{quote(branch, safe='/')}/protection"

        def ask() -> Protection | None:
            try:
                return self._at(wire.ProtectionWire, place).fact()
            except (Missing, Declined) as error:
                if NOT_PROTECTED in error.reason or not self._protected(place.removesuffix("/protection")):
                    return None
                raise

        return self._asked(ADMIN, ask)

    def _protected(self, place: str) -> bool:
        """What everybody may see of a branch: whether it is protected at all."""
        try:
            return self._at(wire.BranchWire, place).protected
        except Missing:
            return False

    # -- asking ---------------------------------------------------------------------------------------------------------

    def _asked(self, needs: str, ask: Callable[[], T]) -> T | Unseen:
        """A 404 that `ask` lets through is GitHub's other way of saying 403; a token that is refused outright is a fault."""
        try:
            return ask()
        except Missing:
            return Unseen(why="404", needs=needs)
        except Declined as error:
            if error.status != 403:
                raise
            usual = any(words in error.said for words in USUAL)
            return Unseen(why="403" if usual or not error.said else f"403, {error.said}", needs=needs)

    def _repository(self) -> tuple[Repository, Mapping[str, str]]:
        if self._told is None:
            data, headers = self._api.told(self._api.path())
            self._told = reader(wire.RepositoryWire, self._api.path())(data).fact(), headers
        return self._told

    def _login(self) -> str:
        """Empty for an installation whose name GraphQL does not tell, as servers without it do."""
        try:
            found = reader(wire.ViewerWire, "the viewer")(self._api.queried(VIEWER))
            if found.data is not None and found.data.viewer is not None:
                return found.data.viewer.login
        except (Missing, Declined):
            pass
        try:
            return self._at(wire.UserWire, "/user").login
        except Declined as error:
            if error.status != 403:
                raise
            return ""

    def _places(self, environment: str | None, word: str) -> list[tuple[str, ...]]:
        """Where secrets or variables lie, the nearest last."""
        if environment:
            return [("environments", environment, word)]
        shared = [("actions", f"organization-{word}")] if self.repository().organisation else []
        return [*shared, ("actions", word)]

    def _get(self, kind: type[W], *segments: object) -> W:
        return self._at(kind, self._api.path(*segments))

    def _at(self, kind: type[W], path: str) -> W:
        return reader(kind, path)(self._api.told(path)[0])

    def _list(self, kind: type[W], *segments: object, key: str | None = None) -> tuple[W, ...]:
        read: Callable[[Any], W] = reader(kind, self._api.path(*segments))
        return tuple(read(data) for data in self._api.listed(*segments, key=key))
