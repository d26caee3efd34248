"""Anything may be typed: whatever it is, a command ends with one of its exit codes and says why, and never with a trace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tests.cli import worlds
from tests.cli.shell import Done, bumpbot

FILES = ("noise.bin", "empty", "folder", "rows.json", "nul.yaml", "loop", "deep.json", "broken.zip", "broken.gz", "nope", "", "..",
         "repo", "repo/perf-changelog.yaml", "repo/recipes/toy.yaml", "x" * 5000, "a\nb", "\udcff", "/dev/null")
TEXTS = ("toy", "nope", "", "x" * 3000, "a b", "é", "\udcff", "a\nb", "\x1b[31m", "../..", "v1.0.0", "1.3.0rc1", "@", "*", "-1",
         "[x]", "a/b:c", "docker.io#a/b:c", "a@sha256:" + "0" * 64, "https://h/o/r/pull/9", "registry.example/acme/engine:v1.1.0",
         "[::1]:1/a")
FORMATS = ("table", "json", "markdown")
EVENTS = ("schedule", "push", "issue_comment", "pull_request_target", "workflow_run", "workflow_dispatch", "deployment")

file, text = some.sampled_from(FILES), some.sampled_from(TEXTS)
form = some.sampled_from(FORMATS).map(lambda name: ["--format", name])


def words(*parts: str | some.SearchStrategy[str]) -> some.SearchStrategy[list[str]]:
    return some.tuples(*(some.just(part) if isinstance(part, str) else part for part in parts)).map(list)


COMMANDS = some.one_of(
    some.tuples(some.one_of(
        words("rehearse", file), words("edit", text, "--image", text), words("matrix", text), words("triage", file, file),
        words("compare", file, "--baseline", file), words("replay", text), words("ledger", "show", text),
        words("--offline", "image", text), words("--offline", "plan", text, "--image", text), words("tags", "compare", text, text),
    ), form).map(lambda pair: pair[0] + pair[1]),
    words("wake", "--event", some.sampled_from(EVENTS), "--payload", file), words("bump", text, "--image", text),
    words("layout", "check", file), words("changelog", "check", file, file), words("changelog", "sync", file, file),
    words("changelog", "append", "--key", text, "--description", text, "--link", text),
    some.lists(some.one_of(file, text), max_size=5),
)
PLACES = some.one_of(
    some.just(["--repo", "repo"]), words("--repo", file), words("--repo", "repo", "--layout", some.one_of(file, text)),
)


@pytest.fixture
def clutter(tmp_path: Path) -> Path:
    """A folder full of what nobody should give a command."""
    worlds.write(tmp_path / "repo")
    for name, data in (("noise.bin", bytes(range(256)) * 8), ("empty", b""), ("nul.yaml", b"a\0b"), ("deep.json", b"[" * 3000),
                       ("broken.zip", b"PK\x03\x04" + bytes(200)), ("broken.gz", b"\x1f\x8b" + bytes(100)),
                       ("rows.json", b'[{"point": {"concurrency": 1}, "metric": "output_tput", "value": 1e9}]')):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


def holds(done: Done, argv: list[str]) -> None:
    assert done.code in (0, 1, 2, 3), (argv, done)
    assert "internal error" not in done.err and "Traceback" not in done.err, (argv, done.err)
    assert done.code == 0 or done.err.strip() or done.out.strip(), argv
    if done.code == 2 and "Usage:" not in done.err and len(argv) > 2:
        assert len(done.err.splitlines()) == 1, (argv, done.err)


class TestWhateverIsTyped:
    @settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(place=PLACES, argv=COMMANDS)
    def test_ends_as_it_must(self, clutter: Path, place: list[str], argv: list[str]) -> None:
        env = {"GITHUB_REPOSITORY": "acme/recipes", "BUMPBOT_TOKEN": "t", "BUMPBOT_GIT_URL": str(clutter / "nope"),
               "GITHUB_API_URL": "http://127.0.0.1:1", "HOME": os.fspath(clutter)}
        holds(bumpbot(*place, *argv, env=env, cwd=clutter), argv)


class TestFilesThatAreNone:
    """One line, and the difference between an argument that names nothing (2) and a file that holds nonsense (1)."""

    @pytest.mark.parametrize(("argv", "code"), [
        (("triage", "nope"), 2), (("compare", "nope", "--baseline", "rows.json"), 2),
        (("compare", "rows.json", "--baseline", "nope"), 2),
        (("compare", "noise.bin", "--baseline", "rows.json"), 1), (("--repo", "nope", "edit", "toy", "--image", "a/b:c"), 2),
        (("--repo", "empty", "matrix", "toy"), 2), (("--repo", "repo", "--layout", "nope", "matrix", "toy"), 2),
        (("--repo", "repo", "--layout", "folder", "matrix", "toy"), 2),
        (("--repo", "repo", "--layout", "noise.bin", "matrix", "toy"), 1),
        (("layout", "check", "folder"), 2), (("layout", "check", "noise.bin"), 1), (("layout", "check", "nope"), 2),
        (("--repo", "repo", "changelog", "check", "folder", "empty"), 2), (("--repo", "nope", "ledger", "show"), 2),
        (("--repo", "empty", "ledger", "show"), 2), (("triage", "loop"), 2), (("triage", "broken.zip"), 1),
        (("rehearse", "empty"), 2), (("rehearse", "nope"), 2), (("rehearse", "folder"), 1),
    ])
    def test_say_which(self, clutter: Path, argv: tuple[str, ...], code: int) -> None:
        done = bumpbot(*argv, cwd=clutter)
        assert done.code == code, done
        assert any(name in done.line for name in argv if "." in name or name in ("nope", "folder", "empty", "loop"))
