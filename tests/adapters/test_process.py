"""Programs under limits."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from bot.adapters.process import LocalProcess
from bot.errors import BadInput, Missing, Unreachable


def python(code: str, process=None, **more):
    return (process or LocalProcess()).run([sys.executable, "-c", code], **more)


def gone(pid: int) -> bool:
    """Whether a process ends by itself within two seconds; one that nobody has asked about yet counts as ended."""
    for _ in range(400):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.005)
    return False


class TestAProgram:
    def test_its_exit_code_and_both_outputs_are_told(self):
        assert python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)") == (7, b"out\n", b"err\n")

    def test_its_environment_is_what_was_given_and_path(self, monkeypatch):
        monkeypatch.setenv("GITHUB_TOKEN", "secret")
        code, out, _ = LocalProcess(path="/usr/bin:/bin").run(["env"], env={"A": "1"})
        assert code == 0 and sorted(out.decode().split()) == ["A=1", "PATH=/usr/bin:/bin"]

    def test_no_shell_reads_its_arguments(self):
        assert LocalProcess().run(["echo", "$HOME; id"])[1] == b"$HOME; id\n"

    def test_input_and_output_larger_than_a_pipe_do_not_lock_up(self):
        data = b"x" * 3_000_000
        assert python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", stdin=data)[1] == data

    def test_it_may_end_without_reading_its_input(self):
        assert python("import sys; sys.exit(0)", stdin=b"x" * 3_000_000)[0] == 0

    def test_it_runs_in_the_folder_named(self, tmp_path):
        assert LocalProcess().run(["pwd", "-P"], cwd=tmp_path)[1].decode().strip() == str(tmp_path.resolve())


class TestLimits:
    def test_a_program_past_its_time_is_ended_with_what_it_started(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as reader:
            with pytest.raises(Unreachable, match="did not end within 0.3 s"):
                LocalProcess().run(["sh", "-c", f"(echo started; exec sleep 60) > {pipe} & sleep 60"], limit_s=0.3)
            assert reader.read(100) == b"started\n"
            for _ in range(400):  # the helper alone holds the other end: nothing more to come means it is gone
                if reader.read(100) == b"":
                    break
                time.sleep(0.005)
            else:
                pytest.fail("the helper lives on")

    @pytest.mark.parametrize("own_session", [False, True])
    def test_a_helper_left_behind_does_not_hold_the_call_open(self, own_session):
        code = ("import subprocess, sys; print('done', flush=True)\n"
                f"helper = subprocess.Popen(['sleep', '60'], start_new_session={own_session})\n"
                "print(helper.pid, file=sys.stderr); sys.exit(3)")
        began = time.monotonic()
        ended, out, err = python(code, limit_s=60)
        assert (ended, out, time.monotonic() - began < 10) == (3, b"done\n", True)
        if own_session:  # its session is not ours to know of: this one here is ended by its id
            os.kill(int(err), signal.SIGKILL)
        else:
            assert gone(int(err))

    def test_a_helper_that_ends_soon_after_may_have_its_say(self):
        code = "import subprocess; print('first', flush=True); subprocess.Popen(['sh', '-c', 'sleep 0.2; echo second'])"
        assert python(code, limit_s=60)[:2] == (0, b"first\nsecond\n")

    def test_a_flood_of_output_is_cut_off(self):
        with pytest.raises(BadInput, match="wrote more than 100000 bytes"):
            python("while True: print('x' * 1000)", LocalProcess(out_limit=100_000))

    def test_a_flood_of_complaints_is_cut_off_too(self):
        with pytest.raises(BadInput, match="wrote more"):
            python("import sys\nwhile True: print('x' * 1000, file=sys.stderr)", LocalProcess(err_limit=100_000))


class TestAbsence:
    def test_a_program_that_is_not_installed_is_missing(self):
        with pytest.raises(Missing, match="no such program: no-such-program"):
            LocalProcess().run(["no-such-program"])

    def test_a_folder_that_is_not_there_is_missing(self, tmp_path):
        with pytest.raises(Missing, match="no such folder"):
            LocalProcess().run(["true"], cwd=tmp_path / "nowhere")
