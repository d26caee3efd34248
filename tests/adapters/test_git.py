"""One contract for every Git: in memory, over a folder, over file:// without filters, over http with a token."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bot.adapters.git import CommandGit, init_bare
from bot.adapters.gitcli import Remote, check_branch
from bot.adapters.process import LocalProcess
from bot.errors import BadInput, Missing, Refusal, Unreachable
from tests.fakes.git_memory import MemoryGit, MemoryRemote

WHEN = datetime(2026, 7, 28, 5, 0, 0, tzinfo=UTC)
WHO = {"name": "bumpbot", "email": "bumpbot@example.org"}


class Spy:
    """A Process that remembers what was started."""

    def __init__(self) -> None:
        self.inner, self.calls = LocalProcess(), []

    def run(self, argv, **more):
        self.calls.append((list(argv), dict(more.get("env") or {})))
        return self.inner.run(argv, **more)

    def words(self, command):
        return [argv for argv, _ in self.calls if command in argv]


def raw(folder: Path, *argv: str, stdin: bytes = b"") -> str:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
           **{f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}
    done = subprocess.run(["git", "-C", str(folder), *argv], env=env, check=True, input=stdin, capture_output=True)
    return done.stdout.decode()


class World:
    """Makes writers that share one repository."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder, self.made = kind, folder, 0
        self.memory = MemoryRemote()
        self.bare = folder / "remote.git"
        if kind != "memory":
            init_bare(LocalProcess(), self.bare)
        if kind == "unfiltered":
            raw(self.bare, "config", "uploadpack.allowFilter", "false")

    def writer(self, *, shallow=(), process=None, **who):
        self.made += 1
        if self.kind == "memory":
            return MemoryGit(self.memory, **{**WHO, **who})
        url = str(self.bare) if self.kind == "folder" else self.bare.as_uri()
        cache = self.folder / f"cache-{self.made}"
        return CommandGit(process or LocalProcess(), url, cache, shallow=shallow, **{**WHO, **who})


@pytest.fixture(params=["memory", "folder", "unfiltered"])
def world(request, tmp_path):
    return World(request.param, tmp_path)


@pytest.fixture
def folder(tmp_path):
    return World("folder", tmp_path)


def start(git, branch="main", files=None, when=WHEN):
    files = files or {"a.txt": b"one\n", "d/b.txt": b"two\n", "d/e/c.txt": b"\x00\xff\n"}
    oid = git.commit([], files, "first", when=when)
    assert git.push(branch, oid)
    return oid


