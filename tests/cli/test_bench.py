"""`bench` as somebody types it: a real server of the rehearsal's, stand-ins of the tools, a process launcher."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from bot.cli import bench as command
from bot.cli.output import note
from bot.model.bench import Load
from bot.rehearse.engine import model
from tests.cli.shell import ROOT, Done, bumpbot
from tests.fakes import tools
from tests.fakes.benches import Bench, eval_order, order

SERVER = (sys.executable, "-m", "bot.rehearse.engine", "--port", "{port}", "--model", "{model}", "--image", "{image}", "--ttft-ms",
          "2", "--itl-ms", "1", "--tokenizer", str(model.TOKENIZER))
QUICK = order(hardware="cpu", gpus=1, topology="TP1", model="acme/toy", args={},
              load=Load(input=64, output=8, requests=4, repeats=1, warmup=2))


class Machine:
    """A folder to run `bench` in: the point, the tools on the PATH, a model's tokenizer in its cache."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.out = root, root / "out"
        model.lay_out(root / "hf", "acme/toy", "e" * 40)
        path = f"{tools.folder(root / 'bin')}:{sys.exec_prefix}/bin:/usr/bin:/bin"
        for name, value in (("PATH", path), ("HF_HOME", str(root / "hf")), ("GITHUB_RUN_ID", "77"), ("BUMPBOT_HEAD", "e" * 40)):
            monkeypatch.setenv(name, value)
        (root / "machine.yml").write_text(f"launcher: process\nserver: {json.dumps(list(SERVER))}\n"
                                          f"env: {{PYTHONPATH: {ROOT}}}\ntasks: {root / 'tasks'}\n")

    def bench(self, point: Any, *words: str, **env: str) -> Done:
        file = self.root / "point.json"
        file.write_bytes(point if isinstance(point, bytes) else msgspec.json.encode(point))
        machine = () if "--machine" in words else ("--machine", str(self.root / "machine.yml"))
        return bumpbot("bench", file, "--out", self.out, *machine, *words, env=env)

    def faulty(self, *faults: str) -> tuple[str, str]:
        """The server with planted faults, as a word of the command line."""
        words = [*SERVER, *(word for fault in faults for word in ("--fault", fault))]
        return "--server", shlex.join(words)

    @property
    def report(self) -> Any:
        return json.loads((self.out / "results" / "bench.json").read_text())

    @property
    def nothing(self) -> bool:
        return not self.out.exists()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


class TestAPoint:
    def test_is_measured_and_compared_with_itself(self, machine: Machine) -> None:
        done = machine.bench(QUICK, "--format", "json")
        assert done.code == 0, done.err
        assert (done.json["state"], done.json["said"]["version"], done.json["counts"]["profiled"]) == ("complete", "0.25.1", 4)
        assert {(row["run"], row["image"]) for row in done.json["rows"]} == {(77, QUICK.image)}
        results = machine.out / "results"
        told = bumpbot("compare", results, "--baseline", results, "--format", "json")
        assert told.code == 1 and told.json["verdict"] == "inconclusive" and "image-not-proven" not in told.json["reasons"]
        assert {found["delta"] for found in told.json["findings"]} == {0.0}

    def test_of_a_server_that_dies_in_the_load_is_partial_and_evidence_of_nothing(self, machine: Machine) -> None:
        done = machine.bench(QUICK, *machine.faulty("crash:9"))
        assert done.code == 1 and "the server ended during the load" in done.err.splitlines()[-1]
        assert machine.report["state"] == "partial" and all("partial-run" in row["flags"] for row in machine.report["rows"])
        told = bumpbot("compare", machine.out / "results", "--baseline", machine.out / "results", "--format", "json")
        assert told.json["verdict"] == "inconclusive" and "nothing of it counts" in told.err

    @pytest.mark.parametrize(("fault", "why", "known"), [
        ("out-of-memory", "ended before it was ready", "gpu-out-of-memory"),
        ("wrong-version:9.9.9", "vLLM 9.9.9 runs, and", "bench-other-version"),
        ("no-finish-reason", "not hold: stream", "bench-gate-answers")])
    def test_of_a_planted_fault_is_refused_before_the_load(self, machine: Machine, fault: str, why: str, known: str) -> None:
        done = machine.bench(QUICK, *machine.faulty(fault))
        assert done.code == 1 and machine.report["state"] == "refused" and "load" not in machine.report["seconds"], done.err
        assert why in machine.report["reason"] or why in done.err
        assert bumpbot("triage", machine.out / "logs", "--format", "json").json["signature"] == known


