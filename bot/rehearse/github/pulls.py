"""Routes of pull requests, and the two GraphQL mutations that REST lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bot.rehearse.github.git_json import commit_json, file_json
from bot.rehearse.github.objects import node
from bot.rehearse.github.state import Pull
from bot.rehearse.github.verbs import Refused
from bot.rehearse.github.wire import REPO, Page, Request, Response, route

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub

PULL = REPO + "/pulls/{number}"
_MUTATIONS = {"convertPullRequestToDraft": True, "markPullRequestReadyForReview": False}
_SORTS = {"created": lambda pull: (pull.created, pull.number), "updated": lambda pull: (pull.updated, pull.number)}


def pull_of(hub: LoopbackGitHub, request: Request) -> Pull:
    """The pull request a path names; 404 when there is none."""
    pull = hub.store.pulls.get(request.number("number"))
    if pull is None:
        raise Refused("Not Found", status=404)
    return pull


def owns(request: Request, author: str) -> None:
    """Only writers and the author may change what an author wrote."""
    if request.who.login != author and request.who.permission not in ("admin", "maintain", "write"):
        raise Refused("Must have write access to the repository.", status=403)


@route("GET", REPO + "/pulls")
def list_pulls(hub: LoopbackGitHub, request: Request) -> Page:
    state, head, base = (request.query.get(name, "") for name in ("state", "head", "base"))
    owner, colon, branch = head.partition(":")
    ours = owner.lower() == hub.repository.split("/")[0].lower()
    found = [pull for pull in hub.store.pulls.values()
             if (state == "all" or pull.open == (state != "closed")) and (not base or pull.base == base)
             and (not colon or (ours and pull.branch == branch))]
    falls = (
        request.query.get("direction", "desc" if request.query.get("sort", "created") == "created" else "asc") == "desc"
    )
    found.sort(key=_SORTS.get(request.query.get("sort", ""), _SORTS["created"]), reverse=falls)
    return Page(found, lambda pull: hub.render.pull(pull, full=False))


@route("POST", REPO + "/pulls", needs="write")
def open_pull(hub: LoopbackGitHub, request: Request) -> Response:
    owner, colon, branch = request.text("head").rpartition(":")
    if colon and owner != hub.repository.split("/")[0]:
        raise Refused("Validation Failed", field="head", code="invalid")
    pull = hub.verbs.open_pull(
        request.who,
        request.now,
        title=request.text("title"),
        body=request.text("body", required=False),
        branch=branch,
        base=request.text("base"),
        draft=bool(request.fields.get("draft", False)),
    )
    return Response(status=201, value=hub.render.pull(pull, mergeable=hub.mergeable(pull)))


@route("GET", PULL)
def get_pull(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    pull = pull_of(hub, request)
    return hub.render.pull(pull, mergeable=hub.mergeable(pull))


@route("PATCH", PULL)
def edit_pull(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    pull = pull_of(hub, request)
    owns(request, pull.author.login)
    change_pull(hub, request, pull)
    return hub.render.pull(pull, mergeable=hub.mergeable(pull))


def change_pull(hub: LoopbackGitHub, request: Request, pull: Pull) -> None:
    """Title, body, base and state; a field that is absent stays."""
    wanted = {name: request.fields[name] for name in ("title", "body", "base") if request.fields.get(name) is not None}
    if any(not isinstance(value, str) for value in wanted.values()):
        raise Refused("Invalid request.\n\nA field is not a string.")
    state = request.fields.get("state")
    if state not in (None, "open", "closed"):
        raise Refused("Validation Failed", field="state", code="invalid")
    if wanted:
        hub.verbs.edit_pull(pull, request.who, request.now, **wanted)
    if state == "closed":
        hub.verbs.close(pull, request.who, request.now)
    elif state == "open":
        hub.verbs.reopen(pull, request.who, request.now)


@route("GET", PULL + "/files")
def pull_files(hub: LoopbackGitHub, request: Request) -> Page:
    pull = pull_of(hub, request)
    start = hub.git.merge_base(pull.base_sha, pull.head)
    return Page(
        hub.git.changes(pull.base_sha, pull.head, dots=3),
        lambda change: file_json(hub.render, change, start, pull.head),
    )


@route("GET", PULL + "/commits")
def pull_commits(hub: LoopbackGitHub, request: Request) -> Page:
    pull = pull_of(hub, request)
    return Page(hub.git.between(pull.base_sha, pull.head), lambda sha: commit_json(hub.render, hub.git.commit(sha)))


@route("POST", "/graphql", needs="read")
def graphql(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    """The viewer, and convertPullRequestToDraft and markPullRequestReadyForReview, by variables or with the id in the text."""
    query = request.text("query")
    if re.fullmatch(r"\s*(query\s*)?\{\s*viewer\s*\{\s*login\s*\}\s*\}\s*", query):
        return {"data": {"viewer": {"login": request.who.login}}}
    name = next((name for name in _MUTATIONS if re.search(rf"\b{name}\b", query)), None)
    if name is None:
        return {
            "errors": [{"message": "this loopback server knows only the draft mutations", "type": "NOT_IMPLEMENTED"}]
        }
    inline = re.search(r'pullRequestId\s*:\s*"([^"]+)"', query)
    variables = request.fields.get("variables") or {}
    given = inline[1] if inline else (variables.get("input") or variables).get("pullRequestId", variables.get("id"))
    pull = next((pull for pull in hub.store.pulls.values() if node("PullRequest", pull.number) == given), None)
    if pull is None:
        return {
            "data": {name: None},
            "errors": [
                {
                    "message": f"Could not resolve to a node with the global id of '{given}'",
                    "type": "NOT_FOUND",
                    "path": [name],
                }
            ],
        }
    if request.who.permission not in ("admin", "maintain", "write") and request.who.login != pull.author.login:
        return {
            "data": {name: None},
            "errors": [{"message": "Resource not accessible", "type": "FORBIDDEN", "path": [name]}],
        }
    hub.verbs.draft(pull, request.who, request.now, draft=_MUTATIONS[name])
    shown = {"id": given, "number": pull.number, "isDraft": pull.draft, "state": "OPEN" if pull.open else "CLOSED"}
    return {"data": {name: {"clientMutationId": None, "pullRequest": shown, "actor": {"login": request.who.login}}}}
