"""A body for everything that planning may have found: the commits of the seed, each state of a check, hints, siblings, patches."""

from __future__ import annotations

from typing import get_args

from msgspec.structs import replace

from bot.model.checklines import CarriedLine, CheckLine, CompareLine, HintLine, SiblingLine, TouchLine
from bot.model.finding import Check
from bot.model.lines import SummaryLine
from bot.model.outcome import Outcome
from bot.model.record import Proposal, Record, Summary
from bot.model.text import Text
from bot.model.upstream import Doubt

VLLM = "https://github.com/vllm-project/vllm"
TOUCHING = tuple(
    TouchLine(sha=f"{number:x}" * 40, url=f"{VLLM}/commit/{f'{number:x}' * 40}", date=f"2026-08-{number + 10}", pull=55470 + number,
              words=("VLLM_USE_DIRECT_DCP_A2A", "decode-context-parallel-size"))
    for number in range(1, 12)
)
COMPARED = CompareLine(
    repository="vllm-project/vllm", base="75c2eef", head="3696c77", merge_base="925ea7e" + "0" * 33, ahead=432, behind=18,
    url=f"{VLLM}/compare/75c2eef...3696c77", more=7,
    touching=(*TOUCHING, TouchLine(sha="d" * 40, url="", date="", pull=None, words=("mooncake", "dspark", "x" * 200, "so `it` | says"))),
)
NOBODY = {"merge_base": None, "ahead": None, "behind": None}
MOVED = CheckLine(
    check="imports", state="stop", class_="moved-module", evidence="sglang.srt.server_args_config_parser", where="dynamo/sglang/args.py:12",
    what=Text(en="dynamo 1.1.0 imports sglang.srt.server_args_config_parser, which sglang 0.5.19 does not have",
              zh="dynamo 1.1.0 导入了 sglang.srt.server_args_config_parser，而 sglang 0.5.19 没有该模块"),
    next=Text(en="move the pin of dynamo to 1.2.0, the newest that misses nothing", zh="将 dynamo 的固定版本改为 1.2.0，即不缺任何导入的最新版本"),
    who="maintainer",
)
ASKED = CheckLine(
    check="runners", state="ask", class_="runner-retired", evidence="gb300-nv", where="configs/runners.yaml",
    next=Text(en="name a label that runners have", zh="请改用 runner 实际带有的标签"), who="operator",
)
MENDED = CheckLine(
    check="options", state="repair-first", class_="flag-removed", evidence="--cuda-graph-max-bs -> --cuda-graph-max-bs-decode",
    where=f"{VLLM}/blob/main/vllm/envs.py", repair="cuda-graph-max-bs-decode", who="bot",
    what=Text(en="--cuda-graph-max-bs is ambiguous now", zh="--cuda-graph-max-bs 现在有歧义"),
    next=Text(en="the option is renamed", zh="选项将改名"),
)
BARE = CheckLine(check="parity", state="ask")
NOTED = tuple(
    replace(MENDED, state="note", repair=None, class_="oom", evidence=f"--max-running-requests default {number} -> {number + 1}",
            where="vllm/engine/arg_utils.py:90") for number in range(3)
)
UNTOLD = CheckLine(check="staging", state="unknown", what=Text(en="the layout names no list of staged models", zh="布局未指定已就位模型的清单"))
LOOKED = CheckLine(check="arch", state="holds", what=Text(en="2 lists of architectures were read", zh="已读取 2 个架构列表"))
HOLDING = tuple(CheckLine(check=check, state="holds") for check in get_args(Check) if check not in ("imports", "options", "arch"))
HINTS = tuple(
    HintLine(what="v0.29.0", by="issue 7", answer=answer, how=how, beside=beside, why=why)
    for answer, how, beside, why in (
        ("not-taken", "older", "v0.28.0", "its bytes are 1 day old; the policy wants 2"), ("not-taken", "incomparable", "kimi-k3", "channel differs"),
        ("taken", "same", "v0.29.0", ""), ("taken", "newer", "v0.30.0", "version"), ("fulfilled", "newer", "v0.30.0", ""),
        ("not-taken", "none", "", "the registry lists no such tag"))
) + tuple(HintLine(what="b" * 40, by="", answer=answer, how=how, beside="v0.30.0")
          for answer, how in (("taken", "contains"), ("not-taken", "lacks"), ("unknown", "unknown")))
SIBLINGS = (
    SiblingLine(recipe="kimik3-fp4-gb300-dynamo-vllm-agentic-dcp8", same="digest", hardware="gb300", since="2026-09-04, PR #2811",
                pins=("dynamo ba83080", "srt-slurm v1.0.50"), evals=(Text(en="gsm8k, threshold 0.9", zh="gsm8k，阈值 0.9"),)),
    SiblingLine(recipe="bare", same="tag", hardware="", since=None),
)
CARRIED = tuple(CarriedLine(at="benchmarks/patches/dcp.diff", changes=("vllm-project/vllm#55472", "vllm-project/vllm@0123456789ab"), holds=holds)
                for holds in (True, False, None)) + (CarriedLine(at="x.sh:4", changes=(), holds=None),)


def planned(body: Proposal) -> dict[str, Record]:
    """Bodies made of `body`, by what they are for."""
    whole = replace(body, comparisons=(*body.comparisons, COMPARED), checks=(MENDED, *NOTED, UNTOLD, LOOKED, *HOLDING), repairs=(MENDED,),
                    hints=HINTS, siblings=SIBLINGS, siblings_more=4, carried=CARRIED, pins={"dynamo": "ba83080", "srt-slurm": "v1.0.50"})
    return {
        "the body with all that was planned": whole,
        "the body of a bump that files forbid": replace(body, checks=(MOVED, LOOKED), stops=(MOVED,)),
        "the body with a question": replace(body, checks=(BARE, MENDED), questions=(replace(BARE, holds="sweep"), replace(NOTED[0], state="ask", holds="sweep"))),
        "the body with a question that holds the smoke": replace(body, checks=(ASKED,), questions=(replace(ASKED, holds="smoke"),)),
        "the body with what must be mended first": replace(body, checks=(BARE, MENDED), questions=(
            replace(MENDED, repair=None, holds="smoke"), replace(BARE, holds="sweep"))),
        "the body of a bump that nothing speaks against": replace(body, checks=HOLDING),
        "a wake that files stopped": Summary(mode="act", lines=(
            SummaryLine(bump="r-1", steps=1, done={"remember": 1}, withheld={}, ended=Outcome.INCOMPATIBLE, trouble="not said twice",
                        found=(MOVED, replace(ASKED, state="stop", release=Text(en="gb300-nv has a runner", zh="gb300-nv 有了 runner")))),
            SummaryLine(bump="r-2", steps=0, done={}, withheld={}))),
        "the body with more notes than it has room for": replace(body, checks=NOTED, unshown=5),
        **{f"the body of a comparison that is {doubt}": replace(body, comparisons=(
            replace(COMPARED, touching=(), more=0, doubts=(doubt,), **(NOBODY if doubt in ("gone", "ambiguous", "unreachable") else {})),))
           for doubt in get_args(Doubt)},
        "the body of two histories that share nothing": replace(body, comparisons=(
            replace(COMPARED, touching=(), more=0, doubts=("rewritten",), merge_base=None), replace(COMPARED, touching=(), more=0, **NOBODY))),
        "the body of a comparison with two doubts": replace(body, comparisons=(replace(COMPARED, doubts=("shallow", "truncated")),)),
    }
