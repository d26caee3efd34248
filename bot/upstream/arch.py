"""What leaves the recipe's hardware out: the image's list of architectures, and asserts of the kernels that the recipe names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from bot.model.upstream import ArchRefused
from bot.model.uses import Uses
from bot.ports import Tree
from bot.upstream.engines import Engine
from bot.upstream.options.gather import root

# Compute capability, or the name by which ROCm knows it, of each GPU that recipes name.
CAPABILITIES: dict[str, tuple[int, int] | str] = {
    "a100": (8, 0), "l4": (8, 9), "l40s": (8, 9), "h100": (9, 0), "h200": (9, 0), "gh200": (9, 0),
    "b200": (10, 0), "gb200": (10, 0), "b300": (10, 3), "gb300": (10, 3), "rtx6000pro": (12, 0),
    "mi250": "gfx90a", "mi300x": "gfx942", "mi325x": "gfx942",
    "mi350x": "gfx950", "mi355x": "gfx950"}
_ENTRY = re.compile(r"(?:sm_?)?(?P<major>\d{1,2})\.?(?P<minor>\d)(?P<kind>[af]?)(?P<ptx>\+PTX)?", re.IGNORECASE)
_SM = re.compile(r"sm_?(\d{2,3})([af]?)", re.IGNORECASE)
_ASKS = ("arch", "sm", "cc", "capability", "compute_capability", "device_capability", "get_device_sm", "get_sm_version",
         "sm_version")
_OPS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b}
_MATH: dict[str, Callable[[int, int], int]] = {"+": lambda a, b: a + b, "*": lambda a, b: a * b, "-": lambda a, b: a - b}
_BACKEND = re.compile(r"backend|kernel|runner")
MAX_FILES = 24
Survey = Callable[[str, Tree, Sequence[str]], Mapping[str, Any]]


def capability(hardware: str) -> tuple[int, int] | str | None:
    """By the GPU's name, with or without what follows it (`h200-dgxc`); None for one that nobody knows."""
    name = hardware.lower().removeprefix("cluster:")
    return next((CAPABILITIES[word] for word in (name, name.partition("-")[0]) if word in CAPABILITIES), None)


def vendor(hardware: str) -> str:
    """`cuda`, `rocm`, or "" where the GPU is not known."""
    found = capability(hardware)
    return "" if found is None else "rocm" if isinstance(found, str) else "cuda"


def covers(listed: str, hardware: str) -> bool | None:
    """Whether a list (`9.0 10.0f+PTX`, `gfx942;gfx950`) has code that the GPU runs; None where list or GPU is not understood.

    Code of a capability runs on later minors of the same major; `a` on that one alone, as PTX too; `f` on the family, as PTX too;
    PTX of neither on all later ones (CUDA programming guide, binary compatibility and family-specific features). `gfx9-4-generic`
    stands for several GPUs: nobody knows here for which.
    """
    wanted = capability(hardware)
    words = [word for word in re.split(r"[\s;,]+", listed.strip()) if word]
    if wanted is None or not words:
        return None
    if isinstance(wanted, str):
        names = [word.lower().partition(":")[0] for word in words]
        if wanted in names:
            return True
        return False if all(name.startswith("gfx") and "generic" not in name for name in names) else None
    entries = [_ENTRY.fullmatch(word) for word in words]
    if not all(entries):
        return None
    return any(_runs(entry, wanted) for entry in entries if entry)


def _runs(entry: re.Match[str], wanted: tuple[int, int]) -> bool:
    here = (int(entry["major"]), int(entry["minor"]))
    kind = (entry["kind"] or "").lower()
    if entry["ptx"] and not kind and wanted >= here:
        return True
    if kind == "a":
        return wanted == here
    return here[0] == wanted[0] and here[1] <= wanted[1]


def refused(uses: Uses, hardware: str, new: Mapping[str, str] | None, old: Mapping[str, str] | None = None, *,
            engine: Engine | None = None, tree: Tree | None = None, before: Tree | None = None,
            survey: Survey | None = None) -> tuple[ArchRefused, ...]:
    """Everything that leaves the hardware out. `new` and `old` are the facts of the two images (`arch_list`). What the old image or
    tree refused just so cannot be certain: the recipe ran with it."""
    found = list(_listed(hardware, new or {}, old or {}))
    if engine is not None and tree is not None and survey is not None:
        known = {one.said for one in _asserted(uses, hardware, engine, before, survey)} if before is not None else set()
        found += [structs.replace(one, hard=one.hard and one.said not in known, new=one.said not in known)
                  for one in _asserted(uses, hardware, engine, tree, survey)]
    return tuple(found)


def _listed(hardware: str, new: Mapping[str, str], old: Mapping[str, str]) -> Iterator[ArchRefused]:
    listed = new.get("arch_list", "")
    if covers(listed, hardware) is False:
        before = covers(old.get("arch_list", ""), hardware)
        hard = before is True or (before is None and not _related(listed, hardware))
        yield ArchRefused(hardware=hardware, at="arch_list", said=listed[:200], hard=hard, new=before is not False,
                          old_known=before is not None)


def _related(listed: str, hardware: str) -> bool:
    """Whether a list has code of the GPU's own major capability, though none that it runs. The present image may have had just
    that and run, where nobody knows its list: a package can bring more than the list says."""
    wanted = capability(hardware)
    entries = [_ENTRY.fullmatch(word) for word in re.split(r"[\s;,]+", listed.strip()) if word]
    return isinstance(wanted, tuple) and any(entry and int(entry["major"]) == wanted[0] for entry in entries)


