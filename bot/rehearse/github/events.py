"""What happens becomes webhooks for the bot and runs of declared workflows; the default token's doings neither."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.rehearse.github.actions import Engine
from bot.rehearse.github.declare import Account, Cause, Trigger, Workflow
from bot.rehearse.github.gitrepo import ZERO
from bot.rehearse.github.objects import Json, Render
from bot.rehearse.github.runs_json import pushed_commit, run_json
from bot.rehearse.github.state import Comment, Pull, Run
from bot.rehearse.github.triggers import listens, selected

# These two start workflows whoever sends them; every other event of the default token starts none (GitHub's rule
# against loops).
ALWAYS = ("workflow_dispatch", "repository_dispatch")


class Events:
    """Deliveries wait in `queue`; a `wanted` mapping limits them to what the bot's own workflow listens to. While it is `quiet`,
    pushes and pull requests are of before the story: nobody hears of them, and they start nothing."""

    def __init__(self, render: Render, workflows: tuple[Workflow, ...], wanted: Mapping[str, Trigger] | None) -> None:
        self.render, self.workflows, self.wanted = render, workflows, wanted
        self.queue: list[tuple[str, Json]] = []
        self.engine: Engine | None = None
        self.quiet = False

    def pull(self, pull: Pull, action: str, actor: Account, now: datetime, *, label: str | None = None,
             before: str | None = None) -> None:
        """pull_request and pull_request_target. A pull in conflict has no merge commit: it starts no `pull_request`."""
        payload: Json = {"action": action, "number": pull.number, "pull_request": self.render.pull(pull)}
        if label is not None:
            payload["label"] = self.render.label(label)
        if before is not None:
            payload |= {"before": before, "after": pull.head}
        if self.quiet or actor.kind == "default":
            return
        self._deliver("pull_request_target", payload, actor, branch=pull.base)
        for event in ("pull_request_target", "pull_request"):
            for workflow in self.workflows:
                trigger = workflow.triggers.get(event)
                if trigger and self._pull_starts(trigger, event, action, pull):
                    self._start(workflow, pull, event, action, actor, now, label)

    def _pull_starts(self, trigger: Trigger, event: str, action: str, pull: Pull) -> bool:
        if not listens(trigger, event, action) or not selected(trigger.branches, pull.base):
            return False
        git = self.render.git
        if event == "pull_request" and git.merged_tree(pull.base_sha, pull.head) is None:
            return False
        changed = (change.path for change in git.changes(pull.base_sha, pull.head, dots=3))
        return not trigger.paths or any(selected(trigger.paths, path) for path in changed)

    def _start(self, workflow: Workflow, pull: Pull, event: str, action: str, actor: Account, now: datetime,
               label: str | None) -> None:
        ref = f"refs/pull/{pull.number}/merge" if event == "pull_request" else f"refs/heads/{pull.base}"
        cause = Cause(
            event=event,
            action=action,
            actor=actor.login,
            ref=ref,
            title=pull.title,
            number=pull.number,
            label=label,
            labels=tuple(pull.labels),
            draft=pull.draft,
        )
        self._engine.start(workflow, cause, head=pull.head, branch=pull.branch, actor=actor, now=now)

    @property
    def _engine(self) -> Engine:
        assert self.engine is not None
        return self.engine

    def comment(self, pull: Pull, comment: Comment, action: str, actor: Account) -> None:
        if actor.kind != "default":
            payload = {"action": action, "issue": self.render.issue(pull), "comment": self.render.comment(comment)}
            self._deliver("issue_comment", payload, actor, branch=self.render.branch)

    def push(self, ref: str, before: str, after: str, actor: Account, now: datetime) -> None:
        """A branch or tag moved, appeared (`before` zeros) or went (`after` zeros)."""
        if self.quiet or actor.kind == "default":
            return
        git, branch = self.render.git, ref.removeprefix("refs/heads/")
        payload: Json = {
            "ref": ref,
            "before": before,
            "after": after,
            "created": before == ZERO,
            "deleted": after == ZERO,
            "forced": ZERO not in (before, after) and not git.contains(after, before),
            "base_ref": None,
            "commits": [],
            "head_commit": None,
            "pusher": {"name": actor.login},
        }
        if after == ZERO:
            return self._deliver("push", payload, actor, branch=branch)
        start = git.merge_base(before, after) if before != ZERO else None
        ids = git.between(start, after)[-20:] if start else [after]
        payload["commits"] = [self._commit(sha) for sha in ids]
        payload["head_commit"] = self._commit(after)
        self._deliver("push", payload, actor, branch=branch)
        paths = [change.path for change in git.changes(start, after)] if start else []
        for workflow in self.workflows:
            trigger = workflow.triggers.get("push")
            if not trigger or not ref.startswith("refs/heads/") or not selected(trigger.branches, branch):
                continue
            if trigger.paths and start and not any(selected(trigger.paths, path) for path in paths):
                continue
            cause = Cause(
                event="push", action=None, actor=actor.login, ref=ref, title=git.commit(after).message.split("\n")[0]
            )
            self._engine.start(workflow, cause, head=after, branch=branch, actor=actor, now=now)
        return None

    def _commit(self, sha: str) -> Json:
        return pushed_commit(self.render.git.commit(sha))

    def dispatch(
        self, workflow: Workflow, *, ref: str, head: str, inputs: dict[str, str], actor: Account, now: datetime
    ) -> Run:
        branch = ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
        cause = Cause(event="workflow_dispatch", action=None, actor=actor.login, ref=f"refs/heads/{branch}",
                      title=workflow.name, inputs=inputs)
        self._deliver("workflow_dispatch", {"inputs": inputs, "ref": f"refs/heads/{branch}",
                                            "workflow": f".github/workflows/{workflow.file}"}, actor, branch=branch)
        return self._engine.start(workflow, cause, head=head, branch=branch, actor=actor, now=now)

    def repository_dispatch(self, kind: str, data: Any, actor: Account, now: datetime) -> None:
        payload = {"action": kind, "branch": self.render.branch, "client_payload": data}
        self._deliver("repository_dispatch", payload, actor, branch=self.render.branch)
        head = self.render.git.resolve(self.render.branch)
        for workflow in self.workflows:
            trigger = workflow.triggers.get("repository_dispatch")
            if trigger and head and listens(trigger, "repository_dispatch", kind):
                cause = Cause(event="repository_dispatch", action=kind, actor=actor.login, title=kind,
                              ref=f"refs/heads/{self.render.branch}")
                self._engine.start(workflow, cause, head=head, branch=self.render.branch, actor=actor, now=now)

    def run(self, run: Run, action: str) -> None:
        """workflow_run comes from GitHub itself, also for runs the default token dispatched."""
        payload = {
            "action": action,
            "workflow_run": run_json(self.render, run),
            "workflow": self.render.workflow(run.workflow),
        }
        self._deliver("workflow_run", payload, run.actor, branch=run.branch)

    def _deliver(self, name: str, payload: Json, actor: Account, *, branch: str) -> None:
        if self.wanted is not None:
            trigger = self.wanted.get(name)
            action = payload.get("action")
            if trigger is None or not listens(trigger, name, action) or not selected(trigger.branches, branch):
                return
        whole = {**payload, "repository": self.render.repo("repository"), "sender": self.render.user(actor)}
        self.queue.append((name, whole))
