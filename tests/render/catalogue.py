"""A record of every kind and branch, with the figures of the seed where it has them. Names say what each is for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bot import strict
from bot.decide import report
from bot.model.bump import Ended, Update
from bot.model.image import ImageFacts, Platform, Reference, Resolved
from bot.model.outcome import ENDINGS, Cause, Outcome
from bot.model.record import (
    Attempt,
    AttemptLine,
    BaselineBlock,
    Cell,
    Failure,
    Finishing,
    Follow,
    LastWords,
    Line,
    Proposal,
    Record,
    RunLine,
    State,
    Status,
    Stop,
    SweepReport,
    Table,
)
from bot.model.result import Accounting, Samples, Score
from bot.model.text import Text
from bot.model.upstream import Comparison
from bot.render import Renderer
from bot.results import load_metrics
from tests.fakes import facts

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


KEY = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
RECIPE = "recipes/agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml"
MASTER = "configs/nvidia-master.yaml"
HEAD, REPAIRED, SYNCED = "58c3e91617f47c7817903024616aae41e4521183", "a090cd67522d8062408c79f8e90a276f2aeb615a", "2566897" + "1" * 33
PINNED = "vllm/vllm-openai:nightly-dev-arm64-cu13-3696c77@sha256:42e17a3c600c043c45e0623e4568cd4d5903dd76525a85f5df6ca6fa65358b12"
RUNS_URL = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/"
MOVED = Text(en="vLLM moved its command-line module in vllm-project/vllm#53659; the frontend still imports the old place",
             zh="vLLM 在 vllm-project/vllm#53659 中移动了命令行模块，而前端仍导入旧位置")
WHY = Text(en="the frontend's native chat processor needs no module of the engine", zh="前端的原生聊天处理器不依赖引擎模块")
CUT = Text(en="answers end before their answer line: the serving path drops text", zh="回答在答案行之前中断：服务路径丢失了文本")


def at(hour: int, minute: int) -> datetime:
    return datetime(2026, 9, 10, hour, minute, tzinfo=UTC)


def image(tag: str, digest: str, commit: str | None, *, created: datetime | None, provenance: str = "tag") -> Resolved:
    text = f"vllm/vllm-openai:{tag}"
    platform = Platform(os="linux", architecture="arm64", digest=digest, size=1)
    return Resolved(
        reference=Reference(text=text, registry="docker.io", repository="vllm/vllm-openai", tag=tag), kind="index", digest=digest,
        platforms=(platform, platform), created=created, provenance=provenance,
        facts=ImageFacts(cuda="13.0.1", arch_list="8.7 8.9 9.0 10.0+PTX", commit=commit),
    )


OLD = image("nightly-dev-arm64-cu13.0.1-75c2eef", "sha256:be4945a0" + "6" * 56, "75c2eef", created=datetime(2026, 8, 17, tzinfo=UTC))
NEW = image("nightly-dev-arm64-cu13-3696c77", PINNED.partition("@")[2], "3696c77", created=datetime(2026, 9, 2, tzinfo=UTC))
BARE = Resolved(reference=Reference(text="r.example/x", registry="r.example", repository="x"), kind="manifest", digest="sha256:" + "9" * 64,
                platforms=(Platform(os="linux", architecture="amd64", digest="sha256:" + "9" * 64, size=1),),
                facts=ImageFacts(rocm="7.0.2", commit="c" * 40), provenance="label")
COMPARISONS = (
    Comparison(repository="vllm-project/vllm", base="main", head="75c2eef", merge_base="925ea7e" + "0" * 33, ahead=18, behind=412,
               url="https://github.com/vllm-project/vllm/compare/main...75c2eef?expand=1"),
    Comparison(repository="vllm-project/vllm", base="75c2eef", head="3696c77", merge_base=None, ahead=0, behind=0),
    Comparison(repository="vllm-project/vllm", base="a" * 40, head="b" * 40, merge_base="c" * 40, ahead=1, behind=0, url="javascript:alert(1)"),
)
VALUES = {1: (917.3021, 112.2619, 2.1583, 0.004481, 223.17), 2: (973.9583, 131.3791, 2.0781, 0.0045595, 219.3),
          16: (2300.0613, 236.1794, 48.4652, 0.0051492, 194.2)}
BETTER = {1: (970.9582, 117.4273, 1.5886, 0.0042806, 233.61), 2: (1036.2217, 142.9136, 1.3448, 0.0043392, 230.5)}
COLUMNS = ("tput_per_gpu", "output_tput", "ttft", "itl", "intvty")


def cell(metric: str, old: float | None, new: float | None, missing: str | None = None) -> Cell:
    return Cell(metric=metric, old=old, new=new, missing=missing)


BASELINE = Table(metrics=COLUMNS, baseline_run=32424103771, lines=tuple(
    Line(concurrency=c, cells=tuple(cell(m, v, None) for m, v in zip(COLUMNS, values, strict=True))) for c, values in VALUES.items()))
GAPS = Table(metrics=("tput_per_gpu", "ttft:mean"), lines=(
    Line(concurrency=1, cells=(cell("tput_per_gpu", 917.3, None), cell("ttft:mean", None, None, "not-published"))),))
INTERIM = Table(metrics=(*COLUMNS, "profiled_requests"), runs=(34461599480,), baseline_run=32424103771, lines=tuple(
    Line(concurrency=c, cells=(*(cell(m, o, n) for m, o, n in zip(COLUMNS, VALUES[c], BETTER[c], strict=True)),
                               cell("profiled_requests", 232 + c, 238 + 2 * c))) for c in BETTER))
HOLES = Table(metrics=("tput_per_gpu", "ttft", "itl", "gpu_cache_hit_rate"), runs=(34461599480,), baseline_run=None, lines=(
    Line(concurrency=4, cells=(cell("tput_per_gpu", None, 1553.7, "no-baseline"), cell("ttft", 2.07, None, "not-measured"),
                               cell("itl", None, None, "no-baseline"), cell("gpu_cache_hit_rate", 0.871, 0.961))),
    Line(concurrency=8, cells=(cell("tput_per_gpu", 0.0, 5.0), cell("ttft", 2.07, 2.0700001), cell("itl", 0.005, 0.004),
                               cell("gpu_cache_hit_rate", 0.5, 0.5)))))
SMOKE = Table(metrics=("tput_per_gpu", "ttft", "profiled_requests"), runs=(34449828534,), baseline_run=32424103771, lines=(
    Line(concurrency=1, cells=(cell("tput_per_gpu", 917.3021, 955.5078), cell("ttft", 2.1583, 1.5868), cell("profiled_requests", 232, 234))),))
SCORES = (
    Score(concurrency=2, task="gsm8k", metric="strict", value=0.8165, n=1319, threshold=0.9, passed=False, baseline=0.9727),
    Score(concurrency=16, task="gsm8k", metric="strict", value=0.8120, n=1319, threshold=0.9, passed=False, baseline=0.9727,
          samples=Samples(concurrency=16, task="gsm8k", n=1319, correct=1071, cut=219, wrong=29, median_length=258.0)),
    Score(concurrency=16, task="gsm8k", metric="flexible", value=0.9067, n=1319, threshold=0.905, passed=True, baseline=0.9719),
)
TOOLS = (
    Score(concurrency=1, task="kimi_tool_call_schema", metric="score", value=0.5, n=2, threshold=0.4, passed=True,
          missing="eval-not-comparable:gsm8k"),
    Score(concurrency=1, task="other", metric="", value=0.25, n=0, missing="eval-not-comparable"),
    Score(concurrency=1, task="third", metric="score", value=0.25, n=4, missing="a-word-nobody-knows:7"),
)
COUNTED = (Accounting(concurrency=1, total=252, profiled=234, warmup_invalid=10, profiling_invalid=7, conversations=40,
                      conversations_invalid=2, kinds={"InvalidInferenceResultError": 7}),)
BASE_COUNTED = (Accounting(concurrency=1, total=244, profiled=232, warmup_invalid=10, profiling_invalid=1),
                Accounting(concurrency=2, total=11, profiled=0, warmup_invalid=11, profiling_invalid=0))


def run_line(number: int, reason: str, conclusion: str | None, **changed: object) -> RunLine:
    made = RunLine(id=number, attempt=1, workflow="run-sweep.yml", reason=reason, created=at(9, 36), conclusion=conclusion,
                   gpu_hours=14.04, url=f"{RUNS_URL}{number}")
    return replace(made, **changed)


RUNS = (
    run_line(34446587513, "dispatch", "failure", workflow="e2e-tests.yml", created=at(6, 44)),
    run_line(34449828534, "dispatch", "success", workflow="e2e-tests.yml", attempt=2, created=at(7, 25)),
    run_line(34461597759, "push", "cancelled", gpu_hours=0.0), run_line(34461599480, "label", None),
    run_line(34473834826, "unlabel", "skipped"), run_line(34473834827, "ready", "action_required", url=""),
)
FAILURES = (
    Failure(job="c1", minutes=25.4, class_="moved-module", excerpt="No module named 'vllm.entrypoints.openai.cli_args'", file="frontend_0",
            node="1/4", cause=MOVED),
    Failure(job="eval c1", minutes=24.6, class_=None, excerpt=None, file=None, node=None, cause=None),
    Failure(job="eval c1", minutes=3.0, class_="package-fetch", excerpt="ResolutionImpossible", file=None, node=None, cause=None, retried=True),
    Failure(job="c2", minutes=0.0, class_="cancelled-by-concurrency", excerpt=None, file=None, node=None, cause=None),
    Failure(job="eval c16", minutes=31.0, class_="tool-parser", excerpt=None, file="frontend_0", node=None, cause=CUT),
    Failure(job="c4", minutes=31.0, class_="a-class-to-come", excerpt=None, file=None, node="4/4", cause=None),
)
STATE = State(phase="smoke-passed", next="bot", repairs=1, repairs_max=5, gpu_hours=30.04, cap=200.0)

BLOCK = BaselineBlock(
    date="2026-08-21", run=32424103771, attempt=2, head="349aa162879bdae1c39ca71282f5f555c8aa2946", pull=2700,
    fingerprint="a295bb2c321dd5df3fdb8c66ab5832bc", table=BASELINE, source="https://inferencex.example/api/v1/benchmarks",
    scores=(Score(concurrency=16, task="gsm8k", metric="strict", value=0.9727, n=1319),
            Score(concurrency=16, task="gsm8k", metric="", value=0.9719, n=0)),
    notes=("baseline-unverifiable:2026-09-03", "baseline-single", "eval-not-comparable:gsm8k", "points-gone:32", "points-new:16",
           "fingerprint-unknown", "the producing run is not published", "points come from 2 runs: 1, 2", "head of run 7 is not published",
           "evals are not known (no answer of evaluations)", "something nobody foresaw"),
)
PROPOSAL = Proposal(
    recipe=KEY, engine="dynamo-vllm", old=OLD, new=NEW, text=PINNED, concurrencies=(1, 2, 4, 8, 16), evals=("kimi_tool_call_schema",),
    settings={"max-num-seqs": "2", "topology": "TP16/DCP16", "nodes": "4", "gpus": "16", "speculation": "dspark", "dynamo": "ba83080",
              "concurrency": "1, 2, 4, 8, 16", "a-setting-to-come": "on"},
    lines_changed=3, files_changed=2, only_image=True, rows_changed=10, repushed=datetime(2026, 9, 3, tzinfo=UTC), comparisons=COMPARISONS,
    baseline=BLOCK, missing_baseline=None, state=STATE,
    attempts=(AttemptLine(number=0, head=HEAD, run=34446587513, attempt=1, result="failed", gpu_hours=14.0),
              AttemptLine(number=1, head=REPAIRED, run=34449828534, attempt=2, result="passed", gpu_hours=16.04),
              AttemptLine(number=None, head=SYNCED, run=34461599480, attempt=1, result="running", gpu_hours=0.0),
              AttemptLine(number=2, head=SYNCED, run=None, attempt=None, result="waiting", gpu_hours=0.0)),
    notes=(Text(en="2 other recipes run this image already", zh="另有 2 个配方已使用该镜像"),),
)
INITIAL = Attempt(
    number=0, of=5, text=PINNED, head=HEAD, lines_changed=3, files=(MASTER, RECIPE), changes=(), kept=(), why=None, serving_path_changed=False,
    siblings=(), command=f"test-config --config-files {MASTER} --config-keys {KEY} --trim-conc", runs=(RUNS[0],), comparisons=COMPARISONS,
    failures=FAILURES, table=None, scores=(), accounting=(), baseline_accounting=(), warnings={}, next="repair", passed=False, new=NEW,
)
REPAIR = replace(
    INITIAL, number=1, head=REPAIRED, files=(RECIPE,), changes=('frontend.args.dyn-chat-processor: dropped (was "vllm")', "a.b: 1 -> 2"),
    kept=("router-mode: random",), why=WHY, serving_path_changed=True, siblings=("recipes/gb300.yaml: -",), runs=(RUNS[1],), comparisons=(),
    failures=(FAILURES[2],), table=SMOKE, scores=TOOLS, accounting=COUNTED, baseline_accounting=BASE_COUNTED,
    warnings={"kimi_k3_incomplete_call": 74, "another": 1}, next="sweep", passed=True, new=None, repair="native-chat-processor",
)
SWEEP = SweepReport(
    head=SYNCED, base_tip="9199e34f" + "0" * 32, synced=True, first_head="e9e068ac" + "0" * 32, start="label", label="full-sweep-enabled",
    runs=RUNS[2:4], points=5, evals=5, concurrencies=(1, 2, 4, 8, 16),
    progress=(Update(at=at(10, 20), running=("c1", "c2", "c4", "c8"), queued=("c16", "eval c1")),
              Update(at=at(11, 35), passed=("c1", "c2"), running=("c16",), failed=("eval c2",))),
    table=INTERIM, accounting=COUNTED, scores=(), failures=(), baseline_cut=None, baseline_n=None, verdict=None, void=False, reasons=(),
    passed=None,
)
STOP = Stop(
    outcome=Outcome.FAILED, cause=Cause.GATE, head=SYNCED, why=CUT, scores=SCORES[:2], repairs=1, repairs_max=5, gpu_hours=145.25, cap=200.0,
    follow=Follow(repair="dynamo-tool-parsing-scope", why=WHY, changes=("dynamo.hash: ba83080 -> fe1234",), files=(RECIPE,), forecast=115.2,
                  left=54.75),
)


def final(outcome: Outcome, cause: Cause, *, proven: bool, why: Text | None, runs: tuple[RunLine, ...] = RUNS) -> LastWords:
    end = ENDINGS[outcome]
    return LastWords(
        outcome=outcome, cause=cause, proven=proven, why=why, repairs=1, repairs_max=5, gpu_hours=145.25, runs=runs, branch="bumpbot/kimik3",
        branch_kept=end.branch == "kept", next=end.next, retry=end.retry, closed=end.pull == "close")


def decided() -> dict[str, Record]:
    """Records as `decide` makes them from facts."""
    broken = facts.job(1, conclusion="failure")
    red = facts.run(10, "smoke", facts.PROPOSAL, broken, conclusion="failure")
    judged = facts.judged(red, facts.failure(broken, "moved-module", cause="it imports the old place"))
    green = facts.run(10, "smoke", facts.PROPOSAL, facts.job(1), facts.job(2, role="eval", concurrency=4))
    sweeping = facts.run(20, "sweep", facts.ENTRY, facts.job(3, status="in_progress"), status="in_progress", reason="label", minutes=90)
    smoked = facts.bump("proposal", runs=(red,), judgements=(judged,), now=60)
    swept = facts.bump("proposal", "changelog", runs=(green, sweeping), labels=(facts.LABEL,), now=180)
    ended = Ended(outcome=Outcome.FAILED, cause=Cause.UNREPAIRABLE, at=facts.later(60), run=10, wanted=facts.wanted(red), forecast=9.6)
    return {
        "decided: the body before anything ran": report.proposal(facts.bump("proposal"), ended=None),
        "decided: the body at the end": report.proposal(smoked, ended=ended),
        "decided: a broken smoke": report.attempt(smoked, red, next_="stop"),
        "decided: a running sweep": report.sweep(swept, sweeping, passed=None),
        "decided: a stop": report.stop(smoked, ended),
        "decided: cleaning up": report.finishing(swept, ended),
        "decided: last words": report.last_words(smoked, ended),
        "decided: a short answer": report.status(swept, about="label-waits", by="ann"),
    }


def catalogue() -> dict[str, Record]:
    """All records by what they are for."""
    made: dict[str, Record] = {
        "the body": PROPOSAL,
        "the body without a baseline": replace(PROPOSAL, baseline=None, missing_baseline="baseline-unreachable", repushed=None, notes=()),
        "the body with a reason nobody foresaw": replace(PROPOSAL, baseline=None, missing_baseline="a-reason-to-come", attempts=()),
        "the body with no reason at all": replace(PROPOSAL, baseline=None, only_image=False, settings={}, evals=(), comparisons=()),
        "the body of a bare baseline": replace(PROPOSAL, old=BARE, new=BARE, text="r.example/x", lines_changed=1, files_changed=1, rows_changed=1,
            baseline=replace(BLOCK, run=None, attempt=None, head=None, pull=None, fingerprint=None, source="", notes=(), table=GAPS, scores=())),
        "the body of a baseline without points": replace(PROPOSAL, baseline=replace(BLOCK, table=replace(BASELINE, lines=()))),
        "an initial attempt that failed": INITIAL,
        "an initial attempt that runs": replace(INITIAL, failures=(), command=None, new=None, comparisons=(), next="smoke-running", passed=None,
                                                runs=(replace(RUNS[0], conclusion=None),)),
        "a repair that passed": REPAIR,
        "a repair without a word": replace(REPAIR, repair=None, why=None, changes=(), kept=(), siblings=(), serving_path_changed=False, table=None,
                                           scores=(), warnings={}, accounting=(), baseline_accounting=(), failures=(), next="retry"),
        "a smoke of several points": replace(REPAIR, table=replace(HOLES, runs=(1, 2)), scores=SCORES, failures=(), next="stop"),
        "a sweep that runs": SWEEP,
        "a sweep that nothing is known of": replace(SWEEP, synced=False, base_tip=None, first_head=None, label=None, start="dispatch", runs=(),
                                                    points=0, evals=0, concurrencies=(), progress=(), table=None, accounting=()),
        "a sweep synced once": replace(SWEEP, first_head=None, base_tip=None, points=1, evals=1),
        "a sweep with holes": replace(SWEEP, table=HOLES, progress=(), accounting=(*COUNTED, *BASE_COUNTED)),
        "a sweep that failed its gate": replace(SWEEP, scores=SCORES, failures=FAILURES, baseline_cut=0, baseline_n=1319, verdict="inconclusive",
                                                void=True, passed=False, reasons=("wide-interval",)),
        "a sweep that failed without figures": replace(SWEEP, table=None, scores=(), failures=FAILURES[:1], verdict=None, passed=False),
    }
    made |= {f"a sweep with the verdict {verdict}": replace(SWEEP, verdict=verdict, passed=True, reasons=(
        "image-not-proven", "cold-run", "workload-mismatch", "wide-interval", "not-confirmed", "too-few-points", "noise-unknown", "clustered",
        "eval-not-comparable:gsm8k", "partial-sweep:c16", "saturated", "baseline-unverifiable:2026-09-03", "baseline-single",
        "serving-path-changed", "stand-in:ttft-mean", "budget-spent", "a-reason-to-come:5",
    )) for verdict in ("improved", "neutral", "regressed", "inconclusive")}
    made |= {
        "a stop at the gate": STOP,
        "a stop without a cap": replace(STOP, cap=None, follow=replace(STOP.follow, forecast=None, left=None, files=(), changes=())),
        "a stop before a repair out of scope": replace(STOP, follow=replace(STOP.follow, left=None, obstacle=WHY), scores=()),
        "a stop by a conflict": replace(STOP, outcome=Outcome.UNCERTAIN, cause=Cause.NONE, why=None, scores=(), follow=None),
    }
    made |= {f"a stop because of {cause.value}": replace(STOP, cause=cause) for cause in Cause}
    made |= {f"last words, {outcome.value}": final(outcome, Cause.VERDICT, proven=False, why=None) for outcome in Outcome}
    made |= {f"last words, {outcome.value}, with a diagnosis": final(outcome, Cause.NONE, proven=True, why=MOVED) for outcome in Outcome}
    made["last words of a bump without runs"] = final(Outcome.SUPERSEDED, Cause.PERSON, proven=False, why=None, runs=())
    made |= {f"cleaning up, {outcome.value}": Finishing(outcome=outcome, runs=(34461599480, 34473834826)) for outcome in Outcome}
    made["nothing to clean up"] = Finishing(outcome=Outcome.FAILED, runs=())
    made |= {f"a short answer, {about}": Status(about=about, by="ann", state=replace(STATE, next=mover, cap=None))
             for about, mover in (("label-waits", "bot"), ("sweep-needs-approval", "maintainer"), ("a-subject-to-come", "operator"))}
    return made | decided()


CATALOGUE = catalogue()
