"""upstream/: what a scenario tells of other people's repositories and packages, and what is said about what does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import BadInput, Missing, Refusal
from bot.rehearse import scenario
from bot.rehearse.told.upstreams import UpstreamsTold
from bot.rehearse.upstream import told
from tests.rehearse.small_scenario import write

ROOT, MOVED, TIP, STRAY = (letter * 40 for letter in "abcd")
ENGINE = f"""repository: acme/engine
tags: {{v1: {ROOT}, v2: {TIP}}}
commits:
  - {{sha: {ROOT}, title: Start, date: 2025-12-01T00:00:00Z}}
  - sha: {MOVED}
    title: "Move the parser (#12)"
    date: 2025-12-20T00:00:00Z
    pull: 12
    unnamed: 40
    tree: {{acme/parser.py: null, acme/utils/parser.py: "x = 1\\n"}}
  - {{sha: {TIP}, title: "Release 2", date: 2026-01-02T00:00:00Z, files: [VERSION]}}
  - {{sha: {STRAY}, title: "From a fork", date: 2026-01-03T00:00:00Z, parents: [{ROOT}]}}
branches: {{main: {TIP}}}
trees:
  v1: {{acme/__init__.py: "", acme/parser.py: "x = 1\\n"}}
packages:
  acme-worker: {{"1.1": {{worker/args.py: "import acme.parser\\n"}}, "1.0": {{worker/args.py: ""}}}}
