"""What certifies a sweep against what its jobs will run: a whole green sweep was lost because the manifest declared one eval and
the jobs of the generated matrix ran another (#2953)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.finding import Checked, PlanFinding, Release
from bot.model.preflight import Certified, Facts, Job
from bot.model.text import Text
from bot.preflight.words import count, listed, safe, unknown


def check(facts: Facts) -> Checked:
    """Before the label, by the rules of the default branch. An eval that the rules expect and no job runs stops; one that runs
    under an unknown harness is not known."""
    if facts.certified is None:
        return unknown(facts, "certify", "not-told")
    ours = {recipe.key for recipe in facts.family}
    rules = [one for one in facts.certified if one.recipe in ours]
    jobs = [job for job in facts.jobs if job.task or job.framework]
    if rules and not jobs:
        return unknown(facts, "certify", "no-evals")
    found = [made for one in rules if (made := _finding(one, _jobs(one, jobs)))]
    open_ = not found and any(one.framework and any(job.task == one.task and not job.framework for job in jobs) for one in rules)
    return Checked(check="certify", findings=tuple(found),
                   unknown=unknown(facts, "certify", "no-evals").unknown if open_ else None,
                   about=Text(f"{count(len(rules), 'eval')} to certify the sweep, {count(len(jobs), 'eval job')}",
                              f"{len(rules)} 项认证评测，{len(jobs)} 个评测作业"))


def _jobs(rule: Certified, jobs: Sequence[Job]) -> list[Job]:
    """Those of the rule's recipe; a guest picks evals over a whole family, where one recipe's may stand for another's."""
    own = [job for job in jobs if job.recipe == rule.recipe]
    return own or (list(jobs) if rule.points is None else [])


def _finding(rule: Certified, jobs: Sequence[Job]) -> PlanFinding | None:
    fitting = [job for job in jobs if _fits(rule, job)]
    short = rule.points is not None and len(fitting) < rule.points
    if fitting and not short:
        return None
    wanted = safe(f"{rule.framework}/{rule.task}" if rule.framework else rule.task)
    runs = listed(f"{job.framework}/{job.task}" if job.framework else job.task for job in jobs) or "-"
    expect, get = Text(f"expect {wanted}", f"要求 {wanted}"), Text(f"run {runs}", f"运行的是 {runs}")
    release = Text(f"run {wanted}", f"运行 {wanted}")
    if fitting and rule.points is not None:
        places = count(rule.points, "point")
        expect = Text(f"expect {wanted} on {places}", f"要求在 {rule.points} 个测点上运行 {wanted}")
        get = Text(f"bring it on {len(fitting)}", f"仅在 {len(fitting)} 个测点上运行")
        release = Text(f"run {wanted} on {places}", f"在 {rule.points} 个测点上运行 {wanted}")
    many = f"{len(fitting)} of {count(rule.points, 'job')}" if rule.points is not None else count(len(fitting), "job")
    return PlanFinding(
        check="certify", class_="shared-ci-bug", action="stop", who="maintainer", where=rule.at or "preflight.certify",
        evidence=f"{safe(rule.recipe)}: {many} for {wanted}; {count(len(jobs), 'eval job')} in all: {runs}",
        what=Text(f"the sweep would not be certified: the rules {expect.en}, and the jobs of {safe(rule.recipe)} {get.en}",
                  f"扫描将无法通过认证：规则{expect.zh}，而 {safe(rule.recipe)} 的作业{get.zh}"),
        next=Text(f"make the jobs {release.en}, or correct the certifying rules on the default branch, before the sweep's label",
                  f"请在添加扫描标签之前，让作业{release.zh}，或修正默认分支上的认证规则"),
        release=Release(of="certify", subject=f"{rule.recipe} {rule.framework}/{rule.task}",
                        says=Text(f"the jobs of {safe(rule.recipe)} {release.en}", f"{safe(rule.recipe)} 的作业{release.zh}")))


def _fits(rule: Certified, job: Job) -> bool:
    return job.task == rule.task and (not rule.framework or not job.framework or job.framework == rule.framework)
