"""Workflow runs, jobs and artifacts as GitHub's JSON. Kept beside objects.py, which does everything else."""

from __future__ import annotations

from datetime import timedelta

from bot.rehearse.github.gitrepo import CommitFacts
from bot.rehearse.github.objects import Json, Render, fill, moment, node, workflow_id
from bot.rehearse.github.state import Artifact, Job, Run, id_of


def run_json(render: Render, run: Run, attempt: int | None = None) -> Json:
    """A run now, or as it ended in an earlier attempt."""
    url = f"{render.here}/actions/runs/{run.id}"
    over: Json = {
        "id": run.id,
        "node_id": node("WorkflowRun", run.id),
        "name": run.workflow.name,
        "display_title": run.title,
        "head_branch": run.branch,
        "head_sha": run.head,
        "path": f".github/workflows/{run.workflow.file}",
        "run_number": run.number,
        "run_attempt": run.attempt,
        "event": run.cause.event,
        "status": run.status,
        "conclusion": run.conclusion,
        "workflow_id": workflow_id(run.workflow),
        "url": url,
        "html_url": f"{render.url}/{render.repository}/actions/runs/{run.id}",
        "created_at": moment(run.created),
        "updated_at": moment(run.updated),
        "run_started_at": moment(run.begun),
        **{f"{name}_url": f"{url}/{name}" for name in ("jobs", "logs", "artifacts", "cancel", "rerun")},
        "check_suite_id": id_of(f"suite {run.id}"),
        "check_suite_url": f"{render.here}/check-suites/{id_of(f'suite {run.id}')}",
        "check_suite_node_id": node("Suite", run.id),
        "workflow_url": f"{render.here}/actions/workflows/{workflow_id(run.workflow)}",
        "previous_attempt_url": f"{url}/attempts/{run.attempt - 1}" if run.attempt > 1 else None,
        "actor": render.user(run.actor),
        "triggering_actor": render.user(run.rerunner or run.actor),
        "pull_requests": _pulls(render, run),
        "repository": render.repo(),
        "head_repository": render.repo(),
        "referenced_workflows": [],
        "head_commit": pushed_commit(render.git.commit(run.head)),
    }
    if attempt is not None and attempt != run.attempt:
        over |= run.kept[attempt]
    return fill("workflow-run", url, over)


def pushed_commit(facts: CommitFacts) -> Json:
    """A commit in the short form of runs and push events."""
    author, committer = ({"name": who[0], "email": who[1]} for who in (facts.author, facts.committer))
    return {
        "id": facts.sha,
        "tree_id": facts.tree,
        "message": facts.message,
        "timestamp": facts.committer[2],
        "author": author,
        "committer": committer,
    }


def _pulls(render: Render, run: Run) -> list[Json]:
    """Open pull requests whose head is this run's branch and commit; GitHub empties the list once they moved on."""
    found = [
        pull
        for pull in render.store.pulls.values()
        if pull.open and pull.branch == run.branch and pull.head == run.head
    ]
    repo = {"id": id_of(render.repository), "url": render.here, "name": render.repository.split("/")[1]}
    return [{"id": pull.id, "number": pull.number, "url": f"{render.here}/pulls/{pull.number}",
             "head": {"ref": pull.branch, "sha": pull.head, "repo": repo},
             "base": {"ref": pull.base, "sha": pull.base_sha, "repo": repo}} for pull in found]


def job_json(render: Render, run: Run, job: Job) -> Json:
    """A job. One that no runner took has runner_id null and started_at = created_at: GitHub never sends null there."""
    url = f"{render.here}/actions/jobs/{job.id}"
    taken = job.started is not None
    return fill("job", url, {
        "id": job.id, "node_id": node("Job", job.id), "run_id": run.id, "run_attempt": job.attempt, "name": job.name,
        "run_url": f"{render.here}/actions/runs/{run.id}", "url": url, "head_sha": run.head, "head_branch": run.branch,
        "html_url": f"{render.url}/{render.repository}/actions/runs/{run.id}/job/{job.id}", "status": job.status,
        "conclusion": job.conclusion, "created_at": moment(job.queued), "started_at": moment(job.started or job.queued),
        "completed_at": moment(job.completed), "labels": [job.script.pool], "workflow_name": run.workflow.name,
        "check_run_url": f"{render.here}/check-runs/{job.id}", "steps": [_step(job)] if taken else [],
        "runner_id": id_of(job.runner or "") if taken else None, "runner_name": job.runner if taken else None,
        "runner_group_id": 1 if taken else None, "runner_group_name": "Default" if taken else None})


def _step(job: Job) -> Json:
    return {"name": "Run", "number": 1, "status": job.status, "conclusion": job.conclusion,
            "started_at": moment(job.started), "completed_at": moment(job.completed)}


def artifact_json(render: Render, artifact: Artifact) -> Json:
    """An artifact; it expires 90 days after its upload, GitHub's default."""
    url = f"{render.here}/actions/artifacts/{artifact.id}"
    repo = id_of(render.repository)
    return fill(
        "artifact",
        url,
        {
            "id": artifact.id,
            "node_id": node("Artifact", artifact.id),
            "name": artifact.name,
            "size_in_bytes": artifact.size,
            "url": url,
            "archive_download_url": f"{url}/zip",
            "digest": f"sha256:{artifact.digest}",
            "expired": False,
            "created_at": moment(artifact.created),
            "updated_at": moment(artifact.created),
            "expires_at": moment(artifact.created + timedelta(days=90)),
            "workflow_run": {
                "id": artifact.run.id,
                "repository_id": repo,
                "head_repository_id": repo,
                "head_branch": artifact.run.branch,
                "head_sha": artifact.run.head,
            },
        },
    )
