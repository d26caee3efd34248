
"""Server logs of the multi-node jobs, in the forms that Dynamo, vLLM and torch write.

SEED: file names, node names, the frontend's error and its flag line, world size 16, the 74 warnings in 11 requests, the
package resolver's words on cn04, the teardown at 09:01 UTC. INVENTED: every other line. Noise that a reader must not take
for the cause stands where real logs have it: harmless warnings before the error, stack traces of the teardown after it.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

from tests.rehearse.kimi_k3_gb200 import history

HASH = history.PIN
# The engine's word for the candidate's commit, which is the record's; the count of commits before it is INVENTED.
VERSION = "0.28.1.dev611+g3696c7724"
SUBJECTS = {HASH: "chore: bump component versions", history.SCOPED: history.SCOPED_TITLE}
TAIL = (
    '  File "/usr/local/lib/python3.12/dist-packages/dynamo/frontend/main.py", line 214, in async_main\n'
    "    from dynamo.frontend.vllm_processor import VllmEngineFactory\n"
    '  File "/usr/local/lib/python3.12/dist-packages/dynamo/frontend/vllm_processor.py", line 31, in <module>\n'
    "    from vllm.entrypoints.openai.cli_args import FrontendArgs\n"
    "ModuleNotFoundError: No module named 'vllm.entrypoints.openai.cli_args'\n"
)


def node(number: int) -> str:
    return f"watchtower-navy-cn{number:02d}"


def rust(when: datetime, level: str, target: str, text: str) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond:06d}Z {level:>5} {target}: {text}\n"


def engine(when: datetime, rank: int, level: str, place: str, text: str) -> str:
    return f"(Worker_TP{rank} pid={4100 + rank}) {level} {when:%m-%d %H:%M:%S} [{place}] {text}\n"


def torch(when: datetime, rank: int, place: str, text: str) -> str:
    return f"[rank{rank}]:[W{when.month}{when.day:02d} {when:%H:%M:%S}.{when.microsecond * 1000:09d} {place}] {text}\n"


def install(when: datetime, *, source: bool = True, pin: str = HASH) -> str:
    return (
        f"[{when:%Y-%m-%d %H:%M:%S}] Installing dynamo from source at {pin}\n"
        "Cloning into '/tmp/dynamo'...\n"
        f"HEAD is now at {pin[:7]} {SUBJECTS[pin]}\n"
        + (
            "   Compiling dynamo-llm v1.3.0 (/tmp/dynamo/lib/llm)\nwarning: unused import: `std::time::Duration`\n"
            "    Finished `release` profile [optimized] target(s) in 6m 41s\n"
            if source
            else "Using cached wheel ai_dynamo_runtime-1.3.0-cp310-abi3-linux_aarch64.whl\n"
        )
        + "Successfully installed ai-dynamo-1.3.0 ai-dynamo-runtime-1.3.0\n"
    )


def frontend_crash(began: datetime, failed: datetime) -> str:
    """The frontend that cannot import its chat processor. A deprecation warning precedes it; the exit line follows."""
    command = (
        "python3 -m dynamo.frontend --http-port 8000 --router-mode random --router-session-affinity-ttl-secs 900 "
        "--dyn-chat-processor vllm --tool-call-parser kimi_k3 --reasoning-parser kimi_k3 --enable-auto-tool-choice "
        "--trust-remote-code"
    )
    return (
        install(began)
        + f"[{failed - timedelta(seconds=9):%Y-%m-%d %H:%M:%S}] + {command}\n"
        + "/usr/lib/python3.12/importlib/__init__.py:90: DeprecationWarning: builtin type SwigPyPacked has no __module__\n"
        + rust(
            failed - timedelta(seconds=4),
            "INFO",
            "dynamo_runtime::distributed",
            "connected to etcd at http://localhost:2379",
        )
        + rust(failed, "INFO", "dynamo.frontend", "loading chat processor vllm")
        + "Traceback (most recent call last):\n"
        + '  File "<frozen runpy>", line 198, in _run_module_as_main\n'
        + TAIL
        + rust(
            failed + timedelta(milliseconds=41),
            "ERROR",
            "dynamo.frontend",
            "Flag '--chat-processor vllm' requires vllm be installed.",
        )
        + f"[{failed + timedelta(seconds=1):%Y-%m-%d %H:%M:%S}] frontend_0 exited with code 1; stopping the job\n"
    )


def worker(number: int, began: datetime, ready: datetime, stopped: datetime, *, loaded: bool, pin: str = HASH) -> str:
    """One node's four ranks: start, torch.distributed, model load, and the noise of being torn down at `stopped`."""
    ranks = range(4 * number, 4 * number + 4)
    text = (
        install(began, pin=pin) + f"WARNING {began:%m-%d %H:%M:%S} [envs.py:88] Unknown vLLM environment variable: "
        "VLLM_ENABLE_K3_LATENT_MOE_TAIL_FUSION\n"
    )
    for rank in ranks:
        when = ready + timedelta(milliseconds=37 * rank)
        text += engine(
            when,
            rank,
            "INFO",
            "parallel_state.py:1325",
            f"world_size=16 rank={rank} local_rank={rank % 4} "
            "distributed_init_method=tcp://10.21.4.11:29500 backend=nccl",
        )
        text += engine(when + timedelta(seconds=2), rank, "INFO", "pynccl.py:113", "vLLM is using nccl==2.28.9")
        if loaded:
            text += engine(
                when + timedelta(minutes=2),
                rank,
                "INFO",
                "gpu_model_runner.py:4021",
                "Model loading took 96.41 GiB memory and 112.331 seconds",
            )
    if loaded and number == 0:
        core = f"[core.py:123] Initializing a V1 LLM engine (v{VERSION}) with config: model='moonshotai/Kimi-K3', seed=0"
        text += f"(EngineCore pid=3950) INFO {ready - timedelta(seconds=40):%m-%d %H:%M:%S} {core}\n"
        text += _progress(ready + timedelta(minutes=3), stopped)
    return text + teardown(ranks, stopped)


