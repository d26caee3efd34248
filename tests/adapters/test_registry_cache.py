"""What is kept between two scans: asked again in one conditional request, read back only where it is what it says, and
nobody else's."""

from __future__ import annotations

import os
import resource
import sqlite3
import sys
import time
from contextlib import closing

import pytest

from bot.adapters.registry import OciRegistry
from bot.errors import BadInput, Refusal
from bot.images.reference import parse
from tests.adapters.cache_files import database, files, plant, rows, sql
from tests.adapters.fake_registry import basic, bearer, document


@pytest.fixture
def scan(registry, clock, tmp_path):
    """What a scan of one tag asks for and is told, by a client of its own each time; the registry's requests begin anew."""

    def once(name: str = "a/b:v1", **options):
        registry.asked.clear()
        port = OciRegistry(clock, cache=tmp_path / "cache", **options)
        reference = parse(f"{registry.netloc}/{name}")
        return port.listings([reference])[reference.name], port.held([reference])[reference.text]

    return once


def users(registry, *names: str) -> list[dict]:
    """Makes the registry ask for Basic; a config of Docker's for each of these users."""
    known = {basic(name, "secret-word") for name in names}
    registry.before = lambda asked: None if asked.login in known else (401, {"WWW-Authenticate": 'Basic realm="r"'}, b"")
    return [{"auths": {registry.netloc: {"username": name, "password": "secret-word"}}} for name in names]


class TestAWarmScan:
    def test_is_one_conditional_request_an_image(self, registry, scan):
        # BR046
        digest = registry.index("v1")
        cold = scan()
        assert [str(asked) for asked in registry.asked] == ["GET /v2/a/b/tags/list", "GET /v2/a/b/manifests/v1"]
        assert scan() == cold and cold[1].digest == digest
        assert [(str(asked), asked.headers["if-none-match"]) for asked in registry.asked] == [
            ("GET /v2/a/b/manifests/v1", f'"{digest}"')]

    def test_sees_a_tag_that_moved(self, registry, scan):
        registry.index("v1")
        before = scan()[1]
        moved = registry.index("v1", ("arm64",))
        assert scan()[1].digest == moved != before.digest
        assert scan()[1].digest == moved and len(registry.asked) == 1

    def test_lists_again_after_half_a_minute_where_nothing_was_given_to_ask_with(self, registry, scan, clock):
        registry.index("v1")
        scan()
        registry.index("v2")
        clock.sleep(29)
        assert scan()[0] == ("v1",)
        clock.sleep(2)
        assert scan()[0] == ("v1", "v2") and str(registry.asked[0]) == "GET /v2/a/b/tags/list"

    def test_lists_again_where_the_clock_went_back(self, registry, scan, clock):
        registry.index("v1")
        scan()
        registry.index("v2")
        clock.sleep(-3600)
        assert scan()[0] == ("v1", "v2")

    def test_asks_for_a_listing_conditionally_where_the_registry_says_how(self, registry, scan):
        registry.index("v1")
        seen = []

        def before(asked):
            if not asked.path.endswith("/tags/list"):
                return None
            seen.append(asked.headers.get("if-none-match"))
            return (304, {}, b"") if seen[-1] == '"7"' else (200, {"ETag": '"7"'}, document({"tags": ["v1"]}))

        registry.before = before
        assert scan()[0] == scan()[0] == ("v1",) and seen == [None, '"7"']

    def test_takes_every_page_of_a_listing_from_where_it_lies(self, registry, scan):
        registry.index("v1")
        registry.before = lambda asked: None if "/manifests/" in asked.path else (
            (200, {}, document({"tags": ["v2"]})) if "last=v1" in asked.query else
            (200, {"Link": '</v2/a/b/tags/list?n=1&last=v1>; rel="next"'}, document({"tags": ["v1"]})))
        assert scan()[0] == scan()[0] == ("v1", "v2") and len(registry.asked) == 1

    def test_resolves_by_one_head_what_it_resolved_before(self, registry, clock, tmp_path):
        registry.index("v1")
        reference = parse(f"{registry.netloc}/a/b:v1")
        first = OciRegistry(clock, cache=tmp_path).resolve(reference)
        registry.asked.clear()
        assert OciRegistry(clock, cache=tmp_path).resolve(reference) == first
        assert [str(asked) for asked in registry.asked] == ["HEAD /v2/a/b/manifests/v1"]

    def test_asks_anew_where_unchanged_comes_with_another_digest(self, registry, scan):
        digest = registry.index("v1")
        scan()
        registry.before = lambda asked: (304, {"Docker-Content-Digest": "sha256:" + "1" * 64}, b"") if (
            "if-none-match" in asked.headers) else None
        assert scan()[1].digest == digest
        assert [asked.headers.get("if-none-match") for asked in registry.asked] == [f'"{digest}"', None]

    def test_without_a_cache_asks_for_everything(self, registry, clock):
        registry.index("v1")
        port, reference = OciRegistry(clock), parse(f"{registry.netloc}/a/b:v1")
        port.held([reference])
        port.held([reference])
        assert [asked.headers.get("if-none-match") for asked in registry.asked] == [None, None]

    def test_is_told_unchanged_only_where_it_asked(self, registry, clock):
        registry.before = lambda asked: (304, {}, b"")
        reference = parse(f"{registry.netloc}/a/b:v1")
        assert isinstance(OciRegistry(clock).held([reference])[reference.text], Refusal)