def _asserted(uses: Uses, hardware: str, engine: Engine, tree: Tree, survey: Survey) -> Iterator[ArchRefused]:
    """Asserts of files that are called like a backend which the recipe names on every start."""
    wanted = capability(hardware)
    if not isinstance(wanted, tuple):
        return
    names = {used.value.lower().replace("-", "_") for used in uses.options
             if used.value and _BACKEND.search(used.name) and not used.conditional and used.value.isprintable()}
    front = root(tree, engine)
    paths = [path for path in tree.paths(f"{front}{engine.module}/") if path.endswith(".py") and "/test" not in path
             and _of(path.rsplit("/", 1)[-1].removesuffix(".py").lower(), names)][:MAX_FILES]
    told = survey("options", tree, paths) if paths else {}
    for path in paths:
        for function in (told.get(path) or {}).get("functions", ()):
            for guard in function["guards"]:
                if guard["way"] and (said := _holds(guard["way"], wanted)):
                    entered = not function["class"] and not function["name"].startswith("_")
                    hard = said == "all" and (function["name"] in ("__init__", "__post_init__") or entered)
                    yield ArchRefused(hardware=hardware, at=f"{path.removeprefix(front)}:{guard['line']}",
                                      said=guard["said"] or _text(guard["way"][-1][0]), hard=hard)


def _of(stem: str, names: set[str]) -> bool:
    return any(stem in (name, f"{name}_backend", f"{name}_mla") or stem.removesuffix("_backend") == name for name in names)


def _holds(way: Sequence[Sequence[Any]], wanted: tuple[int, int]) -> str:
    """`all`: every condition on the way is about the architecture and holds here; `some`: one is, the others are unknown."""
    said = [_test(test, wanted) if not (test[0] == "?") else None for test, _ in way]
    decided = [found is polarity for found, (_, polarity) in zip(said, way, strict=True) if found is not None]
    if not decided or not all(decided):
        return ""
    return "all" if len(decided) == len(way) else "some"


def _test(node: Sequence[Any], wanted: tuple[int, int]) -> bool | None:
    if node[0] == "not":
        inside = _test(node[1], wanted)
        return None if inside is None else not inside
    if node[0] in ("and", "or"):
        said = [_test(part, wanted) for part in node[1:]]
        decides = node[0] == "or"
        return decides if decides in said else None if None in said else not decides
    if node[0] != "cmp" or node[1] not in _OPS:
        return None
    left, right = _value(node[2], wanted), _value(node[3], wanted)
    if left is None or right is None or not (_asks(node[2]) or _asks(node[3])):
        return None
    try:
        return _OPS[node[1]](*_alike(left, right))
    except TypeError:
        return None


def _asks(node: Sequence[Any]) -> bool:
    """Whether an expression is the GPU's own capability."""
    if node[0] in ("math", "item"):
        return any(isinstance(part, list) and _asks(part) for part in node[1:])
    name = str(node[-1]) if node[0] == "attr" else str(node[1]) if node[0] == "call" else ""
    return name in _ASKS or name in ("major", "get_device_capability")


def _value(node: Sequence[Any], wanted: tuple[int, int]) -> Any:
    """A capability as (major, minor); `arch` and the like are the GPU's own."""
    if node[0] == "list":
        inside = [_value(part, wanted) for part in node[1:]]
        return None if None in inside else inside
    if node[0] == "item":
        whole = _value(node[1], wanted)
        return whole[node[2]] if isinstance(whole, (tuple, list)) and node[2] < len(whole) else None
    if node[0] == "math":
        left, right = _value(node[2], wanted), _value(node[3], wanted)
        return _MATH[node[1]](left, right) if node[1] in _MATH and isinstance(left, int) and isinstance(right, int) else None
    if node[0] == "const":
        return node[1] if isinstance(node[1], int) and not isinstance(node[1], bool) else None
    name = str(node[-1]) if node[0] == "attr" else str(node[1]) if node[0] == "call" else ""
    if found := _SM.fullmatch(name):
        return int(found[1][:-1]), int(found[1][-1])
    if name == "major":
        return wanted[0]
    return wanted if name in _ASKS or name == "get_device_capability" else None


def _alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Both in one form: (10, 3), 103, or 10."""
    if isinstance(left, tuple) and isinstance(right, int):
        return (left[0] * 10 + left[1] if right >= 50 else left[0]), right
    if isinstance(right, tuple) and isinstance(left, int):
        return left, (right[0] * 10 + right[1] if left >= 50 else right[0])
    if isinstance(left, tuple) and isinstance(right, list) and all(isinstance(one, int) for one in right):
        return (left[0] * 10 + left[1] if right and right[0] >= 50 else left[0]), right
    return (tuple(left) if isinstance(left, list) else left), ([tuple(one) if isinstance(one, list) else one for one in right]
                                                               if isinstance(right, list) else right)


def _text(node: Sequence[Any]) -> str:
    """A condition in words, for the terminal."""
    if node[0] == "cmp":
        return f"{_text(node[2])} {node[1]} {_text(node[3])}"
    if node[0] in ("and", "or"):
        return f" {node[0]} ".join(_text(part) for part in node[1:])
    if node[0] == "attr":
        return ".".join(map(str, node[1:]))
    return str(node[1]) if node[0] in ("const", "call") else "..."
