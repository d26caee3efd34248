"""Machines whose GPUs are not all alike: only whole, idle ones of the point's kind are handed out, by exactly one variable."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack

import pytest

from bot.bench import hardware
from bot.bench.host import Host
from bot.bench.launch import gpus
from bot.errors import Refusal
from tests.bench.launch.worlds import SERVER, Scene, order
from tests.fakes.smi import Nvidia, Tools, h200, says

H100 = {"name": "NVIDIA H100 80GB HBM3"}
MI355X = [{"gpu": at, "asic": {"market_name": "AMD Instinct MI355X", "asic_serial": f"0xA0B0C0D0E0F0000{at}"},
           "mem_usage": {"used_vram": {"value": 283, "unit": "MB"}}} for at in range(8)]


def nvidia(*cards, **env: str) -> Host:
    return Host(programs=Tools({"nvidia-smi": Nvidia(*cards)}), web=None, clock=None, env=env)  # type: ignore[arg-type]


def amd(**env: str) -> Host:
    return Host(programs=Tools({"amd-smi": says(json.dumps(MI355X))}), web=None, clock=None, env=env)  # type: ignore[arg-type]


class TestGpusOfTwoKinds:
    def test_the_points_kind_alone_is_handed_out(self):
        chosen = gpus.choose(order(gpus=2), nvidia(h200(0, **H100), h200(1), h200(2)))
        assert (chosen.ids, chosen.numbers) == (("1", "2"), (1, 2))

    def test_too_few_of_the_kind_are_free(self):
        cards = (h200(0, **H100), h200(1), h200(2, memory__used="90000"), h200(3, mig__mode__current="Enabled"))
        with pytest.raises(Refusal) as told:
            gpus.choose(order(gpus=2), nvidia(*cards))
        assert told.value.reason == ("the point needs 2 GPUs, and 1 are idle (not counted: 1 of another kind, 1 in use, "
                                     "1 split into slices (MIG))")

    @pytest.mark.parametrize("value, words", [
        ("0,1", "names GPU 0, which is NVIDIA H100"), ("GPU-00000000,1", "which is NVIDIA H100"), ("1,9", "GPU 9, which is not there"),
        ("1,GPU-dead-beef", "is not there"), ("1,2", "1 are idle"), ("1,3", "slices"), ("1,MIG-8a1b2c3d", "slices")])
    def test_what_the_operator_names_is_held_against_what_is_there(self, value, words):
        cards = (h200(0, **H100), h200(1), h200(2, memory__used="90000"), h200(3, mig__mode__current="Enabled"))
        with pytest.raises(Refusal, match=words):
            gpus.choose(order(gpus=2), nvidia(*cards, CUDA_VISIBLE_DEVICES=value))

    def test_one_without_a_name_is_unknown_and_taken_only_where_none_has_one(self):
        nameless = h200(0, name="[N/A]")
        assert gpus.choose(order(gpus=1), nvidia(nameless, h200(1))) == gpus.Chosen(vendor="nvidia", ids=("1",), numbers=(1,))
        assert gpus.choose(order(gpus=1), nvidia(nameless)).notes == (gpus.NAMELESS,)
        facts = hardware.facts(nvidia(nameless, h200(1)))
        assert (facts.gpus[0].name, facts.absent) == (None, {"name": "GPU 0: the vendor's tool gives no name"})
        assert hardware.mismatch(order(gpus=2), facts) == "the point needs 2 GPUs, and this machine has 2, of which 1 have no name that " \
            "tells what they are"

    def test_those_that_are_split_are_no_gpus_of_the_machine(self):
        facts = hardware.facts(nvidia(h200(0), h200(1, mig__mode__current="Enabled")))
        assert hardware.mismatch(order(gpus=1), facts) is None
        assert "1 of this machine's 2 are split into slices (MIG)" in hardware.mismatch(order(gpus=2), facts)

    def test_a_driver_that_knows_nothing_of_slices_is_no_hindrance(self):
        cards = [{name: word for name, word in h200(at).items() if name != "mig.mode.current"} for at in range(2)]
        assert gpus.choose(order(gpus=2), nvidia(*cards)).ids == ("0", "1")
        assert hardware.facts(nvidia(*cards)).gpus[0].mig is None

    def test_what_a_toolkit_handed_to_our_own_container_is_counted_anew(self):
        assert gpus.choose(order(gpus=2), nvidia(h200(0), h200(1), NVIDIA_VISIBLE_DEVICES="4,5")).ids == ("0", "1")


class TestTheVariable:
    @pytest.mark.parametrize("env, ids", [
        ({"HIP_VISIBLE_DEVICES": "4,5"}, ("4", "5")), ({"CUDA_VISIBLE_DEVICES": "4,5"}, ("4", "5")), ({"ROCR_VISIBLE_DEVICES": "4,5"}, ("4", "5")),
        ({"ROCR_VISIBLE_DEVICES": "2,3,6", "HIP_VISIBLE_DEVICES": "1,2"}, ("3", "6")),
        ({"ROCR_VISIBLE_DEVICES": "4,5", "CUDA_VISIBLE_DEVICES": "4,5"}, ("4", "5")),
        ({"ROCR_VISIBLE_DEVICES": "GPU-a0b0c0d0e0f00006,1"}, ("GPU-a0b0c0d0e0f00006", "1")), ({}, ("0", "1"))])
    def test_of_amd_is_one_whatever_the_operator_wrote(self, env, ids):
        chosen = gpus.choose(order(hardware="mi355x", gpus=2), amd(**env))
        assert (chosen.ids, chosen.notes) == (ids, ())
        assert {**chosen.rest({**env, "A": "1"}), **chosen.variables} == {"A": "1", "ROCR_VISIBLE_DEVICES": ",".join(ids)}

    def test_of_nvidia_counts_as_its_tool_does(self):
        chosen = gpus.choose(order(gpus=1), nvidia(h200(0), h200(1), CUDA_VISIBLE_DEVICES="1", HIP_VISIBLE_DEVICES="0"))
        assert chosen.variables == {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}

    def test_on_a_machine_without_a_tool_is_left_alone(self):
        bare = Host(programs=Tools({}), web=None, clock=None, env={"CUDA_VISIBLE_DEVICES": ""})  # type: ignore[arg-type]
        chosen = gpus.choose(order(), bare, must=False)
        assert chosen.notes == (gpus.NO_TOOL,) and chosen.rest(bare.env) == bare.env


class TestACommandOfTheMachine:
    """What it sees is what the point has, or it is not started."""

    def scene(self, tmp_path, *cards: dict[str, str]) -> Scene:
        made = Scene(tmp_path)
        answer = Nvidia(*cards)
        said = {fields: answer([f"--query-gpu={fields}", "--format=csv,noheader,nounits"])[1]
                for fields in ("index,uuid,name,memory.used,mig.mode.current",)}
        (made.world.bin / "nvidia-smi").write_text(
            "#!/bin/sh\ncase $1 in\n" + "".join(f"--query-gpu={fields}) echo '{text.strip()}';;\n" for fields, text in said.items()) + "esac\n")
        (made.world.bin / "nvidia-smi").chmod(0o755)
        return made

    def begin(self, scene: Scene, stack: ExitStack, **machine):
        shows = SERVER.replace('print("words"', 'print("sees", os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("HIP_VISIBLE_DEVICES"))\nprint("words"')
        return scene.begin(stack, "process", {"server": (sys.executable, "-IS", "-c", shows, "{port}"), **machine})

    def test_sees_the_idle_ones_of_its_kind_and_it_is_told_which(self, tmp_path):
        scene = self.scene(tmp_path, h200(0, **H100), h200(1), h200(2), h200(3))
        with ExitStack() as stack:
            server = self.begin(scene, stack, env={"CUDA_VISIBLE_DEVICES": "3,2,1", "HIP_VISIBLE_DEVICES": "0"})
            assert "sees 3,2 None" in scene.server_says("words")
        assert server.launched.gpus == (3, 2)

    @pytest.mark.parametrize("value", ["1", "1,1", "-1", "", "1,9", "0,1", None])
    def test_is_not_started_with_fewer(self, tmp_path, value):
        scene = self.scene(tmp_path, h200(0, **H100), h200(1), h200(2, memory__used="90000"))
        scene.env |= {} if value is None else {"CUDA_VISIBLE_DEVICES": value}
        with pytest.raises(Refusal, match="CUDA_VISIBLE_DEVICES names|1 are idle"), ExitStack() as stack:
            self.begin(scene, stack)
        assert not (scene.place.logs / "server.log").exists()
