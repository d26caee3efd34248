"""Own history: what earlier bumps found out about this candidate and recipe, or about its siblings. A blocker is re-checked by the
check that would find it again; what nobody can look at has not changed (#2981 was #2951 again, a day later)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from bot.images.alike import alike
from bot.model.finding import Act, Check, Checked, PlanFinding, Who
from bot.model.memory import Lesson
from bot.model.outcome import Outcome
from bot.model.preflight import Facts
from bot.model.text import Text
from bot.preflight.words import count, unknown

STALE = timedelta(days=30)
"""For so long a blocker that nobody can look at stops the next try; after that a person is asked, or it would block for ever."""
# These change by the hour and say nothing of an image: where nobody can look, nothing is known of them, and nothing stops.
_TRANSIENT = ("capacity", "identity", "runners", "overlap")
_GOOD = (Outcome.VALIDATED, Outcome.MERGED)
_WRONG = (Outcome.FAILED, Outcome.REGRESSED, Outcome.INCOMPATIBLE)
_WAIT = Text("wait until the blocker is seen to be gone: {0}", "待确认阻塞条件已解除后再试：{0}")
_ASK = Text("say whether it is worth another try: this image failed here before", "请确认是否值得再试：该镜像此前在此配方上失败过")
_TOLD = Text("nothing is to be done; it is told so that nobody looks for it twice", "无需处理；仅作记录，以免重复排查")
_NEVER = Text("a person says so", "由人员确认")


def history(facts: Facts, made: Mapping[Check, Checked]) -> Checked:
    """What memory says of the same candidate and recipe, newest first, then of siblings; `made` are the other checks, as they were
    made on the same facts: they tell whether a blocker is still there."""
    if "history" in facts.unknown and not facts.lessons:
        return unknown(facts, "history")
    mine = _same(facts)
    found = [*_own(facts, mine, made), *_siblings(facts)]
    about = Text(f"{count(len(facts.lessons), 'lesson')} of earlier bumps", f"既往升级的 {len(facts.lessons)} 条经验")
    return Checked(check="history", findings=tuple(found), about=about)


def newest(lessons: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """The lessons of the newest bump among them."""
    last = max(lessons, key=lambda one: one.at, default=None)
    return tuple(one for one in lessons if last is not None and (one.bump, one.at) == (last.bump, last.at))


def seen(lesson: Lesson, made: Mapping[Check, Checked]) -> bool | None:
    """Whether a blocker is seen to be gone: its check was made and does not find it again. None: nobody can look."""
    release = lesson.release
    check = made.get(release.of) if release else None
    if release is None or check is None:
        return None
    if release.subject and release.subject in check.held:
        return True
    for one in check.findings:
        again = one.release.subject == release.subject if one.release and release.subject else one.class_ == lesson.class_
        if again and one.action != "note":
            return False
    return True if check.unknown is None else None


def _same(facts: Facts) -> tuple[Lesson, ...]:
    """Those of this candidate and one of these recipes: by digest where both tell one, else by the reference's text."""
    keys, new = {recipe.key for recipe in facts.family}, facts.candidate.new
    mine = (one for one in facts.lessons if keys.intersection(one.recipes))
    return tuple(one for one in mine if (one.digest == new.digest if one.digest and new.digest
                                         else alike(one.image, facts.candidate.text)))


def _own(facts: Facts, mine: Sequence[Lesson], made: Mapping[Check, Checked]) -> Iterator[PlanFinding]:
    last = newest(mine)
    waiting = [one for one in last if one.release is not None]
    for lesson in waiting:
        gone = seen(lesson, made)
        if gone:
            yield _finding(lesson, "note", "released", _TOLD)
        elif gone is None and lesson.release is not None and lesson.release.of in _TRANSIENT:
            yield _finding(lesson, "note", "ended", _TOLD)
        else:
            stale = gone is None and facts.now - lesson.at >= STALE
            says = lesson.release.says if lesson.release else _NEVER
            todo = _ASK if stale else Text(_WAIT.en.format(says.en), _WAIT.zh.format(says.zh))
            yield _finding(lesson, "ask" if stale else "stop", "blocked", todo)
    for lesson in last[:0 if waiting else 1]:
        if lesson.outcome in _GOOD:
            yield _finding(lesson, "note", "validated", _TOLD)
        elif lesson.outcome in _WRONG:
            yield _finding(lesson, "ask", "failed", _ASK)
        else:
            yield _finding(lesson, "note", "ended", _TOLD)


def _siblings(facts: Facts) -> Iterator[PlanFinding]:
    """Another recipe met a moved module with the same engine and one of the same pins: told by its name, once each."""
    keys, told = {recipe.key for recipe in facts.family}, set[str]()
    engine, pins = facts.family[0].framework, {pin.name: pin.version or pin.commit or "" for pin in facts.uses.pins}
    for lesson in sorted(facts.lessons, key=lambda one: one.at, reverse=True):
        pinned = any(value and pins.get(name) == value for name, value in lesson.pins.items())
        if keys.intersection(lesson.recipes) or lesson.class_ != "moved-module" or lesson.engine != engine or not pinned:
            continue
        if lesson.recipes and lesson.recipes[0] not in told:
            told.add(lesson.recipes[0])
            yield _finding(lesson, "note", "sibling", _TOLD)


_SAID: dict[str, Text] = {
    "blocked": Text("The same image was stopped here before ({0}, bump {1}), and what stopped it has not been seen to change",
                    "同一镜像此前已在此受阻（{0}，升级 {1}），且尚未确认阻塞条件已改变"),
    "released": Text("What stopped the same image here before ({0}, bump {1}) is gone",
                     "此前阻塞同一镜像的条件（{0}，升级 {1}）已解除"),
    "validated": Text("The same image was validated here before (bump {1})", "同一镜像此前已在此通过验证（升级 {1}）"),
    "failed": Text("The same image ended here before as {0} (bump {1})", "同一镜像此前在此以 {0} 结束（升级 {1}）"),
    "ended": Text("A bump to the same image ended here before as {0} ({1})", "此前升级至同一镜像的尝试以 {0} 结束（{1}）"),
    "sibling": Text("The sibling {2} with the same pin met a module that the engine had moved (bump {1})",
                    "使用相同固定版本的同类配方 {2} 曾遇到引擎移动模块的问题（升级 {1}）"),
}


def _finding(lesson: Lesson, action: Act, word: str, todo: Text) -> PlanFinding:
    outcome = lesson.outcome.value if lesson.outcome else ""
    about = lesson.class_ or outcome if word in ("blocked", "released") else outcome
    who: Who = "operator" if action == "stop" else "maintainer" if action == "ask" else "bot"
    words = (about, lesson.bump, lesson.recipes[0] if lesson.recipes else "")
    return PlanFinding(
        check="history", class_=lesson.class_, action=action, evidence=lesson.evidence or lesson.signature or about,
        where=f"memory/{lesson.bump}", next=todo, who=who,
        what=Text(_SAID[word].en.format(*words), _SAID[word].zh.format(*words)), release=lesson.release,
    )
