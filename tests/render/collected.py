"""The page of a run whose results were collected: whole, in part, refused, empty."""

from __future__ import annotations

from msgspec.structs import replace

from bot.model.lines import Cell
from bot.model.record import Record, Swept
from bot.model.result import Score
from bot.model.sweptlines import Curve, FaultLine, GateLine, PointLine, RecipeLine

KEY = "kimik3-fp4-gb200-dynamo-vllm-agentic"
METRICS = ("tput_per_gpu", "output_tput", "ttft", "itl")
WHY = ("no-results", "not-planned", "twice", "attempt", "archive", "link", "sums", "report", "state", "gate", "other-point", "rows",
       "image", "digests")
STATES = ("written", "there", "part", "refused", "unwritten")


def point(concurrency: int, *values: float | None, **more: object) -> PointLine:
    cells = tuple(Cell(metric=metric, new=value) for metric, value in zip(METRICS, values, strict=True))
    return PointLine(recipe=KEY, concurrency=concurrency, cells=cells, **more)


SCORE = Score(recipe=KEY, concurrency=16, task="gsm8k", metric="exact_match,strict-match", value=0.9271, n=1319, threshold=0.9, passed=True)
PAGE = Swept(
    run=34461599480, attempt=2, head="a090cd6" + "0" * 33, metrics=METRICS,
    points=(point(1, 917.3, 112.26, 2.158, 0.00448, failed=0, of=8, proof="proven"),
            point(16, 2300.06, 1790.5, 4.02, 0.0091, failed=7, of=241, proof="claimed")),
    evals=(GateLine(score=SCORE, proof="proven"), GateLine(score=replace(SCORE, value=0.71, passed=False, n=0), proof="unproven")),
    curves=(Curve(recipe=KEY, metric="tput_per_gpu", points=((1, 917.3), (16, 2300.06))),),
    recipes=(RecipeLine(recipe=KEY, state="written", jobs=3, good=3),))


def collected() -> dict[str, Record]:
    return {
        "a run that was published": PAGE,
        "a run of every ending": replace(PAGE, recipes=tuple(RecipeLine(recipe=f"r-{state}", state=state, jobs=3, good=2) for state in STATES)),
        "a run with everything refused": replace(PAGE, points=(), evals=(), curves=(), faults=tuple(
            FaultLine(job="" if why in ("not-planned", "digests") else f"{KEY} c16", why=why) for why in WHY)),
        "a run that nobody counted": replace(PAGE, points=(point(1, None, None, None, None),), metrics=("output_tput_per_gpu", "output_tput",
                                             "ttft:mean", "tpot:mean"), curves=(), evals=(GateLine(score=replace(SCORE, threshold=None, passed=None)),)),
    }
