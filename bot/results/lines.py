"""Which line a result row is of: the configuration that a curve is drawn for, in one spelling whoever wrote the row.

A recipe's name stands in no row, and rows of another model, machine or precision were judged as one point for it. The line
stands in for the name: rows of two lines never match, rows of one do however they spell it (CONTRACT 7.4, points 1 to 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

FRAMEWORKS = {"sglang-disagg": "mori-sglang", "trtllm": "trt", "dynamo-trtllm": "dynamo-trt"}
"""A recipe's framework -> the application's name for it."""
PRECISIONS = {"nvfp4": "fp4", "mxfp4": "fp4"}
MODELS = {"gptoss": "gptoss120b", "dsv4pro": "dsv4", "kimik2.7": "kimik2.7-code"}
_NONE = ("", "none", "off", "false", "no")


class Line(Struct, frozen=True, kw_only=True):
    """What tells curves apart; None is what a file does not tell. `served` is the model's own name where no key stands for it,
    `offload` where KV entries go (`on` where only that is told), `backend` what keeps them there."""

    model: str | None = None
    served: str | None = None
    precision: str | None = None
    hardware: str | None = None
    framework: str | None = None
    speculation: str | None = None
    disaggregated: bool | None = None
    offload: str | None = None
    backend: str | None = None

    @property
    def name(self) -> str:
        """`dsv4-fp4-b200-vllm`, `kimik3-fp4-gb200-dynamo-vllm-mtp-kv-dram-mooncake`; empty where nothing is told."""
        words = (self.model or self.served, self.precision, self.hardware, self.framework, self.speculation,
                 "disagg" if self.disaggregated else None, f"kv-{self.offload}" if _is(self.offload) else None, self.backend)
        return "-".join(word for word in words if _is(word))

    def fits(self, other: Line) -> bool:
        """Whether both can be one line: what both tell is equal. Of models their keys count, and names only without them:
        one weight lies under another path on every cluster."""
        return all(self._same(other, field) for field in self.__struct_fields__)

    def _same(self, other: Line, field: str) -> bool:
        mine, theirs = getattr(self, field), getattr(other, field)
        if mine is None or theirs is None or field == "served" and self.model and other.model:
            return True
        return mine == theirs or field == "offload" and "on" in (mine, theirs) and _is(mine) and _is(theirs)

    def told(self) -> int:
        """How much of it is told."""
        return sum(getattr(self, field) not in (None, "on") for field in self.__struct_fields__)


def line(row: Mapping[str, Any]) -> Line:
    """The line of an InferenceX row of any kind, or of one that its public API gives."""
    key = next((row[name] for name in ("infmax_model_prefix", "model_prefix") if _word(row.get(name))), None)
    published = key is None and "hardware" in row
    spec = row.get("spec_decoding", row.get("spec_method"))
    offload = row.get("kv_offloading", row.get("offload_mode"))
    backend = row.get("kv_offload_backend", "") or "none" if "kv_offload_backend" in row else None
    backend = backend.get("name") if isinstance(backend, dict) else backend
    return Line(
        model=_of(model, row.get("model") if published else key), served=None if published else _of(served, row.get("model")),
        precision=_of(precision, row.get("precision")), hardware=_of(hardware, row.get("hw", row.get("hardware"))),
        framework=_of(framework, row.get("framework")), speculation=_of(_plain, spec) if spec else "none" if spec == "" else None,
        disaggregated=_flag(row.get("disagg")), offload=_of(_plain, offload), backend=_of(_plain, backend) if backend else None,
    )


def model(name: str) -> str:
    """The key that a model has in the application's database."""
    key = name.lower().removesuffix("-fp4").removesuffix("-fp8")
    return MODELS.get(key, key)


def served(name: str) -> str:
    """A served model's name without the folder or organisation before it."""
    return name.rstrip("/").rpartition("/")[2].lower()


def hardware(label: str) -> str:
    """`cluster:gb200-nv` -> `gb200`: the machine that a runner label names."""
    return label.lower().split(":")[-1].split("-")[0]


def framework(name: str) -> str:
    """A recipe's framework as it is published."""
    return FRAMEWORKS.get(name.lower(), name.lower())


def precision(name: str) -> str:
    """A recipe's precision as it is published."""
    return PRECISIONS.get(name.lower(), name.lower())


def apart(lines: Iterable[Line]) -> tuple[Line, Line] | None:
    """Two of these that cannot be one line, whatever their models' own names are; None where all can."""
    known = sorted({structs.replace(one, served=None) for one in lines}, key=lambda one: one.name)
    return next(((one, other) for at, one in enumerate(known) for other in known[at + 1 :] if not one.fits(other)), None)


def renamed(lines: Iterable[Line], given: Sequence[str] = ()) -> dict[str, str]:
    """A new name for each line that goes by less than another of these tells of it: an eval's row names no offloading and
    the API no backend. `given` are names of recipes; where there is one, and all lines can be one, it is theirs."""
    known = {one for one in lines if one.name}
    if len(given) == 1 and known and _one(known):
        return {one.name: given[0] for one in known}
    made: dict[str, str] = {}
    for name in {one.name for one in known}:
        own = [one for one in known if one.name == name]
        fuller = [one for one in known if one.name != name and all(mine.fits(one) and mine.told() < one.told() for mine in own)]
        if fuller and _one(fuller):
            made[name] = max(fuller, key=lambda one: (one.told(), one.name)).name
    return made


def _one(lines: Iterable[Line]) -> bool:
    held = list(lines)
    return all(one.fits(other) for at, one in enumerate(held) for other in held[at + 1 :])


def _of(spell: Any, value: Any) -> str | None:
    return spell(value) if _word(value) else None


def _plain(value: str) -> str:
    return "none" if value.lower() in _NONE else value.lower()


def _word(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is(value: str | None) -> bool:
    return value not in (None, "none", "")


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else value.lower() == "true" if _word(value) else None
