"""Stories of jobs that failed: several nodes, interleaved lines, noise after; and the one line that came first."""

from __future__ import annotations

import pytest

from tests.diagnose.worlds import read, teardown, trace, vllm

CLI_ARGS = "ModuleNotFoundError: No module named 'vllm.entrypoints.openai.cli_args'"
ITER = [f"watchtower-navy-cn0{n}_agg_w{n - 1}.out" for n in range(1, 5)]


def workers(time: str = "07:08:10") -> dict[str, str]:
    """Four nodes, sixteen healthy ranks that reached torch.distributed and were then torn down."""
    return {
        name: "".join(vllm(time, f"world_size=16 rank={4 * n + r} local_rank={r}", pid=900 + 4 * n + r) for r in range(4))
        + "".join(teardown("07:08:33", 4 * n + r) for r in range(4))
        for n, name in enumerate(ITER)
    }


def frontend(*, stamped: bool = True) -> str:
    start = "2026-09-10T07:08:30.512Z  INFO dynamo_runtime: frontend starting\n" if stamped else "Installing dynamo\n"
    return (
        start
        + trace("from vllm.entrypoints.openai.cli_args import FrontendArgs", error=CLI_ARGS)
        + ("Flag '--chat-processor vllm' requires vllm be installed\n")
    )


class TestTheSeedsInitialAttempt:
    def test_the_frontends_import_wins_over_the_teardown_of_sixteen_workers(self):
        found = read({**workers(), "watchtower-navy-cn01_frontend_0.out": frontend()})
        assert (found.signature, found.class_, found.repair) == (
            "vllm-cli-args-moved",
            "moved-module",
            "native-chat-processor",
        )
        assert found.first_error == CLI_ARGS
        assert (found.file, found.line, found.node) == (
            "watchtower-navy-cn01_frontend_0.out",
            5,
            "watchtower-navy-cn01",
        )
        assert found.confidence == "sure" and found.others == ()

    def test_it_does_so_whatever_the_order_of_the_files_and_without_any_timestamp_in_the_frontend(self):
        files = {**workers(), "watchtower-navy-cn01_frontend_0.out": frontend(stamped=False)}
        forth, back = read(files), read(dict(reversed(files.items())))
        assert forth.first_error == back.first_error == CLI_ARGS

    def test_what_the_client_saw_does_not_win(self):
        client = (
            "2026-09-10 07:08:20,001 - aiperf - ERROR - Cannot connect to host 10.0.0.1:8000\n##[error]Server died before healthy\n"
        )
        found = read({"benchmark.out": client, "cn01_frontend_0.out": frontend(), **workers()})
        assert found.first_error == CLI_ARGS
        assert {"connection-refused", "server-never-healthy"} & set(found.others)

    def test_only_our_own_words_may_be_published(self):
        found = read({"cn01_frontend_0.out": frontend()})
        assert found.excerpt == "ModuleNotFoundError: No module named 'vllm.entrypoints.openai.cli_args'", "the signature's wording"
        assert found.cause.en and found.cause.zh


class TestOneNodeOfFour:
    PIP = (
        "Collecting pydantic-core==2.41.5\n"
        "ERROR: Cannot install dynamo and pydantic-core because these package versions have conflicting "
        "dependencies.\n    pydantic-core: no matching distributions available for your environment\n"
        "ERROR: ResolutionImpossible: for help visit the pages on dependency conflicts\n"
    )

    def test_a_package_that_one_node_could_not_fetch_is_the_cause(self):
        late = vllm(
            "07:19:00",
            trace(
                "store.wait()",
                error="torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined.",
            ),
            level="ERROR",
        )
        files = {name: vllm("07:08:10", "installed dynamo from the cached wheel") + late for name in ITER[:3]}
        found = read(
            {
                **files,
                ITER[3]: "2026-09-10 07:07:55 start\n" + self.PIP,
                "slurm-77.out": "srun: error: watchtower-navy-cn04: task 3: Exited with exit code 1\n",
            }
        )
        assert (found.signature, found.class_, found.node) == (
            "pip-resolution-impossible",
            "package-fetch",
            "watchtower-navy-cn04",
        )
        assert "ranks-missing" in found.others and "task-exit-code" in found.others

    def test_a_task_that_left_one_node_with_nothing_else_wrong_is_the_nodes_fault(self):
        found = read(
            {
                "eval.out": "srun: error: mia1-p01-g09: task 0: Exited with exit code 1\n",
                "server.log": 'INFO:     10.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK\n',
            }
        )
        assert (found.class_, found.node, found.confidence) == ("node-unhealthy", "mia1-p01-g09", "likely")

    def test_what_never_started_wins_over_a_node_that_broke_earlier(self):
        found = read(
            {
                "slurm-9.out": "[07:00:01] slurmstepd: error: Kill task failed\n"
                "[07:00:09] docker: manifest unknown: manifest unknown\n"
            }
        )
        assert found.class_ == "image-missing" and found.others == ("pyxis-broken",)


