"""Whether the candidate, and each part pinned beside it, holds the changes that it must and none that it must not; and which
carried patches it makes needless (#2930: the fix came after the regression: no image could fit, and two sweeps were run)."""

from __future__ import annotations

from collections.abc import Iterator

from bot.model.finding import Checked, PlanFinding, Release, Who
from bot.model.preflight import Facts
from bot.model.text import Text
from bot.model.upstream import CarriedHeld, Change, Contained, Held
from bot.preflight.words import count, joined, mended, safe, unknown

_HAS = {"must-have": Text("does not contain", "不包含"), "must-not-have": Text("contains", "包含")}
_WANTED = {"must-have": Text("must be there", "必须包含"), "must-not-have": Text("must not be there", "不得包含")}


def check(facts: Facts) -> Checked:
    """Over what `upstream.contains` made of every published tag and pin."""
    if facts.contained is None and not facts.carried:
        return unknown(facts, "contains")
    pins = {pin.name for pin in facts.uses.pins}
    told = facts.contained or ()
    found = [finding for one in told if (finding := _finding(one, one.of in pins, facts)) is not None]
    found += [_patch(one) for one in facts.carried if one.holds]
    open_ = list(_open(told))
    held = mended(facts, "contains", found, lambda subject: subject.rpartition(" ")[2] in _unsettled(told))
    asked = sum(len(one.candidate.held) for one in told if one.candidate)
    return Checked(check="contains", findings=tuple(found), about=Text(
        f"{count(asked, 'upstream change')} wanted or forbidden", f"{asked} 项必须包含或不得包含的上游变更"),
        unknown=Text(f"nobody can tell whether it holds {joined(one.en for one in open_)}",
                     f"无法得知其是否包含 {joined((one.zh for one in open_), '、')}") if open_ else None, held=held)


def _unsettled(told: tuple[Contained, ...]) -> set[str]:
    """Changes that are still not as they must be, whatever else may fit by now, or of which nobody knows."""
    return {held.change.text for one in told if one.candidate is not None for held in one.candidate.held
            if held.holds is None or held.holds != (held.change.wanted == "must-have")}


def _finding(one: Contained, pin: bool, facts: Facts) -> PlanFinding | None:
    """Only what is known to be wrong is a finding: nobody stops for what nobody knows."""
    if one.candidate is None or one.candidate.fits is not False:
        return None
    wrong = [held for held in one.candidate.held if held.holds is not None and held.holds != (held.change.wanted == "must-have")]
    name, who = safe(one.candidate.name), _who(one, pin, facts)
    what = Text("; ".join(f"{name} {_HAS[held.change.wanted].en} {_named(held.change).en}, which {_WANTED[held.change.wanted].en}"
                          for held in wrong),
                "；".join(f"{name} {_HAS[held.change.wanted].zh} {_named(held.change).zh}，而该变更{_WANTED[held.change.wanted].zh}"
                         for held in wrong))
    fits = one.best is not None and one.best != one.candidate.name
    return PlanFinding(check="contains", class_="engine-regression", action="repair-first" if fits else "stop",
                       evidence=_evidence(one, wrong), where=_where(one, wrong), next=_next(one, pin, wrong), who=who, what=what,
                       release=None if fits else _release(one, wrong))


def _next(one: Contained, pin: bool, wrong: list[Held]) -> Text:
    if one.best is not None:
        best = safe(one.best)
        return (Text(f"move the pin {safe(one.of)} to {best}", f"将固定的 {safe(one.of)} 改为 {best}") if pin
                else Text(f"take the image {best}, the newest that fits", f"改用镜像 {best}，这是满足要求的最新版本"))
    if one.clash and len(one.clash) == 1:
        named = _named(wrong[0].change)
        return Text(f"no published tag fits: wait for one that does, or let a person drop the wish ({named.en})",
                    f"已发布的标签均不满足：请等待满足要求的新标签，或由人员放弃该要求（{named.zh}）")
    if one.clash:
        return Text("no published tag fits them all: wait for one that does, or let a person drop one of these wishes",
                    "没有已发布的标签能同时满足：请等待满足要求的新标签，或由人员放弃其中一项要求")
    return Text("no published tag is known to fit: wait for one that does", "没有已知满足要求的标签：请等待新标签发布")


def _evidence(one: Contained, wrong: list[Held]) -> str:
    """In words of tags, which hold what; captures alone, for it is shown in a pull request."""
    if one.clash:
        return "; ".join(one.clash)
    return "; ".join(f"{held.change.wanted} {_named(held.change).en}: {'held' if held.holds else 'not held'} by {held.by}"
                     f"{f' ({held.commit[:12]})' if held.commit else ''}" for held in wrong)


def _where(one: Contained, wrong: list[Held]) -> str:
    commit = (one.candidate.commit or "")[:12] if one.candidate else ""
    return f"{wrong[0].change.repository} {commit}".strip()


def _release(one: Contained, wrong: list[Held]) -> Release:
    return Release(of="contains", subject=f"{one.of} {wrong[0].change.text}", says=Text(
        f"a tag of {safe(one.of)} is published that fits", f"{safe(one.of)} 发布了满足要求的标签"))


def _who(one: Contained, pin: bool, facts: Facts) -> Who:
    """A pin of a file in scope and another image are the maintainer's to choose; where nothing fits, upstream moves."""
    owned = any(each.owned for each in facts.uses.pins if each.name == one.of)
    if one.best is None:
        return "upstream"
    return "maintainer" if owned or not pin else "operator"


def _patch(one: CarriedHeld) -> PlanFinding:
    """A patch that the image brings by itself: applied once more it fails, or does nothing."""
    named = ", ".join(_named(held.change).en for held in one.held)
    named_zh = "、".join(_named(held.change).zh for held in one.held)
    place = one.carried.at
    at = safe(place.file if one.carried.patch_id or place.file.endswith((".diff", ".patch")) else place.text)
    seen = ", ".join(f"{(held.commit or '')[:12]} by {held.by}" for held in one.held)
    return PlanFinding(check="contains", class_=None, action="note", evidence=seen, where=one.carried.at.text, who="maintainer",
                       what=Text(f"the image holds what the patch {at} brings ({named})",
                                 f"镜像已包含补丁 {at} 的内容（{named_zh}）"),
                       next=Text(f"drop the patch {at}", f"移除补丁 {at}"))


def _open(told: tuple[Contained, ...]) -> Iterator[Text]:
    for one in told:
        if one.candidate is None:
            yield Text(f"the wanted changes of {safe(one.of)}", f"{safe(one.of)} 的相关变更")
        else:
            yield from (_named(held.change) for held in one.candidate.held if held.holds is None)


def _named(change: Change) -> Text:
    """In words: a number with its repository would be a link there, and a notice to its people."""
    where = safe(change.repository)
    if change.pull:
        return Text(f"pull request {change.pull} of {where}", f"{where} 的拉取请求 {change.pull}")
    commit = safe((change.commit or change.patch_id or "")[:12])
    word, word_zh = ("commit", "提交") if change.commit else ("a patch", "补丁")
    return Text(f"{word} {commit} of {where}", f"{where} 的{word_zh} {commit}")
