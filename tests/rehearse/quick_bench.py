"""What `bench` leaves of a point, in no time: a server that answers as it is told to, and the files of a whole measurement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from bot.bench import kept
from bot.bench.diary import Diary, why, words
from bot.bench.host import Place
from bot.bench.steps import refused
from bot.cli.measured import Bench
from bot.model.bench import Counts, Gate, Launched, Machine, Order, Report, Said, Setting
from bot.model.result import Cell, Row
from bot.rehearse.measuring import Ask, Planned

TTFT, ITL, TOKENS = 0.150, 0.008, 96
LOWERED = refused([Setting(name="max-running-requests", asked=32, effective=4, state="lowered")])


class Server:
    """How the server of one image answers: how long it takes to the first token, what it says it is, what it lowers."""

    def __init__(self, *, ttft: float = TTFT, version: str | None = None, lowers: bool = False) -> None:
        self.ttft, self.version, self.lowers = ttft, version, lowers


class Quick(Bench):
    """Bench without its child. `servers` are those of images by tag; `asked` tells which points were measured, in their order."""

    def __init__(self, work: Path, **servers: Server) -> None:
        self.lines: list[str] = []
        super().__init__(work, Machine(launcher="process", server=("x",)), self.lines.append)
        self.servers, self.asked = servers, list[tuple[int, str, int]]()

    def plan(self, ask: Ask) -> Sequence[Planned]:
        self.last = ask
        return super().plan(ask)

    def _child(self, folder: Path, ask: Ask, attempt: int, order: Order) -> int:
        tag = order.image.partition("@")[0].rpartition(":")[2]
        server = self.servers.get(tag.replace(".", "_"), Server())
        version = server.version or tag.removeprefix("v")
        self.asked.append((ask.run, order.id.rpartition("/")[2], attempt))
        place = kept.opened(folder)
        kept.closed(place)
        (place.logs / "server.log").write_text(f"(APIServer pid=1) INFO 11-30 23:16:26 [api_server.py:1272] vLLM API server version {version}\n")
        made = report(order, server, version, ask, attempt)
        diary = Diary(place, lambda: datetime.fromisoformat(made.began))
        diary.stage("settings")
        diary.end(f"{made.state}: {why(LOWERED, 'settings') if server.lowers else words('other-version', version) if made.reason else 'good'}")
        kept.rows(place, made.rows)
        return written(place, made, folder / "bench.log")


def written(place: Place, made: Report, log: Path) -> int:
    """The report with its files and sums; the exit code."""
    made = replace(made, files=kept.files(place))
    kept.report(place, made, sync=False)
    kept.sums(place, made.files)
    log.write_text(f"{made.order.id}: {made.state}\n")
    return made.exit_code or 0


def report(order: Order, server: Server, version: str, ask: Ask, attempt: int) -> Report:
    told = Report(bumpbot="0.1.0", state="complete", exit_code=0, order=order, began="2026-11-30T10:00:00+00:00",
                  ended="2026-11-30T10:00:20+00:00", launched=Launched(launcher="process", image=order.image, name="x"),
                  said=Said(version=version, where="/version"), seconds={"whole": 20.0})
    wanted = order.image.partition("@")[0].rpartition(":")[2].removeprefix("v")
    other = f"another image than the one that was ordered: vLLM {version} runs, and {wanted} was ordered" if version != wanted else ""
    gate = Gate(name="image", passed=version == wanted, phase="before")
    if other:
        return replace(told, state="refused", reason=other, exit_code=1, gates=(gate,))
    if server.lowers:
        return replace(told, state="refused", reason=str(LOWERED), exit_code=1, gates=(gate,))
    return replace(told, gates=(gate,), rows=tuple(rows(order, server, ask, attempt)), counts=counted(order))


def counted(order: Order) -> Counts:
    asked = order.load.requests if order.load else (order.eval.limit or 180) if order.eval else 0
    return Counts(warmup=order.concurrency if order.load else 0, profiled=asked)


def rows(order: Order, server: Server, ask: Ask, attempt: int) -> list[Row]:
    cell = Cell(recipe=order.recipe, concurrency=order.concurrency, workload=order.workload, topology=order.topology,
                fingerprint=order.fingerprint)
    n = counted(order).profiled

    def row(metric: str, value: float, unit: str, stat: str | None = None, **more: object) -> Row:
        return Row(point=cell, metric=metric, value=value, unit=unit, stat=stat, n=n, run=ask.run, attempt=attempt, head=ask.commit,
                   image=order.image, **more)  # type: ignore[arg-type]

    if order.eval is not None:
        return [row("eval", 1.0, "share", stat, task=order.eval.task, correct=n) for stat in ("strict", "flexible")]
    whole = server.ttft + 32 * ITL
    return [row("tput_per_gpu", order.concurrency * TOKENS / whole, "tok/s/GPU"), row("ttft", server.ttft, "s", "p50"),
            row("itl", ITL, "s", "p50"), row("profiled_requests", float(n), "requests")]
