"""What the new engine does with what the recipe passes: options gone, renamed or ambiguous, new defaults, checks that refuse.

A stop needs both: the option is passed on every start, and the engine's parser refuses what it does not know. A variable that is
not read any more is ignored by the engine, so it is only told. What could not be read is told as unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bot.model.finding import Act, Checked, PlanFinding, Release, Who
from bot.model.preflight import Facts
from bot.model.text import Text
from bot.model.upstream import Commit, OptionChanged, OptionsChecked
from bot.preflight.words import count, joined, listed, mended, safe, unknown
from bot.upstream.options.compare import MEMORY

MOST = 12
"""How many notes are told one by one: the rest is counted."""


def check(facts: Facts) -> Checked:
    """Options, variables and config guards of the recipe and its scripts in the new tree."""
    told = facts.options
    if told is None:
        return unknown(facts, "options")
    findings = [finding for one in told.changed if (make := _MAKERS.get(one.what)) and (finding := make(one))]
    unread = [one.used.name for one in told.changed if one.what == "unread"]
    missing = [one for one in told.changed if one.what == "missing"]
    kept = [one for one in findings if one.action != "note"] + _few([one for one in findings if one.action == "note"])
    kept += [_missing(missing)] if missing else []
    held = mended(facts, "options", kept, lambda subject: not {*unread}.isdisjoint(subject.split()))
    return Checked(check="options", findings=tuple(kept), about=_about(told), unknown=_unread(unread, facts), held=held)


def _about(told: OptionsChecked) -> Text:
    """What was looked at. Of a check that the settings do not decide nobody says that it holds."""
    files, names = len(told.parsers), "option or variable" if told.counted == 1 else "options and variables"
    checks, zh_checks = "", ""
    if told.checks:
        rest = told.checks - told.decided
        checks = f"; {told.decided} of {told.checks} checks of its configuration decided" + (", the rest unknown" if rest else "")
        zh_checks = f"；{told.checks} 项配置检查中可判定 {told.decided} 项" + ("，其余未知" if rest else "")
    return Text(f"{told.counted} {names} in {count(files, 'file')} of {safe(told.engine)}{checks}",
                f"已在 {safe(told.engine)} 的 {files} 个文件中核对 {told.counted} 个选项和环境变量{zh_checks}")


def _unread(names: Sequence[str], facts: Facts) -> Text | None:
    shown, scripts = [safe(name) for name in names], bool(facts.uses.unread)
    if not shown and not scripts:
        return None
    en, zh = (joined([*shown, *([word] if scripts else [])], comma) for word, comma in (("the scripts", ", "), ("启动脚本", "、")))
    return Text(f"nobody can tell from the sources about {en}", f"无法从源码判断：{zh}")


def _removed(one: OptionChanged) -> PlanFinding | None:
    name = safe(one.used.name)
    if one.used.kind == "environment":
        return _finding(one, "note", "flag-removed", Text(
            f"the new engine does not read the variable {name}", f"新版引擎不再读取环境变量 {name}"), Text(
            f"drop {name}, or look for what took its place", f"请移除 {name}，或查明其替代项"), "maintainer")
    if one.new:
        return _successor(one, one.new)
    what = Text(f"the new engine has no option {name}", f"新版引擎没有选项 {name}")
    if one.used.conditional:
        return _finding(one, "note", "flag-removed", what, Text(
            f"where the script passes {name}, the server will not start",
            f"脚本在传入 {name} 的分支上将无法启动服务"), "maintainer")
    near = f"; {listed(one.candidates)}" if one.candidates else ""
    zh_near = f"；可参考 {listed(one.candidates)}" if one.candidates else ""
    return _finding(one, "stop", "flag-removed", what, Text(
        f"remove {name} from the recipe or name what replaces it{near}",
        f"请从配置中移除 {name}，或改用其替代项{zh_near}"), "maintainer")


def _renamed(one: OptionChanged) -> PlanFinding | None:
    name, new = safe(one.used.name), safe(one.new or "")
    if not one.works:
        return _successor(one, one.new or "")
    instead = f": {new}" if new else ""
    return _finding(one, "note", "flag-removed", Text(
        f"{name} is deprecated and still works", f"{name} 已弃用，但仍然有效"), Text(
        f"use what replaces it{instead}", f"建议改用其替代项{instead and '：' + new}"), "maintainer")


def _successor(one: OptionChanged, new: str) -> PlanFinding:
    name, now = safe(one.used.name), safe(new)
    return _finding(one, "note" if one.used.conditional else "repair-first", "flag-removed", Text(
        f"the new engine calls {name} {now}", f"新版引擎中 {name} 已改名为 {now}"), Text(
        f"write {now} in place of {name}", f"请将 {name} 改为 {now}"), "maintainer")


def _ambiguous(one: OptionChanged) -> PlanFinding:
    name, names = safe(one.used.name), listed(one.candidates)
    what = Text(f"{name} is the beginning of several options now: {names}", f"{name} 现在是多个选项的前缀：{names}")
    now = safe(one.new) if one.new else names
    return _finding(one, "note" if one.used.conditional else "repair-first", "flag-removed", what, Text(
        f"write out which one is meant: {now}", f"请写明所指的选项：{now}"), "maintainer", f"{name}: {names}")


def _default(one: OptionChanged) -> PlanFinding:
    name, old, new = safe(one.used.name), safe(one.old or ""), safe(one.new or "")
    memory = MEMORY.search(one.used.name) is not None
    return _finding(one, "note", "oom" if memory else None, Text(
        f"the default of {name} changed from {old} to {new}", f"{name} 的默认值由 {old} 变为 {new}"), Text(
        f"set {name} to {old} if memory or speed differ at the highest concurrency",
        f"若在最高并发下显存或速度有变化，请将 {name} 设为 {old}"), "maintainer", f"{name}: {old} -> {new}")


def _guard(one: OptionChanged) -> PlanFinding:
    names = listed(used.name for used in (one.used, *one.beside))
    certain = one.certain and not any(used.conditional for used in (one.used, *one.beside))
    may, zh_may = ("refuses", "拒绝") if certain else ("may refuse", "可能拒绝")
    what = Text(f"a check of the new engine {may} these settings: {names}", f"新版引擎的检查{zh_may}以下设置：{names}")
    several = len({used.name for used in (one.used, *one.beside)}) > 1
    says = Text(f"keep an image whose engine takes {names} together, or change one of them",
                f"请保留支持同时使用 {names} 的镜像，或更改其中一项")
    if not several:
        says = Text(f"keep an image whose engine takes this value of {names}, or change it",
                    f"请保留接受 {names} 该取值的镜像，或更改其值")
    return _finding(one, "stop" if certain else "note", "feature-missing", what, says, "upstream",
                    f"{names} at {safe(one.at)}", place=one.at)


def _choice(one: OptionChanged) -> PlanFinding:
    name, value, names = safe(one.used.name), safe(one.old or ""), listed(one.candidates)
    return _finding(one, "note" if one.used.conditional else "stop", "flag-removed", Text(
        f"{name} does not take {value} any more", f"{name} 不再接受 {value}"), Text(
        f"choose one of {names}", f"请从 {names} 中选择"), "maintainer", f"{name} {value}")


def _missing(every: Sequence[OptionChanged]) -> PlanFinding:
    """What neither engine knows is no change of this image."""
    names = listed(dict.fromkeys(one.used.name for one in every))
    return PlanFinding(check="options", class_=None, action="note", evidence=names, where=every[0].used.at.text, who="maintainer",
                       what=Text(f"neither the old nor the new engine knows {names}", f"新旧引擎均不识别 {names}"),
                       next=Text("nothing to do for this bump; they may be dropped some day", "本次更新无需处理，日后可考虑移除"))


def _finding(one: OptionChanged, action: Act, class_: str | None, what: Text, next_: Text, who: Who, evidence: str = "",
             place: str = "") -> PlanFinding:
    by = _by(one.commit)
    who = "upstream" if action == "stop" else who  # what ends as incompatible waits for upstream (CONTRACTS 3)
    where = one.used.at.text if not place and one.what != "default" else place or one.at
    return PlanFinding(check="options", class_=class_, action=action, where=_plain(where), who=who, what=what, next=next_,
                       evidence=(evidence or _seen(one)) + by, release=_release(one) if action == "stop" else None)


def _release(one: OptionChanged) -> Release:
    """The same image takes what it takes: only what is passed to it can change."""
    every = list(dict.fromkeys(used.name for used in (one.used, *one.beside)))
    names = listed(every)
    return Release(of="options", subject=" ".join([one.what, *every]), says=Text(
        f"the recipe passes {names} otherwise, or not at all, so that this image takes what is passed",
        f"配方不再传入 {names} 或改用该镜像接受的取值"))


def _seen(one: OptionChanged) -> str:
    at = f" at {safe(one.at)}" if one.at else ""
    return f"{safe(one.used.name)}: {one.what}{at}"


def _by(commit: Commit | None) -> str:
    """The commit that did it; its title is somebody else's text, and stays out."""
    if commit is None:
        return ""
    return f" by {commit.sha[:12]}" + (f" (#{commit.pull})" if commit.pull else "")


def _plain(where: str) -> str:
    return re.sub(r"[\s`|]+", " ", where)


def _few(notes: Sequence[PlanFinding]) -> list[PlanFinding]:
    """Memory first; what is more than a person reads is left to the terminal's own listing."""
    ordered = sorted(notes, key=lambda one: one.class_ != "oom")
    seen: dict[str, PlanFinding] = {}
    for one in ordered:
        seen.setdefault(one.what.en if one.what else one.evidence, one)
    return list(seen.values())[:MOST]


_MAKERS: dict[str, Callable[[OptionChanged], PlanFinding | None]] = {
    "removed": _removed, "renamed": _renamed, "ambiguous": _ambiguous, "default": _default, "guard": _guard, "choice": _choice}
