"""Waiting until a server answers, and for nothing else: whether it ended, whether it is the one that was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from bot.bench.host import Host, Place, Server
from bot.bench.logs import last_words
from bot.bench.watch import TELL_S, ServerDied
from bot.errors import BadInput, Refusal, Unreachable
from bot.model.bench import Machine, Order, Said
from bot.strict.words import one_line

SOON_S, LATER_S, SLOW_AFTER_S = 0.1, 1.0, 10.0
"""Between two looks: a small server is up at once, one that loads weights is not asked ten times a second."""
INFO = ("/version", "/server_info", "/get_server_info")
_SERVED = ("served-model-name", "served_model_name")
_PATHS = ("model-path", "model_path", "model", "model-tag")
_VERSION = re.compile(r"v?([0-9][A-Za-z0-9.+_-]{0,80})")
_COMMIT = re.compile(r"\+(?:[A-Za-z0-9]*\.)?g([0-9a-f]{7,40})\b")


def wait(order: Order, server: Server, machine: Machine, host: Host, place: Place | None = None) -> Said:
    """What the server says of itself, once it is ready: `/health` answers 200, and `/v1/models` names the model (where it names
    none, a first token is asked for).

    ServerDied when it ends meanwhile, with the last telling line of `logs/server.log` where `place` is given. Unreachable after
    `startup-minutes`, with what it last answered. Refusal where it serves another model.
    """
    begun = told = host.clock.now()
    while True:
        if (why := server.over()) is not None:
            words = last_words(place.logs / "server.log") if place else ""
            raise ServerDied(f"the server ended before it was ready: {why}{f' ({words})' if words and words not in why else ''}",
                             "its log is kept: bumpbot triage logs")
        last, models = _look(order, server, host)
        if models is not None:
            return _said(order, server, host, models)
        now = host.clock.now()
        passed = (now - begun).total_seconds()
        if passed >= machine.startup_minutes * 60:
            raise Unreachable(f"the server was not ready after {machine.startup_minutes:g} minutes: {last}",
                              "look at its log, or raise startup-minutes in the machine file")
        if (now - told).total_seconds() >= TELL_S:
            told = now
            host.say(f"waiting for the server: {passed:.0f} s of {machine.startup_minutes * 60:.0f}, {last}")
        host.clock.sleep(SOON_S if passed < SLOW_AFTER_S else LATER_S)


def names(order: Order) -> tuple[str, ...]:
    """Names under which the order's model may be served: as its arguments call it, its path in them, its repository."""
    said = [str(order.args[word]) for words in (_SERVED, _PATHS) for word in words if order.args.get(word)]
    return tuple(dict.fromkeys([*said, *(part for word in said for part in word.split()), order.model]))


def _look(order: Order, server: Server, host: Host) -> tuple[str, tuple[str, ...] | None]:
    """What it answered last, and the models it serves; None while it is not ready."""
    status, _ = _get(server, host, "/health")
    if status not in (200, 404):  # 404: a server without that endpoint is judged by its models
        return f"/health {_told(status)}", None
    listed, body = _get(server, host, "/v1/models")
    models = _models(body) if listed == 200 else ()
    if models:
        return "", models
    if status == 200 and listed in (200, 404):
        answered = _token(order, server, host)
        return f"/v1/completions {_told(answered)}", () if answered == 200 else None
    return f"/v1/models {_told(listed)}", None


def _said(order: Order, server: Server, host: Host, models: tuple[str, ...]) -> Said:
    wanted = names(order)
    if models and not set(models) & set(wanted):
        raise Refusal(f"the server serves {', '.join(one_line(each, 80) for each in models[:5])}, and not {order.model}",
                      "another server may listen at this port, or the recipe's args need served-model-name")
    version, where = next(_versions(server, host), (None, ""))
    commit = _COMMIT.search(version) if version else None
    return Said(version=version, commit=commit[1] if commit else None, models=models, where=where)


def _versions(server: Server, host: Host) -> Iterator[tuple[str, str]]:
    for path in INFO:
        status, body = _get(server, host, path)
        told = _json(body) if status == 200 else None
        version = told.get("version") if isinstance(told, dict) else None
        found = _VERSION.fullmatch(version.strip()) if isinstance(version, str) else None
        if found:
            yield found[1], path


def _models(body: bytes) -> tuple[str, ...]:
    told = _json(body)
    data = told.get("data") if isinstance(told, dict) else None
    found = [item.get("id") for item in data[:100] if isinstance(item, dict)] if isinstance(data, list) else []
    return tuple(each for each in found if isinstance(each, str) and each)


def _token(order: Order, server: Server, host: Host) -> int | str:
    body = {"model": names(order)[0], "prompt": "1", "max_tokens": 1}
    try:
        return host.web.post(f"{server.url}/v1/completions", body, limit_s=30.0).status
    except (Unreachable, BadInput) as error:
        return error.reason


def _get(server: Server, host: Host, path: str) -> tuple[int | str, bytes]:
    """Status and body; in place of a status, why there is no answer."""
    try:
        answer = host.web.get(f"{server.url}{path}")
    except (Unreachable, BadInput) as error:
        return error.reason, b""
    return answer.status, answer.body


def _told(status: int | str) -> str:
    return f"answered {status}" if isinstance(status, int) else f"did not answer ({one_line(status, 160)})"


def _json(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
