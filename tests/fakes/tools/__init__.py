"""Programs that behave as the real tools do, in no time: `folder(tmp_path)` is a folder for the PATH with all of them.

Each understands the words that we give the real one and refuses others, asks the server that it is pointed at, and writes files
in the shape of recorded ones, with the same exit codes.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

HERE = Path(__file__).parent
TOOLS = {"aiperf": ("-S",), "lm_eval": ()}
"""Each program, and the options of the Python that runs it: without site-packages it starts in half the time."""


def folder(into: Path, *names: str) -> Path:
    """Puts the named tools (all, where none is named) into a folder, run by this Python. Returns the folder."""
    into.mkdir(parents=True, exist_ok=True)
    for name in names or TOOLS:
        script = into / name
        words = shlex.join([sys.executable, *TOOLS[name], str(HERE / f"{name}.py")])
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return into