class TestWhatLiesThere:
    @pytest.mark.parametrize("spoil", ["X''", "substr({0}, 2)", "{0} || X'20'", "zeroblob(9000000)", "NULL", "7", "'\u00e9'"])
    @pytest.mark.parametrize("column", ["note", "body", "sum"])
    def test_is_ignored_where_it_is_broken_and_mended(self, registry, scan, tmp_path, column, spoil):
        registry.index("v1")
        cold = scan()
        sql(tmp_path / "cache", f"UPDATE answers SET {column} = {spoil.format(column)}")
        assert scan() == cold
        assert [asked.headers.get("if-none-match") for asked in registry.asked] == [None, None]
        assert scan() == cold and len(registry.asked) == 1

    @pytest.mark.parametrize("spoil", [
        lambda whole: b"", lambda whole: b"no database at all" * 99, lambda whole: whole[:5000],
        lambda whole: whole[:100] + b"\xff" * (len(whole) - 100), lambda whole: whole[:4096] + b"\0" * (len(whole) - 4096)])
    def test_is_replaced_where_all_of_it_is_broken(self, registry, scan, tmp_path, spoil):
        registry.index("v1")
        cold = scan()
        database(tmp_path / "cache").write_bytes(spoil(database(tmp_path / "cache").read_bytes()))
        assert scan() == cold and len(registry.asked) == 2
        assert scan() == cold and scan() == cold and len(registry.asked) == 1

    @pytest.mark.parametrize("spoil", ["DROP TABLE uses", "DROP TABLE answers", "ALTER TABLE answers RENAME note TO other",
                                       "UPDATE uses SET used = 9223372036854775807", "UPDATE uses SET used = 'late'"])
    def test_stops_nobody_where_its_tables_are_not_ours(self, registry, scan, tmp_path, spoil):
        registry.index("v1")
        cold = scan()
        sql(tmp_path / "cache", spoil)
        assert [scan() for _ in range(3)] == [cold] * 3 and len(registry.asked) == 1

    @pytest.mark.parametrize("header", ["application_id", "user_version"])
    def test_is_let_alone_where_it_is_a_database_of_another_kind(self, registry, scan, tmp_path, header):
        registry.index("v1")
        cold = scan()
        sql(tmp_path / "cache", f"PRAGMA {header} = 99")
        before = database(tmp_path / "cache").read_bytes()
        assert scan() == scan() == cold and len(registry.asked) == 2
        assert database(tmp_path / "cache").read_bytes() == before

    def test_keeps_nobody_waiting_where_another_process_holds_it(self, registry, scan, tmp_path):
        registry.index("v1")
        cold = scan()
        with closing(sqlite3.connect(database(tmp_path / "cache"), isolation_level=None)) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("UPDATE uses SET size = 0")
            began = time.monotonic()
            assert scan() == cold and len(registry.asked) == 2
            assert time.monotonic() - began < 3  # two questions, each of which looks and writes once
        assert scan() == cold and len(registry.asked) == 1

    def test_is_ignored_where_it_is_the_answer_to_another_question(self, registry, scan, tmp_path):
        registry.index("v1")
        other = registry.index("v2", ("arm64",))
        scan("a/b:v1"), scan("a/b:v2")
        kept = rows(tmp_path / "cache")
        ours, theirs = (next(place for place, (note, _) in kept.items() if note["url"].endswith(tag)) for tag in ("v1", "v2"))
        plant(tmp_path / "cache", ours, *kept[theirs])
        assert scan("a/b:v1")[1].digest != other and len(registry.asked) == 1

    def test_is_ignored_where_its_body_is_not_what_its_digest_names(self, registry, scan, tmp_path):
        digest = registry.index("v1")
        scan()
        planted = document({"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []})
        [(place, note)] = [(place, note) for place, (note, _) in rows(tmp_path / "cache").items() if note.get("digest")]
        plant(tmp_path / "cache", place, note, planted)
        held = scan()[1]
        assert held.digest == digest and len(held.platforms) == 2

    def test_is_no_answer_that_was_not_believed(self, registry, scan, tmp_path):
        digest = registry.index("v1")
        kind, body = registry.manifests[digest]
        registry.manifests[digest] = (kind, body + b" ")
        assert isinstance(scan()[1], BadInput)
        registry.manifests[digest] = (kind, body)
        assert scan()[1].digest == digest and registry.asked[-1].headers.get("if-none-match") is None

    def test_is_nothing_where_others_can_write(self, registry, scan, tmp_path):
        registry.index("v1")
        folder = tmp_path / "cache" / "registry-1"
        folder.mkdir(parents=True)
        folder.chmod(0o777)
        scan(), scan()
        assert len(registry.asked) == 2 and files(tmp_path) == []

    @pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
    def test_is_nothing_where_others_can_write_to_a_file_of_it(self, registry, scan, tmp_path, end):
        registry.index("v1")
        scan()
        file = database(tmp_path / "cache")
        file = file.with_name(file.name + end)
        file.touch()
        file.chmod(0o666)
        before = file.read_bytes()
        scan(), scan()
        assert len(registry.asked) == 2 and file.read_bytes() == before

    @pytest.mark.parametrize("make", [
        lambda file: file.mkdir(parents=True), lambda file: (file.parent.parent.mkdir(), file.parent.write_text("no folder")),
        lambda file: (file.parent.mkdir(parents=True), os.mkfifo(file, 0o600)),
        lambda file: (file.parent.mkdir(parents=True), file.symlink_to("elsewhere"))])
    def test_stops_nobody_where_it_cannot_be_written(self, registry, scan, tmp_path, make):
        registry.index("v1")
        make(database(tmp_path / "cache"))
        assert scan()[0] == ("v1",) and scan()[1].kind == "index"
        assert len(registry.asked) == 2
    def test_stops_nobody_whose_python_has_no_sqlite(self, registry, scan, tmp_path, monkeypatch):
        registry.index("v1")
        monkeypatch.setitem(sys.modules, "sqlite3", None)
        assert scan() == scan() and len(registry.asked) == 2

    def test_stops_nobody_where_the_disk_is_full(self, registry, scan, tmp_path):
        registry.index("v1")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, limits[1]))
        try:
            cold = scan()
            assert scan() == cold and len(registry.asked) == 2
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert scan() == scan() == cold and len(registry.asked) == 1


