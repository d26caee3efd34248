"""The requests of the stand-in: as many at once as asked, timed as they come, in the order of their prompts."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiperf_told as told

NS = 1_000_000_000
WORDS = ("alas", "you", "see", "how", "this", "little", "matter", "goes", "my", "lord", "and", "all", "the", "kings", "men", "who")


@dataclass
class Sent:
    """One request with all that came back. Moments by two clocks, in nanoseconds; `responses` as the raw export has them."""

    number: int
    phase: str
    payload: dict[str, Any]
    began: int = 0
    began_perf: int = 0
    ended: int = 0
    status: int | None = None
    responses: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, Any] | None = None


@dataclass
class Phase:
    name: str
    index: int
    requests: list[Sent] = field(default_factory=list)
    began: int = 0
    ended: int = 0
    given_up: bool = False

    @property
    def seconds(self) -> float:
        return (self.ended - self.began) / NS


class Prompts:
    """What is sent, one after the other and from the beginning again; the warm-up takes the first."""

    def __init__(self, made: list[tuple[str, int | None]]) -> None:
        self.made, self._at, self._lock = made, 0, threading.Lock()

    def next(self) -> tuple[str, int | None]:
        with self._lock:
            self._at += 1
            return self.made[(self._at - 1) % len(self.made)]


def prompts(asked: dict[str, Any]) -> Prompts:
    """Texts, each with the most tokens of its answer where they are fixed."""
    most = int(asked["--osl"]) if "--osl" in asked else None
    if "--public-dataset" in asked:
        raise OSError(f"Failed to download {asked['--public-dataset']}: no network")
    if "--input-file" not in asked:
        draw = random.Random(int(asked["--random-seed"]))
        length, many = int(asked.get("--isl", 550)), int(asked.get("--num-dataset-entries", 100))
        return Prompts([(" ".join(draw.choice(WORDS) for _ in range(length)), most) for _ in range(many)])
    with open(asked["--input-file"], encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream if line.strip()]
    if asked["--custom-dataset-type"] == "mooncake_trace":
        return Prompts([(" ".join(["word"] * line["input_length"]), line.get("output_length", most)) for line in lines])
    return Prompts([(line["text"], most) for line in lines])


def payload(asked: dict[str, Any], text: str, most: int | None) -> dict[str, Any]:
    stream = bool(asked.get("--streaming"))
    made: dict[str, Any] = {"messages": [{"role": "user", "content": text}], "model": asked["--model-names"], "stream": stream}
    if most is not None:
        made["max_completion_tokens"] = most
    if "--extra-inputs" in asked:
        name, _, value = asked["--extra-inputs"].partition(":")
        made[name] = json.loads(value)
    if stream and asked.get("--use-server-token-count"):
        made["stream_options"] = {"include_usage": True}
    return made


def run(name: str, index: int, count: int, given: Prompts, asked: dict[str, Any], cancelled: threading.Event,
        record: Callable[[Sent, int], None]) -> Phase:
    """A phase: until all are answered, it is cancelled, or too many failed."""
    phase, lock, open_now = Phase(name, index, began=time.time_ns()), threading.Lock(), set[http.client.HTTPConnection]()
    numbers = iter(range(count))
    floor = max(int(asked["--concurrency"]), 10)
    share = float(asked["--failed-request-threshold"]) if "--failed-request-threshold" in asked else None
    limit = float(asked.get("--request-timeout-seconds", 21600))

    def worker() -> None:
        while not cancelled.is_set() and not phase.given_up:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            one = Sent(number, name, payload(asked, *given.next()))
            send(one, asked["--url"], limit, open_now)
            if cancelled.is_set() and one.error is not None:
                return
            with lock:
                phase.requests.append(one)
                record(one, index)
                failed = sum(each.error is not None for each in phase.requests)
                if name == "profiling" and share is not None and len(phase.requests) >= floor and failed > share * len(phase.requests):
                    phase.given_up = True

    workers = [threading.Thread(target=worker, daemon=True) for _ in range(min(count, int(asked["--concurrency"])))]
    for each in workers:
        each.start()
    while any(each.is_alive() for each in workers):
        time.sleep(0.005)
        if cancelled.is_set() or phase.given_up:
            for each in list(open_now):
                if each.sock is not None:
                    each.sock.close()
            break
    phase.ended = time.time_ns()
    return phase


def send(one: Sent, url: str, limit: float, open_now: set[http.client.HTTPConnection]) -> None:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port or 80, timeout=limit)
    open_now.add(connection)
    one.began, one.began_perf = time.time_ns(), time.perf_counter_ns()
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(one.payload), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        one.status = answer.status
        if answer.status != 200:
            one.error = {"code": answer.status, "type": answer.reason, "message": answer.read().decode("utf-8", "replace")}
            told.say("ERROR", f"Error in aiohttp request: {answer.status}")
        elif one.payload["stream"]:
            events(one, answer, one.began_perf + limit * NS)
        else:
            text = answer.read().decode("utf-8", "replace")
            one.responses.append({"perf_ns": time.perf_counter_ns(), "text": text, "content_type": "application/json"})
    except TimeoutError:
        one.status, one.responses = None, []
        one.error = {"type": "TimeoutError", "message": "TimeoutError()", "cause": "CancelledError()",
                     "cause_chain": ["TimeoutError", "CancelledError"]}
    except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
        kind = ("ClientConnectorError" if isinstance(error, ConnectionRefusedError) else
                "ClientPayloadError" if one.status else "ServerDisconnectedError")
        one.error = {"type": kind, "message": f"{kind}({str(error)!r})", "cause": str(error), "cause_chain": [kind]}
        told.say("ERROR", f"Error in aiohttp request: {one.error['message']}")
    finally:
        open_now.discard(connection)
        connection.close()
        one.ended = time.time_ns()


def events(one: Sent, answer: http.client.HTTPResponse, until: float) -> None:
    """Server-sent events as they come; an event is over at an empty line."""
    packets: list[dict[str, Any]] = []
    while line := answer.readline():
        if time.perf_counter_ns() > until:
            raise TimeoutError
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text:
            name, _, value = text.partition(":")
            packets.append({"name": name or "comment", "value": value.removeprefix(" ")})
        elif packets:
            one.responses.append({"perf_ns": time.perf_counter_ns(), "packets": packets})
            packets = []
    if answer.chunked and answer.chunk_left is not None:
        raise http.client.IncompleteRead(b"")
