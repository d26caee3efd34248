"""What act ignores, read from the files: triggers, permissions, environments, concurrency, pins, and what stands in scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from bot.rehearse.world import LISTENS
from tests.workflows.act import STANDINS
from tests.workflows.repository import WORKFLOWS, read

FILES = tuple(sorted(file.name for file in WORKFLOWS.glob("*.yml")))
PINNED = re.compile(r"^ *(?:- )?uses: (?:\./\S*|[\w.-]+/[\w.-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+)$")


def jobs(name: str) -> dict[str, Any]:
    return read(name)["jobs"]


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, step) of every workflow and of the action."""
    for name in FILES:
        for job, told in jobs(name).items():
            yield from ((f"{name} {job}", step) for step in told.get("steps", ()))
    yield from (("action.yml", step) for step in read("action.yml")["runs"]["steps"])


class TestEveryWorkflow:
    def test_is_one_of_these(self) -> None:
        assert FILES == ("benchmark.yml", "ci.yml", "smoke.yml", "sweep.yml", "wake.yml")

    @pytest.mark.parametrize("name", FILES)
    def test_gives_no_permission_on_top_and_says_them_for_each_job(self, name: str) -> None:
        assert read(name)["permissions"] == {}
        assert all("permissions" in job for job in jobs(name).values())

    @pytest.mark.parametrize("name", [*FILES, "../../action.yml"])
    def test_pins_every_action_by_commit_and_says_which_version_that_is(self, name: str) -> None:
        lines = [line for line in (WORKFLOWS / name).read_text().splitlines() if re.match(r" *(- )?uses:", line)]
        assert lines and all(PINNED.match(line) for line in lines)

    def test_pins_an_action_to_one_commit_everywhere(self) -> None:
        used = {step["uses"] for _, step in steps() if "@" in step.get("uses", "")}
        assert len({use.split("@")[0] for use in used}) == len(used)
        assert {use.split("@")[0].split("/")[1] for use in used} == {each.name for each in STANDINS.iterdir() if each.is_dir()}

    def test_lets_no_checkout_keep_its_token(self) -> None:
        found = [step for _, step in steps() if step.get("uses", "").startswith("actions/checkout@")]
        assert len(found) >= 4 and all(step["with"]["persist-credentials"] == "false" for step in found)

    def test_restores_no_cache(self) -> None:
        for where, step in steps():
            assert "cache" not in step.get("uses", "") and not any("cache" in key for key in step.get("with", {})), where

    def test_has_no_expression_in_a_script(self) -> None:
        for where, step in steps():
            assert "${{" not in step.get("run", ""), where

    @pytest.mark.parametrize("name", [name for name in FILES if name != "ci.yml"])
    def test_runs_its_scripts_so_that_a_failing_pipe_fails(self, name: str) -> None:
        scripted = any("run" in step for job in jobs(name).values() for step in job.get("steps", ()))
        assert not scripted or read(name)["defaults"]["run"]["shell"] == "bash"

    def test_stops_every_job_some_time(self) -> None:
        for name in FILES:
            assert all("timeout-minutes" in job for job in jobs(name).values() if "uses" not in job), name


class TestWake:
    def test_listens_to_what_a_rehearsal_delivers_and_to_nothing_else(self) -> None:
        on = read("wake.yml")["on"]
        assert set(on) == {"pull_request_target", "issue_comment", "workflow_run", "schedule", "push", "workflow_dispatch"}
        for event, trigger in LISTENS.items():
            assert tuple(on[event]["types"]) == trigger.types
        assert on["issue_comment"]["types"] == ["created"]
        assert on["push"] == {"branches": ["main"]} and on["schedule"] == [{"cron": "5,20,35,50 * * * *"}]
        assert set(on["workflow_dispatch"]["inputs"]) == {"recipe", "image"}

    def test_hears_of_runs_by_the_names_that_those_workflows_have(self) -> None:
        assert read("wake.yml")["on"]["workflow_run"]["workflows"] == [read("smoke.yml")["name"], read("sweep.yml")["name"]]

    def test_holds_the_key_in_an_environment_and_in_the_job_that_uses_it(self) -> None:
        asker, wake = jobs("wake.yml")["asker"], jobs("wake.yml")["wake"]
        assert wake["environment"] == "bumpbot" and "environment" not in asker
        assert "secrets." not in str(asker) and asker["permissions"] == {}

    def test_can_write_nothing_but_contents_with_the_jobs_own_token(self) -> None:
        given = jobs("wake.yml")["wake"]["permissions"]
        assert {name for name, level in given.items() if level != "read"} == {"contents"}

    def test_asks_who_it_is_before_the_group_of_bumps(self) -> None:
        asker, wake = jobs("wake.yml")["asker"], jobs("wake.yml")["wake"]
        assert wake["needs"] == "asker" and "concurrency" not in read("wake.yml")
        assert wake["concurrency"]["group"].startswith("bumpbot-wake") and wake["concurrency"]["cancel-in-progress"] == "false"
        assert not asker["concurrency"]["group"].startswith("bumpbot-wake")

    def test_never_names_a_head(self) -> None:
        text = (WORKFLOWS / "wake.yml").read_text()
        assert not re.search(r"head\.sha|head\.ref|head_ref|head_sha|refs/pull|merge_commit", text)


