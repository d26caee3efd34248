"""A wheel as a tree of files: read where it lies, and refused where nobody would have built it so."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from bot.adapters import ziptree
from bot.adapters.ziptree import WheelTree
from bot.errors import BadInput, Missing
from tests.adapters.wheel_files import linked, wheel


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "toy-1.0-py3-none-any.whl"


class TestAWheel:
    def test_is_read_in_place(self, place: Path) -> None:
        tree = WheelTree(wheel(place, {"toy/__init__.py": "x = 1\n", "toy/a/b.py": ""}))
        assert tree.read("toy/__init__.py") == b"x = 1\n"
        assert tree.read("toy/a/b.py") == b"" and tree.read("toy") is None and tree.read("../x") is None
        assert tree.paths("toy/") == ["toy/__init__.py", "toy/a/b.py"] and tree.paths("no/") == []

    def test_tells_its_contents_apart_without_reading_them(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        paths = ["toy/a.py", "toy/b.py"]
        tree = WheelTree(wheel(place, dict.fromkeys(paths, "x = 1\n")))
        told = tree.contents([*paths, "none.py"])
        assert list(told) == paths and tree.read("toy/a.py") == b"x = 1\n" and WheelTree(place).contents(paths) == told
        other = WheelTree(wheel(place.with_stem("other"), dict.fromkeys(paths, "x = 2\n"))).contents(paths)
        assert len({*told.values(), *other.values()}) == 4
        monkeypatch.setattr(ziptree, "SUMMED", 10)
        assert WheelTree(place).contents(["toy/a.py"]) == {}

    def test_has_no_files_for_its_folders(self, place: Path) -> None:
        with zipfile.ZipFile(place, "w") as archive:
            archive.writestr("toy/", "")
            archive.writestr("toy/a.py", "")
        assert WheelTree(place).paths() == ["toy/a.py"]


class TestWhatIsNoWheel:
    def test_is_told_by_name(self, place: Path) -> None:
        with pytest.raises(Missing, match="no such file"):
            WheelTree(place)
        for data in (b"", b"no zip at all", b"PK\x05\x06"):
            place.write_bytes(data)
            with pytest.raises(BadInput, match=r"toy-1\.0.*not a wheel"):
                WheelTree(place)

    def test_cut_short_or_damaged_is_told(self, place: Path) -> None:
        whole = wheel(place, {"toy/a.py": "x = 1\n" * 1000}).read_bytes()
        place.write_bytes(whole[:-30])
        with pytest.raises(BadInput, match="not a wheel"):
            WheelTree(place)
        at = whole.index(b"toy/a.py") + len(b"toy/a.py")
        place.write_bytes(whole[:at] + b"\xff\xff\xff" + whole[at + 3:])
        with pytest.raises(BadInput, match=r"toy/a\.py is damaged"):
            WheelTree(place).read("toy/a.py")


class TestAnArchiveThatLeadsAstray:
    @pytest.mark.parametrize("name", ["/etc/passwd", "../x.py", "toy/../../x.py", "toy//x.py", "C:/x.py", "toy\\x.py", "./x.py"])
    def test_by_a_path_is_refused(self, place: Path, name: str) -> None:
        with zipfile.ZipFile(place, "w") as archive:
            info = zipfile.ZipInfo("toy")
            info.filename = name
            archive.writestr(info, "")
        with pytest.raises(BadInput, match="leads out"):
            WheelTree(place)

    def test_by_a_link_is_refused(self, place: Path) -> None:
        with pytest.raises(BadInput, match="link"):
            WheelTree(linked(place))

    def test_by_its_depth_is_refused(self, place: Path) -> None:
        with pytest.raises(BadInput, match="deeper"):
            WheelTree(wheel(place, {"a/" * 70 + "x.py": ""}))

    def test_by_its_size_is_refused(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ziptree, "_SMALL", 1_000_000)
        wheel(place, {"toy/bomb.py": b"\0" * 4_000_000})
        with pytest.raises(BadInput, match="would unpack to 4"):
            WheelTree(place)

    def test_by_the_number_of_its_files_is_refused_before_they_are_listed(self, place: Path) -> None:
        data = wheel(place, {"toy/a.py": ""}).read_bytes()
        at = data.rindex(b"PK\x05\x06")
        place.write_bytes(data[:at + 8] + struct.pack("<HH", 65000, 65000) + data[at + 12:])
        with pytest.raises(BadInput, match="more than"):
            WheelTree(place)

    def test_by_a_file_larger_than_any_source_is_not_read(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ziptree, "MAX_FILE", 10)
        tree = WheelTree(wheel(place, {"toy/a.py": "x" * 11}))
        with pytest.raises(BadInput, match="larger than 10"):
            tree.read("toy/a.py")