class TestEveryGit:
    def test_a_branch_that_is_not_there_has_no_tip(self, world):
        assert world.writer().tip("main") is None

    def test_what_one_writer_pushed_another_reads_byte_for_byte(self, world):
        oid = start(world.writer())
        other = world.writer()
        assert other.tip("main") == oid
        assert other.read(oid, "d/e/c.txt") == b"\x00\xff\n"
        assert other.read(oid, "d") is None and other.read(oid, "nope") is None
        assert sorted(other.entries(oid)) == ["a.txt", "d/b.txt", "d/e/c.txt"]
        assert sorted(other.entries(oid, "d")) == ["d/b.txt", "d/e/c.txt"] == sorted(other.entries(oid, "d/"))
        assert other.entries(oid, "no/such/folder") == {}

    def test_a_commit_changes_the_named_files_and_nothing_else(self, world):
        git = world.writer()
        oid = start(git)
        changes = {"a.txt": b"ONE\n", "d/b.txt": None, "n/e/w.txt": b"", "gone": None}
        new = git.commit([oid], changes, "second", when=WHEN)
        before, after = git.entries(oid), git.entries(new)
        assert sorted(after) == ["a.txt", "d/e/c.txt", "n/e/w.txt"]
        assert after["d/e/c.txt"] == before["d/e/c.txt"] and after["a.txt"] != before["a.txt"]
        assert git.read(new, "n/e/w.txt") == b""

    def test_content_has_the_same_object_id_everywhere(self, world):
        oid = start(world.writer(), files={"x": b"hello\n"})
        git = world.writer()
        assert git.tip("main") == oid
        assert git.entries(oid) == {"x": "ce013625030ba8dba906f756967f9e9ca394464a"}

    def test_a_push_that_is_no_fast_forward_is_refused_and_changes_nothing(self, world):
        one, two = world.writer(), world.writer()
        base = start(one)
        assert two.tip("main") == base
        first = one.commit([base], {"x": b"1"}, "mine", when=WHEN)
        second = two.commit([base], {"y": b"2"}, "theirs", when=WHEN)
        assert one.push("main", first) is True
        assert two.push("main", second) is False
        assert two.tip("main") == first

    def test_two_writers_of_the_first_commit_do_not_both_win(self, world):
        one, two = world.writer(), world.writer()
        first, second = (git.commit([], {"x": data}, "first", when=WHEN) for git, data in ((one, b"1"), (two, b"2")))
        assert (one.push("main", first), two.push("main", second)) == (True, False)

    def test_the_very_same_commit_pushed_twice_is_won_once(self, world):
        one, two = world.writer(), world.writer()
        base = start(one)
        two.tip("main")
        same = [git.commit([base], {"x": b"1"}, "same", when=WHEN) for git in (one, two)]
        assert same[0] == same[1]
        assert (one.push("main", same[0]), two.push("main", same[1])) == (True, False)

    def test_the_time_and_the_message_are_part_of_a_commit(self, world):
        git = world.writer()
        base = start(git)
        made = {git.commit([base], {"x": b"1"}, message, when=when)
                for message, when in (("a", WHEN), ("b", WHEN), ("a", WHEN + timedelta(seconds=1)), ("a", WHEN))}
        assert len(made) == 3

    def test_a_merge_has_two_parents_and_the_tree_of_the_first(self, world):
        git = world.writer()
        base = start(git)
        main = git.commit([base], {"log.yaml": b"main\n"}, "main moves", when=WHEN)
        ours = git.commit([base], {"a.txt": b"ours\n"}, "ours", when=WHEN)
        assert git.push("main", main) and git.push("bump/x", ours)
        later = world.writer()
        head, other = later.tip("bump/x"), later.tip("main")
        merge = later.commit([head, other], {"log.yaml": b"main\nours\n"}, "Merge main", when=WHEN)
        assert later.push("bump/x", merge)
        reader = world.writer()
        assert reader.tip("bump/x") == merge
        assert reader.read(merge, "a.txt") == b"ours\n" and reader.read(merge, "log.yaml") == b"main\nours\n"
        assert all(reader.contains(merge, oid) for oid in (base, main, ours, merge))
        assert not reader.contains(main, ours) and not reader.contains(ours, main)

    def test_a_commit_never_seen_is_contained_in_nothing(self, world):
        git = world.writer()
        assert git.contains(start(git), "1" * 40) is False

    def test_the_author_is_the_committers_address(self, world):
        oid = start(world.writer(email="somebody@example.org"))
        git = world.writer()
        git.tip("main")
        assert git.author(oid) == "somebody@example.org"

    def test_an_unknown_commit_is_missing(self, world):
        git = world.writer()
        start(git)
        with pytest.raises(Missing):
            git.entries("1" * 40)

    @pytest.mark.parametrize("branch", ["-x", "+x", "a..b", "a:b", "x.lock", "a//b", "/a", "a/", "a b", "a\nb", "",
                                        "a/.b", "@{u}", "refs/heads/x~1"])
    def test_a_branch_name_outside_the_grammar_is_refused(self, world, branch):
        git = world.writer()
        for use in (lambda: git.tip(branch), lambda: git.push(branch, "1" * 40)):
            with pytest.raises(BadInput, match="not a branch name"):
                use()

    @pytest.mark.parametrize("path", ["../x", "/x", "a//b", ".git/config", "a/.GIT/x", "a\nb", "", "a/./b", "\ud800"])
    def test_a_path_that_leads_astray_is_refused(self, world, path):
        git = world.writer()
        oid = start(git)
        with pytest.raises(BadInput, match="not a path"):
            git.commit([oid], {path: b"x"}, "m", when=WHEN)
        with pytest.raises(BadInput, match="not a path"):
            git.read(oid, path)

    @pytest.mark.parametrize("oid", ["main", "--all", "1" * 39, "1" * 41, "G" * 40, "HEAD^"])
    def test_only_full_commit_ids_are_taken(self, world, oid):
        git = world.writer()
        for use in (lambda: git.entries(oid), lambda: git.push("main", oid), lambda: git.contains(oid, "1" * 40)):
            with pytest.raises(BadInput, match="not a full commit id"):
                use()

    def test_a_file_cannot_become_a_folder_unless_it_goes(self, world):
        git = world.writer()
        oid = start(git)
        with pytest.raises(BadInput, match="file and a folder"):
            git.commit([oid], {"a.txt/x": b"1"}, "m", when=WHEN)
        with pytest.raises(BadInput, match="file and a folder"):
            git.commit([oid], {"d": b"1"}, "m", when=WHEN)
        new = git.commit([oid], {"a.txt/x": b"1", "a.txt": None}, "m", when=WHEN)
        assert git.read(new, "a.txt/x") == b"1"

    def test_a_message_must_say_something(self, world):
        with pytest.raises(BadInput, match="message"):
            world.writer().commit([], {"x": b"1"}, " \n", when=WHEN)

    def test_a_branch_rewound_by_its_owner_is_read_as_it_now_is(self, world):
        git, other = world.writer(), world.writer()
        base = start(git)
        new = git.commit([base], {"x": b"1"}, "m", when=WHEN)
        git.push("main", new)
        assert other.tip("main") == new
        if world.kind == "memory":
            world.memory.branches["main"] = base
        else:
            raw(world.bare, "update-ref", "refs/heads/main", base)
        assert other.tip("main") == base


