"""The diffs: git itself applies each, and would have written the same."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.recipe.files import diff

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false")


def git(folder: Path, *argv: str, stdin: bytes = b"") -> bytes:
    return subprocess.run([*GIT, *argv], cwd=folder, input=stdin, check=True, capture_output=True).stdout


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diffs")
    git(folder, "init", "-q")
    return folder


def applied(folder: Path, path: str, before: bytes | None, after: bytes) -> tuple[bytes, str]:
    """The file once git has applied our diff to it, and the diff."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    if before is not None:
        place.write_bytes(before)
    made = diff.unified({} if before is None else {path: before}, {path: after})
    git(folder, "apply", stdin=made.encode())
    return place.read_bytes(), made


BEFORE = {
    "lines": b"a: 1\nimage: old\nb: 2\n",
    "crlf": b"a: 1\r\nimage: old\r\nb: 2\r\n",
    "no final newline": b"a: 1\nimage: old",
    "no final newline in crlf": b"a: 1\r\nimage: old",
    "far from the end": b"image: old\n" + b"# line\n" * 40,
    "byte order mark": b"\xef\xbb\xbfimage: old\n",
    "scripts": "# 自春季起 😀\nimage: old  # é\n".encode(),
    "breaks that only Python knows": "a: \"x\u2028y\x85z\"\nb: \"\x0c\x0b\x1c\"\nimage: old\n".encode(),
    "a carriage return alone": b"a: 1\rimage: old\n",
    "two places": b"image: old\n" + b"x: 1\n" * 30 + b"image: old\n",
}
PATHS = ["r.yaml", "a folder/with blanks.yaml", "配方/é.yaml", 'quo"te.yaml', "back\\slash.yaml", "tab\there.yaml", "-dash.yaml",
         "a/b/c.yaml", 'all "of\\ 它们.yaml']


class TestGitTakesIt:
    @pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
    def test_whatever_the_file_holds(self, room: Path, before: bytes) -> None:
        after = before.replace(b"old", b"new")
        assert applied(room, "r.yaml", before, after)[0] == after

    @pytest.mark.parametrize("path", PATHS)
    def test_whatever_the_path_is_called(self, room: Path, path: str) -> None:
        assert applied(room, path, BEFORE["lines"], b"a: 1\nimage: new\nb: 2\n")[0] == b"a: 1\nimage: new\nb: 2\n"

    @pytest.mark.parametrize("path", PATHS)
    def test_for_a_file_that_is_not_there_yet(self, room: Path, path: str) -> None:
        assert applied(room, path, None, b"- recipes:\n    - a\n")[0] == b"- recipes:\n    - a\n"

    def test_when_the_last_line_gains_or_loses_its_end(self, room: Path) -> None:
        assert applied(room, "r.yaml", b"a: 1", b"a: 1\n")[0] == b"a: 1\n"
        assert applied(room, "r.yaml", b"a: 1\n", b"a: 1")[0] == b"a: 1"
        assert applied(room, "r.yaml", b"", b"a: 1\n")[0] == b"a: 1\n"

    @settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(lines=st.lists(st.sampled_from([b"a", b"b: 1", b"", b" ", b"\xc3\xa9", b"x\r"]), min_size=1, max_size=30),
           changes=st.lists(st.tuples(st.integers(0, 29), st.sampled_from([b"new", b"", b"a"])), min_size=1, max_size=4),
           end=st.sampled_from([b"", b"\n"]))
    def test_for_any_change(self, room: Path, lines: list[bytes], changes: list[tuple[int, bytes]], end: bytes) -> None:
        after = list(lines)
        for at, line in changes:
            after[at % len(after)] = line
        before_file, after_file = b"\n".join(lines) + end, b"\n".join(after) + end
        if before_file != after_file:
            assert applied(room, "r.yaml", before_file, after_file)[0] == after_file


class TestItReadsAsGitsOwn:
    def test_but_for_the_line_of_object_ids(self, room: Path) -> None:
        before = {path: BEFORE["lines"] for path in PATHS} | {"crlf.yaml": BEFORE["crlf"], "end.yaml": BEFORE["no final newline"]}
        after = {path: data.replace(b"old", b"new") for path, data in before.items()}
        room = room / "same"
        room.mkdir()
        git(room, "init", "-q")
        for files in (before, after):
            for path, data in files.items():
                (room / path).parent.mkdir(parents=True, exist_ok=True)
                (room / path).write_bytes(data)
            if files is before:
                git(room, "add", "-A")
                git(room, "commit", "-q", "-m", "before")
        theirs = re.sub(r"(?m)^index .*\n", "", git(room, "diff").decode())
        assert sorted(re.split("(?m)^(?=diff )", diff.unified(before, after))) == sorted(
            re.split("(?m)^(?=diff )", theirs.replace("\\t", "\\011")))
