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


ROWS = {"changed_rows": 5, "other_rows_changed": 0, "only_image": True}


def edit(repo: Path, *argv: str, layout: str | Path = "inferencex") -> Done:
    return bumpbot("--repo", repo, "--layout", layout, "edit", DCP16, "--image", NEW, "--format", "json", *argv)


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


    @pytest.mark.parametrize(("text", "why"), [
        (b"import a_library_of_nobody\n", "ModuleNotFoundError: No module named a_library_of_nobody: install what it imports"),
        (b"raise SystemExit(3)\n", "does not start: it said nothing: install what it imports"),
    ])
    def test_code_that_cannot_be_run_is_told_in_a_line_and_nothing_written(self, repo: Path, text: bytes, why: str) -> None:
        (repo / SCRIPT).write_bytes(text)
        git(repo, "commit", "--quiet", "--all", "--message", "broken")
        before = (repo / MASTER).read_bytes()
        done = edit(repo, "--write")
        assert (done.code, done.out, (repo / MASTER).read_bytes()) == (1, "", before)
        assert why in done.line and "generator-files: []" in done.line

    def test_no_row_before_and_none_after_is_no_proof(self, folder: Path) -> None:
        (folder / SCRIPT).write_bytes(program("rows = []"))
        done = edit(folder)
        assert done.code == 1 and f"nothing was proved: by the guest's generator no row comes of {DCP16}" in done.line


class TestWhereTheDefaultBranchIsNotKnown:
    """A checkout of a pull request: what is checked out is anybody's code (SECURITY.md rule 1)."""

    @pytest.fixture
    def marker(self, tmp_path: Path) -> Path:
        return tmp_path / "marker"

    @pytest.fixture
    def theirs(self, folder: Path, marker: Path) -> Path:
        """Somebody's repository, whose only branch is not called as usual, with a generator that leaves a file."""
        (folder / SCRIPT).write_bytes(leaves(marker))
        return committed(folder, "trunk")

    @pytest.fixture(params=["FETCH_HEAD", "branch", "pull", "one branch fetched", "default branch away", "remote named"])
    def head(self, theirs: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
        """A repository in which that is checked out, one way or another."""
        here, source = tmp_path / "here", str(theirs)
        here.mkdir()
        git(here, "init", "--quiet", "--initial-branch=nothing")
        steps = {
            "FETCH_HEAD": [("fetch", source, "trunk"), ("checkout", "FETCH_HEAD")],
            "branch": [("fetch", source, "trunk"), ("checkout", "-b", "work", "FETCH_HEAD")],
            "pull": [("fetch", source, "trunk:refs/remotes/pull/1/merge"), ("checkout", "refs/remotes/pull/1/merge")],
            "one branch fetched": [("remote", "add", "origin", source), ("fetch", "origin"), ("checkout", "trunk")],
            "default branch away": [("remote", "add", "origin", source), ("fetch", "origin", "trunk:refs/remotes/origin/main"),
                                    ("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release"),
                                    ("checkout", "-b", "main", "origin/main")],
            "remote named": [("fetch", source, "trunk"), ("checkout", "-b", "work", "FETCH_HEAD"),
                             ("remote", "add", "origin", source), ("update-ref", "-d", "FETCH_HEAD")],
        }
        for step in steps[request.param]:
            git(here, *step)
        return here

    def test_no_code_of_it_is_run_and_it_is_said_what_to_do(self, head: Path, marker: Path) -> None:
        done = edit(head)
        assert done.json["matrix"] == {**ROWS, "by": "bumpbot"} and not marker.exists()
        assert "which branch is the default one is not known here" in done.err
        assert "fetch the default branch, then: git remote set-head origin --auto" in done.err
        assert len(done.json["notes"]) == 1

    def test_what_it_says_is_what_helps(self, theirs: Path, tmp_path: Path, marker: Path) -> None:
        here = tmp_path / "here"
        here.mkdir()
        for step in (("init", "--quiet"), ("remote", "add", "origin", str(theirs)), ("fetch", "origin"), ("checkout", "trunk"),
                     ("remote", "set-head", "origin", "--auto")):
            git(here, *step)
        assert edit(here).json["matrix"] == {**ROWS, "by": "generator"}
        assert marker.exists(), "on the default branch it is run, or these tests prove nothing"

    def test_the_only_branch_of_a_repository_is_its_default_even_beside_a_detached_head(self, folder: Path, marker: Path) -> None:
        repo = committed(folder, "trunk")
        git(repo, "checkout", "--quiet", "--detach")
        (repo / SCRIPT).write_bytes(leaves(marker))
        git(repo, "commit", "--quiet", "--all", "--message", "elsewhere")
        assert edit(repo).json["matrix"] == {**ROWS, "by": "generator"} and not marker.exists()

    def test_a_branch_of_ours_that_is_behind_does_not_count_before_the_remote_s(self, theirs: Path, tmp_path: Path,
                                                                              marker: Path) -> None:
        git(theirs, "branch", "--move", "main")
        git(tmp_path, "clone", "--quiet", str(theirs), str(tmp_path / "clone"))
        (theirs / SCRIPT).write_bytes(program())
        git(theirs, "commit", "--quiet", "--all", "--message", "mended")
        git(tmp_path / "clone", "fetch", "--quiet")
        assert edit(tmp_path / "clone").json["matrix"]["by"] == "generator" and not marker.exists()
        git(tmp_path / "clone", "remote", "set-head", "origin", "--delete")
        assert edit(tmp_path / "clone").json["matrix"]["by"] == "generator" and not marker.exists()


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

    def test_where_a_layout_says_that_none_is_asked(self, folder: Path, tmp_path: Path) -> None:
        (folder / SCRIPT).write_bytes(b"import a_library_of_nobody\n")
        (tmp_path / "layout.yml").write_text("version: 1\npreset: inferencex\ngenerator-files: []\n")
        done = edit(folder, layout=tmp_path / "layout.yml")
        assert done.code == 0 and done.json["matrix"] == {**ROWS, "by": "bumpbot"}
        assert "is not asked: the layout's generator-files name none" in done.err and len(done.json["notes"]) == 1

    def test_with_an_image_that_is_there_nothing_is_asked(self, folder: Path) -> None:
        old = "vllm/vllm-openai:nightly-dev-arm64-cu13.0.1-75c2eef"
        (folder / SCRIPT).write_bytes(b"raise SystemExit(1)\n")
        done = bumpbot("--repo", folder, "--layout", "inferencex", "edit", DCP16, "--image", old)
        assert (done.code, done.out) == (0, "") and "stands there already" in done.line
