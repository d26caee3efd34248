"""A guest's generator run by itself: what it is given, what it is kept from, and what becomes of its answers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.adapters.generator import GuestGenerator, told
from bot.adapters.process import LocalProcess
from bot.errors import BadInput, Missing, Unreachable
from tests.fakes.guests import COMMAND, DCP16, GLOBS, MASTER, RUNNERS, SCRIPT, Files, code, guest

DATA = {path: guest().files[path] for path in (MASTER, RUNNERS)}
ASK = ("test-config", "--config-files", MASTER, "--config-keys", DCP16, "--no-evals")


def made(meddle: str = "pass", option: str = "pass", **limits: object) -> GuestGenerator:
    return GuestGenerator(COMMAND, GLOBS, code(meddle, option), **limits)  # type: ignore[arg-type]


def script(text: str, more: Mapping[str, bytes] | None = None) -> GuestGenerator:
    """A generator of a few lines that answers to --help."""
    text = f"import sys\nif '--help' in sys.argv: sys.exit(0)\n{text}\n"
    return GuestGenerator(COMMAND, GLOBS, Files({SCRIPT: text.encode(), **(more or {})}))


def row(**fields: object) -> dict[str, object]:
    return {"image": "a/b:c", **fields}


class TestItsHelp:
    def test_lists_the_options_and_none_that_is_only_mentioned(self) -> None:
        known = made().options(["test-config"])
        assert known == {"--config-files", "--runner-config", "--no-evals", "--evals-only", "--config-keys", "--conc", "--help"}

    def test_tells_a_newer_option(self) -> None:
        known = made(option='parser.add_argument("--trim-conc", action="store_true")').options(["test-config"])
        assert "--trim-conc" in known

    def test_of_a_command_that_it_lacks_is_missing(self) -> None:
        with pytest.raises(Missing, match="knows no command runner-model-sweep"):
            made().options(["runner-model-sweep"])

    def test_of_a_command_that_fails_is_none_that_it_lacks(self) -> None:
        with pytest.raises(BadInput, match="does not start: ModuleNotFoundError: No module named nobody_s"):
            made(option="import nobody_s").options(["test-config"])
        lazy = "import sys\nprint('usage: {test-config}') if sys.argv[1] == '--help' else __import__('nobody_s')\n"
        with pytest.raises(BadInput, match="does not start: ModuleNotFoundError: No module named nobody_s"):
            GuestGenerator(COMMAND, GLOBS, Files({SCRIPT: lazy.encode()})).options(["test-config"])


class TestRows:
    def test_are_those_it_printed(self) -> None:
        rows, = made().rows(DATA, [ASK])
        assert [each["conc"] for each in rows] == [[1], [2], [4], [8], [16]]
        assert {each["image"] for each in rows} == {"vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef"}

    def test_stand_in_the_order_of_the_questions(self) -> None:
        found = made().rows(DATA, [ASK, (*ASK, "--conc", "1"), (*ASK, "--conc", "3"), ASK])
        assert [len(rows) for rows in found] == [5, 1, 0, 5]

    def test_of_the_same_bytes_are_asked_for_once(self) -> None:
        class Counted(LocalProcess):
            runs = 0

            def run(self, *argv: object, **more: object) -> tuple[int, bytes, bytes]:  # type: ignore[override]
                Counted.runs += 1
                return super().run(*argv, **more)  # type: ignore[arg-type]

        asked = made(process=Counted())
        first = asked.rows(DATA, [ASK])
        runs = Counted.runs
        assert asked.rows(DATA, [ASK]) == first and Counted.runs == runs
        changed = {**DATA, MASTER: DATA[MASTER].replace(b"75c2eef", b"75c2eff")}
        assert asked.rows(changed, [ASK]) != first and Counted.runs == runs + 1


class TestWhatItIsKeptFrom:
    def test_its_environment_holds_no_secret_and_no_home_of_ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("GITHUB_TOKEN", "BUMPBOT_TOKEN", "ACTIONS_RUNTIME_TOKEN", "HF_TOKEN", "PYTHONPATH"):
            monkeypatch.setenv(name, f"secret-{name}")
        tell = b"import os, json, sys\nif '--help' not in sys.argv: print(json.dumps([{'image': 'a', **os.environ}]))\n"
        rows, = GuestGenerator(f"{sys.executable} {SCRIPT}", GLOBS, Files({SCRIPT: tell})).rows({}, [()])
        assert "secret" not in json.dumps(rows)
        assert rows[0]["PATH"] == os.environ["PATH"] and rows[0]["HOME"] != os.environ.get("HOME")
        assert {name for name in rows[0] if not name.startswith("__")} == {
            "image", "PATH", "HOME", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUTF8", "LC_ALL", "COLUMNS",
            "NO_COLOR"}

    def test_code_among_the_data_is_not_run(self, tmp_path: Path) -> None:
        marker = tmp_path / "marker"
        theirs = f"open({str(marker)!r}, 'w')\n".encode()
        data = {**DATA, SCRIPT: theirs, "utils/matrix_logic/yaml.py": theirs}
        assert len(made().rows(data, [ASK])[0]) == 5
        assert not marker.exists()
        with pytest.raises(BadInput):
            GuestGenerator(COMMAND, GLOBS, Files({SCRIPT: theirs + b"raise SystemExit(3)"})).rows(DATA, [ASK])
        assert marker.exists(), "the marker is written when this code is run, or the test proves nothing"

    def test_it_sees_the_files_given_and_no_others(self) -> None:
        listing = script("import json, pathlib as p\nfound = sorted(str(x) for x in p.Path('.').rglob('*') if x.is_file())\n"
                         "print(json.dumps([{'image': name} for name in found]))", {"bot.py": b"", "utils/matrix_logic/a.py": b""})
        found, = listing.rows(DATA, [()])
        assert [each["image"] for each in found] == sorted([MASTER, RUNNERS, SCRIPT, "utils/matrix_logic/a.py"])

    def test_nothing_of_it_is_left(self) -> None:
        rows, = script("import json, os; print(json.dumps([{'image': os.getcwd()}]))").rows(DATA, [()])
        assert not Path(str(rows[0]["image"])).exists()

    @pytest.mark.parametrize("path", ["../out.yaml", "/etc/x.yaml", "a//b.yaml", ".git/config", "configs"])
    def test_a_path_that_leads_astray_is_refused(self, path: str) -> None:
        with pytest.raises(BadInput):
            made().rows({**DATA, path: b"x"}, [ASK])


class TestLimits:
    def test_of_time(self) -> None:
        slow = GuestGenerator(COMMAND, GLOBS, Files({SCRIPT: b"import sys, time\nif '--help' not in sys.argv: time.sleep(60)\n"}),
                              limit_s=1.0)
        with pytest.raises(BadInput, match="did not end within 1 s"):
            slow.rows(DATA, [ASK])

    def test_of_time_is_shorter_for_its_help(self) -> None:
        class Asked(LocalProcess):
            limits: list[float] = []

            def run(self, *argv: object, limit_s: float = 60.0, **more: object) -> tuple[int, bytes, bytes]:  # type: ignore[override]
                self.limits.append(limit_s)
                return super().run(*argv, limit_s=limit_s, **more)  # type: ignore[arg-type]

        made(process=Asked()).rows(DATA, [ASK])
        assert Asked.limits == [20.0, 120.0]

    def test_an_outage_of_the_place_where_its_code_lies_is_one(self) -> None:
        class Away(Files):
            def read(self, path: str) -> bytes | None:
                raise Unreachable("no answer")

        with pytest.raises(Unreachable, match="no answer"):
            GuestGenerator(COMMAND, GLOBS, Away({SCRIPT: b""})).options(["test-config"])

    def test_of_output(self) -> None:
        loud = made("print('x' * 100_000)", process=LocalProcess(out_limit=10_000))
        with pytest.raises(BadInput, match="more than 10000 bytes"):
            loud.rows(DATA, [ASK])

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits another program's memory")
    def test_of_memory(self) -> None:
        hungry = made("rows = bytearray(3_000_000_000)", process=LocalProcess(memory=1_000_000_000))
        with pytest.raises(BadInput, match="MemoryError"):
            hungry.rows(DATA, [ASK])


class TestFaults:
    @pytest.mark.parametrize(("text", "said"), [
        ("print('not json')", "^the guest's generator:1: not JSON: Expecting value, in what it printed: not json"),
        ("print('')", "not JSON.*it said nothing"),
        ("print('[]'); print('done')", "not JSON"),
        ("print('{\"image\": \"a\"}')", "printed no list of rows: image : a"),
        ("print('[1]')", "printed no list of rows: 1"),
        ("print('[{\"image\": \"a\", \"x\": NaN}]')", "^the guest's generator[^']*NaN is not a JSON number"),
        ("print('[{\"image\": \"a\", \"image\": \"b\"}]')", "twice"),
        ("print('[{\"model\": \"a\"}]')", "a row names no image"),
        ("print('[{\"image\": null}]')", "a row names no image"),
        ("print('[' * 100_000)", "."),
        ("sys.stdout.buffer.write(b'\\xff')", "printed no UTF-8"),
    ])
    def test_garbage_is_told_with_what_was_printed(self, text: str, said: str) -> None:
        with pytest.raises(BadInput, match=said):
            script(text).rows({}, [()])

    def test_no_rows_are_no_rows(self) -> None:
        assert script("print('[]')").rows({}, [()]) == [[]]

    def test_a_failure_is_told_by_its_exception(self) -> None:
        with pytest.raises(BadInput, match="ended with 1: ValueError: Config key s not found: nobody. Available keys: dsv4"):
            made().rows(DATA, [("test-config", "--config-files", MASTER, "--config-keys", "nobody")])

    def test_an_unknown_option_is_told_as_argparse_does(self) -> None:
        with pytest.raises(BadInput, match="ended with 2: .*error: unrecognized arguments: --trim-conc"):
            made().rows(DATA, [(*ASK, "--trim-conc")])

    def test_what_it_says_cannot_command_anybody(self) -> None:
        said = told("Traceback\nValueError: @claude `x` | \u202e<!-- ::set-output:: -->\n".encode())
        assert said == "ValueError: claude x -- ::set-output:: --"

    def test_the_words_after_an_exception_belong_to_it_and_are_cut(self) -> None:
        assert told(b"  File\nValueError: bad:\nimage\n  Field required\n") == "ValueError: bad: image Field required"
        assert len(told(b"E" * 1000)) < 200
        assert told(b"") == "it said nothing"

    @pytest.mark.parametrize("imported", ["import no_such_module_here", "raise ImportError('half')"])
    def test_what_it_imports_may_be_missing(self, imported: str) -> None:
        with pytest.raises(BadInput, match="does not start: (ModuleNotFound|Import)Error.*install what it imports"):
            GuestGenerator(COMMAND, GLOBS, Files({SCRIPT: imported.encode()})).options(["test-config"])

    def test_code_that_is_not_there_is_missing(self) -> None:
        with pytest.raises(Missing, match="generator is not there"):
            GuestGenerator(COMMAND, GLOBS, Files(DATA)).options(["test-config"])
        with pytest.raises(Missing, match="generator is not asked: the layout's generator-files name none"):
            GuestGenerator(COMMAND, (), code()).options(["test-config"])

    def test_a_program_that_is_not_there_runs_no_code(self) -> None:
        with pytest.raises(BadInput, match="does not start: no such program: no-such-program"):
            GuestGenerator(f"no-such-program {SCRIPT}", GLOBS, code()).options(["test-config"])

    def test_a_python_without_its_libraries_gives_way_to_ours(self, tmp_path: Path) -> None:
        bare = tmp_path / "python3"
        bare.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E -s \"$@\"\n")
        bare.chmod(0o755)
        found = GuestGenerator(f"python3 {SCRIPT}", GLOBS, code(), process=LocalProcess(path=f"{tmp_path}:{os.environ['PATH']}"))
        assert len(found.rows(DATA, [ASK])[0]) == 5
