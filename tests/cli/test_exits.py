"""How a command ends: its exit code, one line on standard error, and nothing of Python's own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import bot.cli.app
from bot.cli import STOPPED, main
from bot.errors import BadArguments, BadInput, Missing, Refusal, Unreachable
from tests.cli.shell import PYTHON, ROOT, bumpbot

ENV = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def shell(line: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A line as typed into bash, `bumpbot` being this one."""
    script = f'bumpbot() {{ "{PYTHON}" -m bot "$@"; }}; {line}'
    return subprocess.run(["bash", "-c", script], env={**ENV, **env}, cwd=ROOT, capture_output=True, text=True, timeout=60)


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Every command raises this error."""

    def app(**_: object) -> None:
        raise error

    monkeypatch.setattr(bot.cli.app, "app", app)


class TestEachKindOfFailureHasItsCode:
    @pytest.mark.parametrize(("error", "code"), [
        (Refusal("no", "ask"), 1), (BadInput("wrong", "mend", file="a.yml", line=3, key="k"), 1), (Missing("gone"), 1),
        (BadArguments("odd"), 2), (Unreachable("silent"), 3), (KeyboardInterrupt(), STOPPED),
    ])
    def test_and_says_one_line(self, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
        failing(monkeypatch, error)
        done = bumpbot("tags")
        assert done.code == code
        assert done.line.startswith("bumpbot: ")
        assert done.out == ""

    def test_file_line_and_key_are_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        failing(monkeypatch, BadInput("wrong", "mend it", file="a.yml", line=3, key="k"))
        assert bumpbot("tags").line == "bumpbot: a.yml:3: k: wrong: mend it"

    def test_a_file_that_the_system_refuses_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        failing(monkeypatch, PermissionError(13, "Permission denied", "/secret"))
        assert bumpbot("tags").code == 1
        assert bumpbot("tags").line.startswith("bumpbot: /secret: Permission denied")

    def test_what_others_wrote_cannot_break_the_line_or_the_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        failing(monkeypatch, Missing("two\nlines\x1b[31m\u202e", "a\rb"))
        line = bumpbot("tags").line
        assert line.isprintable() and "two lines" in line


class TestOurOwnFault:
    def test_is_one_line_that_asks_for_a_report(self, monkeypatch: pytest.MonkeyPatch) -> None:
        failing(monkeypatch, RuntimeError("a wheel\ncame off"))
        done = bumpbot("tags")
        assert done.code == 1
        assert done.line.startswith("bumpbot: internal error: RuntimeError: a wheel came off; please report")

    def test_shows_its_place_to_who_asks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        failing(monkeypatch, RuntimeError("a wheel came off"))
        done = bumpbot("tags", env={"BUMPBOT_DEBUG": "1"})
        assert done.code == 1
        assert "Traceback" in done.err and "test_exits.py" in done.err

    def test_a_bad_file_shows_no_traceback_even_then(self) -> None:
        assert "Traceback" not in bumpbot("triage", "/no/such", env={"BUMPBOT_DEBUG": "1"}).err


class TestArguments:
    @pytest.mark.parametrize("argv", [
        [], ["nope"], ["rehearse", "--nope"], ["tags", "compare", "1.0"], ["edit"], ["edit", "x"], ["--repo"],
        ["image", "a/b:c", "--format", "xml"], ["ledger"], ["compare", "x"], ["plan"], ["bump"], ["bump", "x", "--image", "A B"], ["wake"],
    ])
    def test_that_are_wrong_end_with_two(self, argv: list[str]) -> None:
        done = bumpbot(*argv)
        assert done.code == 2
        assert done.err and not done.out

    def test_the_version_is_data(self) -> None:
        done = bumpbot("--version")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("bumpbot ")

    def test_main_takes_them_from_the_process_when_none_are_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.argv", ["bumpbot", "tags", "compare", "nope/", "1.0"])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2


class TestStreams:
    """In a shell of its own: streams that are closed, full, or left by their reader."""

    def test_a_reader_that_leaves_early_is_no_failure_to_tell(self) -> None:
        done = shell("bumpbot rehearse --schema | true; echo ${PIPESTATUS[0]}")
        assert done.stderr == ""
        assert done.stdout.strip() in ("0", "1")

    def test_a_full_disk_is_told(self) -> None:
        done = shell("bumpbot rehearse --schema > /dev/full")
        assert done.returncode == 1
        assert done.stderr.startswith("bumpbot: the output: No space left on device")
        assert len(done.stderr.splitlines()) == 1

    def test_closed_streams_change_no_exit_code(self) -> None:
        done = shell("bumpbot tags compare 1.0 2.0 >&- 2>&- <&-; echo $?; bumpbot image 'A B' 2>&-; echo $?")
        assert (done.stdout, done.stderr) == ("0\n2\n", "")

    def test_output_is_utf8_wherever_it_goes(self, repo: Path) -> None:
        line = 'bumpbot --repo "$REPO" changelog append --key toy --description 中文 --link https://github.com/o/r/pull/9'
        done = shell(line, PYTHONIOENCODING="ascii", LC_ALL="C", REPO=str(repo))
        assert done.returncode == 0, done.stderr
        assert "中文" in done.stdout

    def test_ctrl_c_says_one_line(self) -> None:
        process = subprocess.Popen([PYTHON, "-m", "bot", "rehearse", "kimi-k3-gb200", "--as-it-happened"], cwd=ROOT, env=ENV,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   # A shell starts background jobs with SIGINT ignored, and a test run may be one.
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        wait_for_children(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        # Python dies by the signal itself when it fell into the `exec` of a string (dataclasses); shells call both 130.
        assert process.returncode in (STOPPED, -signal.SIGINT)
        assert err == "bumpbot: stopped by you\n"
        assert out == ""


def wait_for_children(pid: int) -> None:
    """Until the rehearsal has called git: its world stands then. The kernel is asked every few milliseconds."""
    children, until = Path(f"/proc/{pid}/task/{pid}/children"), time.monotonic() + 30
    while not children.read_text() and time.monotonic() < until:
        time.sleep(0.002)
    assert time.monotonic() < until

