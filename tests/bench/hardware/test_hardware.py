"""What a machine is made of, as its own tools and the kernel's files tell it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.bench import hardware
from bot.bench.hardware import amd
from bot.bench.hardware.told import number, words
from bot.bench.host import Host
from bot.errors import Unreachable
from bot.model.bench import Device, Hardware
from tests.fakes.smi import Nvidia, Tools, h200, says

NEW = [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X", "asic_serial": "0x6F1F0A2B3C4D5E6F"}, "bus": {"bdf": "0000:83:00.0"},
        "vram": {"type": "HBM3", "size": {"value": 196592, "unit": "MB"}}, "driver": {"name": "amdgpu", "version": "6.12.12"},
        "limit": {"max_power": {"value": 750, "unit": "W"}}, "numa": {"node": 1, "affinity": 1}},
       {"gpu": 1, "asic": {"market_name": "N/A"}, "bus": "N/A", "vram": {"size": {"value": 206158430208, "unit": "B"}}}]
OLD = {"card0": {"Card Series": "AMD Instinct MI300X", "Card Model": "0x74a1", "Unique ID": "0x719d230578348e8c",
                 "VRAM Total Memory (B)": "206141652992", "sclk clock speed:": "(132Mhz)", "PCI Bus": "0000:83:00.0",
                 "Max Graphics Package Power (W)": "750.0"}, "system": {"Driver version": "6.10.5"}}


def facts(tools=None, root: Path = Path("/nowhere")) -> Hardware:
    host = Host(programs=Tools(tools or {}), web=None, clock=None, env={})  # type: ignore[arg-type]
    return hardware.facts(host, root=root)


class TestNvidia:
    def test_tells_every_gpu_its_driver_and_its_cuda(self, tmp_path):
        place = tmp_path / "sys/bus/pci/devices/0000:04:00.0"
        place.mkdir(parents=True)
        (place / "numa_node").write_text("1\n")
        told = facts({"nvidia-smi": Nvidia(h200(0), h200(1))}, tmp_path)
        assert told.gpus[0] == Device(index=0, name="NVIDIA H200", uuid="GPU-00000000-1111-2222-3333-444444444444", memory=143771, numa=1, mig=False,
                                      clock=345, clock_max=1980, power_limit=700.0)
        assert (len(told.gpus), told.gpus[1].numa, told.driver, told.runtime) == (2, None, "580.65.06", "CUDA 13.0")
        assert told.absent == {}

    def test_what_it_does_not_know_is_none(self):
        card = h200(0, memory__total="[N/A]", power__limit="[Not Supported]", clocks__sm="[Unknown Error]", clocks__max__sm="N/A")
        [gpu] = facts({"nvidia-smi": Nvidia(card)}).gpus
        assert (gpu.memory, gpu.power_limit, gpu.clock, gpu.clock_max) == (None, None, None, None)

    @pytest.mark.parametrize("tool, why", [
        (says("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", 9), "exit code 9: NVIDIA-SMI has failed"),
        (says("garbage"), "not what was asked for"), (says("", 2, "\x1b[31mbad\n"), "exit code 2: ?[31mbad")])
    def test_that_fails_is_said_and_nothing_is_made_up(self, tool, why):
        told = facts({"nvidia-smi": tool})
        assert told.gpus is None and told.driver is None and why in told.absent["nvidia-smi"]

    def test_that_hangs_is_said(self):
        def hangs(words):
            raise Unreachable("nvidia-smi did not end within 15 s")
        assert facts({"nvidia-smi": hangs}).absent["nvidia-smi"] == "nvidia-smi did not end within 15 s"

    def test_that_finds_no_gpu_says_so(self):
        told = facts({"nvidia-smi": Nvidia()})
        assert told.gpus == () and told.driver is None

    def test_a_driver_without_a_cuda_version_says_that(self):
        told = facts({"nvidia-smi": Nvidia(h200(0), cuda="N/A")})
        assert told.runtime is None and "names no CUDA version" in told.absent["cuda"]


class TestAmd:
    @pytest.mark.parametrize("said", [NEW, {"gpu_data": NEW}])
    def test_tells_in_both_shapes_of_its_json(self, said):
        told = facts({"amd-smi": says(f"WARNING: no permissions\n{json.dumps(said)}")})
        assert told.gpus[0] == Device(index=0, name="AMD Instinct MI300X", uuid="0x6F1F0A2B3C4D5E6F", memory=196592, numa=1,
                                      power_limit=750.0)
        assert (told.gpus[1].name, told.gpus[1].memory, told.driver) == (None, 196608, "6.12.12") and told.absent["name"].startswith("GPU 1:")

    def test_the_older_tool_is_asked_where_the_newer_is_not(self):
        told = facts({"rocm-smi": says(json.dumps(OLD))})
        assert told.gpus == (Device(index=0, name="AMD Instinct MI300X", uuid="0x719d230578348e8c", memory=196592, clock=132,
                                    power_limit=750.0),)
        assert told.driver == "6.10.5" and told.absent["amd-smi"] == "not installed"

    @pytest.mark.parametrize("text", ["", "[1, 2]", "{}", "null", '{"a"', '[{"x": 1}]', '"text"'])
    def test_an_answer_that_is_none_is_said(self, text):
        told = facts({"amd-smi": says(text), "rocm-smi": says("no")})
        assert told.gpus is None and set(told.absent) == {"nvidia-smi", "amd-smi", "rocm-smi"}

    def test_a_sample_has_the_highest_clock_of_the_dies(self):
        said = [{"gpu": 3, "clock": {"gfx_0": {"clk": {"value": 132, "unit": "MHz"}}, "gfx_1": {"clk": {"value": 2100, "unit": "MHz"}},
                                     "mem_0": {"clk": {"value": 9000}}}, "temperature": {"hotspot": {"value": 61, "unit": "C"}},
                 "power": {"socket_power": {"value": 702, "unit": "W"}}}]
        host = Host(programs=Tools({"amd-smi": says(json.dumps(said))}), web=None, clock=None, env={})  # type: ignore[arg-type]
        assert amd.sampled(host, 1.0) == [(3, 2100, 61.0, 702.0, None)]


class TestTheRest:
    def test_is_read_from_the_kernels_files(self, tmp_path):
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\nmodel name\t: AMD EPYC 9654\n\nprocessor\t: 1\nmodel name\t: AMD EPYC 9654\n")
        (tmp_path / "proc/meminfo").write_text("MemTotal:       1583846400 kB\nMemFree: 1 kB\n")
        for node in ("node0", "node1", "possible"):
            (tmp_path / "sys/devices/system/node" / node).mkdir(parents=True)
        told = facts(root=tmp_path)
        assert (told.cpu, told.cores, told.memory, told.numa) == ("AMD EPYC 9654", 2, 1546725, 2)
        assert told.host and told.kernel

    def test_is_unknown_where_there_are_none(self):
        told = facts()
        assert (told.cpu, told.cores, told.memory, told.numa, told.gpus) == (None, None, None, None, None)
        assert set(told.absent.values()) == {"not installed"}

    @pytest.mark.parametrize("word, value", [("345", 345.0), (" 76.42 ", 76.42), ("(132Mhz)", 132.0), ("700.00 W", 700.0), ("[N/A]", None),
                                             ("", None), (None, None), (True, None), ({"value": 5, "unit": "W"}, 5.0), ("nan", None), ("1e9", None)])
    def test_a_number_is_one_or_unknown(self, word, value):
        assert number(word) == value

    @pytest.mark.parametrize("word, value", [("NVIDIA H200", "NVIDIA H200"), ("[N/A]", None), ("N/A", None), ("[Not Supported]", None), ("", None)])
    def test_a_name_is_one_or_unknown(self, word, value):
        assert words(word) == value
