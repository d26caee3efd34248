"""A server is waited for: until it serves the model that was asked for, ends, or the time is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.web import LocalWeb
from bot.bench import logs, ready
from bot.bench.host import Host, Place
from bot.bench.watch import ServerDied
from bot.errors import Refusal, Unreachable
from bot.model.bench import Launched, Machine, Order, Said
from bot.rehearse.engine.process import beside
from tests.fakes.benches import Clock, FakeServer, order

M = "o/m"


@dataclass
class Answer:
    status: int
    body: bytes = b"{}"


@dataclass
class ScriptedWeb:
    """Answers by path, in order; the last one again and again. None: nobody answers."""

    answers: dict[str, list[Answer | None]]
    asked: list[str] = field(default_factory=list)

    def get(self, url: str, *, limit_s: float = 5.0) -> Answer:
        path = "/" + url.split("/", 3)[3]
        self.asked.append(path)
        left = self.answers.get(path, [Answer(404)])
        answer = left.pop(0) if len(left) > 1 else left[0]
        if answer is None:
            raise Unreachable(f"{url}: connection refused")
        return answer

    def post(self, url: str, body: Any, *, limit_s: float = 120.0) -> Answer:
        return self.get(url)

    def stream(self, url: str, body: Any, *, limit_s: float = 120.0) -> Any:
        raise NotImplementedError


def models(*names: str) -> Answer:
    return Answer(200, b'{"data":[' + b",".join(b'{"id":"%s"}' % name.encode() for name in names) + b"]}")


def wait(web: Any, asked: Order | None = None, *, server: FakeServer | None = None, place: Place | None = None,
         clock: Any = None, say: Callable[[str], None] = lambda line: None, minutes: float = 60) -> Said:
    host = Host(programs=None, web=web, clock=clock or Clock(), env={}, say=say)  # type: ignore[arg-type]
    return ready.wait(asked or order(), server or FakeServer(Launched(launcher="docker", image="i")), Machine(startup_minutes=minutes),
                      host, place)


class TestARealServer:
    @pytest.mark.parametrize(("engine", "where"), [("vllm", "/version"), ("sglang", "/server_info")])
    def test_says_its_version_by_its_own_endpoint(self, engine: str, where: str) -> None:
        with beside("--model", M, "--engine", engine, "--version", "0.29.1.dev4+g0123abc45") as server:
            said = wait(LocalWeb(), server=FakeServer(Launched(launcher="process", image="i"), url=server.url))
        assert said == Said(version="0.29.1.dev4+g0123abc45", commit="0123abc45", models=(M,), where=where)

    def test_of_another_model_is_refused(self) -> None:
        with (beside("--model", M, "--fault", "wrong-model") as server,
              pytest.raises(Refusal, match="serves somebody/else, and not o/m")):
            wait(LocalWeb(), server=FakeServer(Launched(launcher="process", image="i"), url=server.url))

    def test_that_starts_slowly_is_waited_for(self) -> None:
        class Slow(Clock):
            """While somebody sleeps here, the server has slept long."""

            def sleep(self, seconds: float) -> None:
                import time
                time.sleep(0.05)
                super().sleep(seconds)

        with beside("--model", M, "--fault", "slow-start:0.3") as server:
            said = wait(LocalWeb(), server=FakeServer(Launched(launcher="process", image="i"), url=server.url), clock=Slow())
        assert said.models == (M,)


class TestWaiting:
    def test_goes_on_while_nobody_answers_and_while_it_is_loading(self) -> None:
        web = ScriptedWeb({"/health": [None, Answer(503), Answer(200)], "/v1/models": [Answer(503), models(M)]})
        assert wait(web) == Said(models=(M,))

    def test_asks_a_server_without_health_for_its_models(self) -> None:
        assert wait(ScriptedWeb({"/v1/models": [None, models("x", M)]})).models == ("x", M)

    def test_asks_for_a_token_where_no_model_is_named(self) -> None:
        web = ScriptedWeb({"/health": [Answer(200)], "/v1/completions": [Answer(500), Answer(200)], "/version": [Answer(200, b'{"version": "1.2.0"}')]})
        assert wait(web) == Said(version="1.2.0", where="/version")

    @pytest.mark.parametrize("args", [{"served-model-name": "short"}, {"served_model_name": "short"}, {"model-path": "short"},
                                      {"served-model-name": "first short"}])
    def test_takes_the_name_that_the_arguments_give(self, args: dict[str, str]) -> None:
        web = {"/health": [Answer(200)], "/v1/models": [models("short")]}
        assert wait(ScriptedWeb(dict(web)), order(args=args)).models == ("short",)
        with pytest.raises(Refusal):
            wait(ScriptedWeb(dict(web)))

    def test_tells_each_half_minute_what_it_waits_for(self) -> None:
        said: list[str] = []
        with pytest.raises(Unreachable, match=r"not ready after 2 minutes: /health answered 503"):
            wait(ScriptedWeb({"/health": [Answer(503)]}), say=said.append, minutes=2)
        assert len(said) == 3 and "of 120, /health answered 503" in said[0]

    def test_ends_at_its_limit_with_what_was_answered_last(self) -> None:
        with pytest.raises(Unreachable, match="did not answer .*connection refused"):
            wait(ScriptedWeb({"/health": [None]}), minutes=0.5)

    @pytest.mark.parametrize("body", [b"<html>", b"[1]", b'{"data": 5}', b'{"data": [7, {"id": 7}]}', b"[" * 5000])
    def test_does_not_take_nonsense_for_models(self, body: bytes) -> None:
        with pytest.raises(Unreachable):
            wait(ScriptedWeb({"/health": [Answer(200)], "/v1/models": [Answer(200, body)], "/v1/completions": [Answer(404)]}), minutes=1)

    @pytest.mark.parametrize("version", ['"<script>"', "5", '"' + "1" * 300 + '"', "null"])
    def test_takes_nothing_for_a_version_that_is_none(self, version: str) -> None:
        web = ScriptedWeb({"/health": [Answer(200)], "/v1/models": [models(M)],
                           "/version": [Answer(200, b'{"version": %s}' % version.encode())]})
        assert wait(web).version is None


class TestAServerThatEnds:
    def test_is_told_at_once_with_the_telling_line_of_its_log(self, tmp_path: Path) -> None:
        (tmp_path / "server.log").write_text("loading\n\x1b[31mtorch.OutOfMemoryError: CUDA out of memory.\x1b[0m\nbye\n")
        server = FakeServer(Launched(launcher="docker", image="i"), died="exit code 1")
        web = ScriptedWeb({})
        with pytest.raises(ServerDied, match=r"before it was ready: exit code 1 \(torch.OutOfMemoryError: CUDA out of memory.\)"):
            wait(web, server=server, place=Place(results=tmp_path, logs=tmp_path))
        assert web.asked == []


class TestALog:
    def test_is_read_in_lines_that_are_cut_and_plain(self, tmp_path: Path) -> None:
        file = tmp_path / "log"
        file.write_bytes(b"\x1b[32mone\x1b[0m\r\n" + b"x" * 200_000 + b"\ntwo\x00\xff\nthree")
        found = list(logs.lines(file))
        assert [line[:5] for line in found] == ["one", "xxxxx", "two\ufffd", "three"] and len(found[1]) == logs.LINE

    def test_that_is_not_there_is_empty(self, tmp_path: Path) -> None:
        assert list(logs.lines(tmp_path / "none")) == [] and logs.last_words(tmp_path / "none") == ""

    @pytest.mark.parametrize(("text", "words"), [
        ("a\nError: b\nc\n", "Error: b"), ("a\n\nb\n\n", "b"), ("x" * 900, "x" * 300 + " ..."),
        ("RuntimeError: first\n" + "later\n" * 5, "RuntimeError: first")])
    def test_has_last_words(self, tmp_path: Path, text: str, words: str) -> None:
        (tmp_path / "log").write_text(text)
        assert logs.last_words(tmp_path / "log") == words
