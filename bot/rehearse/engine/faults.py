"""What can be planted in the server, by name: `--fault NAME[:VALUE]`. FAULTS is the whole list, for help and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from bot.errors import BadArguments


class Fault(Struct, frozen=True, kw_only=True):
    """One kind: `value` stands where none is given, `unit` says what it counts, `text` that it is a word and no number."""

    says: str
    value: str = ""
    unit: str = ""
    text: bool = False


EACH = "hits every Nth request (a share below 1: so many of them)"
AT = "the request of that number, from 1"
FAULTS: Mapping[str, Fault] = {
    # ---- answers
    "no-finish-reason": Fault(says="answers end without finish_reason", value="1", unit=EACH),
    "no-usage": Fault(says="answers have no usage", value="1", unit=EACH),
    "wrong-length": Fault(says="answers end at half their length, though ignore_eos or min_tokens fixes it", value="1", unit=EACH),
    "error-500": Fault(says="status 500", value="5", unit=EACH),
    "half-stream": Fault(says="the connection closes in the middle of an answer, without [DONE]", value="3", unit=EACH),
    "hang": Fault(says="one request is never answered", value="3", unit=AT),
    "bad-json": Fault(says="an answer that has to be JSON is cut short", value="1", unit=EACH),
    "bad-tool-call": Fault(says="the arguments of a tool call are cut short", value="1", unit=EACH),
    "no-tool-call": Fault(says="prose where a tool call was asked for", value="1", unit=EACH),
    "stream-differs": Fault(says="a tool call is cut short when streamed, and whole when not", value="1", unit=EACH),
    # ---- the process
    "crash": Fault(says="the server ends itself in the middle of a request", value="3", unit=AT),
    "dies-after-load": Fault(says="the server ends itself once so many requests were answered and none is under way", value="20",
                             unit="requests"),
    "slow-start": Fault(says="503 from /health and everything else at first", value="3", unit="seconds"),
    "never-ready": Fault(says="503 for ever"),
    "out-of-memory": Fault(says="ends at start, out of GPU memory"),
    "port-taken": Fault(says="ends at start as if its port were taken"),
    # ---- what it says of itself
    "lowered-limits": Fault(says="takes and reports fewer running requests than asked", value="0.5",
                            unit="requests; below 1, a share of those asked"),
    "shorter-context": Fault(says="takes and reports a shorter context than asked", value="0.5",
                             unit="tokens; below 1, a share of those asked"),
    "wrong-version": Fault(says="reports another version", value="0.0.1", text=True),
    "wrong-model": Fault(says="serves and names another model", value="somebody/else", text=True),
}


class Planted:
    """The faults of one server. Requests are counted from 1, those that ask for tokens only."""

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._values = dict(map(_read, given))

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str) -> str:
        """The value of a fault that is planted; empty where it is not."""
        return self._values.get(name, "")

    def number(self, name: str) -> float:
        """As `text`, for those whose value counts something; 0 where it is not planted."""
        return float(self._values.get(name) or 0)

    def hits(self, name: str, request: int) -> bool:
        """Whether this request is one that the fault is for."""
        if name not in self._values:
            return False
        every = self.number(name)
        if FAULTS[name].unit == AT:
            return request == every
        return int(request * every) > int((request - 1) * every) if every < 1 else request % int(every) == 0

    def lowered(self, name: str, asked: int) -> int:
        """A limit as it is after the fault; at least 1, and as asked where nothing is planted."""
        if name not in self._values:
            return asked
        value = self.number(name)
        return max(1, min(asked, int(asked * value) if value < 1 else int(value)))


def described() -> str:
    """The list for `--help`."""
    lines = ["faults (--fault NAME[:VALUE], repeatable):"]
    for name, fault in FAULTS.items():
        value = f" [{fault.value}{': ' if fault.unit else ''}{fault.unit}]" if fault.value else ""
        lines.append(f"  {name:<17} {fault.says}{value}")
    return "\n".join(lines)


def _read(given: str) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    if name not in FAULTS:
        raise BadArguments(f"no fault is called {name!r}", f"one of {', '.join(FAULTS)}")
    fault = FAULTS[name]
    value = value if colon else fault.value
    if fault.value and not fault.text and not _positive(value):
        raise BadArguments(f"--fault {name}: {value!r} is no number above 0", fault.unit)
    return name, value


def _positive(value: str) -> bool:
    try:
        return 0 < float(value) < 1e9
    except ValueError:
        return False
