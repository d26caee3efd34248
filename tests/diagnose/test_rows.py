"""The guest's table of failures (CONTRACT section 8), one line of log a row, and the class each must get."""

from __future__ import annotations

import pytest

from tests.diagnose.worlds import read

ROWS = [
    (1, "changelog-conflict", "##[error]Deletions are not allowed in configs/perf-changelog.yaml"),
    (2, "changelog-conflict", "ValueError: No config keys matched the pattern"),
    (3, "changelog-conflict", "PR has multiple conflicting sweep labels: a, b"),
    (4, "changelog-conflict", '"mergeable_state": "dirty"'),
    (5, "oom", "HSA_STATUS_ERROR_OUT_OF_RESOURCES: code: 0x1008, Available Free mem : 0 MB"),
    (6, "oom", "ValueError: in _check_enough_kv_cache_memory: available -25.24 GiB"),
    (8, "oom", "RuntimeError: KV cache pool would need -4.05 GB"),
    (9, "engine-regression", "RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS (700) at deepgemm/csrc/jit/runtime_utils.hpp:143"),
    (10, "engine-regression", "RuntimeError: trtllm_batched_gemm_runner.cu:276 failed, numBatches=256"),
    (12, "node-unhealthy", "slurmstepd: error: Kill task failed"),
    (13, "node-unhealthy", "permission denied while trying to connect to the docker API at unix:///var/run/docker.sock"),
    (14, "disk-full", "tar: write error: No space left on device"),
    (15, "node-unhealthy", "[Errno 98] Address already in use: ('0.0.0.0', 8888)"),
    (16, "image-missing", "enroot import failed for docker://lmsysorg/sglang:v9.9.9"),
    (17, None, "run 1 cannot be rerun"),
    (18, "engine-regression", "ValueError: q2k_indices must be contiguous with layout (1, 2)"),
    (19, "node-unhealthy", "Error: EACCES: permission denied, unlink '/w/benchmark_logs/logs/slurm_job-7/x'"),
    (20, None, "server died before log appeared"),
    (21, "moved-module", "Flag '--chat-processor vllm' requires vllm be installed"),
    (22, "package-fetch", "ERROR: ResolutionImpossible: for help visit"),
    (25, "eval-gate", "FAIL: gsm8k exact_match,strict-match = 0.8120 (< 0.9000)"),
    (26, "shared-ci-bug", "WARN: no metrics matched prefix exact_match"),
    (28, "request-errors", "aiperf request error rate exceeded the benchmark limit"),
    (29, "request-errors", "Run failed: expected 5 agentic results, found 3"),
    (30, "shared-ci-bug", "Run failed: Benchmark result 'x' not found."),
    (31, "cancelled-by-concurrency", "##[error]The operation was canceled."),
    (32, "capacity", "JobId=5 CANCELLED Reason=Resources RunTime=0"),
    (33, "flag-removed", "Error: no such option: --dyn-old-parser"),
    (35, "node-unhealthy", "Failed to acquire lock for /squash/a.sqsh"),
    (36, "shared-ci-bug", "x.json contains no metric with required prefix vllm:"),
]


@pytest.mark.parametrize(("row", "class_", "line"), ROWS, ids=[str(row) for row, _, _ in ROWS])
def test_a_row_gets_its_class(row, class_, line):
    found = read({"job.txt": f"2026-09-10T07:00:00.1234567Z start\n2026-09-10T07:00:01.1234567Z {line}\n"})
    assert found.signature and found.class_ == class_
    assert found.first_error.endswith(line) and (found.confidence == "unknown") == (class_ is None)


@pytest.mark.parametrize("line", ["[c10d] TCPStore sendBytes failed: Broken pipe", "TCPStore.recvValue failed"])
def test_a_lost_store_is_noise_once_something_ended_and_an_unnamed_error_before(line):
    ended = "2026-09-10T09:00:00Z INFO Received SIGTERM, shutting down\n"
    assert read({"server.log": ended + f"2026-09-10T09:00:01Z {line}\n"}).first_error is None
    alone = read({"server.log": f"2026-09-10T09:00:01Z {line}\n"})
    assert (alone.class_, alone.confidence) == (None, "unknown") and alone.first_error.endswith(line)
