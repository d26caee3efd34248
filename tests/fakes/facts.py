"""Facts of a bump in the making: a story is told by changing one thing at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from bot.model.bump import Bump, Evidence, Head, JobFailure, Judged, Memory, Plan, Subject, Wanted, World
from bot.model.forge import Labelling, Pull
from bot.model.image import Candidate, Platform, Reference, Resolved
from bot.model.recipe import EvalSpec, KeyChange, Point, Recipe, Scope, Site
from bot.model.result import Filed, Verdict
from bot.model.rules import Limits, Rules, Smoke, Sweep
from bot.model.run import Job, Run, Triage
from bot.model.text import Text
from bot.recipe import matrix

START = datetime(2026, 9, 10, 6, 40, tzinfo=UTC)
PROPOSAL, REPAIR, ENTRY, SYNC = (letter * 40 for letter in "abcd")
BASE, MOVED = "0" * 40, "1" * 40
ME = "bumpbot[bot]"
LABEL = "full-sweep-enabled"
KEPT = Evidence(filed=Filed(name="evidence.zip", size=23_456_789, sha256="e" * 64), files=31)


def later(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def resolved(tag: str) -> Resolved:
    digest = "sha256:" + tag.encode().hex().ljust(64, "0")[:64]
    reference = Reference(text=f"vllm/vllm-openai:{tag}", registry="docker.io", repository="vllm/vllm-openai", tag=tag)
    return Resolved(reference=reference, kind="index", digest=digest, created=START,
                    platforms=(Platform(os="linux", architecture="arm64", digest=digest, size=1),))


def point(kind: str, concurrency: int) -> Point:
    eval_ = EvalSpec(task="gsm8k", threshold=0.9) if kind == "eval" else None
    return Point(id=f"{kind}-{concurrency}", recipe="r", kind=kind, image="old", hardware="gb200", gpus=16, topology="TP16",
                 workload="agentic", concurrency=concurrency, runner="gb200", fingerprint="f", eval=eval_)


def smoke(*stages: str) -> tuple[Point, ...]:
    """The points of the smoke of `subject()`, stage by stage."""
    return matrix.smoke([*(point("throughput", c) for c in (1, 2, 4)), point("eval", 4)], sample=50, stages=stages)


STAGED = ("evals", "lowest", "highest")


def subject(**changed: object) -> Subject:
    recipe = Recipe(key="r", file="configs/master.yaml", image="vllm/vllm-openai:old", model="m", hardware="gb200",
                    framework="vllm", precision="fp4", linked=("recipes/r.yaml",),
                    sites=(Site(file="configs/master.yaml", line=2, path="r.image", value="vllm/vllm-openai:old"),),
                    points=(*(point("throughput", c) for c in (1, 2, 4)), point("eval", 4)))
    made = Subject(
        family=(recipe,),
        candidate=Candidate(old=resolved("old"), new=resolved("new"), text="vllm/vllm-openai:new"),
        plan=Plan(title=Text("t", "t"), sites=recipe.sites, scope=Scope(changed_rows=4, other_rows_changed=0, only_image=True), diff="",
                  missing_baseline="not-published", smoke=smoke("trim")),
        rules=Rules(smoke=Smoke(workflow="smoke.yml", ref="main", inputs={"ref": "{head}", "test-name": "{nonce}"}),
                    sweep=Sweep(workflow="sweep.yml", label=LABEL), branch="bumpbot/b", base="main", changelog=True),
        limits=Limits(gpu_hours=1000.0),
    )
    return replace(made, **changed)


def pull(head: str, **changed: object) -> Pull:
    made = Pull(number=7, url="u", title="t", body="", head=head, branch="bumpbot/b", base="main", author=ME, draft=True,
                open=True, merged=False, mergeable=True, labels=())
    return replace(made, **changed)


def job(number: int, *, role: str = "throughput", concurrency: int = 1, conclusion: str | None = "success",
        status: str = "completed", attempt: int = 1, minutes: float = 60.0) -> Job:
    done = status == "completed"
    return Job(id=number, name=f"{role} c{concurrency}", attempt=attempt, status=status, conclusion=conclusion if done else None,
               started=START if status != "queued" else None, completed=later(minutes) if done else None, gpus=16,
               role=role, concurrency=concurrency)


def run(number: int, stage: str, head: str, *jobs: Job, status: str = "completed", conclusion: str | None = "success",
        attempt: int = 1, reason: str = "dispatch", minutes: float = 0.0, step: int = 1) -> Run:
    return Run(id=number, step=step, attempt=attempt, workflow=f"{stage}.yml", event="workflow_dispatch" if stage == "smoke" else "pull_request",
               head=head, stage=stage, reason=reason, status=status, conclusion=conclusion if status == "completed" else None,
               created=later(minutes), jobs=jobs)


def failure(of: Job, class_: str | None, cause: str = "why") -> JobFailure:
    return JobFailure(job=of.name, attempt=of.attempt, role=of.role, concurrency=of.concurrency, minutes=25.0,
                      triage=Triage(class_=class_, signature=class_, cause=Text(cause, cause)))


def judged(of: Run, *failures: JobFailure, verdict: str | None = None) -> Judged:
    return Judged(run=of.id, head=of.head, seen=tuple(job.id for job in of.jobs), failures=failures,
                  verdict=Verdict(verdict=verdict) if verdict else None)


def wanted(of: Run, *, available: bool = True, id_: str = "native-chat-processor") -> Wanted:
    edit = KeyChange(file="recipes/r.yaml", path=("frontend", "args", "x"), old="vllm", new=None, guard=("frontend", "args", "x"), guarded="vllm")
    return Wanted(id=id_, run=of.id, why=Text("why", "why"), available=available, edits=(edit,))


def heads(*whys: str) -> tuple[Head, ...]:
    """Heads of ours in order; a proposal and a sync stand on the default branch's tip."""
    shas = {"proposal": PROPOSAL, "repair": REPAIR, "changelog": ENTRY, "sync": SYNC}
    return tuple(Head(sha=shas[why], why=why, at=START, repair="native-chat-processor" if why == "repair" else None,
                      contains_base=BASE) for why in whys)


def bump(*whys: str, runs: tuple[Run, ...] = (), judgements: tuple[Judged, ...] = (), changelog: str | None = None,
         labels: tuple[str, ...] = (), labelled_by: str = ME, now: float = 0.0, memory: dict | None = None,
         world: dict | None = None, pull_: dict | None = None, **changed: object) -> Bump:
    """A bump whose branch holds these heads; the changelog follows from them unless said otherwise."""
    made = heads(*whys)
    entered = bool({"changelog", "sync"} & set(whys))
    opened = pull(made[-1].sha, labels=labels, **(pull_ or {})) if made else None
    said = tuple(Labelling(label=label, by=labelled_by, at=START, added=True) for label in labels)
    facts = {"pull": opened, "base_tip": BASE, "runs": runs, "labellings": said, "me": ME,
             "changelog": changelog or ("present" if entered else "absent"), **(world or {})}
    return Bump(id="b", now=later(now), subject=subject(**changed), world=World(**facts),
                memory=Memory(heads=made, judged=judgements, **(memory or {})))