class TestWhoWatches:
    def test_may_stop_reading_and_the_measurement_goes_on(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`bench ... 2>&1 | head -3` lost all that was measured."""
        read, write = os.pipe()
        os.close(read)
        bench = Bench(tmp_path / "out", said=SimpleNamespace(append=command._told)).put_on(monkeypatch)  # type: ignore[arg-type]
        with io.TextIOWrapper(io.FileIO(write, "w"), write_through=True) as closed, redirect_stderr(closed):
            with pytest.raises(BrokenPipeError):
                note("nobody reads this")
            report = bench.measure()
        assert (report.state, report.exit_code) == ("complete", 0) and (bench.root / "results" / "SHA256SUMS").exists()

    def test_may_ask_twice_that_it_ends_and_its_exit_code_is_its_own(self, tmp_path: Path) -> None:
        """A second signal, when all was kept and nothing was left but to end, was an end by signal: 143."""
        told = ("import os, signal, atexit\nfrom bot.adapters.interrupts import Signals\nfrom bot.errors import Stopped\n"
                "atexit.register(os.kill, os.getpid(), signal.SIGTERM)\n"
                "with Signals() as signals:\n    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n"
                "    except Stopped:\n        signals.last()\nos.kill(os.getpid(), signal.SIGTERM)\n"
                "raise SystemExit(7 if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN else 8)\n")
        assert subprocess.run([sys.executable, "-c", told], cwd=ROOT, check=False, timeout=60).returncode == 7


class TestWhatIsAskedWrongly:
    """Nothing is started then, and no folder is made."""

    @pytest.mark.parametrize(("words", "code", "why"), [
        (("--launcher", "lxc"), 2, "one of docker, podman, enroot, process"), (("--server", ""), 2, "--server is empty"),
        (("--server", "a 'b"), 2, "cannot be split"), (("--server", "a", "--launcher", "docker"), 2, "launcher process"),
        (("--machine", "none.yml"), 2, "No such file"), (("--machine", "bad.yml"), 1, "bad.yml:1: launcher"),
        (("--machine", "half.yml"), 1, "half.yml: server")])
    def test_of_the_machine(self, machine: Machine, words: tuple[str, ...], code: int, why: str, monkeypatch: Any) -> None:
        monkeypatch.chdir(machine.root)
        Path("bad.yml").write_text("launcher: lxc\n")
        Path("half.yml").write_text("launcher: process\n")
        done = machine.bench(QUICK, *words)
        assert done.code == code and why in done.line and machine.nothing

    @pytest.mark.parametrize(("point", "why"), [
        (b"{", "not JSON"), (b"[]", "empty list"), ([QUICK, eval_order()], "2 points"), (order(image=""), "no image")])
    def test_of_the_point(self, machine: Machine, point: Any, why: str) -> None:
        done = machine.bench(point)
        assert done.code == 1 and why in done.line and "point.json" in done.line and machine.nothing

    def test_of_a_machine_that_the_environment_names(self, machine: Machine) -> None:
        file = machine.root / "point.json"
        file.write_bytes(msgspec.json.encode(QUICK))
        done = bumpbot("bench", file, "--out", machine.out, env={"BUMPBOT_MACHINE": "none.yml"})
        assert done.code == 2 and "none.yml" in done.line and machine.nothing

    def test_of_folders_that_are_there(self, machine: Machine) -> None:
        (machine.out / "logs").mkdir(parents=True)
        done = machine.bench(QUICK)
        assert done.code == 1 and "logs exists" in done.line and [one.name for one in machine.out.iterdir()] == ["logs"]
