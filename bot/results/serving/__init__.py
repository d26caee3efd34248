"""The serving benchmarks of the engines themselves."""

from __future__ import annotations

from bot.results.serving import sglang, vllm

PARSERS = (vllm, sglang)
