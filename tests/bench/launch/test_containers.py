"""A server in a container of Docker or Podman, from the pull to the removal."""

from __future__ import annotations

import os
import re
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from bot.bench.launch import leftovers
from bot.bench.launch import start as start_module
from bot.bench.launch.containers import _entered, _Image
from bot.errors import BadInput, Missing, Refusal, Unreachable
from tests.bench.launch.worlds import FULL, IMAGE, PROGRAM, TOKEN, Scene, over

both = pytest.mark.parametrize("tool", ["docker", "podman"])


@pytest.fixture
def scene(tmp_path) -> Scene:
    made = Scene(tmp_path)
    made.world.install("docker", "podman")
    return made


@pytest.fixture
def stack():
    with ExitStack() as made:
        yield made


def option(call: list[str], name: str) -> list[str]:
    return [value for word, value in zip(call, call[1:], strict=False) if word == name]


class TestAServerInAContainer:
    @both
    def test_is_pulled_by_digest_started_followed_and_removed(self, scene, tool):
        digest = scene.world.holds(FULL, program=PROGRAM)
        with ExitStack() as stack:
            server = scene.begin(stack, tool, image=f"{IMAGE}@{digest}", args={"max-num-seqs": 8})
            log = scene.server_says("variables")
            assert server.over() is None
            assert [one["state"]["Status"] for one in scene.world.containers().values()] == ["running"]
        assert scene.world.called(tool, "pull") == [[tool, "pull", f"docker.io/vllm/vllm-openai@{digest}"]]
        assert (server.launched.digest, server.launched.image) == (digest, f"{IMAGE}@{digest}")
        assert server.launched.image_id and server.url == server.launched.url
        port = re.search(r":([0-9]+)$", server.url)[1]
        assert f"words ['vllm', 'serve', 'zai-org/GLM-5.3-Flash', '--revision', 'eb9eb208', '--host', '0.0.0.0', '--port', '{port}', " \
               "'--max-num-seqs', '8']" in log
        assert scene.world.containers() == {}
        assert "asked to end" in scene.server_log

    def test_gets_no_privilege_no_socket_and_a_port_of_the_loopback_alone(self, scene, stack):
        scene.world.holds(FULL, program=PROGRAM)
        server = scene.begin(stack, "podman")
        [call] = scene.world.called("podman", "create")
        assert option(call, "--publish") == [f"127.0.0.1:{server.url.rpartition(':')[2]}:{server.url.rpartition(':')[2]}"]
        assert (option(call, "--cap-drop"), option(call, "--security-opt")) == (["ALL"], ["no-new-privileges"])
        assert option(call, "--shm-size") == ["32g"] and option(call, "--log-driver") == ["none"]
        assert not {"--privileged", "--ipc", "--pid", "--network", "--volume", "-v"} & set(call) and "docker.sock" not in str(call)
        assert "--http-proxy=false" in call  # podman hands on its own where it is not told otherwise

    def test_a_port_that_needs_a_privilege_is_another_one_inside(self, scene, stack, monkeypatch):
        monkeypatch.setattr("bot.bench.launch.port.chosen", lambda machine: 80)
        scene.world.holds(FULL, program=PROGRAM)
        assert scene.begin(stack, "podman").url == "http://127.0.0.1:80"
        [call] = scene.world.called("podman", "create")
        assert option(call, "--publish") == ["127.0.0.1:80:8080"] and option(call, "--port") == ["8080"]

    def test_what_the_pull_said_is_where_the_proof_of_the_image_reads_it(self, scene, stack):
        digest = scene.world.holds(FULL, program=PROGRAM)
        server = scene.begin(stack, "docker")
        assert f"\nDigest: {digest}\nStatus: Downloaded newer image for {FULL}\n" in scene.launch_log
        assert server.launched.digest == digest  # a tag alone was asked for: what it was then is told

    def test_an_entry_point_that_is_a_command_of_its_own_is_replaced(self, scene, stack):
        scene.world.holds(FULL, program=PROGRAM, entry=["python3", "-m", "vllm.entrypoints.openai.api_server"])
        scene.begin(stack, "docker")
        assert "words ['vllm', 'serve'," in scene.server_says("words")

    @pytest.mark.parametrize("entry, made", [
        (None, ["id", "vllm", "serve"]), (["/opt/nvidia/nvidia_entrypoint.sh"], ["id", "vllm", "serve"]),
        (["vllm", "serve"], ["--entrypoint", "vllm", "id", "serve"]), (["/bin/sh", "-c"], ["--entrypoint", "vllm", "id", "serve"])])
    def test_one_that_only_prepares_is_kept(self, entry, made):
        assert _entered(_Image(id="id", config={"Entrypoint": entry}), ("vllm", "serve")) == made

    def test_an_image_that_is_here_under_its_digest_is_not_asked_for_again(self, scene, stack):
        digest = scene.world.holds(FULL, program=PROGRAM)
        with ExitStack() as first:
            scene.begin(first, "docker", image=f"{IMAGE}@{digest}")
        scene.world.breaks("pull", "dial tcp: no such host")
        assert scene.begin(stack, "docker", image=f"{IMAGE}@{digest}").launched.digest == digest


