"""State into GitHub's JSON: full objects from skeletons.json (made from GitHub's own description), state laid over them.

Every address is on this server's host: PyGithub follows `url` and `*_url` and refuses another host.
"""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from bot.rehearse.github.declare import Account, Workflow
from bot.rehearse.github.gitrepo import CommitFacts, FileChange, GitRepo
from bot.rehearse.github.state import Comment, Event, Pull, Reaction, Store, id_of

Json = dict[str, Any]


@cache
def _frames() -> dict[str, str]:
    text = files("bot.rehearse.github").joinpath("skeletons.json").read_text()
    return {kind: json.dumps(frame) for kind, frame in json.loads(text).items()}


def fill(kind: str, url: str, over: Json) -> Json:
    """A whole object of a kind: the skeleton with its addresses below `url`, and `over` laid on it."""
    return merge(json.loads(_frames()[kind].replace("@@", url)), over)


def merge(under: Json, over: Json) -> Json:
    for key, value in over.items():
        below = under.get(key)
        under[key] = merge(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return under


def moment(when: datetime | None) -> str | None:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if when else None


def node(kind: str, number: int) -> str:
    return base64.b64encode(f"0:{kind}{number}".encode()).decode().rstrip("=")


class Render:
    """One repository's objects as JSON."""

    def __init__(self, url: str, repository: str, branch: str, store: Store, git: GitRepo) -> None:
        self.url, self.repository, self.branch, self.store, self.git = url, repository, branch, store, git
        self.here = f"{url}/repos/{repository}"

    def user(self, who: Account) -> Json:
        url = f"{self.url}/users/{quote(who.login)}"
        page = f"{self.url}/apps/{who.login.removesuffix('[bot]')}" if who.bot else f"{self.url}/{who.login}"
        return fill("simple-user", url, self._person(who, page))

    def person(self, who: Account) -> Json:
        page = f"{self.url}/{quote(who.login)}"
        return fill("public-user", f"{self.url}/users/{quote(who.login)}",
                    {**self._person(who, page), "name": who.login, "user_view_type": "public"})

    def _person(self, who: Account, page: str) -> Json:
        number = who.id if who.id is not None else id_of(who.login)
        return {"login": who.login, "id": number, "node_id": node("User", number), "html_url": page,
                "type": "Bot" if who.bot else "User"}

    def owner(self) -> Json:
        login = self.repository.split("/")[0]
        return {**self.user(Account(login=login)), "type": "Organization"}

    def repo(self, kind: str = "minimal-repository") -> Json:
        owner, name = self.repository.split("/")
        number = id_of(self.repository)
        over = {"id": number, "node_id": node("Repository", number), "name": name, "full_name": self.repository,
                "owner": self.owner(), "html_url": f"{self.url}/{self.repository}", "private": False,
                "default_branch": self.branch, "url": self.here}
        if kind == "full-repository":
            over["clone_url"] = f"{self.url}/{owner}/{name}.git"
        return fill(kind, self.here, over)

    def pull(self, pull: Pull, *, mergeable: bool | None = None, full: bool = True) -> Json:
        """A pull request; the list form (`full` False) lacks mergeable, counts and merger, as GitHub's does."""
        url = f"{self.here}/pulls/{pull.number}"
        issue = f"{self.here}/issues/{pull.number}"
        page = f"{self.url}/{self.repository}/pull/{pull.number}"
        over = {
            "id": pull.id, "node_id": node("PullRequest", pull.number), "number": pull.number, "url": url,
            "html_url": page, "issue_url": issue, "comments_url": f"{issue}/comments", "commits_url": f"{url}/commits",
            "diff_url": f"{page}.diff", "patch_url": f"{page}.patch", "statuses_url": f"{self.here}/statuses/{pull.head}",
            "review_comments_url": f"{url}/comments", "state": "open" if pull.open else "closed", "title": pull.title,
            "body": pull.body, "user": self.user(pull.author), "draft": pull.draft, "locked": False,
            "labels": [self.label(name) for name in pull.labels], "author_association": self._association(pull.author),
            "created_at": moment(pull.created), "updated_at": moment(pull.updated), "closed_at": moment(pull.closed),
            "merged_at": moment(pull.merged), "merge_commit_sha": pull.merge_commit,
            "head": self._side(pull.branch, pull.head), "base": self._side(pull.base, pull.base_sha),
            "_links": {name: {"href": where} for name, where in {
                "self": url, "html": page, "issue": issue, "comments": f"{issue}/comments", "commits": f"{url}/commits",
                "statuses": f"{self.here}/statuses/{pull.head}", "review_comments": f"{url}/comments",
                "review_comment": f"{self.here}/pulls/comments"}.items()},
        }
        if not full:
            return fill("pull-request-simple", url, over)
        state = "unknown" if mergeable is None else "dirty" if not mergeable else "draft" if pull.draft else "clean"
        changed = self.git.changes(pull.base_sha, pull.head, dots=3)
        over |= {"merged": pull.merged is not None, "mergeable": mergeable, "mergeable_state": state,
                 "merged_by": self.user(pull.merged_by) if pull.merged_by else None,
                 "comments": len(self.store.comments_of(pull.number)), "changed_files": len(changed),
                 "commits": len(self.git.between(pull.base_sha, pull.head)),
                 "additions": sum(c.additions for c in changed), "deletions": sum(c.deletions for c in changed)}
        return fill("pull-request", url, over)

    def _side(self, branch: str, sha: str) -> Json:
        owner = self.repository.split("/")[0]
        return {"label": f"{owner}:{branch}", "ref": branch, "sha": sha, "user": self.owner(),
                "repo": self.repo("repository")}

    def _association(self, who: Account) -> str:
        return "COLLABORATOR" if who.permission in ("admin", "maintain", "write") and not who.bot else "NONE"

    def issue(self, pull: Pull) -> Json:
        url, page = f"{self.here}/issues/{pull.number}", f"{self.url}/{self.repository}/pull/{pull.number}"
        return fill("issue", url, {
            "id": pull.id, "node_id": node("PullRequest", pull.number), "number": pull.number, "url": url, "html_url": page,
            "repository_url": self.here, "title": pull.title, "body": pull.body, "user": self.user(pull.author),
            "state": "open" if pull.open else "closed", "labels": [self.label(name) for name in pull.labels],
            "comments": len(self.store.comments_of(pull.number)), "author_association": self._association(pull.author),
            "closed_by": self.user(pull.closed_by) if pull.closed_by else None, "draft": pull.draft,
            "created_at": moment(pull.created), "updated_at": moment(pull.updated), "closed_at": moment(pull.closed),
            "pull_request": {"url": f"{self.here}/pulls/{pull.number}", "html_url": page, "diff_url": f"{page}.diff",
                             "patch_url": f"{page}.patch", "merged_at": moment(pull.merged)}})

    def comment(self, comment: Comment) -> Json:
        page = f"{self.url}/{self.repository}/pull/{comment.number}#issuecomment-{comment.id}"
        url = f"{self.here}/issues/comments/{comment.id}"
        return fill("issue-comment", url, {
            "id": comment.id, "node_id": node("IssueComment", comment.id), "html_url": page, "body": comment.body,
            "issue_url": f"{self.here}/issues/{comment.number}", "user": self.user(comment.author),
            "author_association": self._association(comment.author), "created_at": moment(comment.created),
            "updated_at": moment(comment.updated)})

    def reaction(self, reaction: Reaction) -> Json:
        return fill("reaction", "", {"id": reaction.id, "node_id": node("Reaction", reaction.id), "content": reaction.content,
                                     "user": self.user(reaction.author), "created_at": moment(reaction.created)})

    def label(self, name: str) -> Json:
        label = self.store.label(name)
        return fill("label", f"{self.here}/labels/{quote(label.name, safe='')}", {
            "id": label.id, "node_id": node("Label", label.id), "name": label.name, "color": label.color,
            "description": label.description})

    def event(self, event: Event) -> Json:
        kind = "labeled-issue-event" if event.label else "state-change-issue-event"
        over: Json = {"id": event.id, "node_id": node("Event", event.id), "url": f"{self.here}/issues/events/{event.id}",
                      "actor": self.user(event.actor), "event": event.event, "created_at": moment(event.created),
                      "commit_id": event.commit}
        if event.label:
            over["label"] = {"name": event.label, "color": self.store.label(event.label).color}
        return fill(kind, over["url"], over)

    def commit(self, facts: CommitFacts, changes: list[FileChange] | None = None, parent: str | None = None) -> Json:
        """A commit as the REST lists it; with `changes`, its files and counts too."""
        url, page = f"{self.here}/commits/{facts.sha}", f"{self.url}/{self.repository}/commit/{facts.sha}"
        over: Json = {"sha": facts.sha, "node_id": node("Commit", id_of(facts.sha)), "html_url": page, "url": url,
                      "comments_url": f"{url}/comments", "author": self._known(facts.author),
                      "committer": self._known(facts.committer), "commit": self._inner(facts),
                      "parents": [{"sha": sha, "url": f"{self.here}/commits/{sha}", "html_url": page} for sha in facts.parents]}
        if changes is not None:
            plus, minus = sum(c.additions for c in changes), sum(c.deletions for c in changes)
            over["stats"] = {"additions": plus, "deletions": minus, "total": plus + minus}
            over["files"] = [self.file(change, parent, facts.sha) for change in changes]
        return fill("commit", url, over)

    def _inner(self, facts: CommitFacts) -> Json:
        return {"author": signature(facts.author), "committer": signature(facts.committer), "message": facts.message,
                "comment_count": 0, "tree": {"sha": facts.tree, "url": f"{self.here}/git/trees/{facts.tree}"},
                "url": f"{self.here}/git/commits/{facts.sha}"}

    def git_commit(self, facts: CommitFacts) -> Json:
        over = {"sha": facts.sha, "node_id": node("Commit", id_of(facts.sha)), "author": signature(facts.author),
                "committer": signature(facts.committer), "message": facts.message,
                "tree": {"sha": facts.tree, "url": f"{self.here}/git/trees/{facts.tree}"}, "verification": {"reason": "unsigned"},
                "html_url": f"{self.url}/{self.repository}/commit/{facts.sha}",
                "parents": [{"sha": sha, "url": f"{self.here}/git/commits/{sha}",
                             "html_url": f"{self.url}/{self.repository}/commit/{sha}"} for sha in facts.parents]}
        return fill("git-commit", f"{self.here}/git/commits/{facts.sha}", over)

    def _known(self, signed: tuple[str, str, str]) -> Json | None:
        who = account_of(self.store, signed[1])
        return self.user(who) if who else None

    def file(self, change: FileChange, base: str | None, head: str) -> Json:
        where = f"{quote(change.path)}?ref={head}"
        over: Json = {"filename": change.path, "sha": change.blob, "status": change.status, "additions": change.additions,
                      "deletions": change.deletions, "changes": change.additions + change.deletions,
                      "contents_url": f"{self.here}/contents/{where}"}
        if change.previous:
            over["previous_filename"] = change.previous
        if base and (patch := self.git.patch(base, head, change.path)):
            over["patch"] = patch
        return fill("diff-entry", f"{self.url}/{self.repository}/blob/{head}/{quote(change.path)}", over)

    def ref(self, name: str, sha: str) -> Json:
        return fill("git-ref", f"{self.here}/git/{quote(name)}", {
            "ref": name, "node_id": node("Ref", id_of(name)),
            "object": {"type": "commit", "sha": sha, "url": f"{self.here}/git/commits/{sha}"}})

    def workflow(self, workflow: Workflow) -> Json:
        number = workflow_id(workflow)
        return fill("workflow", f"{self.here}/actions/workflows/{number}", {
            "id": number, "node_id": node("Workflow", number), "name": workflow.name,
            "path": f".github/workflows/{workflow.file}", "url": f"{self.here}/actions/workflows/{number}",
            "html_url": f"{self.url}/{self.repository}/blob/{self.branch}/.github/workflows/{workflow.file}"})


def workflow_id(workflow: Workflow) -> int:
    return id_of(f"workflow {workflow.file}")


def signature(signed: tuple[str, str, str]) -> Json:
    when = datetime.fromisoformat(signed[2])
    return {"name": signed[0], "email": signed[1], "date": moment(when)}


def account_of(store: Store, email: str) -> Account | None:
    """Whose commit address this is: a declared one, or GitHub's `[id+]login@users.noreply.github.com`."""
    name, _, host = email.partition("@")
    if host == "users.noreply.github.com":
        return store.accounts.get(name.rpartition("+")[2])
    return next((who for who in store.accounts.values() if email in who.emails), None)
