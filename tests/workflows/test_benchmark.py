"""smoke.yml and sweep.yml as they run, through benchmark.yml: the real `bumpbot matrix` of main over the files of a commit.

`bumpbot bench` is a stand-in (standins/python): it measures nothing and writes one row.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from bot.adapters.assets import PackagedAssets
from bot.cli.layouts import named
from tests.cli import worlds
from tests.workflows.act import Ran
from tests.workflows.repository import Repository

pytestmark = pytest.mark.needs("act")
MEASURED = {"plan": "success", "toy c1": "success", "toy c16": "success", "toy c16 eval gsm8k": "success", "collect": "success"}
REFUSED = {"plan": "failure"}


def inputs(commit: str, **more: str) -> dict[str, str]:
    """What the bot sends; an input that would be empty is left out."""
    return {"recipe": "toy", "commit": commit, "nonce": f"bumpbot-toy-smoke1-0-{commit[:12]}", "fail-fast": "true", **more}


def branch(here: Repository, name: str, **files: str | None) -> str:
    """Somebody's commit on a branch: recipe text in place of main's, and files of the bot's own beside it."""
    told = {path.replace("__", "/"): text.encode() if text is not None else None for path, text in files.items()}
    return here.person("ada").push(name, told, "A bump")


def rows(ran: Ran) -> dict[str, dict[str, Any]]:
    """Point -> the row that its job uploaded."""
    found = [json.loads(file.read_text()) for file in ran.artifacts.glob("*/rows.jsonl")]
    return {f"{row['point']['recipe']} c{row['point']['concurrency']}": row for row in found}


class TestASweep:
    def test_measures_every_point_and_eval_of_the_commits_recipe(self, here: Repository) -> None:
        candidate = worlds.RECIPE.format(name=here.image).replace("v1.0.0", "v1.1.0")
        head = branch(here, "bumpbot/toy-1", **{"recipes__toy.yaml": candidate})
        ran = here.measure("sweep.yml", inputs(head))
        assert (ran.code, ran.jobs) == (0, MEASURED), ran.log
        assert {name: row["image"] for name, row in rows(ran).items()} == dict.fromkeys(("toy c1", "toy c16"), f"{here.image}:v1.1.0")

    def test_uploads_under_the_names_that_the_layout_reads(self, here: Repository) -> None:
        ran = here.measure("sweep.yml", inputs(here.tip))
        assert list(ran.uploaded) == [
            "bench_toy_conc16_attempt1", "bench_toy_conc1_attempt1", "eval_logs_toy_conc16_gsm8k_attempt1",
            "eval_toy_conc16_gsm8k_attempt1", "logs_toy_conc16_attempt1", "logs_toy_conc1_attempt1", "plan_attempt1"]
        names = [job for job in ran.jobs if re.search(named("own", PackagedAssets()).jobs, f"sweep / {job}")]
        assert sorted(names) == ["toy c1", "toy c16", "toy c16 eval gsm8k"]
        assert "| bench_toy_conc1 | 1 | 1 |" in ran.summary and "| eval_toy_conc16_gsm8k | 1 | 1 |" in ran.summary

    def test_gives_the_model_token_to_the_jobs_that_measure_and_keeps_their_logs_from_commanding(self, here: Repository) -> None:
        ran = here.measure("sweep.yml", inputs(here.tip))
        logs = [file.read_text() for file in ran.artifacts.glob("*/server.log")]
        assert len(logs) == 3 and all("with a model token" in log for log in logs)
        assert len(ran.ignored) == 3 and not any("forged" in told for told in ran.commands)


class TestASmoke:
    def test_measures_the_points_it_is_told_with_a_sample_of_each_eval(self, here: Repository) -> None:
        known = {point["id"]: point for point in here.matrix()}
        wanted = [name for name in known if name.endswith(("/c16", "/gsm8k"))]
        ran = here.measure("smoke.yml", inputs(here.tip, points=" ".join(wanted), **{"eval-limit": "50"}))
        assert (ran.code, set(ran.jobs)) == (0, set(MEASURED) - {"toy c1"}), ran.log
        assert any('"limit":50' in line["msg"] for line in ran.lines if line.get("command") == "set-output")


