"""Archives are read as they come and under limits; names that point elsewhere are left out and said so."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

import pytest

from bot.diagnose.logs import LINE_LIMIT, Limits, Opened, lines
from bot.errors import BadInput
from tests.diagnose.worlds import read

OOM = b"torch.OutOfMemoryError: CUDA out of memory.\n"


def tar(members: dict[str, bytes], *, mode: str = "w:gz", extra: tuple[tarfile.TarInfo, ...] = ()) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in extra:
            archive.addfile(info)
    return buffer.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def names(data: bytes, name: str, **limits: int) -> list[str]:
    opened = Opened([(name, io.BytesIO(data))], Limits(**limits))
    return [inner for inner, stream in opened if stream.read() is not None]


class TestArchives:
    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("logs.tar.gz", tar({"./n1_agg_w0.out": OOM})),
            ("logs.tgz", tar({"n1_agg_w0.out": OOM})),
            ("logs.tar.xz", tar({"n1_agg_w0.out": OOM}, mode="w:xz")),
            ("logs.tar", tar({"n1_agg_w0.out": OOM}, mode="w:")),
            ("artifact.zip", zipped({"logs.tar.gz": tar({"n1_agg_w0.out": OOM})})),
            ("n1_agg_w0.out.gz", gzip.compress(OOM)),
        ],
        ids=lambda value: value if isinstance(value, str) else "bytes",
    )
    def test_the_logs_within_are_read(self, name, data):
        found = read({name: data})
        assert (found.class_, found.node) == ("oom", "n1") and found.first_error == OOM.decode().strip()

    def test_data_files_are_no_logs(self):
        answers = {"samples_gsm8k.jsonl": OOM, "results.json": OOM, "metrics.csv": OOM}
        assert read({"eval.zip": zipped(answers), **answers}).first_error is None

    def test_links_absolute_paths_and_climbing_ones_are_left_out_and_said_so(self):
        link = tarfile.TarInfo("evil_agg_w0.out")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        found = read({"logs.tar.gz": tar({"/abs.log": OOM, "../up.log": OOM, "a/../../b.log": OOM}, extra=(link,))})
        assert found.first_error is None and len(found.notes) == 4
        assert {"logs.tar.gz: a link or device was left out", "logs.tar.gz: an absolute path was left out"} <= set(found.notes)


class TestLimits:
    def test_too_many_entries(self):
        with pytest.raises(BadInput, match="too many entries"):
            names(tar({f"{n}.log": b"" for n in range(5)}), "a.tar.gz", entries=4)

    def test_too_many_bytes(self):
        with pytest.raises(BadInput, match="unpacks to too much"):
            names(gzip.compress(b"x" * 100_000), "a.log.gz", bytes=50_000)

    def test_an_archive_bomb_is_stopped_on_the_way(self):
        bomb = gzip.compress(b"\0" * 8_000_000)
        with pytest.raises(BadInput, match="bomb"):
            names(bomb, "a.log.gz", ratio=100, ratio_from=1_000_000)
        with pytest.raises(BadInput, match="bomb"):
            names(zipped({"a.log": b"\0" * 8_000_000}), "a.zip", ratio=100, ratio_from=1_000_000)

    def test_archives_inside_archives_inside_archives(self):
        data = OOM
        for _ in range(6):
            data = gzip.compress(data)
        with pytest.raises(BadInput, match="too deep"):
            names(data, "a.log" + ".gz" * 6)

    @pytest.mark.parametrize("name", ["a.tar.gz", "a.zip", "a.log.gz", "a.tar", "a.log.xz"])
    @pytest.mark.parametrize("data", [b"", b"not an archive at all", tar({"a.log": OOM * 900})[:90], gzip.compress(OOM)[:-6]],
                             ids=["empty", "text", "tar-cut-short", "gzip-cut-short"])
    def test_a_broken_archive_is_one_line_or_nothing(self, name, data):
        try:
            names(data, name)
        except BadInput as told:
            assert name.removesuffix(".gz").removesuffix(".xz") in str(told) and "\n" not in str(told)


class TestLines:
    def test_a_line_over_the_limit_is_cut_and_the_count_goes_on(self):
        data = b"a\n" + b"x" * (LINE_LIMIT * 9) + b"\nlast"
        found = list(lines(io.BytesIO(data)))
        assert [(line.number, len(line.text), line.cut) for line in found] == [
            (1, 1, False),
            (2, LINE_LIMIT, True),
            (3, 4, False),
        ]

    def test_one_of_exactly_the_limit_is_whole(self):
        (line,) = lines(io.BytesIO(b"y" * LINE_LIMIT + b"\n"))
        assert not line.cut and len(line.text) == LINE_LIMIT

    def test_a_progress_bar_shows_its_last_state(self):
        (line,) = lines(io.BytesIO(b"10%\r50%\r100% done\r\n"))
        assert line.text == "100% done"
