"""The end: say why, stop what runs, see it terminal, put the pull request away, say the last words."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from bot.decide import report
from bot.decide.findings import outcome_of
from bot.decide.findings import why as why_of
from bot.decide.people import sweep_labels, taken_by_person
from bot.decide.progress import sweep_slot
from bot.decide.runs import LISTING, failed_jobs, gates_hold, starting
from bot.decide.say import say
from bot.model.action import Action, Cancel, ClosePull, Keep, Remember, SetDraft, Unlabel
from bot.model.bump import Bump, Ended, Wanted
from bot.model.finding import PlanFinding
from bot.model.outcome import ENDINGS, Cause, Outcome
from bot.model.run import Run
from bot.model.text import Text

CONFLICT = Text("The head conflicts with the default branch outside the changelog; only a maintainer can say which text is right.",
                "该分支与默认分支在变更日志以外存在冲突，只有维护者能判断应保留哪一份内容。")

BROKEN = Text("The changelog of the default branch breaks its own rules, so nothing may be appended to it; a maintainer must mend "
              "it there first.", "默认分支的变更日志不符合其自身规则，因此不能在其后追加条目，须先由维护者在默认分支上修正。")
REFUSED = Text("The repository refused the commit that holds the changelog entry: by a rule for this branch, or for a permission "
               "that the bot lacks. An operator must look at both.",
               "仓库拒绝了包含变更日志条目的提交：该分支设有规则，或机器人缺少权限。需由运维人员检查这两项。")
PUSHED_AGAIN = Text("The tag {0} was pushed again while it was under test: it held {1}, and it holds {2} now.",
                    "标签 {0} 在测试期间被重新推送：原先指向 {1}，现在指向 {2}。")
OVERRUN = Text("The runs hold more GPU-hours than the cap of this bump allows, so what still ran was stopped.",
               "各次运行占用的 GPU 小时已超过本次升级的上限，因此仍在进行的运行已被停止。")

# So long an archive that does not answer is asked again at each wake; after that the last words say that nothing was kept.
PATIENCE = timedelta(hours=6)


def prevented(bump: Bump, found: tuple[PlanFinding, ...]) -> tuple[Action, ...]:
    """What files alone decided: before anything was opened it is only remembered, and after that told and put away."""
    return end(bump, outcome_of(found), Cause.NONE, why=Text(*why_of(found)), found=found)


def end(bump: Bump, outcome: Outcome, cause: Cause, *, why: Text | None = None, run: int | None = None,
        wanted: Wanted | None = None, forecast: float | None = None, successor: str | None = None,
        by: str | None = None, step: str | None = None, found: tuple[PlanFinding, ...] = ()) -> tuple[Action, ...]:
    """Decides the outcome: told first, then remembered; the cleaning up is the next look's. `step` is what the `forecast` would
    have paid for, `found` what files said. Where nothing was opened there is nobody to tell, and nothing to clean up."""
    ended = Ended(outcome=outcome, cause=cause, at=bump.now, why=why, run=run, wanted=wanted, forecast=forecast,
                  successor=successor, by=by, step=step, found=found)
    told = () if ENDINGS[outcome].pull != "close" or not bump.memory.heads else say(bump, "stop", report.stop(bump, ended))
    return (*told, Remember(fact=ended))


def taken(bump: Bump, outcome: Outcome) -> tuple[Action, ...]:
    """A person acted: what we own is stopped, what is theirs is left as they made it."""
    return end(bump, outcome, Cause.PERSON)


def superseded(bump: Bump, digest: str) -> tuple[Action, ...]:
    """The tag was pushed again: the image under test is no longer what it names, and what it names now is the next candidate."""
    new = bump.subject.candidate.new
    name = new.reference.text.partition("@")[0]
    why = Text(PUSHED_AGAIN.en.format(name, new.digest, digest), PUSHED_AGAIN.zh.format(name, new.digest, digest))
    return end(bump, Outcome.SUPERSEDED, Cause.NONE, why=why, successor=f"{name}@{digest}")


def overrun(bump: Bump, run: Run) -> tuple[Action, ...]:
    """What runs has cost more than it was forecast to, and more than there is: waiting for it would spend without end."""
    return end(bump, Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, why=OVERRUN, run=run.id)


def blocked(bump: Bump) -> tuple[Action, ...]:
    """A conflict outside the changelog is a question of what the recipe should say; that is not ours to answer."""
    return end(bump, Outcome.UNCERTAIN, Cause.NONE, why=CONFLICT)


def barred(bump: Bump, by: Literal["changelog", "repository"]) -> tuple[Action, ...]:
    """Where our entry cannot go no sweep can start, and trying again at each wake changes nothing: whose matter it is, is told."""
    if by == "changelog":
        return end(bump, Outcome.UNCERTAIN, Cause.NONE, why=BROKEN)
    return end(bump, Outcome.READINESS_BLOCKED, Cause.NONE, why=REFUSED)


def finishing(bump: Bump, ended: Ended) -> tuple[Action, ...]:
    """Stops our runs and takes the label off; once every run is seen terminal, puts the pull request away.

    Taking a label off can start a run of its own (the seed's fifth run), so the label goes first and is waited for; so
    is a run that was asked for a moment ago and is not listed yet, or it would hold its GPUs with nobody looking.
    """
    alive = [run.id for run in bump.world.runs if not run.terminal] + _unlisted(bump, ended)
    labels = () if _theirs(bump, ended) else tuple(Unlabel(name=name) for name in sweep_labels(bump))
    if alive or labels:
        told = () if bump.told("finishing") else say(bump, "finishing", report.finishing(bump, ended))
        return (*told, *(Cancel(run=run) for run in alive), *labels)
    if starting(bump):
        return ()
    if bump.memory.evidence is None and bump.now - _over(bump, ended) < PATIENCE:
        return (Keep(),)
    theirs = _theirs(bump, ended)
    status = say(bump, "status", report.status(bump, about="over", by=None)) if bump.told("status") else ()
    return (*_last_look(bump), *_away(bump, ended), *status, *say(bump, "final", report.last_words(bump, ended, theirs=theirs)))


def _over(bump: Bump, ended: Ended) -> datetime:
    """When the last of it was over: its outcome, or the last of its runs."""
    return max([ended.at, *(run.ended for run in bump.world.runs if run.ended)])


def _theirs(bump: Bump, ended: Ended) -> bool:
    """Whether the pull request is a person's now: by the outcome, or because one took it while we were cleaning up."""
    return ENDINGS[ended.outcome].branch == "theirs" or bump.world.pull is None or taken_by_person(bump) is not None


def _unlisted(bump: Bump, ended: Ended) -> list[int]:
    """Runs whose number our dispatch was told and that the forge does not list yet."""
    listed = {run.id for run in bump.world.runs}
    return [run for run in bump.memory.owned if run not in listed] if bump.now - ended.at < LISTING else []


def _last_look(bump: Bump) -> tuple[Action, ...]:
    """The sweep's comment once more: its runs are terminal now, and a reader must not find one that still runs there."""
    slot = sweep_slot(bump)
    runs = [run for run in bump.world.runs if run.stage == "sweep" and bump.judged(run.id)]
    if not runs or bump.told(slot) is None:
        return ()
    run = max(runs, key=lambda run: (run.created, run.id))
    return say(bump, slot, report.sweep(bump, run, passed=not failed_jobs(run) and gates_hold(bump, run)))


def _away(bump: Bump, ended: Ended) -> tuple[Action, ...]:
    pull, ending = bump.world.pull, ENDINGS[ended.outcome]
    if pull is None or _theirs(bump, ended) or ending.pull == "leave":
        return ()
    if ending.pull == "ready":
        return (SetDraft(draft=False, head=pull.head),) if pull.draft else ()
    draft = () if pull.draft else (SetDraft(draft=True, head=pull.head),)
    return (*draft, ClosePull())
