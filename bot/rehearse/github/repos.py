"""Routes of the repository itself: branches and refs, people, limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.rehearse.github.git_json import commit_json, ref_json
from bot.rehearse.github.gitrepo import ZERO
from bot.rehearse.github.objects import fill, id_of, node
from bot.rehearse.github.settings import sees
from bot.rehearse.github.verbs import Refused
from bot.rehearse.github.wire import LEVELS, REPO, Page, Request, Response, route

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub

NOT_FOUND = "Not Found"
ROLES = {"admin": "admin", "maintain": "maintain", "push": "write", "triage": "triage", "pull": "read"}


@route("GET", REPO)
def repository(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    own, level = hub.settings, LEVELS.index(request.who.permission)
    shown = {**hub.render.repo("full-repository"), "private": own.private, "archived": own.archived,
             "visibility": "private" if own.private else "public",
             "permissions": {name: level >= LEVELS.index(role) for name, role in ROLES.items()}}
    return {**shown, "owner": {**shown["owner"], "type": "User"}} if own.personal else shown


@route("GET", "/user")
def user(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    """Who the token is; an App's or a job's token is no user."""
    if request.who.bot:
        raise Refused("Resource not accessible by integration", status=403)
    return hub.render.person(request.who)


@route("GET", "/app")
def app(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    if not request.who.bot:
        raise Refused("A JSON web token could not be decoded", status=401)
    slug = request.who.login.removesuffix("[bot]")
    number = id_of(f"app {slug}")
    return fill(
        "integration",
        f"{hub.url}/apps/{slug}",
        {
            "id": number,
            "slug": slug,
            "name": slug,
            "node_id": node("App", number),
            "owner": hub.render.owner(),
            "html_url": f"{hub.url}/apps/{slug}",
            "permissions": {"issues": "write", "contents": "write", "metadata": "read"},
        },
    )


@route("GET", "/users/{login}")
def person(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    if (who := hub.store.accounts.get(request.args["login"])) is None:
        raise Refused(NOT_FOUND, status=404)
    return hub.render.person(who)


@route("GET", "/rate_limit")
def rate_limit(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    limit = hub.limits.shown(request.who, request.now)
    return fill("rate-limit-overview", hub.url, {"rate": limit, "resources": {"core": limit, "search": {
        "limit": 30, "remaining": 30, "used": 0, "reset": limit["reset"]}}})


@route("GET", REPO + "/collaborators/{login}/permission")
def permission(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    """maintain reads as write and triage as read, with the true role in role_name, as GitHub's does."""
    if (who := hub.store.accounts.get(request.args["login"])) is None:
        raise Refused(NOT_FOUND, status=404)
    folded = {"maintain": "write", "triage": "read"}.get(who.permission, who.permission)
    return fill(
        "repository-collaborator-permission",
        hub.render.here,
        {
            "permission": folded,
            "role_name": who.permission,
            "user": {**hub.render.user(who), "role_name": who.permission},
        },
    )


@route("GET", REPO + "/branches")
def branches(hub: LoopbackGitHub, _: Request) -> Page:
    return Page(list(hub.git.refs("refs/heads/").items()), lambda pair: fill("short-branch", hub.render.here, {
        "name": pair[0].removeprefix("refs/heads/"),
        "commit": {"sha": pair[1], "url": f"{hub.render.here}/commits/{pair[1]}"}}))


@route("GET", REPO + "/branches/{branch...}/protection")
def protection(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    sees(hub, request, "administration", "admin")
    if (found := hub.settings.protections.get(request.args["branch"])) is None:
        raise Refused("Branch not protected", status=404)
    return {"url": f"{hub.render.here}/branches/{request.args['branch']}/protection", **found}


@route("GET", REPO + "/branches/{branch...}")
def branch(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    name = request.args["branch"]
    if (sha := hub.git.refs("refs/heads/").get(f"refs/heads/{name}")) is None:
        raise Refused("Branch not found", status=404)
    url = f"{hub.render.here}/branches/{name}"
    return fill(
        "branch-with-protection",
        url,
        {
            "name": name,
            "protected": name in hub.settings.protections or bool(hub.settings.rules_of(name, hub.render.branch)),
            "commit": commit_json(hub.render, hub.git.commit(sha)),
            "_links": {"html": f"{hub.url}/{hub.repository}/tree/{name}", "self": url},
        },
    )


@route("GET", REPO + "/git/ref/{ref...}")
def git_ref(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    name = f"refs/{request.args['ref']}"
    if (sha := hub.git.refs().get(name)) is None:
        raise Refused(NOT_FOUND, status=404)
    return ref_json(hub.render, name, sha)


@route("GET", REPO + "/git/matching-refs/{ref...}")
def matching(hub: LoopbackGitHub, request: Request) -> list[Any]:
    """All at once: this list knows no pages."""
    start = f"refs/{request.args['ref']}"
    return [ref_json(hub.render, name, sha) for name, sha in hub.git.refs().items() if name.startswith(start)]


@route("POST", REPO + "/git/refs", needs="write")
def make_ref(hub: LoopbackGitHub, request: Request) -> Response:
    name, sha = request.text("ref"), request.text("sha")
    if not name.startswith("refs/") or name.count("/") < 2:
        raise Refused("Reference name must start with 'refs/' and contain at least two slashes.")
    if hub.git.resolve(sha) != sha:
        raise Refused("Object does not exist")
    if not hub.git.update_ref(name, sha):
        raise Refused("Reference already exists")
    hub.watch.look(request.now, by=request.who)
    return Response(status=201, value=ref_json(hub.render, name, sha))


@route("PATCH", REPO + "/git/refs/{ref...}", needs="write")
def move_ref(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    name, sha = f"refs/{request.args['ref']}", request.text("sha")
    old = hub.git.refs().get(name)
    if old is None or hub.git.resolve(sha) != sha:
        raise Refused("Reference does not exist" if old is None else "Object does not exist")
    if not request.fields.get("force") and not hub.git.contains(sha, old):
        raise Refused("Update is not a fast forward")
    hub.git.update_ref(name, sha, old)
    hub.watch.look(request.now, by=request.who)
    return ref_json(hub.render, name, sha)


@route("DELETE", REPO + "/git/refs/{ref...}", needs="write")
def drop_ref(hub: LoopbackGitHub, request: Request) -> Response:
    name = f"refs/{request.args['ref']}"
    if (old := hub.git.refs().get(name)) is None:
        raise Refused("Reference does not exist")
    hub.git.update_ref(name, ZERO, old)
    hub.watch.look(request.now, by=request.who)
    return Response(status=204)


@route("POST", REPO + "/dispatches", needs="write")
def repository_dispatch(hub: LoopbackGitHub, request: Request) -> Response:
    hub.events.repository_dispatch(
        request.text("event_type"), request.fields.get("client_payload") or {}, request.who, request.now
    )
    return Response(status=204)


