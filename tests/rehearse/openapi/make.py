"""Makes github.json.gz (what tests check against) and skeletons.json (what the loopback GitHub fills in).

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz package/generated/api.github.com.json
    python tests/rehearse/openapi/make.py package/generated/api.github.com.json

The description is GitHub's, under the MIT licence (NOTICE beside this file). Prose and examples are left out: they are
most of its 13 MB and no check reads them.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SKELETONS = HERE.parents[2] / "bot" / "rehearse" / "github" / "skeletons.json"
R = "/repos/{owner}/{repo}"
PATHS = {
    "/app": ["get"],
    "/apps/{app_slug}": ["get"],
    "/orgs/{org}/actions/runner-groups": ["get"],
    "/orgs/{org}/actions/runner-groups/{runner_group_id}/runners": ["get"],
    "/rate_limit": ["get"],
    "/user": ["get"],
    "/users/{username}": ["get"],
    R: ["get"],
    f"{R}/branches": ["get"],
    f"{R}/branches/{{branch}}": ["get"],
    f"{R}/branches/{{branch}}/protection": ["get"],
    f"{R}/collaborators/{{username}}/permission": ["get"],
    f"{R}/commits": ["get"],
    f"{R}/commits/{{ref}}": ["get"],
    f"{R}/compare/{{basehead}}": ["get"],
    f"{R}/contents/{{path}}": ["get"],
    f"{R}/dispatches": ["post"],
    f"{R}/git/commits/{{commit_sha}}": ["get"],
    f"{R}/git/matching-refs/{{ref}}": ["get"],
    f"{R}/git/ref/{{ref}}": ["get"],
    f"{R}/git/refs": ["post"],
    f"{R}/git/refs/{{ref}}": ["patch", "delete"],
    f"{R}/issues": ["get"],
    f"{R}/issues/comments": ["get"],
    f"{R}/issues/comments/{{comment_id}}": ["get", "patch", "delete"],
    f"{R}/issues/comments/{{comment_id}}/reactions": ["get", "post"],
    f"{R}/issues/{{issue_number}}": ["get", "patch"],
    f"{R}/issues/{{issue_number}}/comments": ["get", "post"],
    f"{R}/issues/{{issue_number}}/events": ["get"],
    f"{R}/issues/{{issue_number}}/timeline": ["get"],
    f"{R}/issues/{{issue_number}}/labels": ["get", "post"],
    f"{R}/issues/{{issue_number}}/labels/{{name}}": ["delete"],
    f"{R}/issues/{{issue_number}}/reactions": ["get", "post"],
    f"{R}/labels": ["get", "post"],
    f"{R}/labels/{{name}}": ["get"],
    f"{R}/pulls": ["get", "post"],
    f"{R}/pulls/{{pull_number}}": ["get", "patch"],
    f"{R}/pulls/{{pull_number}}/commits": ["get"],
    f"{R}/pulls/{{pull_number}}/files": ["get"],
    f"{R}/actions/artifacts/{{artifact_id}}": ["get"],
    f"{R}/actions/artifacts/{{artifact_id}}/{{archive_format}}": ["get"],
    f"{R}/actions/jobs/{{job_id}}": ["get"],
    f"{R}/actions/jobs/{{job_id}}/logs": ["get"],
    f"{R}/actions/runs": ["get"],
    f"{R}/actions/runs/{{run_id}}": ["get"],
    f"{R}/actions/runs/{{run_id}}/artifacts": ["get"],
    f"{R}/actions/runs/{{run_id}}/attempts/{{attempt_number}}": ["get"],
    f"{R}/actions/runs/{{run_id}}/attempts/{{attempt_number}}/jobs": ["get"],
    f"{R}/actions/runs/{{run_id}}/cancel": ["post"],
    f"{R}/actions/runs/{{run_id}}/jobs": ["get"],
    f"{R}/actions/runs/{{run_id}}/rerun": ["post"],
    f"{R}/actions/runs/{{run_id}}/rerun-failed-jobs": ["post"],
    f"{R}/actions/organization-secrets": ["get"],
    f"{R}/actions/organization-variables": ["get"],
    f"{R}/actions/permissions": ["get", "put"],
    f"{R}/actions/permissions/fork-pr-contributor-approval": ["get", "put"],
    f"{R}/actions/permissions/selected-actions": ["get", "put"],
    f"{R}/actions/permissions/workflow": ["get", "put"],
    f"{R}/actions/runners": ["get"],
    f"{R}/actions/secrets": ["get"],
    f"{R}/actions/variables": ["get", "post"],
    f"{R}/actions/workflows": ["get"],
    f"{R}/actions/workflows/{{workflow_id}}": ["get"],
    f"{R}/actions/workflows/{{workflow_id}}/dispatches": ["post"],
    f"{R}/actions/workflows/{{workflow_id}}/enable": ["put"],
    f"{R}/actions/workflows/{{workflow_id}}/runs": ["get"],
    f"{R}/environments/{{environment_name}}": ["get", "put"],
    f"{R}/environments/{{environment_name}}/deployment-branch-policies": ["get", "post"],
    f"{R}/environments/{{environment_name}}/secrets": ["get"],
    f"{R}/environments/{{environment_name}}/variables": ["get"],
    f"{R}/releases": ["get", "post"],
    f"{R}/releases/assets/{{asset_id}}": ["get"],
    f"{R}/releases/{{release_id}}/assets": ["get", "post"],
    f"{R}/rules/branches/{{branch}}": ["get"],
    f"{R}/rulesets": ["post"],
    f"{R}/rulesets/{{ruleset_id}}": ["get"],
}
KINDS = [
    "simple-user",
    "public-user",
    "integration",
    "full-repository",
    "minimal-repository",
    "repository",
    "pull-request",
    "pull-request-simple",
    "issue",
    "issue-comment",
    "label",
    "reaction",
    "short-branch",
    "branch-with-protection",
    "git-ref",
    "git-commit",
    "commit",
    "commit-comparison",
    "content-file",
    "diff-entry",
    "workflow",
    "workflow-run",
    "job",
    "artifact",
    "labeled-issue-event",
    "state-change-issue-event",
    "rate-limit-overview",
    "repository-collaborator-permission",
    "environment",
    "deployment-branch-policy",
    "actions-secret",
    "actions-variable",
    "runner",
    "runner-groups-org",
    "repository-ruleset",
    "branch-protection",
    "release",
    "release-asset",
]
PROSE = {"description", "example", "examples", "externalDocs", "x-github", "x-multi-segment", "deprecated", "tags",
         "summary", "operationId", "x-github-breaking-changes", "x-github-mediatypes", "headers", "links", "title",
         "x-webhooks", "x-githubCloudOnly"}
WORDS = {"date-time": "2000-01-01T00:00:00Z", "uri": "@@", "email": "nobody@example.com", "date": "2000-01-01"}


def strip(value: Any, *, names: bool = False) -> Any:
    """Without prose; `names` says the keys of this mapping are names (of properties, codes), not keywords."""
    if isinstance(value, list):
        return [strip(item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {"properties", "responses", "paths", "schemas", "patternProperties"}
    return {
        key: strip(item, names=key in inner and not names) for key, item in value.items() if names or key not in PROSE
    }


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(references, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return own.union(*map(references, value.values())) if value else own


def subset(whole: dict[str, Any]) -> dict[str, Any]:
    """The paths above with everything they refer to."""
    paths = {path: {verb: strip(whole["paths"][path][verb]) for verb in verbs} for path, verbs in PATHS.items()}
    kept: dict[str, dict[str, Any]] = {}
    waiting = references(paths) | {f"#/components/schemas/{kind}" for kind in KINDS}
    while waiting:
        _, _, group, name = waiting.pop().split("/")
        if name in kept.setdefault(group, {}):
            continue
        kept[group][name] = strip(whole["components"][group][name])
        waiting |= references(kept[group][name])
    return {"openapi": whole["openapi"], "info": {"title": "GitHub REST API, a subset without prose",
            "version": whole["info"]["version"], "license": whole["info"]["license"]},
            "paths": paths, "components": {group: dict(sorted(kept[group].items())) for group in sorted(kept)}}


def skeleton(schema: dict[str, Any], schemas: dict[str, Any], name: str = "") -> Any:
    """The smallest value the schema accepts: required keys, null where allowed, `@@` where an address belongs."""
    if "$ref" in schema:
        return skeleton(schemas[schema["$ref"].rsplit("/", 1)[1]], schemas, name)
    if schema.get("nullable"):
        return None
    if "allOf" in schema:
        return {key: item for part in schema["allOf"] for key, item in skeleton(part, schemas).items()}
    for choice in ("oneOf", "anyOf"):
        if choice in schema and "properties" not in schema:
            return skeleton(schema[choice][0], schemas, name)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if kind == "object":
        wanted = schema.get("required", [])
        return {key: skeleton(schema["properties"][key], schemas, key) for key in wanted}
    if kind == "string":
        return address(name) if name.endswith("_url") else WORDS.get(schema.get("format", ""), "")
    return {"array": [], "boolean": False, "integer": 0, "number": 0}[kind]


def frames(schemas: dict[str, Any]) -> dict[str, Any]:
    """The empty object of each kind the loopback GitHub renders."""
    return {kind: skeleton({**schemas[kind], "nullable": False}, schemas) for kind in KINDS}


def address(name: str) -> str:
    return f"@@/{name.removesuffix('_url')}"


def main(source: str) -> None:
    made = subset(json.loads(Path(source).read_text()))
    text = json.dumps(made, separators=(",", ":"), sort_keys=True)
    (HERE / "github.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    made_frames = frames(made["components"]["schemas"])
    lines = [f'"{kind}": {json.dumps(frame, separators=(",", ":"))}' for kind, frame in made_frames.items()]
    SKELETONS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
