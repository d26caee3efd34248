"""The Settings port on GitHub: what is there, what is not, and what a token may not see are three answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.adapters.github.settings import GitHubSettings
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.model.settings import Environment, Holder, Unseen
from tests.adapters.githubs import REPOSITORY, Answers, Asked, Odd, Patience, Reply, odd

REPO = {"full_name": REPOSITORY, "default_branch": "main", "private": False, "owner": {"login": "acme", "type": "Organization"},
        "permissions": {"admin": False, "push": True, "pull": True}}
HERE = f"/repos/{REPOSITORY}"
REFUSED = Reply(403, {"message": "Resource not accessible by integration"})
LIMITED = Reply(403, {"message": "API rate limit exceeded"}, {"x-ratelimit-remaining": "0"})


def serving(answers: dict[str, Reply | Any]) -> Answers:
    """Answers by path; the repository is there, anything else is 404."""
    known = {HERE: Reply(200, REPO), **answers}

    def answer(asked: Asked) -> Reply:
        found = known.get(asked.path.partition("?")[0], Reply(404, {"message": "Not Found"}))
        return found if isinstance(found, Reply) else Reply(200, found)

    return answer


def settings(server: Odd, token: str = "ghp_x", base: str = "") -> GitHubSettings:
    return GitHubSettings(f"{server.url}{base}", REPOSITORY, token, Patience())


def viewer(login: str) -> dict[str, Any]:
    return {"data": {"viewer": {"login": login}}}


class TestWhoseTokenItIs:
    @pytest.mark.parametrize(("token", "login", "scopes", "kind"), [
        ("ghs_x", "bumpbot[bot]", None, "app"), ("ghs_x", "github-actions[bot]", None, "default"),
        ("ghp_x", "ada", "repo, read:org", "classic"), ("ghp_x", "ada", "", "classic"), ("github_pat_x", "ada", None, "fine-grained"),
        ("ghu_x", "ada", None, "fine-grained"),
    ])
    def test_is_told_by_its_name_and_its_scopes(self, token: str, login: str, scopes: str | None, kind: str) -> None:
        headers = {} if scopes is None else {"X-OAuth-Scopes": scopes}
        with odd(serving({HERE: Reply(200, REPO, headers), "/graphql": viewer(login)})) as server:
            found = settings(server, token).holder()
        assert (found.kind, found.login) == (kind, login)
        assert found.scopes == (("repo", "read:org") if scopes and "repo" in scopes else ())

    @pytest.mark.parametrize("answer", [Reply(404, {}), Reply(403, {"message": "no"}), Reply(200, {"data": None, "errors": []}),
                                        Reply(200, {"data": {"viewer": None}})])
    def test_is_asked_by_rest_where_graphql_does_not_say(self, answer: Reply) -> None:
        with odd(serving({"/graphql": answer, "/user": {"login": "ada"}})) as server:
            assert settings(server, "github_pat_x").holder() == Holder(kind="fine-grained", login="ada")

    def test_stays_open_for_an_installation_that_neither_names(self) -> None:
        with odd(serving({"/user": Reply(403, {"message": "Resource not accessible by integration"})})) as server:
            assert settings(server, "ghs_x").holder().kind == "installation"

    def test_is_asked_where_an_enterprise_server_has_graphql(self) -> None:
        with odd(serving({f"/api/v3{HERE}": REPO, "/api/graphql": viewer("ada")})) as server:
            assert settings(server, base="/api/v3").holder().login == "ada"

    def test_goes_to_the_forge_and_nowhere_else(self) -> None:
        with odd(serving({"/graphql": viewer("ada")})) as server:
            settings(server, "ghp_secret").holder()
            assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer ghp_secret"}


QUESTIONS: list[tuple[str, Callable[[GitHubSettings], Any]]] = [
    ("Actions: read", GitHubSettings.workflows), ("Administration: read", GitHubSettings.actions),
    ("Administration: read", GitHubSettings.selected_actions), ("Administration: read", GitHubSettings.token_defaults),
    ("Administration: read", GitHubSettings.fork_approval), ("Secrets: read", GitHubSettings.secrets),
    ("Environments: read", lambda asked: asked.secrets("bumpbot")), ("Variables: read", GitHubSettings.variables),
    ("Environments: read", lambda asked: asked.variables("bumpbot")), ("Issues: read", GitHubSettings.labels),
    ("Administration: read", GitHubSettings.runners), ("the organisation's Self-hosted runners: read", GitHubSettings.runner_groups),
    ("Metadata: read", lambda asked: asked.rules("main")), ("Metadata: read", lambda asked: asked.ruleset(1)),
    ("the App's owner, or a public App", lambda asked: asked.app("bumpbot")),
]
each_question = pytest.mark.parametrize(("needs", "ask"), QUESTIONS)


class TestWhatATokenMayNotSee:
    @each_question
    @pytest.mark.parametrize("status", [403, 404])
    def test_names_the_permission_that_would_show_it(self, needs: str, ask: Callable[[GitHubSettings], Any], status: int) -> None:
        refused = Reply(status, {"message": "Resource not accessible by integration"})
        with odd(lambda asked: Reply(200, REPO) if asked.path == HERE else refused) as server:
            assert ask(settings(server)) == Unseen(why=str(status), needs=needs)

    def test_says_what_else_the_forge_says(self) -> None:
        plan = Reply(403, {"message": "Upgrade to GitHub Pro to enable this feature."})
        with odd(serving({f"{HERE}/rules/branches/main": plan})) as server:
            assert settings(server).rules("main") == Unseen(why="403, Upgrade to GitHub Pro to enable this feature.", needs="Metadata: read")

    @each_question
    def test_is_not_what_a_spent_limit_hides(self, needs: str, ask: Callable[[GitHubSettings], Any]) -> None:
        with odd(lambda asked: Reply(200, REPO) if asked.path == HERE else LIMITED) as server, pytest.raises(Unreachable):
            ask(settings(server))

    @each_question
    def test_is_not_what_a_refused_token_hides(self, needs: str, ask: Callable[[GitHubSettings], Any]) -> None:
        bad = Reply(401, {"message": "Bad credentials"})
        with odd(lambda asked: Reply(200, REPO) if asked.path == HERE else bad) as server, pytest.raises(Refusal, match="401"):
            ask(settings(server))

    @each_question
    def test_is_not_an_answer_of_another_shape(self, needs: str, ask: Callable[[GitHubSettings], Any]) -> None:
        with odd(lambda asked: Reply(200, REPO if asked.path == HERE else "what?")) as server, pytest.raises(BadInput):
            ask(settings(server))


class TestAnEnvironment:
    PATH = f"{HERE}/environments/bumpbot"

    def ask(self, **answers: Any) -> Any:
        with odd(serving({self.PATH: answers.get("found", Reply(404, {"message": "Not Found"})),
                          f"{self.PATH}/deployment-branch-policies": answers.get("policies")})) as server:
            return settings(server).environment("bumpbot")

    def test_that_is_not_there_is_none(self) -> None:
        assert self.ask() is None

    def test_that_is_hidden_is_unseen(self) -> None:
        assert self.ask(found=REFUSED) == Unseen(why="403", needs="Actions: read")

    def test_serves_any_branch_the_protected_ones_or_those_named(self) -> None:
        assert self.ask(found={"name": "bumpbot"}) == Environment(name="bumpbot", serves="any")
        protected = {"name": "bumpbot", "deployment_branch_policy": {"protected_branches": True, "custom_branch_policies": False}}
        assert self.ask(found=protected).serves == "protected"
        named = {"name": "bumpbot", "protection_rules": [{"type": "wait_timer"}, {"type": "branch_policy"}],
                 "deployment_branch_policy": {"protected_branches": False, "custom_branch_policies": True}}
        policies = {"branch_policies": [{"id": 1, "name": "main"}, {"id": 2, "name": "v*", "type": "tag"}]}
        assert self.ask(found=named, policies=policies) == Environment(
            name="bumpbot", serves="named", branches=("main",), tags=("v*",), waits=("a timer",))


class TestABranch:
    PATH = f"{HERE}/branches/bumpbot/ledger"

    def ask(self, answer: Reply, **more: Any) -> Any:
        with odd(serving({f"{self.PATH}/protection": answer, self.PATH: more.get("branch")})) as server:
            return settings(server).protection("bumpbot/ledger")

    def test_without_protection_is_none(self) -> None:
        assert self.ask(Reply(404, {"message": "Branch not protected"})) is None

    @pytest.mark.parametrize("status", [403, 404])
    def test_is_none_too_when_everybody_sees_that_it_is_not_protected(self, status: int) -> None:
        assert self.ask(Reply(status, {"message": "Not Found"}), branch={"protected": False}) is None
        assert self.ask(Reply(status, {"message": "Not Found"}), branch=Reply(404, {})) is None

    def test_is_unseen_when_it_is_protected_somehow(self) -> None:
        assert self.ask(REFUSED, branch={"protected": True}) == Unseen(why="403", needs="Administration: read")

    def test_tells_what_its_protection_lets_through(self) -> None:
        found = self.ask(Reply(200, {"required_pull_request_reviews": {"required_approving_review_count": 2},
                                     "allow_force_pushes": {"enabled": True}, "restrictions": {"users": []}}))
        assert (found.reviews, found.force_pushes, found.deletions, found.restricted) == (2, True, False, True)

    def test_keeps_its_slashes_in_the_path_of_its_rules(self) -> None:
        with odd(serving({f"{HERE}/rules/branches/bumpbot/a%23b": [{"type": "update", "ruleset_id": 7}]})) as server:
            found = settings(server).rules("bumpbot/a#b")
        assert [(rule.kind, rule.ruleset) for rule in found] == [("update", 7)]


class TestLists:
    def test_are_read_to_the_end(self) -> None:
        def answer(asked: Asked) -> Reply:
            first = "page=2" not in asked.path
            link = {"Link": f'<{server.url}{HERE}/labels?page=2>; rel="next"'} if first else {}
            return Reply(200, [{"id": first, "name": "a" if first else "b"}], link)

        with odd(answer) as server:
            assert settings(server).labels() == ("a", "b")

    def test_of_a_person_s_repository_ask_no_organisation(self) -> None:
        mine = {**REPO, "owner": {"login": "acme", "type": "User"}}
        with odd(serving({HERE: mine, f"{HERE}/actions/secrets": {"secrets": [{"name": "A"}]}})) as server:
            assert settings(server).secrets() == ("A",)
            assert settings(server).runner_groups() == ()
            assert not [asked for asked in server.asked if "org" in asked.path]

    def test_of_variables_let_the_repository_s_own_win(self) -> None:
        def variables(value: str) -> dict[str, Any]:
            return {"variables": [{"name": "BUMPBOT_MODE", "value": value}]}

        with odd(serving({f"{HERE}/actions/organization-variables": variables("off"),
                          f"{HERE}/actions/variables": variables("act")})) as server:
            assert settings(server).variables() == {"BUMPBOT_MODE": "act"}


class TestTheRepository:
    def test_that_is_not_there_is_missing(self) -> None:
        with odd(serving({HERE: Reply(404, {"message": "Not Found"})})) as server, pytest.raises(Missing):
            settings(server).repository()

    def test_is_asked_once(self) -> None:
        with odd(serving({"/graphql": viewer("ada")})) as server:
            asked = settings(server)
            asked.repository(), asked.holder(), asked.runner_groups()
            assert sum(one.path == HERE for one in server.asked) == 1
