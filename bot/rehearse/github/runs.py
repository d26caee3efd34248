"""Routes of workflows, runs, jobs, logs and artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.rehearse.github.actions import NotPossible
from bot.rehearse.github.declare import Workflow
from bot.rehearse.github.objects import workflow_id
from bot.rehearse.github.runs_json import artifact_json, job_json, run_json
from bot.rehearse.github.state import Artifact, Job, Run
from bot.rehearse.github.triggers import checked_inputs
from bot.rehearse.github.verbs import Refused
from bot.rehearse.github.wire import REPO, Page, Request, Response, route, within

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub

ACTIONS = REPO + "/actions"
RUN = ACTIONS + "/runs/{id}"
NOT_FOUND = "Not Found"


def run_of(hub: LoopbackGitHub, request: Request) -> Run:
    """The run a path names; 404 when there is none."""
    run = hub.store.runs.get(request.number("id"))
    if run is None:
        raise Refused(NOT_FOUND, status=404)
    return run


def job_of(hub: LoopbackGitHub, request: Request) -> tuple[Run, Job]:
    """The job a path names, and its run; 404 when there is none."""
    number = request.number("id")
    found = next(((run, job) for run, job in hub.store.jobs() if job.id == number), None)
    if found is None:
        raise Refused(NOT_FOUND, status=404)
    return found


def workflow_of(hub: LoopbackGitHub, request: Request) -> Workflow:
    """By number or by file name."""
    wanted = request.args["workflow"]
    for workflow in hub.workflows:
        if wanted in (str(workflow_id(workflow)), workflow.file, f".github/workflows/{workflow.file}"):
            return workflow
    raise Refused(NOT_FOUND, status=404)


@route("GET", ACTIONS + "/workflows")
def list_workflows(hub: LoopbackGitHub, _: Request) -> Page:
    return Page(hub.workflows, lambda found: _workflow(hub, found), "workflows")


@route("GET", ACTIONS + "/workflows/{workflow}")
def get_workflow(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    return _workflow(hub, workflow_of(hub, request))


def _workflow(hub: LoopbackGitHub, workflow: Workflow) -> dict[str, Any]:
    return {**hub.render.workflow(workflow), "state": hub.settings.states.get(workflow.file, "active")}


@route("POST", ACTIONS + "/workflows/{workflow}/dispatches", needs="write")
def dispatch(hub: LoopbackGitHub, request: Request) -> Response:
    """204, or 200 with the run's id where `return_run_details` is asked; 422 to that from an older server."""
    workflow, details = workflow_of(hub, request), request.fields.get("return_run_details")
    unknown = set(request.fields) - {"ref", "inputs"} - ({"return_run_details"} if hub.run_details else set())
    if unknown:
        raise Refused(f"Invalid request.\n\n\"{sorted(unknown)[0]}\" is not a permitted key.")
    trigger = workflow.triggers.get("workflow_dispatch")
    if trigger is None:
        raise Refused("Workflow does not have 'workflow_dispatch' trigger")
    ref = request.text("ref")
    head = hub.git.resolve(ref.removeprefix("refs/heads/").removeprefix("refs/tags/"))
    if head is None or ref == head:
        raise Refused(f"No ref found for: {ref}")
    given = request.fields.get("inputs") or {}
    if not isinstance(given, dict):
        raise Refused("Invalid request.\n\nFor 'properties/inputs', the value is not an object.")
    inputs, complaint = checked_inputs(trigger, given)
    if complaint:
        raise Refused(complaint)
    run = hub.events.dispatch(workflow, ref=ref, head=head, inputs=inputs, actor=request.who, now=request.now)
    if not details:
        return Response(status=204)
    shown = run_json(hub.render, run)
    return Response(value={"workflow_run_id": run.id, "run_url": shown["url"], "html_url": shown["html_url"]})


@route("GET", ACTIONS + "/workflows/{workflow}/runs")
def workflow_runs(hub: LoopbackGitHub, request: Request) -> Page:
    workflow = workflow_of(hub, request)
    return _runs(hub, request, [run for run in hub.store.runs.values() if run.workflow is workflow])


@route("GET", ACTIONS + "/runs")
def all_runs(hub: LoopbackGitHub, request: Request) -> Page:
    return _runs(hub, request, list(hub.store.runs.values()))


def _runs(hub: LoopbackGitHub, request: Request, found: list[Run]) -> Page:
    """Newest first; `status` takes a status or a conclusion, as GitHub's does."""
    asked = request.query
    tests = {
        "event": lambda run: run.cause.event == asked["event"],
        "branch": lambda run: run.branch == asked["branch"],
        "head_sha": lambda run: run.head == asked["head_sha"],
        "actor": lambda run: run.actor.login == asked["actor"],
        "status": lambda run: asked["status"] in (run.status, run.conclusion),
        "created": lambda run: within(run.created, asked["created"]),
    }
    kept = [run for run in found if all(test(run) for name, test in tests.items() if asked.get(name))]
    return Page(
        sorted(kept, key=lambda run: run.created, reverse=False)[::-1],
        lambda run: run_json(hub.render, run),
        "workflow_runs",
    )