class TestTheCommandLine:
    def test_the_ledger_branch_comes_as_one_commit_and_can_still_be_written(self, folder):
        writer = folder.writer()
        oid = start(writer, "bumpbot/ledger")
        for n in range(3):
            oid = writer.commit([oid], {f"n{n}": b"x"}, "more", when=WHEN)
            assert writer.push("bumpbot/ledger", oid)
        shallow = folder.writer(shallow=["bumpbot/ledger"])
        assert shallow.tip("bumpbot/ledger") == oid
        assert raw(shallow._git.folder, "rev-list", "--count", oid).strip() == "1"
        new = shallow.commit([oid], {"d/b.txt": b"new\n"}, "shallow writes", when=WHEN)
        assert shallow.push("bumpbot/ledger", new)
        assert raw(folder.bare, "rev-list", "--count", new).strip() == "5"
        raw(folder.bare, "fsck", "--strict", "--connectivity-only")

    def test_other_branches_come_with_their_whole_history(self, folder):
        writer = folder.writer()
        base = start(writer)
        new = writer.commit([base], {"x": b"1"}, "m", when=WHEN)
        writer.push("main", new)
        git = folder.writer(shallow=["bumpbot/ledger"])
        assert git.contains(git.tip("main"), base)

    def test_no_content_is_fetched_before_it_is_read_and_a_listed_folder_in_one_request(self, folder):
        files = {f"bumps/{bump}/{n}.json": f"{bump} {n}".encode() for bump in "abc" for n in range(5)}
        oid = start(folder.writer(), files=files | {"big": b"z" * 9999})
        spy = Spy()
        git = folder.writer(process=spy, shallow=["main"])
        git.tip("main")
        missing = raw(git._git.folder, "rev-list", "--objects", "--missing=print", oid).count("\n?")
        assert missing == 16
        assert len(git.entries(oid, "bumps")) == 15
        spy.calls.clear()
        assert {path: git.read(oid, path) for path in files} == files
        assert len(spy.words("fetch")) == 1 and len(spy.words("cat-file")) == 1
        assert git.read(oid, "big") == b"z" * 9999

    def test_a_commit_over_files_that_were_never_fetched_keeps_them(self, folder):
        oid = start(folder.writer())
        git = folder.writer(shallow=["main"])
        new = git.commit([git.tip("main")], {"x": b"1"}, "m", when=WHEN)
        assert git.push("main", new)
        other = folder.writer()
        assert other.tip("main") == new
        assert other.entries(new).items() >= other.entries(oid).items() and other.read(new, "d/b.txt") == b"two\n"
        assert raw(git._git.folder, "rev-list", "--objects", "--missing=print", oid).count("\n?") == 3

    def test_an_empty_file_among_the_missing_is_read(self, folder):
        oid = start(folder.writer(), files={"d/a": b"", "d/b": b"x"})
        git = folder.writer()
        git.tip("main")
        git.entries(oid, "d")
        assert (git.read(oid, "d/b"), git.read(oid, "d/a")) == (b"x", b"")

    def test_an_unchanged_branch_costs_one_request(self, folder):
        spy = Spy()
        oid = start(folder.writer())
        git = folder.writer(process=spy)
        git.tip("main")
        spy.calls.clear()
        assert git.tip("main") == oid
        assert spy.words("ls-remote") and not spy.words("fetch")

    def test_modes_stay_and_links_are_neither_read_nor_written_over(self, folder):
        git = folder.writer()
        blob = raw(folder.bare, "hash-object", "-w", "--stdin", stdin=b"target").strip()
        rows = f"100755 blob {blob}\trun.sh\n120000 blob {blob}\tlink\n"
        tree = raw(folder.bare, "mktree", stdin=rows.encode()).strip()
        oid = raw(folder.bare, "commit-tree", "-m", "m", tree).strip()
        raw(folder.bare, "update-ref", "refs/heads/main", oid)
        assert git.tip("main") == oid
        assert git.read(oid, "link") is None and list(git.entries(oid)) == ["run.sh"]
        with pytest.raises(BadInput, match="link: a symbolic link"):
            git.commit([oid], {"link": b"x"}, "m", when=WHEN)
        new = git.commit([oid], {"run.sh": b"new"}, "m", when=WHEN)
        git.push("main", new)
        assert raw(folder.bare, "ls-tree", new, "run.sh").startswith("100755")

    def test_identity_and_dates_come_from_the_arguments_alone(self, folder):
        git = folder.writer()
        oid = start(git)
        text = raw(folder.bare, "cat-file", "commit", oid)
        stamp = int(WHEN.timestamp())
        for who in ("author", "committer"):
            assert f"\n{who} bumpbot <bumpbot@example.org> {stamp} +0000\n" in text

    def test_no_push_forces_and_nothing_of_the_machine_is_read(self, folder, monkeypatch, tmp_path):
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / ".gitconfig").write_text("[url \"/nowhere\"]\n\tinsteadOf = /\n[push]\n\tdefault = nothing\n")
        spy = Spy()
        git = folder.writer(process=spy)
        start(git)
        for argv in spy.words("push"):
            assert not any(word.startswith(("+", "--force", "-f")) or ":+" in word or "lease" in word for word in argv)
        for _, env in spy.calls:
            assert env["GIT_CONFIG_GLOBAL"] == "/dev/null" and env["GIT_CONFIG_NOSYSTEM"] == "1"
            assert env["GIT_TERMINAL_PROMPT"] == "0" and "HOME" not in env

    def test_hooks_of_the_cache_do_not_run(self, folder, tmp_path):
        git = folder.writer()
        oid = start(git)
        hooks = git._git.folder / "hooks"
        hooks.mkdir(exist_ok=True)
        for name in ("pre-push", "reference-transaction", "post-index-change"):
            (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
            (hooks / name).chmod(0o755)
        assert git.push("main", git.commit([oid], {"x": b"1"}, "m", when=WHEN))
        assert not (tmp_path / "ran").exists()

    def test_a_rule_of_the_server_is_told_as_a_refusal_not_as_a_race(self, folder):
        git = folder.writer()
        start(git)
        hook = folder.bare / "hooks" / "update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
        oid = git.commit([git.tip("main")], {"x": b"1"}, "m", when=WHEN)
        with pytest.raises(Refusal, match="refuses a push to main"):
            git.push("main", oid)

    def test_a_repository_that_is_not_there_is_missing(self, tmp_path):
        git = CommandGit(LocalProcess(), str(tmp_path / "nowhere.git"), tmp_path / "cache", **WHO)
        with pytest.raises(Missing, match="nowhere.git"):
            git.tip("main")

    def test_a_server_that_does_not_answer_is_unreachable(self, tmp_path):
        git = CommandGit(LocalProcess(), "http://127.0.0.1:9/x.git", tmp_path / "cache", **WHO)
        with pytest.raises(Unreachable, match="git ls-remote"):
            git.tip("main")

    @pytest.mark.parametrize("flag, won", [(" ", True), ("*", True), ("=", False), ("!", False)])
    def test_a_push_is_won_by_its_flag_and_not_by_its_exit_code(self, tmp_path, flag, won):
        class Scripted(LocalProcess):
            def run(self, argv, **more):
                if "push" in argv:
                    line = f"{flag}\t{'1' * 40}:refs/heads/main\t[rejected] (fetch first)\n"
                    return int(flag == "!"), f"To x\n{line}Done\n".encode(), b""
                return (0, b"", b"") if "update-ref" in argv else super().run(argv, **more)

        git = CommandGit(Scripted(), str(tmp_path), tmp_path / "cache", **WHO)
        assert git.push("main", "1" * 40) is won

    def test_a_push_without_a_verdict_is_never_won(self, tmp_path):
        class Cut(LocalProcess):
            def run(self, argv, **more):
                if "push" in argv:
                    return 128, b"", b"fatal: the remote end hung up unexpectedly\n"
                return super().run(argv, **more)

        git = CommandGit(Cut(), str(tmp_path), tmp_path / "cache", **WHO)
        with pytest.raises(Unreachable, match="hung up"):
            git.push("main", "1" * 40)


class TestAddresses:
    @pytest.mark.parametrize("text", ["ext::sh -c id", "-oProxy=x", "", "http://example.org/x", "git://example.org/x",
                                      "https://me:secret@example.org/x", "https://example.org/x\n", "fd::7"])
    def test_an_address_that_could_run_or_leak_something_is_refused(self, text):
        with pytest.raises(BadInput) as caught:
            Remote.parse(text)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize("text, protocol", [("https://example.org/o/n", "https"), ("http://127.0.0.1:80/x", "http"),
                                                ("git@example.org:o/n.git", "ssh"), ("some/folder", "file"),
                                                ("file:///x", "file")])
    def test_an_address_allows_its_own_protocol_alone(self, text, protocol):
        assert Remote.parse(text).protocol == protocol

    def test_ordinary_branch_names_pass(self):
        for name in ("main", "bumpbot/ledger", "fix/foo+bar#12", "feat_x.y", "v1.2"):
            assert check_branch(name) == name


class Server(ThreadingHTTPServer):
    """git http-backend on loopback; asks for one token."""

    daemon_threads = True

    def __init__(self, root: Path, token: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root, self.seen = root, []
        self.wanted = "Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def serve(self):
        server: Server = self.server  # type: ignore[assignment]
        server.seen.append(self.headers.get("Authorization"))
        path, _, query = self.path.partition("?")
        if path.startswith("/moved"):
            self.send_response(301)
            self.send_header("Location", server.url + self.path.removeprefix("/moved"))
            self.end_headers()
            return
        if self.headers.get("Authorization") != server.wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic realm=x")
            self.end_headers()
            return
        length = int(self.headers.get("Content-Length") or 0)
        env = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(server.root), "GIT_HTTP_EXPORT_ALL": "1",
               "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_ADDR": "127.0.0.1",
               "REMOTE_USER": "x", "CONTENT_TYPE": self.headers.get("Content-Type", ""),
               "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", "")}
        body = self.rfile.read(length)
        out = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
        head, _, body = out.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = serve


