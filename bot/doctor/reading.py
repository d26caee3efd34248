"""Files of the default branch as facts: workflows, and the runners that recipes ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from bot import strict
from bot.doctor.facts import Files, Input, JobFile, Wanted, WorkflowFile
from bot.errors import BadInput
from bot.layout import Layout
from bot.ports import Tree
from bot.recipe.own import load
from bot.recipe.shelf import matches

FOLDER = ".github/workflows/"
JOB = "GITHUB_TOKEN"
_SECRET = re.compile(r"secrets\s*(?:\.\s*|\[\s*['\"])([A-Za-z_][A-Za-z0-9_]*)")
_VARIABLE = re.compile(r"vars\s*(?:\.\s*|\[\s*['\"])([A-Za-z_][A-Za-z0-9_]*)")
# A field that takes a key or a token: `private-key:`, `token:`, `BUMPBOT_TOKEN:`.
_TAKES = re.compile(r"(^|[-_])(key|token)$", re.IGNORECASE)
_RUNS = re.compile(r"bumpbot\b[^\n]*\swake\b")
_ACTION = re.compile(r"[^/@]+/bumpbot@", re.IGNORECASE)


def files(tree: Tree, layout: Layout | None) -> Files:
    """What the checks need of a revision."""
    paths = [path for path in tree.paths(FOLDER) if path.endswith((".yml", ".yaml")) and "/" not in path[len(FOLDER):]]
    read = {path: tree.read(path) or b"" for path in paths}
    actions = _actions(tree, [workflow(path, data) for path, data in read.items()])
    waking = frozenset(use for use, one in actions.items() if one.wakes)
    wanted, broken = [], []
    for path in _recipes(tree, layout):
        try:
            recipe = load(tree.read(path) or b"", path)
            wanted.append(Wanted(recipe=recipe.name, image=recipe.image, labels=recipe.hardware.runner))
        except BadInput as error:
            broken.append(str(error))
    return Files(workflows={path: workflow(path, data, waking=waking) for path, data in read.items()}, actions=actions,
                 wanted=tuple(wanted), broken=tuple(broken))


def _actions(tree: Tree, found: Iterable[WorkflowFile]) -> dict[str, WorkflowFile]:
    """The repository's own actions by what names them (`./`, `./tools/x`), and those that they use in turn."""
    known: dict[str, WorkflowFile] = {}
    waiting = [use for one in found for job in one.jobs for use in job.uses]
    while waiting:
        use = waiting.pop()
        if not use.startswith("./") or use.startswith(f"./{FOLDER}") or use in known:
            continue
        folder = use[2:].strip("/")
        if ".." in folder.split("/"):
            continue
        tried = [f"{folder}/{name}".lstrip("/") for name in ("action.yml", "action.yaml")]
        data = next(((path, data) for path in tried if (data := tree.read(path)) is not None), None)
        if data is not None:
            known[use] = workflow(*data)
            waiting += [more for job in known[use].jobs for more in job.uses]
    return known


def _recipes(tree: Tree, layout: Layout | None) -> Iterator[str]:
    """Only own recipes name their runner; those of a guest leave it to the guest's workflows."""
    if layout is not None and layout.generator == "own":
        globs = [glob for entry in layout.recipes for glob in entry.globs]
        yield from (path for path in tree.paths() if any(matches(glob, path) for glob in globs))


def workflow(path: str, data: bytes, *, waking: AbstractSet[str] = frozenset()) -> WorkflowFile:
    """A workflow file, or a composite action as a workflow of one job, read strictly: what the forge may accept and this does
    not is a fault to be told, never a guess. `waking` are the repository's own actions that run the bot."""
    try:
        value, _ = strict.parse(data, file=path, foreign=True)
    except BadInput as error:
        return WorkflowFile(path=path, fault=str(error))
    if not isinstance(value, dict):
        return WorkflowFile(path=path, fault=f"{path}: no workflow: not a mapping")
    triggers, jobs, runs = _triggers(value), value.get("jobs"), value.get("runs")
    dispatch = triggers.get("workflow_dispatch", False)
    named = jobs if isinstance(jobs, dict) else {"": runs} if isinstance(runs, dict) else {}
    return WorkflowFile(
        path=path, triggers=tuple(sorted(triggers)), inputs=None if dispatch is False else _inputs(dispatch),
        jobs=tuple(_job(str(name), job, value.get("env"), waking) for name, job in named.items() if isinstance(job, dict)))


def _triggers(value: Mapping[Any, Any]) -> Mapping[str, Any]:
    """`on:` as a mapping. YAML 1.1 reads the key itself as true."""
    told = value.get("on", value.get(True))
    if isinstance(told, dict):
        return {str(name): rest for name, rest in told.items()}
    return dict.fromkeys([told] if isinstance(told, str) else [str(name) for name in _listed(told)])


def _inputs(dispatch: Any) -> Mapping[str, Input]:
    declared = dispatch.get("inputs") if isinstance(dispatch, dict) else None
    known = declared if isinstance(declared, dict) else {}
    return {str(name): _input(rest if isinstance(rest, dict) else {}) for name, rest in known.items()}


def _input(rest: Mapping[str, Any]) -> Input:
    options = rest.get("options")
    return Input(required=rest.get("required") is True, has_default=rest.get("default") not in (None, ""),
                 kind=str(rest.get("type", "string")), options=tuple(map(str, options)) if isinstance(options, list) else ())


def _job(name: str, job: Mapping[str, Any], shared: Any, waking: AbstractSet[str]) -> JobFile:
    """`shared` is the environment that the workflow gives to each of its jobs."""
    environment = job.get("environment")
    named = environment.get("name") if isinstance(environment, dict) else environment
    steps = [step for step in _listed(job.get("steps")) if isinstance(step, dict)]
    uses = tuple(part["uses"] for part in (job, *steps) if isinstance(part.get("uses"), str))
    refs = [step["with"]["ref"] for step in steps if str(step.get("uses", "")).startswith("actions/checkout@")
            and isinstance(step.get("with"), dict) and "ref" in step["with"]]
    told = [(field, name) for field, name in _named(_SECRET, [shared, job]) if name != JOB]
    return JobFile(
        name=name, environment=str(named or ""), wakes=any(_wakes(step, waking) for step in steps), uses=uses,
        checkouts=tuple(map(str, refs)), secrets=tuple(sorted({secret for _, secret in told})),
        tokens=tuple(sorted({secret for field, secret in told if _TAKES.search(field)})),
        variables=tuple(sorted({name for _, name in _named(_VARIABLE, [shared, job])})))


def _wakes(step: Mapping[str, Any], waking: AbstractSet[str]) -> bool:
    """Whether a step runs the bot: by command, or by its action, unless it says `wake: false` and only installs it."""
    use, run, given = step.get("uses"), step.get("run"), step.get("with")
    if isinstance(given, dict) and str(given.get("wake", "")).lower() == "false":
        return False
    return isinstance(use, str) and (bool(_ACTION.match(use)) or use in waking) or isinstance(run, str) and bool(_RUNS.search(run))


def _named(pattern: re.Pattern[str], value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """(field, name) of each secret or variable named below a value; their names have no case."""
    if isinstance(value, str):
        yield from ((field, name.upper()) for name in pattern.findall(value))
    for key, item in value.items() if isinstance(value, dict) else [(field, item) for item in _listed(value)]:
        yield from _named(pattern, item, str(key))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
