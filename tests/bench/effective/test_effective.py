"""What a server was asked for, beside what it says it has: generic over the table, then as stories with a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.adapters.web import LocalWeb
from bot.bench import effective
from bot.bench.effective.check import size
from bot.bench.effective.places import read
from bot.bench.effective.table import Entry, Told, value
from bot.bench.host import Host, Place
from bot.errors import BadInput, Unreachable
from bot.model.bench import Launched, Load, Order, Scalar, Setting
from bot.rehearse.engine.process import beside
from tests.fakes.benches import Clock, FakeServer, order

TEXT = (Path(__file__).parents[3] / "bot" / "knowledge" / "effective.yaml").read_text(encoding="utf-8")
KNOWN = effective.load(TEXT)
PLACES = [pytest.param(entry, told, id=f"{entry.id}-{at}") for entry in KNOWN.entries for at, told in enumerate(entry.told)]
SMALL = Load(input=64, output=32, requests=8, repeats=1, warmup=2)


class OneAnswer:
    """A server that answers one path, and nobody else's."""

    def __init__(self, path: str, body: str) -> None:
        self._path, self._body = path, body.encode()

    def get(self, url: str, *, limit_s: float = 5.0) -> Any:
        if not url.endswith(self._path):
            raise Unreachable("nobody there")
        return type("Answer", (), {"status": 200, "body": self._body})()


def settings(asked: Order, folder: Path, *, web: Any, url: str = "http://127.0.0.1:1", log: str = "") -> dict[str, Setting]:
    (folder / "server.log").write_text(log)
    host = Host(programs=None, web=web, clock=Clock(), env={})  # type: ignore[arg-type]
    server = FakeServer(Launched(launcher="process", image="i"), url=url)
    return {one.name: one for one in effective.check(asked, server, host, Place(results=folder, logs=folder), KNOWN)}


class TestEveryEntry:
    @pytest.mark.parametrize(("entry", "told"), PLACES)
    def test_reads_its_example(self, entry: Entry, told: Told) -> None:
        found = KNOWN.in_line(told, told.example) if told.log else read(told, told.example.encode())[0]
        assert found == told.read and type(found) is type(told.read)

    @pytest.mark.parametrize(("entry", "told"), PLACES)
    def test_tells_what_is_asked_and_less_and_other(self, entry: Entry, told: Told, tmp_path: Path) -> None:
        if not entry.spelled or (isinstance(told.read, int) and not isinstance(told.read, bool) and told.read in entry.free):
            return
        web = OneAnswer(told.at[0] if told.at else "nowhere", told.example)
        log = told.example if told.log else ""
        more: Scalar = told.read * 2 if isinstance(told.read, int | float) and not isinstance(told.read, bool) else "another"
        for asked, state in ((told.read, "same"), (more, "lowered" if entry.relation == "limit" else "changed")):
            one = settings(order(engine=entry.engine, args={entry.spelled[0]: asked}, load=None), tmp_path, web=web, log=log)
            assert (one[entry.setting].state, one[entry.setting].effective) == (state, told.read)
        nobody = settings(order(engine=entry.engine, args={entry.spelled[0]: told.read}), tmp_path, web=OneAnswer("nowhere", ""))
        assert nobody[entry.setting].state == "unknown" and nobody[entry.setting].effective is None

    def test_says_why_it_stands_there(self) -> None:
        assert all(entry.why.endswith(".") and len(entry.told) for entry in KNOWN.entries)

    def test_has_spellings_that_no_other_entry_of_its_engine_has(self) -> None:
        words = [(entry.engine, word) for entry in KNOWN.entries for word in entry.spelled]
        assert len(words) == len(set(words))

    @pytest.mark.parametrize(("recipe", "engine"), [("vllm", "vllm"), ("SGLang", "sglang"), ("dynamo-sglang", "sglang"), ("trt", "trtllm"),
                                                    ("TensorRT-LLM", "trtllm"), ("dynamo-trt", "trtllm"), ("atom", None)])
    def test_is_found_by_the_engine_as_recipes_name_it(self, recipe: str, engine: str | None) -> None:
        assert KNOWN.engine(recipe) == engine


