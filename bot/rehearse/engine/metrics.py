"""/metrics in Prometheus' text form: the families of vLLM and SGLang that are true of this server."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any

BOUNDS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
NAMES = {
    "vllm": {"running": "num_requests_running", "waiting": "num_requests_waiting", "prompt": "prompt_tokens_total",
             "made": "generation_tokens_total", "ended": "request_success_total"},
    "sglang": {"running": "num_running_reqs", "waiting": "num_queue_reqs", "prompt": "prompt_tokens_total",
               "made": "generation_tokens_total", "ended": "num_requests_total"},
}
HISTOGRAMS = {"ttft": "time_to_first_token_seconds", "itl": "inter_token_latency_seconds", "whole": "e2e_request_latency_seconds"}


class Histogram:
    """Counts by upper bound, cumulative when told, as Prometheus has them."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self._sum = 0.0

    def seen(self, value: float, times: int = 1) -> None:
        self._counts[bisect_left(BOUNDS, value)] += times
        self._sum += value * times

    def lines(self, name: str, labels: str) -> Iterator[str]:
        yield f"# TYPE {name} histogram"
        total = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{{labels},le="{bound}"}} {total}'
        yield f"{name}_sum{{{labels}}} {self._sum:.6f}"
        yield f"{name}_count{{{labels}}} {total}"


class Metrics:
    """What happened to requests since the start."""

    def __init__(self) -> None:
        self.running = self.waiting = self.prompt = self.made = 0
        self.ended: dict[str, int] = {}
        self.histograms = {name: Histogram() for name in HISTOGRAMS}

    def answered(self, finish: str, prompt: int, made: int, ttft: float, whole: float) -> None:
        """One request that was answered to its end. Times in seconds."""
        self.prompt += prompt
        self.made += made
        self.ended[finish] = self.ended.get(finish, 0) + 1
        self.histograms["ttft"].seen(ttft)
        self.histograms["whole"].seen(whole)
        if made > 1:
            self.histograms["itl"].seen((whole - ttft) / (made - 1), made - 1)

    def text(self, engine: str, model: str, *, cache: Mapping[str, Any]) -> str:
        """All families, under that engine's names; `cache` are the labels by which vLLM tells its cache's configuration."""
        labels = f'model_name="{model}"'
        names = {key: f"{engine}:{name}" for key, name in NAMES[engine].items()}
        lines = []
        for key, kind, value in (("running", "gauge", self.running), ("waiting", "gauge", self.waiting),
                                 ("prompt", "counter", self.prompt), ("made", "counter", self.made)):
            lines += [f"# TYPE {names[key]} {kind}", f"{names[key]}{{{labels}}} {value}"]
        if engine == "vllm":
            labelled = ",".join(f'{key}="{value}"' for key, value in cache.items())
            lines += ["# TYPE vllm:cache_config_info gauge", f"vllm:cache_config_info{{{labelled}}} 1.0"]
        lines.append(f"# TYPE {names['ended']} counter")
        if engine == "vllm":
            lines += [f'{names["ended"]}{{{labels},finished_reason="{finish}"}} {count}'
                      for finish, count in sorted(self.ended.items())]
        else:
            lines.append(f"{names['ended']}{{{labels}}} {sum(self.ended.values())}")
        for key, name in HISTOGRAMS.items():
            lines += self.histograms[key].lines(f"{engine}:{name}", labels)
        return "\n".join(lines) + "\n"