"""


def facts(folder: Path, text: str = ENGINE, **files: str) -> scenario.Scenario:
    write(folder)
    (folder / "upstream").mkdir()
    (folder / "upstream/engine.yaml").write_text(text)
    for name, content in files.items():
        place = folder / "upstream" / name.replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    return scenario.load(folder)


def ports(found: scenario.Scenario) -> UpstreamsTold:
    return UpstreamsTold([told(one) for one in found.upstream])


class TestWhatIsTold:
    def test_a_tree_is_what_was_told_of_a_tag_with_the_later_changes_over_it(self, tmp_path: Path) -> None:
        tree = ports(facts(tmp_path)).tree("https://github.com/acme/engine", TIP)
        assert tree.paths() == ["acme/__init__.py", "acme/utils/parser.py"]

    def test_commits_follow_each_other_as_they_stand(self, tmp_path: Path) -> None:
        history = ports(facts(tmp_path)).history("acme/engine")
        assert history.touched("v1", "v2") == {TIP: ["VERSION"], MOVED: ["acme/parser.py", "acme/utils/parser.py"]}
        assert history.holds(MOVED[:9], "v2") and not history.holds(TIP, MOVED)
        assert history.merged(12, "v2") == history.commit(MOVED)

    def test_a_comparison_counts_what_nobody_named(self, tmp_path: Path) -> None:
        found = ports(facts(tmp_path)).history("acme/engine").compare(ROOT, TIP)
        assert (found.ahead, found.behind, [one.sha for one in found.commits]) == (42, 0, [MOVED, TIP])

    def test_a_commit_that_no_branch_or_tag_reaches_is_an_impostor(self, tmp_path: Path) -> None:
        with pytest.raises(Refusal, match="no branch or tag"):
            ports(facts(tmp_path)).history("acme/engine").full(STRAY)

    def test_a_commit_that_is_not_told_is_gone(self, tmp_path: Path) -> None:
        with pytest.raises(Missing):
            ports(facts(tmp_path)).history("acme/engine").full("e" * 40)

    def test_a_parent_that_is_not_told_is_where_the_known_history_ends(self, tmp_path: Path) -> None:
        text = ENGINE.replace("title: Start,", f"title: Start, parents: [{'e' * 40}],")
        found = ports(facts(tmp_path, text)).history("acme/engine")
        assert found.behind(ROOT) == {ROOT}
        assert found.files(TIP).keys() == {"acme/__init__.py", "acme/utils/parser.py"}

    def test_wheels_are_those_of_the_index_the_newest_first(self, tmp_path: Path) -> None:
        index = ports(facts(tmp_path))
        assert index.versions("ACME_worker") == ["1.1", "1.0"]
        assert index.wheel("acme-worker", "1.1").read("worker/args.py") == b"import acme.parser\n"
        with pytest.raises(Missing):
            index.wheel("acme-worker", "2.0")

    def test_the_lines_that_a_commit_changed_are_told_where_its_texts_are(self, tmp_path: Path) -> None:
        history = ports(facts(tmp_path)).history("acme/engine")
        assert history.lines("v1", "v2", ["acme/parser.py"]) == {MOVED: ["x = 1"]}
        with pytest.raises(Missing, match="not told"):
            history.lines("v1", "v2", ["VERSION"])


class TestFoldersOfFiles:
    def test_files_beside_the_yaml_are_those_of_a_commit_or_tag(self, tmp_path: Path) -> None:
        found = facts(tmp_path, ENGINE, **{"acme+engine__v2__acme__new.py": "y = 2\n"})
        assert ports(found).tree("acme/engine", "v2").paths() == ["acme/new.py"]

    def test_a_repository_may_be_files_alone(self, tmp_path: Path) -> None:
        found = facts(tmp_path, ENGINE, **{"acme+other__main__setup.py": "pass\n"})
        assert ports(found).tree("acme/other", "main").read("setup.py") == b"pass\n"

    def test_files_of_a_wheel(self, tmp_path: Path) -> None:
        found = facts(tmp_path, ENGINE, **{"acme-kernel==0.3__acme_kernel__ops.py": "def f(): ...\n"})
        assert ports(found).wheel("acme-kernel", "0.3").paths() == ["acme_kernel/ops.py"]


# what is changed, what it becomes -> the key that is told, words of the reason
BROKEN = {
    "a commit twice": (f"sha: {MOVED}", f"sha: {ROOT}", "commits.1.sha", "stands twice"),
    "a parent below its child": (f"sha: {MOVED}", f"sha: {MOVED}\n    parents: [{TIP}]", "commits.1.parents", "below its child"),
    "a tag of a commit that is not told": (f"v2: {TIP}", f"v2: {'e' * 40}", "tags.v2", "no commit eeeeeeeeeeee"),
    "files of a tag that is not told": ("  v1: {acme", "  v3: {acme", "trees.v3", "no commit, tag or branch"),
    "a change like one that is not told": (f"sha: {MOVED}", f"sha: {MOVED}\n    like: {'e' * 40}", "commits.1.like", "stands above"),
    "a path that climbs": ("VERSION]", "../VERSION]", "commits.2.files.0", ""),
    "an unknown key": ("pull: 12", "pul: 12", "commits.1.pul", "unknown key"),
}


class TestWhatDoesNotHold:
    @pytest.mark.parametrize("case", BROKEN)
    def test_the_fault_is_one_line_with_file_line_and_key(self, case: str, tmp_path: Path) -> None:
        old, new, key, words = BROKEN[case]
        assert ENGINE.count(old) == 1
        with pytest.raises(BadInput) as fault:
            facts(tmp_path, ENGINE.replace(old, new))
        assert (fault.value.file, fault.value.key) == (str(tmp_path / "upstream/engine.yaml"), key)
        assert words in str(fault.value) and "\n" not in str(fault.value) and fault.value.line

    def test_two_files_of_one_repository(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="another file tells of Acme/Engine already"):
            facts(tmp_path, ENGINE, **{"later.yaml": "repository: Acme/Engine\n"})

    @pytest.mark.parametrize(("name", "words"), [
        ("notes__a.txt", "no repository and no package"),
        ("acme+engine__v3__a.py", "no commit, tag or branch"),
        ("acme+engine__v1__a.py", "told in YAML already"),
        ("acme-worker==1.1__a.py", "told in YAML already"),
    ])
    def test_a_folder_that_nobody_can_place(self, name: str, words: str, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=words):
            facts(tmp_path, ENGINE, **{name: ""})
