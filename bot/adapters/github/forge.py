"""Satisfies the Forge port. PyGithub stays lazy, never retries and never waits by itself: its default repeats a POST
after a 502, and a 502 that came after the effect made two comments once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from bot.adapters.github import records
from bot.adapters.github.reads import VERSION, Api
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.model.forge import Artifact, Comment, Job, Labelling, Permission, Pull, RunInfo
from bot.ports import Clock

if TYPE_CHECKING:
    from github import Github
    from github.PullRequest import PullRequest

T = TypeVar("T")
TIMEOUT_S = 30


class GitHubForge:
    """One repository (`owner/name`) seen with one token. `login` is the account that token acts as."""

    def __init__(self, base_url: str, repository: str, token: str, clock: Clock, *, login: str) -> None:
        self._api = Api(base_url, repository, token, clock)
        self._base, self._repository, self._token, self._login = base_url, repository, token, login
        self._hub: Github | None = None

    def me(self) -> str:
        return self._login

    def pull(self, number: int) -> Pull:
        return self._pull(self._api.get(f"pulls/{number}"))

    def pull_of_branch(self, branch: str) -> Pull | None:
        owner = self._repository.partition("/")[0]
        found = list(self._api.listed("pulls", head=f"{owner}:{branch}", state="all", sort="created", direction="desc"))
        return self.pull(max(data["number"] for data in found)) if found else None

    def open_pull(self, *, branch: str, base: str, title: str, body: str, draft: bool) -> Pull:
        made = self._do(lambda: self._repo().create_pull(base=base, head=branch, title=title, body=body, draft=draft).number)
        return self.pull(made)

    def edit_pull(self, number: int, *, title: str | None = None, body: str | None = None, open: bool | None = None) -> Pull:
        changes: dict[str, Any] = {name: value for name, value in (("title", title), ("body", body)) if value is not None}
        if open is not None:
            changes["state"] = "open" if open else "closed"
        self._do(lambda: self._bare_pull(number).edit(**changes))
        return self.pull(number)

    def set_draft(self, number: int, draft: bool) -> None:
        pull = self._do(lambda: self._repo().get_pull(number))
        self._do(lambda: pull.convert_to_draft() if draft else pull.mark_ready_for_review())

    def label(self, number: int, name: str) -> None:
        self._do(lambda: self._repo().get_issue(number).add_to_labels(name))

    def unlabel(self, number: int, name: str) -> None:
        try:
            self._do(lambda: self._repo().get_issue(number).remove_from_labels(name))
        except Missing:
            return

    def labellings(self, number: int) -> Sequence[Labelling]:
        found = (records.labelling(data) for data in self._api.listed(f"issues/{number}/events"))
        return sorted((said for said in found if said), key=lambda said: said.at)

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        asked = since.strftime("%Y-%m-%dT%H:%M:%SZ") if since else None
        return [records.comment(data) for data in self._api.listed(f"issues/{number}/comments", since=asked)]

    def comment(self, number: int, body: str) -> Comment:
        return records.comment(self._do(lambda: self._repo().get_issue(number).create_comment(body).raw_data))

    def edit_comment(self, comment: int, body: str) -> Comment:
        path = f"/repos/{self._repository}/issues/comments/{comment}"
        return records.comment(self._request("PATCH", path, {"body": body}))

    def react(self, comment: int, content: str) -> None:
        self._request("POST", f"/repos/{self._repository}/issues/comments/{comment}/reactions", {"content": content})

    def permission(self, login: str) -> Permission:
        """What GitHub says a person may do, asked now; a person it does not know may do nothing."""
        try:
            found = self._api.get(f"collaborators/{login}/permission")
        except Missing:
            return "none"
        role = found.get("role_name") or found["permission"]
        known: tuple[Permission, ...] = ("admin", "maintain", "write", "triage", "read", "none")
        return role if role in known else found["permission"]

    def dispatch(self, workflow: str, *, ref: str, inputs: Mapping[str, str]) -> int | None:
        """Newer servers answer with the run's id; an older one refuses the question itself (422) and is asked plainly."""
        path = f"/repos/{self._repository}/actions/workflows/{workflow}/dispatches"
        asked = {"ref": ref, "inputs": dict(inputs), "return_run_details": True}
        try:
            found = self._request("POST", path, asked)
        except _Unprocessable as error:
            if "return_run_details" not in error.reason and "run_details" not in error.reason:
                raise
            found = self._request("POST", path, {"ref": ref, "inputs": dict(inputs)})
        return found.get("workflow_run_id") if found else None

    def runs(self, workflow: str, *, event: str | None = None, head: str | None = None,
             since: datetime | None = None) -> Sequence[RunInfo]:
        created = f">={since.strftime('%Y-%m-%dT%H:%M:%SZ')}" if since else None
        path = f"actions/workflows/{workflow}/runs"
        listed = self._api.listed(path, "workflow_runs", event=event, head_sha=head, created=created)
        return [records.run(data) for data in listed]

    def run(self, run: int) -> RunInfo:
        return records.run(self._api.get(f"actions/runs/{run}"))

    def jobs(self, run: int) -> Sequence[Job]:
        return [records.job(data) for data in self._api.listed(f"actions/runs/{run}/jobs", "jobs", filter="all")]

    def cancel(self, run: int) -> None:
        self._acted(f"actions/runs/{run}/cancel", over=409)

    def rerun_failed(self, run: int) -> None:
        self._acted(f"actions/runs/{run}/rerun-failed-jobs", over=None)

    def artifacts(self, run: int) -> Sequence[Artifact]:
        return [records.artifact(data) for data in self._api.listed(f"actions/runs/{run}/artifacts", "artifacts")]

    def download(self, artifact: int, into: BinaryIO, limit: int) -> int:
        return self._api.download(f"actions/artifacts/{artifact}/zip", into, limit)

    def _pull(self, data: Mapping[str, Any]) -> Pull:
        return records.pull(data)

    def _acted(self, path: str, *, over: int | None) -> None:
        """PyGithub answers False and nothing else when GitHub says 403 or 409 here, so these two are asked plainly."""
        try:
            self._request("POST", f"/repos/{self._repository}/{path}", None)
        except _Refused as error:
            if error.status != over:
                raise

    def _repo(self) -> Any:
        return self._github().get_repo(self._repository)

    def _bare_pull(self, number: int) -> PullRequest:
        return self._github().get_repo(self._repository).get_pull(number)

    def _request(self, verb: str, path: str, body: Mapping[str, Any] | None) -> Any:
        return self._do(lambda: self._github().requester.requestJsonAndCheck(verb, path, input=dict(body or {}))[1])

    def _github(self) -> Github:
        if self._hub is None:
            from github import Auth, Github

            self._hub = Github(
                base_url=self._base, auth=Auth.Token(self._token), retry=None, seconds_between_requests=None,
                seconds_between_writes=None, timeout=TIMEOUT_S, per_page=100, lazy=True, api_version=VERSION,
            )
        return self._hub

    def _do(self, call: Callable[[], T]) -> T:
        """PyGithub has five ways to fail; each becomes one of ours."""
        import requests
        from github import GithubException

        try:
            return call()
        except GithubException as error:
            raise fold(error.status, error.data) from None
        except (requests.exceptions.RequestException, json.JSONDecodeError, AssertionError) as error:
            raise Unreachable(f"the forge did not answer: {type(error).__name__}", "a later wake tries again") from None


class _Refused(Refusal):
    def __init__(self, status: int, reason: str, hint: str) -> None:
        self.status = status
        super().__init__(reason, hint)


class _Unprocessable(BadInput):
    """422: the forge understood and declined what we sent."""


def fold(status: int, data: object) -> BumpbotError:
    """One HTTP status of a refused mutation as one of our errors."""
    said = str(data.get("message", "")) if isinstance(data, Mapping) else ""
    errors = json.dumps(data.get("errors", "")) if isinstance(data, Mapping) and data.get("errors") else ""
    reason = f"the forge answered {status}: {said} {errors}".strip()[:400]
    if status == 404:
        return Missing(reason, "it does not exist, or the token may not see it")
    if status == 422:
        return _Unprocessable(reason, "the request must be changed before it is sent again")
    if status == 429 or status >= 500 or (status == 403 and "rate limit" in said.lower()):
        return Unreachable(reason, "a later wake tries again")
    return _Refused(status, reason, "see `bumpbot doctor` for what the token may do" if status in (401, 403) else "look again")
