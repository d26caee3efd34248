"""Whether a machine is the one that a point was made for."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from bot.bench.diary import known
from bot.errors import Refusal
from bot.model.bench import Hardware, Order
from bot.strict.words import one_line

# A model's name as vendors and people write it: h200, mi300x, b200, l40s, gb200, rtx4090, t4. What memory and sockets are called
# looks the same.
_MODEL = re.compile(r"[a-z]{1,6}[0-9]{1,4}[a-z]{0,3}")
_NO_MODEL = re.compile(r"(?:hbm|sxm|oam|nvl|g?ddr|gen|pcie|rev|gfx)[0-9]*[a-z]*")


def mismatch(order: Order, hardware: Hardware) -> str | None:
    """Why the point cannot be measured on this machine, in one line; None where it can, and where nobody knows: no tool told of
    GPUs, or their name is no model's."""
    if hardware.gpus is None or order.hardware.lower() in ("cpu", "none"):
        return None
    names = [gpu.name or "" for gpu in hardware.gpus]
    kind = of_kind(order.hardware, names)
    other = next((name for name in names if _fits(order.hardware, name) is False), None)
    split = sum(fits and gpu.mig is True for gpu, fits in zip(hardware.gpus, kind, strict=True))
    if sum(kind) - split >= order.gpus:
        return None
    if split:
        return f"the point needs {order.gpus} whole GPUs, and {split} of this machine's {len(names)} are split into slices (MIG)"
    if other is not None:
        return f"the point is one of {order.gpus} x {order.hardware}, and this machine has {one_line(other, 80)}"
    nameless = f", of which {len(names) - sum(kind)} have no name that tells what they are" if sum(kind) < len(names) else ""
    return f"the point needs {order.gpus} GPUs, and this machine has {len(names)}{nameless}"


def check(order: Order, hardware: Hardware) -> None:
    """Refusal where `mismatch` tells one."""
    if (why := mismatch(order, hardware)) is not None:
        fewer = not any(_fits(order.hardware, gpu.name) is False for gpu in hardware.gpus or ())
        raise known(Refusal(why, "run it where its recipe says (hardware.runner)"), "few-gpus" if fewer else "other-gpus",
                    order.hardware, len(hardware.gpus or ()), "of", order.gpus)


def of_kind(asked: str, names: Sequence[str | None]) -> tuple[bool, ...]:
    """Of each GPU, by its name, whether it may be one of those asked for. Where one surely is, a GPU whose name tells nothing is
    not: a machine may hold GPUs of two kinds."""
    fits = [_fits(asked, name or "") for name in names]
    return tuple(fit is True if True in fits else fit is not False for fit in fits)


def _fits(asked: str, name: str) -> bool | None:
    """Whether a GPU of this name is the one asked for; None where the two cannot be compared."""
    wanted, seen = _models(asked), _models(name)
    if not wanted or not seen:
        return None
    # Of a runner's label (`h200-cw`, `cluster:b300-nv`) one word is the model; of a GPU's name every one may be.
    return bool(wanted & seen)


def _models(text: str) -> Set[str]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    pairs = [one + two for one, two in zip(words, words[1:], strict=False) if one.isalpha() and two[0].isdigit()]
    return {word for word in (*words, *pairs) if _MODEL.fullmatch(word) and not _NO_MODEL.fullmatch(word)}
