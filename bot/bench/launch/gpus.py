"""Which GPUs a server gets: of the point's kind, whole and idle; those that the operator names, else the first.

A machine may hold GPUs of two kinds, GPUs that are split into slices, and GPUs that somebody uses. One such among those that are
handed out, and figures of another machine stand under the point's name: then nothing is started.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from bot.bench.diary import known
from bot.bench.hardware import Card, cards, of_kind
from bot.bench.host import Host
from bot.errors import Refusal
from bot.model.bench import Order
from bot.strict.words import one_line

VISIBLE = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
           "GPU_DEVICE_ORDINAL")
"""What says which GPUs a program sees. Two of them at once hide one another's: HIP counts inside what ROCR leaves."""
# The numbers are those of the vendor's tool; without the order CUDA counts the fastest first.
SET: Mapping[str, Mapping[str, str]] = {
    "nvidia": {"CUDA_VISIBLE_DEVICES": "{ids}", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, "amd": {"ROCR_VISIBLE_DEVICES": "{ids}"}}
_ONE = re.compile(r"[0-9]{1,3}|GPU-[0-9a-fA-F-]{4,64}|MIG-[0-9A-Za-z/-]{4,80}|[0-9a-f]{8,20}")
_UNSAID = (None, "all", "void")
NO_TOOL = "no GPU was handed to the server: no tool of a vendor is there to name one"
BLIND = "the first GPUs were taken: nothing tells which are idle"
NAMELESS = "whether the GPUs are the point's kind is not known: their names do not tell it"


class Chosen(Struct, frozen=True, kw_only=True):
    """`vendor` "" where no tool of a vendor is there: then nothing is handed out. `ids` as the vendor's variable takes them,
    `numbers` as its tool counts them (None: not known)."""

    vendor: str = ""
    ids: tuple[str, ...] = ()
    numbers: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def variables(self) -> dict[str, str]:
        """What hands them out to a process: of the variables that name GPUs exactly one."""
        return {name: value.format(ids=",".join(self.ids)) for name, value in SET.get(self.vendor, {}).items()} if self.ids else {}

    def rest(self, env: Mapping[str, str]) -> dict[str, str]:
        """An environment without what else would name GPUs, where some are handed out."""
        return {name: value for name, value in env.items() if not self.ids or name not in VISIBLE}


def choose(order: Order, host: Host, env: Mapping[str, str] | None = None, *, must: bool = True) -> Chosen:
    """As many GPUs as the order needs; `env` is the operator's (left out: this process's own). Refusal where he names another
    kind, slices, or what is not there, and where too few are whole and idle. Where nothing tells of GPUs and `must` is not set,
    too few names are no refusal: a machine without GPUs may have the variable."""
    if order.hardware.lower() in ("cpu", "none"):
        return Chosen()
    vendor, there = cards(host)
    if not vendor:
        return Chosen(notes=(NO_TOOL,))
    named = _named(vendor, host.env if env is None else env, there)
    if there is None:
        return _unseen(order, vendor, named, must)
    if named is None:
        return _made(order, vendor, [(str(card.index), card) for card in _free(order, there)], there)
    variable, ids = named
    found = [(word, _checked(order, variable, word, there, vendor)) for word in ids]
    different = {word if card is None else str(card.index) for word, card in found}
    if len(different) < order.gpus or len(different) < len(ids):
        raise known(Refusal(f"the point needs {order.gpus} GPUs, and {variable} names {len(different)}",
                            f"name as many in {variable}, each once, or unset it"),
                    "few-gpus", order.hardware, len(different), "of", order.gpus)
    idle = [(word, card) for word, card in found if card is None or card.idle is not False]
    if len(idle) < order.gpus:
        raise known(Refusal(f"the point needs {order.gpus} GPUs, and of those that {variable} names {len(idle)} are idle",
                            f"end what runs on the others, or name others in {variable}"),
                    "few-gpus", order.hardware, len(idle), "of", order.gpus)
    return _made(order, vendor, idle, there)


def _unseen(order: Order, vendor: str, named: tuple[str, list[str]] | None, must: bool) -> Chosen:
    """By the operator's word alone, or the first."""
    variable, ids = named or ("", list(map(str, range(order.gpus))))
    if len(ids) >= order.gpus:
        return Chosen(vendor=vendor, ids=tuple(ids[: order.gpus]), notes=(BLIND if named is None else NAMELESS,))
    few = f"the point needs {order.gpus} GPUs, and {variable} names {len(ids)}"
    if must:
        raise known(Refusal(few, f"name more in {variable}, or unset it"), "few-gpus", order.hardware, len(ids), "of", order.gpus)
    return Chosen(notes=(few,))


def _made(order: Order, vendor: str, found: Sequence[tuple[str, Card | None]], there: Sequence[Card]) -> Chosen:
    taken = found[: order.gpus]
    kept = [card for _, card in taken if card is not None]
    # Beside a name that surely fits, one that tells nothing does not.
    sure = {card.index for card, one in zip(there, of_kind(order.hardware, [*(card.name for card in there), order.hardware]),
                                            strict=False) if one}
    notes = [note for note, holds in ((BLIND, any(card.idle is None for card in kept)),
                                      (NAMELESS, len(kept) < len(taken) or any(card.index not in sure for card in kept))) if holds]
    numbers = tuple(card.index for card in kept) if len(kept) == len(taken) else None
    return Chosen(vendor=vendor, ids=tuple(word for word, _ in taken), numbers=numbers, notes=tuple(notes))


def _free(order: Order, there: Sequence[Card]) -> list[Card]:
    """Those that may be handed out. Refusal where they are too few, with what the others are."""
    kind = dict(zip((card.index for card in there), of_kind(order.hardware, [card.name for card in there]), strict=True))
    why = {card.index: "of another kind" if not kind[card.index] else "split into slices (MIG)" if card.split
           else "in use" if card.idle is False else "" for card in there}
    free = [card for card in there if not why[card.index]]
    if len(free) < order.gpus:
        others = Counter(filter(None, why.values()))
        told = f" (not counted: {', '.join(f'{number} {what}' for what, number in others.items())})" if others else ""
        raise known(Refusal(f"the point needs {order.gpus} GPUs, and {len(free)} are idle{told}",
                            "end what runs on the others, or run the point on another machine"),
                    "few-gpus", order.hardware, len(free), "of", order.gpus)
    return free


def _checked(order: Order, variable: str, word: str, there: Sequence[Card], vendor: str) -> Card | None:
    """The GPU that the operator's word names; None where that cannot be told. Refusal for one that the point must not get."""
    card = next((card for card in there if _means(word, card)), None)
    why, kind = "", of_kind(order.hardware, [card.name for card in there])
    if word.startswith("MIG-") or (card and card.split):
        why = "is a slice of a GPU, or split into slices (MIG): the point needs whole ones"
    elif card is None and (word.isdigit() or (vendor == "nvidia" and all(card.uuid for card in there))):
        why = f"is not there: this machine has {len(there)}"
    elif card is not None and not kind[there.index(card)]:
        why = f"is {one_line(card.name or 'without a name', 80)}, and the point is one of {order.gpus} x {order.hardware}"
    if why:
        raise known(Refusal(f"{variable} names GPU {word}, which {why}", f"name others in {variable}, or unset it"),
                    "few-gpus", order.hardware, "?", "of", order.gpus)
    return card


def _means(word: str, card: Card) -> bool:
    """By its number, or by the beginning of its UUID, which AMD's tools write another way than its variable."""
    if word.isdigit() and len(word) <= 3:
        return int(word) == card.index
    own = (card.uuid or "").lower()
    return bool(own) and (own.startswith(word.lower()) or own.removeprefix("0x") == word.lower().removeprefix("gpu-"))


def _named(vendor: str, env: Mapping[str, str], there: Sequence[Card] | None) -> tuple[str, list[str]] | None:
    """The operator's variable, and the GPUs in it; None where he names none."""
    first = next((name for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES") if env.get(name) not in _UNSAID), None)
    if vendor == "nvidia":
        ids = _list(env[first]) if first else []
        # A container whose toolkit handed these over counts them anew from 0.
        outside = first == "NVIDIA_VISIBLE_DEVICES" and there is not None and len(ids) == len(there)
        return (first, ids) if first and not outside else None
    outer = "ROCR_VISIBLE_DEVICES" if env.get("ROCR_VISIBLE_DEVICES") not in _UNSAID else None
    inner = next((name for name in ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES") if env.get(name) not in (*_UNSAID, "")), None)
    if outer and inner and _list(env[outer]) != _list(env[inner]):
        seen = _list(env[outer])
        within = [seen[int(word)] for word in _list(env[inner]) if word.isdigit() and int(word) < len(seen)]
        return f"{inner} (within {outer})", within
    name = outer or inner
    return (name, _list(env[name])) if name else None


def _list(value: str) -> list[str]:
    """CUDA reads such a list until the first entry that names nothing (`-1` hides all that follow)."""
    found: list[str] = []
    for word in map(str.strip, value.split(",")):
        if not _ONE.fullmatch(word) or word in found:
            break
        found.append(word)
    return found
