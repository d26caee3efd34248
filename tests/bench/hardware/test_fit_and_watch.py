"""Whether a machine is the one a point was made for, and what its GPUs did under load."""

from __future__ import annotations

import threading
import time

import pytest

from bot.bench import hardware
from bot.bench.host import Host
from bot.errors import Refusal, Unreachable
from bot.model.bench import Device, Hardware, Strain
from tests.bench.launch.worlds import order
from tests.fakes.smi import Nvidia, Tools, h200


def machine(*names: str) -> Hardware:
    return Hardware(gpus=tuple(Device(index=at, name=name) for at, name in enumerate(names)))


class TestAMachine:
    @pytest.mark.parametrize("asked, name", [
        ("h200", "NVIDIA H200"), ("H200", "NVIDIA H200 NVL"), ("h100", "NVIDIA H100 80GB HBM3"), ("h100", "NVIDIA H100 PCIe"),
        ("b200", "NVIDIA B200"), ("gb200", "NVIDIA GB200"), ("gb300", "NVIDIA GB300"), ("a100", "NVIDIA A100-SXM4-80GB"),
        ("mi300x", "AMD Instinct MI300X OAM"), ("mi355x", "AMD Instinct MI355X"), ("l40s", "NVIDIA L40S"), ("t4", "Tesla T4"),
        ("rtx4090", "NVIDIA GeForce RTX 4090"), ("h200-cw", "NVIDIA H200"), ("cluster:b300-nv", "NVIDIA B300 SXM6 AC")])
    def test_of_this_name_fits(self, asked, name):
        assert hardware.mismatch(order(hardware=asked, gpus=1), machine(name)) is None

    @pytest.mark.parametrize("asked, name", [
        ("h200", "NVIDIA H100 80GB HBM3"), ("h20", "NVIDIA H200"), ("h200", "NVIDIA H20"), ("b200", "NVIDIA GB200"), ("h100", "NVIDIA GH200 480GB"),
        ("gb200", "NVIDIA B200"), ("mi300x", "AMD Instinct MI325X"), ("mi355x", "NVIDIA H200"), ("h200", "Tesla T4"), ("b200", "NVIDIA B300 SXM6 AC")])
    def test_of_another_name_does_not(self, asked, name):
        why = hardware.mismatch(order(hardware=asked, gpus=1), machine(name))
        assert why == f"the point is one of 1 x {asked}, and this machine has {name}"
        with pytest.raises(Refusal, match="runner"):
            hardware.check(order(hardware=asked, gpus=1), machine(name))

    @pytest.mark.parametrize("asked, name", [("h200", ""), ("h200", "Graphics Device"), ("fast", "NVIDIA H200"), ("h200", "AMD HBM3 OAM")])
    def test_whose_name_tells_nothing_is_not_refused(self, asked, name):
        assert hardware.mismatch(order(hardware=asked, gpus=1), machine(name)) is None

    def test_with_fewer_gpus_does_not_fit_and_one_with_more_does(self):
        assert hardware.mismatch(order(gpus=4), machine("NVIDIA H200", "NVIDIA H200")) == "the point needs 4 GPUs, and this machine has 2"
        assert hardware.mismatch(order(gpus=1), machine()) == "the point needs 1 GPUs, and this machine has 0"
        assert hardware.mismatch(order(gpus=2), machine(*["NVIDIA H200"] * 8)) is None
        assert "Tesla T4" in hardware.mismatch(order(gpus=2), machine("NVIDIA H200", "Tesla T4"))
        assert hardware.mismatch(order(gpus=2), machine("Tesla T4", "NVIDIA H200", "NVIDIA H200")) is None

    def test_of_which_nothing_is_known_is_not_refused_and_a_point_for_no_gpu_never(self):
        assert hardware.mismatch(order(), Hardware()) is None
        assert hardware.mismatch(order(hardware="cpu"), machine()) is None


