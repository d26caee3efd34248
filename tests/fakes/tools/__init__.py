"""Programs that behave as the real tools do, in no time: `folder(tmp_path)` is a folder for the PATH with all of them.

Each understands the words that we give the real one and refuses others, asks the server that it is pointed at, and writes files
in the shape of recorded ones, with the same exit codes.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

HERE = Path(__file__).parent


def folder(into: Path, *names: str) -> Path:
    """Puts the named tools (all, where none is named) into a folder, run by this Python. Returns the folder."""
    into.mkdir(parents=True, exist_ok=True)
    tools = {path.stem: path for path in sorted(HERE.glob("*.py")) if path.stem != "__init__" and "_" not in path.stem}
    tools |= {path.stem: path for path in HERE.glob("lm_eval.py")}
    for name in names or tools:
        script = into / name
        words = shlex.join([sys.executable, "-S", str(tools[name])])
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return into
