"""Routes of comments, labels, reactions and history: what a pull request shares with issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.rehearse.github.pulls import change_pull, owns, pull_of
from bot.rehearse.github.state import Comment
from bot.rehearse.github.verbs import Refused
from bot.rehearse.github.wire import REPO, Page, Request, Response, route, when

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub

ISSUE = REPO + "/issues/{number}"
COMMENT = REPO + "/issues/comments/{id}"
CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def comment_of(hub: LoopbackGitHub, request: Request) -> Comment:
    """The comment a path names; 404 when it is not there or gone."""
    comment = hub.store.comments.get(request.number("id"))
    if comment is None or comment.deleted:
        raise Refused("Not Found", status=404)
    return comment


def _since(found: list[Comment], request: Request) -> list[Comment]:
    """GitHub's `since` looks at the time of the last change, and includes it."""
    if not (since := request.query.get("since")):
        return found
    start = when(since)
    return [comment for comment in found if comment.updated.replace(microsecond=0) >= start]


@route("GET", REPO + "/issues")
def list_issues(hub: LoopbackGitHub, request: Request) -> Page:
    state, labels = (
        request.query.get("state", "open"),
        [word for word in request.query.get("labels", "").split(",") if word],
    )
    found = [pull for pull in hub.store.pulls.values() if (state == "all" or pull.open == (state == "open"))
             and set(labels) <= set(pull.labels)]
    if since := request.query.get("since"):
        start = when(since)
        found = [pull for pull in found if pull.updated.replace(microsecond=0) >= start]
    return Page(found[::-1], hub.render.issue)


@route("GET", REPO + "/issues/comments")
def all_comments(hub: LoopbackGitHub, request: Request) -> Page:
    found = _since(hub.store.comments_of(), request)
    if (sort := request.query.get("sort")) in ("created", "updated"):
        found = sorted(found, key=lambda comment: (getattr(comment, sort), comment.id))
        found = found[::-1] if request.query.get("direction") == "desc" else found
    return Page(found, hub.render.comment)


