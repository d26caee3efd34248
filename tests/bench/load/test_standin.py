"""The program that stands in for AIPerf, held against recordings of the real one: the same files, keys, kinds of values, exit codes
and last words. `python -m tests.bench.make_aiperf_exports` records them again."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.bench.load import ends
from bot.rehearse.engine import model
from tests.bench.load.room import RECORDED, server
from tests.bench.make_aiperf_exports import CASES, FOLDER
from tests.fakes import tools

HASHED = re.compile(r"_[0-9a-f]{8}\.jsonl$")
NEEDED = {"profile_export.jsonl", "profile_export_aiperf.json"}


def played(case: str, folder: Path) -> tuple[int, Path, Path]:
    """The recorded words of a case given to the stand-in, its server and signal too: exit code, its folder, its console."""
    told, out, log = json.loads((RECORDED / case / "end.json").read_text()), folder / "out", folder / "console.log"
    model.lay_out(folder / "hf")
    words = [word.replace(FOLDER, str(out)) for word in told["words"][1:]]
    program = [sys.executable, "-S", str(tools.HERE / "aiperf.py")]
    asked = CASES[case]
    with server(*(("--itl-ms", "15") if asked.ask else asked.server or ())) as running:
        url = running.url if asked.server is not None else "http://127.0.0.1:9"
        words[words.index("--url") + 1] = url
        with log.open("wb") as stream:
            ran = subprocess.Popen([*program, *words], stdout=stream, stderr=stream, env={"HF_HOME": str(folder / "hf")})
        if asked.ask:
            while not (out / "profile_export.jsonl").exists() or (out / "profile_export.jsonl").read_bytes().count(b"\n") < 5:
                time.sleep(0.01)
            ran.send_signal(asked.ask)
        return ran.wait(20), out, log


def shape(value: Any) -> Any:
    """The keys of a value and the kinds at their ends; of a list the kinds of its members."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(shape(each), sort_keys=True) for each in value})
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def shapes(path: Path) -> set[str]:
    return {json.dumps(shape(json.loads(line)), sort_keys=True) for line in path.read_text().splitlines()}


def differing(one: Any, other: Any, at: str = "") -> Iterator[str]:
    """Where two shapes are not the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            if (key in one) != (key in other):
                yield f"{at}.{key} is only in {'the stand-in' if key in one else 'the recording'}"
            else:
                yield from differing(one[key], other[key], f"{at}.{key}")
    elif one != other:
        yield f"{at}: {one} and {other}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, Path, Path]]:
    return {case: played(case, tmp_path_factory.mktemp(case)) for case in CASES}


each_case = pytest.mark.parametrize("case", CASES)
each_whole = pytest.mark.parametrize("case", [case for case in CASES if case in ("whole", "faults", "plain", "stopped")])


class TestTheStandIn:
    @each_case
    def test_ends_with_the_same_code_and_files(self, case: str, runs: dict[str, tuple[int, Path, Path]]) -> None:
        code, out, _ = runs[case]
        told = json.loads((RECORDED / case / "end.json").read_text())
        files = {HASHED.sub("", path.relative_to(out).as_posix()) for path in out.rglob("*") if path.is_file()}
        assert code == told["code"]
        assert files == {HASHED.sub("", name) for name in told["files"]}

    @each_whole
    def test_writes_a_summary_with_the_same_keys(self, case: str, runs: dict[str, tuple[int, Path, Path]]) -> None:
        mine, theirs = (json.loads((folder / "profile_export_aiperf.json").read_text())
                        for folder in (runs[case][1], RECORDED / case / "out"))
        assert list(differing(shape(mine), shape(theirs))) == []
        assert (mine["was_cancelled"], mine["is_complete"]) == (theirs["was_cancelled"], theirs["is_complete"])

    @each_whole
    @pytest.mark.parametrize("name", ["profile_export.jsonl", "profile_export_raw.jsonl"])
    def test_writes_requests_with_the_same_keys(self, case: str, name: str, runs: dict[str, tuple[int, Path, Path]]) -> None:
        mine, theirs = shapes(runs[case][1] / name), shapes(RECORDED / case / "out" / name)
        known = {key for line in theirs for key in json.loads(line).get("metrics", {})}
        # Chunks that came together are one packet there and here: which lines have how many is no matter of shape.
        assert mine and {key for line in mine for key in json.loads(line).get("metrics", {})} == known
        assert {tuple(json.loads(line)) for line in mine} == {tuple(json.loads(line)) for line in theirs}
        assert {tuple(json.loads(line)["metadata"].items()) for line in mine} == {
            tuple(json.loads(line)["metadata"].items()) for line in theirs}

    @pytest.mark.parametrize("case", ["down", "no-tokenizer", "refused"])
    def test_says_at_its_end_what_the_real_one_says(self, case: str, runs: dict[str, tuple[int, Path, Path]]) -> None:
        mine, theirs = (ends.reason(log, 0, 1) for log in (runs[case][2], RECORDED / case / "console.log"))
        assert re.sub(r"\d+", "N", mine[0])[:120] == re.sub(r"\d+", "N", theirs[0])[:120]
        assert mine[1] == theirs[1]

    def test_refuses_words_that_it_was_not_made_for(self, tmp_path: Path) -> None:
        ran = subprocess.run([sys.executable, "-S", str(tools.HERE / "aiperf.py"), "profile", "--nope", "1"], capture_output=True)
        assert ran.returncode == 1 and b'Unknown option: "--nope"' in ran.stdout

    def test_was_asked_to_stop_as_recorded(self) -> None:
        assert CASES["stopped"].ask == signal.SIGINT and CASES["killed"].ask == signal.SIGTERM