@route("GET", RUN)
def get_run(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    return run_json(hub.render, run_of(hub, request))


@route("GET", RUN + "/attempts/{attempt}")
def get_attempt(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    run, attempt = run_of(hub, request), _attempt(hub, request)
    return run_json(hub.render, run, attempt)


def _attempt(hub: LoopbackGitHub, request: Request) -> int:
    attempt = request.number("attempt")
    if not 1 <= attempt <= run_of(hub, request).attempt:
        raise Refused(NOT_FOUND, status=404)
    return attempt


@route("GET", RUN + "/attempts/{attempt}/jobs")
def attempt_jobs(hub: LoopbackGitHub, request: Request) -> Page:
    run = run_of(hub, request)
    return Page(run.latest(_attempt(hub, request)), lambda job: job_json(hub.render, run, job), "jobs")


@route("GET", RUN + "/jobs")
def run_jobs(hub: LoopbackGitHub, request: Request) -> Page:
    """`filter=all` gives the jobs of every attempt, else the newest of each name."""
    run = run_of(hub, request)
    jobs = run.jobs if request.query.get("filter") == "all" else run.latest()
    return Page(jobs, lambda job: job_json(hub.render, run, job), "jobs")


@route("POST", RUN + "/cancel", needs="write")
def cancel(hub: LoopbackGitHub, request: Request) -> Response:
    try:
        hub.engine.cancel(run_of(hub, request), request.now)
    except NotPossible as why:
        raise Refused(str(why), status=409) from None
    return Response(status=202, value={})


@route("POST", RUN + "/rerun-failed-jobs", needs="write")
def rerun_failed(hub: LoopbackGitHub, request: Request) -> Response:
    return _rerun(hub, request, failed_only=True)


@route("POST", RUN + "/rerun", needs="write")
def rerun(hub: LoopbackGitHub, request: Request) -> Response:
    return _rerun(hub, request, failed_only=False)


def _rerun(hub: LoopbackGitHub, request: Request, *, failed_only: bool) -> Response:
    try:
        hub.engine.rerun(run_of(hub, request), request.who, request.now, failed_only=failed_only)
    except NotPossible as why:
        raise Refused(str(why), status=403) from None
    return Response(status=201, value={})


@route("GET", RUN + "/artifacts")
def run_artifacts(hub: LoopbackGitHub, request: Request) -> Page:
    """Artifacts of every attempt, newest first: two of one name are two attempts'."""
    run, name = run_of(hub, request), request.query.get("name")
    found = [kept for kept in hub.store.artifacts.values() if kept.run is run and name in (None, "", kept.name)]
    return Page(found[::-1], lambda kept: artifact_json(hub.render, kept), "artifacts")


def artifact_of(hub: LoopbackGitHub, request: Request) -> Artifact:
    """The artifact a path names; 404 when there is none."""
    artifact = hub.store.artifacts.get(request.number("id"))
    if artifact is None:
        raise Refused(NOT_FOUND, status=404)
    return artifact


@route("GET", ACTIONS + "/artifacts/{id}")
def get_artifact(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    return artifact_json(hub.render, artifact_of(hub, request))


@route("GET", ACTIONS + "/artifacts/{id}/{format}")
def download(hub: LoopbackGitHub, request: Request) -> Response:
    """302 to a short-lived address elsewhere, where no token is needed."""
    artifact = artifact_of(hub, request)
    if request.args["format"] != "zip":
        raise Refused(NOT_FOUND, status=404)
    return Response(
        status=302, headers={"Location": f"{hub.url}/_storage/artifacts/{artifact.id}-{artifact.digest}.zip"}
    )


@route("GET", "/_storage/artifacts/{id}-{digest}.zip", anonymous=True)
def stored_artifact(hub: LoopbackGitHub, request: Request) -> Response:
    artifact = artifact_of(hub, request)
    if request.args["digest"] != artifact.digest:
        raise Refused(NOT_FOUND, status=404)
    return Response(headers={"Content-Type": "application/zip"}, file=artifact.path)


@route("GET", ACTIONS + "/jobs/{id}")
def get_job(hub: LoopbackGitHub, request: Request) -> dict[str, Any]:
    return job_json(hub.render, *job_of(hub, request))


@route("GET", ACTIONS + "/jobs/{id}/logs")
def job_logs(hub: LoopbackGitHub, request: Request) -> Response:
    """302 to the text; 404 until the job is over."""
    _, job = job_of(hub, request)
    if job.completed is None or job.started is None:
        raise Refused(NOT_FOUND, status=404)
    return Response(status=302, headers={"Location": f"{hub.url}/_storage/logs/{job.id}.txt"})


@route("GET", "/_storage/logs/{id}.txt", anonymous=True)
def stored_log(hub: LoopbackGitHub, request: Request) -> Response:
    _, job = job_of(hub, request)
    return Response(data=f"{job.script.log}{job.note}".encode(), headers={"Content-Type": "text/plain; charset=utf-8"})
