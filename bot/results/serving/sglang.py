"""SGLang's serving benchmark (`bench_serving`): each run is appended to a file as one line.

Its writer puts the default rate down as a bare `Infinity`, which is no JSON; there and nowhere else it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from bot.model.result import Reported
from bot.results.parsed import Context, Parsed, any_of, has
from bot.results.read import MAX_DOCUMENT, optional, records
from bot.results.serving import runs
from bot.results.serving.common import Place, rate
from bot.results.serving.vllm import OWN
from bot.results.topology import lengths

FORMAT = "sglang-bench"
_RATE = re.compile(r'(?P<key>"request_rate"\s*:\s*)Infinity(?P<end>\s*[,}])')


def sniff(head: bytes, name: str) -> bool:
    return (
        head.lstrip()[:1] == b"{"
        and has(head, "backend")
        and any_of(head, "dataset_name", "random_input_len", "sharegpt_output_len")
        and any_of(head, "request_rate", "max_concurrency")
        and not any_of(head, *OWN)
    )


def parse(stream: BinaryIO, name: str, context: Context) -> Parsed:
    """Runs told apart by their tag; without one, a second run of a point is refused."""
    return runs.parsed(_runs(stream, name), name, context, workload=_workload, told_apart="tag", reported=_reported)


def _runs(stream: BinaryIO, name: str) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for line, run in records(stream, name, most=MAX_DOCUMENT, mend=lambda text: _RATE.sub(r'\g<key>"inf"\g<end>', text)):
        yield Place(file=name, line=line), run


def _workload(run: Mapping[str, Any]) -> str | None:
    """The lengths of a random data set, else its name; and the rate where the load was asked for by one."""
    dataset = run.get("dataset_name")
    random = not isinstance(dataset, str) or dataset.startswith("random")
    what = lengths(run.get("random_input_len"), run.get("random_output_len")) if random else dataset
    return ", ".join(filter(None, (what, rate(run)))) or None


def _reported(run: Mapping[str, Any], place: Place) -> Iterator[Reported]:
    version = optional(run, "server_info", "version")
    if isinstance(version, str) and version:
        yield Reported(kind="version", value=version, file=place.file, line=place.line, engine="sglang")
