"""The same bump under the bot's own policy, lived through by the real bot over HTTP and git: with a cap, and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.cli.rehearse import play
from bot.decide import decide
from bot.ledger import replay, verify
from bot.model.bump import Memory
from tests.fakes.shipped import shipped
from tests.rehearse import make_kimi_k3_gb200
from tests.rehearse.kimi_k3_gb200 import history, own, uncapped
from tests.rehearse.kimi_k3_gb200.jobs import bench, evaluation
from tests.rehearse.openapi.check import Checker

# What the bump held as it happened; the bot's own policy must do with a quarter.
PAST_GPU_HOURS = 195.1


class Told:
    """What a finished rehearsal left behind."""

    def __init__(self, name: str, folder: Path) -> None:
        self.checker = Checker()
        self.story = shipped(name)
        self.result = play(self.story, folder, narrate=False, observer=self._listen, after=self._keep)

    def _listen(self, world: Any) -> None:
        world.hub.exchanges.append(self.checker)

    def _keep(self, world: Any, bot: Any) -> None:
        snapshot = bot.ledger.tip()
        _, name = bot.ledger.ended_bumps(snapshot)[0]
        self.entries = bot.ledger.entries(snapshot, name)
        self.pull, self.git, self.hub = world.hub.pulls()[0], world.hub.git, world.hub
        self.titles = {run.id: run.title for run in world.hub.runs_made()}
        self.inputs = {number: run.cause.inputs for number, run in world.hub.store.runs.items()}

    @property
    def memory(self) -> Memory:
        return next(one.entry.facts.memory for one in reversed(self.entries) if one.entry.facts)

    def halves(self, kind: str, which: int = 0) -> list[str]:
        """A comment's English and Chinese."""
        bodies = [comment["body"] for comment in self.result["comments"] if comment["kind"] == kind]
        return bodies[which].split("\n---\n", 1)

    def runs(self) -> list[tuple[int, int, str, str]]:
        return [(run["id"], run["attempt"], run["reason"], run["conclusion"]) for run in self.result["runs"]]

    def stage(self, run: int) -> str:
        """smoke1 and the like, as the nonce in the run's title says."""
        return self.titles[run].rsplit("-", 3)[1]


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(make_kimi_k3_gb200.NAME, tmp_path_factory.mktemp("capped"))


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(make_kimi_k3_gb200.UNCAPPED, tmp_path_factory.mktemp("free"))


@pytest.fixture(params=["capped", "free"])
def either(request: pytest.FixtureRequest) -> Told:
    return request.getfixturevalue(request.param)


class TestInBothStories:
    def test_it_ends_as_the_scenario_expects_and_nothing_troubled_the_bot(self, either: Told) -> None:
        assert either.result["as_expected"] and either.result["troubles"] == []

    def test_githubs_description_holds_for_every_exchange(self, either: Told) -> None:
        either.checker.hold()

    def test_the_chain_holds_and_replays_to_the_same_actions(self, either: Told) -> None:
        assert verify(either.entries) is None and replay(either.entries, decide) is None

    def test_the_first_stage_asks_the_guest_for_a_sample_of_its_own_eval_and_for_nothing_else(self, either: Told) -> None:
        for run in (own.FIRST, own.SECOND):
            assert either.stage(run) == "smoke1"
            asked = either.inputs[run]
            assert asked["generate-cli-command"].endswith("--evals-only") and asked["eval-limit"] == "100"

    def test_the_initial_attempt_ends_there_by_the_frontends_import(self, either: Told) -> None:
        for half in either.halves("initial"):
            assert "ModuleNotFoundError: No module named 'vllm.entrypoints.openai.cli_args'" in half

    def test_repair_1_ends_there_by_the_gate_because_answers_were_cut(self, either: Told) -> None:
        for half in either.halves("repair"):
            for fact in ("0.7800", "0.8800", "18 / 100", "tool-parser", "frontend.args.dyn-chat-processor"):
                assert fact in half, fact

    def test_no_host_is_named_on_the_forge(self, either: Told) -> None:
        assert not any("watchtower" in comment["body"] for comment in either.result["comments"])


class TestWithTheCap:
    def test_it_ends_with_the_budget_after_one_repair(self, capped: Told) -> None:
        told = capped.result
        assert (told["outcome"], told["cause"], told["repairs_used"]) == ("budget-exhausted", "budget", 1)

    def test_two_short_runs_are_all_it_took(self, capped: Told) -> None:
        assert capped.runs() == [(own.FIRST, 1, "dispatch", "failure"), (own.SECOND, 1, "dispatch", "failure")]
        assert 12 < capped.result["gpu_hours"] <= PAST_GPU_HOURS / 4

    def test_repair_2_was_priced_before_it_was_tried_and_not_pushed(self, capped: Told) -> None:
        ended = capped.memory.ended
        assert ended is not None and ended.wanted is not None and ended.forecast is not None
        left = capped.story.story.policy.caps.gpu_hours - capped.result["gpu_hours"]
        assert ended.wanted.id == "dynamo-scoped-tool-parsing" and ended.wanted.available
        # A whole smoke and a whole sweep at the layout's minutes: nothing of this bump has passed yet.
        assert ended.forecast == pytest.approx(16 * (30 + 100 + 100 + 5 * 100 + 30) / 60)
        assert left < ended.forecast < left + 10
        assert [head.why for head in capped.memory.heads] == ["proposal", "repair"]

    def test_the_stop_says_what_would_have_been_next_what_it_needs_and_what_is_left(self, capped: Told) -> None:
        ended = capped.memory.ended
        assert ended is not None and ended.forecast is not None
        left = capped.story.story.policy.caps.gpu_hours - capped.result["gpu_hours"]
        for half in capped.halves("stop"):
            for fact in ("dynamo-scoped-tool-parsing", "dynamo.hash", "identity.frameworks.dynamo", f"{ended.forecast:.1f} GPU",
                         f"{left:.1f} GPU", "1/5", "0.7800"):
                assert fact in half, fact

    def test_the_last_words_list_both_runs(self, capped: Told) -> None:
        for half in capped.halves("final"):
            assert str(own.FIRST) in half and str(own.SECOND) in half and "1/5" in half

    def test_the_pull_request_is_put_away_and_the_branch_kept(self, capped: Told) -> None:
        assert (capped.pull.open, capped.pull.draft, list(capped.pull.labels)) == (False, True, [])
        assert capped.git.resolve(capped.pull.branch) == capped.pull.head


