"""Whatever order the files come in, and whatever healthy lines stand between, the first error stays the first."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diagnose.test_triage import CLI_ARGS, frontend, workers
from tests.diagnose.worlds import read, teardown, trace, vllm

FILES = {**workers(), "watchtower-navy-cn01_frontend_0.out": frontend()}
CHATTER = (
    "INFO 09-10 07:08:31 [x.py:1] loading",
    "Capturing CUDA graphs 50%",
    "",
    "|  table | row |",
    "12: label",
    "[07:08:31] tick",
)


class TestOrder:
    @settings(max_examples=25)
    @given(st.permutations(sorted(FILES)))
    def test_of_files_does_not_matter(self, names):
        found = read({name: FILES[name] for name in names})
        assert (found.first_error, found.confidence) == (CLI_ARGS, "sure")

    @given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from(CHATTER)), max_size=20))
    def test_of_healthy_lines_between_does_not_matter(self, extra):
        lines = (vllm("07:00:00", "start") + trace("a()", "b()", error="torch.OutOfMemoryError: CUDA out of memory.")).splitlines()
        for at, text in extra:
            lines.insert(min(at, len(lines)), text)
        found = read({"n1_agg_w0.out": "\n".join(lines), "n2_agg_w1.out": teardown("07:20:00", 1)})
        assert found.class_ == "oom" and found.first_error == "torch.OutOfMemoryError: CUDA out of memory."

    @given(st.binary(max_size=400))
    def test_bytes_of_any_kind_break_nothing(self, data):
        found = read({"server.log": data, "x.out": b"Traceback (most recent call last):\n" + data})
        assert found.first_error is None or "\n" not in found.first_error


class TestInterleavedRanks:
    def test_two_ranks_that_write_their_tracebacks_into_each_other(self):
        one = ["[rank0]: " + line for line in trace("a()", "b()", error="torch.OutOfMemoryError: CUDA out of memory.").splitlines()]
        two = ["[rank1]: " + line for line in trace("a()", "b()", error="RuntimeError: odd").splitlines()]
        mixed = "\n".join(line for pair in zip(one, two, strict=True) for line in pair)
        assert read({"n1_agg_w0.out": mixed}).class_ == "oom"

    def test_a_runners_log_of_a_whole_job_is_read_like_any_other(self):
        text = (
            trace("a()", error="ModuleNotFoundError: No module named 'sglang.srt.tracing.trace'")
            + "##[error]Process completed with exit code 1."
        )
        log = "\n".join(f"2026-09-10T07:08:3{n}.1234567Z {line}" for n, line in enumerate(text.splitlines()))
        found = read({"1_benchmark job.txt": log})
        assert (found.signature, found.line) == ("sglang-frontend-module-moved", 4)

    def test_an_exception_group_is_opened(self):
        text = (
            "  + Exception Group Traceback (most recent call last):\n"
            '  |   File "a", line 1\n'
            "  | ExceptionGroup: unhandled errors in a TaskGroup\n"
            "  +-+---------------- 1 ----------------\n"
            "    | Traceback (most recent call last):\n"
            '    |   File "b", line 2\n'
            "    | ModuleNotFoundError: No module named 'vllm.entrypoints.openai.cli_args'\n"
            "    +------------------------------------\n"
        )
        assert read({"cn01_frontend_0.out": text}).class_ == "moved-module"