class TestTheTokenAndTheEnvironment:
    def test_the_token_is_named_and_its_value_is_nowhere(self, scene, stack):
        scene.world.holds(FULL, program=PROGRAM)
        scene.env |= {"HF_TOKEN": TOKEN, "GITHUB_TOKEN": "x", "ACTIONS_RUNTIME_TOKEN": "x", "RUNNER_NAME": "x"}
        server = scene.begin(stack, "docker", {"env": {"NGC_KEY": "operators-secret"}}, env={"VLLM_USE_V1": True, "NOTHING": None})
        [call] = scene.world.called("docker", "create")
        assert option(call, "--env") == ["VLLM_USE_V1=1", "HF_TOKEN", "NGC_KEY"]
        assert "variables ['HF_TOKEN', 'NGC_KEY', 'VLLM_USE_V1']" in scene.server_says("variables")
        told = f"{scene.launch_log}{scene.server_log}{server.launched}{scene.world.calls()}{scene.said}"
        assert TOKEN not in told and "operators-secret" not in told
        seen = {name for env in scene.world.environments("docker") for name in env}
        assert not {name for name in seen if name.startswith(("GITHUB_", "ACTIONS_", "RUNNER_"))}

    @pytest.mark.parametrize("own", [{}, {"HTTPS_PROXY": "http://proxy"}, {"HTTPS_PROXY": ""}])
    def test_a_proxy_with_a_password_is_nowhere_whatever_the_bench_has_itself(self, scene, stack, own):
        scene.world.holds(FULL, program=PROGRAM)
        scene.env |= own
        server = scene.begin(stack, "docker", {"env": {"HTTPS_PROXY": "http://u:operators-secret@proxy:3128"}})
        [call] = scene.world.called("docker", "create")
        assert option(call, "--env") == ["HTTPS_PROXY"]
        assert "operators-secret" not in f"{scene.launch_log}{server.launched}{scene.world.calls()}{scene.said}"
        assert any(env.get("HTTPS_PROXY", "").endswith("@proxy:3128") for env in scene.world.environments("docker"))

    def test_the_models_folder_is_the_containers_cache_and_others_are_read_only(self, scene, stack, tmp_path):
        scene.world.holds(FULL, program=PROGRAM)
        (tmp_path / "models").mkdir()
        (tmp_path / "data").mkdir()
        scene.begin(stack, "docker", {"models": str(tmp_path / "models"), "mounts": (f"{tmp_path}/data:/data",)})
        [call] = scene.world.called("docker", "create")
        assert option(call, "--mount") == [f"type=bind,source={tmp_path}/models/hub,target=/hf/hub",
                                           f"type=bind,source={tmp_path}/data,target=/data,readonly"]
        assert "HF_HUB_CACHE=/hf/hub" in option(call, "--env") and "HF_HOME" not in str(call)  # beside `hub` lies the host's login

    @pytest.mark.parametrize("machine, words", [
        ({"env": {"GITHUB_TOKEN": "x"}}, "GITHUB_TOKEN"), ({"models": "/no/such"}, "/no/such is not there"),
        ({"mounts": ("/no/such:/x",)}, "/no/such is not there"), ({"mounts": ("relative:/x",)}, "not HOST:CONTAINER"),
        ({"mounts": ("/run:/run",)}, "daemons"), ({"mounts": ("/:/host",)}, "daemons")])
    def test_a_machine_file_that_gives_too_much_is_refused_before_anything_is_pulled(self, scene, stack, machine, words):
        with pytest.raises(Refusal, match=words):
            scene.begin(stack, "docker", machine)
        assert scene.world.called("docker", "pull") == []