class TestTheCommit:
    def test_gives_data_and_neither_code_nor_policy(self, here: Repository) -> None:
        hostile = {
            "action.yml": "name: x\nruns: {using: composite, steps: [{shell: bash, run: 'echo pwned >&2; exit 9'}]}\n",
            ".github__bumpbot.yml": "version: 1\nrecipes: [{files: nowhere/*.yaml}]\n",
            "bot____init__.py": "raise SystemExit(9)\n", ".gitattributes": "*.yaml filter=x export-ignore ident text eol=crlf working-tree-encoding=UTF-16\n",
        }
        ran = here.measure("smoke.yml", inputs(branch(here, "x", **hostile)))
        assert (ran.code, ran.jobs) == (0, MEASURED), ran.log
        assert "pwned" not in ran.log

    def test_whose_recipe_is_a_link_out_of_the_tree_has_no_such_recipe(self, here: Repository) -> None:
        ran = here.measure("smoke.yml", inputs(here.link("recipes/toy.yaml", "/etc/passwd", "linked")))
        assert ran.jobs == REFUSED
        assert "root:" not in ran.log and "toy" in ran.log

    def test_that_no_branch_contains_is_refused_as_a_forks(self, here: Repository) -> None:
        head = branch(here, "of-a-fork", **{"recipes__other.yaml": worlds.RECIPE})
        here.world.hub.git.update_ref("refs/pull/9/head", head)
        here.person("ada").delete_branch("of-a-fork")
        ran = here.measure("smoke.yml", inputs(head))
        assert (ran.jobs, ran.uploaded) == (REFUSED, {})
        assert any("no branch of acme/recipes contains this commit" in told for told in ran.commands)

    @pytest.mark.parametrize("commit", ["main", "a" * 39, "A" * 40, "", "--help", "$(touch broken)", f"{'a' * 40}\n"])
    def test_that_is_not_forty_hexadecimal_digits_is_refused_before_anything_is_fetched(self, here: Repository, commit: str) -> None:
        ran = here.measure("smoke.yml", inputs(commit))
        assert (ran.jobs, ran.notes) == (REFUSED, ())
        assert any("no full commit id" in told for told in ran.commands)


class TestTheStart:
    @pytest.mark.parametrize("ref", ["refs/heads/bumpbot/toy-1", "refs/tags/main", "refs/heads/main2", "refs/heads/::error::x"])
    def test_from_another_place_than_main_is_refused(self, here: Repository, ref: str) -> None:
        ran = here.measure("sweep.yml", inputs(here.tip), ref=ref)
        assert (ran.jobs, ran.notes) == (REFUSED, ())
        assert any("dispatch it from refs/heads/main" in told for told in ran.commands)

    @pytest.mark.parametrize(("more", "said"), [
        ({"points": "toy/000000000000/c16"}, "no point toy/000000000000/c16: did you mean"), ({"points": "--help nothing"}, "no point --help"),
        ({"recipe": "ghost"}, "no recipe is called ghost"), ({"recipe": "--repo=/ toy"}, "no recipe is called --repo=/"), ({"eval-limit": "0"}, "eval-limit"),
        ({"eval-limit": "all"}, "eval-limit"), ({"recipe": "$(touch broken)"}, "no recipe is called $(touch"), ({"points": "*"}, "no point *"),
    ])
    def test_with_an_input_that_does_not_hold_is_one_line(self, here: Repository, more: dict[str, str], said: str) -> None:
        ran = here.measure("smoke.yml", inputs(here.tip, **more))
        assert ran.jobs == REFUSED
        assert said in ran.log and "Traceback" not in ran.log


class TestAPointThatFails:
    def test_keeps_its_log_and_fails_the_run(self, here: Repository) -> None:
        point = next(point["id"] for point in here.matrix() if point["id"].endswith("/c16"))
        ran = here.measure("sweep.yml", inputs(here.tip), env={"STANDIN_FAILS": point})
        assert ran.code == 1 and ran.jobs["toy c16"] == "failure" == ran.jobs["collect"]
        assert "logs_toy_conc16_attempt1" in ran.uploaded and "bench_toy_conc16_attempt1" not in ran.uploaded
        assert any("no results: bench_toy_conc16" in told for told in ran.commands)
        assert "| bench_toy_conc16 | 0 | 0 |" in ran.summary

    def test_is_told_as_itself_where_it_was_the_only_one(self, here: Repository) -> None:
        """A run's single artifact is unpacked without a folder of its name: its files would be taken for artifacts."""
        point = next(point["id"] for point in here.matrix() if point["id"].endswith("/c16"))
        ran = here.measure("smoke.yml", inputs(here.tip, points=point), env={"STANDIN_FAILS": point})
        assert list(ran.uploaded) == ["logs_toy_conc16_attempt1", "plan_attempt1"]
        assert [told for told in ran.commands if "artifact" in told or "results" in told] == ["❗  ::error::no results: bench_toy_conc16"]


class TestTheCollector:
    @pytest.mark.parametrize("name", ["bench_other_conc1_attempt1", "eval_toy_conc16_attempt1", "bench_toy_conc1", "bench_toy_conc1_attempt1x",
                                      "x`$(touch broken)"])
    def test_fails_for_an_artifact_that_nobody_planned(self, here: Repository, name: str) -> None:
        planted = here.artifacts / name
        planted.mkdir(parents=True)
        ran = here.measure("smoke.yml", inputs(here.tip, points=here.matrix()[0]["id"]))
        assert {job: result for job, result in ran.jobs.items() if result == "failure"} == {"collect": "failure"}
        assert any("no job of the plan uploads" in told for told in ran.commands)
        assert ran.summary.count("\n") == 3, "the table holds what was planned and nothing else"

    def test_counts_the_newest_attempt(self, here: Repository) -> None:
        earlier = here.artifacts / "bench_toy_conc1_attempt0"
        earlier.mkdir(parents=True)
        ran = here.measure("smoke.yml", inputs(here.tip, points=here.matrix()[0]["id"]))
        assert ran.code == 0 and "| bench_toy_conc1 | 2 | 1 |" in ran.summary
