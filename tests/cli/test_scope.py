"""edit in a guest's repository: whose generator is run, on whose files, and what is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Done, bumpbot
from tests.cli.test_layout import committed, git
from tests.fakes.guests import DCP16, LINKED, MASTER, NEW, SCRIPT, guest, program, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A guest's files, under no version control."""
    return write(guest(), tmp_path / "guest")


@pytest.fixture
def repo(folder: Path) -> Path:
    """The same, committed on main."""
    return committed(folder)


def edit(repo: Path, *argv: str, key: str = DCP16) -> Done:
    return bumpbot("--repo", repo, "--layout", "inferencex", "edit", key, "--image", NEW, "--format", "json", *argv)


def leaves(marker: Path) -> bytes:
    """A generator that leaves a file where it is run."""
    return program(f"open({str(marker)!r}, 'w').close()")


class TestByTheGuestsGenerator:
    def test_the_json_says_so(self, repo: Path) -> None:
        done = edit(repo)
        assert done.json["matrix"] == {"changed_rows": 5, "other_rows_changed": 0, "only_image": True, "by": "generator"}
        assert done.json["notes"] == [] and "note:" not in done.err

    def test_the_code_is_the_default_branch_s_and_the_data_the_head_s(self, repo: Path, tmp_path: Path) -> None:
        marker = tmp_path / "marker"
        git(repo, "checkout", "--quiet", "-b", "work")
        (repo / SCRIPT).write_bytes(leaves(marker))
        (repo / MASTER).write_text((repo / MASTER).read_text().replace("conc-list: [1, 2, 4, 8, 16]", "conc-list: [1, 2]", 1))
        git(repo, "commit", "--quiet", "--all", "--message", "theirs")
        (repo / "utils/matrix_logic/yaml.py").write_bytes(leaves(marker))
        done = edit(repo)
        assert done.json["matrix"] == {"changed_rows": 2, "other_rows_changed": 0, "only_image": True, "by": "generator"}
        assert not marker.exists()
        git(repo, "branch", "--quiet", "--force", "main", "work")
        assert edit(repo).code == 0 and marker.exists(), "on the default branch it is run, or the test proves nothing"

    def test_the_default_branch_is_the_remote_s_where_there_is_one(self, repo: Path, tmp_path: Path) -> None:
        marker = tmp_path / "marker"
        git(tmp_path, "clone", "--quiet", str(repo), str(tmp_path / "clone"))
        clone = tmp_path / "clone"
        (clone / SCRIPT).write_bytes(leaves(marker))
        git(clone, "commit", "--quiet", "--all", "--message", "mine")
        assert edit(clone).json["matrix"]["by"] == "generator" and not marker.exists()

    def test_a_folder_under_no_version_control_is_its_own_default_branch(self, folder: Path) -> None:
        assert edit(folder).json["matrix"]["by"] == "generator"

    def test_nothing_of_the_run_is_left_in_the_repository(self, repo: Path) -> None:
        before = sorted(path for path in repo.rglob("*") if ".git" not in path.parts)
        assert edit(repo).code == 0
        assert sorted(path for path in repo.rglob("*") if ".git" not in path.parts) == before

    def test_what_changes_beside_the_image_is_refused_and_nothing_written(self, folder: Path) -> None:
        (folder / SCRIPT).write_bytes(program(f"""
            if any(row["image"] == "{NEW}" for row in rows):
                rows = [row for row in rows if row["conc"] != [8]]"""))
        before = (folder / MASTER).read_bytes(), (folder / LINKED).read_bytes()
        done = edit(folder, "--write")
        assert done.code == 1 and "at concurrency [8] vanished" in done.line and "nothing was written" in done.line
        assert ((folder / MASTER).read_bytes(), (folder / LINKED).read_bytes()) == before

    def test_a_difference_to_our_own_rows_is_a_note(self, folder: Path) -> None:
        (folder / SCRIPT).write_bytes(program("for row in rows: row['duration'] = 1800"))
        done = edit(folder)
        assert done.json["matrix"]["by"] == "generator"
        assert "disagree on kimik3" in done.json["notes"][0]
        assert f"note: bumpbot's own rows are not the guest's, whose count: {DCP16}" in done.err

    def test_a_generator_that_fails_on_the_files_is_told_in_a_line(self, folder: Path) -> None:
        (folder / SCRIPT).write_bytes(program("raise ValueError('tp: Input should be a valid integer')"))
        done = edit(folder)
        assert done.code == 1
        assert "ended with 1: ValueError: tp: Input should be a valid integer" in done.line and "Traceback" not in done.err


class TestByOurOwnRows:
    def test_where_the_code_is_not_on_the_default_branch(self, folder: Path) -> None:
        code = (folder / SCRIPT).read_bytes()
        (folder / SCRIPT).unlink()
        repo = committed(folder)
        (repo / SCRIPT).parent.mkdir(parents=True, exist_ok=True)
        (repo / SCRIPT).write_bytes(code)
        done = edit(repo)
        assert done.json["matrix"] == {"changed_rows": 5, "other_rows_changed": 0, "only_image": True, "by": "bumpbot"}
        assert "note: the scope is proved by bumpbot's own rows: the guest's generator is not there" in done.err
        assert done.json["notes"] == [
            "the guest's own generator could not be asked here: the scope was proved by bumpbot's own rows"]

    def test_where_it_lacks_what_it_imports(self, folder: Path) -> None:
        (folder / SCRIPT).write_bytes(b"import a_library_of_nobody\n")
        done = edit(folder)
        assert done.code == 0 and done.json["matrix"]["by"] == "bumpbot"
        assert "ModuleNotFoundError: No module named a_library_of_nobody" in done.err

    def test_with_an_image_that_is_there_nothing_is_asked(self, folder: Path) -> None:
        old = "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef"
        (folder / SCRIPT).write_bytes(b"raise SystemExit(1)\n")
        done = bumpbot("--repo", folder, "--layout", "inferencex", "edit", DCP16, "--image", old)
        assert (done.code, done.out) == (0, "") and "stands there already" in done.line
