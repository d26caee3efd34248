"""An eval, from a task's name to a gate: the stand-in program really asks the server, so what is planted in it shows."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bot.bench.evals import Suite, command, draw
from bot.bench.watch import ServerDied
from bot.errors import BadInput, Missing, Refusal, Unreachable
from bot.model.bench import Gate
from bot.rehearse.engine.process import beside
from bot.results import collect
from tests.bench.beside import Served
from tests.bench.evals.asking import Asking, group, suite

SERVER = ("--model", "acme/toy", "--ttft-ms", "0", "--itl-ms", "0")


@pytest.fixture
def here(tmp_path: Path) -> Asking:
    return Asking(tmp_path)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite of 60 is large enough for a sample of 10."""
    monkeypatch.setattr(draw, "SAMPLE", 10)
    monkeypatch.setattr(draw, "LARGE", 60)


def gate(of: object, name: str = "eval") -> Gate:
    return next(gate for gate in of.gates if gate.name == name)  # type: ignore[attr-defined]


class TestAWholeSuite:
    def test_has_exactly_the_planted_score_and_its_exports_say_the_same(self, here: Asking) -> None:
        suite(here.tasks, "sums", 30)
        with beside(*SERVER, "--wrong", "6") as server:
            made = here.ask(here.order("sums", 0.8), server.url)
        assert gate(made).passed is True and "0.8000 of 30 questions (95 %: 0.6269 to 0.9049)" in gate(made).said
        assert (made.counts.profiled, made.counts.kinds, made.tools["lm_eval"]) == (30, {}, "0.4.13")
        assert here.exports() == ["whole/acme__toy/results", "whole/acme__toy/samples_sums"]
        files = [(str(path), path.open("rb")) for path in here.place.results.rglob("*") if path.is_file()]
        rows = collect(files, recipe="toy").rows
        assert {(row.stat, row.value, row.n, row.correct, row.point.concurrency) for row in rows} == {
            ("strict", 0.8, 30, 24, 4), ("flexible", 0.8, 30, 24, 4)}

    @pytest.mark.parametrize(("wrong", "passed"), [(1, True), (2, False)])
    def test_fails_by_one_answer(self, here: Asking, wrong: int, passed: bool) -> None:
        suite(here.tasks, "sums", 10)
        with beside(*SERVER, "--wrong", str(wrong)) as server:
            assert gate(here.ask(here.order("sums", 0.9), server.url, here.known("sums", 10))).passed is passed

    def test_is_not_asked_whole_where_a_sample_already_refuses_it(self, here: Asking, small: None) -> None:
        suite(here.tasks, "sums", 60)
        with beside(*SERVER, "--wrong-share", "0.7") as server:
            made = here.ask(here.order("sums"), server.url)
        assert gate(made).passed is False and "the other 50 questions were not asked" in gate(made).said
        assert made.counts.profiled == 10 and here.exports()[0] == "sample-questions.json"
        assert not any(name.startswith("whole/") for name in here.exports())

    def test_is_asked_whole_after_a_good_sample_which_then_counts_in_no_row(self, here: Asking, small: None) -> None:
        suite(here.tasks, "sums", 60)
        with beside(*SERVER, "--wrong", "3") as server:
            made = here.ask(here.order("sums", 0.8), server.url)
        assert gate(made).passed is True and "0.9500 of 60 questions" in gate(made).said
        assert "gating-sample/acme__toy/results" in here.exports() and "whole/acme__toy/results" in here.exports()
        files = [(str(path), path.open("rb")) for path in here.place.results.rglob("*") if path.is_file()]
        assert {row.n for row in collect(files, recipe="toy").rows} == {60}


