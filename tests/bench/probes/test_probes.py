"""The gate before and after the load, against a server with each fault planted in it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from bot.adapters.web import LocalWeb
from bot.bench import probes, waiting
from bot.bench.host import Host
from bot.bench.probes.reply import told
from bot.bench.watch import ServerDied
from bot.errors import Unreachable
from bot.model.bench import Gate, Machine, Order
from bot.rehearse.engine.process import beside
from tests.bench.beside import Quick, Served, order

TOOLS = {"tool-call-parser": "hermes"}


def asked(of: Order, url: str, phase: str = "before", limit_s: float = 5.0, web: Any = None) -> dict[tuple[str, bool | None], Gate]:
    host = Host(programs=None, web=web or LocalWeb(), clock=Quick(), env={})  # type: ignore[arg-type]
    on = Machine(request_seconds=limit_s, load_minutes=limit_s / 60)
    made = probes.run(of, Served(url), host, phase, on)  # type: ignore[arg-type]
    return {(gate.name, gate.stream): gate for gate in made}


def against(*faults: str, of: Order | None = None, limit_s: float = 5.0) -> dict[tuple[str, bool | None], Gate]:
    with beside("--model", "acme/toy", "--ttft-ms", "0", "--itl-ms", "0", *(word for fault in faults for word in ("--fault", fault))) as server:
        return asked(of or order(args=TOOLS), server.url, limit_s=limit_s)


def failed(gates: Mapping[tuple[str, bool | None], Gate]) -> set[tuple[str, bool | None]]:
    return {key for key, gate in gates.items() if gate.passed is False}


class TestASoundServer:
    def test_passes_every_gate_streamed_and_not(self) -> None:
        gates = against()
        assert {key: gate.passed for key, gate in gates.items()} == {
            (name, stream): True for name in ("stream", "json", "tools") for stream in (False, True)}
        assert {gate.phase for gate in gates.values()} == {"before"}


class TestEachPlantedFault:
    @pytest.mark.parametrize(("fault", "broken", "words"), [
        ("bad-json", {("json", False), ("json", True)}, "no JSON"),
        ("bad-tool-call", {("tools", False), ("tools", True)}, "arguments are no JSON"),
        ("no-tool-call", {("tools", False), ("tools", True)}, "no tool call, but"),
        ("stream-differs", {("tools", True)}, "arguments are no JSON"),
        ("no-finish-reason", {(name, stream) for name in ("stream", "json", "tools") for stream in (False, True)}, "no finish reason"),
        ("no-usage", {(name, stream) for name in ("stream", "json", "tools") for stream in (False, True)}, "no usage"),
        ("half-stream:1", {(name, stream) for name in ("stream", "json", "tools") for stream in (False, True)}, "no answer to"),
        ("error-500:1", {(name, stream) for name in ("stream", "json", "tools") for stream in (False, True)}, "status 500"),
    ])
    def test_is_found_where_it_is_and_nowhere_else(self, fault: str, broken: set[tuple[str, bool]], words: str) -> None:
        gates = against(fault)
        assert failed(gates) == broken
        assert all(words in gates[key].said for key in broken)

    def test_a_server_that_hangs_costs_its_limit_once(self) -> None:
        gates = against("hang:1", limit_s=0.3)
        assert failed(gates) == {("stream", False)} and "0.3 s" in gates["stream", False].said
        assert {gate.passed for key, gate in gates.items() if key != ("stream", False)} == {None}
        assert gates["tools", True].said.startswith("not asked: ")

    def test_a_server_that_hangs_is_heard_of_while_it_is_waited_for(self) -> None:
        said: list[str] = []
        host = Host(programs=None, web=None, clock=Quick(), env={}, say=said.append)  # type: ignore[arg-type]
        with waiting.telling(host, "gates before: stream", 600, soon_s=0.01):
            until = time.monotonic() + 5
            while not said and time.monotonic() < until:
                time.sleep(0.005)
        assert said == ["gates before: stream: no answer yet, 0 s (one may take 600)"]

    @pytest.mark.parametrize(("machine", "each", "first"), [
        (Machine(), 120, 600), (Machine(startup_minutes=0.12), 120, 120), (Machine(load_minutes=0.3), 18, 18),
        (Machine(request_seconds=5), 5, 600), (Machine(request_seconds=5, startup_minutes=0.5), 5, 30),
        (Machine(request_seconds=900), 900, 900)])
    def test_a_server_that_hangs_is_waited_for_as_long_as_the_machine_says(self, machine: Machine, each: float, first: float) -> None:
        assert probes.limits(machine) == (each, first)

    def test_a_server_that_ended_is_no_gate_but_the_end(self) -> None:
        class Gone:
            def get(self, url: str, *, limit_s: float = 5.0) -> Any:
                raise Unreachable("refused")

            post = stream = lambda self, url, body, *, limit_s=1.0: self.get(url)

        host = Host(programs=None, web=Gone(), clock=Quick(), env={})  # type: ignore[arg-type]
        with pytest.raises(ServerDied, match="exit code 137"):
            probes.run(order(), Served("http://127.0.0.1:9", died="exit code 137"), host, "after")


class Stumbling:
    """The test server, of whose answers some are another: by the request's number (from 1) an error, or what is raised."""

    def __init__(self, faults: Mapping[int, int | Exception]) -> None:
        self._web, self._faults, self.count = LocalWeb(), faults, 0

    def get(self, url: str, *, limit_s: float = 5.0) -> Any:
        return self._web.get(url, limit_s=limit_s)

    def post(self, url: str, body: Mapping[str, Any], *, limit_s: float = 1.0) -> Any:
        return self._next() or self._web.post(url, body, limit_s=limit_s)

    def stream(self, url: str, body: Mapping[str, Any], *, limit_s: float = 1.0) -> tuple[int, Iterator[bytes]]:
        return (broken.status, iter((broken.body,))) if (broken := self._next()) else self._web.stream(url, body, limit_s=limit_s)

    def _next(self) -> Scripted | None:
        self.count += 1
        fault = self._faults.get(self.count)
        if isinstance(fault, Exception):
            raise fault
        return Scripted(fault, b'{"error": "no room"}') if fault else None