class TestWhatTheEngineSays:
    @pytest.mark.parametrize(
        ("signature", "text"),
        [
            (
                "gpu-out-of-memory",
                trace("weights.to(device)", error="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.6 GiB"),
            ),
            (
                "kv-cache-negative",
                trace(
                    "_check_enough_kv_cache_memory(available)",
                    error="ValueError: To serve at least one request, -25.24 GiB is available",
                ),
            ),
            (
                "breakable-capture-oom",
                trace(
                    "self.graph.capture_end()",
                    error="torch.AcceleratorError: CUDA error: out of memory",
                    file="/vllm/breakable_cudagraph.py",
                ),
            ),
            (
                "flash-attention-arch",
                trace("assert sm_100 <= arch <= sm_110f", error="AssertionError", file="/sglang/flashattention_backend.py"),
            ),
            (
                "kernel-name-missing",
                trace(
                    "from sgl_kernel.kvcacheio import x",
                    error="ImportError: cannot import name 'get_device_accessible_ptr' from 'sgl_kernel.kvcacheio'",
                ),
            ),
            (
                "flash-attention-strides",
                trace("fa(q, k)", error="RuntimeError: Expected strides[leading_dim] == 1, but got 0."),
            ),
            (
                "hip-illegal-memory-access",
                trace(
                    "torch.empty(n)",
                    error="torch.AcceleratorError: HIP error: an illegal memory access was encountered",
                ),
            ),
            (
                "dspark-no-dcp",
                trace(
                    "verify()",
                    error="ValueError: MLA DSpark does not currently support decode context parallelism; "
                    "set decode_context_parallel_size=1.",
                ),
            ),
            (
                "checkpoint-tokenizer-partial",
                trace("tokenizer()", error="ValueError: Couldn't instantiate the backend tokenizer from one of:"),
            ),
            (
                "sglang-frontend-module-moved",
                trace("import x", error="ModuleNotFoundError: No module named 'sglang.srt.server_args_config_parser'"),
            ),
            (
                "swiglu-interleaved-missing",
                trace(
                    "self.weight_swiglu_interleaved",
                    error="AttributeError: 'Linear' object has no attribute 'weight_swiglu_interleaved'",
                ),
            ),
            (
                "unexpected-keyword",
                trace(
                    "EngineArgs(**args)",
                    error="TypeError: EngineArgs.__init__() got an unexpected keyword argument 'disable_log_requests'",
                ),
            ),
            (
                "mooncake-block-table",
                trace("assert len(t) == n", error="AssertionError", file="/vllm/mooncake_store/scheduler.py"),
            ),
        ],
    )
    def test_is_found_among_interleaved_nodes_and_what_followed(self, signature, text):
        follows = vllm(
            "07:20:05",
            trace("raise e", error="RuntimeError: Engine core initialization failed. See root cause above."),
            level="ERROR",
            name="APIServer",
            pid=1,
        )
        mixed = "".join(
            a + b
            for a, b in zip(
                vllm("07:20:01", text, level="ERROR", pid=31).splitlines(True),
                vllm("07:20:01", "loading weights\n" * len(text.splitlines()), pid=32).splitlines(True),
                strict=True,
            )
        )
        found = read(
            {
                "n1_decode_w0.out": vllm("07:10:00", "starting") + mixed + follows,
                "n2_decode_w1.out": teardown("07:20:09", 1),
                "slurm-1.out": "srun: error: n2: task 1: Exited with exit code 1\n",
            }
        )
        assert (found.signature, found.confidence, found.node) == (signature, "sure", "n1")
        assert found.first_error.endswith(text.splitlines()[-1]) and found.line > 1

    def test_a_message_on_the_line_after_the_exception_is_read(self):
        found = read(
            {
                "server.log": "2026-09-10 07:00:00,001 INFO vllm: start\n"
                + trace(
                    "cfg()",
                    error="pydantic_core._pydantic_core.ValidationError: 1 validation error for SpeculativeConfig",
                )
                + "  Value error, MLA DSpark does not currently support decode context parallelism [type=value_error]\n"
            }
        )
        assert found.signature == "dspark-no-dcp"

    def test_an_unrecognised_option_is_named(self):
        found = read({"server.log": "usage: vllm [-h]\nvllm: error: unrecognized arguments: --enable-old-thing\n"})
        assert (found.class_, found.excerpt) == (
            "flag-removed",
            "the server does not know an option of the recipe: `--enable-old-thing`",
        )

    def test_the_earliest_of_two_known_errors_on_two_nodes_wins(self):
        early = "[2026-09-10 07:20:01 TP3] Scheduler hit an exception: " + trace(
            "fwd()", error="RuntimeError: CUDA error: device-side assert triggered"
        )
        late = "[2026-09-10 07:20:07 TP0] Scheduler hit an exception: " + trace(
            "fwd()", error="torch.OutOfMemoryError: CUDA out of memory."
        )
        found = read({"n1_prefill_w0.out": late, "n2_prefill_w1.out": early})
        assert (found.class_, found.node, found.others) == ("engine-regression", "n2", ("gpu-out-of-memory",))


