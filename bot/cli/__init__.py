"""The command line: one command a user action. It wires adapters and sets exit codes; it has no policy.

Nothing heavy is imported before a command runs: `bumpbot --help` answers at once.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from bot.errors import BumpbotError

STOPPED = 130
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
DEBUG = "BUMPBOT_DEBUG"
# Half the time of reading 208 recipes went into looking for garbage among nodes that all live until the end.
YOUNG = 100_000


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and exits: 0 done; 1 refused, bad content, or a verdict that is not good; 2 bad arguments;
    3 the world did not answer; 130 stopped by Ctrl-C. A failure is one line on stderr, never a traceback."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    _open_streams()
    code = _run(argv)
    sys.exit(_written(code))


def _run(argv: Sequence[str] | None) -> int:
    try:
        from bot.cli.app import app

        app(args=None if argv is None else list(argv), prog_name="bumpbot")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return _say("stopped by you", STOPPED) if code == STOPPED else code
    except KeyboardInterrupt:
        return _say("stopped by you", STOPPED)
    except BumpbotError as error:
        return _say(str(error), error.exit_code)
    except OSError as error:
        if error.filename is None and error.errno not in DISK:
            return _crashed(error)
        _trace()
        place = "the output" if error.filename is None else _name(error.filename)
        return _say(f"{place}: {error.strerror}: look at the path, its rights and the space left", 1)
    except Exception as error:
        return _crashed(error)
    return 0


def _crashed(error: Exception) -> int:
    """A fault of ours: told as one, with its place only for who asks for it."""
    _trace()
    hint = "" if os.environ.get(DEBUG) else f" ({DEBUG}=1 shows where)"
    return _say(f"internal error: {type(error).__name__}: {error}; please report it with the command you gave{hint}", 1)


def _trace() -> None:
    if os.environ.get(DEBUG):
        traceback.print_exc()


def _say(line: str, code: int) -> int:
    """One line, whatever stands in it: names of files and texts of others may hold line breaks and escape sequences."""
    shown = "".join(letter if letter.isprintable() else " " for letter in line)
    with suppress(OSError):  # nobody reads it; the exit code still tells
        print(f"bumpbot: {shown}", file=sys.stderr, flush=True)
    return code


def _name(file: object) -> str:
    return os.fsdecode(file) if isinstance(file, (str, bytes)) else str(file)


def _open_streams() -> None:
    """A stream that was closed goes nowhere, and its number to no other file; output is UTF-8 wherever it goes.

    Bytes of a file that are no text come out of a diff as they went in.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="surrogateescape")


def _written(code: int) -> int:
    """Whether the output arrived. A reader that has left (`| head`) wants no more of it; a full disk is told."""
    try:
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        code = code or 1
    except OSError as error:
        code = _say(f"the output could not be written: {error.strerror}", 1)
    # What is still buffered would be tried again at exit, and fail with a traceback.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