@pytest.mark.parametrize("name", ["smoke.yml", "sweep.yml"])
class TestSmokeAndSweep:
    INPUTS = ("recipe", "commit", "nonce", "points", "eval-limit", "fail-fast")

    def test_start_by_dispatch_alone_with_the_inputs_that_the_bot_sends(self, name: str) -> None:
        on = read(name)["on"]
        assert list(on) == ["workflow_dispatch"] and tuple(on["workflow_dispatch"]["inputs"]) == self.INPUTS
        required = {key for key, told in on["workflow_dispatch"]["inputs"].items() if told.get("required") == "true"}
        assert required == {"recipe", "commit", "nonce"}

    def test_carry_the_nonce_in_the_runs_name(self, name: str) -> None:
        assert read(name)["run-name"] == f"{read(name)['name']} ${{{{ inputs.nonce }}}}"

    def test_hand_every_input_on_and_one_secret(self, name: str) -> None:
        job, = jobs(name).values()
        assert job["uses"] == "./.github/workflows/benchmark.yml" and job["permissions"] == {"contents": "write", "actions": "read"}
        assert job["with"] == {key: f"${{{{ inputs.{key} }}}}" for key in self.INPUTS if key != "nonce"}
        assert list(job["secrets"]) == ["model-token"]


class TestBenchmark:
    def test_is_only_called(self) -> None:
        assert list(read("benchmark.yml")["on"]) == ["workflow_call"]
        assert read("benchmark.yml")["on"]["workflow_call"]["secrets"]["model-token"]["required"] == "false"

    def test_may_read_contents_and_write_them_only_where_a_hosted_machine_publishes(self) -> None:
        """A called workflow has no more than its caller gives, so that the callers give `write`; each job takes its own part."""
        assert {name: job["permissions"] for name, job in jobs("benchmark.yml").items()} == {
            "plan": {"contents": "read"}, "run": {"contents": "read"}, "collect": {"contents": "write", "actions": "read"}}

    def test_shows_the_models_token_to_the_step_that_measures_and_to_no_other(self) -> None:
        holders = [(where, step.get("name")) for where, step in steps() if "secrets.model-token" in str(step)]
        assert holders == [("benchmark.yml run", "Measure")]

    def test_holds_the_apps_key_only_beside_the_collector_and_only_for_a_ledger_elsewhere(self) -> None:
        holder, = [(where, step) for where, step in steps() if where.startswith("benchmark") and "PRIVATE_KEY" in str(step)]
        assert holder[0] == "benchmark.yml collect" and "vars.BUMPBOT_LEDGER_REPOSITORY != ''" in holder[1]["if"]
        assert holder[1]["with"]["permission-contents"] == "write" and "permission-actions" not in holder[1]["with"]
        assert [name for name, job in jobs("benchmark.yml").items() if "environment" in job] == ["collect"]
        assert "vars.BUMPBOT_LEDGER_REPOSITORY != ''" in jobs("benchmark.yml")["collect"]["environment"]

    def test_unpacks_nothing_that_was_uploaded_beside_the_token_that_writes(self) -> None:
        download, = [step for step in jobs("benchmark.yml")["collect"]["steps"] if "download-artifact" in step.get("uses", "")]
        assert download["with"]["skip-decompress"] == "true"

    def test_puts_only_the_points_on_the_recipes_runners(self) -> None:
        assert {name: job["runs-on"] for name, job in jobs("benchmark.yml").items()} == {
            "plan": "ubuntu-24.04", "run": "${{ matrix.labels }}", "collect": "ubuntu-24.04"}

    def test_stops_at_the_first_failure_when_asked(self) -> None:
        assert jobs("benchmark.yml")["run"]["strategy"]["fail-fast"] == "${{ inputs.fail-fast }}"

    def test_keeps_results_and_logs_also_of_what_failed(self) -> None:
        kept = [step for step in jobs("benchmark.yml")["run"]["steps"] if step.get("uses", "").startswith("actions/upload-artifact@")]
        assert [step["if"] for step in kept] == ["always()", "always()"]
        assert [step["with"]["name"] for step in kept] == [
            f"${{{{ matrix.{part} }}}}_attempt${{{{ github.run_attempt }}}}" for part in ("results", "logs")]
        assert {step["with"]["include-hidden-files"] for step in kept} == {"true"}, "the load generator's are, and have their sums"


class TestWhatPrintsOthersWords:
    def test_stands_between_stop_commands(self) -> None:
        scripts = [step["run"] for _, step in steps() if re.search(r"bin/bumpbot\"? ", step.get("run", ""))]
        assert len(scripts) == 4
        for script in scripts:
            before, _, after = script.partition("::stop-commands::$end")
            assert "/dev/urandom" in before and "trap 'echo \"::$end::\"' EXIT" in after
            assert "bin/bumpbot" in after and not re.search(r"bin/bumpbot\"? ", before)
