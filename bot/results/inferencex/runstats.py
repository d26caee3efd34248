"""InferenceX's `run_stats.json`: how many jobs of each cluster ended well, over all attempts of a run (CONTRACT 6.5)."""

from __future__ import annotations

from typing import BinaryIO

from bot.errors import BadInput
from bot.model.result import Reliability
from bot.results.parsed import Context, Parsed, has
from bot.results.read import count, document, mapping

FORMAT = "inferencex-run-stats"
FILE = "run_stats.json"


def sniff(head: bytes, name: str) -> bool:
    start = head.lstrip()
    if start.rstrip() == b"null":
        return name.rsplit("/", 1)[-1] == FILE
    return start[:1] == b"{" and has(head, "n_success", "total") and not has(head, "hardware")


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """One record a cluster. `null` is what the script writes where it could not ask GitHub: no statistics, and no error."""
    whole = document(stream, name)
    if whole is None:
        return Parsed(nothing="says-nothing")
    made = []
    for cluster, told in mapping(whole, name, "").items():
        body = mapping(told, name, cluster)
        good, total = (count(body.get(key), name, f"{cluster}.{key}") for key in ("n_success", "total"))
        if good > total:
            raise BadInput(f"{good} of {total} jobs ended well", "the counts are mixed up", file=name, key=cluster)
        made.append(Reliability(cluster=cluster, succeeded=good, total=total))
    return Parsed(reliability=tuple(made), nothing="" if made else "says-nothing")
