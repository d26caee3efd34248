"""The small server speaks as the engine that it stands for: endpoints, metrics, log, limits, pace."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.diagnose import reported
from bot.diagnose.logs import Line
from bot.rehearse.engine import told
from bot.rehearse.engine.options import Options, engine_args, parse
from bot.rehearse.engine.process import beside
from tests.rehearse.engine.asking import FAST, fixed, get, post

KNOWN = reported.load(Path("bot/knowledge/reported.yaml").read_text(encoding="utf-8"))


class TestTheEndpoints:
    def test_of_vllm_are_its_own(self) -> None:
        with beside(*FAST, "--version", "0.29.1") as server:
            assert get(f"{server.url}/health").status_code == 200
            assert get(f"{server.url}/version").json() == {"version": "0.29.1"}
            assert get(f"{server.url}/v1/models").json()["data"][0]["max_model_len"] == 32_768
            assert get(f"{server.url}/get_server_info").status_code == 404

    def test_of_sglang_are_its_own(self) -> None:
        argv = ("--engine", "sglang", "--version", "0.5.19", "--tp", "8", "--dp-size", "2", "--enable-dp-attention",
                "--max-running-requests", "9", "--made-up-by-a-fork", "yes")
        with beside(*FAST, *argv) as server:
            info = get(f"{server.url}/get_server_info").json()
            assert info == get(f"{server.url}/server_info").json()
            assert (info["version"], info["tp_size"], info["max_running_requests"]) == ("0.5.19", 8, 9)
            assert [state["effective_max_running_requests_per_dp"] for state in info["internal_states"]] == [4, 4]
            assert info["made_up_by_a_fork"] == "yes"
            assert get(f"{server.url}/version").status_code == 404

    @pytest.mark.parametrize(("engine", "families"), [
        ("vllm", ("vllm:generation_tokens_total{", 'vllm:request_success_total{model_name="m",finished_reason="length"} 2',
                  "vllm:cache_config_info{", "vllm:num_requests_running{")),
        ("sglang", ("sglang:generation_tokens_total{", 'sglang:num_requests_total{model_name="m"} 2', "sglang:num_queue_reqs{"))])
    def test_of_metrics_count_what_was_answered(self, engine: str, families: tuple[str, ...]) -> None:
        with beside(*FAST, "--engine", engine) as server:
            for _ in range(2):
                post(server.url, fixed(7))
            text = get(f"{server.url}/metrics").text
        assert all(family in text for family in families)
        assert f'{engine}:generation_tokens_total{{model_name="m"}} 14' in text
        assert f'{engine}:inter_token_latency_seconds_count{{model_name="m"}} 12' in text
        assert f'{engine}:time_to_first_token_seconds_bucket{{model_name="m",le="+Inf"}} 2' in text


class TestItsLog:
    @pytest.mark.parametrize("engine", ["vllm", "sglang"])
    def test_tells_the_version_in_words_that_the_image_proof_knows(self, engine: str) -> None:
        options = Options(engine=engine, version="0.7.3.post1", model="m")
        heard = reported.Listener(KNOWN)
        lines = [Line(number=at, text=text) for at, text in enumerate([*told.begins(options), *told.loaded(options)], 1)]
        assert list(heard.over("server.log", lines)) == lines
        assert {(one.engine, one.value) for one in heard.reported if one.kind == "version"} == {(engine, "0.7.3.post1")}


class TestItsCommandLine:
    def test_takes_an_engines_arguments_as_they_are_spelled(self) -> None:
        words = "serve org/m --tp 8 -dp=2 --enable_x --kv-cache-dtype fp8 --scale -1.5 --mem 0.85 --flag false".split()
        assert engine_args(words) == {"model": "org/m", "tp": 8, "dp": 2, "enable-x": True, "kv-cache-dtype": "fp8", "scale": -1.5,
                                      "mem": 0.85, "flag": False}

    @pytest.mark.parametrize(("argv", "running", "context"), [
        (["--max-num-seqs", "4", "--max-model-len", "8k"], 4, 8000), (["--max-running-requests=3", "--context-length", "8K"], 3, 8192),
        (["--slots", "2", "--max-model-len", "auto"], 2, 32_768)])
    def test_takes_limits_in_either_engines_words(self, argv: list[str], running: int, context: int) -> None:
        assert (parse(argv).running, parse(argv).context) == (running, context)

    @pytest.mark.parametrize(("image", "engine", "version"), [
        ("docker.io/vllm/vllm-openai:v0.29.0@sha256:" + "0" * 64, "vllm", "0.29.0"),
        ("lmsysorg/sglang:v0.5.19.post1-cu130", "sglang", "0.5.19.post1"), ("host:5000/sglang", "sglang", "0.5.19")])
    def test_knows_engine_and_version_by_the_image(self, image: str, engine: str, version: str) -> None:
        options = parse(["--image", image])
        assert options.engine == engine and (options.version == version or ":" not in image.rpartition("/")[2])

    def test_names_what_the_model_is_served_as(self) -> None:
        assert parse(["--model", "org/m", "--served-model-name", "short"]).model == "short"
        assert parse(["--model-path", "org/m"]).model == "org/m"


class TestItsPace:
    def test_has_an_own_moment_for_every_token_so_that_nothing_adds_up(self) -> None:
        with beside("--model", "m", "--ttft-ms", "30", "--itl-ms", "2") as server:
            took = post(server.url, fixed(51)).elapsed.total_seconds()
        assert took >= 0.130

    def test_makes_requests_wait_where_no_slot_is_free(self) -> None:
        with beside("--model", "m", "--ttft-ms", "40", "--itl-ms", "0", "--slots", "1") as server:
            begun = time.monotonic()  # before the first of them: no one's own start may count less
            with ThreadPoolExecutor(3) as several:
                took = sorted(several.map(lambda _: (post(server.url, fixed(2)), time.monotonic() - begun)[1], range(3)))
        assert took[0] >= 0.04 and took[1] >= 0.08 and took[2] >= 0.12
