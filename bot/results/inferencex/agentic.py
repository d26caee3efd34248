"""InferenceX agentic rows: `bmk_agentic_*/<name>_conc<N>.json`, one point a file, or a list that holds some."""

from __future__ import annotations

from typing import BinaryIO

from bot.results.inferencex.element import parse_elements
from bot.results.parsed import Context, Parsed, has
from bot.results.read import document

FORMAT = "inferencex-agentic"


def sniff(head: bytes, name: str) -> bool:
    return (
        head.lstrip()[:1] in (b"{", b"[")
        and has(head, "conc")
        and (has(head, "request_metrics") or has(head, "scenario_type", "num_requests_successful"))
    )


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    return parse_elements(document(stream, name), name, context)