class TestWhatCannotBeLaunched:
    """Each with its own line, and nothing left behind."""

    CASES = {
        "no image": ({}, "there is no image", Refusal),
        "registry away": ({"pull": "dial tcp 10.0.0.1:443: connect: connection refused"}, "registry of .* does not answer", Unreachable),
        "disk full": ({"pull": "failed to register layer: write /x: no space left on device"}, "no space left", Refusal),
        "no daemon": ({"version": "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?"}, "does not answer",
                      Unreachable),
        "no toolkit": ({"start": 'could not select device driver "" with capabilities: [[gpu]]'}, "cannot hand GPUs", Refusal),
        "unheard of": ({"create": "the moon is in the wrong phase"}, "exit code 1.*wrong phase", Refusal),
    }

    @pytest.mark.parametrize("case", CASES)
    def test_is_said(self, scene, case):
        breaks, words, kind = self.CASES[case]
        if case != "no image":
            scene.world.holds(FULL, program=PROGRAM)
        for command, says in breaks.items():
            scene.world.breaks(command, says)
        with ExitStack() as stack, pytest.raises(kind, match=f"(?s){words}") as told:
            scene.begin(stack, "docker")
        assert told.value.exit_code == (3 if kind is Unreachable else 1)
        assert told.value.hint and scene.world.containers() == {}

    def test_another_digest_than_the_one_asked_for_is_refused(self, scene, stack):
        digest = scene.world.holds(FULL, program=PROGRAM)
        scene.world._said["images"][FULL]["instead"] = f"sha256:{'e' * 64}"
        scene.world._keep()
        with pytest.raises(Refusal, match="not the one asked for: sha256:eee"):
            scene.begin(stack, "podman", image=f"{IMAGE}@{digest}")
        assert scene.world.called("podman", "create") == []

    def test_an_image_of_another_platform_is_refused(self, scene, stack):
        scene.world.holds(FULL, program=PROGRAM, architecture="riscv64")
        with pytest.raises(Refusal, match="built for linux/riscv64, and this machine is linux/"):
            scene.begin(stack, "docker")

    def test_a_tool_that_is_not_installed(self, tmp_path, stack):
        with pytest.raises(Missing, match="podman is not installed"):
            Scene(tmp_path).begin(stack, "podman")

    @pytest.mark.parametrize("image", ["Not An Image", "--privileged", "a/b:c@sha256:12"])
    def test_an_image_that_is_none(self, scene, stack, image):
        with pytest.raises(BadInput, match="image reference"):
            scene.begin(stack, "docker", image=image)


class TestTheEndOfAServer:
    @pytest.mark.parametrize("args, why", [({"crash": True}, "exit code 3"), ({"oom": True}, r"exit code 137 \(SIGKILL\), killed because")])
    def test_is_told_with_its_cause(self, scene, stack, args, why):
        scene.world.holds(FULL, program=PROGRAM)
        server = scene.begin(stack, "docker", args=args)
        assert re.search(why, over(server)) and server.over() == over(server)

    def test_one_that_does_not_listen_is_killed_and_removed(self, scene, monkeypatch):
        monkeypatch.setattr("bot.bench.launch.containers.STOP_S", 0.1)
        scene.world.holds(FULL, program=PROGRAM)
        with ExitStack() as stack:
            scene.begin(stack, "docker", args={"deaf": True})
            scene.server_says("variables")
            [one] = scene.world.containers().values()
        assert scene.world.containers() == {} and not Path(f"/proc/{one['pid']}").exists()


