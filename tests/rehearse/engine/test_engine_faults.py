"""Each fault that can be planted in the small server, as its client meets it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import httpx
import pytest

from bot.errors import BadArguments
from bot.rehearse.engine import faults
from bot.rehearse.engine.process import Beside, beside, main
from tests.rehearse.engine.asking import FAST, TOOL, Streamed, chat, first, fixed, get, post

JSON = chat("x", response_format={"type": "json_object"})
CALL = chat("Weather in Paris for 3 days?", tools=[TOOL])


def broken(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return True
    return False


def no_finish_reason(server: Beside) -> None:
    assert first(post(server.url, fixed(4)))["finish_reason"] is None
    streamed = Streamed(server.url, fixed(4))
    assert streamed.finish is None and streamed.done and streamed.usage


def no_usage(server: Beside) -> None:
    assert "usage" not in post(server.url, fixed(4)).json()
    streamed = Streamed(server.url, fixed(4))
    assert streamed.usage is None and streamed.finish == "length"


def wrong_length(server: Beside) -> None:
    assert post(server.url, fixed(10)).json()["usage"]["completion_tokens"] == 5
    assert Streamed(server.url, fixed(10)).pieces == 5


def error_500(server: Beside) -> None:
    assert [post(server.url, fixed(1)).status_code for _ in range(10)] == [200, 200, 200, 200, 500] * 2


def half_stream(server: Beside) -> None:
    assert Streamed(server.url, fixed(8)).done and Streamed(server.url, fixed(8)).done
    with pytest.raises(httpx.RemoteProtocolError):
        Streamed(server.url, fixed(8))
    post(server.url, fixed(8)), post(server.url, fixed(8))
    with pytest.raises((httpx.RemoteProtocolError, ValueError)):
        post(server.url, fixed(8)).json()


def hang(server: Beside) -> None:
    post(server.url, fixed(1)), post(server.url, fixed(1))
    with pytest.raises(httpx.ReadTimeout):
        post(server.url, fixed(1), timeout=0.1)
    assert post(server.url, fixed(1)).status_code == 200


def bad_json(server: Beside) -> None:
    assert broken(first(post(server.url, JSON))["message"]["content"]) and broken(Streamed(server.url, JSON).text)


def bad_tool_call(server: Beside) -> None:
    assert broken(first(post(server.url, CALL))["message"]["tool_calls"][0]["function"]["arguments"])
    assert broken(Streamed(server.url, CALL).arguments)


def no_tool_call(server: Beside) -> None:
    answer = first(post(server.url, CALL))
    assert answer["finish_reason"] == "stop" and answer["message"]["content"] and "tool_calls" not in answer["message"]


def stream_differs(server: Beside) -> None:
    assert not broken(first(post(server.url, CALL))["message"]["tool_calls"][0]["function"]["arguments"])
    assert broken(Streamed(server.url, CALL).arguments)


def crash(server: Beside) -> None:
    post(server.url, fixed(8)), post(server.url, fixed(8))
    with pytest.raises(httpx.TransportError):
        Streamed(server.url, fixed(8))
    ended(server, "EngineDeadError")


def dies_after_load(server: Beside) -> None:
    for _ in range(20):
        assert post(server.url, fixed(1)).status_code == 200
    with pytest.raises(httpx.TransportError):  # however soon it comes
        post(server.url, fixed(1), timeout=2)
    ended(server, "EngineDeadError")


def slow_start(server: Beside) -> None:
    assert get(f"{server.url}/health").status_code == 503
    assert post(server.url, fixed(1)).status_code == 503


def lowered_limits(server: Beside) -> None:
    told = get(f"{server.url}/server_info").json()
    assert told["vllm_config"]["scheduler_config"]["max_num_seqs"] == 4


def shorter_context(server: Beside) -> None:
    assert get(f"{server.url}/v1/models").json()["data"][0]["max_model_len"] == 500
    assert post(server.url, fixed(600)).status_code == 400


def wrong_version(server: Beside) -> None:
    assert get(f"{server.url}/version").json() == {"version": "0.0.1"}
    assert any("version 0.0.1" in line for line in server.said)


def wrong_model(server: Beside) -> None:
    assert get(f"{server.url}/v1/models").json()["data"][0]["id"] == "somebody/else"
    assert post(server.url, fixed(1)).status_code == 404


def ended(server: Beside, words: str) -> None:
    until = time.monotonic() + 5
    while server.ended is None and time.monotonic() < until:
        time.sleep(0.02)
    assert server.ended == 1 and any(words in line for line in server.said)


MET: dict[str, Callable[[Beside], None]] = {
    function.__name__.replace("_", "-"): function
    for function in (no_finish_reason, no_usage, wrong_length, error_500, half_stream, hang, bad_json, bad_tool_call, no_tool_call,
                     stream_differs, crash, dies_after_load, slow_start, lowered_limits, shorter_context, wrong_version,
                     wrong_model)}
MET["never-ready"] = slow_start
AT_START = {"out-of-memory": "CUDA out of memory", "port-taken": "address already in use"}


class TestEachFault:
    @pytest.mark.parametrize("name", MET)
    def test_is_met_as_it_is_described(self, name: str) -> None:
        with beside(*FAST, "--max-num-seqs", "8", "--max-model-len", "1000", "--fault", name) as server:
            MET[name](server)

    def test_has_a_story_here(self) -> None:
        assert set(faults.FAULTS) == set(MET) | set(AT_START)

    def test_stands_in_the_help(self) -> None:
        text = faults.described()
        assert all(name in text and fault.says in text for name, fault in faults.FAULTS.items())


class TestPlanting:
    def test_counts_requests_every_nth_by_share_or_one(self) -> None:
        hits = {given: [n for n in range(1, 13) if faults.Planted([given]).hits(given.partition(":")[0], n)]
                for given in ("error-500:4", "error-500:0.25", "hang:5", "no-usage")}
        assert hits == {"error-500:4": [4, 8, 12], "error-500:0.25": [4, 8, 12], "hang:5": [5], "no-usage": list(range(1, 13))}

    @pytest.mark.parametrize("given", ["nonsense", "error-500:often", "hang:0", "crash:-1", "error-500:nan"])
    def test_of_nonsense_is_told_in_one_line(self, given: str) -> None:
        with pytest.raises(BadArguments):
            faults.Planted([given])

    def test_lowers_a_limit_to_a_number_or_a_share_and_never_raises_it(self) -> None:
        assert faults.Planted(["lowered-limits:3"]).lowered("lowered-limits", 8) == 3
        assert faults.Planted(["lowered-limits"]).lowered("lowered-limits", 9) == 4
        assert faults.Planted(["lowered-limits:99"]).lowered("lowered-limits", 8) == 8


class TestTheProgram:
    @pytest.mark.parametrize("name", AT_START)
    def test_ends_at_start_with_the_words_of_an_engine(self, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--fault", name]) == 1
        assert AT_START[name] in capsys.readouterr().out.splitlines()[-1]

    def test_says_in_one_line_that_its_port_is_taken(self, capsys: pytest.CaptureFixture[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as held:
            assert main(["--port", str(held.getsockname()[1])]) == 1
        assert "address already in use" in capsys.readouterr().out.splitlines()[-1]

    @pytest.mark.parametrize("argv", [["--fault", "nonsense"], ["--max-model-len", "long"], ["--context-length", "0"]])
    def test_says_in_one_line_what_it_cannot_take(self, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(argv) == 2
        assert len(capsys.readouterr().out.splitlines()) == 1

    def test_crashes_at_once_and_ends_quickly_when_asked(self) -> None:
        for fault, code in (("crash:1", 1), ("", -0)):
            with subprocess.Popen([sys.executable, "-m", "bot.rehearse.engine", *FAST, *(("--fault", fault) if fault else ())],
                                  stdout=subprocess.PIPE, text=True) as program:
                assert program.stdout is not None
                url = next(found[0] for line in program.stdout if (found := re.search(r"http://[0-9.:]+", line)))
                if fault:
                    with pytest.raises(httpx.TransportError):
                        Streamed(url, fixed(8))
                else:
                    program.send_signal(signal.SIGTERM)
                assert program.wait(5) == code
