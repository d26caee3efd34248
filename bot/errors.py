"""What can go wrong, sorted by who must act: a person (Refusal, BadInput), the network (Unreachable), the operator (Broken).

Anything else that escapes is a crash. The command line turns each into one line and the exit code it carries.
"""

from __future__ import annotations


class BumpbotError(Exception):
    """A failure with one line for a person: what is wrong, then what to do about it."""

    exit_code = 1

    def __init__(self, reason: str, hint: str = "") -> None:
        self.reason, self.hint = reason, hint
        super().__init__(f"{reason}: {hint}" if hint else reason)


class Refusal(BumpbotError):
    """bumpbot will not do this, by a rule; the hint says what to do next and who moves."""


class BadInput(BumpbotError):
    """Content of a file or answer that does not hold: file, line and key where known."""

    def __init__(self, reason: str, hint: str = "", *, file: str = "", line: int | None = None, key: str = "") -> None:
        place = ":".join(str(part) for part in (file, line) if part not in ("", None))
        where = " ".join(part for part in (place and f"{place}:", key and f"{key}:") if part)
        self.file, self.line, self.key = file, line, key
        super().__init__(f"{where} {reason}".strip(), hint)


class BadArguments(BumpbotError):
    """The command line itself is wrong."""

    exit_code = 2


class Unreachable(BumpbotError):
    """The world did not answer: network, server, time limit. Nothing was changed; a later wake tries again."""

    exit_code = 3


class Missing(BumpbotError):
    """The thing asked for does not exist there (404), which is an answer and not an outage."""


class Conflict(BumpbotError):
    """Somebody else moved first: a push refused, a head that is not the expected one. Look again."""


class Broken(BumpbotError):
    """The ledger's chain does not hold; the bump is frozen and the operator must look."""


class Stopped(KeyboardInterrupt):
    """Somebody asked this process to end (its text says how: `SIGTERM`). No failure of anything: what was started is stopped, and
    what was made is kept."""
