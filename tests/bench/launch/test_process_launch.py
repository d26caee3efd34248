"""A server that is a command of the machine, and the port on which any server listens."""

from __future__ import annotations

import json
import socket
import sys
from contextlib import ExitStack

import pytest

from bot.bench.launch import port, process
from bot.errors import Missing, Refusal
from bot.model.bench import Machine
from tests.bench.launch.worlds import IMAGE, SERVER, TOKEN, Scene, over

ECHO = (sys.executable, "-IS", "-c", SERVER)


@pytest.fixture
def scene(tmp_path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def stack():
    with ExitStack() as made:
        yield made


class TestACommand:
    def test_gets_what_it_has_a_place_for(self, scene):
        server = (*ECHO, "--at={host}:{port}", "{model}", "--image", "{image}", "@{revision}", "{args}", '{"a": {}}', "{other}")
        with ExitStack() as stack:
            running = scene.begin(stack, "process", {"server": server}, args={"tp": 4, "flag": True, "off": False})
            log = scene.server_says("variables")
            assert running.over() is None
        port = running.url.rpartition(":")[2]
        words = [f"--at=127.0.0.1:{port}", "zai-org/GLM-5.3-Flash", "--image", IMAGE, "@eb9eb208", "--tensor-parallel-size", "4",
                 "--flag", '{"a": {}}', "{other}"]
        assert f"words {words}" in log and "asked to end" in scene.server_log
        assert running.launched.digest is None and running.launched.notes[0] == process.UNPROVEN

    def test_says_when_the_recipes_arguments_have_no_place(self, scene, stack):
        launched = scene.begin(stack, "process", {"server": (*ECHO, "{port}")}, args={"tp": 4}).launched
        assert any("no {args}" in note for note in launched.notes)

    def test_a_value_that_looks_like_a_place_is_a_value(self, scene, stack):
        server = scene.begin(stack, "process", {"server": (*ECHO, "{port}", "{args}")}, args={"name": "{image}"})
        assert server.launched.command[-1] == "{image}"

    def test_gets_the_token_and_what_the_operator_gives_and_nothing_of_the_workflow(self, scene, stack):
        scene.env |= {"HF_TOKEN": TOKEN, "GITHUB_ENV": "x", "OTHER": "x", "LANG": "C"}
        scene.begin(stack, "process", {"server": (*ECHO, "{port}"), "env": {"OPERATORS": "1"}}, env={"VLLM_X": 0.5})
        assert "variables ['HF_TOKEN', 'HOME', 'LANG', 'OPERATORS', 'VLLM_X']" in scene.server_says("variables")
        assert TOKEN not in scene.launch_log

    def test_that_ends_is_over(self, scene, stack):
        assert over(scene.begin(stack, "process", {"server": (*ECHO, "{port}", "--crash")})) == "exit code 3"

    @pytest.mark.parametrize("server, kind, words", [
        ((), Refusal, "has no command"), (("no-such-program", "{port}"), Missing, "no program no-such-program"),
        ((*ECHO, "--serve"), Refusal, "no {port}")])
    def test_that_cannot_be_one_is_refused(self, scene, stack, server, kind, words):
        with pytest.raises(kind, match=words):
            scene.begin(stack, "process", {"server": server})

    @pytest.mark.parametrize("name", ["LD_PRELOAD", "PYTHONPATH", "PATH", "HF_TOKEN", "GITHUB_ENV", "HF_ENDPOINT"])
    def test_takes_no_variable_that_decides_which_code_runs(self, scene, stack, name):
        with pytest.raises(Refusal, match=f"variable {name} is not set"):
            scene.begin(stack, "process", {"server": (*ECHO, "{port}")}, env={name: "x"})


class TestThePort:
    @pytest.mark.parametrize("launcher", ["docker", "enroot", "process"])
    def test_that_is_taken_is_said_before_anything_is_pulled(self, scene, stack, launcher):
        scene.world.install("docker", "enroot")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            at = taken.getsockname()[1]
            with pytest.raises(Refusal, match=f"port {at} is taken") as told:
                scene.begin(stack, launcher, {"port": at, "server": ECHO})
        assert "machine file" in told.value.hint and scene.world.calls() == []

    def test_of_the_machine_is_used(self, scene, stack):
        with socket.create_server(("127.0.0.1", 0)) as one:
            at = one.getsockname()[1]
        assert scene.begin(stack, "process", {"port": at, "server": ECHO}).url == f"http://127.0.0.1:{at}"

    def test_none_named_is_a_free_one_each_time(self, scene, stack):
        urls = {scene.begin(stack, "process", {"server": (*ECHO, "{port}")}).url for _ in range(3)}
        assert len(urls) == 3 and json.dumps(sorted(urls))

    def test_none_named_is_one_that_no_outgoing_connection_is_given(self, monkeypatch, tmp_path):
        told = tmp_path / "range"
        monkeypatch.setattr(port, "_RANGE", told)
        for lowest, fits in (("20040\t60999\n", range(20_000, 20_040)), ("20000 60999", range(1024, 65_536)), ("?", range(20_000, 32_768))):
            told.write_text(lowest)
            assert {port.chosen(Machine()) for _ in range(9)} <= set(fits), lowest

    def test_that_somebody_listens_at_is_passed_over(self, monkeypatch):
        with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as free:
            mine = free.getsockname()[1]
            free.close()
            monkeypatch.setattr(port, "_candidates", lambda: [taken.getsockname()[1], mine])
            assert port.chosen(Machine()) == mine
