"""The words that the stand-in for AIPerf understands: those that a load gives it, and no others."""

from __future__ import annotations

FLAGS = frozenset({"--streaming", "--use-server-token-count", "--no-fixed-schedule", "--ignore-trace-delays"})
VALUES = frozenset({
    "--model-names", "--tokenizer", "--tokenizer-revision", "--url", "--endpoint-type", "--concurrency", "--request-count",
    "--warmup-request-count", "--num-dataset-entries", "--isl", "--osl", "--extra-inputs", "--public-dataset", "--input-file",
    "--custom-dataset-type", "--random-seed", "--request-timeout-seconds", "--failed-request-threshold", "--export-level", "--ui",
    "--output-artifact-dir"})
FORMATS = ("burst_gpt_trace", "mooncake_trace", "multi_turn", "random_pool", "single_turn")
PUBLIC = ("exgentic", "sharegpt", "aimo", "spec_bench")