class TestASample:
    def test_of_a_smoke_that_is_low_by_chance_is_left_open(self, here: Asking) -> None:
        suite(here.tasks, "sums", 40)
        look, asked = here.known("sums", 40), here.order("sums", 0.9, 8, shuffled=True, stage=1)
        with beside(*SERVER, "--wrong", "1") as server:
            made = here.ask(asked, server.url, look)
        assert gate(made).passed is None and "0.8750 of 8 questions" in gate(made).said and "too few" in gate(made).said

    def test_whose_whole_interval_lies_below_fails_a_smoke_too(self, here: Asking) -> None:
        suite(here.tasks, "sums", 40)
        with beside(*SERVER, "--wrong-share", "1") as server:
            made = here.ask(here.order("sums", 0.9, 8, stage=1), server.url, here.known("sums", 40))
        assert gate(made).passed is False

    def test_of_a_group_is_spread_over_its_tasks(self, here: Asking) -> None:
        suite(here.tasks, "a", 20)
        suite(here.tasks, "b", 10)
        group(here.tasks, "both", "a", "b")
        with beside(*SERVER) as server:
            made = here.ask(here.order("both", 0.9, 9), server.url)
        assert gate(made).passed is True and made.counts.profiled == 9
        assert here.exports()[1:] == ["sample/acme__toy/results", "sample/acme__toy/samples_a", "sample/acme__toy/samples_b"]


class TestRequestsThatFail:
    def test_and_are_made_again_never_become_wrong_answers_but_are_counted(self, here: Asking) -> None:
        suite(here.tasks, "sums", 20)
        with beside(*SERVER, "--fault", "error-500:5") as server:
            made = here.ask(here.order("sums"), server.url, here.known("sums", 20))
        assert "1.0000 of 20" in gate(made).said and made.counts.kinds["retried"] >= 4
        assert gate(made, "failed-requests").passed is False

    def test_each_time_end_the_eval_and_say_with_what(self, here: Asking) -> None:
        suite(here.tasks, "sums", 4)
        with beside(*SERVER, "--fault", "error-500:1") as server, pytest.raises(Refusal, match="answered with status 500 to a question of sums"):
            here.ask(here.order("sums"), server.url, here.known("sums", 4))
        assert "Internal server error" in (here.place.logs / "lm_eval.log").read_text()

    def test_since_nobody_is_there_say_so(self, here: Asking) -> None:
        suite(here.tasks, "sums", 4)
        with pytest.raises(Refusal, match="broke off while it was asked sums"):
            here.ask(here.order("sums"), "http://127.0.0.1:9", here.known("sums", 4))

    def test_in_the_whole_leave_the_sample_and_tell_of_it(self, here: Asking, small: None) -> None:
        suite(here.tasks, "sums", 60)
        with beside(*SERVER, "--fault", "hang:11") as server:
            here.machine = msgspec.structs.replace(here.machine, load_minutes=2 / 60)
            with pytest.raises(Unreachable, match="took longer than") as end:
                here.ask(here.order("sums"), server.url, here.known("sums", 60))
        kept = end.value.loaded  # type: ignore[attr-defined]
        assert kept.counts.profiled == 10 and gate(kept).passed is None and "did not end" in gate(kept).said
        assert "sample/acme__toy/results" in here.exports()

    def test_because_the_server_ended_stop_lm_eval_at_once(self, here: Asking) -> None:
        suite(here.tasks, "sums", 4)
        look = here.known("sums", 4)
        with beside(*SERVER, "--fault", "hang:1") as server, pytest.raises(ServerDied, match="out of memory") as end:
            here.ask(here.order("sums"), server.url, look, Served(server.url, died="out of memory"))
        assert end.value.loaded.seconds > 0 and end.value.loaded.gates == ()  # type: ignore[attr-defined]


