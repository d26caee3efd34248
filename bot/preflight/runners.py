"""Whether a runner exists for every label that the points ask for: a label that was retired means that the sweep waits for ever
(#2880, #2883), and one that moved to other machines is no bump any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.doctor.runners import fits
from bot.model.finding import Checked, PlanFinding, Release
from bot.model.preflight import Facts
from bot.model.text import Text
from bot.preflight.fleets import asked
from bot.preflight.words import apart, count, joined, listed, unknown

State = Literal["alive", "asleep", "retired", "unknown"]
_FORGE = "actions/runners"


def check(facts: Facts) -> Checked:
    """The forge's own list decides. Without it the runners file may only say that a label has no machine left; a label that
    the file does not name is not known: 8 real recipes run under such labels."""
    wanted = asked(facts)
    if not wanted and not any(recipe.points for recipe in facts.family):
        return unknown(facts, "runners", "no-points")
    states = {name: _state(facts, words) for name, words in wanted.items()}
    of = {state: [name for name, found in states.items() if found == state] for state in ("retired", "asleep", "unknown")}
    found = [*([_retired(facts, of["retired"])] if of["retired"] else []), *([_asleep(of["asleep"])] if of["asleep"] else [])]
    said = joined(map(apart, wanted), "; ")
    about = Text(f"runner labels: {said or 'the forge has machines of its own'}", f"运行器标签：{said or '由代码托管平台提供机器'}")
    open_ = unknown(facts, "runners", "not-registered-here").unknown if of["unknown"] else None
    return Checked(check="runners", findings=tuple(found), about=about, unknown=open_)


def _state(facts: Facts, words: Sequence[str]) -> State:
    if facts.runners is not None:
        having = [one for one in facts.runners if fits(one, words)]
        if having:
            return "alive" if any(one.online for one in having) else "asleep"
        # Part of the list may be hidden from this token: what it does not show may be there.
        return "unknown" if "runners" in facts.unknown else "retired"
    named = [facts.declared_labels[word] for word in words if facts.declared_labels and word in facts.declared_labels]
    if any(not names for names in named):
        return "retired"
    return "alive" if named else "unknown"


def _retired(facts: Facts, names: Sequence[str]) -> PlanFinding:
    said = _labels(names)
    keys = listed(recipe.key for recipe in facts.family if {point.runner for point in recipe.points} & set(names))
    where = _FORGE if facts.runners is not None else "layout.runners"
    none = f"none of {count(len(facts.runners), 'runner')}" if facts.runners else "no runner"
    return PlanFinding(
        check="runners", class_="runner-retired", action="ask", who="maintainer", where=where,
        evidence=f"{none} has {said.en}",
        what=Text(f"no runner has {said.en}, so that a job of {keys or 'this recipe'} would wait for ever",
                  f"没有任何运行器带有{said.zh}，{keys or '该配置'} 的作业将永远等待"),
        next=Text("move the recipe to a label that exists, which makes its whole curve new and is no image bump, or retire it; "
                  "register a runner if the machines are only gone for a while",
                  "请将该配置移至现有标签（其整条曲线将重新测量，不再属于镜像更新）或将其停用；若机器只是暂时离线，请重新注册运行器"),
        release=Release(of="runners", subject=",".join(names),
                        says=Text(f"a runner has {said.en}", f"有运行器带有{said.zh}")))


def _asleep(names: Sequence[str]) -> PlanFinding:
    said = _labels(names)
    return PlanFinding(
        check="runners", class_=None, action="note", who="operator", where=_FORGE,
        evidence=f"every runner with {said.en} is offline",
        what=Text(f"every runner with {said.en} is offline at this moment", f"带有{said.zh} 的运行器目前全部离线"),
        next=Text("start the runner's service on its machine; jobs wait until then",
                  "请在机器上启动运行器服务；在此之前作业将一直等待"))


def _labels(names: Sequence[str]) -> Text:
    """What jobs ask for: one label, several that one runner must have together, or several such sets."""
    sets = [apart(name) for name in names]
    word = "label" if all(", " not in one for one in sets) and len(sets) == 1 else "labels"
    return Text(f"the {word} {joined(sets, ' or ')}", f"标签 {joined(sets, ' 或 ')}")
