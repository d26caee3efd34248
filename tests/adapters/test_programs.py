"""Programs that keep running: what they are given, and that every way out ends them and all that they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.adapters import programs
from bot.adapters.programs import LocalPrograms
from bot.errors import Missing

# A server as engines are: a worker in a session of its own, whose id it prints, and a wait for the end.
SERVER = """import os, signal, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"],
                          start_new_session=True, stdout=subprocess.PIPE)
worker.stdout.readline()
print(worker.pid, flush=True)
{then}
"""


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(true, seconds: float = 10.0):
    """What `true` gives, waited for; a machine with other work is slow, and no test is timed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.01)
    pytest.fail("that never came true")


@pytest.fixture
def log(tmp_path) -> Path:
    return tmp_path / "server.log"


@pytest.fixture
def start(log):
    """Starts Python code; whatever a test leaves running is stopped."""
    started = []

    def begin(code: str, env=None, **more):
        started.append(LocalPrograms().start([sys.executable, "-c", code], log=log, env=env or {}, **more))
        return started[-1]

    yield begin
    for each in started:
        each.stop(0)


def first_line(log: Path) -> str:
    return until(lambda: log.read_text().partition("\n")[0] if "\n" in log.read_text() else "")


class TestAProgramThatIsStarted:
    def test_has_exactly_the_environment_it_was_given(self, start, log):
        start("import os; print(sorted(set(os.environ) - {'LC_CTYPE'}), os.environ['A'])", {"A": "one"})
        assert first_line(log) == "['A', 'PATH'] one"

    def test_runs_in_its_folder_in_a_session_of_its_own_and_reads_nothing(self, start, log, tmp_path):
        program = start("import os, sys; print(os.getcwd(), os.getsid(0) == os.getpid(), repr(sys.stdin.read()))", cwd=tmp_path)
        assert first_line(log) == f"{tmp_path} True ''"
        assert program.pid != os.getpid()

    def test_appends_both_outputs_to_its_log(self, start, log):
        log.write_text("before\n")
        program = start("import sys; print('out', flush=True); print('err', file=sys.stderr)")
        until(lambda: program.ended() is not None)
        assert log.read_text() == "before\nout\nerr\n"

    @pytest.mark.parametrize("code, ended", [("raise SystemExit(3)", 3), ("pass", 0), ("import os; os.kill(os.getpid(), 11)", -11)])
    def test_tells_how_it_ended_and_the_same_again(self, start, code, ended):
        program = start(code)
        assert until(lambda: program.ended() is not None)
        assert [program.ended(), program.stop(), program.ended()] == [ended] * 3

    def test_is_told_as_running_until_it_ended(self, start):
        program = start("import time; time.sleep(60)")
        assert program.ended() is None and runs(program.pid)

    def test_ends_when_its_reader_goes_away_as_any_program_does(self, log):
        program = LocalPrograms().start(["sh", "-c", "kill -PIPE $$"], log=log, env={})  # ignored signals stay so after an exec
        assert until(lambda: program.ended() is not None)
        assert program.ended() == -signal.SIGPIPE


class TestALogThatGrows:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        monkeypatch.setattr(LocalPrograms, "bounds", (40_000, 10_000, 10_000))

    def test_without_end_keeps_its_beginning_and_its_end_and_says_so(self, start, log):
        log.write_text("before\n")
        program = start("for n in range(100_000): print(n)")
        until(lambda: program.ended() is not None)
        lines = log.read_text().splitlines()
        assert lines[:3] == ["before", "0", "1"] and lines[-2:] == ["99998", "99999"] and log.stat().st_size < 40_000
        [told] = [at for at, line in enumerate(lines) if "are left out here: of this log 40000 are kept at most" in line]
        assert all(line.isdigit() for line in (*lines[1:told - 1], *lines[told + 1:]))

    def test_is_cut_while_the_program_goes_on_and_more_than_once(self, start, log):
        program = start("import os, time\nfor part in 'abc':\n  print((part * 99 + '\\n') * 600, flush=True)\n"
                        "  while part < 'c' and os.fstat(1).st_size > 40_000: time.sleep(0.01)")
        until(lambda: program.ended() is not None)
        words = log.read_text()
        assert words.startswith("a" * 99 + "\n") and words.rstrip().endswith("\n" + "c" * 99)
        assert words.count("are left out here") == 1 and log.stat().st_size < 40_000

    def test_no_further_than_that_is_left_as_it_is(self, start, log):
        program = start("print('x' * 30_000)")
        until(lambda: program.ended() is not None)
        assert log.read_text() == "x" * 30_000 + "\n"


