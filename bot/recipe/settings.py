"""What people want to read about a recipe, by name: topology, nodes, speculation, offload, pins. Unknown is left out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from bot.errors import BadInput
from bot.layout.records import Layout
from bot.model.policy import Wanted
from bot.recipe import matrix, rows
from bot.recipe.files.document import Document
from bot.recipe.own import OwnRecipe, topology

_ROLES = ("aggregated", "prefill", "decode", "agg")
_ENGINES = ("vllm_config", "sglang_config", "trtllm_config")


def of_rows(made: Sequence[rows.Row], documents: Sequence[Document], layout: Layout) -> dict[str, str]:
    """Facts of a generated recipe and of the files it links. Several values are joined in the order they appear."""
    told: dict[str, Iterable[Any]] = {
        "scenario": (row.get("scenario-type", "fixed-seq-len") for row in made),
        "workload": (rows.workload(row) for row in made),
        "topology": (matrix.topology(row) for row in made),
        "mode": ("disaggregated" if row.get("disagg") else "aggregated" for row in made),
        "gpus": (rows.gpus(row) for row in made),
        "nodes": _nodes(made, documents, layout),
        "concurrency": (conc for row in made for conc in rows.concurrencies(row)),
        "speculation": _speculation(made, documents),
        "speculative-tokens": (spec.get("num_speculative_tokens") for spec in _speculative(documents)),
        "synthetic-acceptance": (value for row in made for value in _extra(row, "SYNTHETIC_ACCEPTANCE_LENGTH")),
        "offload": (row.get("kv-offloading") for row in made if row.get("kv-offloading", "none") != "none"),
        "offload-backend": (row["kv-offload-backend"]["name"] for row in made if row.get("kv-offload-backend")),
        "offload-gb": (row["total-cpu-dram-gb"] for row in made if row.get("total-cpu-dram-gb")),
        "router": (row["router"]["name"] for row in made if row.get("router")),
        "max-num-seqs": _engine(documents, "max-num-seqs", "max-running-requests", "max_batch_size"),
        "dynamo": _first(documents, "dynamo.hash", "dynamo.version", "dynamo.wheel", "base.dynamo.hash", "base.dynamo.version"),
    }
    joined = {name: _joined(values) for name, values in told.items()}
    return {name: text for name, text in joined.items() if text}


def of_own(recipe: OwnRecipe, wanted: Wanted) -> dict[str, str]:
    """Facts of one of bumpbot's own recipes, whose image moves as `wanted` says."""
    told = {"workload": recipe.workload.kind, "topology": topology(recipe), "gpus": str(recipe.hardware.gpus),
            "concurrency": _joined(sorted(recipe.workload.requests)), "kv": recipe.model.kv,
            "revision": recipe.model.revision, "channel": wanted.channel or "lineage"}
    return {name: text for name, text in told.items() if text}


def _joined(values: Iterable[Any]) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values if value not in (None, "")))


def _nodes(made: Sequence[rows.Row], documents: Sequence[Document], layout: Layout) -> list[Any]:
    """What the linked files ask for; without them the GPUs over those of one machine."""
    asked = []
    for document in documents:
        parts = [_scalar(document, f"{root}resources.{name}") for root in ("", "base.")
                 for name in ("agg_nodes", "prefill_nodes", "decode_nodes")]
        numbers = [int(part) for part in parts if part and part.isdigit()]
        asked += [sum(numbers)] if numbers else []
    return asked or [_filled(row, layout) for row in made if "prefill" in row]


def _filled(row: rows.Row, layout: Layout) -> int | None:
    """Each role on machines of its own."""
    parts = [matrix.nodes(rows.gpus({"prefill": row[side], "decode": {**row[side], "num-worker": 0}}), layout, row["runner"])
             for side in ("prefill", "decode")]
    return None if None in parts else sum(part or 0 for part in parts)


def _speculation(made: Sequence[rows.Row], documents: Sequence[Document]) -> list[Any]:
    """The method the engine is told, where a linked file tells it; else the generator's word (`mtp`), none left out."""
    methods = [spec.get("method") for spec in _speculative(documents)]
    return [method for method in methods if method] or [row["spec-decoding"] for row in made if row["spec-decoding"] != "none"]


def _speculative(documents: Sequence[Document]) -> list[dict[str, Any]]:
    found = []
    for text in _engine(documents, "speculative-config"):
        try:
            spec = json.loads(text)
        except ValueError:
            continue
        found += [spec] if isinstance(spec, dict) else []
    return found


def _engine(documents: Sequence[Document], *names: str) -> list[str]:
    paths = [("backend", engine, role, name) for engine in _ENGINES for role in _ROLES for name in names]
    return [text for document in documents for path in paths for base in ((), ("base",))
            if (text := _scalar(document, (*base, *path)))]


def _first(documents: Sequence[Document], *paths: str) -> list[str]:
    """Of each file, the first of the paths that says something."""
    found = [[text for path in paths if (text := _scalar(document, path))] for document in documents]
    return [texts[0] for texts in found if texts]


def _scalar(document: Document, path: Any) -> str | None:
    try:
        return document.scalar(path)
    except BadInput:
        return None


def _extra(row: rows.Row, name: str) -> list[str]:
    sides = [row[side] for side in ("prefill", "decode") if side in row]
    return [setting.partition("=")[2] for side in sides for setting in side.get("additional-settings") or []
            if setting.startswith(f"{name}=")]
