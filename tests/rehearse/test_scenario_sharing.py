"""Two scenarios of one world: what `shares` takes from the folder beside, what is said when it cannot, what a copy holds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.errors import BadInput
from bot.rehearse import scenario, sharing
from tests.rehearse.small_scenario import SCENARIO, write

SHARING = SCENARIO.replace("name: small\n", "name: second\n# Another end of the same story.\nshares: first\n")


def pair(tmp_path: Path, text: str = SHARING) -> Path:
    """`first`, whole, and `second` that has only its own scenario.yaml and artifacts."""
    write(tmp_path / "first")
    second = write(tmp_path / "second", text)
    shutil.rmtree(second / "repo")
    for name in ("registry.yaml", "baseline.json"):
        (second / name).unlink()
    return second


class TestWhatIsTakenFromTheFolderBeside:
    def test_it_loads_with_the_other_folders_parts_and_its_own_artifacts(self, tmp_path: Path) -> None:
        found = scenario.load(pair(tmp_path))
        assert (found.declared.name, found.repo) == ("second", (tmp_path / "first/repo").resolve())
        assert sorted(found.registry["registry.example"]["acme/engine"]) == ["1.0", "2.0", "2.0-again"]
        assert found.artifact(901, 1, "logs") == tmp_path / "second/artifacts/901/1/logs"

    def test_histories_are_shared_too(self, tmp_path: Path) -> None:
        second, ids = pair(tmp_path), ("a" * 40, "b" * 40)
        (tmp_path / "first/upstream").mkdir()
        (tmp_path / "first/upstream/engine.yaml").write_text(
            f"repository: acme/engine\ncomparisons:\n  - {{base: {ids[0]}, head: {ids[1]}, merge_base: null, ahead: 1, behind: 0}}\n")
        assert [one.repository for one in scenario.load(second).upstream] == ["acme/engine"]

    def test_what_it_has_itself_counts(self, tmp_path: Path) -> None:
        second = pair(tmp_path)
        (second / "repo").mkdir()
        (second / "repo/mine.txt").write_text("mine\n")
        assert [file.name for file in scenario.load(second).repo.iterdir()] == ["mine.txt"]

    def test_it_is_found_from_inside_the_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(pair(tmp_path))
        assert scenario.load(Path(".")).repo == (tmp_path / "first/repo").resolve()


# the line of scenario.yaml -> words of what is said
REFUSED = {
    "shares: nowhere": r"scenario.yaml:4: shares: no scenario `nowhere` lies beside this one: put it at .*/nowhere",
    "shares: second": "cannot share with itself",
    "shares: ../first": r"scenario.yaml:4: shares: ",
    "shares: third": "`third` itself shares with `first`: write `shares: first`",
}


class TestWhatCannotBeShared:
    @pytest.mark.parametrize("line", REFUSED)
    def test_is_told_in_one_line(self, line: str, tmp_path: Path) -> None:
        write(tmp_path / "third", SHARING)
        with pytest.raises(BadInput, match=REFUSED[line]) as told:
            scenario.load(pair(tmp_path, SHARING.replace("shares: first", line)))
        assert "\n" not in str(told.value)

    def test_a_part_that_neither_has_is_missed_in_its_own_folder(self, tmp_path: Path) -> None:
        second = pair(tmp_path)
        (tmp_path / "first/baseline.json").unlink()
        with pytest.raises(BadInput, match=r"second/baseline.json: this file is missing"):
            scenario.load(second)


class TestACopyOfIt:
    def test_stands_alone(self, tmp_path: Path) -> None:
        sharing.copy(pair(tmp_path), tmp_path / "else/where/mine")
        shutil.rmtree(tmp_path / "first")
        found = scenario.load(tmp_path / "else/where/mine")
        assert (found.declared.name, found.declared.shares) == ("second", None)
        assert (found.repo / "log.txt").read_text() == "first line\n"

    def test_differs_from_its_scenario_in_that_one_line(self, tmp_path: Path) -> None:
        sharing.copy(pair(tmp_path), tmp_path / "mine")
        assert (tmp_path / "mine/scenario.yaml").read_text() == SHARING.replace("shares: first\n", "")

    def test_of_a_scenario_whose_line_cannot_be_taken_out_is_refused_and_nothing_is_written(self, tmp_path: Path) -> None:
        second = pair(tmp_path, SHARING.replace("shares: first", "shares:\n  first"))
        with pytest.raises(BadInput, match=r"shares: cannot be taken out for a copy: write `shares: NAME` on a line"):
            sharing.copy(second, tmp_path / "mine")
        assert not (tmp_path / "mine").exists()

    def test_needs_the_folder_beside(self, tmp_path: Path) -> None:
        second = pair(tmp_path)
        shutil.rmtree(tmp_path / "first")
        with pytest.raises(BadInput, match="no scenario `first` lies beside"):
            sharing.copy(second, tmp_path / "mine")
        assert not (tmp_path / "mine").exists()
