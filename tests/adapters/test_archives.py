"""Archives of a bump's files: a folder beside a ledger on this machine, draft releases of a repository. Both answer alike."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import httpx
import pytest

from bot.adapters.folder_archive import FolderArchive
from bot.adapters.github.archive import GitHubArchive
from bot.errors import BadInput, Conflict, Missing, Refusal
from bot.model.result import Filed
from bot.ports import Archive
from tests.adapters.githubs import REPOSITORY, Patience
from tests.rehearse.github_world import APP, served

BUMP = "kimi-3696c77"


def filed(name: str, data: bytes) -> Filed:
    return Filed(name=name, size=len(data), sha256=hashlib.sha256(data).hexdigest())


def put(archive: Archive, name: str, data: bytes, bump: str = BUMP) -> Filed:
    archive.put(bump, made := filed(name, data), io.BytesIO(data))
    return made


def read(archive: Archive, name: str, limit: int = 1000) -> bytes:
    into = io.BytesIO()
    assert archive.read(BUMP, name, into, limit) == len(into.getvalue())
    return into.getvalue()


@pytest.fixture(params=["folder", "releases"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Archive]]:
    """Archives over the same place, each as a later wake would open it."""
    if request.param == "folder":
        yield lambda: FolderArchive(tmp_path / "archive")
        return
    with served(tmp_path) as world:
        yield lambda: GitHubArchive(world.hub.url, REPOSITORY, APP, Patience())


class TestAnArchive:
    def test_of_a_bump_without_files_holds_nothing(self, make: Callable[[], Archive]) -> None:
        assert make().held(BUMP) == {}

    def test_holds_what_was_put_for_whoever_looks_later(self, make: Callable[[], Archive]) -> None:
        one, two = put(make(), "bmk_c1.zip", b"one"), put(make(), "logs_c1.zip", b"two")
        put(make(), "bmk_c1.zip", b"another bump's", bump="other")
        assert make().held(BUMP) == {one.name: one, two.name: two} and read(make(), "logs_c1.zip") == b"two"

    def test_takes_the_same_file_twice_and_no_other_under_its_name(self, make: Callable[[], Archive]) -> None:
        made = put(make(), "a.zip", b"one")
        assert put(make(), "a.zip", b"one") == made
        with pytest.raises(Conflict):
            put(make(), "a.zip", b"two")
        assert read(make(), "a.zip") == b"one"

    def test_takes_nothing_but_what_was_announced(self, make: Callable[[], Archive]) -> None:
        with pytest.raises(BadInput, match="it changed"):
            make().put(BUMP, filed("a.zip", b"one"), io.BytesIO(b"two"))
        assert make().held(BUMP) == {}

    def test_keeps_what_is_written_piece_by_piece_and_tells_what_it_was(self, make: Callable[[], Archive]) -> None:
        def fill(stream: BinaryIO) -> None:
            stream.write(b"XX")
            stream.write(b"two" * 100_000)
            stream.seek(0)
            stream.write(b"on")

        made = make().make(BUMP, "evidence.zip", fill)
        assert make().held(BUMP) == {"evidence.zip": made} == {"evidence.zip": filed("evidence.zip", b"on" + b"two" * 100_000)}
        assert make().make(BUMP, "evidence.zip", fill) == made
        with pytest.raises(Conflict):
            make().make(BUMP, "evidence.zip", lambda stream: None)

    def test_keeps_nothing_of_what_could_not_be_written_whole(self, make: Callable[[], Archive]) -> None:
        def fill(stream: BinaryIO) -> None:
            stream.write(b"half")
            raise OSError(28, "No space left on device")

        with pytest.raises(Refusal, match="No space left"):
            make().make(BUMP, "evidence.zip", fill)
        assert make().held(BUMP) == {}

    def test_of_what_is_not_there_says_so(self, make: Callable[[], Archive]) -> None:
        put(make(), "a.zip", b"one")
        with pytest.raises(Missing):
            read(make(), "b.zip")
        with pytest.raises(BadInput):
            read(make(), "a.zip", limit=2)

    @pytest.mark.parametrize(("bump", "name"), [(BUMP, "../a"), (BUMP, ".a"), (BUMP, "a/b"), (BUMP, ""), ("../x", "a"), ("", "a"), (BUMP, "a b")])
    def test_refuses_names_that_lead_elsewhere(self, make: Callable[[], Archive], bump: str, name: str) -> None:
        with pytest.raises(BadInput):
            put(make(), name, b"one", bump=bump)


class Server:
    """A forge whose one release names `upload` as the place for its files; `digest` as an older server tells none."""

    def __init__(self, upload: str, *assets: dict) -> None:
        self.upload, self.assets, self.sent = upload, assets, list[tuple[str, str]]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append((request.method, request.url.host))
        if request.url.path.endswith("/releases"):
            return httpx.Response(200, json=[{"id": 1, "tag_name": f"bumpbot-archive-{BUMP}", "draft": True, "upload_url": self.upload}])
        if request.url.path.endswith("/assets") and request.method == "GET":
            return httpx.Response(200, json=list(self.assets))
        return httpx.Response(200, content=b"one") if request.method == "GET" else httpx.Response(201, json={})

    def archive(self) -> GitHubArchive:
        return GitHubArchive("https://api.forge.example", "o/n", "secret", Patience(), transport=httpx.MockTransport(self))


class TestDraftReleases:
    def test_send_their_files_to_the_forges_own_uploads_alone(self) -> None:
        server = Server("https://uploads.forge.example/repos/o/n/releases/1/assets{?name,label}")
        put(server.archive(), "a.zip", b"one")
        assert server.sent[-1] == ("POST", "uploads.forge.example")

    @pytest.mark.parametrize("upload", ["https://elsewhere.example/x", "http://api.forge.example/x", "https://api.forge.example.evil.example/x"])
    def test_send_nothing_elsewhere_for_the_token_goes_with_it(self, upload: str) -> None:
        server = Server(upload)
        with pytest.raises(Refusal, match="another host"):
            put(server.archive(), "a.zip", b"one")
        assert {method for method, _ in server.sent} == {"GET"}

    def test_without_a_hash_the_bytes_are_read_and_half_an_upload_is_none(self) -> None:
        half = {"id": 7, "name": "b.zip", "size": 3, "state": "starter", "digest": None}
        server = Server("", {"id": 6, "name": "a.zip", "size": 3, "state": "uploaded", "digest": None}, half)
        assert server.archive().held(BUMP) == {"a.zip": filed("a.zip", b"one")}
