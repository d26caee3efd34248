"""A picture of `bumpbot doctor` on a terminal, against a loopback repository in which some things are set wrong.

    python -m tests.doctor.picture [COLUMNS]
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from bot.rehearse.github.settings_state import Environment
from tests.cli.shell import PYTHON, ROOT
from tests.doctor.worlds import DISPATCHED, NEEDED, World, world


def spoil(made: World) -> None:
    """The mixed state: things that stop the bot, things that let somebody misuse it, and things the App may not see."""
    settings = made.settings
    settings.apps["bumpbot"] = {**NEEDED, "workflows": "write", "administration": "read"}
    settings.environments["bumpbot"] = Environment(secrets=["BUMPBOT_APP_PRIVATE_KEY"])
    settings.states["sweep.yml"] = "disabled_inactivity"
    settings.token = "write"
    settings.approval = "first_time_contributors"
    settings.rulesets.pop(2)
    made.hub.store.labels.pop("bumpbot-handoff")
    text = DISPATCHED.format(name="Smoke").replace('      points: {default: ""}\n', "")
    made.put({".github/workflows/smoke.yml": text})
    made.token, made.ours = "bumpbot[bot]", True


def on_terminal(argv: list[str], env: dict[str, str], columns: int) -> tuple[int, str]:
    """A command's exit code and what a terminal of that width shows of it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(argv, env=env, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux ends a terminal that nobody holds so
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(), shown.decode().replace("\r\n", "\n")


def main(columns: int) -> None:
    """Prints the picture, colours and all."""
    with tempfile.TemporaryDirectory() as folder, world(Path(folder)) as made:
        spoil(made)
        keep = {name: value for name, value in os.environ.items() if not name.startswith(("BUMPBOT_", "GITHUB_"))}
        env = {**keep, "TERM": "xterm-256color", "DOCKER_CONFIG": folder, **made.env()}
        env.pop("COLUMNS", None)
        code, shown = on_terminal([PYTHON, "-m", "bot", "doctor"], env, columns)
    print(shown.rstrip())
    print(f"(exit {code})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 80)