class TestWhoMayReadIt:
    def test_not_another_user_nor_a_stranger(self, registry, scan):
        registry.index("v1")
        bot, cat = users(registry, "bot", "cat")
        assert scan(credentials=bot)[1].identity == "bot"
        for credentials in (cat, None):
            registry.index("v2")
            listed, held = scan(credentials=credentials)
            assert isinstance(listed, Refusal) if credentials is None else listed == ("v1", "v2")
            assert all("if-none-match" not in asked.headers for asked in registry.asked)
        assert scan(credentials=bot)[0] == ("v1",)

    def test_everybody_what_a_stranger_was_told(self, registry, scan):
        registry.index("v1")
        scan()
        config = {"auths": {registry.netloc: {"username": "bot", "password": "x"}}}
        scan(credentials=config)
        assert [asked.headers.get("if-none-match") is not None for asked in registry.asked] == [True]

    def test_no_token_password_or_cursor_is_written(self, registry, scan, tmp_path):
        registry.index("v1")
        bearer(registry, tokens={basic("bot", "secret-word"): "for-bot"})
        inner = registry.before
        registry.before = lambda asked: inner(asked) or ((
            200, {"Link": '</v2/a/b/tags/list?next_page=c2VjcmV0>; rel="next"'}, document({"tags": ["v1"]})) if (
            asked.path.endswith("/list") and "next_page" not in asked.query) else None)
        config = {"auths": {registry.netloc: {"username": "bot", "password": "secret-word"}}}
        assert scan(credentials=config)[0] == ("v1",)
        written = b"".join(path.read_bytes() for path in files(tmp_path))
        assert b"manifests/v1" in written
        for secret in ("secret-word", "for-bot", "c2VjcmV0", basic("bot", "secret-word").split()[1]):
            assert secret.encode() not in written
        assert {oct(path.stat().st_mode & 0o077) for path in files(tmp_path)} == {"0o0"}
