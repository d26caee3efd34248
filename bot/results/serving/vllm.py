"""vLLM's serving benchmark (`vllm bench serve --save-result`): one run a document, or one a line where results are appended."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from bot.results.parsed import Context, Parsed, any_of, elements, has
from bot.results.read import MAX_DOCUMENT, document, mapping, records
from bot.results.serving import runs
from bot.results.serving.common import Place, rate

FORMAT = "vllm-bench"
OWN = ("model_id", "tokenizer_id", "endpoint_type")


def sniff(head: bytes, name: str) -> bool:
    start = head.lstrip()[:1] in (b"{", b"[")
    named = any_of(head, *OWN) or not any_of(head, "dataset_name", "random_input_len", "sharegpt_output_len")
    return start and has(head, "num_prompts", "request_rate") and any_of(head, "backend", "endpoint_type") and named


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Runs told apart by their date; without one, a second run of a point is refused."""
    return runs.parsed(_runs(stream, name), name, context, workload=rate, told_apart="date")


def _runs(stream: BinaryIO, name: str) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    if name.endswith(".jsonl"):
        for line, run in records(stream, name, most=MAX_DOCUMENT):
            yield Place(file=name, line=line), run
        return
    data = stream.read(MAX_DOCUMENT + 1)  # one byte over the limit, which `document` refuses
    whole = io.BytesIO(data)
    if _appended(data) and len(data) <= MAX_DOCUMENT:
        for line, run in records(whole, name, most=MAX_DOCUMENT):
            yield Place(file=name, line=line), run
        return
    for key, run in elements(document(whole, name)):
        yield Place(file=name, key=key), mapping(run, name, key)


def _appended(data: bytes) -> bool:
    """Whether runs stand line by line, as `--append-result` writes them under whatever name: a whole object, then more."""
    first, _, rest = data.strip().partition(b"\n")
    return first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{")
