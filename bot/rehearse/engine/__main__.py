"""`python -m bot.rehearse.engine`: the server as a program of its own."""

from __future__ import annotations

import sys

from bot.rehearse.engine.process import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
