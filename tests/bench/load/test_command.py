"""What AIPerf is asked and given: its words, its environment, the trace it plays, and what is made of its last words."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.bench.load import command, ends, environment, trace
from bot.errors import Missing, Refusal
from bot.model.bench import Machine, Trace
from bot.rehearse.engine import model
from tests.bench.load.room import RECORDED, order
from tests.fakes.tools.aiperf_words import FLAGS, VALUES


def words(conc: int = 2, **load: Any) -> dict[str, str]:
    """The command as a table; a flag has no value."""
    asked = order(conc, **load)
    assert asked.load is not None
    made = command.words(command.Ask(order=asked, load=asked.load, url="http://127.0.0.1:8000", name="m", seed=command.seed(2),
                                     folder=Path("/out"), limit_s=command.limit(asked, Machine()),
                                     trace=Path("/repo/t.jsonl") if asked.load.trace and asked.load.trace.file else None))
    assert made[:2] == ["aiperf", "profile"]
    told: dict[str, str] = {}
    for word in made[2:]:
        if word.startswith("--"):
            told[word] = ""
        else:
            told[list(told)[-1]] = word
    return told


class TestTheCommand:
    def test_of_made_prompts_is_this(self) -> None:
        assert words() == {
            "--model-names": "m", "--tokenizer": model.NAME, "--tokenizer-revision": model.REVISION,
            "--url": "http://127.0.0.1:8000", "--endpoint-type": "chat", "--streaming": "", "--use-server-token-count": "",
            "--concurrency": "2", "--request-count": "12", "--warmup-request-count": "2", "--num-dataset-entries": "14",
            "--isl": "24", "--osl": "8", "--extra-inputs": "ignore_eos:true", "--random-seed": "43",
            "--request-timeout-seconds": "308", "--failed-request-threshold": "0.55", "--export-level": "raw", "--ui": "none",
            "--output-artifact-dir": "/out"}

    def test_lets_the_model_end_where_no_length_is_fixed(self) -> None:
        assert not {"--osl", "--extra-inputs"} & set(words(output=None))

    def test_leaves_out_what_is_not_asked(self) -> None:
        assert not {"--streaming", "--warmup-request-count"} & set(words(stream=False, warmup=0))
        assert words(input=None)["--isl"] == "1024"

    def test_plays_a_trace_at_the_concurrency_and_not_by_its_clock(self) -> None:
        told = words(trace=Trace(file="t.jsonl", format="mooncake_trace", sha256="0" * 64), output=None)
        assert told["--input-file"] == "/repo/t.jsonl" and told["--custom-dataset-type"] == "mooncake_trace"
        assert {"--no-fixed-schedule", "--ignore-trace-delays"} <= set(told)
        assert not {"--isl", "--num-dataset-entries"} & set(told)

    def test_plays_a_public_data_set_by_its_name(self) -> None:
        told = words(trace=Trace(dataset="sharegpt"))
        assert told["--public-dataset"] == "sharegpt" and "--input-file" not in told

    def test_is_made_of_words_that_the_stand_in_knows(self) -> None:
        for load in ({}, {"trace": Trace(dataset="sharegpt")}, {"trace": Trace(file="t.jsonl", format="single_turn")}):
            assert set(words(**load)) <= FLAGS | VALUES

    @pytest.mark.parametrize("bad", ["--config", "-x", "a b", "a,b", "x\ny", "é"])
    def test_holds_no_word_of_the_point_that_reads_as_an_option(self, bad: str) -> None:
        asked = order()
        assert asked.load is not None
        for field in ("model", "revision"):
            with pytest.raises(Refusal, match="no name that AIPerf may be given"):
                command.words(command.Ask(order=msgspec.structs.replace(asked, **{field: bad}), load=asked.load, url="u", name="m",
                                          seed=1, folder=Path("/out"), limit_s=1))
        with pytest.raises(Refusal):
            words(trace=Trace(dataset=bad))

    def test_gives_a_request_the_time_that_the_machine_says(self) -> None:
        assert command.limit(order(), Machine(request_seconds=5)) == 5
        assert command.limit(order(output=None), Machine(load_minutes=1)) == 60

    def test_never_gives_up_where_every_request_may_fail(self) -> None:
        assert command.threshold(order(failed=1)) is None and command.threshold(order(failed=0)) == 0.5


class TestTheEnvironment:
    def test_holds_what_is_needed_and_nothing_else(self, tmp_path: Path) -> None:
        given = {"HF_TOKEN": "hf_x", "HF_HUB_OFFLINE": "", "GITHUB_TOKEN": "g", "HOME": "/root", "HF_HOME": "/cache", "LD_PRELOAD": "x"}
        assert environment.of(order(), Machine(), given, tmp_path) == {
            "HF_TOKEN": "hf_x", "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "HF_HOME": "/cache", "LANG": "C.UTF-8",
            "COLUMNS": "120", "AIPERF_DATASET_MMAP_CACHE_ENABLED": "false", "AIPERF_HTTP_CONNECTION_LIMIT": "2500"}

    def test_asks_nobody_for_a_tokenizer_that_lies_in_the_cache(self, tmp_path: Path) -> None:
        model.lay_out(tmp_path)
        made = environment.of(order(), Machine(models=str(tmp_path)), {}, tmp_path)
        assert made["HF_HUB_OFFLINE"] == made["TRANSFORMERS_OFFLINE"] == "1"
        other = msgspec.structs.replace(order(), revision="f" * 40)
        assert not environment.staged(other, tmp_path) and environment.staged(msgspec.structs.replace(other, revision=""), tmp_path)

    def test_goes_online_for_a_public_data_set(self, tmp_path: Path) -> None:
        model.lay_out(tmp_path)
        asked = order(trace=Trace(dataset="sharegpt"))
        assert "HF_HUB_OFFLINE" not in environment.of(asked, Machine(models=str(tmp_path)), {}, tmp_path)

    def test_lets_as_many_connections_as_users(self, tmp_path: Path) -> None:
        assert environment.of(order(4096), Machine(), {}, tmp_path)["AIPERF_HTTP_CONNECTION_LIMIT"] == "4096"

    def test_finds_the_cache_at_home(self, tmp_path: Path) -> None:
        assert environment.huggingface(Machine(), {"HOME": "/h"}, tmp_path) == Path("/h/.cache/huggingface")
        assert environment.huggingface(Machine(), {}, tmp_path) == tmp_path / "huggingface"


class TestATrace:
    TEXT = b'{"text": "hello"}\n'

    def file(self, folder: Path, name: str = "traces/t.jsonl") -> Trace:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.TEXT)
        return Trace(file=name, format="single_turn", sha256=hashlib.sha256(self.TEXT).hexdigest())

    def test_is_the_file_that_was_meant(self, tmp_path: Path) -> None:
        assert trace.path(self.file(tmp_path), tmp_path) == (tmp_path / "traces/t.jsonl").resolve()
        assert trace.path(None, tmp_path) is trace.path(Trace(dataset="sharegpt"), tmp_path) is None

    def test_of_another_content_is_refused(self, tmp_path: Path) -> None:
        told = msgspec.structs.replace(self.file(tmp_path), sha256="0" * 64)
        with pytest.raises(Refusal, match="has the SHA-256 [0-9a-f]{64}, not 0000"):
            trace.path(told, tmp_path)

    @pytest.mark.parametrize("name", ["../t.jsonl", "/etc/passwd", "a/../../t.jsonl", "link/t.jsonl", "..\\t.jsonl"])
    def test_outside_the_repository_is_refused(self, name: str, tmp_path: Path) -> None:
        self.file(tmp_path, "t.jsonl")
        here = tmp_path / "repo"
        here.mkdir()
        (here / "link").symlink_to(tmp_path)
        with pytest.raises(Refusal, match="outside the repository"):
            trace.path(Trace(file=name, sha256=hashlib.sha256(self.TEXT).hexdigest()), here)

    def test_that_is_not_there_is_missing(self, tmp_path: Path) -> None:
        with pytest.raises(Missing, match="there is no trace t.jsonl"):
            trace.path(Trace(file="t.jsonl"), tmp_path)


class TestLastWords:
    @pytest.mark.parametrize(("case", "said", "hint"), [
        ("down", "AIPerf measured nothing and ended with exit code 1: All 6 inference request(s) failed. No successful responses were "
                 "collected — check the server URL, endpoint path, and response format. See prior log output for per-request error "
                 "details.", "logs/server.log"),
        ("no-tokenizer", "exit code 1: Failed to load tokenizer 'bumpbot/nowhere'", "Hugging Face cache"),
        ("refused", "exit code 1: 1 validation error for CLIConfig custom_dataset_type Input should be another word [type=enum, "
                    "input_value='nope'", "version of AIPerf"),
    ])
    def test_of_the_real_tool_are_one_line(self, case: str, said: str, hint: str) -> None:
        reason, todo = ends.reason(RECORDED / case / "console.log", 0, 1)
        assert said in reason and hint in todo and "\n" not in reason and len(reason) < 500

    @pytest.mark.parametrize(("text", "said"), [
        ("", ""), ("\x1b[31mKilled\x1b[0m by \u202e a stranger\n", ": Killed by ? a stranger"),
        ("10:00:00.000 ERROR    Worker worker_1 died unexpectedly (system_controller.py:900)\nmore\n", ": Worker worker_1 died unexpectedly"),
        ("OSError: [Errno 28] No space left on device\n", ": OSError: [Errno 28] No space left on device")])
    def test_are_shown_without_what_does_not_print(self, text: str, said: str, tmp_path: Path) -> None:
        log = tmp_path / "aiperf.log"
        log.write_text(f"of a run before\n{text}", encoding="utf-8")
        assert ends.reason(log, len("of a run before\n"), -9)[0] == f"AIPerf measured nothing and was ended by signal 9{said}"

    def test_of_a_missing_log_are_none(self, tmp_path: Path) -> None:
        assert ends.reason(tmp_path / "none", 0, 2) == ("AIPerf measured nothing and ended with exit code 2", "look at logs/aiperf.log")