@route("GET", COMMENT)
def get_comment(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    return hub.render.comment(comment_of(hub, request))


@route("PATCH", COMMENT)
def edit_comment(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    comment = comment_of(hub, request)
    owns(request, comment.author.login)
    hub.verbs.edit_comment(comment, request.text("body"), request.who, request.now)
    return hub.render.comment(comment)


@route("DELETE", COMMENT)
def delete_comment(hub: LoopbackGitHub, request: Request) -> Response:
    comment = comment_of(hub, request)
    owns(request, comment.author.login)
    hub.verbs.delete_comment(comment, request.who)
    return Response(status=204)


@route("GET", COMMENT + "/reactions")
def comment_reactions(hub: LoopbackGitHub, request: Request) -> Page:
    return _reactions(hub, ("comment", comment_of(hub, request).id))


@route("POST", COMMENT + "/reactions")
def react_to_comment(hub: LoopbackGitHub, request: Request) -> Response:
    return _react(hub, request, ("comment", comment_of(hub, request).id))


@route("GET", ISSUE + "/reactions")
def issue_reactions(hub: LoopbackGitHub, request: Request) -> Page:
    return _reactions(hub, ("issue", pull_of(hub, request).number))


@route("POST", ISSUE + "/reactions")
def react_to_issue(hub: LoopbackGitHub, request: Request) -> Response:
    return _react(hub, request, ("issue", pull_of(hub, request).number))


def _reactions(hub: LoopbackGitHub, subject: tuple[str, int]) -> Page:
    return Page([held for held in hub.store.reactions if held.subject == subject], hub.render.reaction)


def _react(hub: LoopbackGitHub, request: Request, subject: tuple[str, int]) -> Response:
    if (content := request.text("content")) not in CONTENTS:
        raise Refused("Validation Failed", field="content", code="invalid", resource="Reaction")
    reaction, new = hub.verbs.react(subject, content, request.who, request.now)
    return Response(status=201 if new else 200, value=hub.render.reaction(reaction))


@route("GET", ISSUE)
def get_issue(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    return hub.render.issue(pull_of(hub, request))


@route("PATCH", ISSUE)
def edit_issue(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    pull = pull_of(hub, request)
    owns(request, pull.author.login)
    change_pull(hub, request, pull)
    return hub.render.issue(pull)


@route("GET", ISSUE + "/comments")
def list_comments(hub: LoopbackGitHub, request: Request) -> Page:
    return Page(_since(hub.store.comments_of(pull_of(hub, request).number), request), hub.render.comment)


@route("POST", ISSUE + "/comments")
def add_comment(hub: LoopbackGitHub, request: Request) -> Response:
    comment = hub.verbs.comment(pull_of(hub, request), request.text("body"), request.who, request.now)
    return Response(status=201, value=hub.render.comment(comment))


@route("GET", ISSUE + "/labels")
def issue_labels(hub: LoopbackGitHub, request: Request) -> Page:
    return Page(pull_of(hub, request).labels, hub.render.label)


@route("POST", ISSUE + "/labels", needs="triage")
def add_labels(hub: LoopbackGitHub, request: Request) -> list[Any]:
    """{labels: [...]} as documented, or the bare array that PyGithub sends and GitHub takes."""
    pull, body = pull_of(hub, request), request.json
    names = body if isinstance(body, list) else body.get("labels", []) if isinstance(body, dict) else [body]
    wanted = [item.get("name") if isinstance(item, dict) else item for item in names]
    if not all(isinstance(name, str) and name for name in wanted):
        raise Refused("Validation Failed", field="name", code="missing_field", resource="Label")
    for name in wanted:
        hub.verbs.label(pull, name, request.who, request.now)
    return [hub.render.label(name) for name in pull.labels]


@route("DELETE", ISSUE + "/labels/{name}", needs="triage")
def remove_label(hub: LoopbackGitHub, request: Request) -> list[Any]:
    pull = pull_of(hub, request)
    hub.verbs.unlabel(pull, request.args["name"], request.who, request.now)
    return [hub.render.label(name) for name in pull.labels]


@route("GET", ISSUE + "/events")
def issue_events(hub: LoopbackGitHub, request: Request) -> Page:
    number = pull_of(hub, request).number
    return Page([event for event in hub.store.events if event.number == number], hub.render.event)


@route("GET", ISSUE + "/timeline")
def timeline(hub: LoopbackGitHub, request: Request) -> Page:
    """History lines and comments in order of time."""
    number = pull_of(hub, request).number
    events = [
        (event.created, 0, event.id, hub.render.event(event)) for event in hub.store.events if event.number == number
    ]
    comments = [(comment.created, 1, comment.id, _commented(hub, comment)) for comment in hub.store.comments_of(number)]
    return Page([shown for _, _, _, shown in sorted(events + comments, key=lambda row: row[:3])], lambda shown: shown)


def _commented(hub: LoopbackGitHub, comment: Comment) -> dict[str, Any]:
    shown = hub.render.comment(comment)
    return {**shown, "event": "commented", "actor": shown["user"]}


@route("GET", REPO + "/labels")
def list_labels(hub: LoopbackGitHub, request: Request) -> Page:
    return Page([label.name for label in hub.store.labels.values()], hub.render.label)


@route("POST", REPO + "/labels", needs="write")
def make_label(hub: LoopbackGitHub, request: Request) -> Response:
    name = request.text("name")
    if name.lower() in hub.store.labels:
        raise Refused("Validation Failed", field="name", code="already_exists", resource="Label")
    label = hub.store.label(name)
    label.color = request.text("color", required=False) or label.color
    label.description = request.text("description", required=False) or None
    return Response(status=201, value=hub.render.label(name))


@route("GET", REPO + "/labels/{name}")
def get_label(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    if request.args["name"].lower() not in hub.store.labels:
        raise Refused("Not Found", status=404)
    return hub.render.label(request.args["name"])
