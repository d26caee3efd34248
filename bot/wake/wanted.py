"""Which repair the newest failure asks for, with the upstream facts it needs and what stands in its way."""

from __future__ import annotations

import msgspec

from bot.decide import findings
from bot.diagnose import repair as repairs
from bot.diagnose.known import Source
from bot.diagnose.siblings import siblings
from bot.errors import BumpbotError
from bot.layout import in_scope
from bot.model.bump import Bump, Judged, Wanted
from bot.model.recipe import KeyChange
from bot.model.run import Run, Triage
from bot.model.text import Text
from bot.recipe.files.dockerfile import is_dockerfile
from bot.recipe.files.document import Document
from bot.wake.context import Context

OUT_OF_SCOPE = Text("The layout does not let a repair change that key.", "布局不允许修复改动该键。")


def wanted(context: Context, bump: Bump) -> Wanted | None:
    """The repair that knowledge has for the newest judged failure; one that cannot be made comes with its obstacle."""
    broken = _newest_failure(bump)
    if bump.head is None:
        return None
    if broken is None:
        return _planned(context, bump)
    run, judged = broken
    files = _recipe_files(context, bump, bump.head)
    used = {head.repair for head in bump.memory.heads if head.repair}
    for failure in judged.failures:
        known = [repair for repair in context.knowledge.repairs if failure.triage.signature in repair.for_]
        facts = {name: _fact(context, source, files) for repair in known for name, source in repair.upstream.items()}
        plan = repairs.choose(failure.triage, known, files, context.known_repairs, used, facts)
        if plan is not None:
            return _as_wanted(context, bump, run.id, plan, files)
    return None


def _planned(context: Context, bump: Bump) -> Wanted | None:
    """The known repair that a finding of the plan names, while nothing has run: it is made before the first smoke."""
    found = () if bump.world.runs or bump.world.pull is None else findings.repairs(bump)
    files = _recipe_files(context, bump, bump.head or "") if found else {}
    refused: Wanted | None = None
    for finding in found:
        known = [repair for repair in context.knowledge.repairs if repair.id == finding.repair]
        facts = {name: _fact(context, source, files) for repair in known for name, source in repair.upstream.items()}
        for repair in known:
            triage = Triage(signature=repair.for_[0], class_=finding.class_, repair=repair.id)
            plan = repairs.choose(triage, [repair], files, context.known_repairs, set(), facts)
            made = _as_wanted(context, bump, 0, plan, files) if plan is not None else None
            if made is not None and made.available:
                return made
            refused = refused or made  # another finding's repair may be one that can be made
    return refused


def _as_wanted(context: Context, bump: Bump, run: int, plan: repairs.RepairPlan, files: dict[str, bytes]) -> Wanted:
    outside = any(not in_scope(context.layout, change.file, change.path) for change in plan.changes)
    obstacle = OUT_OF_SCOPE if outside else plan.refused
    return Wanted(
        id=plan.id, run=run, why=plan.why, available=obstacle is None, edits=plan.changes, kept=_kept(plan.changes, files),
        serving_path_changed=plan.serving_path_changed, siblings=_siblings(context, bump, plan), obstacle=obstacle,
    )


def _kept(changes: tuple[KeyChange, ...], files: dict[str, bytes]) -> tuple[str, ...]:
    """The neighbours of dropped keys that stay, so that a reader sees what the place still says."""
    places = dict.fromkeys((change.file, change.path[:-1]) for change in changes if change.new is None)
    gone = {(change.file, change.path) for change in changes}
    kept: list[str] = []
    for file, place in places:
        document = Document(files[file], file)
        for hit in document.find((*place, "*")):
            text = document.scalar(hit.steps)
            if (file, hit.steps) not in gone and text is not None:
                kept.append(f"{hit.steps[-1]}: {text}")
    return tuple(kept)


def _siblings(context: Context, bump: Bump, plan: repairs.RepairPlan) -> tuple[str, ...]:
    """Other recipes on the candidate's image, and what they say at the guarded key: evidence that the repair is known to run."""
    tip = bump.world.base_tip
    if not plan.changes or tip is None:
        return ()
    tree, first = context.tree(tip), plan.changes[0]
    folder = first.file.rpartition("/")[0]
    found = {path: tree.read(path) or b"" for path in tree.paths(f"{folder}/") if path.endswith((".yaml", ".yml"))}
    key = ".".join(map(str, first.guard))
    others = siblings(found, key, bump.subject.candidate.text, without=plan.files)
    return tuple(f"{other.file.rpartition('/')[2]}: {other.value or '-'}" for other in others)


def _fact(context: Context, source: Source, files: dict[str, bytes]) -> str | None:
    """The first commit after the present pin that is the named pull request's; None when history does not show it."""
    pin = next((text for name, data in files.items() if (text := Document(data, name).scalar(source.pinned))), None)
    if pin is None:
        return None
    try:
        compared = context.commits.compare(source.repository, pin, source.branch)
    except BumpbotError:
        return None
    return next((commit.sha for commit in compared.commits if commit.pull == source.pull), None)


def _recipe_files(context: Context, bump: Bump, head: str) -> dict[str, bytes]:
    """What a repair may look at: it knows keys of YAML, and none of a Dockerfile."""
    paths = dict.fromkeys(file for recipe in bump.subject.family for file in recipe.linked or (recipe.file,)
                          if not is_dockerfile(file))
    return {path: data for path in paths if (data := context.git.read(head, path)) is not None}


def _newest_failure(bump: Bump) -> tuple[Run, Judged] | None:
    current = {bump.head, bump.tested_head}
    for run in sorted(bump.world.runs, key=lambda run: (run.created, run.id), reverse=True):
        judged = bump.judged(run.id)
        if judged and judged.failures and run.head in current:
            newest = {job.name: job.attempt for job in run.latest_jobs}
            live = tuple(failure for failure in judged.failures if newest.get(failure.job) == failure.attempt)
            return (run, msgspec.structs.replace(judged, failures=live)) if live else None
    return None
