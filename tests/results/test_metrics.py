"""metrics.yaml: what a row may be called, in which unit, and which way is better."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import BadInput
from bot.model.result import Cell, Row
from bot.results import PARSERS, claim, collect, load_metrics
from bot.results.inferencex.flat import PLAIN, TIMED
from tests.results.made import EXAMPLES, stream

METRICS = load_metrics((Path(__file__).parents[2] / "bot" / "knowledge" / "metrics.yaml").read_text())
HEADER = "metrics:\n"
ENTRY = "  - {id: %s, unit: s, direction: down, decimals: 1, spellings: [%s], name: {en: a, zh: b}}\n"


def measured(metric: str, stat: str | None, unit: str, value: float = 15.0) -> Row:
    return Row(point=Cell(recipe="r", concurrency=8), metric=metric, stat=stat, value=value, unit=unit)


class TestEveryEntry:
    @pytest.mark.parametrize("metric", list(METRICS.values()), ids=list(METRICS))
    def test_is_known_to_a_parser_in_its_unit(self, metric) -> None:
        told = {
            (row.metric, row.unit) for name, data in EXAMPLES.values() for row in collect([(name, stream(data))], recipe="r").rows
        }
        told |= set(PLAIN.values()) | set(TIMED.items())
        assert metric.judged or (metric.id, metric.unit) in told

    @pytest.mark.parametrize("metric", list(METRICS.values()), ids=list(METRICS))
    def test_of_a_primary_has_a_direction_a_margin_and_a_noise_floor(self, metric) -> None:
        assert metric.name.en and metric.name.zh
        if metric.primary:
            assert metric.sign and metric.margin > 0 and metric.sigma > 0 and metric.tau > 0

    def test_of_a_parser_is_declared(self) -> None:
        for name, data in EXAMPLES.values():
            for row in collect([(name, stream(data))], recipe="r").rows:
                assert METRICS[row.metric].unit == row.unit


class TestTheFigures:
    def test_are_those_of_the_statistics(self) -> None:
        assert [(METRICS[m].margin, METRICS[m].sigma, METRICS[m].tau) for m in ("tput_per_gpu", "ttft", "itl")] == [
            (0.05, 0.01, 0.01),
            (0.15, 0.03, 0.015),
            (0.05, 0.008, 0.008),
        ]

    def test_give_each_primary_its_stand_ins_in_order(self) -> None:
        assert METRICS.primaries == ("throughput", "first-token", "token")
        assert [metric.id for metric in METRICS.group("token")] == ["itl", "tpot", "intvty"]


class TestSpellings:
    @pytest.mark.parametrize(
        "written, stat, unit, meant",
        [
            ("ttft", None, "s", ("ttft", "p50", "s", 15.0)),
            ("median_ttft", None, "s", ("ttft", "p50", "s", 15.0)),
            ("ttft_mean_ms", None, "", ("ttft", "mean", "s", 0.015)),
            ("ttft", "median", "ms", ("ttft", "p50", "s", 0.015)),
            ("p99_itl", None, "s", ("itl", "p99", "s", 15.0)),
            ("interactivity_median", None, "tok/s", ("intvty", "p50", "tok/s/user", 15.0)),
            ("out_tput_per_gpu", None, "tok/s/GPU", ("output_tput_per_gpu", None, "tok/s/GPU", 15.0)),
            ("out_tps", None, "tok/s", ("output_tput", None, "tok/s", 15.0)),
        ],
    )
    def test_lead_to_one_metric_one_statistic_and_one_unit(self, written, stat, unit, meant) -> None:
        row = METRICS.canonical(measured(written, stat, unit))
        assert (row.metric, row.stat, row.unit, pytest.approx(row.value)) == meant

    def test_of_nobody_stay_as_they_are(self) -> None:
        assert METRICS.canonical(measured("joules", None, "J")).metric == "joules"

    def test_in_a_foreign_unit_are_refused(self) -> None:
        with pytest.raises(BadInput, match="give it in s"):
            METRICS.canonical(measured("ttft", "p50", "tok/s"))


class TestTheFile:
    def test_with_one_name_for_two_metrics_is_refused(self) -> None:
        with pytest.raises(BadInput, match="names both"):
            load_metrics(HEADER + ENTRY % ("a", "") + ENTRY % ("b", "a"), file="metrics.yaml")

    def test_with_an_unknown_key_says_where(self) -> None:
        with pytest.raises(BadInput, match=r"metrics\.yaml:2"):
            load_metrics(HEADER + "  - {id: a, unit: s, direction: up, decimal: 1, name: {en: a, zh: b}}\n")


class TestParsers:
    @pytest.mark.parametrize("format, example", EXAMPLES.items(), ids=list(EXAMPLES))
    def test_claim_their_own_example_and_no_other(self, format, example) -> None:
        name, data = example
        assert [parser.FORMAT for parser in PARSERS if parser.sniff(data[:65536], name)] == [format]

    def test_all_have_an_example(self) -> None:
        assert {parser.FORMAT for parser in PARSERS} == set(EXAMPLES)

    @pytest.mark.parametrize(
        "head",
        [
            b"",
            b"{}",
            b"[]",
            b"hello",
            b'{"metrics_phase": "profiling", "aiperf_version": "0.13"}',
            b"\x00\xff\xfe",
            b'[{"id": "1", "conc": 4, "isl": 1, "metrics": {"tput_per_gpu": 3}}]',
        ],
    )
    def test_claim_nothing_they_do_not_know(self, head) -> None:
        assert claim(head, "x/results.json") is None
