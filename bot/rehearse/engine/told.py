"""What the server says of itself, in the words of the engine it stands for: at start, when asked, and when it ends.

The wordings are those of the engines' public sources (facts of vLLM 0.29 and SGLang 0.5.19), so that whatever reads a real
server's log reads this one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from bot.rehearse.engine.options import Options, width

NO_MEMORY = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.60 GiB. GPU 0 has a total capacity of 139.81 GiB of"
             " which 1.13 GiB is free. Process 1 has 138.67 GiB memory in use.")
DIED = {
    "vllm": "(APIServer pid=1) ERROR {day} [async_llm.py:480] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an"
            " issue. See stack trace (above) for the root cause.",
    "sglang": "[{date}] Scheduler hit an exception: RuntimeError: CUDA error: an illegal memory access was encountered",
}


def taken(host: str, port: int) -> str:
    """A port that somebody else holds, as asyncio's servers say it."""
    return f"ERROR:    [Errno 98] error while attempting to bind on address ('{host}', {port}): address already in use"


def died(options: Options) -> str:
    """The last line of a server that ends itself."""
    return DIED[options.engine].format(day=_day(), date=_date())


def begins(options: Options) -> Iterator[str]:
    """The lines before anything is loaded: version and the arguments as they were given."""
    if options.engine == "vllm":
        yield f"(APIServer pid=1) INFO {_day()} [api_server.py:1272] vLLM API server version {options.version}"
        yield f"(APIServer pid=1) INFO {_day()} [utils.py:253] non-default args: {options.args!r}"
    else:
        yield f"sglang version: {options.version}"
        yield f"[{_date()}] server_args=ServerArgs({', '.join(f'{key}={value!r}' for key, value in arguments(options).items())})"


def loaded(options: Options) -> Iterator[str]:
    """The lines of a server that is ready for requests: what it came to."""
    model = options.model or "any"
    if options.engine == "sglang":
        yield (f"[{_date()} TP0] max_total_num_tokens={options.capacity}, chunked_prefill_size={_chunk(options)}, "
               f"max_prefill_tokens=16384, max_running_requests={options.running}, context_len={options.context}, "
               "available_gpu_mem=9.81 GB")
        yield f"[{_date()}] The server is fired up and ready to roll!"
        return
    core = f"(EngineCore_DP0 pid=2) INFO {_day()}"
    yield (f"{core} [core.py:97] Initializing a V1 LLM engine (v{options.version}) with config: model='{model}', max_seq_len="
           f"{options.context}, tensor_parallel_size={width(options, 'tp')}, pipeline_parallel_size={width(options, 'pp')}, "
           f"data_parallel_size={width(options, 'dp')}, seed=0, served_model_name={model}")
    yield f"{core} [kv_cache_utils.py:1229] GPU KV cache size: {options.capacity:,} tokens"
    yield (f"{core} [kv_cache_utils.py:1234] Maximum concurrency for {options.context:,} tokens per request: "
           f"{options.capacity / options.context:.2f}x")
    if options.running < options.asked.get("running", 0):
        yield f"{core} [scheduler.py:120] max_num_seqs={options.running}"
    yield "(APIServer pid=1) INFO:     Application startup complete."


def arguments(options: Options) -> dict[str, Any]:
    """SGLang's server_args: all that was given, under its own names, and what was not given as it came to be."""
    given = {name.replace("-", "_"): value for name, value in options.args.items()}
    widths = {f"{name}_size": width(options, name) for name in ("tp", "pp", "dp", "ep")}
    given = {name: value for name, value in given.items() if name not in ("tp", "pp", "dp", "ep", "model")}
    made = {"model_path": options.model, "served_model_name": options.model,
            "chunked_prefill_size": 8192, "max_prefill_tokens": 16384,
            "kv_cache_dtype": "auto", "dtype": "auto", "schedule_policy": "fcfs", "quantization": None}
    return {**made, **given, **widths, "context_length": options.asked.get("context"),
            "max_running_requests": options.asked.get("running")}


def server_info(options: Options, throughput: float = 0.0) -> dict[str, Any]:
    """SGLang's /get_server_info and /server_info. `max_running_requests` of the arguments is what was asked; what it came to
    stands in the internal states and beside `max_total_num_tokens`."""
    return {**arguments(options), "status": "ready", "max_total_num_tokens": options.capacity,
            "max_req_input_len": options.context - 6,
            "context_length": options.context,
            "internal_states": [{"last_gen_throughput": throughput, "effective_max_running_requests_per_dp": options.running,
                                 "max_running_requests": options.running, "context_len": options.context}],
            "version": options.version}


def models(options: Options, created: float) -> dict[str, Any]:
    """/v1/models of both engines."""
    name = options.model or "any"
    owner = options.engine
    return {"object": "list", "data": [{"id": name, "object": "model", "created": int(created), "owned_by": owner, "root": name,
                                        "parent": None, "max_model_len": options.context}]}


def _chunk(options: Options) -> int:
    value = options.args.get("chunked-prefill-size", 8192)
    return value if isinstance(value, int) else 8192


def _day() -> str:
    return time.strftime("%m-%d %H:%M:%S")


def _date() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")
