"""State into GitHub's JSON: whole objects from skeletons.json (GitHub's own description), state laid over them.

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
from bot.rehearse.github.gitrepo import GitRepo
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
    """`over` laid on `under`, objects within objects too; lists and plain values are replaced. Changes `under`."""
    for key, value in over.items():
        below = under.get(key)
        under[key] = merge(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return under


def moment(when: datetime | None) -> str | None:
    """A moment as GitHub writes it: UTC, whole seconds, Z."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if when else None


def node(kind: str, number: int) -> str:
    """The GraphQL id of a thing."""
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
        over = {
            **self._pull_addresses(pull, url),
            "id": pull.id,
            "node_id": node("PullRequest", pull.number),
            "number": pull.number,
            "state": "open" if pull.open else "closed",
            "title": pull.title,
            "body": pull.body,
            "user": self.user(pull.author),
            "draft": pull.draft,
            "locked": False,
            "labels": [self.label(name) for name in pull.labels],
            "author_association": self._association(pull.author),
            "created_at": moment(pull.created),
            "updated_at": moment(pull.updated),
            "closed_at": moment(pull.closed),
            "merged_at": moment(pull.merged),
            "merge_commit_sha": pull.merge_commit,
            "head": self._side(pull.branch, pull.head),
            "base": self._side(pull.base, pull.base_sha),
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

    def _pull_addresses(self, pull: Pull, url: str) -> Json:
        page, issue = f"{self.url}/{self.repository}/pull/{pull.number}", f"{self.here}/issues/{pull.number}"
        links = {
            "issue": issue,
            "comments": f"{issue}/comments",
            "commits": f"{url}/commits",
            "statuses": f"{self.here}/statuses/{pull.head}",
            "review_comments": f"{url}/comments",
            "review_comment": f"{self.here}/pulls/comments",
        }
        made: Json = {f"{name}_url": where for name, where in links.items()}
        made |= {"url": url, "html_url": page, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch"}
        return {**made, "_links": {name: {"href": at} for name, at in {"self": url, "html": page, **links}.items()}}

    def _side(self, branch: str, sha: str) -> Json:
        owner = self.repository.split("/")[0]
        return {"label": f"{owner}:{branch}", "ref": branch, "sha": sha, "user": self.owner(),
                "repo": self.repo("repository")}

    def _association(self, who: Account) -> str:
        return "COLLABORATOR" if who.permission in ("admin", "maintain", "write") and not who.bot else "NONE"

    def issue(self, pull: Pull) -> Json:
        url, page = f"{self.here}/issues/{pull.number}", f"{self.url}/{self.repository}/pull/{pull.number}"
        return fill(
            "issue",
            url,
            {
                "id": pull.id,
                "node_id": node("PullRequest", pull.number),
                "number": pull.number,
                "url": url,
                "html_url": page,
                "repository_url": self.here,
                "title": pull.title,
                "body": pull.body,
                "user": self.user(pull.author),
                "state": "open" if pull.open else "closed",
                "labels": [self.label(name) for name in pull.labels],
                "comments": len(self.store.comments_of(pull.number)),
                "author_association": self._association(pull.author),
                "closed_by": self.user(pull.closed_by) if pull.closed_by else None,
                "draft": pull.draft,
                "created_at": moment(pull.created),
                "updated_at": moment(pull.updated),
                "closed_at": moment(pull.closed),
                "pull_request": {
                    "url": f"{self.here}/pulls/{pull.number}",
                    "html_url": page,
                    "diff_url": f"{page}.diff",
                    "patch_url": f"{page}.patch",
                    "merged_at": moment(pull.merged),
                },
            },
        )

    def comment(self, comment: Comment) -> Json:
        page = f"{self.url}/{self.repository}/pull/{comment.number}#issuecomment-{comment.id}"
        url = f"{self.here}/issues/comments/{comment.id}"
        return fill("issue-comment", url, {
            "id": comment.id, "node_id": node("IssueComment", comment.id), "html_url": page, "body": comment.body,
            "issue_url": f"{self.here}/issues/{comment.number}", "user": self.user(comment.author),
            "author_association": self._association(comment.author), "created_at": moment(comment.created),
            "updated_at": moment(comment.updated)})

    def reaction(self, reaction: Reaction) -> Json:
        return fill(
            "reaction",
            "",
            {
                "id": reaction.id,
                "node_id": node("Reaction", reaction.id),
                "content": reaction.content,
                "user": self.user(reaction.author),
                "created_at": moment(reaction.created),
            },
        )

    def label(self, name: str) -> Json:
        label = self.store.label(name)
        return fill("label", f"{self.here}/labels/{quote(label.name, safe='')}", {
            "id": label.id, "node_id": node("Label", label.id), "name": label.name, "color": label.color,
            "description": label.description})

    def event(self, event: Event) -> Json:
        kind = "labeled-issue-event" if event.label else "state-change-issue-event"
        over: Json = {
            "id": event.id,
            "node_id": node("Event", event.id),
            "url": f"{self.here}/issues/events/{event.id}",
            "actor": self.user(event.actor),
            "event": event.event,
            "created_at": moment(event.created),
            "commit_id": event.commit,
        }
        if event.label:
            over["label"] = {"name": event.label, "color": self.store.label(event.label).color}
        return fill(kind, over["url"], over)

    def workflow(self, workflow: Workflow) -> Json:
        number = workflow_id(workflow)
        return fill("workflow", f"{self.here}/actions/workflows/{number}", {
            "id": number, "node_id": node("Workflow", number), "name": workflow.name,
            "path": f".github/workflows/{workflow.file}", "url": f"{self.here}/actions/workflows/{number}",
            "html_url": f"{self.url}/{self.repository}/blob/{self.branch}/.github/workflows/{workflow.file}"})


def workflow_id(workflow: Workflow) -> int:
    """The number under which a workflow file is known; the same in every rehearsal."""
    return id_of(f"workflow {workflow.file}")


def account_of(store: Store, email: str) -> Account | None:
    """Whose commit address this is: a declared one, or GitHub's `[id+]login@users.noreply.github.com`."""
    name, _, host = email.partition("@")
    if host == "users.noreply.github.com":
        return store.accounts.get(name.rpartition("+")[2])
    return next((who for who in store.accounts.values() if email in who.emails), None)
