"""The generator's rows for one InferenceX recipe, computed again from its master entry (CONTRACT 4.2, without evals).

Four shapes: single or multi node, fixed sequence lengths or agentic traces. The guest's own generator stays the
authority for what runs; these rows are what planning, fingerprints and the comparison of two revisions need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from bot.errors import BadInput

Row = dict[str, Any]
_BYTES_PER_MIB, _BYTES_PER_GB = 1 << 20, 10**9
# 3 TB, decimal, in MiB: no agentic row may claim more host memory than this before the recipe's share is taken.
_MOST_HOST_MIB = 2_861_022
_AGENTIC_SECONDS = 3600
_HEADROOM_TOKENS = 256
_SIZES = {1024: "1k", 8192: "8k"}


def rows(entry: Mapping[str, Any], machines: Mapping[str, Any]) -> list[Row]:
    """One recipe's rows as `--no-evals` prints them. `machines` is the `hardware` part of runners.yaml.

    Fixed rows hold `run-eval: false`, agentic rows hold no such key: the recipe fingerprint depends on it.
    """
    scenarios = entry.get("scenarios") or {}
    made: list[Row] = []
    for block in scenarios.get("fixed-seq-len") or []:
        for space in block["search-space"]:
            made += _fixed(entry, block, space)
    for block in scenarios.get("agentic-coding") or []:
        for space in block["search-space"]:
            made += _agentic(entry, block, space, machines)
    return made


def gpus(row: Mapping[str, Any]) -> int:
    """GPUs one row holds: workers x tp x pp x pcp, prefill and decode together."""
    if "prefill" not in row:
        return _per_worker(row)
    return sum(row[side]["num-worker"] * _per_worker(row[side]) for side in ("prefill", "decode"))


def workload(row: Mapping[str, Any]) -> str:
    """`agentic-coding`, or the sequence lengths as people write them: `8k1k`."""
    return row.get("scenario-type") or _lengths(row["isl"], row["osl"])


def concurrencies(row: Mapping[str, Any]) -> list[int]:
    """The concurrencies one row measures: several for a fixed multi-node row, which runs them on one server."""
    return list(row["conc"]) if isinstance(row["conc"], list) else [row["conc"]]


def host_gb(block: Mapping[str, Any], space: Mapping[str, Any], runner: str, machines: Mapping[str, Any]) -> int:
    """GB of host memory for KV offload on one node: host MiB (at most 3 TB) x utilization x share of the node's GPUs.

    The share is that of the worker that offloads (prefill), a worker larger than a node filling it. Rounded down;
    0 without DRAM offload.
    """
    if space.get("kv-offloading", "none") != "dram":
        return 0
    facts = machines.get(runner)
    if not facts or "available-cpu-dram-mib" not in facts or "gpus-per-node" not in facts:
        raise BadInput(f"runner {runner} has no host memory on record", "add it to the runners file", key=runner)
    if "dram-utilization" not in block:
        raise BadInput("KV offload to DRAM without dram-utilization", "add it", key="dram-utilization")
    per_node = facts["gpus-per-node"]
    used = min(_per_worker(space.get("worker") or space.get("prefill") or space), per_node)
    share = Decimal(str(block["dram-utilization"])) * used / per_node
    return int(min(facts["available-cpu-dram-mib"], _MOST_HOST_MIB) * _BYTES_PER_MIB * share / _BYTES_PER_GB)


def _fixed(entry: Mapping[str, Any], block: Mapping[str, Any], space: Mapping[str, Any]) -> Iterator[Row]:
    isl, osl = block["isl"], block["osl"]
    common = {**_head(entry, space), "isl": isl, "osl": osl, "max-model-len": isl + osl + _HEADROOM_TOKENS,
              "exp-name": f"{entry['model-prefix']}_{_lengths(isl, osl)}", "disagg": entry.get("disagg", False),
              "run-eval": False}
    if _multi(space):
        yield {**common, **_pair(space), "conc": _steps(space)}
    else:
        for conc in _steps(space):
            yield {**common, **_single(space), "conc": conc}


def _agentic(entry: Mapping[str, Any], block: Mapping[str, Any], space: Mapping[str, Any],
             machines: Mapping[str, Any]) -> Iterator[Row]:
    offload, backend = space.get("kv-offloading", "none"), space.get("kv-offload-backend")
    common = {**_head(entry, space), "kv-offloading": offload, "duration": _AGENTIC_SECONDS,
              "total-cpu-dram-gb": host_gb(block, space, entry["runner"], machines), "scenario-type": "agentic-coding"}
    if backend is not None:
        common["kv-offload-backend"] = backend
    store = "kvnone" if offload == "none" else f"kv{offload}-{backend['name'] if backend else ''}"
    prefix, spec = entry["model-prefix"], common["spec-decoding"]
    for conc in _steps(space):
        if _multi(space):
            pair = _pair(space)
            name = f"{prefix}_{_tag('p', pair['prefill'])}_{_tag('d', pair['decode'])}_conc{conc}"
            yield {**common, **pair, "disagg": entry.get("disagg", False), "conc": [conc],
                   "exp-name": name if offload == "none" else f"{name}_{store}"}
        else:
            name = f"{prefix}_tp{space['tp']}_conc{conc}_{store}"
            yield {**common, **_single(space), "conc": conc,
                   "exp-name": name if spec == "none" else f"{name}_spec-{spec}"}


def _head(entry: Mapping[str, Any], space: Mapping[str, Any]) -> Row:
    made = {name: entry[name] for name in ("image", "model", "model-prefix", "precision", "framework", "runner")}
    made["spec-decoding"] = space.get("spec-decoding", "none")
    for part in ("router", "kv-p2p-transfer"):
        chosen = space.get(part, entry.get(part))
        if chosen is not None:
            made[part] = chosen
    return made


def _single(space: Mapping[str, Any]) -> Row:
    return {"tp": space["tp"], "pp": space.get("pp", 1), "dcp-size": space.get("dcp-size", 1),
            "pcp-size": space.get("pcp-size", 1), "ep": _or(space.get("ep"), 1), "dp-attn": _or(space.get("dp-attn"), False)}


def _pair(space: Mapping[str, Any]) -> Row:
    sizes = {"pp": 1, "dcp-size": 1, "pcp-size": 1}
    if "worker" in space:
        worker = {**sizes, **space["worker"]}
        idle = {name: part for name, part in worker.items() if name not in ("num-worker", "additional-settings")}
        return {"prefill": {"num-worker": 1, **worker}, "decode": {"num-worker": 0, **idle}}
    return {side: {**sizes, **space[side]} for side in ("prefill", "decode")}


def _steps(space: Mapping[str, Any]) -> list[int]:
    """The concurrencies listed, or start, doubled until the end, the end itself always last."""
    if space.get("conc-list"):
        return list(space["conc-list"])
    start, end = space["conc-start"], space["conc-end"]
    if not 0 < start <= end:
        raise BadInput(f"no concurrency from {start} to {end}", "start at 1 or more, at most the end", key="conc-start")
    found = [start]
    while found[-1] < end:
        found.append(min(found[-1] * 2, end))
    return found


def _tag(role: str, worker: Mapping[str, Any]) -> str:
    experts = f"ep{worker['ep']}" if worker.get("ep", 1) != 1 else ""
    return f"{role}{worker['num-worker']}x{worker['tp']}{experts}{'dpa' if worker.get('dp-attn') else ''}"


def _per_worker(worker: Mapping[str, Any]) -> int:
    return worker["tp"] * worker.get("pp", 1) * worker.get("pcp-size", 1)


def _multi(space: Mapping[str, Any]) -> bool:
    return "prefill" in space or "worker" in space


def _lengths(isl: int, osl: int) -> str:
    return _SIZES[isl] + _SIZES[osl] if (isl, osl) in ((1024, 1024), (8192, 1024)) else f"{isl}_{osl}"


def _or(given: Any, otherwise: Any) -> Any:
    return otherwise if given is None else given
