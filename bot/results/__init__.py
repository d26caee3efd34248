"""Every result format of the field into the same rows: `collect` says what an attempt's files hold.

    collect([("bmk_conc16_x/r.json", stream), ...], recipe="kimik3-gb200", run=7, metrics=metrics)

    format                  written by                                    gives
    inferencex-fixed        InferenceX, fixed sequences, all node counts  rows
    inferencex-agentic      InferenceX, agentic traces                    rows; requests where the row proves the split
    inferencex-eval         InferenceX, `agg_eval_all.json`               scores
    inferencex-api          InferenceX's public API, kept in a file       rows of every published run
    inferencex-run-stats    InferenceX, `run_stats.json`                  jobs that ended well, by cluster
    lm-eval-results         lm-eval                                       scores with the questions asked
    lm-eval-samples         lm-eval                                       answers: right, wrong, cut; each question's mark
    aiperf-summary          AIPerf, one run                               rows, requests
    aiperf-records          AIPerf, one line a request                    requests by phase, conversation and error
    aiperf-runs             AIPerf, over repeats or a sweep               rows, which give way to those of the runs
    aiperf-server-metrics   AIPerf's scrape of the server                 cache hits, the version that ran
    vllm-bench              `vllm bench serve`                            rows, requests
    sglang-bench            SGLang's `bench_serving`                      rows, requests, the version that ran
    campaign-rows           a campaign, one line a request                rows a burst, requests by failure
    rows                    people, `bumpbot bench`                       rows (CONTRACTS `row`)
    bench-report            `bumpbot bench`, for all exports below it     rows, requests, the version that ran

To add one: a module with `FORMAT`, `sniff(head, name)` and `parse(stream, name, context)`, its place in `PARSERS`, an example in
tests/results/made.py. Rows leave a parser in canonical names and units, values as the file tells them; `read` has the checks
that each value passes. What is refused raises BadInput with file and line or key, and of such a file nothing is used.
"""

from __future__ import annotations

from bot.results.claims import HEAD, PARSERS, claim
from bot.results.collect import collect
from bot.results.metrics import Metric, Metrics
from bot.results.metrics import parse as load_metrics
from bot.results.together.join import Collected, Skipped

__all__ = ["HEAD", "PARSERS", "Collected", "Metric", "Metrics", "Skipped", "claim", "collect", "load_metrics"]
