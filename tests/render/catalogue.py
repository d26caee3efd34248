"""A record of every kind and branch, with the figures of the seed where it has them. Names say what each is for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bot import strict
from bot.commands import COMMANDS
from bot.decide import report
from bot.model.bump import Ended, Evidence, Lacking, Update
from bot.model.image import Sight
from bot.model.lines import (
    AgainLine,
    AttemptLine,
    ControlLine,
    FolderLine,
    Follow,
    LackLine,
    ProofLine,
    RefusedLine,
    Regression,
    RunLine,
    StageLine,
    SummaryLine,
    Unpaid,
)
from bot.model.outcome import ENDINGS, Cause, Outcome
from bot.model.record import (
    Answer,
    Attempt,
    CommandLine,
    Contents,
    Finishing,
    LastWords,
    Proposal,
    Record,
    Status,
    Stop,
    Summary,
    SweepReport,
)
from bot.model.text import Text
from bot.render import Renderer
from bot.results import load_metrics
from tests.fakes import facts
from tests.render.collected import collected
from tests.render.figures import (
    BARE,
    BASE_COUNTED,
    BASELINE,
    BLOCK,
    COMPARISONS,
    COUNTED,
    CUT,
    FAILURES,
    GAPS,
    HEAD,
    HOLES,
    INTERIM,
    KEY,
    MASTER,
    MOVED,
    NEW,
    OLD,
    PINNED,
    RECIPE,
    REPAIRED,
    RUNS,
    SCORES,
    SMOKE,
    STATE,
    SYNCED,
    TOOLS,
    WHY,
    at,
)
from tests.render.planned import planned

ROOT = Path(__file__).parents[2]
FORBIDDEN = ("@claude", "@Klaud-Cold", "@pr-claude", "/reuse-sweep-run", "/stage-results", "As a PR reviewer and CODEOWNER")


class _Glossary(Struct, frozen=True, forbid_unknown_fields=True):
    terms: dict[str, Text]


TEMPLATES = {
    path.relative_to(ROOT / "templates").as_posix(): path.read_text(encoding="utf-8") for path in (ROOT / "templates").rglob("*.md")
}
GLOSSARY = strict.load(_Glossary, (ROOT / "bot/knowledge/glossary.yaml").read_text(encoding="utf-8"), file="glossary.yaml").terms
METRICS = load_metrics((ROOT / "bot/knowledge/metrics.yaml").read_text(encoding="utf-8"), file="metrics.yaml")


def renderer(style: str = "full", **changed: object) -> Renderer:
    made: dict = {"style": style, "forbidden": FORBIDDEN, "prefix": "[Klaud Cold]", **changed}
    return Renderer(made.pop("templates", TEMPLATES), made.pop("glossary", GLOSSARY), made.pop("metrics", METRICS), **made)

AGAIN = (
    AgainLine(points=("c16",), why="suspect", metrics=("tput_per_gpu", "itl"), runs=1, gpu_hours=30.4),
    AgainLine(points=("c1", "c2"), why="wide-interval", metrics=("ttft",), runs=3, gpu_hours=58.1),
    AgainLine(points=("c1", "c2"), why="history", metrics=("itl",), history=4, gpu_hours=58.1),
    AgainLine(points=("c4",), why="image-not-proven", runs=1),
    AgainLine(points=("c8",), why="too-few-points"),
    AgainLine(points=("c8",), why="cold-run", runs=1, gpu_hours=0.04),
    AgainLine(points=("c8",), why="a-reason-to-come", runs=1),
)
_RAN = ProofLine(points=("c1", "eval c4"), state="proven", wanted="0.29.0", ran="vLLM 0.29.0")
_SQUASH = "vllm_vllm-openai_v0.29.0.sqsh"
PROOFS = (
    replace(_RAN, state="stale", ran="vLLM 0.27.1", old=True, cache=_SQUASH),
    replace(_RAN, state="stale", ran="vllm/vllm-openai:v0.28.0", why="harness"),
    replace(_RAN, state="stale", ran=""),
    replace(_RAN, state="conflicting", ran="vLLM 0.27.1", old=True, nodes=("2/4",)),
    replace(_RAN, state="unproven", ran="", why="silent"),
    replace(_RAN, state="unproven", ran="SGLang 0.5.19", why="shared"),
    replace(_RAN, state="unproven", why="disagree", other="a/b:v0.5.19"), replace(_RAN, state="unproven", why="disagree"),
    replace(_RAN, state="unproven", ran="vLLM 0.29.0.dev3", why="other-word"),
    replace(_RAN, state="claimed", ran="vllm/vllm-openai:v0.29.0", why="harness"),
    replace(_RAN, state="claimed", ran="SGLang 0.5.14", why="pinned"),
    _RAN,
)
UNPAID = Unpaid(step="sweep", forecast=10.38, left=10.3, cap=11.3)
REFUSED = (RefusedLine(point="c64", why="bench_conc64/rows.jsonl:17: not JSON: look at column 1"),
           RefusedLine(point="mtp c4", why="bmk_`x`: @claude | /reuse-sweep-run"))
WORSE = (
    Regression(metric="tput_per_gpu", concurrency=16, recipe=KEY, old=2300.06, new=1953.2, delta=-0.1508, interval=(-0.18, -0.12)),
    Regression(metric="eval", concurrency=16, recipe=KEY, old=0.97, new=0.91, delta=-0.06, task="gsm8k strict"),
    Regression(metric="ttft", recipe=f"{KEY}-mtp", delta=0.31, interval=(0.2, 0.4)),
)
PROPOSAL = Proposal(
    recipe=KEY, beside=(), engine="dynamo-vllm", old=OLD, new=NEW, text=PINNED, concurrencies=(1, 2, 4, 8, 16),
    evals=("kimi_tool_call_schema",),
    settings={"max-num-seqs": "2", "topology": "TP16/DCP16", "nodes": "4", "gpus": "16", "speculation": "dspark",
              "dynamo": "ba83080",
              "concurrency": "1, 2, 4, 8, 16", "a-setting-to-come": "on"},
    lines_changed=3, files_changed=2, only_image=True, rows_changed=10, rows_by="generator", repushed=datetime(2026, 9, 3, tzinfo=UTC), was=None,
    comparisons=COMPARISONS,
    baseline=BLOCK, missing_baseline=None, state=STATE,
    attempts=(AttemptLine(number=0, head=HEAD, run=34446587513, attempt=1, result="failed", gpu_hours=14.0),
              AttemptLine(number=1, head=REPAIRED, run=34449828534, attempt=2, result="passed", gpu_hours=16.04),
              AttemptLine(number=None, head=SYNCED, run=34461599480, attempt=1, result="running", gpu_hours=0.0),
              AttemptLine(number=2, head=SYNCED, run=None, attempt=None, result="waiting", gpu_hours=0.0)),
    notes=(Text(en="2 other recipes run this image already", zh="另有 2 个配方已使用该镜像"),),
)
STAGED = (
    StageLine(number=1, name="evals", points=("eval c16",), command="test-config --evals-only", result="passed", run=7, sample=50),
    StageLine(number=2, name="lowest", points=("c1",), command=None, result="running", run=8),
    StageLine(number=3, name="highest", points=(), command=None, result="waiting"),
)
INITIAL = Attempt(
    number=0, of=5, text=PINNED, head=HEAD, lines_changed=3, files=(MASTER, RECIPE), changes=(), kept=(), why=None,
    serving_path_changed=False,
    siblings=(), runs=(RUNS[0],),
    stages=(StageLine(number=1, name="trim", points=("c1", "eval c1"), result="failed", run=RUNS[0].id,
                      command=f"test-config --config-files {MASTER} --config-keys {KEY} --trim-conc"),),
    comparisons=COMPARISONS,
    failures=FAILURES, table=None, scores=(), accounting=(), baseline_accounting=(), warnings={}, next="repair", passed=False,
    new=NEW,
)
REPAIR = replace(
    INITIAL, number=1, head=REPAIRED, files=(RECIPE,), changes=('frontend.args.dyn-chat-processor: dropped (was "vllm")',
                                                                "a.b: 1 -> 2"),
    kept=("router-mode: random",), why=WHY, serving_path_changed=True, siblings=("recipes/gb300.yaml: -",), runs=(RUNS[1],),
    comparisons=(),
    failures=(FAILURES[2],), table=SMOKE, scores=TOOLS, accounting=COUNTED, baseline_accounting=BASE_COUNTED,
    warnings={"kimi_k3_incomplete_call": 74, "another": 1}, next="sweep", passed=True, new=None, repair="native-chat-processor",
)
SWEEP = SweepReport(
    head=SYNCED, base_tip="9199e34f" + "0" * 32, synced=True, first_head="e9e068ac" + "0" * 32, start="label",
    label="full-sweep-enabled",
    runs=RUNS[2:4], points=5, evals=5, concurrencies=(1, 2, 4, 8, 16),
    progress=(Update(at=at(10, 20), running=("c1", "c2", "c4", "c8"), queued=("c16", "eval c1")),
              Update(at=at(11, 35), passed=("c1", "c2"), running=("c16",), failed=("eval c2",))),
    table=INTERIM, repeat=None, accounting=COUNTED, scores=(), failures=(), baseline_cut=None, baseline_n=None, verdict=None, void=False,
    reasons=(),
    passed=None,
)
FAMILY = replace(INTERIM, lines=tuple(replace(line, recipe=recipe) for recipe in (KEY, f"{KEY}-mtp") for line in INTERIM.lines))
LACKING = tuple(LackLine(recipe=recipe, why=why, mend=mend) for recipe, why, mend in (
    ("", "other-topology:TP8", "published"), (KEY, "source-refused", "source"), (KEY, "no-source", "layout"),
    (KEY, "points-unknown", "points")))
STOP = Stop(
    outcome=Outcome.FAILED, cause=Cause.GATE, head=SYNCED, why=CUT, scores=SCORES[:2], repairs=1, repairs_max=5, gpu_hours=145.25,
    cap=200.0,
    follow=Follow(repair="dynamo-tool-parsing-scope", why=WHY, changes=("dynamo.hash: ba83080 -> fe1234",), files=(RECIPE,),
                  forecast=115.2,
                  left=54.75),
)


def final(outcome: Outcome, cause: Cause, *, proven: bool, why: Text | None, runs: tuple[RunLine, ...] = RUNS) -> LastWords:
    end = ENDINGS[outcome]
    return LastWords(
        outcome=outcome, cause=cause, proven=proven, why=why, repairs=1, repairs_max=5, gpu_hours=145.25, runs=runs,
        branch="bumpbot/kimik3",
        branch_kept=end.branch == "kept", next=end.next, retry=end.retry, closed=end.pull == "close")


def decided() -> dict[str, Record]:
    """Records as `decide` makes them from facts."""
    broken = facts.job(1, conclusion="failure")
    red = facts.run(10, "smoke", facts.PROPOSAL, broken, conclusion="failure")
    judged = facts.judged(red, facts.failure(broken, "moved-module", cause="it imports the old place"))
    green = facts.run(10, "smoke", facts.PROPOSAL, facts.job(1), facts.job(2, role="eval", concurrency=4))
    sweeping = facts.run(20, "sweep", facts.ENTRY, facts.job(3, status="in_progress"), status="in_progress", reason="label",
                         minutes=90)
    smoked = facts.bump("proposal", runs=(red,), judgements=(judged,), now=60)
    swept = facts.bump("proposal", "changelog", runs=(green, sweeping), labels=(facts.LABEL,), now=180)
    ended = Ended(outcome=Outcome.FAILED, cause=Cause.UNREPAIRABLE, at=facts.later(60), run=10, wanted=facts.wanted(red),
                  forecast=9.6)
    return {
        "decided: the body before anything ran": report.proposal(facts.bump("proposal"), ended=None),
        "decided: the body at the end": report.proposal(smoked, ended=ended),
        "decided: a broken smoke": report.attempt(smoked, red, next_="stop"),
        "decided: a running sweep": report.sweep(swept, sweeping, passed=None),
        "decided: a stop": report.stop(smoked, ended),
        "decided: cleaning up": report.finishing(swept, ended),
        "decided: last words": report.last_words(smoked, ended, theirs=False),
        "decided: a short answer": report.status(swept, about="label-waits", by="ann"),
    }


def catalogue() -> dict[str, Record]:
    """All records by what they are for."""
    made: dict[str, Record] = {
        "the body": PROPOSAL,
        "the body of a tag that we saw pushed again": replace(PROPOSAL, was=Sight(digest=OLD.digest, at=datetime(2026, 8, 2, tzinfo=UTC))),
        "the body of a bump with a control arm": replace(PROPOSAL, control=48.0),
        "the body of a family": replace(PROPOSAL, beside=(f"{KEY}-mtp",)),
        "the body without a baseline": replace(PROPOSAL, baseline=None, missing_baseline="baseline-unreachable", repushed=None, was=None,
                                               notes=()),
        "the body with a reason nobody foresaw": replace(PROPOSAL, baseline=None, missing_baseline="a-reason-to-come", attempts=()),
        "the body with no reason at all": replace(PROPOSAL, baseline=None, only_image=False, settings={}, evals=(), comparisons=()),
        "the body of a bare baseline": replace(PROPOSAL, old=BARE, new=BARE, text="r.example/x", lines_changed=1, files_changed=1,
                                               rows_changed=1,
            baseline=replace(BLOCK, run=None, attempt=None, head=None, pull=None, fingerprint=None, source="", notes=(), table=GAPS,
                             scores=())),
        "the body of a baseline without points": replace(PROPOSAL, baseline=replace(BLOCK, table=replace(BASELINE, lines=()))),
        "an initial attempt that failed": INITIAL,
        "an initial attempt that runs": replace(INITIAL, failures=(), stages=STAGED, new=None, comparisons=(), next="smoke-running",
                                                passed=None,
                                                runs=(replace(RUNS[0], conclusion=None),)),
        "a repair that passed": REPAIR,
        "a repair without a word": replace(REPAIR, repair=None, why=None, changes=(), kept=(), siblings=(),
                                           serving_path_changed=False, table=None,
                                           scores=(), warnings={}, accounting=(), baseline_accounting=(), failures=(),
                                           next="retry"),
        "a smoke of several points": replace(REPAIR, table=replace(HOLES, runs=(1, 2)), scores=SCORES, failures=(), next="stop"),
        "a sweep that runs": SWEEP,
        "a sweep that nothing is known of": replace(SWEEP, synced=False, base_tip=None, first_head=None, label=None,
                                                    start="dispatch", runs=(),
                                                    points=0, evals=0, concurrencies=(), progress=(), table=None, accounting=()),
        "a sweep of a family with a repeat": replace(SWEEP, table=FAMILY, repeat=replace(FAMILY, runs=(7, 8)), passed=True, regressions=WORSE,
                                                     verdict="regressed", scores=tuple(replace(score, recipe=KEY) for score in SCORES),
                                                     accounting=tuple(replace(one, recipe=KEY) for one in COUNTED)),
        "a smoke that met another image": replace(REPAIR, proofs=PROOFS, next="stop", passed=False),
        "a sweep of images unproven": replace(SWEEP, proofs=PROOFS, passed=True, verdict="inconclusive",
                                              reasons=("image-not-proven:vLLM 0.27.1", "image:eval c4", "canary:eval c16"), again=AGAIN),
        "a sweep with the old image as its baseline": replace(SWEEP, passed=True, verdict="neutral",
                                                              control=ControlLine(state="used", run=31)),
        **{f"a sweep with the old image {state}": replace(SWEEP, control=ControlLine(
            state=state, run=31 if state in ("running", "unfit", "failed") else None, published=state != "late",
            gpu_hours=48.0 if state in ("due", "unpaid", "no-day") else None,
            gates=("image:c1", "unproven:c2", "coverage:c4", "failed-requests:c8") if state == "unfit" else ()))
           for state in ("due", "running", "unfit", "failed", "unpaid", "no-day", "held", "late", "no-base", "stopped")},
        "a smoke of a family": replace(REPAIR, table=FAMILY, scores=tuple(replace(score, recipe=KEY) for score in SCORES)),
        "a sweep synced once": replace(SWEEP, first_head=None, base_tip=None, points=1, evals=1),
        "a sweep with holes": replace(SWEEP, table=HOLES, progress=(), accounting=(*COUNTED, *BASE_COUNTED)),
        "a sweep that failed its gate": replace(SWEEP, scores=SCORES, failures=FAILURES, baseline_cut=0, baseline_n=1319,
                                                verdict="inconclusive",
                                                void=True, passed=False, reasons=("wide-interval",)),
        "a sweep without a baseline": replace(SWEEP, verdict="inconclusive", passed=True, lacking=LACKING[:1], compared=False),
        "a sweep that failed without figures": replace(SWEEP, table=None, scores=(), failures=FAILURES[:1], verdict=None,
                                                       passed=False),
    }
    made |= {f"a sweep with the verdict {verdict}": replace(SWEEP, verdict=verdict, passed=True, reasons=(
        "image-not-proven", "cold-run", "workload-mismatch", "wide-interval", "not-confirmed", "too-few-points", "noise-unknown",
        "clustered",
        "eval-not-comparable:gsm8k", "eval-not-comparable:gsm8k:1000:1319", "eval-not-comparable:gpqa:gone",
        "eval-not-comparable:gsm8k:answers", "partial-sweep:c16", "saturated", "baseline-unverifiable:2026-09-03", "baseline-single",
        "serving-path-changed", "stand-in:ttft-mean", "budget-spent", "a-reason-to-come:5",
    )) for verdict in ("improved", "neutral", "regressed", "inconclusive")}
    made |= {
        "a stop at the gate": STOP,
        "a stop without a cap": replace(STOP, cap=None, follow=replace(STOP.follow, forecast=None, left=None, files=(),
                                                                       changes=())),
        "a stop before a repair out of scope": replace(STOP, follow=replace(STOP.follow, left=None, obstacle=WHY), scores=()),
        "a stop at a regression": replace(STOP, outcome=Outcome.REGRESSED, cause=Cause.VERDICT, follow=None, scores=(),
                                          regressions=tuple(replace(one, recipe="") for one in WORSE)),
        "a stop for a newer image": replace(STOP, outcome=Outcome.SUPERSEDED, cause=Cause.NONE, follow=None, scores=(),
                                            successor=PINNED),
        "a stop at an open verdict": replace(STOP, outcome=Outcome.UNCERTAIN, cause=Cause.VERDICT, why=None, scores=(), follow=None,
                                             reasons=("not-confirmed", "wide-interval"), again=AGAIN),
        "a stop without a baseline": replace(STOP, outcome=Outcome.UNCERTAIN, cause=Cause.VERDICT, why=None, scores=(), follow=None,
                                             lacking=LACKING),
        "a stop without a verdict": replace(STOP, outcome=Outcome.UNCERTAIN, cause=Cause.VERDICT, why=None, scores=(), follow=None,
                                            reasons=("no-verdict",)),
        "a stop at results that were refused": replace(STOP, follow=None, void=True, refused=REFUSED),
        "a smoke whose results were refused": replace(REPAIR, refused=REFUSED, next="stop", passed=False),
        "a stop for want of hours": replace(STOP, outcome=Outcome.BUDGET_EXHAUSTED, cause=Cause.BUDGET, follow=None, unpaid=UNPAID),
        "a stop by a day's cap": replace(STOP, follow=None, unpaid=replace(UNPAID, left=None, cap=None, day=8.0)),
        "last words, for want of hours": replace(final(Outcome.BUDGET_EXHAUSTED, Cause.BUDGET, proven=False, why=None), unpaid=UNPAID),
        "a stop by a conflict": replace(STOP, outcome=Outcome.UNCERTAIN, cause=Cause.NONE, why=None, scores=(), follow=None),
    }
    made |= {f"a stop because of {cause.value}": replace(STOP, cause=cause) for cause in Cause}
    made |= {f"last words, {outcome.value}": final(outcome, Cause.VERDICT, proven=False, why=None) for outcome in Outcome}
    made |= {f"last words, {outcome.value}, with a diagnosis": final(outcome, Cause.NONE, proven=True, why=MOVED)
             for outcome in Outcome}
    line = SummaryLine(bump=KEY, steps=2, done={"push": 1, "say": 3}, withheld={"dispatch": 1}, trouble=None)
    made["a wake"] = Summary(mode="propose", lines=(line, replace(line, done={}, withheld={}, steps=1, ended=Outcome.VALIDATED),
                                                    replace(line, withheld={}, done={}, steps=0, trouble="the head moved | again")))
    made["a wake without bumps"] = Summary(mode="act", lines=())
    made["a wake that refused"] = Summary(mode="act", lines=(), refusal="no recipe is called x: did you mean y?")
    made["last words, without a baseline"] = replace(final(Outcome.UNCERTAIN, Cause.VERDICT, proven=False, why=None), lacking=LACKING)
    told = final(Outcome.VALIDATED, Cause.VERDICT, proven=True, why=None)
    gone = tuple(Lacking(what=f"bmk_r_conc{number}.zip", why=why) for number, why in enumerate(
        [term.removeprefix("lacking-") for term in GLOSSARY if term.startswith("lacking-")] + ["links:3"]))
    made["last words that name the evidence"] = replace(told, evidence=facts.KEPT)
    made["last words of evidence with holes"] = replace(told, evidence=replace(facts.KEPT, lacking=gone[:2]))
    made["last words of evidence with many holes"] = replace(told, evidence=replace(facts.KEPT, lacking=gone))
    made |= {f"last words, no evidence: {term}": replace(told, evidence=Evidence(why=term.removeprefix("unkept-")))
             for term in GLOSSARY if term.startswith("unkept-")}
    folders = tuple(FolderLine(folder=f"runs/{word}", what=word, run=None if word == "baseline" else 34461599480, files=3, size=812)
                    for word in ("baseline", "smoke", "sweep", "repeat", "control"))
    made["the page of the evidence"] = Contents(bump=KEY, outcome=Outcome.VALIDATED, old="r.example/x:1", new=PINNED, n=19,
                                                sha256="ab" * 32, folders=folders, lacking=gone)
    made["the page of evidence without holes"] = replace(made["the page of the evidence"], lacking=())
    made["last words with a successor"] = replace(final(Outcome.SUPERSEDED, Cause.NONE, proven=False, why=MOVED), successor=PINNED)
    made["last words of a bump without runs"] = final(Outcome.SUPERSEDED, Cause.PERSON, proven=False, why=None, runs=())
    made |= {f"cleaning up, {outcome.value}": Finishing(outcome=outcome, runs=(34461599480, 34473834826)) for outcome in Outcome}
    made["nothing to clean up"] = Finishing(outcome=Outcome.FAILED, runs=())
    made |= {f"a short answer, {about}": Status(about=about, by="ann", state=replace(STATE, next=mover, cap=None))
             for about, mover in (("label-waits", "bot"), ("sweep-needs-approval", "maintainer"), ("sweep-held", "upstream"),
                                  ("a-subject-to-come", "operator"))}
    return made | answers() | decided() | planned(PROPOSAL)


def answers() -> dict[str, Record]:
    """An answer to a slash command for everything it may say."""
    lines = tuple(CommandLine(word=row.word, help=row.help) for row in COMMANDS.values())
    plain = Answer(comment=2831190021, by="ann", command="smoke", result="smoke-again", state=STATE)
    said = [term for term in GLOSSARY if term.startswith(("answer-", "now-"))]
    made: dict[str, Record] = {f"an answer, {term}": replace(plain, result=term.removeprefix("answer-"))
                               for term in said if term.startswith("answer-")}
    made |= {f"an answer to status, {term}": replace(plain, command="status", result="status", now=term.removeprefix("now-"))
             for term in said if term.startswith("now-")}
    return made | {
        "an answer with the commands": replace(plain, command=None, result="unknown-word", commands=lines),
        "an answer that names nobody": replace(plain, by=None, command=None, result="no-permission"),
        "an answer on a bump that is over": replace(plain, command="retry", result="over", outcome=Outcome.FAILED),
        "an answer about money": replace(plain, command="sweep", result="unpaid", forecast=115.2, left=54.75),
        "an answer about money without a cap": replace(plain, command="sweep", result="unpaid", forecast=115.2),
        "an answer of words to come": replace(plain, command="status", result="status", now="a-phase-to-come"),
    }


CATALOGUE = catalogue() | collected()
