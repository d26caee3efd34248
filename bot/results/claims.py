"""Which parser reads a file: by its first bytes, and where these tell nothing by a name that only one tool gives."""

from __future__ import annotations

import re
from typing import cast

from bot.errors import BadInput
from bot.results import aiperf, campaign, inferencex, lmeval, reportfile, rowfile, serving
from bot.results.parsed import Parser

HEAD = 65_536
PARSERS: tuple[Parser, ...] = tuple(cast(Parser, module) for module in (
    *inferencex.PARSERS, *lmeval.PARSERS, *aiperf.PARSERS, *serving.PARSERS, campaign, rowfile, reportfile))
_BOM = b"\xef\xbb\xbf"
_FIRST = re.compile(r"(^|/)gating-sample/")
_NAMED = tuple((re.compile(pattern), cast(Parser, module)) for pattern, module in (
    (r"(^|/)profile_export\.jsonl$", aiperf.records),
    (r"(^|/)profile_export_aiperf\.json$", aiperf.summary),
    (r"(^|/)profile_export_aiperf_(aggregate|sweep)\.json$", aiperf.aggregates),
    (r"(^|/)server_metrics_export\.json$", aiperf.server),
    (r"(^|/)run_stats\.json$", inferencex.runstats),
    (r"(^|/)agg_bmk\.json$", inferencex.fixed),
    (r"(^|/)agg_eval_all\.json$", inferencex.evals),
    (r"(^|/)samples_[^/]+\.jsonl$", lmeval.samples),
))


def claim(head: bytes, name: str) -> Parser | None:
    """The parser that reads this file; two that would are a fault of theirs, told as one.

    A file that is empty, cut to nothing or in another encoding is claimed by its name, and so refused by its parser: passed
    over, a point that broke would look like one that was never asked for. What `bench` asked only to see whether an eval is worth
    its hours is claimed by none: the same point's whole eval lies beside it, and two scores of it would contradict each other.
    """
    if _FIRST.search(name):
        return None
    start = head.removeprefix(_BOM)
    found = [parser for parser in PARSERS if parser.sniff(start, name)]
    if len(found) > 1:
        raise BadInput(f"read as {' and as '.join(parser.FORMAT for parser in found)}", "give one format a file", file=name)
    return found[0] if found else next((parser for pattern, parser in _NAMED if pattern.search(name)), None)
