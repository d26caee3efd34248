"""bumpbot as somebody types it: arguments in, exit code and both outputs out, in this process."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
from collections.abc import Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.cli import main
from bot.strict import json_value


@dataclass(frozen=True)
class Done:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON, strictly: no NaN, no key twice."""
        return json_value(self.out, file="stdout")

    @property
    def line(self) -> str:
        """The one line on standard error; a test that asks for it holds that there is no other, and no traceback."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


def bumpbot(*argv: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Done:
    """Runs a command line through `main`, as the installed script does."""
    raw, err = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", errors="surrogateescape", write_through=True)
    code: Any = None
    with _at(cwd, env or {}), redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(word) for word in argv])
        except SystemExit as end:
            code = end.code
    out.flush()
    return Done(code, raw.getvalue().decode("utf-8", "surrogateescape"), err.getvalue())


@contextmanager
def _at(cwd: Path | None, env: Mapping[str, str]) -> Any:
    before, here = dict(os.environ), os.getcwd()
    os.environ.update({"BUMPBOT_CACHE": "none", "BUMPBOT_UPSTREAM": "none", **env})
    if cwd is not None:
        os.chdir(cwd)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)


PYTHON = sys.executable
ROOT = Path(__file__).parents[2]


def on_terminal(*argv: str, columns: int) -> str:
    """What a terminal of that width would be sent."""
    mine, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-m", "bot", *argv], cwd=ROOT, env=env, stdin=theirs, stdout=theirs,
                               stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        ready, _, _ = select.select([mine], [], [], 60)
        try:
            data = os.read(mine, 65536) if ready else b""
        except OSError:  # Linux: the other side is closed
            data = b""
        if not data:
            break
        shown += data
    os.close(mine)
    assert process.wait(60) in (0, 1)
    return shown.decode()
