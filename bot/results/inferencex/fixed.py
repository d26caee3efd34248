"""InferenceX fixed-sequence rows, single and multi node: `agg_<name>.json`, or `agg_bmk.json` with all of a run."""

from __future__ import annotations

from typing import BinaryIO

from bot.results.inferencex.element import parse_elements
from bot.results.parsed import Context, Parsed, has
from bot.results.read import document

FORMAT = "inferencex-fixed"


def sniff(head: bytes, name: str) -> bool:
    return (
        head.lstrip()[:1] in (b"{", b"[")
        and has(head, "conc", "tput_per_gpu", "isl")
        and not has(head, "metrics")
        and not has(head, "request_metrics")
    )


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    return parse_elements(document(stream, name), name, context)
