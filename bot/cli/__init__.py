"""The command line: one command a user action. It wires adapters and sets exit codes; it has no policy.

Nothing heavy is imported before a command runs: `bumpbot --help` answers at once.
"""

from __future__ import annotations

import sys

from bot.errors import BumpbotError


def main() -> None:
    """Runs the command line. A failure is one line on stderr and the exit code that the error carries."""
    from bot.cli.app import app

    try:
        app(prog_name="bumpbot")
    except BumpbotError as error:
        print(f"bumpbot: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("bumpbot: stopped by you; nothing is half done, a later wake goes on", file=sys.stderr)
        sys.exit(130)