class TestUnknown:
    def test_an_error_nobody_described_is_shown_and_not_named(self):
        found = read(
            {
                "n1_agg_w0.out": vllm("07:00:00", "start")
                + vllm("07:01:00", trace("frob()", error="ValueError: the frobnicator is upside down"), level="ERROR"),
                "slurm-1.out": "srun: error: n1: task 0: Exited with exit code 1\n",
            }
        )
        assert (found.signature, found.class_, found.confidence) == (None, None, "unknown")
        assert found.first_error.endswith("ValueError: the frobnicator is upside down") and found.excerpt is None

    def test_a_loggers_line_before_a_known_crash_does_not_hide_it(self):
        found = read(
            {
                "server.log": vllm("07:00:00", "cannot tune kernel 7, using the default", level="ERROR")
                + vllm("07:05:00", trace("x()", error="torch.OutOfMemoryError: CUDA out of memory."), level="ERROR")
            }
        )
        assert found.class_ == "oom"

    def test_a_traceback_that_was_only_a_warning_is_none(self):
        found = read(
            {
                "server.log": vllm(
                    "07:00:00",
                    trace("import x", error="ModuleNotFoundError: No module named 'vllm._flashmla'"),
                    level="WARNING",
                )
                + 'INFO:     10.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK\n'
            }
        )
        assert found.first_error is None or found.confidence != "sure"


class TestNoError:
    GREEN = {
        "n1_agg_w0.out": vllm("07:00:00", "start")
        + vllm("09:00:00", "Avg generation throughput: 117.3 tokens/s")
        + teardown("09:01:22", 1),
        "benchmark.out": "2026-09-10 09:01:20,000 INFO aiperf: Benchmark completed successfully\n",
    }

    def test_tracebacks_at_teardown_are_no_failure(self):
        found = read(self.GREEN)
        assert (found.first_error, found.class_, found.signature) == (None, None, None)

    def test_a_green_smoke_still_tells_its_warnings(self):
        line = (
            "2026-09-10T08:14:02.551Z  WARN dynamo_parsers::tool_calling::xtml::kimi_k3_parser: "
            "dropped code=kimi_k3_incomplete_call\n"
        )
        found = read({**self.GREEN, "n1_frontend_0.out": line * 74})
        assert found.first_error is None and found.warnings == {"kimi-k3-incomplete-call": 74}

    def test_no_error_and_no_finished_request_is_a_hang(self):
        found = read(
            {
                "n1_agg_w0.out": vllm("07:00:00", "loading weights"),
                "slurm-1.out": "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-09-10T10:00:00 DUE TO TIME LIMIT ***\n",
            }
        )
        assert (found.class_, found.first_error, found.signature) == ("hang", None, None)

    def test_a_server_that_stopped_finishing_hours_before_the_limit_hangs(self):
        limit = "2026-09-10T15:00:00Z slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-09-10T15:00:00 DUE TO TIME LIMIT ***\n"
        server = '2026-09-10 07:12:00 INFO: "POST /v1/completions HTTP/1.1" 200 OK\n'
        assert read({"server.log": server, "slurm-1.out": limit}).class_ == "hang"
        assert read({"server.log": server.replace("07:12", "14:55"), "slurm-1.out": limit}).class_ is None

    def test_nothing_at_all_is_no_hang(self):
        assert read({}).class_ is None and read({"server.log": ""}).class_ is None

    def test_with_an_error_there_is_no_hang(self):
        assert read({"server.log": "ValueError: odd\n", "slurm-1.out": "CANCELLED DUE TO TIME LIMIT\n"}).class_ is None


