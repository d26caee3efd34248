"""What a server prints is kept, and what nobody may read is taken out of it before it is summed up."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from bot.bench import kept, stages
from bot.bench.host import Host
from bot.errors import Refusal
from bot.model.bench import Gate, Machine
from tests.fakes.benches import METRICS, Bench

TOKEN = "hf_abcdefghijklmnop"
ENV = {"HF_TOKEN": TOKEN}
MACHINE = Machine(env={"HTTPS_PROXY": "http://corp:pass%2Fphrase@proxy:3128", "NCCL_DEBUG": "INFO-LEVEL"})


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, env=ENV).put_on(monkeypatch)


def measure(bench: Bench) -> Any:
    bench.place = kept.opened(bench.root)
    host = Host(programs=None, web=None, clock=bench.clock, env=bench.env)  # type: ignore[arg-type]
    return stages.measure(bench.order, MACHINE, host, bench.place, stages.Known(METRICS, None, bench.proof))


class TestARun:
    def test_keeps_what_the_server_printed_without_the_secrets_in_it(self, bench: Bench) -> None:
        before = bench._begin

        def printing(*given: Any) -> Any:
            (bench.place.logs / "server.log").write_text(f"a {TOKEN} b\nNCCL_DEBUG=INFO-LEVEL {MACHINE.env['HTTPS_PROXY']}\n{TOKEN}")
            return before(*given)

        bench.instead["begin"] = printing
        assert measure(bench).state == "complete"
        said = (bench.place.logs / "server.log").read_bytes()
        assert said.decode() == f"a {'*' * 19} b\nNCCL_DEBUG=INFO-LEVEL http://corp:{'*' * 13}@proxy:3128\n{'*' * 19}"
        sums = (bench.place.results / "SHA256SUMS").read_text()
        assert f"{hashlib.sha256(said).hexdigest()}  logs/server.log" in sums

    def test_tells_no_secret_that_a_server_answered_or_died_with(self, bench: Bench) -> None:
        def echoed(*_: Any) -> Any:
            return (Gate(name="stream", passed=False, said=f"the answer was {TOKEN}"),)

        bench.instead["probes"] = echoed
        report = measure(bench)
        assert report.gates[-1].said == f"the answer was {'*' * 19}" and TOKEN not in (bench.root / "results" / "bench.json").read_text()

    def test_that_is_refused_with_a_secret_in_the_reason_stars_it(self, bench: Bench) -> None:
        def refused(*_: Any) -> Any:
            raise Refusal("cannot start", f"it said: {TOKEN}")

        bench.instead["begin"] = refused
        assert measure(bench).hint == f"it said: {'*' * 19}"
