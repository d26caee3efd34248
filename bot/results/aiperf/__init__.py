"""AIPerf: one run's summary and its requests, repeats and sweeps of runs, and its scrape of the server."""

from __future__ import annotations

from bot.results.aiperf import aggregates, records, server, summary

PARSERS = (records, summary, aggregates, server)