class TestGates:
    FAIL = "2026-09-10T11:55:00.1234567Z FAIL: gsm8k exact_match,strict-match = 0.8120 (< 0.9000)\n"
    WARN = (
        "2026-09-10T11:40:02.551Z  WARN dynamo_parsers::tool_calling::xtml::kimi_k3_parser: dropped code=kimi_k3_incomplete_call\n"
    )

    def test_the_tool_parser_wins_over_the_eval_it_spoils(self):
        found = read({"job.log": self.FAIL, "cn01_frontend_0.out": self.WARN * 3})
        assert (found.class_, found.repair, found.confidence) == ("tool-parser", "dynamo-scoped-tool-parsing", "likely")
        assert found.first_error == self.WARN.strip() and found.others == ("eval-below-threshold",)

    def test_a_gate_alone_is_a_gate(self):
        found = read({"job.log": self.FAIL})
        assert (found.class_, found.signature) == ("eval-gate", "eval-below-threshold")

    def test_empty_answers_seen_by_the_load_generator_do_not_explain_a_low_score(self):
        found = read({"job.log": self.FAIL, "aiperf.log": "InvalidInferenceResultError: no responses with actual content\n"})
        assert found.class_ == "eval-gate"

    def test_but_they_explain_failed_requests(self):
        found = read(
            {
                "benchmark.out": "InvalidInferenceResultError: no content\n" * 9
                + "ERROR: aiperf request error rate exceeded the benchmark limit\n"
            }
        )
        assert found.class_ == "tool-parser" and found.warnings == {"no-content-responses": 9}

    def test_a_server_that_died_wins_over_every_gate(self):
        crash = vllm(
            "11:50:00",
            trace("x()", error="torch.AcceleratorError: HIP error: an illegal memory access was encountered"),
            level="ERROR",
        )
        found = read({"job.log": self.FAIL + "Run failed: conc4 has zero successful requests\n", "cn01_agg_w0.out": crash})
        assert found.class_ == "engine-regression"


class TestOddLogs:
    def test_a_line_of_a_megabyte_is_cut_and_it_says_so(self):
        found = read({"server.log": "x" * 1_000_000 + "\ntorch.OutOfMemoryError: CUDA out of memory.\n"})
        assert found.class_ == "oom" and found.line == 2 and found.notes == ("1 lines were cut at 64 KiB",)

    def test_colours_and_control_characters_do_not_reach_the_terminal(self):
        found = read({"server.log": "\x1b[31mtorch.OutOfMemoryError\x1b[0m: CUDA out of memory\x07\u202e.\r\n"})
        assert found.first_error == "torch.OutOfMemoryError: CUDA out of memory."

    def test_clocks_with_and_without_a_year_a_day_and_a_zone_are_compared(self):
        oom = "torch.OutOfMemoryError: CUDA out of memory."
        found = read(
            {
                "n1_agg_w0.out": f"[07:00:00] start\n{oom}\n",
                "n2_agg_w0.out": "2026-09-10T08:59:59+02:00 start\n"
                "RuntimeError: HIP error: an illegal memory access was encountered\n",
                "n3_agg_w0.out": f"INFO 09-10 07:30:00 [core.py:1] start\n{oom}\n",
            }
        )
        assert found.node == "n2"

    def test_midnight_passes(self):
        first = "[23:59:50] a\nRuntimeError: HIP error: an illegal memory access was encountered\n"
        second = "2026-09-10T23:00:00Z a\n2026-09-11T00:00:10Z b\ntorch.OutOfMemoryError: CUDA out of memory.\n"
        assert read({"n2_agg_w0.out": second, "n1_agg_w0.out": first}).node == "n1"
