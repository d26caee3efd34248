"""Routes of the repository itself: refs, commits, contents, comparisons, people, limits."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from bot.model.upstream import Commit
from bot.rehearse.github.gitrepo import ZERO
from bot.rehearse.github.objects import fill, id_of, node
from bot.rehearse.github.verbs import Refused
from bot.rehearse.github.wire import REPO, Page, Request, Response, route

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub

NOT_FOUND = "Not Found"


@route("GET", REPO)
def repository(hub: LoopbackGitHub, _: Request) -> dict[str, Any]:
    return hub.render.repo("full-repository")


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
    return fill("integration", f"{hub.url}/apps/{slug}", {
        "id": number, "slug": slug, "name": slug, "node_id": node("App", number), "owner": hub.render.owner(),
        "html_url": f"{hub.url}/apps/{slug}", "permissions": {"issues": "write", "contents": "write", "metadata": "read"}})


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
    return fill("repository-collaborator-permission", hub.render.here, {
        "permission": folded, "role_name": who.permission, "user": {**hub.render.user(who), "role_name": who.permission}})


@route("GET", REPO + "/branches")
def branches(hub: LoopbackGitHub, _: Request) -> Page:
    return Page(list(hub.git.refs("refs/heads/").items()), lambda pair: fill("short-branch", hub.render.here, {
        "name": pair[0].removeprefix("refs/heads/"),
        "commit": {"sha": pair[1], "url": f"{hub.render.here}/commits/{pair[1]}"}}))


@route("GET", REPO + "/branches/{branch...}")
def branch(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    name = request.args["branch"]
    if (sha := hub.git.refs("refs/heads/").get(f"refs/heads/{name}")) is None:
        raise Refused("Branch not found", status=404)
    url = f"{hub.render.here}/branches/{name}"
    return fill("branch-with-protection", url, {"name": name, "commit": hub.render.commit(hub.git.commit(sha)),
                                                "_links": {"html": f"{hub.url}/{hub.repository}/tree/{name}", "self": url}})


@route("GET", REPO + "/git/ref/{ref...}")
def git_ref(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    name = f"refs/{request.args['ref']}"
    if (sha := hub.git.refs().get(name)) is None:
        raise Refused(NOT_FOUND, status=404)
    return hub.render.ref(name, sha)


@route("GET", REPO + "/git/matching-refs/{ref...}")
def matching(hub: LoopbackGitHub, request: Request) -> list[Any]:
    """All at once: this list knows no pages."""
    start = f"refs/{request.args['ref']}"
    return [hub.render.ref(name, sha) for name, sha in hub.git.refs().items() if name.startswith(start)]


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
    return Response(status=201, value=hub.render.ref(name, sha))


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
    return hub.render.ref(name, sha)


@route("DELETE", REPO + "/git/refs/{ref...}", needs="write")
def drop_ref(hub: LoopbackGitHub, request: Request) -> Response:
    name = f"refs/{request.args['ref']}"
    if (old := hub.git.refs().get(name)) is None:
        raise Refused("Reference does not exist")
    hub.git.update_ref(name, ZERO, old)
    hub.watch.look(request.now, by=request.who)
    return Response(status=204)


def _commit(hub: LoopbackGitHub, name: str) -> str:
    if (sha := hub.git.resolve(name)) is None:
        raise Refused(f"No commit found for SHA: {name}")
    return sha


@route("GET", REPO + "/git/commits/{sha}")
def git_commit(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    sha = hub.git.resolve(request.args["sha"])
    if sha is None:
        raise Refused(NOT_FOUND, status=404)
    return hub.render.git_commit(hub.git.commit(sha))


@route("GET", REPO + "/commits")
def commits(hub: LoopbackGitHub, request: Request) -> Page:
    tip = hub.git.resolve(request.query.get("sha") or hub.render.branch)
    if tip is None:
        raise Refused(NOT_FOUND, status=404)
    return Page(hub.git.log(tip, request.query.get("path")), lambda sha: hub.render.commit(hub.git.commit(sha)))


@route("GET", REPO + "/commits/{ref...}")
def commit(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    facts = hub.git.commit(_commit(hub, request.args["ref"]))
    if not facts.parents:
        return hub.render.commit(facts, [])
    return hub.render.commit(facts, hub.git.changes(facts.parents[0], facts.sha), facts.parents[0])


@route("GET", REPO + "/contents")
@route("GET", REPO + "/contents/{path...}")
def contents(hub: LoopbackGitHub, request: Request) -> dict[str, Any] | list[Any]:
    """A file with its bytes in base64 (none above 1 MB, as GitHub's), or a folder's list."""
    ref, path = request.query.get("ref") or hub.render.branch, request.args.get("path", "").strip("/")
    sha = hub.git.resolve(ref)
    found = hub.git.entry(sha, path) if sha else None
    if sha is None or found is None:
        raise Refused(NOT_FOUND if sha else f"No commit found for the ref {ref}", status=404)
    kind, oid = found
    if kind == "tree":
        return [_entry(hub, f"{path}/{name}".lstrip("/"), ref, "dir" if what == "tree" else "file", child, size)
                for what, child, name, size in hub.git.children(oid)]
    data = hub.git.blob(oid)
    text = base64.encodebytes(data).decode() if len(data) <= 1_000_000 else ""
    return {**_entry(hub, path, ref, "file", oid, len(data)), "encoding": "base64" if text or not data else "none", "content": text}


def _entry(hub: LoopbackGitHub, path: str, ref: str, kind: str, oid: str, size: int) -> dict[str, Any]:
    url, part = f"{hub.render.here}/contents/{path}?ref={ref}", "tree" if kind == "dir" else "blob"
    page = f"{hub.url}/{hub.repository}/{part}/{ref}/{path}"
    git = f"{hub.render.here}/git/{part}s/{oid}"
    return {"type": kind, "name": path.rpartition("/")[2], "path": path, "sha": oid, "size": size, "url": url, "html_url": page,
            "git_url": git, "download_url": None if kind == "dir" else f"{hub.url}/raw/{hub.repository}/{ref}/{path}",
            "_links": {"self": url, "git": git, "html": page}}


@route("GET", "/repos/{owner}/{repo}/compare/{basehead...}")
def compare(hub: LoopbackGitHub, request: Request) -> Response:
    """base...head: this repository from git, another one from the facts the caller gave."""
    base, dots, head = request.args["basehead"].partition("...")
    if not dots:
        raise Refused(NOT_FOUND, status=404)
    name = f"{request.args['owner']}/{request.args['repo']}"
    return Response(value=_own(hub, base, head) if name == hub.repository else _foreign(hub, name, base, head))


def _own(hub: LoopbackGitHub, base: str, head: str) -> dict[str, Any]:
    owner = hub.repository.split("/")[0]
    one, two = hub.git.resolve(base.removeprefix(f"{owner}:")), hub.git.resolve(head.removeprefix(f"{owner}:"))
    start = hub.git.merge_base(one, two) if one and two else None
    if one is None or two is None or start is None:
        raise Refused(NOT_FOUND if None in (one, two) else f"No common ancestor between {base} and {head}.", status=404)
    ahead, behind = hub.git.between(one, two), hub.git.between(two, one)
    render = hub.render
    return _comparison(hub, render.here, base, head, len(ahead), len(behind), {
        "base_commit": render.commit(hub.git.commit(one)), "merge_base_commit": render.commit(hub.git.commit(start)),
        "commits": [render.commit(hub.git.commit(sha)) for sha in ahead[:250]],
        "files": [render.file(change, start, two) for change in hub.git.changes(start, two)[:300]]})


def _comparison(hub: LoopbackGitHub, here: str, base: str, head: str, ahead: int, behind: int, more: dict[str, Any]) -> dict[str, Any]:
    status = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    page = f"{hub.url}/{here.partition('/repos/')[2]}/compare/{base}...{head}"
    return fill("commit-comparison", f"{here}/compare/{base}...{head}", {
        "status": status, "ahead_by": ahead, "behind_by": behind, "total_commits": ahead, "html_url": page,
        "permalink_url": page, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch", **more})


def _foreign(hub: LoopbackGitHub, name: str, base: str, head: str) -> dict[str, Any]:
    """An upstream comparison; both ends match by prefix, so that short ids find it."""
    found = next((c for c in hub.upstream if c.repository.lower() == name.lower() and same(c.base, base) and same(c.head, head)), None)
    if found is None or found.merge_base is None:
        raise Refused(NOT_FOUND if found is None else f"No common ancestor between {base} and {head}.", status=404)
    here = f"{hub.url}/repos/{name}"
    tip = Commit(sha=found.base, title="", date="2000-01-01")
    return _comparison(hub, here, base, head, found.ahead, found.behind, {
        "base_commit": _upstream(here, tip), "merge_base_commit": _upstream(here, Commit(sha=found.merge_base, title="", date="2000-01-01")),
        "commits": [_upstream(here, commit) for commit in found.commits[:250]], "files": []})


def same(known: str, asked: str) -> bool:
    return known == asked or (len(asked) >= 7 and known.startswith(asked)) or (len(known) >= 7 and asked.startswith(known))


def _upstream(here: str, commit: Commit) -> dict[str, Any]:
    who = {"name": "upstream", "email": "upstream@example.com", "date": commit.date}
    url = f"{here}/commits/{commit.sha}"
    return fill("commit", url, {"sha": commit.sha, "node_id": node("Commit", id_of(commit.sha)), "commit": {
        "author": who, "committer": who, "message": commit.title, "tree": {"sha": ZERO, "url": f"{here}/git/trees/{ZERO}"}}})


@route("POST", REPO + "/dispatches", needs="write")
def repository_dispatch(hub: LoopbackGitHub, request: Request) -> Response:
    hub.events.repository_dispatch(request.text("event_type"), request.fields.get("client_payload") or {}, request.who, request.now)
    return Response(status=204)