class TestAFaultThatPasses:
    RESET = Unreachable("connection reset by peer")

    def stumbled(self, faults: Mapping[int, int | Exception], phase: str = "before", **told: Any) -> list[Gate]:
        with beside("--model", "acme/toy", "--ttft-ms", "0", "--itl-ms", "0") as server:
            return list(asked(order(json=False, **told), server.url, phase, web=Stumbling(faults)).values())

    @pytest.mark.parametrize(("fault", "words"), [(RESET, "no answer to chat: connection reset by peer"), (500, "chat: status 500"), (503, "no room")])
    @pytest.mark.parametrize(("at", "gate"), [(1, 0), (2, 1), (3, 1)])
    def test_is_asked_once_more_before_the_load_and_told(self, fault: int | Exception, words: str, at: int, gate: int) -> None:
        gates = self.stumbled({at: fault})
        assert [one.passed for one in gates] == [True, True]
        assert [one.said.startswith("asked twice: first ") and words in one.said and one.said.endswith("; then it held") for one in gates] == [
            number == gate for number in range(2)]

    @pytest.mark.parametrize("faults", [{1: 500, 2: 500}, {1: RESET, 2: RESET}, {1: 500, 3: RESET}])
    def test_is_forgiven_once(self, faults: Mapping[int, int | Exception]) -> None:
        assert [one.passed for one in self.stumbled(faults)].count(False) == 1

    @pytest.mark.parametrize("fault", [500, RESET])
    def test_counts_after_the_load(self, fault: int | Exception) -> None:
        broken, sound = self.stumbled({1: fault}, phase="after")
        assert (broken.passed, sound.passed) == (False, True) and "twice" not in broken.said

    @pytest.mark.parametrize("status", [400, 401, 404, 501])
    def test_is_no_refusal_of_what_was_asked(self, status: int) -> None:
        broken, sound = self.stumbled({1: status})
        assert (broken.passed, sound.passed) == (False, True) and "twice" not in broken.said

    def test_is_no_wrong_answer(self) -> None:
        web = Scripted(200, answer("", "stop"))
        gate = asked(order(json=False), "http://127.0.0.1:9", web=web)["stream", False]
        assert gate.passed is False and "twice" not in gate.said and len(web.asked) == 2


class TestWhatIsAsked:
    @pytest.mark.parametrize(("told", "names"), [
        ({"args": TOOLS}, {"stream", "json", "tools"}),
        ({"args": {"enable-auto-tool-choice": True}}, {"stream", "json", "tools"}),
        ({"args": {"tool_call_parser": "kimi_k2"}}, {"stream", "json", "tools"}),
        ({"args": {"tool-call-parser": "none"}}, {"stream", "json"}),
        ({}, {"stream", "json"}),
        ({"tools": True}, {"stream", "json", "tools"}),
        ({"args": TOOLS, "tools": False, "json": False}, {"stream"}),
        ({"engine": "mystery"}, {"stream"}),
        ({"engine": "mystery", "args": {"guided_decoding_backend": "xgrammar"}}, {"stream", "json"}),
        ({"args": {"grammar-backend": "none"}}, {"stream"}),
        ({"engine": "dynamo-sglang"}, {"stream", "json"}),
    ])
    def test_is_the_recipes_word_or_what_the_arguments_say_the_server_can(self, told: dict[str, Any], names: set[str]) -> None:
        assert {name for name, _ in against(of=order(**told))} == names


