"""The error rates in benchmarks/ are only worth reading if what is drawn, judged and counted is what they say."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("benchmarks.verdicts", reason="benchmarks/ lies in the tree and in no package")

import numpy as np

from benchmarks import verdicts_matched as matching
from benchmarks import verdicts_ours, verdicts_peers, verdicts_real, verdicts_tables
from benchmarks.verdicts import blocks, conclusion, holds
from benchmarks.verdicts_draws import Aim, Cell, Sweeps, draw, protocol
from bot.model.result import Cell as Point
from bot.verdict.statistics import hodges_lehmann

FROZEN = protocol()
AIM = Aim(table="shipped", noise="as-ledger", scenario="null", history=10, at_most=0.005)
HELD = {Point(recipe="A", workload="16k", concurrency=c): v for c, v in ((1, [100.0, 101.0, 99.0]), (4, [300.0, 301.0, 305.0]))}
HELD |= {Point(recipe="B", workload="16k", concurrency=1): [50.0, 70.0, 51.0]}


def cell(scenario: str = "null", history: int = 10, noise: str = "as-ledger") -> Cell:
    return Cell(noise=noise, scenario=scenario, history=history)


def swept(new: float, again: float, history: int = 10, point: int | None = None) -> Sweeps:
    """A block without any noise: what the two new runs are worse by, log units, everywhere or at one point."""
    better = np.zeros((FROZEN.block, history + 2, len(FROZEN.concurrencies), len(FROZEN.metrics)))
    where = slice(None) if point is None else point
    better[:, -2, where], better[:, -1, where] = -new, -again
    # A history that does not move at all has no deviation to measure by.
    better[:, :history:2] += 1e-4
    typical = np.array([metric.typical for metric in FROZEN.metrics.values()]).T
    return Sweeps(better=better, values=typical * np.exp(FROZEN.signs * better))


class TestWhatIsDrawn:
    def test_a_block_is_the_same_whenever_it_is_drawn_and_another_block_is_another(self) -> None:
        assert np.array_equal(draw(FROZEN, cell(), 0).better, draw(FROZEN, cell(), 0).better)
        assert not np.array_equal(draw(FROZEN, cell(), 0).better, draw(FROZEN, cell(), 1).better)
        assert not np.array_equal(draw(FROZEN, cell(), 0).better, draw(FROZEN, cell(), 0, tuning=True).better)

    def test_scenarios_differ_by_their_effect_and_by_nothing_else(self) -> None:
        null, loss = draw(FROZEN, cell(), 0).better, draw(FROZEN, cell("-7"), 0).better
        assert np.allclose(loss[:, -2:] - null[:, -2:], np.log(0.93))
        assert np.array_equal(loss[:, :-2], null[:, :-2])

    def test_a_shorter_history_is_the_end_of_the_longer_one(self) -> None:
        assert np.array_equal(draw(FROZEN, cell(history=3), 0).better, draw(FROZEN, cell(history=10), 0).better[:, -5:])

    def test_a_loss_at_one_point_is_at_one_point_of_both_new_runs(self) -> None:
        moved = draw(FROZEN, cell("-15 one"), 0).better - draw(FROZEN, cell(), 0).better
        assert ((np.abs(moved[:, -2:]).max(3) > 1e-9).sum(2) == 1).all()
        assert np.allclose(moved[:, -2], moved[:, -1])
        assert not moved[:, :-2].any()

    def test_more_is_better_for_throughput_and_less_for_latency(self) -> None:
        values, loss = draw(FROZEN, cell(), 0).values, draw(FROZEN, cell("-10"), 0).values
        ratio = (loss[:, -2] / values[:, -2]).mean((0, 1))
        assert np.allclose(ratio, [0.9, 1 / 0.9, 1 / 0.9])

    def test_a_time_to_first_token_25_percent_longer_is_that_alone(self) -> None:
        ratio = (draw(FROZEN, cell("ttft +25"), 0).values[:, -2] / draw(FROZEN, cell(), 0).values[:, -2]).mean((0, 1))
        assert np.allclose(ratio, [1, 1.25, 1])

    def test_the_noise_is_as_wide_as_the_protocol_says_and_the_shift_is_shared(self) -> None:
        drawn = np.concatenate([draw(FROZEN, cell(noise="no-excursions"), block).better for block in range(20)])
        sigma = drawn.std(2, ddof=1).mean((0, 1))
        tau = drawn.mean(2).reshape(-1, 3).std(0)
        assert np.allclose(sigma, [0.01, 0.03, 0.008], rtol=0.12)
        assert np.allclose(tau, np.sqrt(np.array([0.01, 0.015, 0.008]) ** 2 + np.array([0.01, 0.03, 0.008]) ** 2 / 5), rtol=0.05)

    def test_excursions_are_as_rare_as_told_slow_every_metric_and_never_speed_one_up(self) -> None:
        moved = np.concatenate([draw(FROZEN, cell(), block).better - draw(FROZEN, cell(noise="no-excursions"), block).better
                                for block in range(20)])
        slow = moved < -1e-12
        assert 0.025 < slow[..., 0].mean() < 0.035
        assert np.array_equal(slow[..., 0], slow[..., 1]) and np.allclose(moved[..., 0], moved[..., 2])
        assert -0.4 <= moved.min() and moved[slow].max() <= -0.1 + 1e-9 and moved.max() < 1e-12

    def test_a_cold_first_run_is_followed_by_a_warm_one(self) -> None:
        moved = draw(FROZEN, cell("cold"), 0).better - draw(FROZEN, cell(), 0).better
        assert (moved[:, -2] < 0).all() and not moved[:, -1].any()

    def test_a_slow_baseline_is_one_point_of_one_published_run(self) -> None:
        moved = draw(FROZEN, cell("slow baseline", noise="no-excursions"), 0).better - draw(FROZEN, cell(noise="no-excursions"), 0).better
        assert (moved[:, :-2].any(3).sum((1, 2)) == 1).all()
        assert not moved[:, -2:].any()

    def test_a_smaller_run_is_the_beginning_of_a_larger_one(self) -> None:
        assert [(block, limit) for _, block, limit in blocks(FROZEN, [cell()], 250)] == [(0, 100), (1, 100), (2, 50)]


class TestOurs:
    def count(self, sweeps: Sweeps, limit: int = 2) -> Counter[str]:
        return verdicts_ours.count(FROZEN, cell(), sweeps, verdicts_ours.shipped(), limit)

    def test_a_loss_that_the_repeat_shows_too_is_regressed_and_costs_a_whole_sweep(self) -> None:
        told = self.count(swept(0.08, 0.08))
        assert (told["n"], told["regressed"], told["rerun points"]) == (2, 2, 10)

    def test_one_slow_point_is_run_again_alone_and_cleared(self) -> None:
        told = self.count(swept(0.25, 0.0, point=2))
        assert (told["suspect"], told["rerun points"], told["regressed"]) == (2, 2, 0)

    def test_nothing_suspect_is_nothing_run_again(self) -> None:
        told = self.count(swept(0.0, 0.5))
        assert (told["neutral"], told["rerun points"]) == (2, 0)

    def test_a_missing_point_is_in_neither_run(self) -> None:
        values = draw(FROZEN, cell("missing"), 0).values[0]
        rows = verdicts_ours.rows(FROZEN, values[-2], 1, without=4)
        assert {row.point.concurrency for row in rows} == {1, 2, 8, 16}

    @pytest.mark.parametrize("scenario", ["null", "-5", "-15 one", "cold", "missing -7", "slow baseline"])
    @pytest.mark.parametrize("history", FROZEN.histories)
    def test_what_is_counted_is_what_compare_says_of_the_rows(self, scenario: str, history: int) -> None:
        chosen = cell(scenario, history, "tau-x3")
        verdicts_ours.agree(FROZEN, draw(FROZEN, chosen, 0), verdicts_ours.shipped(), verdicts_ours.ledger(FROZEN, chosen), 8)

    def test_a_count_that_compare_does_not_share_is_no_figure(self, monkeypatch: pytest.MonkeyPatch) -> None:
        other = verdicts_ours.Outcome("improved", frozenset(), True)
        monkeypatch.setattr(verdicts_ours, "settled", lambda *_: other)
        with pytest.raises(RuntimeError, match="sweep 0: compare says"):
            verdicts_ours.agree(FROZEN, draw(FROZEN, cell(), 0), verdicts_ours.shipped(), {}, 1)

    def test_the_margins_of_the_protocol_are_those_that_ship(self) -> None:
        assert {name: verdicts_ours.shipped()[name].margin for name in FROZEN.metrics} == {
            name: metric.margin for name, metric in FROZEN.metrics.items()}


class TestPeers:
    def alarms(self, sweeps: Sweeps) -> set[str]:
        return {name.partition(" (")[0] for name, raised in verdicts_peers.rules(FROZEN, sweeps).items() if raised.all()}

    def test_a_ratio_is_to_the_last_published_run(self) -> None:
        assert {"ratio 105 %", "ratio 105 %, confirmed by a re-run"} <= self.alarms(swept(0.07, 0.07))
        assert not {"ratio 110 %", "ratio 200 %"} & self.alarms(swept(0.07, 0.07))
        assert {"ratio 110 %", "ratio 200 %"} <= self.alarms(swept(0.7, 0.0))

    def test_a_confirmed_rule_needs_the_same_point_twice(self) -> None:
        assert not [name for name in self.alarms(swept(0.3, 0.0)) if "confirmed" in name]

    def test_no_rule_alarms_where_nothing_or_only_good_happened(self) -> None:
        assert self.alarms(swept(0.0, 0.0)) == self.alarms(swept(-0.3, -0.3)) == set()

    def test_rules_that_need_a_history_are_absent_without_one(self) -> None:
        names = " ".join(verdicts_peers.rules(FROZEN, swept(0, 0, history=1)))
        assert "t limit" not in names and "IQR" not in names and "ratio" in names

    def test_the_pool_is_the_one_that_the_verdict_uses(self) -> None:
        better = draw(FROZEN, cell(), 0).better[:, -2]
        assert verdicts_peers.walsh(better)[7, 1] == pytest.approx(hodges_lehmann(better[7, :, 1].tolist()))

    def test_the_t_limit_is_a_quantile_of_the_history(self) -> None:
        assert verdicts_peers.t_limit(10) == pytest.approx(2.821, abs=1e-3)


class TestMatching:
    def test_a_threshold_leaves_no_more_than_the_rate_above_it(self) -> None:
        found = matching.threshold([*range(100)], 0.02)
        assert (found.value, found.tuned) == (97, 0.02)
        assert matching.threshold([0.0] * 99 + [1.0], 0.02).tuned == 0.01

    def test_the_largest_factor_at_which_a_sweep_alarms_is_where_its_loss_is_the_margin(self) -> None:
        lost, kept = (verdicts_ours.effects(FROZEN, swept(loss, loss)) for loss in (0.08, 0.0))
        assert matching.critical(FROZEN, lost, 0, matching.WHOLE) == pytest.approx(0.08 / 0.05, rel=0.01)
        assert matching.critical(FROZEN, kept, 0, matching.WHOLE) == 0

    def test_the_shipped_rule_scaled_is_the_statistic_it_is_made_of(self) -> None:
        sweeps = draw(FROZEN, cell("-3", history=3), 0)
        made = verdicts_peers.statistics(FROZEN, sweeps)["max(Hodges-Lehmann, worst point / 2), both of two"]
        held = verdicts_ours.effects(FROZEN, sweeps)
        ours = [matching.critical(FROZEN, held, index, matching.WHOLE) for index in range(12)]
        assert ours == pytest.approx(made[:12].clip(0).tolist(), rel=0.01, abs=matching.LOWEST[matching.WHOLE])


class TestRealRepetitions:
    def test_every_order_of_three_repetitions_is_a_trial(self) -> None:
        assert [verdicts_real.trials(HELD, kind, ledger=True).n for kind in ("cell", "curve", "block")] == [18, 12, 12]

    def test_the_ledger_of_a_trial_knows_nothing_of_its_own_configuration(self) -> None:
        loud = verdicts_real.noise({point: values for point, values in HELD.items() if point.recipe == "B"})
        quiet = verdicts_real.noise({point: values for point, values in HELD.items() if point.recipe == "A"})
        assert loud["output_tput"].sigma > 4 * quiet["output_tput"].sigma
        # B's one fast repetition as the baseline: A's quiet ledger lets both others stand as a loss, every one of them.
        told = verdicts_real.trials(HELD, "block", ledger=True)
        assert told.final["bumpbot"] == 2 and all(trial.startswith("B: 2 ->") for trial in told.still)


    def test_the_labelled_change_is_three_runs_against_three(self) -> None:
        arms = {Point(recipe=f"2B {arm}", concurrency=16): [value, value + 1, value - 1] for arm, value in (("A", 400.0), ("B", 300.0))}
        assert verdicts_real.labelled({**HELD, **arms}).startswith("floors: regressed, -25.0 %")


class TestWhatIsSaid:
    def test_an_aim_is_a_point_estimate(self) -> None:
        assert holds(AIM, Counter(n=1000, regressed=5)) and not holds(AIM, Counter(n=1000, regressed=6))

    def test_a_share_carries_its_wilson_interval(self) -> None:
        assert verdicts_tables.share(15, 3000) == "0.5 [0.3, 0.8]"
        assert verdicts_tables.share(0, 0) == "-"

    def test_a_missed_aim_is_said_and_told_to_the_caller(self) -> None:
        counts = {one: {"bumpbot": Counter(n=100, regressed=50)} for one in FROZEN.cells}
        lines, good = conclusion(FROZEN, counts, {})
        assert not good and sum(line.startswith("MISSED") for line in lines) == 4
        assert sum(line.startswith("headline") for line in lines) == 2

    def test_a_table_is_plain_or_markdown(self) -> None:
        table = verdicts_tables.Table(title="T", header=("a", "b"), rows=[("x", "1")], notes=("n",))
        assert table.text(markdown=True).splitlines()[3:] == ["| a | b |", "|---|---|", "| x | 1 |", "", "- n"]
        assert "|" not in table.text(markdown=False)