def _progress(start: datetime, stopped: datetime) -> str:
    """The engine's own statistics, a line every twentieth of the time it served."""
    step, rng = (stopped - start) / 20, random.Random(20)
    return "".join(
        f"(APIServer pid=3900) INFO {start + step * index:%m-%d %H:%M:%S} [loggers.py:257] Engine 000: Avg prompt throughput: "
        f"{rng.uniform(9000, 19000):.1f} tokens/s, Avg generation throughput: {rng.uniform(90, 240):.1f} tokens/s, Running: "
        f"{rng.randint(1, 2)} reqs, Waiting: 0 reqs, GPU KV cache usage: {rng.uniform(8, 61):.1f}%\n"
        for index in range(20)
    )


def teardown(ranks: range, stopped: datetime) -> str:
    """What torch says when the store's host goes away first. It looks like a cause and is none."""
    text = ""
    for rank in ranks:
        when = stopped + timedelta(milliseconds=11 * rank + 400)
        text += torch(
            when,
            rank,
            "TCPStore.cpp:106",
            "[c10d] sendBytes failed on SocketImpl(fd=118, addr=[node]:48322, remote=[node]:29500): Broken pipe",
        )
        text += (
            "Exception raised from sendBytes at /pytorch/torch/csrc/distributed/c10d/Utils.hpp:653 (most recent call first):\n"
            "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0xb0 (0xe1f2a4 in libc10.so)\n"
            "frame #1: c10d::TCPStore::doWait(c10::ArrayRef<std::string>) + 0x1f4 (0xe2a1c0 in libtorch_cpu.so)\n"
        )
        text += torch(
            when + timedelta(milliseconds=3),
            rank,
            "ProcessGroupNCCL.cpp:1783",
            f"[PG ID 0 PG GUID 0 Rank {rank}] Process "
            'group watchdog thread terminated: failed to check the "should dump" flag on TCPStore',
        )
    return (
        text
        + f"slurmstepd: error: *** STEP 88213.{ranks[0] // 4} ON node CANCELLED AT {stopped:%Y-%m-%dT%H:%M:%S} DUE TO SIGNAL Terminated ***\n"
    )


def benchmark_dead(failed: datetime) -> str:
    return (
        f"[{failed - timedelta(minutes=9):%Y-%m-%d %H:%M:%S}] Waiting for server health at http://localhost:8000/health\n"
        f"[{failed - timedelta(minutes=2):%Y-%m-%d %H:%M:%S}] health check: not ready, retrying\n"
        f"[{failed + timedelta(seconds=6):%Y-%m-%d %H:%M:%S}] server died before healthy; see the server logs\n"
    )