class TestBeforeAServerIsLaunched:
    def test_a_missing_program_is_told(self, here: Asking) -> None:
        from bot.bench import evals

        with pytest.raises(Missing, match="no lm_eval on the PATH: pip install"):
            evals.prepare(here.order("sums"), here.machine, here.host(path="/nowhere"), here.place)

    def test_an_unknown_task_is_told(self, here: Asking) -> None:
        with pytest.raises(BadInput, match="lm_eval knows no task nosuch"):
            here.look(here.order("nosuch"))
        assert "Tasks not found: nosuch" in (here.place.logs / "lm_eval.log").read_text()
        assert [path.name for path in here.place.logs.iterdir()] == ["lm_eval.log"]

    def test_a_task_that_no_chat_answers_is_refused(self, here: Asking) -> None:
        suite(here.tasks, "choices", 4, kind="multiple_choice")
        with pytest.raises(Refusal, match="log-likelihoods.*choices .multiple_choice."):
            here.look(here.order("choices"))

    def test_a_task_that_runs_the_models_code_is_refused(self, here: Asking) -> None:
        suite(here.tasks, "coding", 4, unsafe=True)
        with pytest.raises(Refusal, match="runs code that the model writes"):
            here.look(here.order("coding"))

    def test_a_metric_that_the_task_lacks_is_told_with_those_it_has(self, here: Asking) -> None:
        suite(here.tasks, "sums", 4)
        with pytest.raises(BadInput, match="not scored by 'bleu'.*exact_match,strict-match"):
            here.look(here.order("sums", metric="bleu"))

    @pytest.mark.parametrize("task", ["../evil.yaml", "evil.yaml", "/etc/evil", "a/b", "--trust_remote_code", "a,b", "a*", ""])
    def test_a_path_or_an_option_is_no_task(self, here: Asking, task: str) -> None:
        # lm-eval executes the functions that a YAML file names.
        with pytest.raises(BadInput, match="no name of a task"):
            here.look(here.order(task))

    def test_what_a_task_is_stands_in_its_suite(self, here: Asking) -> None:
        suite(here.tasks, "a", 20, more="generation_kwargs: {max_gen_toks: 2048}\n")
        suite(here.tasks, "b", 10)
        group(here.tasks, "both", "a", "b")
        known = here.look(here.order("both", metric="exact_match"))
        assert (known.sizes, known.own_tokens, known.version) == ({"a": 20, "b": 10}, 2048, "0.4.13")


class TestWhatLmEvalIsGiven:
    SUITE = Suite(task="sums", sizes={"sums": 4}, scores=("exact_match,none",))

    def test_is_the_environment_by_name_and_nothing_that_only_a_runner_knows(self) -> None:
        given = command.environment({"HF_TOKEN": "hf_x", "HF_HUB_OFFLINE": "1", "GITHUB_TOKEN": "ghs_x", "ACTIONS_RUNTIME_TOKEN": "x",
                                     "NO_PROXY": "example.org", "HTTPS_PROXY": "http://proxy:1"})
        assert "GITHUB_TOKEN" not in given and "ACTIONS_RUNTIME_TOKEN" not in given
        assert (given["HF_TOKEN"], given["HF_HUB_OFFLINE"], given["NO_PROXY"]) == ("hf_x", "1", "example.org,127.0.0.1,localhost")

    def test_never_has_the_token_among_its_words(self, here: Asking) -> None:
        here.env["HF_TOKEN"] = "hf_secret"
        suite(here.tasks, "sums", 4)
        with beside(*SERVER) as server:
            here.ask(here.order("sums"), server.url)
        assert not any(b"hf_secret" in path.read_bytes() for path in here.place.results.parent.rglob("*") if path.is_file())

    def test_has_the_model_as_json_so_that_a_name_is_only_a_name(self, here: Asking) -> None:
        served = command.Served(model='m,header={"a":1}', url="http://127.0.0.1:1", concurrency=4, tokens=(64, False), seconds=60)
        words = command.words(here.order("sums"), here.machine, served, "whole", None)
        assert msgspec.json.decode(words[words.index("--model_args") + 1])["model"] == 'm,header={"a":1}'
        assert "--limit" not in words and "--trust_remote_code" not in words and "--apply_chat_template" in words

    @pytest.mark.parametrize(("args", "own", "context", "tokens"), [
        ({}, None, None, (8192, False)), ({}, None, 32_768, (16_384, False)), ({}, None, 4096, (2048, False)),
        ({}, 2048, 32_768, (16_384, False)), ({"reasoning-parser": "glm45"}, 2048, 32_768, (16_384, True)),
        ({"reasoning_parser": "glm45"}, 32_768, 131_072, (16_384, False)), ({}, 32_768, 16_384, (8192, True))])
    def test_lets_a_model_that_thinks_think(self, here: Asking, args: dict[str, str], own: int | None, context: int | None, tokens: object) -> None:
        known = msgspec.structs.replace(self.SUITE, own_tokens=own)
        assert command.tokens(here.order("sums", args=args), known, context) == tokens
