"""changelog append, check and sync on files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import worlds
from tests.cli.shell import ROOT, bumpbot

LINK = "https://github.com/acme/recipes/pull/9"
ARGV = ("changelog", "append", "--key", "toy", "--description", "v1.1.0", "--link", LINK)
ENTRY = f'\n- recipes:\n    - toy\n  description:\n    - "v1.1.0"\n  pull: {LINK}\n'
OTHER = ENTRY.replace("/9\n", "/8\n").replace("toy", "else")


def at(tmp_path: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


class TestAppend:
    def test_shows_a_diff_and_writes_nothing(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, *ARGV)
        assert (done.code, done.err) == (0, "")
        assert (repo / "perf-changelog.yaml").read_text() == worlds.CHANGELOG
        subprocess.run(["git", "apply"], cwd=repo, input=done.out.encode(), check=True)
        assert (repo / "perf-changelog.yaml").read_text() == worlds.CHANGELOG + ENTRY

    def test_the_first_entry_of_all_is_the_diff_of_a_new_file(self, repo: Path) -> None:
        (repo / "perf-changelog.yaml").unlink()
        subprocess.run(["git", "apply"], cwd=repo, input=bumpbot("--repo", repo, *ARGV).out.encode(), check=True)
        assert (repo / "perf-changelog.yaml").read_text() == ENTRY.lstrip()

    def test_writes_the_same_bytes_in_place(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, *ARGV, "--write")
        assert (done.code, done.out, done.line) == (0, "", "written: perf-changelog.yaml")
        assert (repo / "perf-changelog.yaml").read_text() == worlds.CHANGELOG + ENTRY

    def test_an_entry_that_is_there_is_refused(self, repo: Path) -> None:
        bumpbot("--repo", repo, *ARGV, "--write")
        done = bumpbot("--repo", repo, *ARGV, "--write")
        assert done.code == 1 and "holds an entry" in done.line

    @pytest.mark.parametrize("wrong", [
        ("--key", "toy-*"), ("--description", " "), ("--description", "a\nb"), ("--link", "no address"), ("--link", "garbage"),
        ("--description", "bad \udcff"), ("--key", "toy\udcff"), ("--link", "https://x.example/\udcff"), ("--scenario", "chat"),
        ("--description", "see \u202egnp.exe"), ("--description", "thanks @ada"), ("--description", "ＧＯ now"), ("--description", "go  NOW"),
    ])
    def test_words_that_no_entry_may_hold_are_bad_arguments(self, repo: Path, wrong: tuple[str, str]) -> None:
        with (repo / ".github" / "bumpbot.yml").open("a") as layout:
            layout.write("forbidden: [go now]\n")
        argv = dict(zip(ARGV[2::2], ARGV[3::2], strict=True)) | {wrong[0]: wrong[1]}
        done = bumpbot("--repo", repo, "changelog", "append", *(word for pair in argv.items() for word in pair), "--write")
        assert done.code == 2 and done.line
        assert (repo / "perf-changelog.yaml").read_text() == worlds.CHANGELOG

    def test_a_digest_is_no_mention(self, repo: Path) -> None:
        argv = (*ARGV[:5], "registry.example/acme/engine:v1@sha256:" + "0" * 64, *ARGV[6:])
        assert bumpbot("--repo", repo, *argv).code == 0

    def test_a_key_that_stands_twice_is_a_bad_argument(self, repo: Path) -> None:
        done = bumpbot("--repo", repo, *ARGV, "--key", "toy")
        assert done.code == 2 and "toy stands twice" in done.line

    def test_a_second_entry_of_a_pull_request_is_told_and_appended(self, repo: Path) -> None:
        (repo / "perf-changelog.yaml").write_text(worlds.CHANGELOG.replace("/3\n", "/9\n"))
        done = bumpbot("--repo", repo, *ARGV)
        assert done.code == 0 and done.line == "note: perf-changelog.yaml holds an entry of this link for other too"

    def test_a_placeholder_is_no_pull_request(self, repo: Path) -> None:
        with (repo / ".github" / "bumpbot.yml").open("a") as layout:
            layout.write("changelog: {placeholders: [https://x.example/pull/XXX]}\n")
        argv = (*ARGV[:-1], "https://x.example/pull/XXX", "--write")
        assert bumpbot("--repo", repo, *argv).code == 0
        assert bumpbot("--repo", repo, *argv).code == 1, "the very same entry"
        assert bumpbot("--repo", repo, *(word.replace("v1.1.0", "v1.2.0") for word in argv)).code == 0

    @pytest.mark.parametrize("text", ["", "# none yet\n", (ROOT / "perf-changelog.yaml").read_text()])
    def test_a_file_of_comments_only_takes_the_first_entry(self, repo: Path, tmp_path: Path, text: str) -> None:
        log, [before] = repo / "perf-changelog.yaml", at(tmp_path, before=text)
        log.write_text(text)
        assert bumpbot("--repo", repo, "changelog", "check", log, log).code == 0
        assert bumpbot("--repo", repo, "changelog", "sync", before, log).out == text
        assert bumpbot("--repo", repo, *ARGV, "--write").code == 0
        assert log.read_text() == text + (ENTRY if text else ENTRY.lstrip())
        assert bumpbot("--repo", repo, "changelog", "check", before, log).code == 0
        assert bumpbot("--repo", repo, "changelog", "sync", before, log).out == log.read_text()

    @pytest.mark.parametrize(("text", "said"), [
        ("\ufeff" + worlds.CHANGELOG, "byte order mark"), (worlds.CHANGELOG + "  pull: x\n", "perf-changelog.yaml:6: pull: this key stands twice"),
    ])
    def test_a_file_that_check_refuses_is_refused_with_its_name(self, repo: Path, text: str, said: str) -> None:
        log = repo / "perf-changelog.yaml"
        log.write_text(text)
        done, checked = bumpbot("--repo", repo, *ARGV, "--write"), bumpbot("--repo", repo, "changelog", "check", log, log)
        assert (done.code, checked.code) == (1, 1) and said in done.line and said in checked.line
        assert "bumpbot: perf-changelog.yaml:" in done.line and checked.line.startswith(str(log)) and log.read_text() == text

    def test_a_file_that_breaks_its_rules_already(self, repo: Path) -> None:
        (repo / "perf-changelog.yaml").write_text(worlds.CHANGELOG.rstrip())
        done = bumpbot("--repo", repo, *ARGV, "--write")
        assert done.code == 1 and "perf-changelog.yaml: " in done.line and "newline" in done.line

    def test_a_link_in_the_files_place_is_not_written_over(self, repo: Path, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_text(worlds.CHANGELOG)
        (repo / "perf-changelog.yaml").unlink()
        (repo / "perf-changelog.yaml").symlink_to(tmp_path / "elsewhere")
        assert bumpbot("--repo", repo, *ARGV, "--write").code == 1
        assert (tmp_path / "elsewhere").read_text() == worlds.CHANGELOG

    def test_a_layout_without_one(self, repo: Path) -> None:
        (repo / ".github" / "bumpbot.yml").write_text("version: 1\nrecipes: [{files: recipes/*.yaml}]\n")
        done = bumpbot("--repo", repo, *ARGV)
        assert done.code == 1 and "no changelog" in done.line


class TestKeys:
    """A guest's validator fails a key that no recipe has, after the sweep's label was spent."""

    @pytest.mark.parametrize(("key", "said"), [("Toy", "did you mean toy?"), ("toys", "did you mean toy?"), ("nothing-like-it", "known: toy")])
    def test_that_no_recipe_has_are_refused_with_what_was_meant(self, repo: Path, key: str, said: str) -> None:
        done = bumpbot("--repo", repo, *ARGV[:3], key, *ARGV[4:], "--write")
        assert done.code == 1 and f"no recipe is called {key}" in done.line and said in done.line
        assert (repo / "perf-changelog.yaml").read_text() == worlds.CHANGELOG

    def test_are_not_compared_where_no_recipe_is(self, repo: Path) -> None:
        (repo / "recipes" / "toy.yaml").unlink()
        done = bumpbot("--repo", repo, *ARGV)
        assert done.code == 0 and done.line.startswith("note: whether the keys are those of recipes is not known")

    def test_are_told_where_a_file_cannot_be_read(self, repo: Path) -> None:
        (repo / "recipes" / "more.yaml").write_text("name: [\n")
        done = bumpbot("--repo", repo, *ARGV[:3], "more", *ARGV[4:])
        assert done.code == 0 and "note: whether more is a recipe is not known: recipes/more.yaml:2" in done.line
        assert bumpbot("--repo", repo, *ARGV[:3], "TOY", *ARGV[4:]).code == 1


class TestCheck:
    def test_an_appended_entry_holds(self, repo: Path, tmp_path: Path) -> None:
        files = at(tmp_path, base=worlds.CHANGELOG, head=worlds.CHANGELOG + ENTRY)
        done = bumpbot("--repo", repo, "changelog", "check", *files)
        assert (done.code, done.out, done.err) == (0, "", "")

    @pytest.mark.parametrize("head", [
        ENTRY.lstrip(), worlds.CHANGELOG + "\n" + ENTRY, worlds.CHANGELOG.replace("Older", "Newer") + ENTRY,
        worlds.CHANGELOG + ENTRY.replace("description", "descrption"), worlds.CHANGELOG + "- [", "",
    ])
    def test_a_fault_is_a_line_with_the_file(self, repo: Path, tmp_path: Path, head: str) -> None:
        base, file = at(tmp_path, base=worlds.CHANGELOG, head=head)
        done = bumpbot("--repo", repo, "changelog", "check", base, file)
        assert done.code == 1
        assert all(line.startswith((f"{file}: ", "perf-changelog.yaml:")) for line in done.err.splitlines()) and done.err

    def test_the_entry_must_carry_the_link_that_is_asked_for(self, repo: Path, tmp_path: Path) -> None:
        files = at(tmp_path, base=worlds.CHANGELOG, head=worlds.CHANGELOG + ENTRY)
        assert bumpbot("--repo", repo, "changelog", "check", *files, "--link", LINK).code == 0
        assert bumpbot("--repo", repo, "changelog", "check", *files, "--link", LINK[:-1] + "8").code == 1

    def test_a_link_that_no_entry_may_carry_is_a_bad_argument(self, repo: Path, tmp_path: Path) -> None:
        [file] = at(tmp_path, head=worlds.CHANGELOG)
        assert bumpbot("--repo", repo, "changelog", "check", file, file, "--link", "garbage").code == 2
        for number, code in (("0", 2), ("01", 2), ("\u0661", 2), ("1", 0), ("XXX", 0)):
            link = f"https://github.com/SemiAnalysisAI/InferenceX/pull/{number}"
            argv = ("--layout", "inferencex", "changelog", "check", tmp_path / "empty", tmp_path / "empty", "--link", link)
            (tmp_path / "empty").write_text("")
            assert bumpbot("--repo", repo, *argv).code == code

    def test_help_says_which_placeholder_passes(self) -> None:
        said = " ".join(bumpbot("changelog", "check", "--help").out.split())
        assert "https://github.com/SemiAnalysisAI/InferenceX/pull/XXX" in said


class TestAFileThatNeverEnds:
    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is none here")
    def test_is_too_large_for_a_changelog(self, repo: Path) -> None:
        log = repo / "perf-changelog.yaml"
        for argv in (("check", log, "/dev/zero"), ("check", "/dev/zero", log), ("sync", log, "/dev/zero")):
            done = bumpbot("--repo", repo, "changelog", *argv)
            assert done.code == 1 and "/dev/zero: larger than 64000000 bytes" in done.line


class TestSync:
    def test_takes_mains_bytes_and_appends_the_branchs_entry(self, repo: Path, tmp_path: Path) -> None:
        main, head = at(tmp_path, main=worlds.CHANGELOG + OTHER, head=worlds.CHANGELOG + ENTRY)
        done = bumpbot("--repo", repo, "changelog", "sync", main, head)
        assert (done.code, done.err) == (0, "")
        assert done.out == worlds.CHANGELOG + OTHER + ENTRY
        assert head.read_text() == worlds.CHANGELOG + ENTRY

    def test_writes_over_the_branchs_file_and_a_second_time_changes_nothing(self, repo: Path, tmp_path: Path) -> None:
        main, head = at(tmp_path, main=worlds.CHANGELOG + OTHER, head=worlds.CHANGELOG + ENTRY)
        for _ in range(2):
            assert bumpbot("--repo", repo, "changelog", "sync", main, head, "--write").code == 0
            assert head.read_text() == worlds.CHANGELOG + OTHER + ENTRY
        assert bumpbot("--repo", repo, "changelog", "check", main, head).code == 0

    def test_without_an_entry_of_its_own_main_stays(self, repo: Path, tmp_path: Path) -> None:
        main, head = at(tmp_path, main=worlds.CHANGELOG + ENTRY, head=worlds.CHANGELOG)
        done = bumpbot("--repo", repo, "changelog", "sync", main, head)
        assert (done.code, done.out) == (0, worlds.CHANGELOG + ENTRY)
        assert "no entry of its own" in done.line

    def test_without_the_ancestor_names_what_is_left_and_with_it_says_nothing(self, repo: Path, tmp_path: Path) -> None:
        main, base = worlds.CHANGELOG, worlds.CHANGELOG + OTHER
        main, head, base = at(tmp_path, main=main, head=base + ENTRY, base=base)
        done = bumpbot("--repo", repo, "changelog", "sync", main, head)
        assert (done.code, done.out) == (0, worlds.CHANGELOG + ENTRY)
        assert done.line.startswith(f"note: {head}: entry 2 (else; {LINK[:-1]}8) is not in {main} and is not carried")
        done = bumpbot("--repo", repo, "changelog", "sync", main, head, "--base", base, "--write")
        assert (done.code, done.err, head.read_text()) == (0, f"written: {head}\n", worlds.CHANGELOG + ENTRY)
        assert bumpbot("--repo", repo, "changelog", "sync", main, head, "--base", tmp_path / "no").code == 2

    @pytest.mark.parametrize(("more", "said"), [
        (ENTRY + "  note: mine\n", "holds the unknown field note"),
        (ENTRY.replace("    - toy", "    toy: 1"), "no lists of texts"), ("- [", "not YAML"), (ENTRY + "  - 1\n", "not YAML"),
    ])
    def test_what_cannot_be_carried_over_is_one_line(self, repo: Path, tmp_path: Path, more: str, said: str) -> None:
        main, head = at(tmp_path, main=worlds.CHANGELOG, head=worlds.CHANGELOG + more)
        done = bumpbot("--repo", repo, "changelog", "sync", main, head, "--write")
        assert (done.code, done.out) == (1, "")
        assert str(head) in done.line and said in done.line
        assert head.read_text() == worlds.CHANGELOG + more

    @pytest.mark.parametrize(("main", "said"), [
        (worlds.CHANGELOG.rstrip(), "does not end with a newline"), (worlds.CHANGELOG.replace("\n", "\r\n"), "contains a CR"),
        ("a: 1\n", "is not a list of entries"),
    ])
    def test_a_main_that_breaks_its_rules_is_told_and_not_repaired(self, repo: Path, tmp_path: Path, main: str, said: str) -> None:
        (tmp_path / "main").write_bytes(main.encode())
        [head] = at(tmp_path, head=worlds.CHANGELOG + ENTRY)
        done = bumpbot("--repo", repo, "changelog", "sync", tmp_path / "main", head, "--write")
        assert (done.code, done.out) == (1, "") and f"{tmp_path / 'main'}: {said}" in done.line
        assert head.read_text() == worlds.CHANGELOG + ENTRY and (tmp_path / "main").read_bytes() == main.encode()

    def test_a_file_that_is_not_there_is_a_bad_argument(self, repo: Path, tmp_path: Path) -> None:
        [main] = at(tmp_path, main=worlds.CHANGELOG)
        for argv in ((main, tmp_path / "head"), (tmp_path / "head", main)):
            done = bumpbot("--repo", repo, "changelog", "sync", *argv)
            assert (done.code, done.out) == (2, "") and str(tmp_path / "head") in done.line

    def test_what_it_prints_are_the_files_bytes_and_nothing_else(self, repo: Path, tmp_path: Path) -> None:
        main, head = at(tmp_path, main=worlds.CHANGELOG + OTHER.replace("v1", "更新 v1"), head=worlds.CHANGELOG + ENTRY.replace("v1", "é v1"))
        done = subprocess.run([sys.executable, "-m", "bot", "--repo", str(repo), "changelog", "sync", str(main), str(head)],
                              capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
        assert done.stdout == main.read_bytes() + ENTRY.replace("v1", "é v1").encode()
