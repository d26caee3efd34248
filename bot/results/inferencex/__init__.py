"""InferenceX: rows of both scenarios, evals, how its jobs ended, and the answers of its public API."""

from __future__ import annotations

from bot.results.inferencex import agentic, evals, fixed, published, runstats

PARSERS = (agentic, fixed, evals, runstats, published)
