"""What only the git command line can get wrong: depth, filters, forces, hooks, the machine, the token."""

from __future__ import annotations

import threading

import pytest

from bot.adapters.git import CommandGit
from bot.adapters.gitcli import Remote, check_branch
from bot.adapters.process import LocalProcess
from bot.errors import BadInput, Missing, Refusal, Unreachable
from tests.adapters.gitworlds import WHEN, WHO, Server, Spy, World, raw, start


@pytest.fixture
def folder(tmp_path):
    return World("folder", tmp_path)


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

    def test_a_commit_is_the_one_that_gits_own_commands_would_make(self, folder):
        """A claim that one version began another one finishes: the same facts must be the same commit."""
        files = {"a b/ü\\x.txt": b"1", 'q"t': b"", "gone/x": b"2", "kept/y": b"3"}
        git = folder.writer(name="bumpbot[bot].", email="bot@example.org")
        first = git.commit([], files, "first\n\n  body  \n\n", when=WHEN)
        side = git.commit([first], {"s": b"\x00\n"}, "side", when=WHEN)
        both = git.commit([first, side], {"gone/x": None, "gone": b"now a file", 'q"t': b"data 3\n", "never": None, "kept": None}, "both", when=WHEN)
        index = {"GIT_INDEX_FILE": str(folder.folder / "index")}
        stamp = f"{int(WHEN.timestamp())} +0000"
        who = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "bumpbot[bot]."), ("EMAIL", "bot@example.org"), ("DATE", stamp))}

        def theirs(parents, files, message):
            told("read-tree", *(parents[:1] or ["--empty"]))
            for path, data in files.items():
                blob = told("hash-object", "-w", "--stdin", stdin=data) if data is not None else "0" * 40
                row = f"{'0' if data is None else '100644'} {blob}\t{path}\0"
                told("update-index", "-z", "--index-info", stdin=row.encode())
            words = [word for parent in parents for word in ("-p", parent)]
            return told("commit-tree", told("write-tree"), *words, stdin=message.encode())

        def told(*argv, stdin=b""):
            return git._git.run(*argv, stdin=stdin, env={**index, **who}).decode().strip()

        assert theirs([], files, "first\n\n  body  \n\n") == first
        assert theirs([first], {"s": b"\x00\n"}, "side") == side
        assert theirs([first, side], {"gone/x": None, "gone": b"now a file", 'q"t': b"data 3\n"}, "both") == both
        assert raw(git._git.folder, "for-each-ref") == ""

    def test_what_it_has_just_written_or_pushed_is_not_asked_for(self, folder):
        spy = Spy()
        git = folder.writer(process=spy)
        oid = start(git)
        new = git.commit([oid], {"d/b.txt": b"new", "d/z": b"", "a.txt": None}, "m", when=WHEN)
        assert git.push("main", new)
        spy.calls.clear()
        assert git.tip("main") == new and git.read(new, "d/b.txt") == b"new" and git.read(new, "a.txt") is None
        told = git.entries(new)
        assert {argv[1] for argv, _ in spy.calls} == {"ls-remote"}
        other = folder.writer()
        assert other.tip("main") == new and list(told.items()) == list(other.entries(new).items())
        assert raw(git._git.folder, "rev-parse", "refs/remotes/origin/main").strip() == new, "for whoever takes this cache next"

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
