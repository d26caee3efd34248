"""What a frozen baseline says against a plan, as findings: points nobody can compare, evals that are another test by now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from bot.model.finding import PlanFinding
from bot.model.result import Baseline
from bot.model.text import Text

_ASK = Text("say whether these points were dropped on purpose: nothing is compared there",
            "请确认这些测点是否有意移除：这些测点不作任何比较")
_OTHER = Text("say whether the bump may go on with nothing to compare, or give `baselines` points of this configuration",
              "请确认是否可在没有可比数据的情况下继续，或在 `baselines` 中提供该配置的测点")
_EVAL = Text("take the gate alone for this eval, or have the old image's score measured the same way",
             "该评测仅以门槛为准，或以同样方式测出旧镜像的得分")
_NEW = Text("expect no comparison there: it is measured and gates, and is the next bump's baseline",
            "此处没有可比数据：照常测量并作为门槛，结果将成为下一次更新的基线")
_SOURCE = Text("correct `baselines` in the layout, or put there what was measured; until then nothing is compared with it",
               "请修正布局中的 `baselines`，或将测量结果放入其中；在此之前不与其作任何比较")
_LEDGER = Text("mend that file in the ledger, or remove it: it is the bot's own memory",
               "请修复或删除账本中的该文件：它是机器人自己的记录")
# A note of the baseline -> (class, action, what to do about it). Notes that are not here are told and ask for nothing.
_FINDINGS: dict[str, tuple[str | None, Literal["ask", "note"], Text]] = {
    "points-gone": ("baseline-gap", "ask", _ASK),
    "configuration-gone": ("baseline-gap", "ask", _ASK),
    "points-new": (None, "note", _NEW),
    "eval-not-comparable": (None, "note", _EVAL),  # a reason and no finding that waits (DESIGN, Verdict)
    "eval-new": (None, "note", _NEW),
    "eval-size-changed": (None, "note", _EVAL),
    "eval-threshold-changed": (None, "note", _EVAL),
    "folder-empty": (None, "ask", _SOURCE),
    "result-unreadable": (None, "ask", _LEDGER),
}
# What a note says, for people; a value behind it is safe to show.
_SAYS: dict[str, Text] = {
    "points-gone": Text("the baseline holds points that the recipe does not generate any more", "基线中有该配置已不再生成的测点"),
    "configuration-gone": Text("the baseline holds a configuration that the recipe does not generate any more",
                               "基线中有该配置已不再生成的整组测点"),
    "points-new": Text("points of the recipe were never published with the present image", "部分测点从未以当前镜像发布过"),
    "eval-not-comparable": Text("a published eval is not selected any more", "已发布的某项评测不再被选用"),
    "eval-new": Text("an eval is selected that was not published", "选用了一项此前未发布过的评测"),
    "eval-size-changed": Text("an eval asks another number of questions than it did", "某项评测的题目数量已改变"),
    "eval-threshold-changed": Text("an eval is held to another threshold than it was", "某项评测的门槛已改变"),
    "folder-empty": Text("the folder of baselines holds nothing that can be read", "基线文件夹中没有可读取的内容"),
    "result-unreadable": Text("a result in the ledger cannot be read", "账本中的某个结果无法读取"),
    "other-configuration": Text("the present image is published with another configuration only", "当前镜像仅以另一种配置发布过"),
    "other-topology": Text("the present image is published with another topology only", "当前镜像仅以另一种拓扑发布过"),
}


def findings(baseline: Baseline | None, missing: str | None = None) -> tuple[PlanFinding, ...]:
    """The findings of a frozen baseline, in the order of its notes, then one for each reason for which points have none.
    Without one, `missing` says why: what was published with this image of another configuration is a gap of its own."""
    if baseline is None:
        word = missing.partition(":")[0] if missing else ""
        if word in ("folder-empty", "result-unreadable"):
            return (PlanFinding(check="roster", class_=None, action="ask", evidence=missing or "", where="baselines",
                                next=_FINDINGS[word][2], who=_who(word), what=_says(missing or "")),)
        gap = word in ("other-configuration", "other-topology")
        return (PlanFinding(check="roster", class_="baseline-gap", action="ask", evidence=missing or "", where="baselines",
                            next=_OTHER, who="maintainer", what=_says(missing or "")),) if gap else ()
    return tuple(_told(baseline))


def _told(baseline: Baseline) -> Iterator[PlanFinding]:
    for note in baseline.notes:
        found = _FINDINGS.get(note.partition(":")[0])
        if found:
            class_, action, todo = found
            yield PlanFinding(check="roster", class_=class_, action=action, evidence=note, where=_where(baseline), next=todo,
                              who=_who(note.partition(":")[0]), what=_says(note))
    reasons = dict.fromkeys(one.why for one in baseline.absent if one.why != "not-published")
    for why in reasons:
        points = [f"{one.point.topology or one.point.recipe} c{one.point.concurrency}" for one in baseline.absent if one.why == why]
        yield PlanFinding(check="roster", class_=None, action="note", evidence=f"{why}: {', '.join(points)}",
                          where=_where(baseline), next=_NEW, who="bot", what=_says(why))


def _who(word: str) -> Literal["bot", "maintainer", "operator"]:
    if word == "result-unreadable":
        return "operator"
    return "maintainer" if _FINDINGS[word][1] == "ask" else "bot"


def _says(note: str) -> Text | None:
    word, _, value = note.partition(":")
    # A topology (`2P(TP8) x 1D(TP8/EP8) 1k1k`) has blanks and brackets of our own.
    said, shown = _SAYS.get(word), re.sub(r"[^A-Za-z0-9_.:/+() -]+", "_", value.strip())[:120]
    return Text(f"{said.en}: {shown}", f"{said.zh}：{shown}") if said and shown else said


def _where(baseline: Baseline) -> str:
    return f"{baseline.source} of {baseline.date}" + (f", run {baseline.run}" if baseline.run else "")
