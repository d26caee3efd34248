"""Whether the head merges into the default branch: GitHub starts no workflow for a pull request that conflicts, which looked like a
sweep that never began (#3010, #3012)."""

from __future__ import annotations

from bot.model.finding import Checked, PlanFinding
from bot.model.preflight import Facts, Merge
from bot.model.text import Text
from bot.preflight.words import listed, unknown

FRESH = "no-head"
"""Why there is nothing to merge yet: no branch was made."""


def check(facts: Facts) -> Checked:
    """The changelog alone is mended by the sync that a bump makes anyway; other files are a person's to settle."""
    merge = facts.merge
    if merge is None and facts.unknown.get("mergeable") == FRESH:
        return Checked(check="mergeable", about=Text("the branch will start at the tip of the default branch",
                                                     "分支将从默认分支的最新提交开始"))
    if merge is None:
        return unknown(facts, "mergeable", "not-asked")
    about = Text(f"{merge.head[:12]} into {merge.base[:12]}", f"将 {merge.head[:12]} 并入 {merge.base[:12]}")
    return Checked(check="mergeable", findings=(_finding(merge),) if merge.conflicts else (), about=about)


def _finding(merge: Merge) -> PlanFinding:
    files = listed(merge.conflicts)
    evidence = f"merge-tree {merge.base[:12]} {merge.head[:12]}: {files}"
    if merge.appends:
        return PlanFinding(
            check="mergeable", class_="changelog-conflict", action="repair-first", who="bot", where=merge.conflicts[0],
            evidence=evidence,
            what=Text(f"both sides only append to {files}; GitHub starts no workflow until that is merged",
                      f"双方都只在 {files} 末尾追加；合并完成前 GitHub 不会启动任何工作流"),
            next=Text("nothing: the bot syncs with the default branch, its changelog first; that spends no repair",
                      "无需处理：机器人会与默认分支同步，变更日志以默认分支为先；不占用修复次数"))
    return PlanFinding(
        check="mergeable", class_="changelog-conflict", action="ask", who="maintainer", where=merge.conflicts[0], evidence=evidence,
        what=Text(f"the branch conflicts with the default branch in {files}; GitHub starts no workflow meanwhile",
                  f"分支与默认分支在 {files} 中冲突；在此期间 GitHub 不会启动任何工作流"),
        next=Text("say which text is right, or resolve the conflict on the branch", "请说明以哪一方的文本为准，或在分支上解决冲突"))
