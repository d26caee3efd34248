"""smoke.yml and sweep.yml as they run, through benchmark.yml: main's own `bumpbot matrix` over the files of a commit, `bumpbot bench`
with the small server as the runner's, `bumpbot ledger publish` into the ledger of the loopback repository.

Two runs measure (about three seconds a point), and their tests share them; what the collector refuses is told in
tests/cli/test_publish.py, case by case.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import msgspec
import pytest

from bot.adapters.assets import PackagedAssets
from bot.cli.layouts import named
from bot.model.ledger import Measured
from tests.cli import worlds
from tests.workflows import runner
from tests.workflows.act import Ran
from tests.workflows.repository import Repository, read, repository

pytestmark = pytest.mark.needs("act")
EVAL = f"toy c4 eval {runner.TASK}"
MEASURED = {"plan": "success", "toy c1": "success", "toy c4": "success", EVAL: "success", "collect": "success"}
REFUSED = {"plan": "failure"}
HOSTILE = {
    "action.yml": "name: x\nruns: {using: composite, steps: [{shell: bash, run: 'echo pwned >&2; exit 9'}]}\n",
    ".github__bumpbot.yml": "version: 1\nrecipes: [{files: nowhere/*.yaml}]\nledger: evil/ledger\n",
    "bot____init__.py": "raise SystemExit(9)\n",
    ".gitattributes": "*.yaml filter=x export-ignore ident text eol=crlf working-tree-encoding=UTF-16\n",
}


def inputs(commit: str, **more: str) -> dict[str, str]:
    """What the bot sends; an input that would be empty is left out."""
    return {"recipe": "toy", "commit": commit, "nonce": f"bumpbot-toy-smoke1-0-{commit[:12]}", "fail-fast": "false", **more}


def branch(here: Repository, name: str, **files: str | None) -> str:
    """Somebody's commit on a branch: recipe text in place of main's, and files of the bot's own beside it."""
    told = {path.replace("__", "/"): text.encode() if text is not None else None for path, text in files.items()}
    return here.person("ada").push(name, told, "A bump")


@dataclass
class Run:
    """A run that measured, and where."""

    ran: Ran
    here: Repository
    head: str

    def file(self, path: str) -> bytes | None:
        """A file of the ledger's branch."""
        git = self.here.world.hub.git
        tip = git.resolve("bumpbot/ledger")
        return git.git("show", f"{tip}:{path}")[1] if tip else None


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A whole sweep of a commit that brings a candidate, and files of the bot's own that would be fatal."""
    work = tmp_path_factory.mktemp("swept")
    with repository(work) as here:
        head = branch(here, "bumpbot/toy-1", **{"recipes__toy.yaml": runner.RECIPE.format(name=here.image).replace("v1.0.0", "v1.1.0")}, **HOSTILE)
        ran = here.measure("sweep.yml", inputs(head), env=runner.machine(work / "runner", "--version", "1.1.0"))
        yield Run(ran, here, head)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A sweep whose server answers half of an eval wrong; one job's results are changed after they were sealed, another's archive
    has a link beside them, a third artifact is nobody's."""
    work = tmp_path_factory.mktemp("broken")
    tampers = work / "tampers.py"
    tampers.write_text(TAMPERS)
    with repository(work) as here:
        head = branch(here, "bumpbot/toy-1", **{"recipes__toy.yaml": runner.RECIPE.format(name=here.image)})
        env = {**runner.machine(work / "runner", "--version", "1.0.0", "--wrong-share", "0.5"), "STANDIN_TAMPERS": str(tampers)}
        yield Run(here.measure("smoke.yml", inputs(head, **{"eval-limit": "20"}), env=env), here, head)


TAMPERS = dedent("""
    import pathlib, sys, zipfile
    artifacts = pathlib.Path(sys.argv[1])
    report = artifacts / "bench_toy_conc1_attempt1" / "bench.json"
    report.write_bytes(report.read_bytes().replace(b'"value": ', b'"value": 1', 1))
    linked = artifacts / "bench_toy_conc4_attempt1"
    with zipfile.ZipFile(linked / "bench_toy_conc4_attempt1.zip", "w") as archive:
        link = zipfile.ZipInfo("bench.json")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    (artifacts / "bench_other_conc1_attempt1").mkdir()
    (artifacts / "bench_other_conc1_attempt1" / "bench.json").write_text("{}")
""")


