"""Which GPUs a server gets, how an image is named to each tool, what a failure means, and what is known of a dead bench."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from bot.bench.host import Host
from bot.bench.launch import faults, gpus, image, leftovers
from bot.bench.launch.clients import DOCKER, PODMAN
from bot.bench.launch.gpus import Chosen
from bot.bench.launch.server import ended
from bot.errors import Refusal, Unreachable
from tests.bench.launch.worlds import order
from tests.fakes.smi import Nvidia, Tools, h200, says

DIGEST, OTHER = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"


def host(tools=None, **env: str) -> Host:
    return Host(programs=Tools(tools or {}), web=None, clock=None, env=env)  # type: ignore[arg-type]


class TestGpus:
    def test_the_first_that_are_idle(self):
        cards = [h200(0, memory__used="140000"), h200(1), h200(2), h200(3)]
        chosen = gpus.choose(order(gpus=2), host({"nvidia-smi": Nvidia(*cards, busy=[cards[1]["uuid"]])}))
        assert (chosen.vendor, chosen.ids) == ("nvidia", ("2", "3"))

    def test_too_few_are_idle(self):
        with pytest.raises(Refusal, match="needs 2 GPUs, and 1 are idle"):
            gpus.choose(order(gpus=2), host({"nvidia-smi": Nvidia(h200(0), h200(1, memory__used="9000"))}))

    @pytest.mark.parametrize("value, ids, numbers", [
        ("4,5,6", ("4", "5"), (4, 5)), (" 7 , 1 ", ("7", "1"), (7, 1)), ("GPU-00000003,2", ("GPU-00000003", "2"), (3, 2))])
    def test_those_that_the_operator_names(self, value, ids, numbers):
        chosen = gpus.choose(order(gpus=2), host({"nvidia-smi": Nvidia(*map(h200, range(8)))}, CUDA_VISIBLE_DEVICES=value))
        assert (chosen.ids, chosen.numbers, chosen.notes) == (ids, numbers, ())

    @pytest.mark.parametrize("value", ["", "1", "0,-1,1", "1,1", "0,x", "0,GPU-00000000"])
    def test_the_operator_names_too_few(self, value):
        with pytest.raises(Refusal, match="CUDA_VISIBLE_DEVICES names [01]"):
            gpus.choose(order(gpus=2), host({"nvidia-smi": Nvidia(h200(0), h200(1))}, CUDA_VISIBLE_DEVICES=value))

    def test_all_of_them_named_is_none_named(self):
        machine = host({"nvidia-smi": Nvidia(h200(0), h200(1))}, NVIDIA_VISIBLE_DEVICES="all")
        assert gpus.choose(order(gpus=2), machine).ids == ("0", "1")

    def test_of_amd_by_the_memory_in_use(self):
        said = '[{"gpu": 0, "mem_usage": {"used_vram": {"value": 150000, "unit": "MB"}}}, ' \
               '{"gpu": 1, "mem_usage": {"used_vram": {"value": 283, "unit": "MB"}}}]'
        assert gpus.choose(order(gpus=1), host({"amd-smi": says(said)})) == Chosen(
            vendor="amd", ids=("1",), numbers=(1,), notes=(gpus.NAMELESS,))

    def test_nothing_tells_which_are_idle(self):
        chosen = gpus.choose(order(gpus=2), host({"rocm-smi": says("", 1, "driver not loaded")}))
        assert chosen.ids == ("0", "1") and "nothing tells" in chosen.notes[0]

    def test_no_tool_no_gpu_and_it_is_said(self):
        assert gpus.choose(order(), host()).notes[0].startswith("no GPU was handed")
        assert gpus.choose(order(hardware="cpu"), host({"nvidia-smi": Nvidia(h200(0))})) == Chosen()

    def test_are_handed_over_as_each_tool_has_it(self):
        nvidia, amd = Chosen(vendor="nvidia", ids=("2", "5")), Chosen(vendor="amd", ids=("0",))
        assert DOCKER.gpus(nvidia) == ("--gpus", '"device=2,5"')
        assert PODMAN.gpus(nvidia) == ("--device", "nvidia.com/gpu=2", "--device", "nvidia.com/gpu=5")
        assert DOCKER.gpus(amd) == PODMAN.gpus(amd)
        assert DOCKER.gpus(amd)[:4] == ("--device", "/dev/kfd", "--device", "/dev/dri")
        assert DOCKER.gpus(amd)[-2:] == ("--env", "ROCR_VISIBLE_DEVICES=0") and DOCKER.gpus(Chosen()) == ()


class TestNamesOfAnImage:
    @pytest.mark.parametrize("text, pulled, imported", [
        ("ubuntu", "docker.io/library/ubuntu:latest", "docker://library/ubuntu:latest"),
        ("lmsysorg/sglang:v1", "docker.io/lmsysorg/sglang:v1", "docker://lmsysorg/sglang:v1"),
        (f"lmsysorg/sglang:v1@{DIGEST}", f"docker.io/lmsysorg/sglang@{DIGEST}", f"docker://lmsysorg/sglang:{DIGEST}"),
        ("nvcr.io#nvidia/x:1", "nvcr.io/nvidia/x:1", "docker://nvcr.io#nvidia/x:1"),
        ("localhost:5000/a/b:1", "localhost:5000/a/b:1", "docker://localhost:5000#a/b:1")])
    def test_each_tool_gets_its_own(self, text, pulled, imported):
        assert (image.pulled_by(image.parsed(text)), image.imported_by(image.parsed(text))) == (pulled, imported)

    def test_the_digest_of_a_tag_is_the_one_that_was_pulled(self):
        tag = image.parsed("a/b:1")
        there = [f"a/b@{DIGEST}", f"mirror.example.org/a/b@{OTHER}"]
        assert image.digest_of(tag, there, "") == (DIGEST, ())
        both = [f"docker.io/a/b@{DIGEST}", f"docker.io/a/b@{OTHER}"]  # podman: the manifest and its index
        assert image.digest_of(tag, both, f"Digest: {OTHER}\nStatus: x") == (OTHER, ())
        assert image.digest_of(tag, both, "")[1]
        assert image.digest_of(tag, [], "")[0] is None

    def test_a_digest_that_was_asked_for_must_be_there(self):
        pinned = image.parsed(f"a/b:1@{DIGEST}")
        assert image.digest_of(pinned, [f"a/b@{OTHER}", f"a/b@{DIGEST}"], "") == (DIGEST, ())
        for there in ([], [f"a/b@{OTHER}"]):
            with pytest.raises(Refusal, match="not the one asked for"):
                image.digest_of(pinned, there, f"Digest: {DIGEST}")


class TestFailures:
    """Words of the real tools, and what they mean."""

    CASES = [
        ("Error response from daemon: manifest for a/b:1 not found: manifest unknown: manifest unknown", "there is no image", Refusal),
        ("Error: initializing source docker://a/b:1: reading manifest 1 in a/b: manifest unknown: manifest unknown", "no image", Refusal),
        ("Error response from daemon: pull access denied for a/b, repository does not exist or may require 'docker login': denied: "
         "requested access to the resource is denied", "only after a login", Refusal),
        ("Error response from daemon: Head \"https://r:5000/v2/a/b/manifests/1\": no basic auth credentials", "only after a login", Refusal),
        ("[ERROR] URL https://registry-1.docker.io/v2/a/b/manifests/1 returned error code: 404 Not Found", "no image", Refusal),
        ("[ERROR] URL https://nvcr.io/v2/a/b/manifests/1 returned error code: 401 Unauthorized", "only after a login", Refusal),
        ('Error response from daemon: Get "https://r.invalid/v2/": dial tcp: lookup r.invalid: no such host', "registry", Unreachable),
        ('Error: pinging container registry r: Get "https://r/v2/": dial tcp 10.0.0.1:443: i/o timeout', "registry", Unreachable),
        ("Error response from daemon: no matching manifest for linux/arm64/v8 in the manifest list entries", "no build", Refusal),
        ("Error: writing blob: storing blob to file \"/var/tmp/x\": write /var/tmp/x: no space left on device", "no space", Refusal),
        ("Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=0", "cannot hand GPUs", Refusal),
        ('error gathering device information while adding custom device "/dev/kfd": no such file or directory', "hand GPUs", Refusal),
        ("Error: cannot listen on the TCP port: listen tcp4 127.0.0.1:1: bind: address already in use", "port was taken", Refusal),
        ('invalid mount config for type "bind": bind source path does not exist: /x', "cannot be mounted", Refusal),
        ("srun: error: Unable to allocate resources: Socket timed out", "Slurm gives no resources", Unreachable),
        ("srun: error: invalid partition specified: x", "Slurm does not know", Refusal),
    ]

    @pytest.mark.parametrize("said, words, kind", CASES)
    def test_are_told_in_one_line_with_what_to_do(self, said, words, kind):
        error = faults.fault(f"some progress\n{said}\n", 1, client="docker", image="a/b:1", what="docker pull")
        assert type(error) is kind and words in error.reason and "\n" not in str(error)
        assert said[:60] in error.hint

    def test_that_nobody_has_heard_of_are_told_as_they_are(self):
        error = faults.fault("", 42, client="docker", image="a/b:1", what="docker create")
        assert str(error) == "docker create failed with exit code 42: look at logs/launch.log (it said: it said nothing)"

    def test_a_flood_is_read_from_its_end_in_no_time(self):
        error = faults.fault("x" * 5_000_000 + "\nno space left on device", 1, client="podman", image="a", what="pull")
        assert "no space" in error.reason

    @pytest.mark.parametrize("code, words", [(0, "exit code 0"), (3, "exit code 3"), (-9, "ended by SIGKILL"),
                                             (137, "exit code 137 (SIGKILL)"), (139, "exit code 139 (SIGSEGV)"), (255, "exit code 255")])
    def test_an_exit_code_has_its_words(self, code, words):
        assert ended(code) == words


class TestABenchThatIsGone:
    def test_is_known_by_its_process_and_when_that_began(self):
        me = leftovers.owner()
        boot, space, _, _ = me.split("/")
        assert re.fullmatch(r"[0-9a-f-]{36}/[0-9]+/[0-9]+/[0-9]+", me) and not leftovers.gone(me)
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        assert leftovers.gone(f"{boot}/{space}/{child}/12345")

    @pytest.mark.parametrize("label", ["", "x", "-/-/1/1", "a/b/c/d", "<no value>"])
    def test_is_not_told_from_a_label_that_says_nothing(self, label):
        assert not leftovers.gone(label)

    def test_nothing_is_known_where_the_system_tells_no_processes(self, tmp_path):
        assert leftovers.owner(tmp_path).startswith("-/-/")
        assert not leftovers.gone(leftovers.owner(), tmp_path) and not Path(tmp_path / "self").exists()