class Scripted:
    """A server that gives one plain answer to everything, or a stream of lines."""

    def __init__(self, status: int, body: bytes, *, lines: tuple[bytes, ...] = ()) -> None:
        self.status, self.body, self._lines = status, body, lines
        self.asked: list[Mapping[str, Any]] = []

    def get(self, url: str, *, limit_s: float = 5.0) -> Any:
        return Scripted(404, b"")

    def post(self, url: str, body: Mapping[str, Any], *, limit_s: float = 1.0) -> Any:
        self.asked.append(body)
        return self

    def stream(self, url: str, body: Mapping[str, Any], *, limit_s: float = 1.0) -> tuple[int, Iterator[bytes]]:
        self.asked.append(body)
        return self.status, iter(self._lines)


def answer(content: str, finish: str = "stop", tokens: int = 5, thought: str = "") -> bytes:
    import json

    return json.dumps({"choices": [{"message": {"content": content, "reasoning_content": thought}, "finish_reason": finish}],
                       "usage": {"completion_tokens": tokens}}).encode()


class TestAnAnswer:
    def gate(self, body: bytes, name: str = "json", status: int = 200, **told: Any) -> Gate:
        return asked(order(**told), "http://127.0.0.1:9", web=Scripted(status, body))[name, False]

    def test_may_be_thought_about_aloud_before_its_json(self) -> None:
        # Both probes get this one: it is an object, and fits the schema.
        text = '<think>{"name": wait</think>\n{"name": "Delft", "country": "NL", "canals": true}'
        assert self.gate(answer(text)).passed is True

    @pytest.mark.parametrize(("text", "words"), [
        ('{"name": "Delft", "country": "NL"}', "no canals"),
        ('{"name": "Delft", "country": "NL", "canals": "yes"}', "canals is no boolean"),
        ('{"name": "D", "country": "NL", "canals": true, "more": 1}', "more than its schema"),
        ("[1]", "no object"), ("```json\n{}\n```", "no JSON"), ("", "an empty answer")])
    def test_that_does_not_fit_its_schema_fails(self, text: str, words: str) -> None:
        gate = self.gate(answer(text))
        assert gate.passed is False and words in gate.said

    def test_that_is_still_being_thought_about_says_nothing(self) -> None:
        gate = self.gate(answer("", "length", 2048, thought="hmm"))
        assert gate.passed is None and "still thinking" in gate.said

    @pytest.mark.parametrize(("told", "passed"), [({}, None), ({"json": True}, False), ({"args": {"grammar-backend": "xgrammar"}}, False)])
    def test_that_refuses_the_kind_of_question_fails_only_where_somebody_said_it_could(self, told: dict[str, Any], passed: bool | None) -> None:
        gate = self.gate(b'{"error": {"message": "response_format is not supported"}}', status=400, **told)
        assert gate.passed is passed and "status 400" in gate.said and "not supported" in gate.said

    @pytest.mark.parametrize(("body", "words"), [
        (answer("x", tokens=0), "usage says 0"), (answer("x", tokens=4096), "usage says 4096 tokens of at most 2048"),
        (b"<html>", "no JSON"), (b"[]", "no object"), (b"\xff", "no JSON"), (b'{"choices": []}', "no choices"),
        (b'{"error": "out of memory"}', "out of memory"), (b'{"choices": [{"message": null}]}', "no message")])
    def test_that_is_broken_is_told_in_words(self, body: bytes, words: str) -> None:
        gate = self.gate(body, "stream")
        assert gate.passed is False and words in gate.said

    def test_is_untrusted_and_shown_escaped_and_short(self) -> None:
        said = self.gate(answer("\x1b[31m\u202e@everyone ::error::" + "x" * 5000), "json").said
        assert said.isascii() and said.isprintable() and len(said) < 320
        assert told("a\nb") == '"a\\nb"'


class TestAStream:
    def gate(self, *lines: bytes) -> Gate:
        return asked(order(), "http://127.0.0.1:9", web=Scripted(200, answer("1 2 3"), lines=lines))["stream", True]

    FIRST = b'data: {"choices": [{"delta": {"content": "1 2"}}]}'
    LAST = b'data: {"choices": [{"delta": {"content": " 3"}, "finish_reason": "stop"}], "usage": {"completion_tokens": 3}}'

    def test_is_its_pieces_put_together(self) -> None:
        assert self.gate(b": ping", self.FIRST, b"", self.LAST, b"data: [DONE]").passed is True

    @pytest.mark.parametrize(("lines", "words"), [
        ((FIRST,), "cut: no finish reason"), ((FIRST, LAST), "without [DONE]"), ((), "without a single piece"),
        ((FIRST, b"data: [DONE]"), "no finish reason"), ((FIRST, b"data: {oops"), "no JSON"),
        ((FIRST, b'data: {"error": {"message": "boom"}}'), "boom"),
        ((LAST, b"data: [DONE]"), "streamed it is"), ((FIRST, FIRST, LAST, b"data: [DONE]"), "streamed it is")])
    def test_that_lacks_something_or_says_another_thing_fails(self, lines: tuple[bytes, ...], words: str) -> None:
        gate = self.gate(*lines)
        assert gate.passed is False and words in gate.said
