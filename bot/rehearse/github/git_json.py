"""Commits, files of a difference and refs as GitHub's JSON. Kept beside objects.py, which does the rest."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import quote

from bot.rehearse.github.gitrepo import CommitFacts, FileChange
from bot.rehearse.github.objects import Json, Render, account_of, fill, moment, node
from bot.rehearse.github.state import id_of


def commit_json(
    render: Render, facts: CommitFacts, changes: list[FileChange] | None = None, parent: str | None = None
) -> Json:
    """A commit as the REST lists it; with `changes`, its files and counts too."""
    url, page = f"{render.here}/commits/{facts.sha}", f"{render.url}/{render.repository}/commit/{facts.sha}"
    over: Json = {
        "sha": facts.sha,
        "node_id": node("Commit", id_of(facts.sha)),
        "html_url": page,
        "url": url,
        "comments_url": f"{url}/comments",
        "author": _known(render, facts.author),
        "committer": _known(render, facts.committer),
        "commit": _inner(render, facts),
        "parents": [
            {"sha": sha, "url": f"{render.here}/commits/{sha}", "html_url": page.replace(facts.sha, sha)}
            for sha in facts.parents
        ],
    }
    if changes is not None:
        plus, minus = sum(c.additions for c in changes), sum(c.deletions for c in changes)
        over["stats"] = {"additions": plus, "deletions": minus, "total": plus + minus}
        over["files"] = [file_json(render, change, parent, facts.sha) for change in changes]
    return fill("commit", url, over)


def _inner(render: Render, facts: CommitFacts) -> Json:
    return {"author": signature(facts.author), "committer": signature(facts.committer), "message": facts.message,
            "comment_count": 0, "tree": {"sha": facts.tree, "url": f"{render.here}/git/trees/{facts.tree}"},
            "url": f"{render.here}/git/commits/{facts.sha}"}


def git_commit_json(render: Render, facts: CommitFacts) -> Json:
    """A commit as the git database lists it."""
    over = {
        "sha": facts.sha,
        "node_id": node("Commit", id_of(facts.sha)),
        "author": signature(facts.author),
        "committer": signature(facts.committer),
        "message": facts.message,
        "tree": {"sha": facts.tree, "url": f"{render.here}/git/trees/{facts.tree}"},
        "verification": {"reason": "unsigned"},
        "html_url": f"{render.url}/{render.repository}/commit/{facts.sha}",
        "parents": [
            {
                "sha": sha,
                "url": f"{render.here}/git/commits/{sha}",
                "html_url": f"{render.url}/{render.repository}/commit/{sha}",
            }
            for sha in facts.parents
        ],
    }
    return fill("git-commit", f"{render.here}/git/commits/{facts.sha}", over)


def _known(render: Render, signed: tuple[str, str, str]) -> Json | None:
    who = account_of(render.store, signed[1])
    return render.user(who) if who else None


def file_json(render: Render, change: FileChange, base: str | None, head: str) -> Json:
    """One file of a difference, with its patch where `base` is known and the file is text."""
    where = f"{quote(change.path)}?ref={head}"
    over: Json = {
        "filename": change.path,
        "sha": change.blob,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "contents_url": f"{render.here}/contents/{where}",
    }
    if change.previous:
        over["previous_filename"] = change.previous
    if base and (patch := render.git.patch(base, head, change.path)):
        over["patch"] = patch
    return fill("diff-entry", f"{render.url}/{render.repository}/blob/{head}/{quote(change.path)}", over)


def ref_json(render: Render, name: str, sha: str) -> Json:
    """A ref and the commit it points at."""
    return fill("git-ref", f"{render.here}/git/{quote(name)}", {
        "ref": name, "node_id": node("Ref", id_of(name)),
        "object": {"type": "commit", "sha": sha, "url": f"{render.here}/git/commits/{sha}"}})


def signature(signed: tuple[str, str, str]) -> Json:
    """(name, address, date) as GitHub's JSON."""
    when = datetime.fromisoformat(signed[2])
    return {"name": signed[0], "email": signed[1], "date": moment(when)}
