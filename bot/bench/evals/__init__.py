"""One eval with lm-eval: how large its suite is, a sample of it first, then the whole, and whether its gate holds.

    prepare    what the task is, asked of lm-eval itself without a server: what cannot be run is told before a GPU is used
    draw       which questions are asked: always the same ones, whatever image answers
    command    lm-eval's words and environment
    score      what its exports say
    failures   why it ended early, in one line

Exports lie below `results/lm_eval/` as lm-eval wrote them: `whole/`, or `sample/` where a sample is all that was asked.

**Gating sample first.** A full eval of `draw.LARGE` questions and more first asks a shuffled sample of `draw.SAMPLE`. Where even
the upper end of its interval (Wilson, 95 %) is below the threshold, the rest is not asked: the gate does not hold, the eval is
complete, its score is that of the sample (n says so), and hours of GPUs are saved. Else the whole suite is asked, sample included,
so that its score and exports are lm-eval's own and not sums of ours; the sample's are kept in `gating-sample/`.
"""

from __future__ import annotations

from msgspec import Struct, structs

from bot.bench import room, served
from bot.bench.evals import command, draw, failures, score
from bot.bench.evals.draw import Ask
from bot.bench.evals.score import Scored
from bot.bench.evals.suite import Suite, prepare, task_of
from bot.bench.host import Host, Place, Server
from bot.bench.watch import watched
from bot.errors import Unreachable
from bot.model.bench import Counts, Gate, Machine, Order, Setting
from bot.model.recipe import EvalSpec

__all__ = ["Evaluated", "Suite", "prepare", "run"]
FOLDER, LOG = "lm_eval", "lm_eval.log"


class Evaluated(Struct, frozen=True, kw_only=True):
    """What an eval gave. `seconds` are lm-eval's own."""

    counts: Counts = Counts()
    gates: tuple[Gate, ...] = ()
    settings: tuple[Setting, ...] = ()
    tools: dict[str, str] = {}
    seconds: float = 0.0


def run(order: Order, server: Server, machine: Machine, host: Host, place: Place, *, suite: Suite | None = None) -> Evaluated:
    """Asks the questions and judges the score. `suite` is what `prepare` gave; without it lm-eval is asked now.

    Raises ServerDied, Unreachable (time over), Missing (no lm_eval), BadInput (task, metric) and Refusal (lm-eval gave up). What
    was asked before that stays where it is, and is told by the error's `loaded`.
    """
    spec = task_of(order)
    known = suite or prepare(order, machine, host, place)
    eval_ = _Eval(order, spec, server, machine, host, place, known, since=0.0 if suite else known.seconds)
    kept = eval_.nothing()
    try:
        *before, last = draw.asks(spec, known)
        for ask in before:
            first = eval_.ask(ask)
            if first.high < spec.threshold:
                left = known.questions - first.n
                return eval_.evaluated(ask, first, f"; the other {left} questions were not asked: they could not bring it there")
            kept = eval_.evaluated(ask, first, "; the whole was asked then and did not end", open_=True)
        scored = eval_.ask(last)
    except BaseException as error:  # a signal too
        error.loaded = structs.replace(kept, seconds=eval_.seconds)  # type: ignore[attr-defined]
        raise
    for ask in before:
        (place.results / FOLDER / ask.name).rename(place.results / FOLDER / f"gating-{ask.name}")
    return eval_.evaluated(last, scored)


class _Eval:
    """One eval that is being asked; its time is one limit over all that is asked."""

    def __init__(self, order: Order, spec: EvalSpec, server: Server, machine: Machine, host: Host, place: Place, suite: Suite,
                 *, since: float) -> None:
        self._order, self._spec, self._server, self._machine = order, spec, server, machine
        self._host, self._place, self._suite, self.seconds = host, place, suite, since
        context = room.context(order, server, host)
        self._served = command.Served(
            model=served.name(order, server, host), url=server.url, concurrency=order.concurrency,
            tokens=command.tokens(order, suite, context), seconds=min(command.REQUEST_S, machine.load_minutes * 60))

    def nothing(self) -> Evaluated:
        """What is told where nothing was asked to its end."""
        return Evaluated(tools=self._suite.tools, seconds=self.seconds)

    def ask(self, ask: Ask) -> Scored:
        """Runs lm-eval over these questions. A folder that is there from before is in the way of nobody: it is new."""
        host, folder, log = self._host, self._place.results / FOLDER, self._place.logs / LOG
        folder.mkdir(exist_ok=True)
        questions = None
        if ask.picked is not None:
            questions = folder / f"{ask.name}-questions.json"
            questions.write_text(draw.written(ask.picked), encoding="utf-8")
        argv = command.words(self._order, self._machine, self._served, ask.name, questions.name if questions else None)
        host.say(f"lm_eval: {ask.asked} of {self._suite.questions} questions of {self._spec.task}")
        before, begun = log.stat().st_size if log.exists() else 0, host.clock.now()
        limit = self._machine.load_minutes * 60 - self.seconds
        if limit <= 0:
            raise Unreachable(f"no time is left for {self._spec.task}", "raise load-minutes in the machine file")
        try:
            running = host.programs.start(argv, log=log, env=command.environment(host.env), cwd=folder)
            code = watched(host, running, self._server, what=f"lm_eval of {self._spec.task}", limit_s=limit)
        finally:
            self.seconds += (host.clock.now() - begun).total_seconds()
        said = failures.tail(log, before)
        if code:
            raise failures.why(said, code, self._spec.task)
        return score.read(folder / ask.name, self._order, self._suite, asked=ask.asked, retried=failures.retried(log, before))

    def evaluated(self, ask: Ask, scored: Scored, and_: str = "", *, open_: bool = False) -> Evaluated:
        """What is told of these questions; `open_` where more were to be asked."""
        passed, said = score.judged(scored, self._spec, sample=open_ or ask.sample and self._order.stage is not None)
        share = scored.bad / max(1, scored.tries)
        limit = self._order.gates.failed_requests
        return Evaluated(
            counts=Counts(profiled=scored.n - scored.empty, invalid=scored.empty, failed=scored.retried, kinds=scored.kinds),
            gates=(Gate(name="eval", passed=None if open_ and passed else passed, said=said + and_),
                   Gate(name="failed-requests", passed=share <= limit,
                        said=f"{scored.bad} of {scored.tries} requests failed or had an empty answer, {limit:.0%} may")),
            settings=(Setting(name="questions", asked=ask.asked, effective=scored.n, state="same", where=scored.file),),
            tools=self._suite.tools, seconds=self.seconds)

