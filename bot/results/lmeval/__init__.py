"""lm-eval: scores, and the answers that they were made of."""

from __future__ import annotations

from bot.results.lmeval import samples, scores

PARSERS = (scores, samples)
