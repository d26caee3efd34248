"""A request export as AIPerf 0.13 would write it for a made-up run: the same bytes for the same count."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator
from pathlib import Path

USERS, TURNS = 64, 6
"""One request at a time each; a conversation of so many turns, then the next."""
BEGAN_NS = 1_790_000_000_000_000_000
_FAILED, _SHORT = 0.002, 0.0005
_POOL = 20_000


def write(file: Path, count: int, *, seed: int = 6) -> None:
    """`count` lines in the order in which their requests ended, the first of each user a warm-up."""
    rng = random.Random(seed)
    gaps = [_ms(max(0.0, rng.gauss(4.5, 0.9))) for _ in range(_POOL)]
    with file.open("w", encoding="ascii", newline="\n") as stream:
        stream.writelines(_line(rng, gaps, *one) for one in _served(rng, count))


def _served(rng: random.Random, count: int) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Number, user, turn of that user, start, time to first token and tokens of each request, as they end."""
    free = [(BEGAN_NS + user * 1_000_000, user, 0) for user in range(USERS)]
    heapq.heapify(free)
    for number in range(count):
        start, user, turn = heapq.heappop(free)
        first = int(rng.lognormvariate(3.3, 0.25) * 1e6)
        tokens = 1 if rng.random() < _SHORT else rng.randint(24, 44)
        yield number, user, turn, start, first, tokens
        heapq.heappush(free, (start + first + tokens * 4_500_000 + 2_000_000, user, turn + 1))


def _line(rng: random.Random, gaps: list[str], number: int, user: int, turn: int, start: int, first: int, tokens: int) -> str:
    warm = turn == 0
    talk = f"session_{user:03d}_{(turn - 1) // TURNS if turn else 0:06d}{'_w' if warm else ''}"
    phase = "warmup" if warm else "profiling"
    identity, root = _uuid(rng), _uuid(rng)
    took = first + (tokens - 1) * 4_500_000 + rng.randrange(4_000_000) * (tokens > 1)
    meta = (
        f'{{"metadata":{{"session_num":{number},"x_request_id":"{identity}","x_correlation_id":"{root}","conversation_id":"{talk}",'
        f'"turn_index":{(turn - 1) % TURNS if turn else 0},"credit_issued_ns":{start - 2_884_309},"request_start_ns":{start},'
        f'"request_ack_ns":{start + 6_840_760},"request_end_ns":{start + took + 5_000_000},"worker_id":"worker_{user % 8:08x}",'
        f'"record_processor_id":"record_processor_{user % 4:08x}","benchmark_phase":"{phase}","phase_index":{int(not warm)},'
        f'"profiling_index":0,"phase_name":"{phase}","phase_kind":"{phase}","was_cancelled":false,"context_overflow_skip":false,'
        f'"agent_depth":0,"root_correlation_id":"{root}"}},"metrics":{{'
    )
    if rng.random() < _FAILED:
        return (f'{meta}}},"error":{{"code":503,"type":"InvalidInferenceResultError","message":"no answer: \\"{number}\\"",'
                '"cause_chain":["InvalidInferenceResultError"]}}\n')
    return meta + ",".join(_metrics(rng, gaps, first, took, tokens)) + "}}\n"


def _metrics(rng: random.Random, gaps: list[str], first: int, took: int, tokens: int) -> Iterator[str]:
    """Each metric of a request that went well; one of a single token has no gap between tokens."""
    isl, wait = rng.randint(38, 56), first - rng.randrange(5_000_000)
    yield _told("request_latency", _ms(took / 1e6), "ms")
    yield _told("output_sequence_length", tokens, "tokens")
    for name, value in (("connecting", 0.0), ("dns_lookup", 0.0), ("blocked", 0.0)):
        yield _told(f"http_req_{name}", value, "ms")
    yield _told("time_to_first_token", _ms(first / 1e6), "ms")
    yield _told("http_req_data_received", 7.0439453125 + tokens / 1024, "KB")
    yield _told("input_sequence_length", isl, "tokens")
    yield _told("usage_prompt_tokens", isl, "tokens")
    yield _told("time_to_first_output_token", _ms(first / 1e6), "ms")
    yield _told("http_req_chunks_sent", 1, "count")
    yield _told("usage_completion_tokens", tokens, "tokens")
    yield _told("http_req_receiving", _ms((took - wait) / 1e6), "ms")
    yield _told("http_req_duration", _ms(took / 1e6 + 0.609), "ms")
    yield _told("http_req_data_sent", 0.2998046875, "KB")
    yield _told("http_req_connection_reused", 1, "ratio")
    yield _told("output_token_count", tokens, "tokens")
    yield _told("usage_total_tokens", isl + tokens, "tokens")
    if tokens > 1:
        gap = (took - first) / 1e6 / (tokens - 1)
        at = rng.randrange(_POOL - tokens)
        yield _told("time_to_second_token", gaps[at], "ms")
        yield _told("inter_chunk_latency", f"[{','.join(gaps[at : at + tokens - 1])}]", "ms")
        yield _told("inter_token_latency", gap, "ms")
        yield _told("decode_duration", _ms((took - first) / 1e6), "ms")
        yield _told("output_token_throughput_per_user", 1000 / gap, "tokens/sec/user")
    yield _told("http_req_waiting", _ms(wait / 1e6), "ms")
    yield _told("http_req_sending", 0.611593, "ms")
    yield _told("http_req_chunks_received", tokens - 1, "count")
    yield _told("osl_mismatch_diff_pct", 0.0, "%")
    yield _told("e2e_output_token_throughput", tokens / took * 1e9, "tokens/sec/user")
    yield _told("http_req_connection_overhead", 0.0, "ms")
    yield _told("prefill_throughput_per_user", isl / first * 1e9, "tokens/sec/user")
    yield _told("http_req_total", _ms(took / 1e6 + 0.609), "ms")


def _told(name: str, value: object, unit: str) -> str:
    return f'"{name}":{{"value":{value},"unit":"{unit}"}}'


def _ms(value: float) -> str:
    """Milliseconds as a product of nanoseconds leaves them: 4.5006699999999995 as often as 4.50067."""
    return repr(round(value * 1e6) * 1e-6)


def _uuid(rng: random.Random) -> str:
    made = f"{rng.getrandbits(128):032x}"
    return f"{made[:8]}-{made[8:12]}-4{made[13:16]}-a{made[17:20]}-{made[20:]}"
