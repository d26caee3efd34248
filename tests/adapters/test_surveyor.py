"""Sources of others are read in a child: what goes wrong with one file is that file's matter alone."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

from bot.adapters import surveyor
from bot.adapters.surveyor import ChildSurveyor
from bot.adapters.tree import git_id
from bot.adapters.ziptree import WheelTree
from bot.errors import BadInput
from tests.adapters.wheel_files import wheel
from tests.upstream.imports_world import Files

GOOD = {"a.py": "import engine\n", "b.py": "def f(): ...\n"}
NESTED = "x = " + "(" * 5000 + ")" * 5000
LITERAL = "x = [" + "1," * 200_000 + "]"


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[ChildSurveyor]:
    made = ChildSurveyor(tmp_path / "cache")
    yield made
    made.close()


class Listed(Files):
    """A tree that tells its contents' ids as git does, whose contents may be out of reach."""

    def __init__(self, files: Mapping[str, str], *, here: bool = True) -> None:
        super().__init__(files)
        self._here = here

    def contents(self, paths: Collection[str]) -> Mapping[str, str]:
        return {path: git_id(data, "") for path in paths if (data := super(Listed, self).read(path)) is not None}

    def read(self, path: str) -> bytes | None:
        if not self._here:
            raise BadInput("not here", "fetch it")
        return super().read(path)


def read(made: ChildSurveyor, files: dict[str, str | bytes]) -> dict[str, bool]:
    """Which of the files could be read."""
    return {path: found is not None for path, found in made.survey("imports", Files(files), list(files)).items()}


class TestASurvey:
    def test_tells_of_each_file(self, reading: ChildSurveyor) -> None:
        told = reading.survey("imports", Files(GOOD), ["a.py", "b.py", "none.py"])
        assert told["none.py"] is None and told["a.py"] != told["b.py"] and None not in (told["a.py"], told["b.py"])

    def test_of_two_files_of_one_content_is_one(self, reading: ChildSurveyor) -> None:
        assert read(reading, {"a.py": "x = 1\n", "b.py": "x = 1\n"}) == {"a.py": True, "b.py": True}

    @pytest.mark.parametrize("bad", ["def (", "\0", b"\xff\xfe\x00", NESTED, "x = " + "-" * 200_000 + "1"])
    def test_of_what_no_parser_reads_is_unknown_and_costs_no_other_file(self, reading: ChildSurveyor, bad: str | bytes) -> None:
        assert read(reading, {"bad.py": bad, **GOOD}) == {"bad.py": False, "a.py": True, "b.py": True}

    def test_of_more_than_fits_into_the_childs_memory_is_unknown(self, reading: ChildSurveyor) -> None:
        assert read(reading, {"large.py": LITERAL}) == {"large.py": True}
        small = ChildSurveyor(None, memory=200_000_000)
        assert read(small, {"large.py": LITERAL, **GOOD}) == {"large.py": False, "a.py": True, "b.py": True}
        small.close()

    def test_of_more_bytes_than_any_source_has_is_unknown(self, reading: ChildSurveyor) -> None:
        assert read(reading, {"large.py": "x = 1\n" * 400_000, **GOOD}) == {"large.py": False, "a.py": True, "b.py": True}

    def test_that_takes_too_long_is_unknown(self, tmp_path: Path) -> None:
        late = ChildSurveyor(None, wall_s=0.0001)
        assert read(late, {"a.py": "x = 1\n" * 10_000}) == {"a.py": False}
        late.close()

    def test_needs_nothing_of_the_environment(self, reading: ChildSurveyor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "msgspec.py").write_text("raise SystemExit")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        assert read(reading, GOOD) == {"a.py": True, "b.py": True}


class TestWhatWasRead:
    def test_is_not_read_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        first = ChildSurveyor(tmp_path)
        told = first.survey("imports", Files(GOOD), ["a.py"])
        first.close()
        monkeypatch.setattr(surveyor, "_Child", None)  # no child can be started now
        assert first.survey("imports", Files(GOOD), ["a.py"]) == told
        assert ChildSurveyor(tmp_path).survey("imports", Files({"moved.py": GOOD["a.py"]}), ["moved.py"])["moved.py"] == told["a.py"]

    def test_is_told_by_the_contents_id_without_another_look(self, tmp_path: Path, reading: ChildSurveyor) -> None:
        tree = Listed(GOOD)
        told = reading.survey("imports", tree, list(GOOD))
        assert ChildSurveyor(tmp_path / "cache").survey("imports", Listed(GOOD, here=False), list(GOOD)) == told
        assert None not in told.values()

    def test_in_a_wheel_is_known_in_another_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        old, new, first = (wheel(tmp_path / f"{name}.whl", {**GOOD, f"{name}.py": ""}) for name in ("old", "new", "old"))
        told = ChildSurveyor(tmp_path / "cache").survey("imports", WheelTree(old), list(GOOD))
        monkeypatch.setattr(surveyor, "_Child", None)
        assert ChildSurveyor(tmp_path / "cache").survey("imports", WheelTree(new), list(GOOD)) == told
        monkeypatch.setattr(WheelTree, "read", None)
        for again in (first, new):
            assert ChildSurveyor(tmp_path / "cache").survey("imports", WheelTree(again), list(GOOD)) == told

    def test_under_an_id_that_it_has_not_tells_nothing_of_who_has_it(self, tmp_path: Path, reading: ChildSurveyor) -> None:
        class Lying(Listed):
            def contents(self, paths: Collection[str]) -> Mapping[str, str]:
                return dict.fromkeys(paths, Listed(GOOD).contents(["a.py"])["a.py"])

        lied = reading.survey("imports", Lying({"x.py": "import other\n"}), ["x.py"])
        assert reading.survey("imports", Listed(GOOD), ["a.py"])["a.py"] not in (None, lied["x.py"])

    def test_of_a_file_that_is_not_to_be_had_stays_unknown(self, reading: ChildSurveyor) -> None:
        tree = Listed(GOOD, here=False)
        assert set(reading.survey("imports", tree, [*GOOD, "none.py"]).values()) == {None}

    def test_and_could_not_be_is_not_tried_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        first = ChildSurveyor(tmp_path)
        assert read(first, {"bad.py": "def ("}) == {"bad.py": False}
        first.close()
        monkeypatch.setattr(surveyor, "_Child", None)
        assert read(ChildSurveyor(tmp_path), {"bad.py": "def ("}) == {"bad.py": False}

    def test_under_another_version_of_the_survey_is_read_anew(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        first = ChildSurveyor(tmp_path)
        first.survey("imports", Files(GOOD), ["a.py"])
        first.close()
        monkeypatch.setitem(surveyor.SURVEYS, "imports", surveyor.SURVEYS["imports"].__class__(99, lambda data, path: None))
        monkeypatch.setattr(surveyor, "_Child", None)
        with pytest.raises(TypeError):
            first.survey("imports", Files(GOOD), ["a.py"])

    def test_and_then_broken_on_disk_is_read_again(self, tmp_path: Path) -> None:
        first = ChildSurveyor(tmp_path)
        assert read(first, GOOD) == {"a.py": True, "b.py": True}
        first.close()
        (file,) = tmp_path.rglob("*.sqlite")
        file.write_bytes(os.urandom(4096))
        again = ChildSurveyor(tmp_path)
        assert read(again, GOOD) == {"a.py": True, "b.py": True}
        again.close()
