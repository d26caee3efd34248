"""ledger show and replay over the ledger that a rehearsal kept, and over ledgers that do not hold."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Kept
from tests.cli.shell import Done, bumpbot

Asked = Callable[[Path], Done]


def git(folder: Path, *argv: str) -> str:
    argv = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", *argv)
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(kept: Kept, tmp_path: Path) -> Path:
    """A working tree of the ledger's branch; what is committed there is the ledger of this clone."""
    git(tmp_path, "clone", "--quiet", "--branch", "bumpbot/ledger", str(kept.ledger), "clone")
    return tmp_path / "clone"


def changed(clone: Path, path: str, data: bytes | None) -> Path:
    file = clone / path
    if data is None:
        file.unlink()
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "somebody was here")
    return clone


def entry(kept: Kept, number: int) -> str:
    return f"ended/2026/{kept.bump}/{number}.json"


class TestShow:
    def test_lists_the_bumps(self, kept: Kept) -> None:
        assert bumpbot("--repo", kept.ledger, "ledger", "show").out.splitlines()[1].split() == ["ended", "2026", kept.bump]
        assert bumpbot("--repo", kept.ledger, "ledger", "show", "--format", "json").json == [
            {"bump": kept.bump, "state": "ended", "ended": 2026}]
        assert f"| ended 2026 | {kept.bump} |" in bumpbot("--repo", kept.ledger, "ledger", "show", "--format", "markdown").out

    def test_tells_a_bump_entry_by_entry(self, kept: Kept) -> None:
        lines = bumpbot("--repo", kept.ledger, "ledger", "show", kept.bump).out.splitlines()
        assert lines[0].startswith("   1  2026-01-05 10:10:00Z  claim   dispatch recipe=toy")
        told = bumpbot("--repo", kept.ledger, "ledger", "show", kept.bump, "--format", "json").json
        assert [line["n"] for line in told] == list(range(1, len(told) + 1))
        assert bumpbot("--repo", kept.ledger, "ledger", "show", kept.bump, "--format", "markdown").out.startswith("| entry | at |")


class TestReplay:
    def test_decides_the_same(self, kept: Kept) -> None:
        done = bumpbot("--repo", kept.ledger, "replay", kept.bump)
        assert (done.code, done.err) == (0, "")
        assert done.out.endswith("decisions, all the same\n")
        told = bumpbot("--repo", kept.ledger, "replay", kept.bump, "--format", "json").json
        assert told["difference"] is None and told["decisions"] > 3

    def test_shows_the_first_difference_to_what_another_version_decided(self, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
        from bot.cli import ledger

        monkeypatch.setattr(ledger, "decide", lambda facts, event: ())
        done = bumpbot("--repo", kept.ledger, "replay", kept.bump)
        assert done.code == 1
        assert "entry 1 (bumpbot " in done.out and "decides otherwise at action 0" in done.out
        assert "stored:  {" in done.out and "decided: None" in done.out
        assert bumpbot("--repo", kept.ledger, "replay", kept.bump, "--format", "json").json["difference"]["n"] == 1


class TestALedgerThatDoesNotHold:
    @pytest.fixture(params=["show", "replay"])
    def asked(self, request: pytest.FixtureRequest, kept: Kept) -> Asked:
        words = ("ledger", "show", kept.bump) if request.param == "show" else ("replay", kept.bump)
        return lambda place: bumpbot("--repo", place, *words)

    def holds(self, done: Done, said: str) -> None:
        assert (done.code, done.out) == (1, "")
        assert said in done.line, done.line

    def test_an_unknown_key_names_file_and_key(self, kept: Kept, clone: Path, asked: Asked) -> None:
        path = entry(kept, 2)
        text = json.loads((clone / path).read_text())
        self.holds(asked(changed(clone, path, json.dumps({**text, "foo": 1}).encode())), f"{path}: foo: unknown key")

    def test_what_is_no_json_names_the_file(self, kept: Kept, clone: Path, asked: Asked) -> None:
        path = entry(kept, 2)
        self.holds(asked(changed(clone, path, b"{\xff")), f"{path}: not UTF-8")
        self.holds(asked(changed(clone, path, b"{")), f"{path}:1: not JSON")

    def test_an_entry_that_was_changed_or_is_gone(self, kept: Kept, clone: Path, asked: Asked) -> None:
        path = entry(kept, 2)
        data = (clone / path).read_bytes()
        self.holds(asked(changed(clone, path, data.replace(b'"of":1', b'"of":1 '))), "its bytes are not in canonical form")
        self.holds(asked(changed(clone, path, None)), "entry 2 is missing")

    def test_a_file_that_is_no_entry(self, kept: Kept, clone: Path, asked: Asked) -> None:
        self.holds(asked(changed(clone, f"ended/2026/{kept.bump}/notes.txt", b"hello")), "not the name of an entry")

    @pytest.mark.parametrize("path", ["ended/soon/x/1.json", "ended/2026"])
    def test_a_folder_that_is_none_of_ours(self, clone: Path, path: str) -> None:
        if path == "ended/2026":
            git(clone, "rm", "-r", "--quiet", "ended")
        done = bumpbot("--repo", changed(clone, path, b"{}"), "ledger", "show")
        self.holds(done, "ended/")


class TestWhereThereIsNone:
    def test_a_repository_without_the_branch(self, kept: Kept) -> None:
        done = bumpbot("--repo", kept.folder / "guest.git", "ledger", "show")
        assert done.code == 1 and "has no branch bumpbot/ledger" in done.line

    def test_a_folder_that_is_no_repository(self, tmp_path: Path) -> None:
        done = bumpbot("--repo", tmp_path, "ledger", "show")
        assert done.code == 1 and "not appear to be a git repository" in done.line

    def test_a_bump_that_it_does_not_hold(self, kept: Kept) -> None:
        done = bumpbot("--repo", kept.ledger, "replay", "nope")
        assert done.code == 1 and "holds no bump nope" in done.line

    @pytest.mark.parametrize("bump", ["../x", "", "a b", "-x", "x" * 300])
    def test_an_id_that_is_none_is_a_bad_argument(self, kept: Kept, bump: str) -> None:
        assert bumpbot("--repo", kept.ledger, "replay", "--", bump).code == 2
