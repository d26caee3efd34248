"""Which parser reads a file: by its first bytes, and where these tell nothing by a name that only one tool gives."""

from __future__ import annotations

import re
from typing import cast

from bot.errors import BadInput
from bot.results import (
    agentic,
    aiperf_records,
    aiperf_runs,
    aiperf_server,
    aiperf_summary,
    campaign,
    evalagg,
    fixedseq,
    lmeval,
    lmsamples,
    published,
    rowfile,
    runstats,
    sglangbench,
    vllmbench,
)
from bot.results.parsed import Parser

HEAD = 65_536
_MODULES = (agentic, fixedseq, evalagg, lmeval, lmsamples, aiperf_records, aiperf_summary, aiperf_runs, aiperf_server, runstats,
            vllmbench, sglangbench, campaign, published, rowfile)
PARSERS: tuple[Parser, ...] = tuple(cast(Parser, module) for module in _MODULES)
_BOM = b"\xef\xbb\xbf"
_NAMED = tuple((re.compile(pattern), cast(Parser, module)) for pattern, module in (
    (r"(^|/)profile_export\.jsonl$", aiperf_records),
    (r"(^|/)profile_export_aiperf\.json$", aiperf_summary),
    (r"(^|/)profile_export_aiperf_(aggregate|sweep)\.json$", aiperf_runs),
    (r"(^|/)server_metrics_export\.json$", aiperf_server),
    (r"(^|/)run_stats\.json$", runstats),
    (r"(^|/)agg_bmk\.json$", fixedseq),
    (r"(^|/)agg_eval_all\.json$", evalagg),
    (r"(^|/)samples_[^/]+\.jsonl$", lmsamples),
))


def claim(head: bytes, name: str) -> Parser | None:
    """The parser that reads this file; two that would are a fault of theirs, told as one.

    A file that is empty, cut to nothing or in another encoding is claimed by its name, and so refused by its parser: passed
    over, a point that broke would look like one that was never asked for.
    """
    start = head.removeprefix(_BOM)
    found = [parser for parser in PARSERS if parser.sniff(start, name)]
    if len(found) > 1:
        raise BadInput(f"read as {' and as '.join(parser.FORMAT for parser in found)}", "give one format a file", file=name)
    return found[0] if found else next((parser for pattern, parser in _NAMED if pattern.search(name)), None)
