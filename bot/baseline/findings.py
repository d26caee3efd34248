"""What a frozen baseline says against a plan, as findings: points nobody can compare, evals that are another test by now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from bot.model.finding import PlanFinding
from bot.model.result import Baseline
from bot.model.text import Text

_ASK = Text("say whether these points were dropped on purpose: nothing is compared there",
            "请确认这些测点是否有意移除：这些测点不作任何比较")
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


def findings(baseline: Baseline | None, missing: str | None = None) -> tuple[PlanFinding, ...]:
    """The findings of a frozen baseline, in the order of its notes, then one for each reason for which points have none.
    Without one, `missing` says why: what was published with this image of another configuration is a gap of its own."""
    if baseline is None:
        word = missing.partition(":")[0] if missing else ""
        if word in ("folder-empty", "result-unreadable"):
            return (PlanFinding(check="roster", class_=None, action="ask", evidence=missing or "", where="published points",
                                next=_FINDINGS[word][2], who=_who(word)),)
        gap = word in ("other-configuration", "other-topology")
        return (PlanFinding(check="roster", class_="baseline-gap", action="ask", evidence=missing or "", where="published points",
                            next=_ASK, who="maintainer"),) if gap else ()
    return tuple(_told(baseline))


def _told(baseline: Baseline) -> Iterator[PlanFinding]:
    for note in baseline.notes:
        found = _FINDINGS.get(note.partition(":")[0])
        if found:
            class_, action, todo = found
            yield PlanFinding(check="roster", class_=class_, action=action, evidence=note, where=_where(baseline), next=todo,
                              who=_who(note.partition(":")[0]))
    reasons = dict.fromkeys(one.why for one in baseline.absent if one.why != "not-published")
    for why in reasons:
        points = [f"{one.point.topology or one.point.recipe} c{one.point.concurrency}" for one in baseline.absent if one.why == why]
        yield PlanFinding(check="roster", class_=None, action="note", evidence=f"{why}: {', '.join(points)}",
                          where=_where(baseline), next=_NEW, who="bot")


def _who(word: str) -> Literal["bot", "maintainer", "operator"]:
    if word == "result-unreadable":
        return "operator"
    return "maintainer" if _FINDINGS[word][1] == "ask" else "bot"


def _where(baseline: Baseline) -> str:
    return f"{baseline.source} of {baseline.date}" + (f", run {baseline.run}" if baseline.run else "")
