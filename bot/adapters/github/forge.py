"""Satisfies the Forge port. PyGithub carries the mutations: it never retries and never waits by itself here, because its
default repeats a POST after a 502, and a 502 that came after the effect made two comments once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from bot.adapters.github import records as wire
from bot.adapters.github.faults import Declined, Unprocessable, fold, fold_graphql
from bot.adapters.github.reads import NO_NAMES, VERSION, Api
from bot.errors import BadInput, Conflict, Missing, Refusal, Unreachable
from bot.model.forge import Artifact, Comment, Job, Labelling, Permission, Pull, RunInfo
from bot.ports import Clock
from bot.strict import json_value

if TYPE_CHECKING:
    from github import Github

TIMEOUT_S = 30
_DRAFT = {True: ("convertPullRequestToDraft", "ConvertPullRequestToDraftInput"),
          False: ("markPullRequestReadyForReview", "MarkPullRequestReadyForReviewInput")}


class GitHubForge:
    """One repository (`owner/name`) seen with one token. `login` is the account that token acts as."""

    def __init__(self, base_url: str, repository: str, token: str, clock: Clock, *, login: str) -> None:
        self._api = Api(base_url, repository, token, clock)
        self._base, self._token, self._login, self._clock = base_url, token, login, clock
        self._hub: Github | None = None
        self._tells_run = True

    def me(self) -> str:
        return self._login

    # -- pull requests --------------------------------------------------------------------------------------------

    def pull(self, number: int) -> Pull:
        return self._pull(self._api.get("pulls", number))

    def pull_of_branch(self, branch: str) -> Pull | None:
        path = self._api.path("pulls")
        owner, read = path.split("/")[2], wire.reader(wire.PullWire, path)
        listed = self._api.listed("pulls", head=f"{owner}:{branch}", state="all", sort="created", direction="desc")
        mine = (found for found in map(read, listed) if found.head.ref == branch and not found.foreign)
        newest = next(mine, None)
        return self.pull(newest.number) if newest else None

    def open_pull(self, *, branch: str, base: str, title: str, body: str, draft: bool) -> Pull:
        asked = {"head": branch, "base": base, "title": title, "body": body, "draft": draft}
        try:
            return self._pull(self._send("POST", "pulls", body=asked))
        except Unprocessable as error:
            if "already exists" in error.said:
                raise Conflict(error.reason, "the next look finds it") from None
            raise

    def edit_pull(self, number: int, *, title: str | None = None, body: str | None = None, open: bool | None = None) -> Pull:
        state = None if open is None else "open" if open else "closed"
        changes = {name: value for name, value in (("title", title), ("body", body), ("state", state)) if value is not None}
        return self._pull(self._send("PATCH", "pulls", number, body=changes)) if changes else self.pull(number)

    def set_draft(self, number: int, draft: bool) -> None:
        """By GraphQL, for REST cannot; nothing happens when it is so already."""
        now = wire.reader(wire.PullWire, self._api.path("pulls", number))(self._api.get("pulls", number))
        if bool(now.draft) == draft:
            return
        name, kind = _DRAFT[draft]
        what = f"{name} #{number}"
        text = f"mutation($input: {kind}!) {{ {name}(input: $input) {{ clientMutationId }} }}"
        asked = {"query": text, "variables": {"input": {"pullRequestId": now.node_id}}}
        answered = self._request("POST", self._github().requester.graphql_url, asked, what)
        if not isinstance(answered, Mapping) or answered.get("errors") or not answered.get("data"):
            raise fold_graphql(what, answered)

    # -- labels, comments, people ---------------------------------------------------------------------------------

    def label(self, number: int, name: str) -> None:
        self._send("POST", "issues", number, "labels", body={"labels": [name]})

    def unlabel(self, number: int, name: str) -> None:
        try:
            self._send("DELETE", "issues", number, "labels", name)
        except Missing as error:
            if "Label does not exist" not in error.reason:
                raise

    def labellings(self, number: int) -> Sequence[Labelling]:
        read = wire.reader(wire.EventWire, self._api.path("issues", number, "events"))
        found = (wire.labelling(read(data)) for data in self._api.listed("issues", number, "events"))
        return sorted((said for said in found if said), key=lambda said: said.at)

    def comments(self, number: int, since: datetime | None = None) -> Sequence[Comment]:
        read = wire.reader(wire.CommentWire, self._api.path("issues", number, "comments"))
        listed = self._api.listed("issues", number, "comments", since=_moment(since) if since else None)
        return [wire.comment(read(data)) for data in listed]

    def comment(self, number: int, body: str) -> Comment:
        return self._comment(self._send("POST", "issues", number, "comments", body={"body": body}))

    def edit_comment(self, comment: int, body: str) -> Comment:
        return self._comment(self._send("PATCH", "issues", "comments", comment, body={"body": body}))

    def react(self, comment: int, content: str) -> None:
        self._send("POST", "issues", "comments", comment, "reactions", body={"content": content})

    def permission(self, login: str) -> Permission:
        """What GitHub says a person may do, asked now; a person it does not know may do nothing."""
        if login in NO_NAMES:
            return "none"
        try:
            found = self._api.get("collaborators", login, "permission")
        except Missing:
            return "none"
        return wire.permission(wire.reader(wire.PermissionWire, f"the permission of {login!r}")(found))

    # -- workflows ------------------------------------------------------------------------------------------------

    def dispatch(self, workflow: str, *, ref: str, inputs: Mapping[str, str]) -> int | None:
        """Newer servers answer with the run's id; an older one refuses the question itself (422), having done nothing,
        and is asked plainly from then on."""
        segments, asked = ("actions", "workflows", workflow, "dispatches"), {"ref": ref, "inputs": dict(inputs)}
        found = None
        if self._tells_run:
            try:
                found = self._send("POST", *segments, body={**asked, "return_run_details": True})
            except Unprocessable as error:
                if "return_run_details" not in error.said:
                    raise
                self._tells_run = False
        if not self._tells_run:
            found = self._send("POST", *segments, body=asked)
        return wire.reader(wire.DispatchWire, f"the dispatch of {workflow}")(found).workflow_run_id if found else None

    def runs(self, workflow: str, *, event: str | None = None, head: str | None = None,
             since: datetime | None = None) -> Sequence[RunInfo]:
        segments = ("actions", "workflows", workflow, "runs")
        created, read = f">={_moment(since)}" if since else None, wire.reader(wire.RunWire, self._api.path(*segments))
        listed = self._api.listed(*segments, key="workflow_runs", event=event, head_sha=head, created=created)
        return [wire.run(read(data)) for data in listed]

    def run(self, run: int) -> RunInfo:
        return wire.run(wire.reader(wire.RunWire, self._api.path("actions", "runs", run))(self._api.get("actions", "runs", run)))

    def jobs(self, run: int) -> Sequence[Job]:
        segments = ("actions", "runs", run, "jobs")
        read = wire.reader(wire.JobWire, self._api.path(*segments))
        return [wire.job(read(data)) for data in self._api.listed(*segments, key="jobs", filter="all")]

    def cancel(self, run: int) -> None:
        try:
            self._send("POST", "actions", "runs", run, "cancel")
        except Conflict:
            return  # it is over

    def rerun_failed(self, run: int) -> None:
        """The failed jobs again; nothing happens while the run goes on."""
        try:
            self._send("POST", "actions", "runs", run, "rerun-failed-jobs")
        except Declined as error:
            if "already running" not in error.said:
                raise

    def artifacts(self, run: int) -> Sequence[Artifact]:
        segments = ("actions", "runs", run, "artifacts")
        read = wire.reader(wire.ArtifactWire, self._api.path(*segments))
        return [wire.artifact(read(data)) for data in self._api.listed(*segments, key="artifacts")]

    def download(self, artifact: int, into: BinaryIO, limit: int) -> int:
        return self._api.download("actions", "artifacts", artifact, "zip", into=into, limit=limit)

    # -- sending --------------------------------------------------------------------------------------------------

    def _pull(self, data: Any) -> Pull:
        return wire.pull(wire.reader(wire.PullWire, self._api.path("pulls"))(data))

    def _comment(self, data: Any) -> Comment:
        return wire.comment(wire.reader(wire.CommentWire, self._api.path("issues", "comments"))(data))

    def _send(self, verb: str, *segments: object, body: Mapping[str, Any] | None = None) -> Any:
        """One mutation, once: what the forge says of it, or one of our errors. It is never sent again by itself."""
        path = self._api.path(*segments)
        return self._request(verb, path, body, f"{verb} {path}")

    def _request(self, verb: str, path: str, body: Mapping[str, Any] | None, what: str) -> Any:
        """PyGithub without its own reading of the answer, which stumbles over an error that is no object."""
        import requests

        try:
            status, headers, text = self._github().requester.requestJson(verb, path, input=body)
        except requests.exceptions.RequestException as error:
            raise _half(what, type(error).__name__) from None
        except (RuntimeError, AssertionError) as error:
            raise Refusal(f"{what}: redirected to another host ({error})", "name the place it moved to in the layout") from None
        good = 200 <= status < 300
        try:
            data = json_value(text, file=what) if text else None
        except BadInput as error:
            if good:
                raise _half(what, str(error)) from None
            data = None  # an error page of something in between
        if not good:
            raise fold(what, status, headers, data, now=self._clock.now().timestamp())
        return data

    def _github(self) -> Github:
        if self._hub is None:
            from github import Auth, Github

            self._hub = Github(
                base_url=self._base, auth=Auth.Token(self._token), retry=None, seconds_between_requests=None,
                seconds_between_writes=None, timeout=TIMEOUT_S, per_page=100, lazy=True, api_version=VERSION,
            )
        return self._hub


def _half(what: str, why: str) -> Unreachable:
    return Unreachable(f"{what}: no whole answer ({why})", "it may have taken effect; a later wake looks before it tries again")


def _moment(when: datetime) -> str:
    """A moment as GitHub's searches take it: UTC, whole seconds, Z."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
