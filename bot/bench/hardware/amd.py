"""What AMD's tools say: `amd-smi`, and where that is not there the older `rocm-smi`. Both print JSON whose keys differ from
release to release, so each value is looked for under every name that it has had."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.bench.hardware.told import Told, asked, json_of, node_of, number, whole, words
from bot.bench.host import Host
from bot.model.bench import Device

NEW, OLD = "amd-smi", "rocm-smi"
OLD_FACTS = ("--showproductname", "--showuniqueid", "--showmeminfo", "vram", "--showclocks", "--showmaxpower", "--showbus",
             "--showdriverversion")
OLD_SAMPLE = ("--showclocks", "--showtemp", "--showpower")
_CARD = re.compile(r"card([0-9]+)")
_SERIES = ("card series", "card model", "device name")
_POWERS = ("current socket graphics package power (w)", "average graphics package power (w)", "average power (w)")
_HOTTEST = ("temperature (sensor junction) (c)", "temperature (sensor edge) (c)")


def facts(host: Host, root: Path) -> Told:
    """GPUs and driver. Without either tool `gpus` is None."""
    text, why = asked(host, [NEW, "static", "--json"])
    cards = new_cards(text)
    if cards is not None:
        return _new(cards, root)
    absent = {NEW: why or "its answer is no JSON of GPUs"}
    text, why = asked(host, [OLD, *OLD_FACTS, "--json"])
    old = old_cards(text)
    if old is None:
        return Told(absent={**absent, OLD: why or "its answer is no JSON of GPUs"})
    driver = words(_lower(json_of(text or "")).get("system", {}).get("driver version"))
    gpus = tuple(_old_device(index, card, root) for index, card in old.items())
    return Told(gpus=gpus, driver=driver, absent={**absent, **({} if driver else {"amdgpu": f"{OLD} names no driver version"})})


def new_cards(text: str | None) -> list[Mapping[str, Any]] | None:
    """The GPUs of an output of amd-smi: a list, or since ROCm 7 a list below `gpu_data`."""
    data = json_of(text) if text else None
    if isinstance(data, dict):
        data = data.get("gpu_data", [data] if "gpu" in data else None)
    found = isinstance(data, list) and all(isinstance(card, dict) and "gpu" in card for card in data)
    return data if found else None


def old_cards(text: str | None) -> dict[int, dict[str, Any]] | None:
    """The GPUs of an output of rocm-smi, by index, keys in lower case."""
    data = _lower(json_of(text)) if text else {}
    cards = {int(found[1]): card for name, card in data.items() if (found := _CARD.fullmatch(name)) and isinstance(card, dict)}
    return dict(sorted(cards.items())) if cards or data else None


def _lower(data: Any) -> dict[str, Any]:
    """Keys in lower case, two levels down: `Card series` and `Card Series` are both about."""
    if not isinstance(data, dict):
        return {}
    return {str(key).strip().lower(): _lower(value) if isinstance(value, dict) else value for key, value in data.items()}


def _new(cards: list[Mapping[str, Any]], root: Path) -> Told:
    driver = next((found for card in cards if (found := words(_at(card, "driver", "version")))), None)
    absent = {} if driver else {"amdgpu": f"{NEW} names no driver version"}
    return Told(gpus=tuple(_new_device(card, at, root) for at, card in enumerate(cards)), driver=driver, absent=absent)


def _new_device(card: Mapping[str, Any], at: int, root: Path) -> Device:
    node = whole(_at(card, "numa", "node"))
    node = node if node is not None and node >= 0 else node_of(root, words(_at(card, "bus", "bdf")))
    index = whole(card.get("gpu"))
    return Device(index=at if index is None else index, name=words(_at(card, "asic", "market_name")),
                  uuid=words(_at(card, "asic", "asic_serial")), memory=_mebibytes(_at(card, "vram", "size")), numa=node,
                  power_limit=number(_at(card, "limit", "max_power")) or number(_at(card, "limit", "socket_power")))


def _mebibytes(size: Any) -> int | None:
    value = number(size)
    unit = str(size.get("unit", "MB")).upper() if isinstance(size, dict) else "MB"
    scale = {"B": 1 / (1 << 20), "KB": 1 / 1024, "MB": 1, "MIB": 1, "GB": 1024, "GIB": 1024}.get(unit)
    return None if value is None or scale is None else round(value * scale)


def _old_device(index: int, card: Mapping[str, Any], root: Path) -> Device:
    size = number(card.get("vram total memory (b)"))
    name = next((found for key in _SERIES if (found := words(card.get(key))) and not found.startswith("0x")), None)
    return Device(index=index, name=name, uuid=words(card.get("unique id")),
                  memory=None if size is None else round(size / (1 << 20)), numa=node_of(root, words(card.get("pci bus"))),
                  clock=whole(card.get("sclk clock speed:")),
                  power_limit=number(card.get("max graphics package power (w)")))


def sampled(host: Host, limit_s: float) -> list[tuple[int, int | None, float | None, float | None, list[str] | None]] | None:
    """Index, clock, temperature and power of each GPU now, and that nothing is known of throttling; None where neither tool
    answers."""
    text, _ = asked(host, [NEW, "metric", "--clock", "--temperature", "--power", "--json"], limit_s)
    cards = new_cards(text)
    if cards is not None:
        return [(whole(card.get("gpu")) or 0, _clock(card.get("clock")), number(_at(card, "temperature", "hotspot")),
                 number(_at(card, "power", "socket_power")), None) for card in cards]
    text, _ = asked(host, [OLD, *OLD_SAMPLE, "--json"], limit_s)
    old = old_cards(text)
    return None if old is None else [
        (index, whole(card.get("sclk clock speed:")), _first(card, _HOTTEST), _first(card, _POWERS), None)
        for index, card in old.items()]


def used(host: Host) -> dict[int, int] | None:
    """MiB of memory in use on each GPU; None where neither tool says it of every one."""
    text, _ = asked(host, [NEW, "metric", "--mem-usage", "--json"])
    cards = new_cards(text)
    if cards is not None:
        found = {whole(card.get("gpu")) or 0: _mebibytes(_at(card, "mem_usage", "used_vram")) for card in cards}
    else:
        text, _ = asked(host, [OLD, "--showmeminfo", "vram", "--json"])
        sizes = {index: number(card.get("vram total used memory (b)")) for index, card in (old_cards(text) or {}).items()}
        found = {index: None if size is None else round(size / (1 << 20)) for index, size in sizes.items()}
    known = {index: size for index, size in found.items() if size is not None}
    return known if known and len(known) == len(found) else None


def _clock(clocks: Any) -> int | None:
    """The highest of the compute dies' clocks: an MI300X has eight of them, and one may sleep."""
    found = [clock for name, of in clocks.items() if name.startswith("gfx") and isinstance(of, dict)
             and (clock := whole(of.get("clk"))) is not None] if isinstance(clocks, dict) else []
    return max(found, default=None)


def _first(card: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    return next((found for name in names if (found := number(card.get(name))) is not None), None)


def _at(card: Any, *keys: str) -> Any:
    for key in keys:
        card = card.get(key) if isinstance(card, dict) else None
    return card
