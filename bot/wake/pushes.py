"""Commits on a bump's branch: the proposal, a repair, the changelog entry, a sync with the default branch.

A commit is a function of its claim (parents, files, words, moment), so finishing a claim later makes the same one.
"""

from __future__ import annotations

from datetime import datetime

from bot.diagnose import repair as repairs
from bot.errors import Conflict, Refusal
from bot.layout import guard
from bot.model.action import Push
from bot.model.bump import Bump
from bot.recipe import changelog, edit
from bot.wake import syncing
from bot.wake.context import Context
from bot.wake.syncing import Changes


def push(context: Context, bump: Bump, action: Push, at: datetime) -> str:
    """Makes and pushes the commit; its id. Conflict when the branch is not where the decision saw it, Refusal when the
    repository will not have it.

    The branches are fetched first: a claim may be finished on a machine that has seen nothing of them. A commit that is on the
    branch already, whoever has pushed after it, is our own success.
    """
    git, branch, base = context.git, bump.subject.rules.branch, bump.subject.rules.base
    tips = git.tips((branch, base))
    tip, main = tips[branch], tips[base]
    parents, changes = MAKERS[action.why](context, bump, action)
    guard(context.layout, changes)
    oid = git.commit(parents, changes, _message(bump, action), when=at)
    if tip == oid or (tip is not None and tip != action.expected and git.contains(tip, oid)):
        return oid
    if tip != action.expected:
        raise Conflict(f"the branch {branch} moved to {tip}", "the next look decides for it")
    try:
        won = git.push(branch, oid)
    except Refusal as error:
        if git.tip(base) != main or main != action.base_tip:
            raise Conflict(f"{base} moved meanwhile; {error.reason}", "the next look decides anew") from error
        raise
    if not won:
        raise Conflict(f"the push to {branch} was refused", "the next look decides anew")
    return oid


def _proposal(context: Context, bump: Bump, action: Push) -> tuple[list[str], Changes]:
    base = action.base_tip or ""
    keys = [recipe.key for recipe in bump.subject.family]
    moved = edit.move(context.tree(base), context.layout, keys, bump.subject.candidate.text)
    return [base], dict(moved.files)


def _repair(context: Context, bump: Bump, action: Push) -> tuple[list[str], Changes]:
    head, wanted = action.expected or "", action.repair
    assert wanted is not None
    files = {path: context.git.read(head, path) or b"" for path in wanted.files}
    made = repairs.apply(syncing.plan_of(wanted), files)
    if not made:
        raise Refusal(f"the repair {wanted.id} changes nothing at {head[:9]}", "the next look decides for what stands there")
    return [head], dict(made)


def _changelog(context: Context, bump: Bump, action: Push) -> tuple[list[str], Changes]:
    head, path = action.expected or "", context.layout.changelog.file
    before = context.git.read(head, path) or b""
    return [head], {path: changelog.append(before, entry_of(bump, context), context.layout.changelog)}


def _sync(context: Context, bump: Bump, action: Push) -> tuple[list[str], Changes]:
    """The default branch and our head merged, the changelog by its bytes first (why in this order: `syncing`)."""
    head, tip, style = action.expected or "", action.base_tip or "", context.layout.changelog
    changes, both = syncing.ours(context, bump, tip)
    if both:
        raise Conflict(f"{both[0]} changed on both sides", "a maintainer must say which text is right")
    main = context.git.read(tip, style.file) or b""
    return [tip, head], changes | {style.file: changelog.sync(main, entry_of(bump, context), style)}


MAKERS = {"proposal": _proposal, "repair": _repair, "changelog": _changelog, "sync": _sync}


def entry_of(bump: Bump, context: Context) -> changelog.Entry:
    """Our changelog entry: the keys of the family, what changed, the pull request."""
    pull = bump.world.pull
    lines = [f"Update the image from {bump.subject.family[0].image} to {bump.subject.candidate.text}."]
    lines += [f"{wanted.id}: {wanted.why.en}" for wanted in bump.memory.applied]
    keys = tuple(recipe.key for recipe in bump.subject.family)
    # A layout that does not say how a pull request is linked means its own address.
    link = context.layout.changelog.pull.replace("{number}", str(pull.number if pull else "")) or (pull.url if pull else "")
    # Settings are for people: a recipe of two scenarios has them in one text.
    told = {name for recipe in bump.subject.family for name in recipe.settings.get("scenario", "").split(", ") if name}
    scenarios = tuple(sorted(told))
    return changelog.Entry(keys=keys, description=tuple(lines), link=link, scenarios=scenarios)


def _message(bump: Bump, action: Push) -> str:
    """English subject, both languages in the body: commits are read on the forge too."""
    recipe, text = bump.subject.family[0].key, bump.subject.candidate.text
    number = bump.memory.repairs_used + (action.why == "repair")
    repair = action.repair.id if action.repair else ""
    subject, chinese = {
        "proposal": (f"Update {recipe} to {text}", f"将 {recipe} 的镜像更新至 {text}"),
        "repair": (f"Repair {number}: {repair}", f"修复 {number}：{repair}"),
        "changelog": (f"Add the changelog entry of {recipe}", f"为 {recipe} 添加变更日志条目"),
        "sync": ("Merge the default branch, its changelog first", "合并默认分支，变更日志以其内容为先"),
    }[action.why]
    return f"{subject}\n\n{chinese}\n\nBumpbot-Bump: {bump.id}\n"