class TestWhatCannotBeStarted:
    @pytest.mark.parametrize("argv", [["no-such-program"], ["/no/such/program"]])
    def test_is_missing(self, log, argv):
        with pytest.raises(Missing, match=f"cannot run {argv[0]}: No such file"):
            LocalPrograms().start(argv, log=log, env={})

    def test_is_missing_when_it_may_not_be_executed(self, log, tmp_path):
        (tmp_path / "data").write_text("x")
        with pytest.raises(Missing, match="Permission denied"):
            LocalPrograms().start([str(tmp_path / "data")], log=log, env={})

    def test_is_missing_when_its_folder_is(self, log, tmp_path):
        with pytest.raises(Missing, match="No such file"):
            LocalPrograms().start(["true"], log=log, env={}, cwd=tmp_path / "none")

    def test_is_known_before(self, tmp_path):
        (tmp_path / "tool").write_text("#!/bin/sh\n")
        (tmp_path / "tool").chmod(0o755)
        programs = LocalPrograms(path=str(tmp_path))
        assert programs.found("tool") and not programs.found("other")


class TestStopping:
    def test_asks_first_and_takes_the_answer(self, start, log):
        program = start("import signal, time\nsignal.signal(15, lambda *_: exit(7))\nprint('up', flush=True)\ntime.sleep(60)")
        first_line(log)
        assert program.stop(30) == 7

    def test_kills_what_does_not_listen(self, start, log):
        program = start("import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(60)")
        first_line(log)
        assert program.stop(0.05) == -signal.SIGKILL
        assert not runs(program.pid)

    def test_finds_workers_in_sessions_of_their_own(self, start, log):
        program = start(SERVER.format(then="time.sleep(60)"))
        worker = int(first_line(log))
        program.stop(0.2)
        assert not runs(worker) and not runs(program.pid)

    def test_a_program_that_ended_leaves_no_worker_behind(self, start, log):
        program = start(SERVER.format(then="sys.exit(4)"))
        worker = int(first_line(log))
        assert until(lambda: program.ended() is not None)
        assert (program.ended(), runs(worker)) == (4, False)

    def test_an_interrupt_reaches_the_program_alone_and_is_not_waited_for(self, start, log):
        program = start(SERVER.format(then="signal.signal(2, lambda *_: print('asked', flush=True))\nprint('up', flush=True)\n"
                                           "while True: time.sleep(60)"))
        until(lambda: "up" in log.read_text())
        program.interrupt()
        until(lambda: "asked" in log.read_text())
        assert program.ended() is None and runs(int(first_line(log)))
        program.stop(0)
        program.interrupt()

    def test_ends_one_that_stands_still(self, start, log):
        program = start("import os, signal; print(1, flush=True); os.kill(os.getpid(), signal.SIGSTOP)")
        first_line(log)
        assert program.stop(0.05) in (-signal.SIGKILL, -signal.SIGTERM)


class TestTheEndOfTheStarter:
    CODE = ("import sys, threading, time; from pathlib import Path; from bot.adapters.programs import LocalPrograms\n"
            "start = lambda: LocalPrograms().start([sys.executable, '-c', sys.argv[1]], log=Path(sys.argv[2]), env={})\n")

    def starter(self, code: str, log: Path) -> subprocess.Popen:
        return subprocess.Popen([sys.executable, "-c", self.CODE + code, SERVER.format(then="time.sleep(60)"), str(log)],
                                cwd=Path(__file__).parents[2], stdout=subprocess.PIPE)

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_ends_the_program_and_its_workers(self, log, number):
        with self.starter("print(start().pid, flush=True); time.sleep(60)", log) as bench:
            program, worker = int(bench.stdout.readline()), int(first_line(log))
            bench.send_signal(number)
        until(lambda: not runs(program) and not runs(worker))

    def test_in_the_middle_of_a_start_leaves_nothing_behind_and_nothing_said(self, log, monkeypatch):
        """A signal that met the bench before it knew the program's id left a server running, and a traceback in its log."""
        def torn(over, heard, order, name):
            over.stdin.write(order)
            over.stdin.flush()
            os.close(heard)
            until(lambda: log.read_text().strip())
            raise KeyboardInterrupt

        monkeypatch.setattr(programs, "Started", torn)
        with pytest.raises(KeyboardInterrupt):
            LocalPrograms().start([sys.executable, "-c", SERVER.format(then="time.sleep(60)")], log=log, env={})
        assert not runs(int(log.read_text().split()[0])) and "Traceback" not in log.read_text()

    def test_is_not_the_end_of_the_thread_that_started_it(self, log):
        code = ("got = []; thread = threading.Thread(target=lambda: got.append(start().pid)); thread.start(); thread.join()\n"
                "print(*got, flush=True); time.sleep(60)")
        with self.starter(code, log) as bench:
            program = int(bench.stdout.readline())
            first_line(log)
            time.sleep(0.1)
            assert runs(program)
            bench.kill()
        until(lambda: not runs(program))

    def test_also_when_its_guardian_is_killed(self, start, log):
        program = start("import time; print('up', flush=True); time.sleep(60)")
        first_line(log)
        os.kill(int(Path(f"/proc/{program.pid}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
        assert until(lambda: program.ended() is not None)
        until(lambda: not runs(program.pid))
        assert program.stop() == -signal.SIGKILL
