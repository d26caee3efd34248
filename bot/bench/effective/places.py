"""Asks a server, once each, for what it tells of its settings, and reads its log once for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from bot.bench.effective.table import Entry, Known, Told, Value, value
from bot.bench.host import Host, Server
from bot.errors import BadInput, Unreachable

KEPT = 64
"""Values of one place at most: a server of so many ranks has said what it has to say."""
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="([^"\\\n]{0,200})"')


class Places:
    """Everything one server tells, kept only as single values: its answers may hold keys."""

    def __init__(self, known: Known, entries: Iterable[Entry], server: Server, host: Host, log: Iterable[str]) -> None:
        self._server, self._host = server, host
        self._answers: dict[str, bytes | None] = {}
        asked = [told for entry in entries for told in entry.told if told.log]
        self._logged: dict[str, list[Value]] = {told.log: [] for told in asked}
        for line in log:
            for told in asked:
                found = known.in_line(told, line)
                if found is not None and len(self._logged[told.log]) < KEPT:
                    self._logged[told.log].append(found)

    def values(self, entry: Entry) -> tuple[list[Value], str]:
        """What the first place that tells it says (each rank may say it), and which place that is; empty where none does."""
        for told in entry.told:
            if told.log:
                if self._logged[told.log]:
                    return self._logged[told.log], "server.log"
                continue
            for path in told.at:
                body = self._answer(path)
                found = [] if body is None else read(told, body)
                if found:
                    return found, path.partition("?")[0]
        return [], ""

    def _answer(self, path: str) -> bytes | None:
        if path not in self._answers:
            try:
                answer = self._host.web.get(f"{self._server.url}{path}", limit_s=20.0)
                self._answers[path] = answer.body if answer.status == 200 else None
            except (Unreachable, BadInput):
                self._answers[path] = None
        return self._answers[path]


def read(told: Told, body: bytes) -> list[Value]:
    """The values that an answer holds at a place; none where it holds something else."""
    found = _labels(body, told.family, told.label) if told.family else _within(_json(body), told.path.split("."))
    return [plain for each in found if (plain := value(each)) is not None][:KEPT]


def _within(node: Any, path: list[str]) -> Iterator[Any]:
    if not path:
        yield node
        return
    name, every = path[0].removesuffix("[]"), path[0].endswith("[]")
    inner = node.get(name) if isinstance(node, dict) else None
    if every:
        for each in inner if isinstance(inner, list) else ():
            yield from _within(each, path[1:])
    elif inner is not None:
        yield from _within(inner, path[1:])


def _labels(body: bytes, family: str, label: str) -> Iterator[str]:
    for line in body.decode("utf-8", "replace").splitlines():
        if line.startswith(f"{family}{{"):
            yield from (text for name, text in _LABEL.findall(line[:16_384]) if name == label)


def _json(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