class TestASweep:
    def test_measures_every_point_and_eval_of_the_commits_recipe(self, swept: Run) -> None:
        assert (swept.ran.code, swept.ran.jobs) == (0, MEASURED), swept.ran.log

    def test_takes_from_the_commit_data_and_neither_code_nor_policy(self, swept: Run) -> None:
        assert "pwned" not in swept.ran.log and "evil" not in swept.ran.log

    def test_uploads_under_the_names_that_the_layout_reads(self, swept: Run) -> None:
        assert list(swept.ran.uploaded) == [
            "bench_toy_conc1_attempt1", "bench_toy_conc4_attempt1", f"eval_logs_toy_conc4_{runner.TASK}_attempt1",
            f"eval_toy_conc4_{runner.TASK}_attempt1", "logs_toy_conc1_attempt1", "logs_toy_conc4_attempt1", "plan_attempt1"]
        names = [job for job in swept.ran.jobs if re.search(named("own", PackagedAssets()).jobs, f"sweep / {job}")]
        assert sorted(names) == ["toy c1", "toy c4", EVAL]

    def test_is_published_into_the_ledger_of_its_repository(self, swept: Run) -> None:
        data = swept.file("results/toy/1.json")
        assert data, swept.ran.log
        held = msgspec.json.decode(data, type=Measured)
        assert (held.image, held.head, held.thresholds) == (f"{swept.here.image}:v1.1.0", swept.head, {runner.TASK: 0.9})
        assert {row.point.concurrency for row in held.rows if row.metric == "output_tput"} == {1, 4}
        assert {row.value for row in held.rows if row.task == runner.TASK} == {1.0}
        assert {one.concurrency: one.profiled for one in held.accounting} == {1: 2, 4: 4}

    def test_is_held_against_the_times_of_its_jobs(self, swept: Run) -> None:
        asked = {path.partition("?")[0] for path in swept.here.reads}
        assert {"actions/runs/1/artifacts", "actions/runs/1/jobs"} <= asked and "upload times were not held" not in swept.ran.log

    def test_shows_table_and_curve_in_both_languages(self, swept: Run) -> None:
        page = swept.ran.summary
        assert page.count("xychart-beta") == 2 and '["1", "4"]' in page
        assert "published into the ledger" in page and "已发布到账本" in page
        assert f"`{runner.TASK} strict` | 4 | 1.0000 | 0.90 | passed" in page

    def test_gives_the_model_token_to_the_jobs_that_measure_and_keeps_their_logs_from_commanding(self, swept: Run) -> None:
        told = [note for note in swept.ran.notes if note.startswith("bench ")]
        assert told == [f"bench with a model token for {swept.head}, aiperf TEMP/bench/bin"] * 3
        assert len(swept.ran.ignored) == 3 and not any("forged" in said for said in swept.ran.commands)
        kept = [file.read_bytes() for file in swept.ran.artifacts.rglob("*") if file.is_file()]
        assert not any(b"the-model-token" in data for data in kept)

    def test_installs_what_measures_where_it_is_measured_and_nowhere_else(self, swept: Run) -> None:
        installed = [note for note in swept.ran.notes if note.endswith("requirements-bench.lock")]
        assert len(installed) == 3 and all("--require-hashes --no-deps --only-binary :all:" in note for note in installed)


class TestARunThatDoesNotHold:
    def test_fails_for_its_eval_and_for_what_was_tampered_with_and_for_nothing_else(self, broken: Run) -> None:
        # act keeps one result for a whole matrix: a job that ends after the one that failed is told as failed, and which does is chance.
        others = {job: result for job, result in broken.ran.jobs.items() if job not in ("toy c1", "toy c4")}
        assert (broken.ran.code, others) == (1, {"plan": "success", EVAL: "failure", "collect": "failure"}), broken.ran.log

    def test_tells_each_fault_in_a_line(self, broken: Run) -> None:
        said = {line.split("refused: ", 1)[1].strip() for line in broken.ran.log.splitlines() if "refused: " in line}
        assert len(said) == 4, said
        for start in ("an artifact that no job of the plan uploads: bench_other_conc1_attempt1", "toy c1: results/bench.json has another SHA-256",
                      "toy c4: bench_toy_conc4_attempt1: holds a link", f"{EVAL}: the gate eval does not hold: "):
            assert any(line.startswith(start) for line in said), (start, said)

    def test_publishes_nothing_and_shows_the_score_that_failed(self, broken: Run) -> None:
        assert broken.file("results/toy/1.json") is None
        assert "| failed |" in broken.ran.summary and "a gate does not hold" in broken.ran.summary and "有门槛未通过" in broken.ran.summary
        assert "root:" not in broken.ran.log


class TestAJobThatIsCancelled:
    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
    def test_gives_bench_its_seconds(self, tmp_path: Path, how: signal.Signals) -> None:
        """The runner tells the step's own shell, and that one tells nobody by itself."""
        step = next(step for step in read("benchmark.yml")["jobs"]["run"]["steps"] if step.get("name") == "Measure")
        program = tmp_path / "bumpbot" / "bin" / "bumpbot"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!{sys.executable}\n" + dedent("""
            import pathlib, signal, sys, time
            def stop(*told):
                time.sleep(0.2)
                pathlib.Path("results").mkdir()
                sys.exit(1)
            signal.signal(signal.SIGTERM, stop)
            print("measuring", flush=True)
            time.sleep(30)
            """))
        program.chmod(0o755)
        script = tmp_path / "step.sh"
        script.write_text(step["run"])
        # Tests that run in the background ignore Ctrl-C, and a shell traps nothing that it was born to ignore.
        with subprocess.Popen(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], stdout=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(how, signal.SIG_DFL),
                              env={"PATH": os.environ["PATH"], "RUNNER_TEMP": str(tmp_path), "POINT": "{}"}) as shell:
            assert shell.stdout
            for line in shell.stdout:
                if line == "measuring\n":
                    break
            shell.send_signal(how)
            assert shell.wait(10) == 1
        assert (tmp_path / "measured" / "results").is_dir()


class TestTheCommit:
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