class TestWithoutIt:
    def test_it_is_validated_after_two_repairs(self, free: Told) -> None:
        told = free.result
        assert (told["outcome"], told["cause"], told["repairs_used"]) == ("validated", "verdict", 2)

    def test_the_runs_are_the_stories_each_with_its_reason(self, free: Told) -> None:
        assert free.runs()[:8] == [
            (own.FIRST, 1, "dispatch", "failure"),
            (own.SECOND, 1, "dispatch", "failure"),
            (uncapped.SAMPLE, 1, "dispatch", "success"),
            (uncapped.LOWEST, 1, "dispatch", "success"),
            (uncapped.HIGHEST, 1, "dispatch", "success"),
            (uncapped.SYNCHRONIZED, 1, "push", "cancelled"),
            (uncapped.SWEEP, 1, "label", "success"),
            (uncapped.UNLABELED, 1, "unlabel", "skipped"),
        ]

    def test_the_bot_lost_no_time_so_the_sweep_began_when_its_files_say(self, free: Told) -> None:
        (made,) = [run for run in free.hub.runs_made() if run.id == uncapped.SWEEP]
        began = {job.name: job.started for job in made.jobs if job.gpus}
        assert began == {bench(conc): start for conc, (_, _, start) in uncapped.POINTS.items()} | {
            evaluation(conc): start for conc, (_, _, start) in uncapped.EVALS.items()
        }

    def test_repair_2s_smoke_goes_stage_by_stage_cheapest_information_first(self, free: Told) -> None:
        runs = (uncapped.SAMPLE, uncapped.LOWEST, uncapped.HIGHEST)
        assert [free.stage(run) for run in runs] == ["smoke1", "smoke2", "smoke3"]
        asked = [free.inputs[run]["generate-cli-command"].partition("-agg ")[2] for run in runs]
        assert asked == ["--evals-only", "--no-evals --conc 1", "--no-evals --conc 16"]
        assert [free.inputs[run].get("eval-limit", "") for run in runs[1:]] == ["", ""]

    def test_repair_2_moves_the_pin_in_both_places_and_nothing_else(self, free: Told) -> None:
        heads = free.memory.heads
        assert [head.why for head in heads] == ["proposal", "repair", "repair", "changelog", "sync"]
        (changed,) = free.git.changes(heads[1].sha, heads[2].sha)
        before, after = (free.git.blob(free.git.entry(head.sha, changed.path)[1]).decode() for head in heads[1:3])
        assert after == before.replace(history.PIN, history.SCOPED) and before.count(history.PIN) == 2

    def test_the_changelog_is_mains_bytes_with_our_entry_behind(self, free: Told) -> None:
        main, ours = (free.git.blob(free.git.entry(free.git.resolve(at), "perf-changelog.yaml")[1]) for at in ("main", free.pull.branch))
        assert ours.startswith(main) and ours[len(main):].count(b"- config-keys:") == 1

    def test_the_sweep_is_told_point_by_point_with_its_scores(self, free: Told) -> None:
        for half in free.halves("sweep"):
            shown = half.replace("（", " (").replace("）", ")")
            for fact in ("917.3 → 966.2 (+5.3%)", "2300.1 → 2472.6 (+7.5%)", "48.465 → 31.288 (-35.4%)", "0.9712", "0.9735", "0.9727"):
                assert fact in shown, fact

    def test_the_verdict_is_neutral_and_says_what_weakens_it(self, free: Told) -> None:
        judged = next(one for one in free.memory.judged if one.run == uncapped.SWEEP)
        assert judged.verdict is not None and judged.verdict.verdict == "neutral" and judged.gates == ()
        reasons = {reason.partition(":")[0] for reason in judged.verdict.reasons}
        assert reasons == {"saturated", "baseline-unverifiable", "baseline-single", "serving-path-changed"}

    def test_the_pull_request_is_open_ready_for_review_and_without_labels(self, free: Told) -> None:
        assert (free.pull.open, free.pull.draft, list(free.pull.labels)) == (True, False, [])

    def test_each_comment_was_posted_once(self, free: Told) -> None:
        kinds = [comment["kind"] for comment in free.result["comments"]]
        assert kinds == ["proposal", "initial", "repair", "repair", "sweep", "finishing", "final"]
