"""The seed's bump, lived through: one rehearsal of the real bot over HTTP and git, read as the people involved would.

Every exchange with the loopback GitHub is held against GitHub's own description while it runs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bot.cli.rehearse import play
from bot.ledger import check_receipt, replay, verify
from tests.fakes.shipped import shipped
from tests.rehearse.openapi.check import Checker


class Told:
    """What a finished rehearsal left behind."""

    def __init__(self, folder: Path) -> None:
        self.checker = Checker()
        story = shipped("kimi-k3-gb200", "as-it-happened")
        self.result = play(story, folder, narrate=False, observer=self._listen, after=self._keep)

    def _listen(self, world: Any) -> None:
        world.hub.exchanges.append(self.checker)

    def _keep(self, world: Any, bot: Any) -> None:
        snapshot = bot.ledger.tip()
        self.paths = sorted(snapshot.paths)
        year, name = bot.ledger.ended_bumps(snapshot)[0]
        self.year, self.bump, self.entries = year, name, bot.ledger.entries(snapshot, name)
        self.pull = world.hub.pulls()[0]
        self.git = world.hub.git

    def comment(self, kind: str) -> str:
        return next(comment["body"] for comment in self.result["comments"] if comment["kind"] == kind)

    def runs(self, **facts: Any) -> list[dict[str, Any]]:
        return [run for run in self.result["runs"] if all(run[key] == value for key, value in facts.items())]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(tmp_path_factory.mktemp("seed"))


def halves(body: str) -> tuple[str, str]:
    english, _, chinese = body.partition("\n---\n")
    return english, chinese


class TestHowItEnded:
    def test_as_the_scenario_expects(self, told: Told) -> None:
        result = told.result
        assert (result["outcome"], result["cause"], result["repairs_used"]) == ("failed", "gate", 1)
        assert result["as_expected"]

    def test_nothing_troubled_the_bot(self, told: Told) -> None:
        assert [trouble for trouble in told.result["troubles"] if "nobody foresaw" not in trouble] == []

    def test_the_runs_are_the_seeds_each_with_its_reason(self, told: Told) -> None:
        runs = {run["id"]: (run["attempt"], run["reason"], run["conclusion"]) for run in told.result["runs"]}
        assert runs == {
            34446587513: (1, "dispatch", "failure"),
            34449828534: (2, "dispatch", "success"),
            34461597759: (1, "push", "cancelled"),
            34461599480: (1, "label", "cancelled"),
            34473834826: (1, "unlabel", runs[34473834826][2]),
        }

    def test_gpu_hours_are_counted_over_every_attempt_cancelled_jobs_too(self, told: Told) -> None:
        assert told.result["gpu_hours"] == pytest.approx(sum(run["gpu_hours"] for run in told.result["runs"]))
        assert 185 < told.result["gpu_hours"] < 205
        assert told.runs(id=34461599480)[0]["gpu_hours"] > 4 * 16 * 1.8, "four points of nearly two hours on 16 GPUs each"

    def test_the_pull_request_is_put_away_and_the_branch_kept(self, told: Told) -> None:
        assert (told.pull.open, told.pull.draft, list(told.pull.labels)) == (False, True, [])
        assert told.git.resolve(told.pull.branch) == told.pull.head

    def test_githubs_description_holds_for_every_exchange(self, told: Told) -> None:
        told.checker.hold()


class TestTheProposal:
    def test_it_shows_the_baseline_of_the_old_image(self, told: Told) -> None:
        body = told.comment("proposal")
        for fact in ("2026-08-21", "32424103771", "349aa1628", "2700", "a295bb2c32", "917.30", "112.26", "2.158", "0.00448", "223.2",
                     "2300.06", "48.465", "0.9727", "1319"):
            assert all(fact in half for half in halves(body)), fact

    def test_it_says_that_the_old_bytes_cannot_be_verified(self, told: Told) -> None:
        english, chinese = halves(told.comment("proposal"))
        assert "re-pushed" in english and "2026-09-03" in english and "重新推送" in chinese

    def test_the_edit_is_three_lines_in_two_files(self, told: Told) -> None:
        first = told.entries[0].entry.facts.subject.plan
        assert len(first.sites) == 3 and len({site.file for site in first.sites}) == 2
        assert first.scope.changed_rows == 5 and first.scope.only_image and not first.scope.other_rows_changed


class TestTheInitialAttempt:
    def test_the_first_server_error_is_found_in_the_frontends_log_and_not_in_the_teardown(self, told: Told) -> None:
        body = told.comment("initial")
        assert "ModuleNotFoundError: No module named 'vllm.entrypoints.openai.cli_args'" in body
        assert "TCPStore" not in body and "watchtower" not in body, "noise and host names stay out"


class TestTheRepair:
    def test_the_four_options_go_and_the_others_stay(self, told: Told) -> None:
        body = told.comment("repair")
        for key in ("dyn-chat-processor", "tool-call-parser", "reasoning-parser", "enable-auto-tool-choice"):
            assert f"frontend.args.{key}" in body
        assert "trust-remote-code" in body and "router-mode" in body

    def test_the_recipe_changed_there_and_nowhere_else(self, told: Told) -> None:
        heads = told.entries[-2].entry.facts.memory.heads
        proposal, repair = heads[0], heads[1]
        assert [head.why for head in heads] == ["proposal", "repair", "changelog", "sync"]
        changed = told.git.changes(proposal.sha, repair.sha)
        assert len(changed) == 1

    def test_the_numbers_deltas_and_signs_are_the_seeds(self, told: Told) -> None:
        for half in halves(told.comment("repair")):
            for row in ("917.30 | 955.51 | +4.2%", "112.26 | 117.33 | +4.5%", "14564.6 | 15170.8 | +4.2%", "2.158 | 1.587 | -26.5%",
                        "0.00448 | 0.00433 | -3.3%", "223.2 | 230.7 | +3.4%", "232 | 234 | +2"):
                assert row in half, row

    def test_the_package_fetch_cost_no_repair(self, told: Told) -> None:
        assert "package-fetch" in told.comment("repair")
        assert told.result["repairs_used"] == 1


class TestTheSweep:
    def test_the_head_conflicted_and_was_synced_without_a_repair(self, told: Told) -> None:
        english, chinese = halves(told.comment("sweep"))
        assert "conflict" in english and "冲突" in chinese

    def test_the_interim_table_is_the_seeds(self, told: Told) -> None:
        cells = ("917.3 → 971.0 (+5.8%)", "112.3 → 117.4 (+4.6%)", "2.158 → 1.589 (-26.4%)", "0.00448 → 0.00428 (-4.5%)",
                 "223.2 → 233.6 (+4.7%)", "974.0 → 1036.2 (+6.4%)", "2.078 → 1.345 (-35.3%)", "1489.0 → 1553.7 (+4.3%)",
                 "0.00479 → 0.00444 (-7.3%)", "2161.8 → 2320.8 (+7.4%)", "220.2 → 244.7 (+11.1%)", "15.369 → 7.730 (-49.7%)")
        for half in halves(told.comment("sweep")):
            shown = half.replace("（", " (").replace("）", ")")
            for cell in cells:
                assert cell in shown, cell

    def test_the_gate_failed_at_three_points_and_answers_were_cut(self, told: Told) -> None:
        for half in halves(told.comment("sweep")):
            for fact in ("0.8165", "0.7991", "0.8120", "0.9090", "0.9030", "0.9067", "0.9727", "219 / 1319"):
                assert fact in half, fact

    def test_the_changelog_is_mains_bytes_with_our_entry_behind(self, told: Told) -> None:
        main = told.git.blob(told.git.entry(told.git.resolve("main"), "perf-changelog.yaml")[1])
        ours = told.git.blob(told.git.entry(told.pull.head, "perf-changelog.yaml")[1])
        assert ours.startswith(main) and ours[len(main):].count(b"- config-keys:") == 1
        assert b"/pull/2956\n" in ours[len(main):]


class TestTheEnd:
    def test_the_stop_names_the_repair_that_could_not_be_paid(self, told: Told) -> None:
        for half in halves(told.comment("stop")):
            assert "dynamo-scoped-tool-parsing" in half and "dynamo.hash" in half and "identity.frameworks.dynamo" in half
            assert "GPU" in half

    def test_the_last_words_list_every_run_and_never_contradict_the_diagnosis(self, told: Told) -> None:
        body = told.comment("final")
        for half in halves(body):
            assert all(str(run["id"]) in half for run in told.result["runs"])
            assert "1/5" in half
        assert "does not prove" not in body and "不能证明" not in body

    def test_each_comment_was_posted_once_and_edited_in_place(self, told: Told) -> None:
        kinds = [comment["kind"] for comment in told.result["comments"]]
        assert kinds == ["proposal", "initial", "repair", "sweep", "stop", "finishing", "final"]

    def test_no_host_name_and_no_trigger_phrase_is_on_the_forge(self, told: Told) -> None:
        text = "\n".join(comment["body"] for comment in told.result["comments"])
        assert "watchtower" not in text
        assert not re.search(r"@(?:claude|klaud-cold|pr-claude)|/reuse-sweep-run|/stage-results|as a pr reviewer and codeowner", text, re.IGNORECASE)


class TestTheLedger:
    def test_the_chain_holds_and_replays_to_the_same_actions(self, told: Told) -> None:
        from bot.decide import decide

        assert verify(told.entries) is None
        assert replay(told.entries, decide) is None

    def test_the_receipt_of_the_pull_request_is_in_the_chain(self, told: Told) -> None:
        from bot.wake.comments import receipt_of

        receipt = receipt_of(told.pull.body)
        assert receipt is not None and check_receipt(told.entries, receipt.n, receipt.sha256) is None

    def test_the_ended_bump_released_what_it_held(self, told: Told) -> None:
        assert all(path.startswith(("ended/2026/", "caps/", "memory/", "scans/", "seen/")) for path in told.paths), told.paths