class TestTheToken:
    TOKEN = "ghs_0123456789"

    @pytest.fixture
    def server(self, folder):
        server = Server(folder.folder, self.TOKEN)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        server.server_close()

    def test_it_travels_as_a_header_never_in_argv_nor_in_a_file(self, server, folder):
        spy = Spy()
        cache = folder.folder / "cache-http"
        more = {"token": self.TOKEN, "shallow": ["main"], **WHO}
        oid = start(CommandGit(spy, f"{server.url}/remote.git", cache, **more))
        other = CommandGit(spy, f"{server.url}/remote.git", folder.folder / "cache-two", **more)
        assert other.tip("main") == oid and other.entries(oid, "d") and other.read(oid, "d/b.txt") == b"two\n"
        assert other.read(oid, "a.txt") == b"one\n"
        secret = server.wanted.removeprefix("Basic ")
        assert not any(self.TOKEN in word or secret in word for argv, _ in spy.calls for word in argv)
        for file in (file for file in folder.folder.rglob("*") if file.is_file()):
            assert self.TOKEN.encode() not in file.read_bytes() and secret.encode() not in file.read_bytes()

    def test_a_wrong_token_is_a_refusal_that_does_not_tell_it(self, server, folder):
        git = CommandGit(LocalProcess(), f"{server.url}/remote.git", folder.folder / "c", token="wrong-token", **WHO)
        with pytest.raises(Refusal) as caught:
            git.tip("main")
        assert "wrong-token" not in str(caught.value)

    def test_a_redirect_is_not_followed_with_it(self, server, folder):
        git = CommandGit(LocalProcess(), f"{server.url}/moved/remote.git", folder.folder / "c", token=self.TOKEN, **WHO)
        with pytest.raises(Missing, match="moved"):
            git.tip("main")
        assert len(server.seen) == 1

    def test_a_token_with_a_line_break_is_refused(self, folder):
        with pytest.raises(BadInput, match="token"):
            CommandGit(LocalProcess(), "https://example.org/x", folder.folder / "c", token="a\nX: y", **WHO)
