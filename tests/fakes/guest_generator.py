"""A small generator with the command line of InferenceX's `test-config`: what a guest's repository holds in the stories.

It imports nothing of ours. `# MEDDLE` and `# OPTIONS` are where a story puts a fault or a newer option.
"""

import argparse
import fnmatch
import json
from decimal import Decimal

import yaml


def main() -> None:
    asked = arguments()
    entries, machines = {}, yaml.safe_load(open(asked.runner_config))["hardware"]
    for file in asked.config_files:
        entries.update(yaml.safe_load(open(file)))
    rows = []
    for word in asked.config_keys:
        keys = fnmatch.filter(entries, word) if set(word) & set("*?") else [word] if word in entries else []
        if not keys:
            raise ValueError(f"Config key(s) not found: {word}.\nAvailable keys: {', '.join(sorted(entries))}")
        for key in keys:
            rows += list(rows_of(entries[key], machines, asked.conc))
    if not asked.no_evals:
        rows = marked(rows, agentic=asked.evals_only)
    if asked.evals_only:
        rows = [{**row, "eval-only": True} for row in rows if row["run-eval"]]
    # MEDDLE
    print(json.dumps(rows))


def arguments() -> argparse.Namespace:
    top = argparse.ArgumentParser()
    parser = top.add_subparsers(dest="command", required=True).add_parser("test-config")
    parser.add_argument("--config-files", nargs="+", required=True, help="files (can be several, unlike --one-file)")
    parser.add_argument("--runner-config", default="configs/runners.yaml", help="the machines")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--no-evals", action="store_true", help="throughput alone, the opposite of\n--evals-only or --some-evals")
    either.add_argument("--evals-only", action="store_true", help="evals alone")
    parser.add_argument("--config-keys", nargs="+", required=True, help="which recipes")
    parser.add_argument("--conc", nargs="+", type=int, help="those of these that a recipe has")
    # OPTIONS
    return top.parse_args()


def rows_of(entry, machines, only):
    head = {name: entry[name] for name in ("image", "model", "model-prefix", "precision", "framework", "runner")}
    for block in entry["scenarios"].get("fixed-seq-len", []):
        isl, osl = block["isl"], block["osl"]
        lengths = {(1024, 1024): "1k1k", (8192, 1024): "8k1k"}.get((isl, osl), f"{isl}_{osl}")
        for space in block["search-space"]:
            row = {**head, **parts(entry, space), "isl": isl, "osl": osl, "max-model-len": isl + osl + 256, "run-eval": False,
                   "exp-name": f"{entry['model-prefix']}_{lengths}", "disagg": entry.get("disagg", False)}
            steps = concs(space, only)
            yield from ([{**row, "conc": steps}] if steps and "prefill" in space else [{**row, "conc": conc} for conc in steps])
    for block in entry["scenarios"].get("agentic-coding", []):
        for space in block["search-space"]:
            row = {**head, **parts(entry, space), "kv-offloading": space.get("kv-offloading", "none"), "duration": 3600,
                   "total-cpu-dram-gb": memory(block, space, machines.get(entry["runner"])), "scenario-type": "agentic-coding"}
            if "kv-offload-backend" in space:
                row["kv-offload-backend"] = space["kv-offload-backend"]
            for conc in concs(space, only):
                yield {**row, **named(entry, space, row, conc)}


def parts(entry, space):
    made = {"spec-decoding": space.get("spec-decoding", "none")}
    for name in ("router", "kv-p2p-transfer"):
        if space.get(name, entry.get(name)) is not None:
            made[name] = space.get(name, entry.get(name))
    widths = {"pp": 1, "dcp-size": 1, "pcp-size": 1}
    if "prefill" in space:
        return {**made, **{side: {**widths, **space[side]} for side in ("prefill", "decode")}}
    widths |= {"ep": 1, "dp-attn": False}
    return {**made, "tp": space["tp"], **{name: space.get(name, least) for name, least in widths.items()}}


def concs(space, only):
    found = space.get("conc-list") or [space["conc-start"]]
    while not space.get("conc-list") and found[-1] < space["conc-end"]:
        found.append(min(2 * found[-1], space["conc-end"]))
    return [conc for conc in found if not only or conc in only]


def memory(block, space, machine):
    if space.get("kv-offloading") != "dram":
        return 0
    worker = space.get("prefill", space)
    gpus = min(worker["tp"] * worker.get("pp", 1) * worker.get("pcp-size", 1), machine["gpus-per-node"])
    mib = min(machine["available-cpu-dram-mib"], 2_861_022)
    return int(Decimal(mib) * 2**20 * Decimal(str(block["dram-utilization"])) * gpus / machine["gpus-per-node"] / 10**9)


def named(entry, space, row, conc):
    store = row["kv-offloading"]
    store = "kvnone" if store == "none" else f"kv{store}-{row['kv-offload-backend']['name']}"
    if "prefill" not in space:
        spec = "" if row["spec-decoding"] == "none" else f"_spec-{row['spec-decoding']}"
        return {"conc": conc, "exp-name": f"{entry['model-prefix']}_tp{space['tp']}_conc{conc}_{store}{spec}"}
    roles = [f"{side[0]}{row[side]['num-worker']}x{row[side]['tp']}" + (f"ep{row[side]['ep']}" if row[side]["ep"] != 1 else "")
             + "dpa" * row[side]["dp-attn"] for side in ("prefill", "decode")]
    name = f"{entry['model-prefix']}_{'_'.join(roles)}_conc{conc}" + ("" if store == "kvnone" else f"_{store}")
    return {"conc": [conc], "exp-name": name, "disagg": entry.get("disagg", False)}


def marked(rows, agentic):
    groups = {}
    for at, row in enumerate(rows):
        high = max(row["conc"]) if isinstance(row["conc"], list) else row["conc"]
        is_agentic, wide = "scenario-type" in row, "prefill" in row
        fitting = agentic if is_agentic else (row["isl"], row["osl"]) == (8192, 1024)
        if fitting and (high >= 16 or (is_agentic and not wide)):
            names = [name for name in row if name not in ("conc", "exp-name", "run-eval")] if wide else [
                "model", "runner", "framework", "precision", *([] if is_agentic else ["isl", "osl", "spec-decoding", "dp-attn"])]
            groups.setdefault((wide, is_agentic, json.dumps([row[name] for name in names], sort_keys=True)), []).append((high, at))
    chosen = {}
    for (wide, is_agentic, _), members in groups.items():
        levels = sorted({high for high, _ in members})
        if wide or is_agentic:
            chosen[next(at for high, at in members if high == levels[-1])] = levels[-1]
        else:
            chosen |= {at: high for high, at in members if high in (levels[-1], levels[len(levels) // 2])}
    return [{**row, "run-eval": at in chosen, **({"eval-conc": chosen[at]} if at in chosen and "prefill" in row else {})}
            for at, row in enumerate(rows)]


if __name__ == "__main__":
    main()