def failed_start(folder: Path, name: str, first: int, began: datetime, failed: datetime) -> None:
    """The log artifact `name` of a job whose frontend crashed."""
    stopped = failed + timedelta(seconds=8)
    files = {f"{node(first)}_frontend_0.out": frontend_crash(began, failed), "benchmark.out": benchmark_dead(failed)}
    for number in range(4):
        ready = failed - timedelta(minutes=3, seconds=20)
        files[f"{node(first + number)}_agg_w{number}.out"] = worker(number, began, ready, stopped, loaded=False)
    _write(folder / name, files)


def served(
    folder: Path,
    name: str,
    first: int,
    began: datetime,
    stopped: datetime,
    *,
    warnings: int,
    requests: int,
    title: str,
    pin: str = HASH,
    healthy: int = 27,
) -> None:
    """The log artifact `name` of a job that served to its end: `warnings` dropped calls in `requests` requests. It answers
    `healthy` minutes after it began."""
    ready = began + timedelta(minutes=9)
    files = {
        f"{node(first)}_frontend_0.out": _healthy_frontend(began, stopped, warnings, requests, pin, healthy),
        "benchmark.out": f"[{began + timedelta(minutes=healthy):%Y-%m-%d %H:%M:%S}] server is healthy\n"
        f"[{stopped - timedelta(minutes=2):%Y-%m-%d %H:%M:%S}] {title}\n",
    }
    for number in range(4):
        files[f"{node(first + number)}_agg_w{number}.out"] = worker(number, began, ready, stopped, loaded=True, pin=pin)
    _write(folder / name, files)


def _healthy_frontend(
    began: datetime, stopped: datetime, warnings: int, requests: int, pin: str, healthy: int
) -> str:
    rng = random.Random(warnings)
    ids = [f"{rng.getrandbits(64):016x}" for _ in range(requests)]
    start = began + timedelta(minutes=healthy + 2)
    step = (stopped - timedelta(minutes=3) - start) / max(warnings, 1)
    lines = [
        install(began, source=False, pin=pin),
        rust(
            began + timedelta(minutes=8),
            "INFO",
            "dynamo.frontend",
            "chat processor: dynamo; tool call parser kimi_k3, reasoning parser kimi_k3 from the model's registration",
        ),
    ]
    for index in range(warnings):
        request = ids[index * requests // warnings]
        lines.append(
            rust(
                start + step * index,
                "WARN",
                "dynamo_parsers::tool_calling::xtml::kimi_k3_parser",
                f"kimi_k3_incomplete_call request_id={request} dropped {rng.randint(14, 96)} buffered bytes at stream end",
            )
        )
    lines.append(rust(stopped, "INFO", "dynamo_runtime::worker", "received SIGTERM, shutting down"))
    return "".join(lines)


def failed_install(folder: Path, name: str, first: int, began: datetime, failed: datetime) -> None:
    """One node cannot resolve a package; the other three install the same cached wheel and are stopped with it."""
    files = {}
    for number in range(4):
        text = install(began, source=False)
        if number == 3:
            text = (
                f"[{began:%Y-%m-%d %H:%M:%S}] Installing dynamo from source at {HASH}\n"
                f"[{failed - timedelta(seconds=40):%Y-%m-%d %H:%M:%S}] pip install --no-cache-dir ai-dynamo[vllm]\n"
                "ERROR: Cannot install ai-dynamo because these package versions have conflicting dependencies.\n"
                "The conflict is caused by:\n    pydantic 2.12.4 depends on pydantic-core==2.41.5\n"
                "Additionally, some packages in these conflicts have no matching distributions available for your environment:\n"
                "    pydantic-core\n"
                f"[{failed:%Y-%m-%d %H:%M:%S}] ERROR: ResolutionImpossible: for help visit the pip documentation on dependency conflicts\n"
            )
        files[f"{node(first + number)}_agg_w{number}.out"] = (
            text
            + f"slurmstepd: error: *** STEP 88240.{number} ON node CANCELLED AT {failed + timedelta(seconds=5):%Y-%m-%dT%H:%M:%S} ***\n"
        )
    files["benchmark.out"] = benchmark_dead(failed)
    _write(folder / name, files)


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
