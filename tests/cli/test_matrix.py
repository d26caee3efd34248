"""matrix: several recipes, chosen points, a limit on evals, and the points as jobs of benchmark.yml."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.adapters.assets import PackagedAssets
from bot.cli.jobs import jobs_of
from bot.cli.layouts import named
from bot.errors import BadInput
from bot.model.recipe import Point
from tests.cli import worlds
from tests.cli.shell import Done, bumpbot


def asked(repo: Path, *argv: str) -> Done:
    return bumpbot("--repo", repo, "matrix", *argv)


def told(repo: Path, *argv: str) -> list[dict[str, Any]]:
    done = asked(repo, "--format", "json", *argv)
    assert done.code == 0, done.err
    return done.json


@pytest.fixture
def pair(repo: Path) -> Path:
    """The small repository with a second recipe, measured at one concurrency and by a short eval."""
    text = worlds.RECIPE.format(name=worlds.NAME).replace("name: toy", "name: toy-mtp").replace("{1: 8, 16: 32}", "{4: 8}")
    (repo / "recipes" / "toy-mtp.yaml").write_text(text.replace("threshold: 0.9}", "threshold: 0.9, limit: 20}"))
    return repo


def recipe(repo: Path, old: str, new: str) -> Path:
    """The repository with another text in its recipe."""
    file = repo / "recipes" / "toy.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    return repo


class TestWhatARunnerWouldRefuse:
    @pytest.mark.parametrize(("where", "name", "value", "said"), [
        ("args", "--privileged", "1", "no argument's form"), ("args", "host", "1", "not taken"), ("args", "ho", "1", "not taken"),
        ("args", "a", '"x\\ny"', "cannot be printed"), ("env", "GITHUB_TOKEN", "x", "not set"), ("env", "A=B", "x", "no variable's form"),
        ("env", "HF_ENDPOINT", "x", "not set")])
    def test_is_told_by_file_line_and_key_before_a_machine_is_asked_for(
            self, repo: Path, where: str, name: str, value: str, said: str) -> None:
        made = recipe(repo, "workload:", f"serve:\n  {where}:\n    good: 1\n    {name}: {value}\nworkload:")
        line = next(at for at, text in enumerate((made / "recipes" / "toy.yaml").read_text().splitlines(), 1) if f" {name}: " in text)
        done = asked(made, "toy", "--jobs")
        assert (done.code, done.out) == (1, "")
        assert f"recipes/toy.yaml:{line}: serve.{where}.{name}: " in done.line and said in done.line


class TestSeveralRecipes:
    def test_make_one_matrix_in_the_order_named(self, pair: Path) -> None:
        assert [(point["recipe"], point["concurrency"], point["kind"]) for point in told(pair, "toy-mtp", "toy")] == [
            ("toy-mtp", 4, "throughput"), ("toy-mtp", 4, "eval"), ("toy", 1, "throughput"), ("toy", 16, "throughput"), ("toy", 16, "eval")]

    def test_named_twice_count_once(self, repo: Path) -> None:
        assert told(repo, "toy", "toy") == told(repo, "toy")

    def test_have_their_names_in_the_table(self, pair: Path) -> None:
        shown = asked(pair, "toy", "toy-mtp").out.splitlines()
        assert shown[0] == "toy, toy-mtp: 5 points, 4 x h200"
        assert shown[1].split()[0] == "recipe" and shown[2].split()[0] == "toy"

    def test_of_which_one_is_unknown_are_refused(self, pair: Path) -> None:
        done = asked(pair, "toy", "ghost")
        assert done.code == 1 and "ghost" in done.line


class TestARecipeWithoutAPoint:
    def test_is_refused_since_a_run_of_nothing_is_green(self, tmp_path: Path) -> None:
        (tmp_path / "configs").mkdir()
        (tmp_path / "configs" / "nvidia-master.yaml").write_text("# one\nk1:\n  image: a/b:v1\n")
        done = bumpbot("--repo", tmp_path, "--layout", "inferencex", "matrix", "k1")
        assert done.code == 1 and "configs/nvidia-master.yaml:3: k1: no point comes of it" in done.line


class TestPoints:
    def test_are_the_ones_named_in_the_matrixs_order(self, pair: Path) -> None:
        ids = [point["id"] for point in told(pair, "toy", "toy-mtp")]
        chosen = told(pair, "toy", "toy-mtp", "--points", ids[4], ids[1])
        assert [point["id"] for point in chosen] == [ids[1], ids[4]]
        assert told(pair, f"--points={ids[1]}", f"--points={ids[4]}", "--", "toy", "toy-mtp") == chosen

    def test_of_another_smoke_keep_their_stage(self, repo: Path) -> None:
        last = told(repo, "toy", "--smoke")[-1]
        assert told(repo, "toy", "--smoke", "--points", last["id"]) == [last] and last["stage"] == 3

    def test_that_are_unknown_are_named(self, repo: Path) -> None:
        done = asked(repo, "toy", "--points", "toy/nothing/c99")
        assert done.code == 1 and done.line.startswith("bumpbot: no point toy/nothing/c99: known: toy/")

    def test_of_the_recipe_as_it_was_are_answered_with_those_of_today(self, repo: Path) -> None:
        before = told(repo, "toy")[1]["id"]
        after = told(recipe(repo, "gpus: 4", "gpus: 8"), "toy")[1]["id"]
        done = asked(repo, "toy", "--points", before)
        assert after != before and f"did you mean {after}?" in done.line

    def test_keep_their_names_when_only_the_image_moves(self, repo: Path) -> None:
        before = [point["id"] for point in told(repo, "toy")]
        assert [point["id"] for point in told(recipe(repo, "v1.0.0", "v1.1.0"), "toy")] == before


class TestTheLimitOfEvals:
    def test_caps_each_and_raises_none(self, pair: Path) -> None:
        limits = {point["recipe"]: point["eval"]["limit"] for point in told(pair, "toy", "toy-mtp", "--eval-limit", "50") if point["eval"]}
        assert limits == {"toy": 50, "toy-mtp": 20}

    def test_leaves_what_is_no_eval_alone(self, repo: Path) -> None:
        assert told(repo, "toy", "--eval-limit", "5")[:2] == told(repo, "toy")[:2]

    @pytest.mark.parametrize("limit", ["0", "-1", "all", ""])
    def test_is_a_number_of_questions(self, repo: Path, limit: str) -> None:
        assert asked(repo, "toy", f"--eval-limit={limit}").code == 2


def renamed(repo: Path, name: str) -> Path:
    return recipe(repo, "name: toy", f"name: {name}")


class TestJobs:
    def test_hold_the_names_the_runners_and_the_point(self, repo: Path) -> None:
        first, _, gate = asked(repo, "toy", "--jobs").json
        assert {key: first[key] for key in ("name", "results", "logs", "labels")} == {
            "name": "toy c1", "results": "bench_toy_conc1", "logs": "logs_toy_conc1", "labels": ["self-hosted", "h200"]}
        assert (gate["name"], gate["results"], gate["logs"]) == (
            "toy c16 eval gsm8k", "eval_toy_conc16_gsm8k", "eval_logs_toy_conc16_gsm8k")
        assert [job["point"] for job in asked(repo, "toy", "--jobs").json] == told(repo, "toy")

    def test_are_read_back_by_the_layout(self, pair: Path) -> None:
        pattern = re.compile(named("own", PackagedAssets()).jobs)
        for job in asked(pair, "toy", "toy-mtp", "--jobs").json:
            found = pattern.search(f"sweep / {job['name']}")
            assert found and (found["recipe"], int(found["concurrency"])) == (job["point"]["recipe"], job["point"]["concurrency"])
            assert bool(found["eval"]) is (job["point"]["kind"] == "eval")

    def test_need_a_runner(self, repo: Path) -> None:
        done = asked(recipe(repo, ", runner: [self-hosted, h200]", ""), "toy", "--jobs")
        assert done.code == 1 and done.line == (
            "bumpbot: toy: hardware.runner: no runner is named: add its labels: `runner: [self-hosted, h200]`")

    @pytest.mark.parametrize(("old", "new", "key"), [
        ("task: gsm8k", "task: a/b", "evals.task"), ("[self-hosted, h200]", '["self-hosted", "h 200"]', "hardware.runner"),
    ])
    def test_are_refused_where_a_name_could_not_stand_on_github(self, repo: Path, old: str, new: str, key: str) -> None:
        done = asked(recipe(repo, old, new), "toy", "--jobs")
        assert done.code == 1 and f"toy: {key}:" in done.line and "can be no name on GitHub" in done.line

    def test_that_would_upload_under_one_name_are_refused(self, repo: Path) -> None:
        gate = "{task: gsm8k, threshold: 0.9}"
        done = asked(recipe(repo, gate, f"{gate}, {gate.replace('0.9', '0.8')}"), "toy", "--jobs")
        assert done.code == 1 and "toy.yaml:8: evals.1.task: gsm8k gates twice: keep one" in done.line
        one = msgspec.convert(told(recipe(repo, f", {gate.replace('0.9', '0.8')}", ""), "toy")[0], Point)
        with pytest.raises(BadInput, match="two points would upload bench_toy_conc1"):
            jobs_of([one, one])

    def test_are_refused_where_what_they_upload_would_have_too_long_a_name(self, repo: Path) -> None:
        """The file system refuses it when the GPU-hours are spent."""
        name, task = "r" * 120, "t" * 102
        fits = asked(renamed(recipe(repo, "task: gsm8k", f"task: {task}"), name), name, "--jobs")
        assert fits.code == 0 and max(len(f"{job['logs']}_attempt999.zip") for job in fits.json) == 255
        done = asked(recipe(repo, f"task: {task}", f"task: {task}t"), name, "--jobs")
        assert done.code == 1 and "its artifact's name would have 256 bytes, and a file's may have 255" in done.line

    @pytest.mark.parametrize("name", ["logs_toy", "toy_conc4_x"])
    def test_are_refused_where_a_name_would_be_read_back_as_something_else(self, repo: Path, name: str) -> None:
        done = asked(renamed(repo, name), name, "--jobs")
        assert done.code == 1 and f"name: a recipe called {name}" in done.line

    def test_say_which_recipes_are_all_there(self, pair: Path) -> None:
        def whole(*more: str) -> dict[str, bool]:
            return {job["point"]["recipe"]: job["whole"] for job in asked(pair, "toy", "toy-mtp", "--jobs", *more).json}

        assert whole() == {"toy": True, "toy-mtp": True}
        assert not any((whole("--smoke") | whole("--eval-limit", "5")).values()), "a sample is no whole eval"
        mine = [point["id"] for point in told(pair, "toy")]
        assert whole(*(f"--points={name}" for name in mine)) == {"toy": True}
        assert whole(*(f"--points={name}" for name in mine[:-1])) == {"toy": False}

    def test_are_at_most_as_many_as_github_starts(self, repo: Path) -> None:
        many = ", ".join(f"{conc}: 8" for conc in range(1, 258))
        done = asked(recipe(repo, "1: 8, 16: 32", many), "toy", "--jobs")
        assert done.code == 1 and "258 jobs, and GitHub starts at most 256" in done.line
        assert len(asked(repo, "toy", "--format", "json").json) == 258