class TestTheTable:
    @pytest.mark.parametrize(("old", "new", "why"), [
        ("relation: limit", "relation: roughly", "relation"), ("engine: sglang", "engine: other", "no engine is called other"),
        ("- id: sglang-context", "- id: sglang-running", "stands twice"),
        ("(?P<value>", "(?P<worth>", "one group, named value"), ("(?P<value>", "(?<!x)(?P<value>", "RE2"),
        ("label: kv_cache_size_tokens", "path: x", "either path or family and label")])
    def test_is_refused_where_it_does_not_hold(self, old: str, new: str, why: str) -> None:
        with pytest.raises(BadInput, match=why):
            effective.load(TEXT.replace(old, new, 1))


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
class TestAServerThatTells:
    ARGS: dict[str, dict[str, Scalar]] = {
        "vllm": {"tensor-parallel-size": 4, "max-num-seqs": 8, "max-model-len": 4096, "kv-cache-dtype": "fp8", "enforce-eager": True,
                 "gpu-memory-utilization": 0.85, "max-num-batched-tokens": 2048, "trust-remote-code": True},
        "sglang": {"tp": 4, "max-running-requests": 8, "context-length": 4096, "kv-cache-dtype": "fp8_e4m3", "page-size": 64,
                   "mem-fraction-static": 0.85, "chunked-prefill-size": 2048, "trust-remote-code": True}}

    def _settings(self, engine: str, folder: Path, *faults: str, load: Load = SMALL, conc: int = 2, kv: int = 100_000) -> dict[str, Setting]:
        words = [word for name, told in self.ARGS[engine].items() for word in (f"--{name}", *([str(told)] if told is not True else []))]
        extra = [word for fault in faults for word in ("--fault", fault)]
        with beside("--engine", engine, "--model", "o/m", "--kv-tokens", str(kv), *words, *extra) as server:
            return settings(order(engine=engine, args=self.ARGS[engine], load=load, concurrency=conc), folder, web=LocalWeb(),
                            url=server.url, log="\n".join(server.said))

    def test_has_what_it_was_asked_for(self, engine: str, tmp_path: Path) -> None:
        found = self._settings(engine, tmp_path)
        assert {name for name, one in found.items() if one.state != "same"} == {"trust-remote-code"}
        assert found["trust-remote-code"].state == "unknown"
        assert {"tp", "max-running-requests", "context-length", "kv-cache-dtype", "memory-fraction", "needed-kv-tokens"} <= set(found)

    def test_lowered_its_running_requests(self, engine: str, tmp_path: Path) -> None:
        one = self._settings(engine, tmp_path, "lowered-limits:3")["max-running-requests"]
        assert (one.asked, one.effective, one.state) == (8, 3, "lowered")

    def test_lowered_its_context(self, engine: str, tmp_path: Path) -> None:
        one = self._settings(engine, tmp_path, "shorter-context:2000")["context-length"]
        assert (one.asked, one.effective, one.state, one.where) == (4096, 2000, "lowered", "/v1/models")

    def test_cannot_take_one_request_of_the_load(self, engine: str, tmp_path: Path) -> None:
        found = self._settings(engine, tmp_path, load=Load(input=4000, output=200, requests=1, repeats=1, warmup=0))
        assert (found["needed-context"].asked, found["needed-context"].state) == (4200, "lowered")

    def test_queues_or_preempts_the_load_and_is_measured_all_the_same(self, engine: str, tmp_path: Path) -> None:
        found = self._settings(engine, tmp_path, conc=16, kv=1000)
        assert found["needed-running-requests"].state == found["needed-kv-tokens"].state == "changed"
        assert (found["needed-kv-tokens"].asked, found["needed-kv-tokens"].effective) == (1536, 1000)


class TestRanks:
    def test_that_divide_a_limit_round_it_down_and_lower_nothing(self, tmp_path: Path) -> None:
        args: dict[str, Scalar] = {"max-running-requests": 130, "dp": 8, "enable-dp-attention": True}

        def told(each: int) -> Setting:
            web = OneAnswer("/server_info", f'{{"internal_states":[{{"effective_max_running_requests_per_dp":{each}}}]}}')
            return settings(order(engine="sglang", args=args), tmp_path, web=web)["max-running-requests"]

        assert (told(16).state, told(16).effective, told(15).state) == ("same", 128, "lowered")

    def test_that_have_a_limit_each_are_added_up_for_the_load(self, tmp_path: Path) -> None:
        log = "GPU KV cache size: 1,000 tokens\nGPU KV cache size: 990 tokens\n"
        asked = order(engine="vllm", args={"data-parallel-size": 2}, concurrency=20)
        one = settings(asked, tmp_path, web=OneAnswer("nowhere", ""), log=log)["needed-kv-tokens"]
        assert (one.asked, one.effective, one.state) == (1920, 1980, "same")

    def test_that_differ_are_judged_by_the_smallest(self, tmp_path: Path) -> None:
        web = OneAnswer("/server_info", '{"internal_states":[{"effective_max_running_requests_per_dp":9},{"effective_max_running_requests_per_dp":4}]}')
        assert settings(order(engine="sglang", args={"max-running-requests": 9}), tmp_path, web=web)["max-running-requests"].effective == 4


class TestUntrustedWords:
    @pytest.mark.parametrize("told", ["a b", "<b>", "x" * 121, "", "é", {"a": 1}, None, float("nan"), 10**40, "1" * 500])
    def test_are_no_value(self, told: Any) -> None:
        assert value(told) is None or isinstance(value(told), str) and len(str(told)) <= 120

    @pytest.mark.parametrize("body", [b"", b"[" * 9000, b"\xff\xfe", b'{"internal_states": {"a": 1}}', b'{"internal_states": [5, null]}'])
    def test_in_an_answer_are_unknown(self, body: bytes) -> None:
        told = KNOWN.of("sglang")[0].told[0]
        assert read(told, body) == []

    def test_keep_no_secret_that_stands_beside(self, tmp_path: Path) -> None:
        web = OneAnswer("/server_info", '{"api_key":"sk-secret","tp_size":4,"internal_states":[{"api_key":"sk-secret"}]}')
        found = settings(order(engine="sglang", args={"tp": 4, "api-key-file": "/k"}), tmp_path, web=web)
        assert "sk-secret" not in str(found) and found["tp"].state == "same"


class TestSizes:
    @pytest.mark.parametrize(("asked", "read_as"), [(8, 8), ("8k", 8000), ("8K", 8192), ("1.5k", 1500), ("1,000", 1000), (0.9, 0.9), (True, None),
                                                    (None, None), ("auto", None), ("", None), ("inf", None)])
    def test_are_read_as_engines_do(self, asked: Scalar, read_as: float | None) -> None:
        assert size(asked) == read_as
