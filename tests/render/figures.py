"""Figures of the seed, and shapes it did not have, as parts of records."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from bot.model.checklines import CompareLine
from bot.model.image import ImageFacts, Platform, Reference, Resolved
from bot.model.lines import AbsentLine, BaselineBlock, Cell, Failure, Line, RunLine, State, Table
from bot.model.result import Accounting, Samples, Score
from bot.model.text import Text

KEY = "kimik3-fp4-gb200-dynamo-vllm-agentic-dspark-mooncake-dcp16-agg"
RECIPE = "recipes/agg-gb200-dcp16-dspark4-maxseq2-mooncake-agentic.yaml"
MASTER = "configs/nvidia-master.yaml"
HEAD, REPAIRED = "58c3e91617f47c7817903024616aae41e4521183", "a090cd67522d8062408c79f8e90a276f2aeb615a"
SYNCED = "2566897" + "1" * 33
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


OLD = image("nightly-dev-arm64-cu13.0.1-75c2eef", "sha256:be4945a0" + "6" * 56, "75c2eef",
            created=datetime(2026, 8, 17, tzinfo=UTC))
NEW = image("nightly-dev-arm64-cu13-3696c77", PINNED.partition("@")[2], "3696c77", created=datetime(2026, 9, 2, tzinfo=UTC))
BARE = Resolved(reference=Reference(text="r.example/x", registry="r.example", repository="x"), kind="manifest",
                digest="sha256:" + "9" * 64,
                platforms=(Platform(os="linux", architecture="amd64", digest="sha256:" + "9" * 64, size=1),),
                facts=ImageFacts(rocm="7.0.2", commit="c" * 40), provenance="label")
COMPARISONS = (
    CompareLine(repository="vllm-project/vllm", base="main", head="75c2eef", merge_base="925ea7e" + "0" * 33, ahead=18, behind=412,
               url="https://github.com/vllm-project/vllm/compare/main...75c2eef?expand=1"),
    CompareLine(repository="vllm-project/vllm", base="75c2eef", head="3696c77", merge_base=None, ahead=0, behind=0),
    CompareLine(repository="vllm-project/vllm", base="a" * 40, head="b" * 40, merge_base="c" * 40, ahead=1, behind=0,
               url="javascript:alert(1)"),
)
VALUES = {1: (917.3021, 112.2619, 2.1583, 0.004481, 223.17), 2: (973.9583, 131.3791, 2.0781, 0.0045595, 219.3),
          16: (2300.0613, 236.1794, 48.4652, 0.0051492, 194.2)}
BETTER = {1: (970.9582, 117.4273, 1.5886, 0.0042806, 233.61), 2: (1036.2217, 142.9136, 1.3448, 0.0043392, 230.5)}
COLUMNS = ("tput_per_gpu", "output_tput", "ttft", "itl", "intvty")


def cell(metric: str, old: float | None, new: float | None, missing: str | None = None) -> Cell:
    return Cell(metric=metric, old=old, new=new, missing=missing)


BASELINE = Table(metrics=COLUMNS, baseline_run=32424103771, lines=tuple(
    Line(concurrency=c, cells=tuple(cell(m, v, None) for m, v in zip(COLUMNS, values, strict=True))) for c,
    values in VALUES.items()))
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
    Line(concurrency=1, cells=(cell("tput_per_gpu", 917.3021, 955.5078), cell("ttft", 2.1583, 1.5868),
                               cell("profiled_requests", 232, 234))),))
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
    Failure(job="c1", minutes=25.4, class_="moved-module", excerpt="No module named 'vllm.entrypoints.openai.cli_args'",
            file="frontend_0",
            node="1/4", cause=MOVED),
    Failure(job="eval c1", minutes=24.6, class_=None, excerpt=None, file=None, node=None, cause=None),
    Failure(job="eval c1", minutes=3.0, class_="package-fetch", excerpt="ResolutionImpossible", file=None, node=None, cause=None,
            retried=True),
    Failure(job="c2", minutes=0.0, class_="cancelled-by-concurrency", excerpt=None, file=None, node=None, cause=None),
    Failure(job="eval c16", minutes=31.0, class_="tool-parser", excerpt=None, file="frontend_0", node=None, cause=CUT),
    Failure(job="c4", minutes=31.0, class_="a-class-to-come", excerpt=None, file=None, node="4/4", cause=None),
)
STATE = State(phase="smoke-passed", next="bot", repairs=1, repairs_max=5, gpu_hours=30.04, cap=200.0)

BLOCK = BaselineBlock(
    date="2026-08-21", run=32424103771, attempt=2, head="349aa162879bdae1c39ca71282f5f555c8aa2946", pull=2700,
    fingerprint="a295bb2c321dd5df3fdb8c66ab5832bc", table=BASELINE, source="https://inferencex.example/api/v1/benchmarks",
    absent=(AbsentLine(recipe="", topology="2P(TP8) x 1D(TP8/EP8)", concurrencies=(8, 64), why="other-image:a/b:`v1`"),
            AbsentLine(recipe=KEY, topology="", concurrencies=(1,), why="other-configuration")),
    scores=(Score(concurrency=16, task="gsm8k", metric="strict", value=0.9727, n=1319),
            Score(concurrency=16, task="gsm8k", metric="", value=0.9719, n=0)),
    notes=("baseline-unverifiable:2026-09-03", "baseline-single", "eval-not-comparable:gsm8k:gone", "points-gone:32", "points-new:16",
           "fingerprint-unknown", "run-unpublished", "points-from-runs:1, 2", "eval-size-changed:gsm8k:1319:1", "rows-refused:3", "value-negative:1:ttft", "value-infinite:2:itl", "folder-empty:basslines",
           "head-unpublished:7",
           "evals-unknown", "something nobody foresaw"),
)
