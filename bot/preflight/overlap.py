"""Who else works on the same recipe: people's and other bots' pull requests and branches, and our own claims."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.finding import Act, Checked, PlanFinding
from bot.model.preflight import Facts, Work
from bot.model.text import Text
from bot.preflight.words import count, image, joined, listed, safe, unknown

_KINDS = {"pull": Text("pull request", "合并请求"), "branch": Text("branch", "分支"), "claim": Text("claim", "认领")}


def check(facts: Facts) -> Checked:
    """Our own claim stops (it is the same bump), somebody's pull request or claim on the recipe asks, whatever of it they change; a
    branch without a pull request is told, and so are pull requests on other recipes of the same file."""
    if facts.work is None:
        return unknown(facts, "overlap", "not-asked")
    ours = {recipe.key for recipe in facts.family}
    shared = [(one, sorted(ours & set(one.recipes))) for one in facts.work if ours & set(one.recipes)]
    found = [made for one, keys in shared if (made := _finding(facts, one, keys))]
    files = {recipe.file for recipe in facts.family}
    beside = [one for one in facts.work if one.kind == "pull" and not one.ours and not ours & set(one.recipes)
              and files & set(one.files)]
    found += [_beside(beside, sorted({name for one in beside for name in one.files if name in files}))] if beside else []
    return Checked(check="overlap", findings=tuple(found), about=Text(
        f"open pull requests, branches and claims: {len(facts.work)}", f"{len(facts.work)} 个未结束的合并请求、分支与认领"))


def _finding(facts: Facts, one: Work, keys: list[str]) -> PlanFinding | None:
    if one.ours and one.kind != "claim":
        return None  # our own pull request is the bump that is looked at
    kind, name, by = _KINDS.get(one.kind, _KINDS["branch"]), _name(one), safe(one.by)
    of = Text(f" of {by}" if by else "", f"{by} 的" if by else "")
    same = one.image is not None and one.image == facts.candidate.text
    moves = Text(f" to {image(one.image)}" if one.image else "", f"至 {image(one.image)}" if one.image else "")
    return PlanFinding(
        check="overlap", class_=None, action=_action(one), who="bot" if one.ours else "maintainer", where=one.url or name,
        evidence=f"{name}{f' by {by}' if by else ''}: {listed(keys)}{f' -> {image(one.image)}' if one.image else ''}",
        what=Text(f"the {kind.en} {name}{of.en} changes {listed(keys)} too{moves.en}"
                  + (": it is the same image" if same else ""),
                  f"{of.zh}{kind.zh} {name} 也改动了 {listed(keys)}{moves.zh}" + ("：与本候选为同一镜像" if same else "")),
        next=_todo(one))


def _action(one: Work) -> Act:
    if one.ours:
        return "stop"
    if one.kind in ("claim", "pull"):
        return "ask"
    return "note"


def _todo(one: Work) -> Text:
    if one.ours:
        return Text("wait until that bump has ended, or stop it", "请等待该次更新结束，或将其停止")
    if _action(one) == "ask" and one.kind == "pull" and one.image is None:
        return Text("say whether this bump goes on beside it: what is measured may change with either",
                    "请确认本次更新是否可与其并行：任一方合并都可能改变测量结果")
    if _action(one) == "ask":
        return Text("say which of the two goes on: both cannot be merged as they are", "请确认由哪一方继续：两者无法同时原样合并")
    return Text("look whether it is still meant; it may conflict when it is merged", "请确认其是否仍有需要；合并时可能发生冲突")


def _beside(every: Sequence[Work], files: Sequence[str]) -> PlanFinding:
    """They may conflict where both stand close together, and no more."""
    names, many = joined(_name(one) for one in every), count(len(every), "open pull request")
    return PlanFinding(
        check="overlap", class_=None, action="note", who="bot", where=every[0].url or files[0],
        evidence=f"{listed(files)}: {names}",
        what=Text(f"other recipes of {listed(files)} are changed by {many}: {names}",
                  f"{len(every)} 个未合并的合并请求改动了 {listed(files)} 中的其他配方：{names}"),
        next=Text("nothing: a conflict is looked for again before the sweep", "无需处理：扫描前会再次检查合并冲突"))


def _name(one: Work) -> str:
    return one.name if one.kind == "pull" and one.name.removeprefix("#").isdigit() else safe(one.name)
