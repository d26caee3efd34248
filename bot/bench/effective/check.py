"""Sets what was asked of a server beside what it says it has."""

from __future__ import annotations

import math
from collections.abc import Iterator

from bot.bench.effective.places import Places
from bot.bench.effective.table import Entry, Known, Value
from bot.bench.host import Host, Place, Server
from bot.bench.logs import lines
from bot.model.bench import Order, Scalar, Setting

_DP = ("dp", "dp-size", "data-parallel-size")
_SHARED = ("enable-dp-attention", "enable-attention-dp")
_SCALES = {"k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}


def check(order: Order, server: Server, host: Host, place: Place, known: Known) -> tuple[Setting, ...]:
    """One setting for each argument of the order, and for what its load needs of the server (`needed-...`).

    `lowered`: the server has less than it was asked for, or less than one request of the load takes: every answer would be of
    another configuration. `changed`: another value; a load that queues or does not fit into the KV cache is measured all the
    same. `unknown`: the server tells it nowhere. Nothing is raised: who calls it refuses.
    """
    args = {_plain(name): value for name, value in order.args.items()}
    entries = known.of(known.engine(order.engine))
    places = Places(known, entries, server, host, lines(place.logs / "server.log"))
    effective = {entry.setting: _Effective(entry, args, places) for entry in entries}
    found = [setting for one in effective.values() for setting in one.settings(args)]
    spelled = {word for entry in entries for word in entry.spelled}
    found += [Setting(name=name, asked=asked, state="unknown") for name, asked in args.items() if name not in spelled]
    return (*found, *_needed(order, effective))


class _Effective:
    """What came of one setting. A value of one rank counts for all where the ranks divide what was asked."""

    def __init__(self, entry: Entry, args: dict[str, Scalar], places: Places) -> None:
        self._entry = entry
        self._values, self.where = places.values(entry)
        shared = any(args.get(name) not in (None, False) for name in _SHARED)
        self._all = next((value for name in _DP if isinstance(value := args.get(name), int) and value > 0), 1) if entry.rank else 1
        self.ranks = self._all if entry.rank == "attention" and shared else 1

    def number(self, *, whole: bool = False) -> float | None:
        """The smallest that any rank tells; `whole` of all ranks together."""
        told = [value for value in self._values if isinstance(value, int | float) and not isinstance(value, bool)]
        return min(told) * (self._all if whole else 1) if told else None

    def settings(self, args: dict[str, Scalar]) -> Iterator[Setting]:
        """One for the spelling that the order uses; none where it asks for nothing."""
        for name in self._entry.spelled:
            asked = args.get(name)
            if name in args and asked is not None and not self._free(asked):
                yield self._compared(asked) if self._values else Setting(name=self._entry.setting, asked=asked, state="unknown")
                return

    def _free(self, asked: Scalar) -> bool:
        return any(asked == free and isinstance(asked, bool) == isinstance(free, bool) for free in self._entry.free)

    def _compared(self, asked: Scalar) -> Setting:
        name, wanted, least = self._entry.setting, size(asked), self.number()
        if self._entry.relation == "limit":
            if wanted is None or least is None:
                return Setting(name=name, asked=asked, effective=self._values[0], state="unknown", where=self.where)
            # What is shared out among ranks is rounded down: 130 among 8 are 16 for each, and nothing was lowered.
            floor = math.floor(wanted / self.ranks) if self.ranks > 1 else wanted
            state = "same" if math.isclose(least, floor) else "lowered" if least < floor else "changed"
            divided = f"{self.where}: {_short(least)} in each of {self.ranks} ranks" if self.ranks > 1 else self.where
            return Setting(name=name, asked=asked, effective=_short(least * self.ranks), state=state, where=divided)
        other = next((value for value in self._values if not self._alike(asked, value)), None)
        return Setting(name=name, asked=asked, effective=self._values[0] if other is None else other,
                       state="same" if other is None else "changed", where=self.where)

    def _alike(self, asked: Scalar, told: Value) -> bool:
        if isinstance(asked, int | float) and isinstance(told, int | float):
            return math.isclose(asked, told)
        one, two = _word(asked), _word(told)
        return one == two or any(one in group and two in group for group in self._entry.same)


def size(asked: Scalar) -> float | None:
    """A number as engines read it (vLLM: 25k are 25,000 and 25K 25,600); None for what is none."""
    if isinstance(asked, bool) or asked is None:
        return None
    text = str(asked).replace(",", "").replace("_", "")
    scale = _SCALES.get(text[-1:], 1)
    try:
        found = float(text[:-1] if scale > 1 else text) * scale
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _needed(order: Order, effective: dict[str, _Effective]) -> Iterator[Setting]:
    """What the load takes of the server, whether or not the recipe asked for it."""
    load = order.load
    running = _told(effective, "max-running-requests")
    if running is not None:
        yield _need("needed-running-requests", order.concurrency, running, "changed")
    if load is None or load.trace is not None or load.input is None or load.output is None:
        return
    request = load.input + load.output
    if (context := _told(effective, "context-length")) is not None:
        yield _need("needed-context", request, context, "lowered")
    if (tokens := _told(effective, "kv-tokens")) is not None:
        yield _need("needed-kv-tokens", order.concurrency * request, tokens, "changed")


def _told(effective: dict[str, _Effective], setting: str) -> tuple[float, str] | None:
    found = effective.get(setting)
    number = found.number(whole=True) if found else None
    return None if found is None or number is None else (number, found.where)


def _need(name: str, asked: int, told: tuple[float, str], short: str) -> Setting:
    state = "same" if told[0] >= asked else short
    return Setting(name=name, asked=asked, effective=_short(told[0]), state=state, where=told[1])  # type: ignore[arg-type]


def _plain(name: str) -> str:
    return name.lstrip("-").replace("_", "-")


def _word(value: Scalar) -> str:
    return str(value).lower().replace("-", "_").removeprefix("torch.")


def _short(number: float) -> int | float:
    return int(number) if number == int(number) else number


