"""Routes of what git holds: commits, files, comparisons; foreign repositories are compared from given facts."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from bot.errors import BumpbotError
from bot.model.upstream import Commit, Comparison
from bot.rehearse.github.git_json import commit_json, file_json, git_commit_json
from bot.rehearse.github.gitrepo import ZERO
from bot.rehearse.github.objects import fill, node
from bot.rehearse.github.state import id_of
from bot.rehearse.github.verbs import Refused
from bot.rehearse.github.wire import REPO, Page, Request, Response, route

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub
    from bot.rehearse.told.history import HistoryTold

NOT_FOUND = "Not Found"


def _commit(hub: LoopbackGitHub, name: str) -> str:
    if (sha := hub.git.resolve(name)) is None:
        raise Refused(f"No commit found for SHA: {name}")
    return sha


@route("GET", REPO + "/git/commits/{sha}")
def git_commit(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    sha = hub.git.resolve(request.args["sha"])
    if sha is None:
        raise Refused(NOT_FOUND, status=404)
    return git_commit_json(hub.render, hub.git.commit(sha))


@route("GET", REPO + "/commits")
def commits(hub: LoopbackGitHub, request: Request) -> Page:
    tip = hub.git.resolve(request.query.get("sha") or hub.render.branch)
    if tip is None:
        raise Refused(NOT_FOUND, status=404)
    return Page(hub.git.log(tip, request.query.get("path")), lambda sha: commit_json(hub.render, hub.git.commit(sha)))


@route("GET", REPO + "/commits/{ref...}")
def commit(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    facts = hub.git.commit(_commit(hub, request.args["ref"]))
    if not facts.parents:
        return commit_json(hub.render, facts, [])
    return commit_json(hub.render, facts, hub.git.changes(facts.parents[0], facts.sha), facts.parents[0])


@route("GET", REPO + "/contents")
@route("GET", REPO + "/contents/")
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
    return {
        **_entry(hub, path, ref, "file", oid, len(data)),
        "encoding": "base64" if text or not data else "none",
        "content": text,
    }


def _entry(hub: LoopbackGitHub, path: str, ref: str, kind: str, oid: str, size: int) -> dict[str, Any]:
    url, part = f"{hub.render.here}/contents/{path}?ref={ref}", "tree" if kind == "dir" else "blob"
    page = f"{hub.url}/{hub.repository}/{part}/{ref}/{path}"
    git = f"{hub.render.here}/git/{part}s/{oid}"
    return {
        "type": kind,
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": oid,
        "size": size,
        "url": url,
        "html_url": page,
        "git_url": git,
        "download_url": None if kind == "dir" else f"{hub.url}/raw/{hub.repository}/{ref}/{path}",
        "_links": {"self": url, "git": git, "html": page},
    }


@route("GET", "/repos/{owner}/{repo}/compare/{basehead...}")
def compare(hub: LoopbackGitHub, request: Request) -> Response:
    """base...head: this repository from git, another one from the facts or the history that the caller gave."""
    base, dots, head = request.args["basehead"].partition("...")
    if not dots:
        raise Refused(NOT_FOUND, status=404)
    name = f"{request.args['owner']}/{request.args['repo']}"
    told = _own(hub, base, head) if name == hub.repository else _foreign(hub, name, base, head)
    asked = (request.query.get("page", ""), request.query.get("per_page", ""))
    page, size = (int(text) if text.isdigit() else other for text, other in zip(asked, (1, 250), strict=True))
    told["commits"] = told["commits"][(page - 1) * size : page * size]
    return Response(value=told)


def _own(hub: LoopbackGitHub, base: str, head: str) -> dict[str, Any]:
    owner = hub.repository.split("/")[0]
    one, two = hub.git.resolve(base.removeprefix(f"{owner}:")), hub.git.resolve(head.removeprefix(f"{owner}:"))
    start = hub.git.merge_base(one, two) if one and two else None
    if one is None or two is None or start is None:
        raise Refused(NOT_FOUND if None in (one, two) else f"No common ancestor between {base} and {head}.", status=404)
    ahead, behind = hub.git.between(one, two), hub.git.between(two, one)
    render = hub.render
    return _comparison(
        hub,
        render.here,
        base,
        head,
        len(ahead),
        len(behind),
        {
            "base_commit": commit_json(render, hub.git.commit(one)),
            "merge_base_commit": commit_json(render, hub.git.commit(start)),
            "commits": [commit_json(render, hub.git.commit(sha)) for sha in ahead[:250]],
            "files": [file_json(render, change, start, two) for change in hub.git.changes(start, two)[:300]],
        },
    )


def _comparison(
    hub: LoopbackGitHub, here: str, base: str, head: str, ahead: int, behind: int, more: dict[str, Any]
) -> dict[str, Any]:
    status = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    page = f"{hub.url}/{here.partition('/repos/')[2]}/compare/{base}...{head}"
    return fill("commit-comparison", f"{here}/compare/{base}...{head}", {
        "status": status, "ahead_by": ahead, "behind_by": behind, "total_commits": ahead, "html_url": page,
        "permalink_url": page, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch", **more})


def _foreign(hub: LoopbackGitHub, name: str, base: str, head: str) -> dict[str, Any]:
    """An upstream comparison; both ends match by prefix, so that short ids find it."""
    found = next(
        (c for c in hub.upstream if c.repository.lower() == name.lower() and same(c.base, base) and same(c.head, head)),
        None,
    )
    if found is None and (history := hub.histories.get(name.lower())) is not None:
        found = _derived(history, base, head)
    if found is None or found.merge_base is None:
        raise Refused(NOT_FOUND if found is None else f"No common ancestor between {base} and {head}.", status=404)
    here = f"{hub.url}/repos/{name}"
    return _comparison(hub, here, base, head, found.ahead or 0, found.behind or 0, {
        "base_commit": _upstream(here, Commit(sha=found.base, title="", date="")),
        "merge_base_commit": _upstream(here, Commit(sha=found.merge_base, title="", date="")),
        "commits": [_upstream(here, commit) for commit in found.commits[:250]], "files": []})


def _derived(history: HistoryTold, base: str, head: str) -> Comparison:
    try:
        return history.compare(base, head)
    except BumpbotError as fault:
        raise Refused(NOT_FOUND, status=404) from fault


def same(known: str, asked: str) -> bool:
    """Whether two names mean one commit: equal, or one an abbreviation (7 or more) of the other."""
    return (
        known == asked or (len(asked) >= 7 and known.startswith(asked)) or (len(known) >= 7 and asked.startswith(known))
    )


def _upstream(here: str, commit: Commit) -> dict[str, Any]:
    """A commit of which little is known: a date where the facts have one, and no author."""
    when = commit.date if "T" in commit.date else f"{commit.date}T00:00:00Z"
    who = {"date": when} if commit.date else None
    url = f"{here}/commits/{commit.sha}"
    return fill(
        "commit",
        url,
        {
            "sha": commit.sha,
            "node_id": node("Commit", id_of(commit.sha)),
            "commit": {
                "author": who,
                "committer": who,
                "message": commit.title,
                "tree": {"sha": ZERO, "url": f"{here}/git/trees/{ZERO}"},
            },
        },
    )