class Script:
    """nvidia-smi that shows other cards at each query, the last ones for ever; `seen` is set once all were shown."""

    def __init__(self, *shown) -> None:
        self.shown, self.seen = list(shown), threading.Event()

    def __call__(self, words):
        cards = self.shown[0]
        if len(self.shown) > 1 and "power.draw" in words[0] and (not cards or all(f in cards[0] for f in words[0].partition("=")[2].split(","))):
            self.shown.pop(0)
        elif len(self.shown) == 1:
            self.seen.set()
        return Nvidia(*cards)(words) if cards is not None else (9, "", "driver went away")


def watched(tool, facts=None, until=None) -> tuple[Strain, ...]:
    host = Host(programs=Tools({"nvidia-smi": tool}), web=None, clock=None, env={})  # type: ignore[arg-type]
    with hardware.Watch(host, facts or machine("NVIDIA H200"), every_s=0.001) as watch:
        if until is not None:
            assert until.wait(10)
    return watch.strain


class TestWatching:
    def test_keeps_what_the_servers_gpus_did_and_nobody_elses(self):
        tool = Script([h200(0), h200(1)], [h200(0), h200(1)])
        host = Host(programs=Tools({"nvidia-smi": tool}), web=None, clock=None, env={})  # type: ignore[arg-type]
        with hardware.Watch(host, machine("NVIDIA H200", "NVIDIA H200"), only=(1,), every_s=0.001) as watch:
            assert tool.seen.wait(10)
        assert [one.index for one in watch.strain] == [1]

    def test_keeps_the_extremes_and_by_what_it_was_throttled(self):
        script = Script(
            [h200(0, clocks__sm="1980", temperature__gpu="60", power__draw="650.5", clocks_event_reasons__active="0x0000000000000004")],
            [h200(0, clocks__sm="1200", temperature__gpu="83", power__draw="[N/A]", clocks_event_reasons__active="0x0000000000000024")],
            [h200(0, clocks__sm="1500", clocks_event_reasons__active="0x0000000000000001")])
        [strain] = watched(script, until=script.seen)
        assert (strain.index, strain.clock_low, strain.clock_high, strain.hottest, strain.power) == (0, 1200, 1980, 83.0, 650.5)
        assert strain.throttled == {"power-cap": 2, "thermal": 1} and strain.samples >= 2

    @pytest.mark.parametrize("field", ["clocks_throttle_reasons.active", None])
    def test_a_driver_with_the_older_field_or_none_is_sampled_all_the_same(self, field):
        card = h200(0)
        reasons = card.pop("clocks_event_reasons.active")
        card |= {field: reasons.replace("1", "8")} if field else {}
        script = Script([card], [card])
        [strain] = watched(script, until=script.seen)
        assert strain.clock_high == 345 and strain.throttled.keys() == ({"hardware-slowdown"} if field else set())

    def test_a_tool_that_fails_is_given_up_and_what_was_seen_is_kept(self):
        calls = []

        def fails(words):
            calls.append(words)
            if len(calls) == 1:
                return Nvidia(h200(0))(words)
            raise Unreachable("hangs") if len(calls) % 2 else RuntimeError("broken")

        host = Host(programs=Tools({"nvidia-smi": fails}), web=None, clock=None, env={})  # type: ignore[arg-type]
        with hardware.Watch(host, machine("NVIDIA H200"), every_s=0.001) as watch:
            watch._thread.join(10)
            assert not watch._thread.is_alive()
        assert [strain.samples for strain in watch.strain] == [1] and len(calls) == 4

    def test_its_end_waits_for_no_tool_that_hangs(self):
        held, asked = threading.Event(), threading.Event()

        def hangs(words):
            asked.set()
            held.wait(20)
            return 1, "", ""

        assert watched(hangs, until=asked) == ()
        held.set()

    def test_a_machine_without_gpus_is_not_watched(self):
        def never(words):
            raise AssertionError("asked")

        for facts in (Hardware(), machine()):
            host = Host(programs=Tools({"nvidia-smi": never}), web=None, clock=None, env={})  # type: ignore[arg-type]
            with hardware.Watch(host, facts, every_s=0.001) as watch:
                time.sleep(0.01)
            assert watch.strain == () and host.programs.calls == []  # type: ignore[attr-defined]
