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
    core, said = f"(EngineCore_DP0 pid=2) INFO {_day()}", options.args.get
    yield (f"(APIServer pid=1) INFO {_day()} [scheduler.py:239] Chunked prefill is enabled with "
           f"max_num_batched_tokens={batched(options)}.")
    yield (f"{core} [core.py:97] Initializing a V1 LLM engine (v{options.version}) with config: model='{model}', "
           f"speculative_config=None, dtype=torch.{said('dtype', 'bfloat16')}, max_seq_len={options.context}, load_format=auto, "
           f"tensor_parallel_size={width(options, 'tp')}, pipeline_parallel_size={width(options, 'pp')}, "
           f"data_parallel_size={width(options, 'dp')}, quantization={said('quantization')}, "
           f"enforce_eager={said('enforce-eager', False)}, kv_cache_dtype={said('kv-cache-dtype', 'auto')}, device_config=cpu, "
           f"seed=0, served_model_name={model}")
    yield f"{core} [kv_cache_utils.py:1229] GPU KV cache size: {options.capacity:,} tokens"
    yield (f"{core} [kv_cache_utils.py:1234] Maximum concurrency for {options.context:,} tokens per request: "
           f"{options.capacity / options.context:.2f}x")
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


def server_info(options: Options) -> dict[str, Any]:
    """SGLang's /get_server_info and /server_info. `max_running_requests` of the arguments is what was asked; what it came to
    stands in the internal states, one a data-parallel rank, which divide it under dp attention."""
    ranks = width(options, "dp")
    shared = ranks if options.args.get("enable-dp-attention") else 1
    state = {"last_gen_throughput": 0.0, "memory_usage": {"token_capacity": options.capacity // ranks},
             "effective_max_running_requests_per_dp": options.running // shared}
    return {**arguments(options), "status": "ready", "max_total_num_tokens": options.capacity // ranks,
            "max_req_input_len": options.context - 6, "internal_states": [state] * ranks, "version": options.version}


def config(options: Options) -> dict[str, Any]:
    """vLLM's /server_info?config_format=json, as it is in its development mode."""
    said = options.args.get
    return {"vllm_config": {
        "model_config": {"model": options.model, "max_model_len": options.context, "dtype": said("dtype", "auto"),
                         "quantization": said("quantization"), "enforce_eager": said("enforce-eager", False)},
        "cache_config": {"cache_dtype": said("kv-cache-dtype", "auto"), "block_size": said("block-size", 16)},
        "parallel_config": {"tensor_parallel_size": width(options, "tp"), "pipeline_parallel_size": width(options, "pp"),
                            "data_parallel_size": width(options, "dp"),
                            "enable_expert_parallel": said("enable-expert-parallel", False)},
        "scheduler_config": {"max_num_seqs": options.running, "max_num_batched_tokens": batched(options),
                             "policy": said("scheduling-policy", "fcfs")}}}


def cache(options: Options) -> dict[str, Any]:
    """Labels of vLLM's cache_config_info."""
    said = options.args.get
    return {"block_size": said("block-size", 16), "cache_dtype": said("kv-cache-dtype", "auto"), "engine": 0,
            "gpu_memory_utilization": said("gpu-memory-utilization", 0.9), "kv_cache_size_tokens": options.capacity,
            "num_gpu_blocks": options.capacity // 16}


def batched(options: Options) -> int:
    """Tokens that vLLM computes in a step at most."""
    value = options.args.get("max-num-batched-tokens", 8192)
    return value if isinstance(value, int) else 8192


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