class Interrupts:
    """A signal while the client waits for `create`, once."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.done = scene, False

    def __call__(self, seconds: float) -> None:
        time.sleep(seconds)
        if not self.done and self.scene.world.called("docker", "create"):
            self.done = True
            raise KeyboardInterrupt


class TestEveryWayOut:
    """Where the work breaks off, what was begun is stopped and removed."""

    def broken(self, scene, command: str) -> None:
        with pytest.raises(KeyboardInterrupt), ExitStack() as stack:
            real = scene.host.programs.__class__.start

            def start(programs, argv, **more):
                running = real(programs, argv, **more)
                if argv[1] == command:
                    raise KeyboardInterrupt
                return running

            stack.enter_context(pytest.MonkeyPatch.context()).setattr("bot.adapters.programs.LocalPrograms.start", start)
            scene.begin(stack, "docker")

    @pytest.mark.parametrize("command", ["pull", "create", "start"])
    def test_a_signal_in_the_middle(self, scene, command):
        scene.world.holds(FULL, program=PROGRAM)
        self.broken(scene, command)
        assert scene.world.containers() == {}

    def test_a_daemon_that_creates_it_after_all_is_waited_for(self, scene):
        scene.world.holds(FULL, program=PROGRAM)
        scene.world.slows("create", 0.2)
        self.broken(scene, "create")
        assert scene.world.containers() == {}

    def test_a_client_that_is_creating_may_end_by_itself(self, scene, monkeypatch):
        """A daemon makes what it was asked for, also when its client is stopped meanwhile."""
        scene.world.holds(FULL, program=PROGRAM)
        scene.world.slows("create", 0.4)
        patience, asked = start_module.Start._patient, []

        def patient(start, running, seconds):
            asked.append(seconds)
            patience(start, running, seconds)
            assert not seconds or running.ended() == 0

        monkeypatch.setattr(start_module.Start, "_patient", patient)
        monkeypatch.setattr("bot.adapters.clock.SystemClock.sleep", interrupts := Interrupts(scene))
        with pytest.raises(KeyboardInterrupt), ExitStack() as stack:
            scene.begin(stack, "docker")
        assert interrupts.done and asked[-1] > 0 and scene.world.containers() == {}

    def test_a_daemon_that_is_too_slow_to_remove_is_told_and_the_next_bench_does_it(self, scene, monkeypatch):
        monkeypatch.setattr("bot.bench.launch.containers.LATE_S", 0.2)
        scene.world.holds(FULL, program=PROGRAM)
        scene.world.slows("rm", 5)
        with pytest.raises(Refusal, match="could not be removed"), ExitStack() as stack:
            scene.begin(stack, "docker", args={"crash": True})
        assert len(scene.world.containers()) == 1


class TestWhatAKilledBenchLeft:
    def test_is_removed_at_the_next_start_and_nobody_elses_is(self, scene, stack):
        scene.world.holds(FULL, program=PROGRAM)
        mine = leftovers.owner()
        boot, space, pid, begun = mine.split("/")
        scene.world.leaves("dead", {"bumpbot.bench": f"{boot}/{space}/{pid}/{int(begun) - 1}"})
        scene.world.leaves("of-an-earlier-boot", {"bumpbot.bench": f"00000000-0000-0000-0000-000000000000/{space}/{pid}/{begun}"})
        scene.world.leaves("alive", {"bumpbot.bench": f"{boot}/{space}/{os.getppid()}/{leftovers._begun(os.getppid(), Path('/proc'))}"})
        scene.world.leaves("of-another-runner", {"bumpbot.bench": f"{boot}/1234/1/1"})
        scene.world.leaves("not-ours", {"app": "x"})
        scene.world.leaves("odd", {"bumpbot.bench": "who knows"})
        scene.begin(stack, "docker")
        left = set(scene.world.containers())
        assert {"alive", "of-another-runner", "not-ours", "odd"} < left and not {"dead", "of-an-earlier-boot"} & left
        assert sum("killed" in line for line in scene.said) == 2
